// Every script that a job may name: the families below, and nothing else. `@dynamic` is not among them.
'use strict';

const { Failure } = require('./failure');
const { validate } = require('./validate');

const FAMILIES = [
  require('./scripts/breakpoint'),
  require('./scripts/code'),
  require('./scripts/control'),
  require('./scripts/dap'),
  require('./scripts/debug/exceptions'),
  require('./scripts/debug/look'),
  require('./scripts/debug/run'),
  require('./scripts/debug/save'),
  require('./scripts/debug/start'),
  require('./scripts/debug/values'),
  require('./scripts/diagnostic'),
  require('./scripts/editor'),
  require('./scripts/search'),
  require('./scripts/symbol'),
  require('./scripts/test'),
  require('./scripts/util'),
];

const SCRIPTS = new Map(FAMILIES.flatMap((family) => Object.entries(family)));

// Who asks for a move: the person may use another of Holdpoint's faces than this editor.
const BY = { by: { type: 'enum', values: ['agent', 'person'], default: 'agent' } };

// `moves` says that it steers a program, which agents may only while they are in control.
async function runScript(name, params, call) {
  const script = SCRIPTS.get(name);
  if (!script) {
    const family = name.split('.', 1)[0];
    const known = [...SCRIPTS.keys()].filter((it) => it.startsWith(`${family}.`));
    throw new Failure('E_SCRIPT_NOT_FOUND', `no script \`${name}\``, { details: { known: known.length > 0 ? known : [...SCRIPTS.keys()] } });
  }
  if (!script.moves) return script.run(validate(script.params, params, call.workspace), call);
  const { by, ...checked } = validate({ ...script.params, ...BY }, params, call.workspace);
  if (by === 'agent') call.control.refuse();
  return script.run(checked, call);
}

module.exports = { SCRIPTS, runScript };
