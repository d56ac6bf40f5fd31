// Who drives: agents, or the person at the editor. A person's own step takes over; agents' moves are refused until
// it is handed back. Reading is everybody's.
'use strict';

const { Failure } = require('./failure');

class Control {
  constructor(tell) {
    this.tell = tell;
    this.holder = 'agent';
    this.listeners = [];
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  set(holder) {
    if (this.holder === holder) return;
    this.holder = holder;
    this.tell('control', { holder });
    for (const listener of this.listeners) listener(holder);
  }

  toggle() {
    this.set(this.holder === 'agent' ? 'person' : 'agent');
  }

  // Before a script that moves a program for an agent.
  refuse() {
    if (this.holder === 'person') throw new Failure('E_HUMAN_IN_CONTROL', 'the person at the editor is in control');
  }
}

module.exports = { Control };
