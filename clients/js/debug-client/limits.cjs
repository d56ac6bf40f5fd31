// Every bound of the client, with its reason. The app comes first: whatever the server does, a call is delayed by no
// more than what stands here.
"use strict";

module.exports = {
  // For the server to answer, before the call goes on without it. A pause is not meant by this: it polls.
  ASK_MS: 5_000,
  // For which one poll of a paused call and one watch of the callpoints are held by the server, and how long beyond it.
  POLL_HOLD_S: 10,
  WATCH_HOLD_S: 25,
  GRACE_MS: 5_000,
  // For which a paused call goes on asking a server that cannot be reached; then the call continues.
  PAUSE_PATIENCE_MS: 2_000,
  // Between attempts to reach a server that is gone: first and longest. A call that blocks waits longer and longer.
  RETRY_FIRST_MS: 100,
  RETRY_LONGEST_MS: 2_000,
  RETRY_BLOCKING_LONGEST_MS: 60_000,
  // After an ask without an answer nothing is asked for this long.
  QUIET_MS: 2_000,
  // Without a server calls are recorded for this long in case it comes back; then they cost nothing.
  LOST_MS: 2_000,
  // What is known of the callpoints without a watch that is held counts for this long.
  FRESH_MS: 250,

  // Records gather for this long before they are shipped.
  GATHER_MS: 20,
  // An event loop that does not turn for this long hears of no callpoint and ships no record: the call does it then.
  BLOCKED_MS: 50,
  // One batch: few enough that the server answers quickly, many enough that a request is paid once.
  BATCH_RECORDS: 1_000,
  BATCH_CHARS: 2 * 1024 * 1024,
  // What may wait to be shipped. More means the server is slower than the app; new ones are dropped and counted.
  QUEUE_RECORDS: 20_000,
  QUEUE_CHARS: 32 * 1024 * 1024,
  QUEUE_POSTS: 5_000,
  // The app's end may be delayed so long by what is still to be shipped.
  FLUSH_MS: 3_000,
  // A page that is left may send this much: browsers take 64 KiB in all.
  LEAVING_BYTES: 60_000,

  // A captured value: its nesting, the entries of one object, the values in all, its characters.
  DEPTH: 50,
  ITEMS: 10_000,
  NODES: 100_000,
  VALUE_CHARS: 1024 * 1024,
  // Values that take long to capture may cost the app this share of its time, and this much at once; beyond it those of
  // functions that have such are only named.
  HEAVY_MS: 0.5,
  HEAVY_SHARE: 0.2,
  HEAVY_FREE_MS: 250,
  // Values whose cid is remembered, and up to which size: equal small values are hashed once.
  CID_CACHE: 20_000,
  CACHED_CHARS: 512,
  // Cids that the server is known to have.
  KNOWN_CIDS: 100_000,
  // Characters of values kept to be sent again when the server lacks them.
  RECENT_CHARS: 8 * 1024 * 1024,

  // Frames of a stack that go with a call that asks, and with one that only is recorded.
  FRAMES_ASKED: 50,
  FRAMES_RECORDED: 6,
  STACK_CACHE: 5_000,
  SOURCE_CHARS: 20_000,
};
