// The status bar: whether agents are served here, and who drives. A click hands over or takes over.
'use strict';

class Status {
  constructor(editor, control) {
    this.control = control;
    this.states = new Map();
    this.item = editor.window.createStatusBarItem('holdpoint.control', editor.StatusBarAlignment.Left, 50);
    this.item.name = 'Holdpoint';
    this.item.command = 'holdpoint.toggleControl';
    control.onChange(() => this.show());
  }

  dispose() {
    this.item.dispose();
  }

  // What the bridge of a folder became.
  folder(workspace, state, why) {
    this.states.set(workspace, { state, why });
    this.show();
  }

  show() {
    const { text, tooltip } = shown([...this.states.values()], this.control.holder);
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `Holdpoint: ${tooltip}`, role: 'button' };
    this.item.show();
  }
}

function shown(states, holder) {
  const refused = states.find((it) => it.state === 'refused');
  if (refused) return { text: '$(error) Holdpoint: off', tooltip: refused.why };
  const serving = states.some((it) => it.state === 'serving');
  if (!serving && states.length === 0) return { text: '$(debug-alt) Holdpoint: no folder', tooltip: 'open a folder, and agents can debug in it' };
  if (!serving) return { text: '$(debug-disconnect) Holdpoint: other window', tooltip: states[0].why };
  if (holder === 'person') return { text: '$(person) Holdpoint: you drive', tooltip: 'agents wait; click to hand over' };
  return { text: '$(hubot) Holdpoint: agents drive', tooltip: 'click to take control; your own step does it, too' };
}

module.exports = { Status, shown };
