'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const { validate } = require('../lib/validate');
const { plainPath } = require('../lib/places');

const RULES = {
  path: { type: 'path', required: true },
  line: { type: 'integer', min: 1 },
  wait: { type: 'boolean', default: false },
  scope: { type: 'enum', values: ['local', 'all'] },
  text: { type: 'string' },
  names: { type: 'strings' },
};

const check = (given, expected) => {
  if (typeof expected === 'string') assert.throws(() => validate(RULES, given, '/w'), { code: 'E_INVALID_PARAMS', message: expected });
  else assert.deepEqual(validate(RULES, given, '/w'), expected);
};

test('parameters are taken as they are, or refused by name', () => {
  check({ path: '/a.js', line: 3 }, { path: '/a.js', line: 3, wait: false });
  check({ path: 'src/a.js' }, { path: '/w/src/a.js', wait: false });
  check({ path: 'vscode-remote://127.0.0.1:1/ws/a%20b.js' }, { path: '/ws/a b.js', wait: false });
  check({ path: 'file:///ws/a.js', wait: null }, { path: '/ws/a.js', wait: false });
  check({}, '`path` is missing');
  check({ path: '' }, '`path` must be a path');
  check({ path: '/a', line: '3' }, '`line` must be a whole number from 1');
  check({ path: '/a', line: 1.5 }, '`line` must be a whole number from 1');
  check({ path: '/a', line: 0 }, '`line` must be a whole number from 1');
  check({ path: '/a', wait: 'false' }, '`wait` must be true or false');
  check({ path: '/a', scope: 'x' }, '`scope` must be one of local, all');
  check({ path: '/a', text: '' }, '`text` must be a string that is not empty');
  check({ path: '/a', names: ['a', 1] }, '`names` must be a list of strings');
  check({ path: '/a', lines: 3 }, 'no parameter `lines`');
  check({ path: '/a', __proto__: null, constructor: 1 }, 'no parameter `constructor`');
  check([], 'the parameters are no object');
});

test('a file of Windows has one name: the one that its editor uses', () => {
  for (const name of ['file:///c%3A/w/a%20b.js', 'C:\\w\\a b.js', 'c:/w/a b.js', 'vscode-remote://h/C:/w/a%20b.js']) {
    assert.equal(plainPath(name, 'win32'), 'c:\\w\\a b.js', name);
  }
  for (const name of ['/c:/w', 'node:fs', '<node_internals>/events', '\\\\server\\share\\a.js']) assert.equal(plainPath(name, 'linux'), name);
  assert.equal(plainPath('\\\\server\\share\\a.js', 'win32'), '\\\\server\\share\\a.js');
  assert.equal(plainPath('file:///w/%E0%A4%A', 'linux'), '/w/%E0%A4%A', 'what cannot be decoded stays');
});
