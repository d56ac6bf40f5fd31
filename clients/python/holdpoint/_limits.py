"""Every bound of the client, with its reason.

The app comes first: whatever the server does, a call is delayed by no more than what stands here.
"""

# Seconds to open a connection. The server is on this machine: it accepts at once or not at all.
CONNECT_S = 1.0
# Seconds the app waits for an answer before it goes on without one. A pause is not meant by this: it polls.
ASK_S = 5.0
# Seconds `with_debug("ON")` waits to learn the callpoints, so that the first call already obeys them.
FIRST_STATE_S = 2.0
# After an ask without an answer nothing is asked for this long; doubled each time up to the longest.
QUIET_FIRST_S = 2.0
QUIET_LONGEST_S = 60.0

# Seconds one subscription request or one poll of a paused call is held by the server.
WATCH_HOLD_S = 25
POLL_HOLD_S = 10
# Seconds beyond a hold after which the server counts as gone.
HOLD_GRACE_S = 5.0
# Seconds between polls that the server did not hold, whatever it says.
POLL_PAUSE_SHORTEST_S = 0.01
POLL_PAUSE_LONGEST_S = 1.0
# Seconds for which a paused call goes on asking a server that cannot be reached, then the call continues.
PAUSE_PATIENCE_S = 2.0
# Wrong answers in a row after which a paused call continues.
PAUSE_WRONG_ANSWERS = 3
# Poll actions that may follow each other before the call simply continues.
CHAINED_POLLS = 1_000

# Seconds between attempts to reach a server that is gone: first and longest.
RETRY_FIRST_S = 0.1
RETRY_LONGEST_S = 2.0
# Seconds without a server after which calls are no longer captured at all, so that they cost nothing.
LOST_S = 2.0

# Records that may wait to be shipped. More means the server is slower than the app; new ones are dropped.
QUEUE_RECORDS = 20_000
# Bytes of captured values that may wait.
QUEUE_BYTES = 64 * 1024 * 1024
# Small requests (registrations, events) that may wait.
QUEUE_POSTS = 20_000
# One batch: few enough that the server answers quickly, many enough that a request is paid once. In a busy app each
# request waits several times for its turn in the interpreter.
BATCH_RECORDS = 2_000
BATCH_BYTES = 4 * 1024 * 1024
# Records that are made into the next batch while the server works on this one; fewer can wait for more.
BATCH_AHEAD = 250
# Seconds that records gather before they are shipped.
GATHER_S = 0.02
# Seconds for the server to take one batch.
SHIP_S = 10.0
# Seconds the app's end may be delayed by what is still to be shipped.
FLUSH_S = 3.0

# Bytes of one captured value; a larger one is described instead.
VALUE_BYTES = 1024 * 1024
# A value of a recorded call that takes the processor longer than this is heavy.
HEAVY_S = 0.0002
# Heavy values may cost the app this share of its time, and this much at once; beyond it, the values of functions
# that have such are only named. A call that asks is always captured whole.
HEAVY_SHARE = 0.2
HEAVY_FREE_S = 0.25
# dill walks through whatever a function can reach: objects and seconds that it may take.
DILL_OBJECTS = 20_000
DILL_S = 0.1

# Characters of a string that is kept as it is until it is shipped; longer ones are pickled at once.
PLAIN_CHARS = 256
# Values whose CID is remembered, so that equal small values are hashed once.
CID_CACHE = 20_000
# CIDs that this server run is known to have.
KNOWN_CIDS = 100_000
# Bytes of values kept so that they can be sent again when the server lacks them.
RECENT_BYTES = 8 * 1024 * 1024
# A value larger than this is not worth remembering by content.
CACHED_VALUE_BYTES = 512

# Frames of a stack that go with a call that asks, and with one that only is recorded.
FRAMES_ASKED = 64
FRAMES_RECORDED = 6
# Different stacks whose text is remembered.
STACK_CACHE = 10_000
# Characters of a source line.
LINE_CHARS = 200

# A value that cannot be pickled is described: nesting, attributes, characters of a repr.
DESCRIBED_DEPTH = 3
DESCRIBED_ATTRIBUTES = 100
DESCRIBED_CHARS = 300
# Frames of a traceback, the innermost ones, and characters of it and of a message.
TRACEBACK_FRAMES = 40
TRACEBACK_CHARS = 32_000
MESSAGE_CHARS = 4_000

# Seconds one evaluation at a paused call may take.
EVAL_S = 30.0
# Characters of an evaluation's result and of what it printed.
EVAL_CHARS = 100_000
# Evaluations at once in one paused call.
EVALS_AT_ONCE = 8

# One HTTP answer.
HEAD_BYTES = 64 * 1024
ANSWER_BYTES = 32 * 1024 * 1024
