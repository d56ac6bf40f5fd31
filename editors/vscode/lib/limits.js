// Every bound of the extension, with its reason.
'use strict';

module.exports = {
  // The public bridge's number: clients know it.
  RUNNING: 10,
  // A client that has more waiting than this is looping.
  QUEUED: 64,
  // Watching one folder costs one kernel watch; the scan finds what has none.
  WATCHED: 256,
  // Who looks for a job whose file event was lost.
  SCAN_MS: 1000,
  HEARTBEAT_MS: 5000,
  // Three heartbeats: the owner of a lock that is silent for longer is gone, or hangs.
  SILENT_MS: 15000,
  // How often a second window looks whether the first is gone.
  LOCK_LOOK_MS: 2000,
  // A computer that slept wakes with an old heartbeat; its owner gets time to beat again.
  LOCK_GRACE_MS: 6000,
  // A job is parameters; nothing an editor is asked is longer.
  COMMAND_BYTES: 8 * 1024 * 1024,
  // Larger data goes into a file of its own.
  INLINE_BYTES: 2 * 1024 * 1024,
  // What a client says at the most of how long it waits.
  TIMEOUT_MS: 10 * 60 * 1000,
  EVENTS_BYTES: 8 * 1024 * 1024,
  OUTPUT_CHARACTERS: 8000,
  // An agent sees a stop within 300 ms; a debugger that takes longer to say where is not waited for.
  LOCATE_MS: 200,
  // The answer to a step waits longer than the event to say where the program stands.
  LOCATE_PATIENCE_MS: 5000,
  // Output lines, stops and exceptions kept of one session for the `dap.*` scripts.
  OUTPUTS: 10000,
  STOPS: 1000,
  // Sessions that have ended and are still known to the `dap.*` scripts.
  ENDED: 20,
  // Children of a variable tree, and its whole size.
  TREE_NODES: 20000,
  TREE_CHARACTERS: 5 * 1024 * 1024,
  CHILDREN: 1000,
  // A tree is asked for value by value; what is not there by then is left for the next question.
  TREE_MS: 5000,
  // Values of a tree that are asked for at once.
  TREE_ASKED: 16,
  FRAMES: 1000,
  // A language server that says nothing for this long is taken as having nothing.
  SYMBOLS_MS: 10000,
  // How long a debugger may take to say what it made of a breakpoint.
  BIND_MS: 1000,
  // After the debugger spoke of breakpoints the editor needs a moment to know it, too.
  BREAKPOINT_LOOKS_MS: [30, 300, 1500],
  // How long a program may take to end when told to.
  END_MS: 10000,
};
