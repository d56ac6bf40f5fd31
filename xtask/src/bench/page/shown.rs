//! How long it takes from what an agent does to the moment in which the page shows it, while other events arrive: a
//! stop, a step, a point, a hit, a note, a paused call, a call of another server, and who is in control.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde_json::{Value as Json, json};

use super::filled::{Filled, STOPS_AT};
use crate::bench::http::{Connection, HttpClient};
use crate::bench::table::{Goal, Row, Unit};
use crate::bench::wire::{Process, Value};
use crate::chromium::{Chromium, Tab};

const TIMES: u32 = 20;
const QUICK_TIMES: u32 = 8;
const GOAL_MS: f64 = 300.0;

/// Notes the time at which something is on the page.
const WAITS: &str = "globalThis.got = null; (() => {
  const is = () => { try { return WHAT; } catch { return false; } };
  const look = () => { if (!is()) return false; globalThis.got = Date.now(); return true; };
  if (look()) return;
  new MutationObserver((_, it) => { if (look()) it.disconnect(); })
    .observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
})(); true";

/// What is timed: its name, the view that shows it, and what does it. It is called with the number of the time.
struct Shows {
    name: &'static str,
    at: &'static str,
    times: fn(&mut Scene<'_, '_>, u32) -> Result<f64>,
}

const SHOWS: &[Shows] = &[
    Shows { name: "a note", at: "/timeline", times: |it, number| it.note(number) },
    Shows {
        name: "a breakpoint that is set",
        at: "/sessions/s1",
        times: |it, number| it.breakpoint(number),
    },
    Shows { name: "a stop at it", at: "/sessions/s1", times: |it, number| it.stop(number) },
    Shows { name: "a step's new line", at: "/sessions/s1", times: |it, number| it.step(number) },
    Shows { name: "a hand-over", at: "/sessions/s1", times: |it, number| it.hand_over(number) },
    Shows {
        name: "a tracepoint's hit",
        at: "/timeline?only=1&tracepoints=1",
        times: |it, number| it.hit(number),
    },
    Shows { name: "a paused call", at: "/calls", times: |it, number| it.pause(number) },
    Shows {
        name: "another server's call",
        at: "/external",
        times: |it, number| it.external(number),
    },
];

pub(super) fn rows(browser: &mut Chromium, filled: &Filled) -> Result<Vec<Row>> {
    let times = if filled.is_quick() { QUICK_TIMES } else { TIMES };
    let calling = filled.calling()?;
    let tab = filled.tab(browser)?;
    let agent = HttpClient::to(filled.server.port)?;
    let app = Connection::to(filled.server.port)?;
    let mut scene = Scene { browser, filled, tab, agent, app, line: STOPS_AT };
    let mut rows = Vec::new();
    for Shows { name, at, times: time } in SHOWS {
        eprintln!("{times} times: {name} …");
        let address = filled.address(at);
        scene.browser.open(&scene.tab, &address)?;
        let is_live = "document.querySelector('#live')?.dataset.state === 'live'";
        scene.browser.until(&scene.tab, is_live)?;
        let mut took: Vec<f64> = Vec::new();
        for number in 0..times {
            // What does not show at all is a missed row, and no end of the bench.
            match time(&mut scene, number) {
                Ok(ms) => took.push(ms),
                Err(error) => {
                    eprintln!("{name}, {number}: {error:#}");
                    took.clear();
                    break;
                }
            }
        }
        took.sort_unstable_by(f64::total_cmp);
        let at = |percent: usize| {
            took.get((took.len() * percent).div_ceil(100).checked_sub(1)?).copied()
        };
        let row = |percent, goal| Row {
            what: format!("{name}, until the page shows it, p{percent}"),
            unit: Unit::Milliseconds,
            ours: at(percent).unwrap_or(f64::NAN),
            floor: f64::NAN,
            goal,
        };
        rows.extend([row(50, Goal::None), row(95, Goal::AtMost(GOAL_MS))]);
    }
    let Scene { browser, tab, .. } = scene;
    browser.close(&tab)?;
    calling.end()?;
    Ok(rows)
}

/// An agent, an app and a person at the page.
struct Scene<'b, 'f> {
    browser: &'b mut Chromium,
    filled: &'b Filled<'f>,
    tab: Tab,
    agent: HttpClient,
    app: Connection,
    /// Where the program stands.
    line: u32,
}

impl Scene<'_, '_> {
    /// From what is done until an expression is true in the page, in milliseconds.
    fn timed(&mut self, what: &str, act: impl FnOnce(&mut Self) -> Result<()>) -> Result<f64> {
        self.browser.eval(&self.tab, &WAITS.replace("WHAT", what))?;
        let asked = SystemTime::now().duration_since(UNIX_EPOCH)?;
        act(self)?;
        self.browser.until(&self.tab, "globalThis.got !== null")?;
        Ok(self.browser.number(&self.tab, "globalThis.got")? - asked.as_secs_f64() * 1e3)
    }

    fn tool(&mut self, name: &str, arguments: Json) -> Result<()> {
        let asked = json!({ "name": name, "arguments": arguments });
        self.agent.request("tools/call", asked).map(drop)
    }

    fn point(&self, line: u32) -> Json {
        json!({ "file": self.filled.program(), "line": line })
    }

    fn note(&mut self, number: u32) -> Result<f64> {
        let words = format!("the note of the number {number}.");
        self.timed(&holds("main", &words), |it| it.tool("timeline_note", json!({ "text": words })))
    }

    fn breakpoint(&mut self, number: u32) -> Result<f64> {
        let line = STOPS_AT + 2 + number * 2;
        self.timed(&holds("#points", &format!("long.py:{line}")), |it| {
            it.tool("breakpoint_set", it.point(line))
        })
    }

    /// At the breakpoints that were set before.
    fn stop(&mut self, number: u32) -> Result<f64> {
        self.line = STOPS_AT + 2 + number * 2;
        self.timed(&stands(self.line), |it| it.tool("debug_continue", json!({})))
    }

    fn step(&mut self, _: u32) -> Result<f64> {
        self.line += 1;
        self.timed(&stands(self.line), |it| it.tool("debug_step", json!({})))
    }

    /// The person takes the program, and gives it back.
    fn hand_over(&mut self, number: u32) -> Result<f64> {
        let mine = holds("#control-note", "You are in control");
        let (side, shown) = match number % 2 {
            0 => ("you", mine),
            _ => ("agents", format!("!{mine}")),
        };
        let press = format!("document.querySelector('[name=control][value={side}]').click(); true");
        self.timed(&shown, |it| it.browser.eval(&it.tab, &press).map(drop))
    }

    /// In a small program: to set a point among twenty thousand lines takes its debugger seconds.
    fn hit(&mut self, number: u32) -> Result<f64> {
        if number == 0 {
            let file = self.filled.write("passes.py", PASSES)?;
            let words = "hit of the number {n}.";
            self.tool("tracepoint_set", json!({ "file": file, "line": 2, "log_message": words }))?;
            self.tool("breakpoint_set", json!({ "file": file, "line": 3 }))?;
            let python = self.filled.python();
            self.tool("debug_launch", json!({ "program": file, "interpreter": python }))?;
        }
        let shown = holds("#tl-events", &format!("hit of the number {number}."));
        self.timed(&shown, |it| it.tool("debug_continue", json!({ "session_id": PASSING })))
    }

    fn pause(&mut self, number: u32) -> Result<f64> {
        if number == 0 {
            let point = json!({ "function_name": HELD, "behavior": "stop" });
            self.tool("breakpoint_add", point)?;
        }
        let words = format!("pause of the number {number}.");
        let body = Process::number(3).start_body(&Value::of(&words)).replace("shop.price", HELD);
        let mut pause = String::new();
        let took = self.timed(&holds("main", &words), |it| {
            let begun = it.app.post("/api/call/start", &body)?.json()?;
            // The pause is named by where it is polled.
            let polled = begun.get("poll_url").and_then(Json::as_str);
            let named = polled.and_then(|it| it.rsplit('/').next());
            pause = named.with_context(|| format!("it does not pause: {begun}"))?.to_owned();
            Ok(())
        })?;
        self.tool("breakpoint_continue", json!({ "pause_id": pause, "action": "continue" }))?;
        Ok(took)
    }

    fn external(&mut self, number: u32) -> Result<f64> {
        let words = format!("call of the number {number}.");
        let asked = json!({ "tool": "fixture/echo", "arguments": { "text": words } });
        self.timed(&holds("main", &words), |it| it.tool("external_call_tool", asked))
    }
}

const HELD: &str = "shop.held";

/// The second program, and its session.
const PASSES: &str = "for n in range(1000):\n    value = n * 2\n    value += 1\n";
const PASSING: &str = "s2";

/// Whether an element holds some words.
fn holds(css: &str, words: &str) -> String {
    format!("document.querySelector({}).textContent.includes({})", json!(css), json!(words))
}

/// Whether the program stands at a line.
fn stands(line: u32) -> String {
    format!("document.querySelector('#source .here').id === 'L{line}'")
}
