// `for await` waits where no text of the program stands. Its iterator is handed through an object of ours, which asks the
// real one and then says that the frame leaves; what is awaited is what the real one gave, so nothing happens later.
'use strict';

const { apply } = Reflect;

function awaited(frame, iterable, probes) {
  if (iterable === null || iterable === undefined) return iterable;
  return {
    get [Symbol.asyncIterator]() {
      const method = iterable[Symbol.asyncIterator];
      if (method === null || method === undefined) return method;
      return () => handed(frame, apply(method, iterable, []), probes);
    },
    get [Symbol.iterator]() {
      const method = iterable[Symbol.iterator];
      if (typeof method !== 'function') return method;
      return () => handed(frame, apply(method, iterable, []), probes);
    },
  };
}

function handed(frame, iterator, probes) {
  if (typeof iterator !== 'object' || iterator === null) return iterator;
  const { next } = iterator;
  const hands = {
    next(...sent) {
      const step = apply(next, iterator, sent);
      probes.y(frame, undefined);
      return step;
    },
  };
  Object.defineProperty(hands, 'return', {
    get() {
      const method = iterator.return;
      if (method === null || method === undefined) return method;
      return (...sent) => {
        const step = apply(method, iterator, sent);
        probes.y(frame, undefined);
        return step;
      };
    },
  });
  return hands;
}

module.exports = { awaited };
