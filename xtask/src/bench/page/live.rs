//! Ten minutes with pages open while events arrive: the tabs' memory, and what they cost the server.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::filled::Filled;
use crate::bench::table::{Goal, Row, Unit};
use crate::chromium::{Chromium, Tab};

const WITHOUT: Duration = Duration::from_secs(30);
/// Until everything that is kept for a page is there.
const FIRST: Duration = Duration::from_secs(60);
const WHOLE: Duration = Duration::from_secs(600);
/// For whoever looks again after a change.
const QUICK: u32 = 10;
const CPU_GOAL_PERCENT: f64 = 10.0;
/// The kernel counts a process's time in hundredths of a second.
const TICKS: f64 = 100.0;

pub(super) fn rows(browser: &mut Chromium, filled: &Filled) -> Result<Vec<Row>> {
    let share = if filled.is_quick() { QUICK } else { 1 };
    let [alone, minute, whole] = [WITHOUT, FIRST, WHOLE].map(|it| it / share);
    let calling = filled.calling()?;
    let before = Cpu::of(filled)?;
    thread::sleep(alone);
    let without = before.percent(filled)?;
    let mut tabs = Vec::new();
    for (_, path) in filled.views() {
        let tab = filled.tab(browser)?;
        browser.open(&tab, &filled.address(path))?;
        tabs.push(tab);
    }
    eprintln!("{} pages, {} s …", tabs.len(), whole.as_secs());
    let before = Cpu::of(filled)?;
    thread::sleep(minute);
    let first = Tabs::of(browser, &tabs)?;
    thread::sleep(whole - minute);
    let last = Tabs::of(browser, &tabs)?;
    let with = before.percent(filled)?;
    for tab in &tabs {
        browser.close(tab)?;
    }
    calling.end()?;
    let row = |what: &str, unit, ours, floor, goal| {
        let what = format!("ten minutes: {what}, beside after one");
        Row { what, unit, ours, floor, goal }
    };
    let near = |times, plus| Goal::NearFloor { times, plus };
    #[expect(clippy::cast_precision_loss, reason = "four")]
    let per_page = (with - without) / tabs.len() as f64;
    Ok(vec![
        row("the script's memory", Unit::Megabytes, last.heap_mb, first.heap_mb, near(1.05, 1.0)),
        row("nodes of the pages", Unit::Pieces, last.nodes, first.nodes, near(1.05, 500.0)),
        row("the tabs' processes", Unit::Megabytes, last.rss_mb, first.rss_mb, near(1.1, 10.0)),
        Row {
            what: "the server's CPU, percent of a core per open page".to_owned(),
            unit: Unit::Percent,
            ours: per_page,
            floor: without,
            goal: Goal::AtMost(CPU_GOAL_PERCENT),
        },
    ])
}

/// What the server had used, and when.
struct Cpu {
    ticks: f64,
    at: Instant,
}

impl Cpu {
    fn of(filled: &Filled) -> Result<Self> {
        let path = format!("/proc/{}/stat", filled.server.pid());
        let stat = std::fs::read_to_string(&path).with_context(|| path.clone())?;
        let after_name = stat.rsplit_once(") ").map_or("", |it| it.1);
        let field = |at| after_name.split(' ').nth(at).and_then(|it| it.parse::<f64>().ok());
        let (user, system) = field(11).zip(field(12)).context(path)?;
        Ok(Self { ticks: user + system, at: Instant::now() })
    }

    fn percent(&self, filled: &Filled) -> Result<f64> {
        let now = Self::of(filled)?;
        Ok((now.ticks - self.ticks) / TICKS / (now.at - self.at).as_secs_f64() * 100.0)
    }
}

/// What the pages hold.
struct Tabs {
    heap_mb: f64,
    nodes: f64,
    rss_mb: f64,
}

impl Tabs {
    fn of(browser: &mut Chromium, tabs: &[Tab]) -> Result<Self> {
        let (mut heap_mb, mut nodes) = (0.0, 0.0);
        for tab in tabs {
            browser.ask(Some(tab), "HeapProfiler.collectGarbage", json!({}))?;
            let heap = browser.ask(Some(tab), "Runtime.getHeapUsage", json!({}))?;
            let count = browser.ask(Some(tab), "Memory.getDOMCounters", json!({}))?;
            let number = |of: &Value, name: &str| of.get(name).and_then(Value::as_f64);
            heap_mb += number(&heap, "usedSize").context("no heap")? / 1e6;
            nodes += number(&count, "nodes").context("no nodes")?;
        }
        Ok(Self { heap_mb, nodes, rss_mb: browser.renderers_mb()? })
    }
}
