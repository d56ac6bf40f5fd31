// A program that is hard to record: small functions, short lines, values that change. It prints its CPU time in milliseconds.
'use strict';

function tokens(text) {
  const found = [];
  let at = 0;
  while (at < text.length) {
    const letter = text[at];
    if (letter === ' ') {
      at += 1;
      continue;
    }
    let kind = 'sign';
    let value = letter;
    if (letter >= '0' && letter <= '9') {
      const start = at;
      while (at < text.length && text[at] >= '0' && text[at] <= '9') at += 1;
      kind = 'number';
      value = Number(text.slice(start, at));
    } else {
      at += 1;
    }
    found.push({ kind, value });
  }
  return found;
}

class Parser {
  constructor(found) {
    this.found = found;
    this.at = 0;
  }

  peek() {
    if (this.at < this.found.length) return this.found[this.at];
    return { kind: 'end', value: null };
  }

  take() {
    const token = this.peek();
    this.at += 1;
    return token;
  }

  sum() {
    let left = this.product();
    while (this.peek().value === '+' || this.peek().value === '-') {
      const sign = this.take().value;
      const right = this.product();
      left = [sign, left, right];
    }
    return left;
  }

  product() {
    let left = this.atom();
    while (this.peek().value === '*' || this.peek().value === '/') {
      const sign = this.take().value;
      const right = this.atom();
      left = [sign, left, right];
    }
    return left;
  }

  atom() {
    const { kind, value } = this.take();
    if (kind === 'number') return value;
    const inner = this.sum();
    this.take();
    return inner;
  }
}

function evaluate(tree) {
  if (typeof tree === 'number') return tree;
  const [sign, left, right] = tree;
  const a = evaluate(left);
  const b = evaluate(right);
  if (sign === '+') return a + b;
  if (sign === '-') return a - b;
  if (sign === '*') return a * b;
  return safe(a, b);
}

function safe(a, b) {
  const result = b === 0 ? null : Math.floor(a / b);
  return result ?? 0;
}

class Item {
  constructor(name, price) {
    this.name = name;
    this.price = price;
    this.qty = 0;
  }

  add(n) {
    this.qty += n;
    if (this.qty < 0) {
      this.qty = 0;
    }
    return this.qty;
  }
}

class Stock {
  constructor() {
    this.items = new Map();
  }

  item(name) {
    let found = this.items.get(name);
    if (found === undefined) {
      found = new Item(name, name.length * 3);
      this.items.set(name, found);
    }
    return found;
  }

  move(name, n) {
    const item = this.item(name);
    return item.add(n);
  }

  worth() {
    let total = 0;
    for (const item of this.items.values()) {
      total += item.qty * item.price;
    }
    return total;
  }
}

function histogram(values, width) {
  const bins = new Array(width).fill(0);
  let top = 0;
  for (const value of values) {
    const k = value % width;
    bins[k] += 1;
    if (bins[k] > top) {
      top = bins[k];
    }
  }
  return [bins, top];
}

function collatz(n) {
  let steps = 0;
  while (n !== 1) {
    if (n % 2 === 1) {
      n = 3 * n + 1;
    } else {
      n = n / 2;
    }
    steps += 1;
  }
  return steps;
}

function* squares(n) {
  let i = 0;
  while (i < n) {
    yield i * i;
    i += 1;
  }
}

function work(size) {
  let out = 0;
  for (let i = 0; i < size; i += 1) {
    const text = `(${i} + ${i + 1}) * 3 - ${i * 7} / (${i % 5} - ${i % 3})`;
    out += evaluate(new Parser(tokens(text)).sum());
  }
  const stock = new Stock();
  for (let i = 0; i < size * 12; i += 1) {
    stock.move(`item${i % 40}`, (i % 7) - 2);
  }
  out += stock.worth();
  const values = [];
  for (let i = 0; i < size * 60; i += 1) {
    values.push((i * 37) % 1009);
  }
  out += histogram(values, 64)[1];
  for (let i = 1; i < size * 3; i += 1) {
    out += collatz(i);
  }
  for (const value of squares(size * 60)) {
    out += value & 1;
  }
  return out;
}

const size = Number(process.argv[2] ?? 2000);
const before = process.cpuUsage();
const result = work(size);
const used = process.cpuUsage(before);
console.log(`${((used.user + used.system) / 1000).toFixed(1)} ${result}`);
