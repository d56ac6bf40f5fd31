// SHA-512 as hexadecimal, at once: the browser's own is asynchronous and a synchronous call cannot wait.
// Every 64-bit word is two 32-bit halves, which JavaScript adds without allocating.
"use strict";

const FIRST_PRIMES = [];
for (let n = 2; FIRST_PRIMES.length < 80; n++) {
  if (FIRST_PRIMES.every((prime) => n % prime)) FIRST_PRIMES.push(n);
}

// The first 64 bits of the fraction of a root, exactly, in integers.
function fraction(prime, power) {
  const scaled = BigInt(prime) << BigInt(64 * power);
  let root = BigInt(Math.floor(prime ** (1 / power))) + 1n;
  root <<= 64n;
  for (;;) {
    const next = power === 2 ? (root + scaled / root) / 2n : (2n * root + scaled / (root * root)) / 3n;
    if (next >= root) break;
    root = next;
  }
  return root & 0xffffffffffffffffn;
}

const halves = (words) => Uint32Array.from(words.flatMap((word) => [Number(word >> 32n), Number(word & 0xffffffffn)]));
const START = halves(FIRST_PRIMES.slice(0, 8).map((prime) => fraction(prime, 2)));
const ROUND = halves(FIRST_PRIMES.map((prime) => fraction(prime, 3)));
const schedule = new Uint32Array(160);

function sha512(bytes) {
  const length = (((bytes.length + 16) >> 7) + 1) << 7;
  const padded = new Uint8Array(length);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(length - 4, (bytes.length << 3) >>> 0);
  const state = Uint32Array.from(START);
  for (let at = 0; at < length; at += 128) block(state, view, at);
  return Array.from(state, (half) => half.toString(16).padStart(8, "0")).join("");
}

function block(state, view, at) {
  const w = schedule;
  for (let i = 0; i < 32; i++) w[i] = view.getUint32(at + 4 * i);
  for (let i = 32; i < 160; i += 2) {
    const h15 = w[i - 30];
    const l15 = w[i - 29];
    const h2 = w[i - 4];
    const l2 = w[i - 3];
    const s0h = ((h15 >>> 1) | (l15 << 31)) ^ ((h15 >>> 8) | (l15 << 24)) ^ (h15 >>> 7);
    const s0l = ((l15 >>> 1) | (h15 << 31)) ^ ((l15 >>> 8) | (h15 << 24)) ^ ((l15 >>> 7) | (h15 << 25));
    const s1h = ((h2 >>> 19) | (l2 << 13)) ^ ((l2 >>> 29) | (h2 << 3)) ^ (h2 >>> 6);
    const s1l = ((l2 >>> 19) | (h2 << 13)) ^ ((h2 >>> 29) | (l2 << 3)) ^ ((l2 >>> 6) | (h2 << 26));
    const low = w[i - 31] + (s0l >>> 0) + w[i - 13] + (s1l >>> 0);
    w[i + 1] = low;
    w[i] = w[i - 32] + s0h + w[i - 14] + s1h + Math.floor(low / 0x100000000);
  }
  let [ah, al, bh, bl, ch, cl, dh, dl, eh, el, fh, fl, gh, gl, hh, hl] = state;
  for (let i = 0; i < 160; i += 2) {
    const s1h = ((eh >>> 14) | (el << 18)) ^ ((eh >>> 18) | (el << 14)) ^ ((el >>> 9) | (eh << 23));
    const s1l = ((el >>> 14) | (eh << 18)) ^ ((el >>> 18) | (eh << 14)) ^ ((eh >>> 9) | (el << 23));
    const choiceH = (eh & fh) ^ (~eh & gh);
    const choiceL = (el & fl) ^ (~el & gl);
    const low1 = (hl >>> 0) + (s1l >>> 0) + (choiceL >>> 0) + ROUND[i + 1] + w[i + 1];
    const t1l = low1 >>> 0;
    const t1h = (hh + s1h + choiceH + ROUND[i] + w[i] + Math.floor(low1 / 0x100000000)) >>> 0;
    const s0h = ((ah >>> 28) | (al << 4)) ^ ((al >>> 2) | (ah << 30)) ^ ((al >>> 7) | (ah << 25));
    const s0l = ((al >>> 28) | (ah << 4)) ^ ((ah >>> 2) | (al << 30)) ^ ((ah >>> 7) | (al << 25));
    const majorH = (ah & bh) ^ (ah & ch) ^ (bh & ch);
    const majorL = (al & bl) ^ (al & cl) ^ (bl & cl);
    const low2 = (s0l >>> 0) + (majorL >>> 0);
    hh = gh; hl = gl; gh = fh; gl = fl; fh = eh; fl = el;
    const lowE = (dl >>> 0) + t1l;
    el = lowE >>> 0; eh = (dh + t1h + (lowE > 0xffffffff)) >>> 0;
    dh = ch; dl = cl; ch = bh; cl = bl; bh = ah; bl = al;
    const lowA = t1l + low2;
    al = lowA >>> 0; ah = (t1h + s0h + majorH + Math.floor(lowA / 0x100000000)) >>> 0;
  }
  const added = [ah, al, bh, bl, ch, cl, dh, dl, eh, el, fh, fl, gh, gl, hh, hl];
  for (let i = 0; i < 16; i += 2) {
    const low = state[i + 1] + (added[i + 1] >>> 0);
    state[i] = state[i] + (added[i] >>> 0) + Math.floor(low / 0x100000000);
    state[i + 1] = low;
  }
}

module.exports = { sha512 };
