// The page's only script. Everything is readable without it; it adds what is live.
// It builds no HTML of its own: what it puts into the page are the server's parts, parsed once.

const $ = (query, at = document) => at.querySelector(query);
const $$ = (query, at = document) => [...at.querySelectorAll(query)];
const root = document.documentElement;
const body = document.body;

// ── Colours: as the system, light, dark ──
const THEMES = ["system", "light", "dark"];
const kept = () => { try { return localStorage.getItem("theme") || "system"; } catch { return "system"; } };
function paint(theme) {
  if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
  const say = { system: "Colours: as the system", light: "Colours: light", dark: "Colours: dark" }[theme];
  for (const button of $$("[data-theme-next]")) button.setAttribute("aria-label", say);
}
paint(kept());
function nextTheme() {
  const next = THEMES[(THEMES.indexOf(kept()) + 1) % 3];
  try { localStorage.setItem("theme", next); } catch { /* Private mode: for this page only. */ }
  paint(next);
}

// ── Ages and clocks: one clock for all; the server's, as far as ours differs ──
const behind = Number(body.dataset.now || Date.now()) - Date.now();
const two = (n) => String(n).padStart(2, "0");
function aged(since) {
  const s = Math.max(0, Math.floor((Date.now() + behind - since) / 1000));
  const [h, m] = [Math.floor(s / 3600), Math.floor(s / 60) % 60];
  return h ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
function tick(at = document) {
  for (const time of $$("time[data-since]", at)) {
    const text = aged(Number(time.dataset.since));
    if (time.textContent !== text) time.textContent = text;
  }
  for (const time of $$("time[data-at]:not([data-local])", at)) {
    const when = new Date(Number(time.dataset.at));
    time.dataset.local = "";
    time.firstChild.data = `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}`;
  }
}
tick();
setInterval(() => tick(), 1000);

// ── Parts: what the stream brings is laid over what is there ──
// A node that is the same stays, so focus, scrolling, selections and what is open stay too.
function keyOf(node) { return node.nodeType === 1 ? node.id || node.dataset.k || "" : ""; }
function isAlike(old, now) {
  return old.nodeType === now.nodeType && old.nodeName === now.nodeName && keyOf(old) === keyOf(now);
}
function lay(old, now) {
  if (old.isEqualNode(now)) return;
  if (old.nodeType !== 1) { if (old.data !== now.data) old.data = now.data; return; }
  attributes(old, now);
  children(old, now);
}
function attributes(old, now) {
  const isDetails = old.nodeName === "DETAILS";
  for (const { name } of [...old.attributes]) {
    // What a person opened stays open; what a press started is ended by its answer.
    if (!now.hasAttribute(name) && !(isDetails && name === "open") && name !== "aria-busy") old.removeAttribute(name);
  }
  for (const { name, value } of now.attributes) {
    if (isDetails && name === "open") continue;
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.nodeName === "INPUT" && old !== document.activeElement) old.checked = now.hasAttribute("checked");
}
function children(old, now) {
  const keyed = new Map();
  for (const child of old.children) { const key = keyOf(child); if (key) keyed.set(key, child); }
  let at = old.firstChild;
  for (const next of [...now.childNodes]) {
    const key = keyOf(next);
    let same = key ? keyed.get(key) : null;
    if (same && !isAlike(same, next)) same = null;
    if (!key && at && !keyOf(at) && isAlike(at, next)) same = at;
    if (!same) { old.insertBefore(next, at); continue; }
    if (same !== at) old.insertBefore(same, at); else at = at.nextSibling;
    lay(same, next);
  }
  // What was fetched into an opened tree is not the server's to take away at once.
  while (at) { const gone = at; at = at.nextSibling; if (!(gone.nodeType === 1 && gone.hasAttribute("data-fetched"))) gone.remove(); }
}
// What is parsed says its times as the page does, so what is the same is equal.
function parsed(html) {
  const form = document.createElement("template");
  form.innerHTML = html;
  tick(form.content);
  return form.content;
}

// ── When: a few milliseconds of each frame; what is left of it waits for the next ──
// Where things stand is asked before anything is changed: afterwards the browser would lay the whole page out to answer.
const SLICE = 4, FEW = 3;
// By part: what it is to become. The newest wins.
const waiting = new Map();
let frame = 0;
function soon() { if (!frame) frame = requestAnimationFrame(work); }
function wait(id, html, order, rows) {
  if (!order) { if (html !== null) waiting.set(id, { html }); return; }
  const now = new Set(order), known = waiting.get(id)?.rows ?? new Map();
  for (const [row, text] of rows) known.set(row, text);
  for (const row of [...known.keys()]) if (!now.has(row)) known.delete(row);
  waiting.set(id, { order, now, rows: known, at: -1 });
}
function work() {
  frame = 0;
  settle();
  const until = performance.now() + SLICE;
  for (const [id, job] of waiting) {
    const el = document.getElementById(id);
    if (el && !may(el, job)) continue;
    if (el && job.order && !layRows(el, job, until)) return soon();
    if (el && !job.order) layPart(el, job.html);
    waiting.delete(id);
    if (el?.hasAttribute("data-end") && !apart.has(el)) ending.add(el);
    if (id === "source") moved = true;
    if (performance.now() > until) break;
  }
  if (ending.size || moved || [...waiting].some(([id, job]) => may(document.getElementById(id), job))) soon();
}
function layPart(el, html) {
  const holder = el.cloneNode(false);
  holder.append(parsed(html));
  children(el, holder);
}
// Each row by its id, in their order; whether all of them are there.
function layRows(el, job, until) {
  if (job.at < 0) {
    for (const row of [...el.children]) if (!job.now.has(row.id)) row.remove();
    job.at = 0;
    // What comes faster than anybody reads does not flash.
    job.tells = el.hasAttribute("data-tells") && job.order.length - el.children.length <= FEW;
  }
  let next = el.children[job.at] ?? null;
  for (; job.at < job.order.length; job.at += 1) {
    if (performance.now() > until) return false;
    const id = job.order[job.at], html = job.rows.get(id);
    const fresh = html === undefined ? null : parsed(html).firstElementChild;
    let row = next?.id === id ? next : document.getElementById(id);
    if (row && fresh) lay(row, fresh);
    if (!row && fresh) { row = fresh; if (job.tells) row.classList.add("told"); }
    if (row === next) next = next?.nextElementSibling ?? null; else if (row) el.insertBefore(row, next);
  }
  return true;
}
// Not what somebody types in or has selected; and a list is live while it stands at its top.
let chosen = null;
const TYPED = "input:not([type=radio], [type=checkbox]), textarea, select";
function may(el, job) {
  if (!el) return true;
  if (el.dataset.top) {
    const is = away.has(el.closest(".scroll")), pill = document.getElementById(el.dataset.top);
    if (pill && pill.hidden === is) pill.hidden = !is;
    if (is) return false;
  }
  if (el.hasAttribute("data-lays")) return true;
  const at = document.activeElement;
  const isBusy = (at && at !== body && at.matches(TYPED) && el.contains(at)) || (chosen && el.contains(chosen));
  return !isBusy || (job.order?.length === el.children.length && job.order.every((id, place) => el.children[place].id === id));
}
document.addEventListener("focusout", () => setTimeout(soon, 50));
document.addEventListener("selectionchange", () => {
  const selected = getSelection();
  chosen = selected.isCollapsed ? null : selected.anchorNode;
  if (waiting.size) soon();
});

// ── Scrolling: lists that were left at their top, ends that are followed until somebody looks back ──
const away = new WeakSet(), apart = new WeakSet(), ours = new WeakSet(), ending = new Set();
let moved = false;
document.addEventListener("scroll", ({ target }) => {
  if (target.scrollTop > 0) away.add(target); else { away.delete(target); if (waiting.size) soon(); }
  if (!target.matches?.("[data-end]") || ours.delete(target)) return;
  if (target.scrollHeight - target.scrollTop - target.clientHeight < 40) apart.delete(target); else apart.add(target);
}, true);
function toEnd(box) {
  const before = box.scrollTop;
  box.scrollTop = box.scrollHeight;
  if (box.scrollTop !== before) ours.add(box);
}
function settle() {
  for (const box of ending) toEnd(box);
  ending.clear();
  if (moved) follow();
  moved = false;
}

// ── The current line: in the middle, only when it left the window ──
let here = null;
function follow() {
  const box = $("#source"), line = box && $(".here, .frame", box);
  if (!line || line.id === here) return;
  const top = line.offsetTop - box.offsetTop, first = here === null;
  here = line.id;
  const isSeen = top >= box.scrollTop && top + line.offsetHeight <= box.scrollTop + box.clientHeight;
  if (first || !isSeen) box.scrollTop = top - box.clientHeight / 2;
}
follow();
for (const box of $$("[data-end]")) toEnd(box);

// ── The stream ──
const has = new Map((body.dataset.has || "").split(" ").filter(Boolean).map((it) => {
  const colon = it.lastIndexOf(":");
  return [it.slice(0, colon), it.slice(colon + 1)];
}));
let source = null, retry = 0, heard = Date.now();
function live(state, word) {
  const el = $("#live");
  if (!el) return;
  el.dataset.state = state;
  $("#live-word").textContent = word;
}
function lost() {
  source.close();
  live("lost", "Not connected");
  body.dataset.lost = "";
  const bar = $("#lost"), when = new Date(heard);
  bar.hidden = false;
  const main = $("#main");
  if (bar.parentElement !== main) main.insertBefore(bar, $(".bar", main)?.nextSibling ?? main.firstChild);
  $("#lost-at").textContent = `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}`;
  const wait = Math.min(3, 0.5 * 2 ** retry++);
  $("#lost-again").textContent = `again in ${Math.ceil(wait)} s`;
  setTimeout(connect, wait * 1000);
}
function back() {
  retry = 0;
  delete body.dataset.lost;
  $("#lost").hidden = true;
  live("live", "Live");
}
function connect() {
  // A browser opens few connections to one place: pages that nobody sees leave theirs to others.
  if (document.hidden || source?.readyState === 1) return;
  const query = new URLSearchParams({ at: body.dataset.at, has: [...has].map(([id, mark]) => `${id}:${mark}`).join(" ") });
  source = new EventSource(`/page/live?${query}`);
  source.addEventListener("parts", (event) => { heard = Date.now(); back(); take(JSON.parse(event.data)); });
  source.onerror = lost;
}
function take({ seq, title, parts }) {
  $("#live-seq").textContent = String(seq).replace(/\B(?=(\d{3})+$)/g, ",");
  const named = `${title} · Holdpoint`;
  if (document.title !== named) document.title = named;
  const whole = parts.find(([id]) => id === "main");
  if (whole) waiting.clear();
  for (const [id, mark, html, order, rows] of parts) {
    if (id === "main") continue;
    has.set(id, mark);
    wait(id, html, order, rows);
  }
  if (whole) other(whole[2]);
  for (const button of $$("[aria-busy]")) button.removeAttribute("aria-busy");
  soon();
}
// The view took another form.
function other(html) {
  body.append($("#lost"));
  layPart($("#main"), html);
  for (const box of $$("[data-end]")) ending.add(box);
  moved = true;
}
if (body.dataset.at) connect();
document.addEventListener("visibilitychange", () => {
  if (!body.dataset.at) return;
  if (document.hidden) source?.close(); else connect();
});
// A page that is put away and taken out again must not go on with what it had.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
addEventListener("pagehide", () => source?.close());

// ── Acting: a press says "asked for"; only the stream says that it happened ──
const SLOW = 300;
function say(text, hint, code) {
  const box = $("#said");
  const form = document.importNode($("#failure-form").content, true);
  $("b", form).textContent = text;
  $("span", form).textContent = hint || "";
  $("code", form).textContent = code || "";
  if (!code) $(".failure", form).classList.add("calm");
  box.replaceChildren(form);
}
async function send(form, button) {
  const fields = new URLSearchParams(new FormData(form, button));
  const pressed = button ?? form;
  pressed.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => say("Asked for; there is no answer yet."), SLOW + 1200);
  try {
    // An action stands before the query of the address that it is done at.
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body: fields, headers: { Accept: "application/json" } });
    const told = await answer.json();
    if (told.error) say(told.error.message, told.error.hint, told.error.code);
    else if (told.said) say(told.said);
    else $("#said").replaceChildren();
    if (told.to) location.href = told.to;
    for (const field of $$("[data-once]", form)) if (!told.error) field.value = "";
    const box = form.closest("[data-closes]");
    if (box && !told.error) { box.open = false; document.activeElement?.blur(); }
  } catch {
    say("The server did not answer.", "What was asked for may not have been done.");
  } finally {
    clearTimeout(slow);
    pressed.removeAttribute("aria-busy");
  }
}
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  if ("lost" in body.dataset) return say("The server does not answer.", "Nothing was sent.");
  send(form, event.submitter);
});
// Radios and check boxes that act by themselves.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-acts]")) event.target.form.requestSubmit();
});

// ── A tree whose inside is fetched when it is opened ──
document.addEventListener("toggle", async (event) => {
  const it = event.target;
  if (!it.open || !it.dataset?.inside || it.dataset.opened) return;
  it.dataset.opened = "1";
  try {
    const answer = await fetch(it.dataset.inside, { headers: { Accept: "text/html" } });
    const inside = parsed(await answer.text());
    for (const child of [...inside.children]) { child.dataset.fetched = ""; it.append(child); }
  } catch { delete it.dataset.opened; }
}, true);

// ── One click ──
document.addEventListener("click", async (event) => {
  const on = (query) => event.target.closest(query);
  if (on("[data-theme-next]")) return nextTheme();
  if (on("[data-keys]")) return $("#keys").showModal();
  if (on("[data-to-top]")) return $(".vbox")?.scrollTo(0, 0);
  const copy = on("[data-copy]");
  if (copy) return copied(copy);
  const reveal = on("[data-reveal]");
  if (reveal) return revealed(reveal);
});
async function copied(button) {
  const text = button.parentElement.querySelector("pre");
  try { await navigator.clipboard.writeText(text.textContent); } catch {
    getSelection().selectAllChildren(text);
    return;
  }
  const use = $("use", button), was = use.getAttribute("href");
  use.setAttribute("href", "#i-check");
  button.setAttribute("aria-label", "Copied");
  setTimeout(() => { use.setAttribute("href", was); button.setAttribute("aria-label", "Copy"); }, 1400);
}
// A secret is shown to the person who asks for it, here and nowhere else.
async function revealed(button) {
  const answer = await fetch(button.dataset.reveal, { headers: { Accept: "text/html" } });
  if (!answer.ok) return say("It cannot be shown any more.", "The program went on.");
  const shown = document.createElement("span");
  shown.className = "val revealed";
  shown.append(parsed(await answer.text()));
  button.replaceWith(shown);
}

// ── Keys ──
let g = 0, at = null;
document.addEventListener("focusin", (event) => {
  const line = event.target.closest("#source li[data-line]"), field = $("[data-to-line]");
  if (!line) return;
  at = line;
  if (field) field.value = line.dataset.line;
});
const focused = () => at?.isConnected ? at : $("#source .here, #source .frame");
function press(button) { if (button && !button.disabled) button.click(); }
document.addEventListener("keydown", (event) => {
  const { key } = event;
  const typing = event.target.closest(TYPED);
  if (key === "Escape" && typing) return typing.blur();
  const fn = /^F\d+$/.test(key) && $(`[data-key="${(event.shiftKey ? "Shift " : "") + key}"]`);
  if (fn) { event.preventDefault(); return press(fn); }
  if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
  const field = { "/": "[data-find]", "`": "[data-console]" }[key];
  if (field) { const to = $(field); if (to) { event.preventDefault(); to.focus(); } return; }
  if (Date.now() - g < 900) {
    g = 0;
    const to = $(`[data-go="${CSS.escape(key)}"]`);
    if (to) { event.preventDefault(); location.href = to.href; }
    return;
  }
  if (key === "?") return $("#keys").showModal();
  if (key === "g") { g = Date.now(); return; }
  if (key === "h") return $("#holds a")?.click();
  if (key === "o") return $("[name=control]:not(:checked)")?.click();
  if (key === "b") return press(focused()?.querySelector(".g"));
  if (key === "B") { const line = focused(); if (line) trace(line); return; }
  if (key === "j" || key === "k") return row(key === "j" ? 1 : -1);
  press($(`[data-press="${CSS.escape(key)}"]`));
});
function row(step) {
  const all = $$("a.row"), now = all.indexOf(document.activeElement);
  const top = ($(".vbox") || body).getBoundingClientRect().top + 30;
  const next = now < 0 ? all.find((it) => it.getBoundingClientRect().top >= Math.max(top, 0)) : all[now + step];
  next?.focus();
}
function trace(line) {
  const field = $("[data-trace-line]");
  if (!field) return;
  field.value = line.dataset.line ?? "";
  field.closest("details")?.setAttribute("open", "");
  $("[data-trace-message]")?.focus();
}

// ── A range of the timeline: chosen by dragging over it, then it is in the address ──
const share = (chart, x) => {
  const box = $(".axis", chart).getBoundingClientRect();
  return Math.min(1, Math.max(0, (x - box.left) / box.width));
};
let drag = null;
document.addEventListener("pointerdown", (event) => {
  const chart = event.target.closest("[data-chart]");
  if (!chart || event.button !== 0 || event.target.closest(".lane-name, a")) return;
  drag = { chart, from: share(chart, event.clientX) };
});
document.addEventListener("pointermove", (event) => {
  const chart = drag?.chart ?? event.target.closest?.("[data-chart]");
  if (!chart) return;
  const cursor = $(".cursor", chart), range = $(".range", chart), now = share(chart, event.clientX);
  cursor.hidden = false;
  cursor.style.setProperty("--f", now);
  if (!drag) return;
  range.hidden = false;
  range.style.setProperty("--a", Math.min(drag.from, now));
  range.style.setProperty("--b", Math.max(drag.from, now));
});
document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const { chart, from } = drag, now = share(chart, event.clientX);
  drag = null;
  $(".range", chart).hidden = true;
  if (Math.abs(now - from) < 0.01) return;
  const [begin, end] = [$("#range time"), $("#range time:last-child")].map((it) => Number(it.dataset.at));
  const at = (part) => Math.round(begin + part * (end - begin));
  const to = new URL(location.href);
  to.searchParams.set("span", at(Math.max(from, now)) - at(Math.min(from, now)));
  to.searchParams.set("to", at(Math.max(from, now)));
  to.searchParams.delete("before");
  location.href = to;
});
