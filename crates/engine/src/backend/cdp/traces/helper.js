// What of Holdpoint works inside the debugged program: tracepoints are conditions that call `pass` and never
// hold. Evaluated once in each context; keeps to what it took at that time, whatever the program changes.
// Named as a part of Node, so that steps pass it.
//# sourceURL=node:holdpoint/trace
((BINDING, { VALUE, BATCH, EVERY, BUDGET, HANGS, SWEEP, SWEEP_SHARE, ROOM, LAST }) => {
  const kept = (globalThis[Symbol.for('holdpoint')] ??= { hits: {}, error: undefined });
  const send = globalThis[BINDING];
  if (kept.pass || typeof send !== 'function') return typeof kept.pass;
  delete globalThis[BINDING];

  const { stringify } = JSON;
  const { getPrototypeOf, getOwnPropertyDescriptor, keys } = Object;
  const { isArray } = Array;
  const { apply } = Reflect;
  const none = [];
  const text = String;
  const clock = globalThis.performance;
  const now = clock?.timeOrigin
    ? clock.now.bind(clock)
    : Date.now;
  const origin = clock?.timeOrigin ?? 0;
  const later = globalThis.queueMicrotask;
  // Without a process there is nobody to send the last ones when it ends.
  const isMain = typeof globalThis.process?.on === 'function';

  const points = new Map();
  // Always the same array: a flush of the server's may come between the moment a call in the program's text takes it up
  // and the moment the hit is in it.
  const buffer = [];
  let flushed = -Infinity;
  let isComing = false;
  // Batches that went out, and those that were taken at the other end.
  let [sent, taken] = [0, 0];

  const flush = () => {
    isComing = false;
    if (buffer.length === 0) return;
    flushed = now();
    drain();
  };

  const drain = () => {
    settle();
    const hits = buffer.splice(0);
    sent++;
    send(stringify(hits));
  };

  const take = () => {
    if (buffer.length === 0) return '';
    settle();
    return stringify(buffer.splice(0));
  };

  const cut = it => (it.length > VALUE ? `${it.slice(0, VALUE / 2)}…${it.slice(1 - VALUE / 2)}` : it);

  const kind = it => {
    const own = getOwnPropertyDescriptor(getPrototypeOf(it) ?? {}, 'constructor')?.value?.name;
    return typeof own === 'string' && own ? own : 'Object';
  };

  // As people write a value; getters are not called.
  const show = (it, depth) => {
    switch (typeof it) {
      case 'string': return depth === 0 ? it : stringify(cut(it));
      case 'bigint': return `${it}n`;
      case 'symbol': return it.toString();
      case 'function': return `[Function ${it.name || 'anonymous'}]`;
      case 'object': return it === null ? 'null' : object(it, depth);
      default: return text(it);
    }
  };

  const object = (it, depth) => {
    if (it instanceof Error) return `${kind(it)}: ${it.message}`;
    if (it instanceof Date) return isNaN(it) ? 'Invalid Date' : it.toISOString();
    if (it instanceof RegExp) return text(it);
    const name = kind(it);
    const size = isArray(it) ? it.length : it instanceof Map || it instanceof Set ? it.size : -1;
    if (depth >= 2) return size >= 0 ? `${name}(${size})` : `${name} {…}`;
    const parts = [];
    let left = VALUE;
    let more = false;
    const add = part => {
      left -= part.length + 2;
      if (left < 0 || parts.length >= 50) return !(more = true);
      return parts.push(part) > 0;
    };
    if (isArray(it) || ArrayBuffer.isView(it)) {
      for (let i = 0; i < it.length; i++) if (!add(show(it[i], depth + 1))) break;
    } else if (it instanceof Map) {
      for (const [k, v] of it) if (!add(`${show(k, depth + 1)} => ${show(v, depth + 1)}`)) break;
    } else if (it instanceof Set) {
      for (const v of it) if (!add(show(v, depth + 1))) break;
    } else {
      for (const k of keys(it)) {
        const own = getOwnPropertyDescriptor(it, k);
        if (!add(`${k}: ${own && 'value' in own ? show(own.value, depth + 1) : '[Getter]'}`)) break;
      }
    }
    const list = parts.join(', ') + (more ? ', …' : '');
    if (isArray(it)) return `[${list}]`;
    if (size >= 0) return `${name}(${size}) {${list}}`;
    return name === 'Object' ? `{${list}}` : `${name} {${list}}`;
  };

  const failed = (error, where = '') => {
    const told = it => [where ? `${it} ${where}` : it];
    try {
      if (typeof error !== 'object' || error === null) return told(typeof error);
      return told(text(error.name || kind(error)));
    } catch {
      return told('Error');
    }
  };

  const value = (thunk, isLiteral, given = none) => {
    try {
      const it = apply(thunk, undefined, given);
      return cut(isLiteral && typeof it === 'string' ? stringify(it) : show(it, 0));
    } catch (error) {
      return failed(error);
    }
  };

  // The function that is passed: below this one and the condition.
  const where = () => {
    const { stackTraceLimit } = Error;
    try {
      Error.stackTraceLimit = 6;
      const frames = new Error().stack.split('\n').slice(1);
      const own = frames.findIndex(it => it.includes('eval at'));
      const found = /^\s*at (?:async )?(?:new )?(.*?) \(/.exec(frames[own + 1] ?? '');
      return found ? found[1].split('.').pop() : null;
    } catch {
      return null;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };

  // The same below a call in the program's text. The stack is kept as it is and read later: Node reads it in JavaScript,
  // where a step into the line would stop.
  const unread = [];
  const whereWoven = (point, line) => {
    const { stackTraceLimit } = Error;
    const stack = {};
    try {
      Error.stackTraceLimit = 1;
      Error.captureStackTrace(stack, kept.woven);
      unread.push({ point, line, stack });
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    point.where[line] = stack;
  };

  const settle = () => {
    while (unread.length > 0) {
      const { point, line, stack } = unread.pop();
      let name = null;
      try {
        const text = stack.stack;
        const found = /^\s*at (?:async )?(?:new )?(.*?) \(/m.exec(text.slice(text.indexOf('\n') + 1));
        if (found) name = found[1].split('.').pop();
      } catch {
        // The program makes something else of its stacks.
      }
      point.where[line] = stack.named = name;
    }
    // One that was being written down when its stack was read has the stack still.
    for (const hit of buffer) if (typeof hit[3] === 'object' && hit[3] !== null) hit[3] = hit[3].named ?? null;
  };

  const report = (point, [id, generation, line], at, values) => {
    point.count++;
    point.reported++;
    if (point.where[line] === undefined) point.where[line] = where();
    const time = (origin + at) / 1000;
    buffer.push([[id, generation, line], point.count, time, point.where[line], values]);
    if (!isMain || buffer.length >= BATCH || !(at - flushed < EVERY)) {
      flush();
    } else if (!isComing && later) {
      isComing = true;
      later(flush);
    }
  };

  // V8 compiles a condition anew at each pass, and what is left of that slows down the next until it is collected,
  // which a program that allocates little seldom does: 90 µs at first, up to 450 after 50,000 passes.
  let passes = 0;
  let untilSwept = SWEEP;
  let sweptAt = now();
  let collect;
  const collector = () => {
    try {
      const v8 = process.getBuiltinModule('v8');
      v8.setFlagsFromString('--expose-gc');
      const gc = process.getBuiltinModule('vm').runInNewContext('gc');
      v8.setFlagsFromString('--no-expose-gc');
      return gc;
    } catch {
      // An old Node, or one that may not change its flags.
      return null;
    }
  };
  const sweep = () => {
    passes = 0;
    if (collect === undefined) collect = isMain ? collector() : null;
    if (collect === null) return;
    const began = now();
    collect();
    // A large heap takes long: then it is done seldom.
    if (now() - began > (began - sweptAt) * SWEEP_SHARE) untilSwept *= 2;
    sweptAt = now();
  };

  const pointOf = (id, generation) => {
    const name = `${id}:${generation}`;
    let point = points.get(name);
    if (point === undefined) {
      point = { count: 0, reported: 0, where: {}, has: 0, stuck: 0, hangs: [] };
      points.set(name, point);
    }
    return point;
  };

  // Tracepoints that are calls in the program's text, of which V8 knows nothing: by their numbers, what the server
  // says of them. Where V8 has one still, its condition has counted the pass, and says so.
  const woven = new Map();
  const marked = new Set();
  const sleeper = typeof SharedArrayBuffer === 'function' ? new Int32Array(new SharedArrayBuffer(4)) : null;
  let isAlone = sleeper === null;
  const waitFor = Atomics.wait;
  // Everything below is the engine's own: a step into a line would stop in what Node wrote in JavaScript, as its clock.
  const wall = Date.now;
  let drained = -Infinity;

  // A program that is faster than who listens waits for it, so that nothing piles up: V8 lets the answer in at the end
  // of each round. Nobody is waited for who does not come.
  const room = () => {
    const end = wall() + LAST;
    while (sent - taken > ROOM) {
      if (wall() > end) return void (isAlone = true);
      waitFor(sleeper, 0, 0, 1);
    }
  };

  const probe = (id, { condition, expressions }, given) => {
    if (marked.size > 0 && marked.delete(id)) return false;
    const it = woven.get(id);
    if (it === undefined) return false;
    const { point, place, multiple, max, test, isLiteral } = it;
    if (max > 0 && point.reported >= max) return false;
    const at = wall();
    let values;
    if (condition !== null) {
      try {
        if (!apply(condition, undefined, given)) return false;
      } catch (error) {
        values = expressions.map(() => failed(error, isLiteral ? 'in the condition' : ''));
      }
    }
    const count = point.count + 1;
    if ((test !== null && !test(count)) || (multiple > 0 && count % multiple !== 0)) {
      point.count = count;
      return false;
    }
    if (values === undefined) {
      values = [];
      for (let i = 0; i < expressions.length; i++) values.push(value(expressions[i], isLiteral, given));
    }
    point.count = count;
    point.reported++;
    const line = place[2];
    if (point.where[line] === undefined) whereWoven(point, line);
    buffer.push([place, count, at / 1000, point.where[line], values]);
    if (buffer.length >= BATCH || (at - drained >= EVERY && unread.length === 0)) {
      drained = at;
      drain();
      if (sent - taken > ROOM && !isAlone) room();
    }
    // What is left is fetched a moment later.
    return false;
  };
  kept.probe = probe;
  // Whether the program's texts can have calls of ours.
  kept.weave = (id, generation, line, multiple, max, test, isLiteral) => {
    if (kept.woven === undefined) return false;
    woven.set(id, { point: pointOf(id, generation), place: [id, generation, line], multiple, max, test, isLiteral });
    return true;
  };
  kept.unweave = id => woven.delete(id);
  kept.taken = count => {
    taken = count;
    isAlone = sleeper === null;
  };

  // A trial: the program stands at the tracepoint, where V8 can end what does not end by itself.
  let isTrial = false;
  // What to do if what is being tried does not end.
  let ifEndless;

  kept.flush = flush;
  kept.take = take;
  // The next call of `pass` is a trial.
  kept.tries = () => {
    isTrial = true;
  };
  // The trial is over, by itself or because V8 ended it.
  kept.tried = () => {
    const give = ifEndless;
    [isTrial, ifEndless] = [false, undefined];
    give?.();
  };
  // Whether the program is to stop for a trial; otherwise it goes on. In a condition, V8 can end nothing: what
  // calls something (`risks`: 1 the condition, 2 an expression) is evaluated there once it has ended in a trial.
  kept.pass = (id, generation, line, multiple, max, test, condition, thunks, risks, isLiteral) => {
    if (++passes >= untilSwept) sweep();
    // A call in the text comes next, where there is one: it is the same pass.
    if (kept.woven !== undefined) marked.add(id);
    const tries = isTrial;
    isTrial = false;
    const point = pointOf(id, generation);
    if (max > 0 && point.reported >= max) return false;
    const at = now();
    const place = [id, generation, line];
    const timeouts = (values = []) => {
      while (values.length < thunks.length) values.push(['Timeout']);
      return values;
    };
    let values;
    if (condition !== null && point.stuck >= HANGS) {
      values = timeouts();
    } else if (condition !== null) {
      if (risks & 1 & ~point.has) {
        if (!tries) return true;
        ifEndless = () => {
          point.stuck++;
          report(point, place, at, timeouts());
        };
      }
      let holds = true;
      try {
        holds = condition();
      } catch (error) {
        // Nobody would learn of it otherwise.
        values = thunks.map(() => failed(error, isLiteral ? 'in the condition' : ''));
      }
      ifEndless = undefined;
      point.has |= 1;
      if (!holds) return false;
    }
    const count = point.count + 1;
    if ((test !== null && !test(count)) || (multiple > 0 && count % multiple !== 0)) {
      point.count = count;
      return false;
    }
    if (values === undefined) {
      const isRisky = (risks & 2 & ~point.has) !== 0;
      if (isRisky && !tries) return true;
      values = [];
      if (isRisky) {
        ifEndless = () => {
          const i = values.length;
          point.hangs[i] = (point.hangs[i] ?? 0) + 1;
          report(point, place, at, timeouts(values));
        };
      }
      for (let i = 0; i < thunks.length; i++) {
        // What takes long cannot be ended here; what comes after it can be left out.
        const isLate = i > 0 && now() - at > BUDGET;
        values.push(isLate || point.hangs[i] >= HANGS ? ['Timeout'] : value(thunks[i], isLiteral));
      }
      ifEndless = undefined;
      point.has |= 2;
    }
    report(point, place, at, values);
    return false;
  };
  if (isMain) process.on('exit', flush);
  return 'function';
})
