// Whose the server is, asked before anything is sent to it. Node alone: a page is kept to its own origin by its browser.
//
// After a server was killed its port stays written, and whoever listens there next would be told all that an app has to
// say, its token too. Linux shows whose each socket is; elsewhere the server has to prove that it has the key of this
// user's home. A server that the user named need not be the user's own; what is lost then is said where it is lost.
"use strict";

const crypto = require("node:crypto");
const fs = require("node:fs");
const { endianness, homedir } = require("node:os");
const { join } = require("node:path");

const ROOT = "0";
const LISTEN = "0A";
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

// The user at the other end of a connection, or who listens where there is none yet: `{known, ours, user}`. `known` is
// false where the system does not say.
function whose(host, port, localPort) {
  const rows = sockets(port);
  if (rows === null) return { known: false, ours: false };
  const at = forms(host);
  const far = hex16(localPort ?? 0);
  const accepted = rows.find((row) => localPort && row.state !== LISTEN && row.remotePort === far && at.has(row.local));
  // A connection that nobody accepted yet, or nobody holds any more, has no inode; its user is not root.
  const listens = rows.find((row) => row.state === LISTEN && row.inode !== "0" && (at.has(row.local) || /^0+$/.test(row.local)));
  const found = accepted && accepted.inode !== "0" ? accepted : listens;
  if (!found) return { known: false, ours: false };
  return { known: true, ours: found.user === ROOT || found.user === String(process.geteuid()), user: found.user };
}

// Whether the system says whose a socket is.
const says = fs.existsSync(TABLES[0]);

// The rows of the kernel's table at one port; null where there is no table.
function sockets(port) {
  const wanted = hex16(port);
  const rows = [];
  let any = false;
  for (const table of TABLES) {
    let text;
    try {
      text = fs.readFileSync(table, "latin1");
    } catch {
      continue;
    }
    any = true;
    for (const line of text.split("\n")) {
      const [, near = "", far = "", state, , , , user, , inode] = line.trim().split(/\s+/);
      const [local, localPort] = near.split(":");
      if (localPort === wanted) rows.push({ local, remotePort: far.split(":")[1], state, user, inode });
    }
  }
  return any ? rows : null;
}

const hex16 = (number) => number.toString(16).toUpperCase().padStart(4, "0");

// How the table writes an address: each four bytes as one number of the machine's own order.
function forms(host) {
  if (host === "::1") return new Set([words([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])]);
  const four = host.split(".").map(Number);
  const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...four];
  return new Set([words(four), words(mapped)]);
}

function words(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.slice(at, at + 4);
    if (endianness() === "LE") word.reverse();
    text += word.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join("");
  }
  return text;
}

// --- The key of the home.

function homeKey() {
  let file;
  try {
    const home = process.env.HOLDPOINT_HOME || join(homedir(), ".holdpoint");
    file = fs.openSync(join(home, "key"), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    const { uid } = fs.fstatSync(file);
    const text = fs.readFileSync(file, "latin1").trim();
    return uid === process.geteuid() && /^[0-9a-f]{64}$/.test(text) ? text : null;
  } catch {
    return null;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

// A question that only a server with the key can answer: `{path, isAnswer}`.
function question(host, port) {
  const nonce = crypto.randomBytes(16).toString("hex");
  const key = homeKey();
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const isAnswer = (text) => {
    if (key === null) return false;
    const wanted = crypto.createHmac("sha256", key).update(`holdpoint server\n${nonce}\n${address}`).digest("hex");
    try {
      const said = Buffer.from(String(JSON.parse(text).proof));
      return said.length === wanted.length && crypto.timingSafeEqual(said, Buffer.from(wanted));
    } catch {
      return false;
    }
  };
  return { path: `/api/proof?nonce=${nonce}`, isAnswer };
}

const isLoopback = (host) => host === "::1" || host === "localhost" || /^127(?:\.\d{1,3}){3}$/.test(host);

// `{host, port}` of a server of this machine; null for one elsewhere.
function place(address) {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "http:" || !isLoopback(host)) return null;
  return { host: host === "localhost" ? "127.0.0.1" : host, port: Number(url.port || 80) };
}

const strange = (host, port, { known, user }) =>
  new Error(
    known
      ? `the server at ${host}:${port} is another user's (${user}); nothing was sent to it`
      : `nobody can say whose the server at ${host}:${port} is, and it does not prove that it is yours; nothing was sent to it`,
  );

module.exports = { homeKey, place, question, says, strange, whose };
