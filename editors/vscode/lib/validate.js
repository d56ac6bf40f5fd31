// Parameters of a script, checked as its own table says: nothing is guessed, nothing unknown passes.
'use strict';

const path = require('path');
const { Failure } = require('./failure');
const { ownPath, plainPath } = require('./places');

const CHECKS = {
  string: (value, rule) => typeof value === 'string' && (rule.empty || value.length > 0),
  path: (value) => typeof value === 'string' && value.length > 0,
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && !Array.isArray(value),
  strings: (value) => Array.isArray(value) && value.every((it) => typeof it === 'string'),
  enum: (value, rule) => rule.values.includes(value),
};

function validate(rules, given, workspace) {
  if (given === undefined || given === null) given = {};
  if (!CHECKS.object(given)) throw invalid('the parameters are no object', {});
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(rules, name)) throw unknown(name, Object.keys(rules));
  }
  const checked = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = one(name, rule, given[name], workspace);
    if (value !== undefined) checked[name] = value;
  }
  return checked;
}

function one(name, rule, value, workspace) {
  if (value === undefined || value === null) {
    if (rule.required) throw invalid(`\`${name}\` is missing`, { parameter: name, expected: expected(rule) });
    return rule.default;
  }
  const wrong = () => invalid(`\`${name}\` must be ${expected(rule)}`, { parameter: name, expected: expected(rule) });
  if (!CHECKS[rule.type](value, rule)) throw wrong();
  if (rule.min !== undefined && value < rule.min) throw wrong();
  if (rule.max !== undefined && value > rule.max) throw wrong();
  return rule.type === 'path' ? absolute(value, workspace) : value;
}

function expected(rule) {
  const words = {
    string: rule.empty ? 'a string' : 'a string that is not empty',
    path: 'a path',
    integer: 'a whole number',
    boolean: 'true or false',
    object: 'an object',
    strings: 'a list of strings',
    enum: `one of ${(rule.values ?? []).join(', ')}`,
  };
  const { min, max } = rule;
  const range = [min === undefined ? '' : ` from ${min}`, max === undefined ? '' : ` to ${max}`].join('');
  return words[rule.type] + range;
}

// Relative to the workspace; a URI of this machine is a path.
function absolute(value, workspace) {
  return ownPath(path.resolve(workspace, plainPath(value)));
}

function unknown(name, known) {
  const text = known.length === 0 ? 'it takes none' : `it takes ${known.map((it) => `\`${it}\``).join(', ')}`;
  return invalid(`no parameter \`${name}\``, { parameter: name, known }, text);
}

function invalid(message, details, hint) {
  return new Failure('E_INVALID_PARAMS', message, { details, hint });
}

module.exports = { validate, absolute };
