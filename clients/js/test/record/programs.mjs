// Random programs in pairs: one to be recorded, and its twin, line for line the same, which writes down itself what happens.
// Both come from the generator, so what the twin says owes nothing to the recorder or to any parser.

export function random(seed) {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
  return { below: (n) => Math.floor(next() * n), chance: (p) => next() < p, pick: (list) => list[Math.floor(next() * list.length)] };
}

// What the twin runs with: it prints one line per event.
export const PREAMBLE = `const $log = []; let $n = 0; let $fly = $log;
const $show = (v, d = 0) => typeof v === 'string' ? JSON.stringify(v) : typeof v !== 'object' || v === null ? (Object.is(v, -0) ? '-0' : String(v)) : v instanceof Error ? v.constructor.name + '(' + JSON.stringify(v.message) + ')' : typeof v.then === 'function' ? '<Promise>' : d > 1 ? '<' + v.constructor.name + '>' : v instanceof Map ? 'Map{' + [...v].map(([k, x]) => $show(k, d + 1) + ': ' + $show(x, d + 1)).join(', ') + '}' : v instanceof Set ? 'Set[' + [...v].slice(0, 5).map((x) => $show(x, d + 1)).join(', ') + (v.size > 5 ? ', …' + v.size : '') + ']' : Array.isArray(v) ? '[' + v.slice(0, 5).map((x) => $show(x, d + 1)).join(', ') + (v.length > 5 ? ', …' + v.length : '') + ']' : v.constructor.name + '{' + Object.keys(v).map((k) => k + ': ' + $show(v[k], d + 1)).join(', ') + '}';
const $C = (name, ...args) => { $log.push([$n, 'call ' + name + '(' + args.map((x) => $show(x)).join(', ') + ')']); return { n: $n++, done: false, out: false }; };
const $on = (f) => { if (f.out) { f.out = false; $log.push([f.n, 'resume']); } };
const $L = (f, n) => { $on(f); $log.push([f.n, ':' + n]); };
const $W = (f, name, v) => { $on(f); $log.push([f.n, name + ' = ' + $show(v)]); return v; };
const $M = (f, name, v) => { if (Array.isArray(v) || v instanceof Map || v instanceof Set) $W(f, name, v); };
const $R = (f, v) => { $on(f); f.done = true; $log.push([f.n, 'return ' + $show(v)]); return v; };
const $P = (f, v) => { f.pending = v; return v; };
const $T = (f, e) => { $log.push([f.n, 'raise ' + $show(e)]); $fly = e; return e; };
const $U = (f, e) => { if (f.done) return e; $on(f); f.done = true; if ($fly !== e) $log.push([f.n, 'raise ' + $show(e)]); $fly = e; $log.push([f.n, 'unwind ' + $show(e)]); return e; };
const $H = (f, e) => { $on(f); if ($fly !== e) $log.push([f.n, 'raise ' + $show(e)]); $fly = $log; $log.push([f.n, 'handled ' + $show(e)]); };
const $X = (f) => { if (!f.done) $R(f, f.pending); };
const $Y = (f, v) => { $on(f); $log.push([f.n, 'yield ' + $show(v)]); f.out = true; return v; };
const $Z = (f, v) => { $on(f); return v; };
const $S = (v) => v;
process.on('exit', () => require('fs').writeFileSync(process.env.TWIN_LOG, JSON.stringify($log)));`.replaceAll('\n', ' ');

export function program(seed) {
  return new Writer(random(seed)).program();
}

class Writer {
  constructor(rng) {
    this.rng = rng;
    this.plain = [];
    this.twin = [];
    this.functions = [];
    this.depth = 0;
  }

  // One line of both; what differs is written once for each.
  line(plain, twin = plain) {
    this.plain.push(plain);
    this.twin.push(twin);
  }

  get at() {
    return this.plain.length + 1;
  }

  program() {
    this.line("'use strict';", `'use strict'; ${PREAMBLE} const $f = $C('<module>'); process.on('uncaughtExceptionMonitor', (e) => $U($f, e));`);
    const count = 2 + this.rng.below(4);
    for (let n = 0; n < count; n += 1) this.declare(n);
    this.scope = { kind: 'module', names: [], fn: null };
    for (let n = 0; n < 3 + this.rng.below(4); n += 1) this.statement(0);
    this.line('main().then((v) => {', `$L($f, ${this.at}); main().then((v) => { const $f = $C('<anonymous>', v); try {`);
    this.say((f) => [`console.log('done', v);`, `$L(${f}, ${this.at}); console.log('done', v);`]);
    this.line('});', "$R($f, undefined) } catch ($e) { throw $U($f, $e) } });");
    // `main` is hoisted, and so is what it needs.
    this.main();
    this.line('', '$R($f, undefined);');
    return { plain: this.plain.join('\n'), twin: this.twin.join('\n') };
  }

  say(make) {
    const [plain, twin] = make('$f');
    this.line(plain, twin);
  }

  declare(n) {
    const kind = this.rng.pick(['plain', 'plain', 'arrow', 'expression', 'generator', 'async', 'method', 'derived']);
    const params = ['a', 'b', 'c'].slice(0, this.rng.below(4));
    const made = { name: `${kind}${n}`, kind, params, called: `${kind}${n}` };
    const list = params.join(', ');
    const given = (extra) => [`'${made.called}'`, ...extra, ...params].join(', ');
    this.scope = { kind, names: [...params], fn: made };
    switch (kind) {
      case 'plain':
        this.line(`function ${made.name}(${list}) {`, `function ${made.name}(${list}) { const $f = $C(${given([])}); try {`);
        break;
      case 'generator':
        this.line(`function* ${made.name}(${list}) {`, `function* ${made.name}(${list}) { const $f = $C(${given([])}); try {`);
        break;
      case 'async':
        this.line(`async function ${made.name}(${list}) {`, `async function ${made.name}(${list}) { const $f = $C(${given([])}); try {`);
        break;
      case 'arrow':
        this.line(`const ${made.name} = (${list}) => {`, `$L($f, ${this.at}); const ${made.name} = (${list}) => { const $f = $C(${given([])}); try {`);
        break;
      case 'expression': {
        const body = this.value(1);
        const at = this.at;
        this.line(`const ${made.name} = (${list}) => ${body.p};`,
          `$L($f, ${at}); const ${made.name} = (${list}) => { const $f = $C(${given([])}); try { $L($f, ${at}); return $R($f, ${body.t}) } catch ($e) { throw $U($f, $e) } finally { $X($f) } };`);
        this.functions.push(made);
        return;
      }
      default: {
        made.called = `Box${n}.go`;
        const base = kind === 'derived' ? ' extends Object' : '';
        this.line(`class Box${n}${base} {`);
        if (kind === 'derived') {
          this.line('constructor(x) {', `constructor(x) { const $f = $C('Box${n}.constructor', x); try {`);
          this.line('super();', `$L($f, ${this.at}); $W($f, 'this', super());`);
          this.line('this.x = x;', `$L($f, ${this.at}); $W($f, 'this.x', this.x = x);`);
          this.line('}', '$R($f, this) } catch ($e) { throw $U($f, $e) } finally { $X($f) } }');
        } else {
          this.line('constructor(x) {', `constructor(x) { const $f = $C('Box${n}.constructor', this, x); try {`);
          this.line('this.x = x;', `$L($f, ${this.at}); $W($f, 'this.x', this.x = x);`);
          this.line('}', '$R($f, this) } catch ($e) { throw $U($f, $e) } finally { $X($f) } }');
        }
        this.line(`go(${list}) {`, `go(${list}) { const $f = $C(${given(['this'])}); try {`);
        this.scope.members = ['this.x'];
        made.call = (args) => `new Box${n}(${this.rng.below(9)}).go(${args})`;
      }
    }
    this.body();
    this.line('}', '$R($f, undefined) } catch ($e) { throw $U($f, $e) } finally { $X($f) } }');
    if (kind === 'method' || kind === 'derived') this.line('}');
    this.functions.push(made);
  }

  main() {
    this.scope = { kind: 'async', names: [], fn: { name: 'main' } };
    this.line('async function main() {', "async function main() { const $f = $C('main'); try {");
    this.body();
    const asyncs = this.functions.filter((fn) => fn.kind === 'async');
    if (asyncs.length > 0) {
      const calls = [0, 1].map(() => this.rng.pick(asyncs)).map((fn) => `${fn.name}(${fn.params.map(() => this.rng.below(9)).join(', ')}).catch((e) => null)`);
      const quiet = (text) => text.replaceAll('(e) => null', `(e) => { const $f = $C('main.<anonymous>', e); $L($f, ${this.at}); return $R($f, null); }`);
      const list = `[${calls.join(', ')}]`;
      this.line(`const all = await Promise.all(${list});`, `$L($f, ${this.at}); const all = $W($f, 'all', $Z($f, await $Y($f, Promise.all(${quiet(list)}))));`);
    }
    this.line('}', '$R($f, undefined) } catch ($e) { throw $U($f, $e) } finally { $X($f) } }');
  }

  body() {
    const count = 1 + this.rng.below(5);
    for (let n = 0; n < count; n += 1) this.statement(1);
    if (this.rng.chance(0.7) && this.scope.kind !== 'module') this.returns();
  }

  returns(held = false) {
    const v = this.value(2);
    const probe = held ? '$P' : '$R';
    this.line(`return ${v.p};`, `$L($f, ${this.at}); return ${probe}($f, ${v.t});`);
  }

  statement(depth) {
    const { rng } = this;
    const kinds = ['let', 'let', 'assign', 'assign', 'compound', 'update', 'list', 'object', 'pattern', 'call', 'change', 'change'];
    if (depth < 3) kinds.push('if', 'for', 'of', 'while', 'try', 'switch', 'one');
    if (this.scope.kind === 'generator') kinds.push('yield', 'yield', 'yield');
    if (this.scope.kind === 'async') kinds.push('await', 'await', 'each');
    if (this.scope.kind !== 'module' && rng.chance(0.15)) kinds.push('throw');
    this[`${rng.pick(kinds)}_`](depth);
  }

  fresh() {
    this.count = (this.count ?? 0) + 1;
    return `v${this.count}`;
  }

  block(depth, names = []) {
    const kept = this.scope.names;
    this.scope.names = [...kept, ...names];
    for (let n = 0; n < 1 + this.rng.below(3); n += 1) this.statement(depth + 1);
    this.scope.names = kept;
  }

  let_() {
    const v = this.value(2);
    const name = this.fresh();
    this.line(`let ${name} = ${v.p};`, `$L($f, ${this.at}); let ${name} = $W($f, '${name}', ${v.t});`);
    this.scope.names = [...this.scope.names, name];
  }

  target() {
    const own = this.scope.names.filter((name) => !name.startsWith('k'));
    return own.length === 0 ? null : this.rng.pick([...own, ...(this.scope.members ?? [])]);
  }

  assign_(depth) {
    const name = this.target();
    if (name === null) return this.let_(depth);
    const v = this.value(2);
    this.line(`${name} = ${v.p};`, `$L($f, ${this.at}); $W($f, '${name}', ${name} = ${v.t});`);
  }

  compound_(depth) {
    const name = this.target();
    if (name === null) return this.let_(depth);
    const op = this.rng.pick(['+=', '-=', '*=', '|=']);
    const v = this.number(1);
    this.line(`${name} ${op} ${v.p};`, `$L($f, ${this.at}); $W($f, '${name}', ${name} ${op} ${v.t});`);
  }

  update_(depth) {
    const name = this.target();
    if (name === null) return this.let_(depth);
    const [p, t] = this.rng.pick([
      [`++${name}`, `$W($f, '${name}', ++${name})`],
      [`${name}--`, `$S(${name}--, $W($f, '${name}', ${name}))`],
      [`${name}++`, `$S(${name}++, $W($f, '${name}', ${name}))`],
    ]);
    if (this.rng.chance(0.5)) return this.line(`${p};`, `$L($f, ${this.at}); ${t};`);
    const other = this.fresh();
    this.line(`const ${other} = ${p};`, `$L($f, ${this.at}); const ${other} = $W($f, '${other}', ${t});`);
  }

  list_() {
    const name = this.fresh();
    const items = Array.from({ length: this.rng.below(7) }, () => this.rng.below(50)).join(', ');
    this.line(`const ${name} = [${items}];`, `$L($f, ${this.at}); const ${name} = $W($f, '${name}', [${items}]);`);
    const v = this.value(1);
    this.line(`${name}[1] = ${v.p};`, `$L($f, ${this.at}); $W($f, '${name}[1]', ${name}[1] = ${v.t});`);
  }

  object_() {
    const name = this.fresh();
    const [x, y] = [this.value(1), this.number(1)];
    this.line(`const ${name} = { x: ${x.p}, y: ${y.p} };`, `$L($f, ${this.at}); const ${name} = $W($f, '${name}', { x: ${x.t}, y: ${y.t} });`);
    this.line(`${name}.y++;`, `$L($f, ${this.at}); $W($f, '${name}.y', ++${name}.y);`);
  }

  // Containers changed in place: what the receiver is called has other content behind the call.
  change_() {
    const { rng } = this;
    const name = this.fresh();
    const kind = rng.pick(['array', 'array', 'array', 'map', 'set', 'inside']);
    const made = { array: '[3, 1, 2]', map: "new Map([['a', 1]])", set: 'new Set([1, 2])', inside: '{ list: [1], rows: [[5], [6]], deep: [[5], [6]] }' }[kind];
    this.line(`const ${name} = ${made};`, `$L($f, ${this.at}); const ${name} = $W($f, '${name}', ${made});`);
    for (let n = 0; n < 1 + rng.below(3); n += 1) {
      const v = this.value(1);
      const [of, rest] = this.changing(kind, name, v);
      this.changed(of, `${of}${rest.p}`, `${of}${rest.t}`);
    }
  }

  // A receiver, and the call behind it.
  changing(kind, name, v) {
    const both = (make) => ({ p: make(v.p), t: make(v.t) });
    const array = () => this.rng.pick([
      both((x) => `.push(${x})`), both((x) => `.unshift(${x}, 7)`), both(() => '.pop()'), both(() => '.shift()'), both(() => '.splice(0, 1)'),
      both((x) => `.splice(1, 0, ${x})`), both(() => '.sort()'), both(() => '.reverse()'), both((x) => `.fill(${x})`), both(() => '.copyWithin(0, 1)'),
      both((x) => `?.push(${x})`), both((x) => `.reverse().concat(${x})`), both((x) => `.pop()?.toString(${x} | 0 ? 10 : 2)`),
    ]);
    const map = () => this.rng.pick([both((x) => `.set('b', ${x})`), both((x) => `.set('c', ${x}).get('a')`), both(() => ".delete('a')"), both(() => '.clear()')]);
    const set = () => this.rng.pick([both((x) => `.add(${x})`), both(() => '.delete(1)'), both(() => '.clear()')]);
    if (kind === 'inside') return [`${name}${this.rng.pick(['.list', '.rows', '.deep[1]', "['list']"])}`, array()];
    return [name, { array, map, set }[kind]()];
  }

  changed(of, p, t) {
    const { rng } = this;
    const told = `$M($f, ${JSON.stringify(of)}, ${of})`;
    const other = this.fresh();
    if (p.endsWith('.splice(0, 1)') && rng.chance(0.7)) {
      // Nothing is told of what is spread; what is taken apart is told behind.
      if (rng.chance(0.3)) return this.line(`void [...${p}];`, `$L($f, ${this.at}); void [...${t}];`);
      return this.line(`const [${other}] = ${p};`, `$L($f, ${this.at}); const [${other}] = ${t}; ${told}; $W($f, '${other}', ${other});`);
    }
    switch (rng.below(4)) {
      case 0:
      case 1:
        // A chain is wrapped as a whole, so it is told even where it ends early.
        return this.line(`void (${p});`, `$L($f, ${this.at}); void $S(${t}, ${told});`);
      case 2:
        return this.line(`const ${other} = ${p};`, `$L($f, ${this.at}); const ${other} = $W($f, '${other}', $S(${t}, ${told}));`);
      default:
        return this.line(`const [${other}] = [${p}];`, `$L($f, ${this.at}); const [${other}] = [$S(${t}, ${told})]; $W($f, '${other}', ${other});`);
    }
  }

  pattern_() {
    const [one, two, rest] = [this.fresh(), this.fresh(), this.fresh()];
    const [x, y] = [this.value(1), this.value(1)];
    if (this.rng.chance(0.5)) {
      this.line(`let [${one}, ${two} = 3, ...${rest}] = [${x.p}, ${y.p}, 1, 2];`,
        `$L($f, ${this.at}); let [${one}, ${two} = 3, ...${rest}] = [${x.t}, ${y.t}, 1, 2]; $W($f, '${one}', ${one}); $W($f, '${two}', ${two}); $W($f, '${rest}', ${rest});`);
      this.line(`[${one}, ${two}] = [${two}, ${one}];`,
        `$L($f, ${this.at}); [${one}, ${two}] = [${two}, ${one}]; $W($f, '${one}', ${one}); $W($f, '${two}', ${two});`);
    } else {
      this.line(`const { p: ${one}, q: ${two} = 4, ...${rest} } = { p: ${x.p}, r: ${y.p} };`,
        `$L($f, ${this.at}); const { p: ${one}, q: ${two} = 4, ...${rest} } = { p: ${x.t}, r: ${y.t} }; $W($f, '${one}', ${one}); $W($f, '${two}', ${two}); $W($f, '${rest}', ${rest});`);
    }
  }

  call_() {
    const v = this.call(2) ?? this.value(1);
    this.line(`void (${v.p});`, `$L($f, ${this.at}); void (${v.t});`);
  }

  if_(depth) {
    const v = this.number(2);
    this.line(`if (${v.p} % 2 === 0) {`, `$L($f, ${this.at}); if (${v.t} % 2 === 0) {`);
    this.block(depth);
    if (this.rng.chance(0.5)) {
      if (this.rng.chance(0.4)) {
        const w = this.number(1);
        // An `else if` is a statement of its own, on the line of its `if`.
        this.line('} else', '} else {');
        this.line(`if (${w.p} > 4) {`, `$L($f, ${this.at}); if (${w.t} > 4) {`);
        this.block(depth);
        this.line('}', '} }');
        return;
      }
      this.line('} else {');
      this.block(depth);
    }
    this.line('}');
  }

  one_() {
    const v = this.number(1);
    const name = this.target() ?? null;
    if (name === null) return;
    const at = this.at;
    this.line(`if (${v.p} > 3)`, `$L($f, ${at}); if (${v.t} > 3) {`);
    this.line(`  ${name} = ${at};`, `  $L($f, ${this.at}); $W($f, '${name}', ${name} = ${at}); }`);
  }

  for_(depth) {
    const i = `k${this.fresh()}`;
    const at = this.at;
    const times = 1 + this.rng.below(4);
    this.line(`for (let ${i} = 0; ${i} < ${times}; ${i}++) {`, `$L($f, ${at}); for (let ${i} = $W($f, '${i}', 0); ${i} < ${times}; $L($f, ${at}), ${i}++, $W($f, '${i}', ${i})) {`);
    this.block(depth, [i]);
    if (this.rng.chance(0.3)) this.line(`if (${i} === 1) {`, `$L($f, ${this.at}); if (${i} === 1) {`), this.jump(), this.line('}');
    this.line('}');
  }

  jump() {
    const word = this.rng.pick(['break', 'continue']);
    this.line(`${word};`, `$L($f, ${this.at}); ${word};`);
  }

  of_(depth) {
    const name = `k${this.fresh()}`;
    const at = this.at;
    const gens = this.functions.filter((fn) => fn.kind === 'generator');
    const from = gens.length > 0 && this.rng.chance(0.6) ? this.callOf(this.rng.pick(gens), 1) : { p: '[3, 5, 8]', t: '[3, 5, 8]' };
    this.line(`for (const ${name} of ${from.p}) {`, `$L($f, ${at}); for (const ${name} of ${from.t}) { $L($f, ${at}); $W($f, '${name}', ${name});`);
    this.block(depth, [name]);
    if (this.rng.chance(0.3)) this.jump();
    this.line('}');
  }

  each_(depth) {
    const name = `k${this.fresh()}`;
    const at = this.at;
    this.line(`for await (const ${name} of [1, Promise.resolve(2)]) {`,
      `$L($f, ${at}); for await (const ${name} of { *[Symbol.iterator]() { for (const x of [1, Promise.resolve(2)]) { $Y($f, undefined); yield x; } $Y($f, undefined); } }) { $L($f, ${at}); $W($f, '${name}', ${name});`);
    this.block(depth, [name]);
    this.line('}', '} $on($f);');
  }

  while_(depth) {
    const i = `k${this.fresh()}`;
    this.line(`let ${i} = 0;`, `$L($f, ${this.at}); let ${i} = $W($f, '${i}', 0);`);
    const at = this.at;
    this.line(`while (${i} < 3) {`, `while ($L($f, ${at}), ${i} < 3) {`);
    this.line(`${i} += 1;`, `$L($f, ${this.at}); $W($f, '${i}', ${i} += 1);`);
    this.block(depth, [i]);
    this.line('}');
  }

  switch_(depth) {
    const v = this.number(1);
    this.line(`switch (${v.p} % 3) {`, `$L($f, ${this.at}); switch (${v.t} % 3) {`);
    for (const label of ['case 0: {', 'case 1: {', 'default: {']) {
      this.line(label);
      this.block(depth);
      if (this.rng.chance(0.6)) this.line('break;', `$L($f, ${this.at}); break;`);
      this.line('}');
    }
    this.line('}');
  }

  try_(depth) {
    const held = this.rng.chance(0.4);
    const { scope } = this;
    // Inside of one whose `finally` comes before the function's end, whatever is around the `return`.
    scope.held = (scope.held ?? 0) + (held ? 1 : 0);
    this.line('try {');
    this.block(depth);
    if (this.rng.chance(0.5)) this.fault();
    if (this.scope.kind !== 'module' && this.rng.chance(0.2)) this.returns(scope.held > 0);
    const e = this.fresh();
    const way = this.rng.below(3);
    if (way === 0) this.line(`} catch (${e}) {`, `} catch (${e}) { $H($f, ${e});`);
    else if (way === 1) this.line('} catch {', '} catch ($x) { $H($f, $x);');
    else this.line(`} catch ({ message: ${e} }) {`, `} catch ($x) { $H($f, $x); const { message: ${e} } = $x; $W($f, '${e}', ${e});`);
    this.block(depth);
    if (held) {
      scope.held -= 1;
      this.line('} finally {', '} finally { $on($f);');
      this.block(depth);
    }
    this.line('}');
  }

  fault() {
    const [p, t] = this.rng.pick([
      ["throw new RangeError('x');", "throw $T($f, new RangeError('x'));"],
      ['null.foo;', 'null.foo;'],
      ['undefined();', 'undefined();'],
    ]);
    this.line(p, `$L($f, ${this.at}); ${t}`);
  }

  throw_() {
    this.fault();
  }

  yield_() {
    const v = this.value(1);
    if (this.rng.chance(0.5)) return this.line(`yield ${v.p};`, `$L($f, ${this.at}); $Z($f, yield $Y($f, ${v.t}));`);
    const name = this.fresh();
    this.line(`const ${name} = yield ${v.p};`, `$L($f, ${this.at}); const ${name} = $W($f, '${name}', $Z($f, yield $Y($f, ${v.t})));`);
  }

  await_() {
    const asyncs = this.functions.filter((fn) => fn.kind === 'async');
    const name = this.fresh();
    const v = asyncs.length > 0 && this.rng.chance(0.6) ? this.callOf(this.rng.pick(asyncs), 1) : this.value(1);
    this.line(`const ${name} = await ${v.p};`, `$L($f, ${this.at}); const ${name} = $W($f, '${name}', $Z($f, await $Y($f, ${v.t})));`);
  }

  // ---- Expressions: what is read, and calls.

  number(depth) {
    const own = this.scope.names;
    const { rng } = this;
    if (depth > 0 && rng.chance(0.35)) {
      const [x, y] = [this.number(depth - 1), this.number(depth - 1)];
      const op = rng.pick(['+', '-', '*', '&']);
      return { p: `(${x.p} ${op} ${y.p})`, t: `(${x.t} ${op} ${y.t})` };
    }
    const leaf = own.length > 0 && rng.chance(0.5) ? `(${rng.pick(own)} | 0)` : String(rng.below(20));
    return { p: leaf, t: leaf };
  }

  value(depth) {
    const { rng } = this;
    if (depth > 0 && rng.chance(0.3)) {
      const made = this.call(depth - 1);
      if (made !== null) return made;
    }
    if (rng.chance(0.3)) {
      const leaf = rng.pick(["'x'", "''", 'null', 'undefined', 'true', 'false', "'ünï'", '1.5', '-7', '100000', 'NaN', '[1, [2, [3]]]']);
      return { p: leaf, t: leaf };
    }
    return this.number(depth);
  }

  call(depth) {
    const some = this.functions.filter((fn) => fn.kind !== 'async' && fn.kind !== 'generator');
    return some.length === 0 ? null : this.callOf(this.rng.pick(some), depth);
  }

  callOf(fn, depth) {
    const args = fn.params.map(() => this.number(Math.max(0, depth - 1)));
    const make = fn.call ?? ((list) => `${fn.name}(${list})`);
    const p = make(args.map((arg) => arg.p).join(', '));
    if (fn.call === undefined) return { p, t: `${fn.name}(${args.map((arg) => arg.t).join(', ')})` };
    const head = p.slice(0, p.indexOf('.go('));
    return { p, t: `${head}.go(${args.map((arg) => arg.t).join(', ')})` };
  }
}
