// What went wrong, as a client reads it: a code that stays the same, what happened, and what fixes it.
'use strict';

const HINTS = {
  E_NO_SESSION: 'start one with `debug.start`, or look at `debug.sessions`',
  E_NOT_STOPPED: 'the program runs: set a breakpoint, wait for it, or send `debug.pause`',
  E_HUMAN_IN_CONTROL: 'the person at the editor drives; wait for the `control` event with holder `agent`. Reading still works',
  E_FILE_NOT_FOUND: 'give the absolute path of a file that exists',
  E_NO_LANGUAGE_SERVER: 'install or wait for the language support of this file, then try again',
  E_CAPACITY: 'too many jobs wait; try again when some are done',
  E_INVALID_REFERENCE: 'references live until the program goes on; read the scopes again',
};

class Failure extends Error {
  constructor(code, message, more = {}) {
    super(message);
    this.code = code;
    this.hint = more.hint ?? HINTS[code];
    this.details = more.details;
  }

  // No stack: a model would read it, and nothing in it helps.
  toJSON() {
    const shown = { code: this.code, message: this.message };
    if (this.hint) shown.hint = this.hint;
    if (this.details) shown.details = this.details;
    return shown;
  }

  static of(error) {
    if (error instanceof Failure) return error;
    const said = error && typeof error.message === 'string' ? error.message : String(error);
    return new Failure('E_INTERNAL', said.split('\n', 1)[0] || 'it failed without a word');
  }
}

function cancelled(why = 'the job was cancelled') {
  return new Failure('E_CANCELLED', why);
}

module.exports = { Failure, cancelled };
