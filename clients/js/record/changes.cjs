// Containers that the program changed in place: where a probe says that one may have been, it is looked up by own data alone.
// No getter and no trap of a proxy runs; what cannot be found so is not told.
'use strict';

const { getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { isArray } = Array;
const { isProxy, isMap, isSet } = require('node:util').types;

// A property further up than this is hardly the program's own.
const UP = 8;

// The value of a data property, of the object or of what it inherits from; `undefined` where there is none.
function data(of, key) {
  let at = of;
  for (let up = 0; up < UP; up += 1) {
    if ((typeof at !== 'object' && typeof at !== 'function') || at === null || isProxy(at)) return undefined;
    const found = getOwnPropertyDescriptor(at, key);
    if (found !== undefined) return getOwnPropertyDescriptor(found, 'value')?.value;
    at = getPrototypeOf(at);
  }
  return undefined;
}

// The array, map or set that is found from here by these keys; `undefined` where it is something else.
function container(from, keys) {
  let at = from;
  for (let step = 0; step < keys.length; step += 1) {
    const key = keys[step];
    if (typeof key !== 'string' && typeof key !== 'number') return undefined;
    at = data(at, key);
  }
  if (typeof at !== 'object' || at === null || isProxy(at)) return undefined;
  return isArray(at) || isMap(at) || isSet(at) ? at : undefined;
}

module.exports = { container };
