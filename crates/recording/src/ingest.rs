//! From a stream to columns and packs: one pass, as the bytes come. What is there can be asked at any time,
//! and more can follow.

mod episodes;
mod packs;
mod threads;
mod values;

use std::collections::HashMap;

use serde_json::Value as Json;

pub(crate) use self::values::class_name;
use self::{
    episodes::Episodes,
    packs::Packs,
    threads::{Live, Threads},
    values::Values,
};
use crate::{
    bytes::Cursor,
    columns::{Beginning, Columns, FIELDS, HANDLED, OPEN, RAISED, RETURNED, SUSPENDED, UNWOUND},
    damage::Damage,
    hash::{mix, of_bytes},
    head::{FileAt, Head, LevelAt, NONE, StreamState, Tally, TestAt},
    limits,
    pack::Packed,
    steps::FrameStep,
    stream::{ChunkReader, FunctionAt, Known, StreamRecord},
};

/// One process, as far as its stream was read.
#[derive(Debug, Clone, Default)]
pub struct Ingest {
    chunks: ChunkReader,
    known: Known,
    head: Head,
    columns: Columns,
    values: Values,
    packs: Packs,
    threads: Threads,
    episodes: Episodes,
    /// The hash of each function's name, and of its file's.
    names: Vec<u64>,
    strings_bytes: usize,
    last_root: u32,
    clock: u64,
}

impl Ingest {
    pub fn new() -> Self {
        Ingest { last_root: NONE, ..Ingest::default() }
    }

    /// Takes what was written since. After damage nothing is taken any more, and what was read before counts.
    pub fn push(&mut self, bytes: &[u8]) {
        if matches!(self.head.state, StreamState::Damaged(_)) {
            return;
        }
        self.chunks.push(bytes);
        if let Err(damage) = self.read() {
            self.head.state = StreamState::Damaged(damage.to_string());
        }
        self.head.stream_bytes = self.chunks.good();
    }

    /// How many bytes were read and are whole.
    pub fn taken(&self) -> u64 {
        self.chunks.good()
    }

    pub fn events(&self) -> u64 {
        self.head.events
    }

    pub fn calls(&self) -> u32 {
        self.columns.len()
    }

    /// With which code the process said that it ends, where it knew.
    pub fn exit(&self) -> Option<i64> {
        let end: serde_json::Value = serde_json::from_str(self.head.end.as_deref()?).ok()?;
        end.get("exit").and_then(serde_json::Value::as_i64)
    }

    pub fn state(&self) -> &StreamState {
        &self.head.state
    }

    /// The source files that it names, with the hashes that their recorder saw.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.head.files.iter().map(|it| (it.path.as_str(), it.hash.as_slice()))
    }

    /// Where it belongs among the processes of a recording: those without anything to tell last, else as they began.
    pub fn rank(&self) -> (bool, u64) {
        let facts: Json = serde_json::from_str(&self.head.process).unwrap_or_default();
        let began = facts.get("unix_ns").and_then(Json::as_u64).unwrap_or(u64::MAX);
        (self.columns.len() == 0 && self.head.tests.is_empty(), began)
    }

    /// The same with records that its process has not written yet, and that come again with its next chunk. Nothing
    /// where they do not follow what was read.
    pub fn with_tail(&self, payload: &[u8]) -> Option<Ingest> {
        if self.head.state != StreamState::Open || self.chunks.is_cut() {
            return None;
        }
        let mut more = self.clone();
        more.records(payload).ok().map(|()| more)
    }

    fn read(&mut self) -> Result<(), Damage> {
        while let Some(chunk) = self.chunks.take()? {
            self.records(&chunk.payload)?;
        }
        Ok(())
    }

    fn records(&mut self, payload: &[u8]) -> Result<(), Damage> {
        let mut from = Cursor::new(payload);
        while !from.is_empty() {
            if self.head.state == StreamState::Ended {
                return Err(Damage::AfterEnd);
            }
            let record = StreamRecord::read(&mut from, &self.known)?;
            self.known.note(&record)?;
            self.take(record)?;
        }
        Ok(())
    }

    fn take(&mut self, record: StreamRecord<'_>) -> Result<(), Damage> {
        match record {
            StreamRecord::Line(delta) => self.line(|from| crate::steps::moved(from, delta)),
            StreamRecord::LineAt(line) => self.line(|_| Ok(line)),
            StreamRecord::Write { slot, value } => self.write(slot, value),
            StreamRecord::Call { function, ticks, arguments } => {
                self.call(function, ticks, &arguments)
            }
            StreamRecord::Return { value, ticks } => self.end(RETURNED, value, ticks),
            StreamRecord::Unwind { value, ticks } => self.unwind(value, ticks),
            StreamRecord::Yield { value, ticks } => self.suspend(value, ticks),
            StreamRecord::Resume { ago, ticks } => self.resume(ago, ticks),
            StreamRecord::Raise(value) => self.raise(value),
            StreamRecord::Handled(value) => self.handled(value),
            StreamRecord::Leaf { name, arguments, result } => self.leaf(name, arguments, result),
            StreamRecord::Gap(events) => {
                self.head.gaps = self.head.gaps.saturating_add(events);
                self.step(&FrameStep::Gap(events));
                Ok(())
            }
            StreamRecord::Partial => {
                self.step(&FrameStep::Partial);
                Ok(())
            }
            table => self.table(table),
        }
    }

    fn table(&mut self, record: StreamRecord<'_>) -> Result<(), Damage> {
        match record {
            StreamRecord::Process(text) => self.process(&text),
            StreamRecord::String(text) => return self.string(text.into_owned()),
            StreamRecord::File { path, hash } => {
                let (path, hash) = (path.into_owned(), hash.into_owned());
                self.head.files.push(FileAt { path, hash });
            }
            StreamRecord::Function(function) => self.function(function),
            StreamRecord::Value(datum) => self.values.push(&datum),
            StreamRecord::Thread { number, name } => self.threads.name(number, &name),
            StreamRecord::Note(text) => keep(&mut self.head.notes, text.into_owned()),
            StreamRecord::End(text) => {
                self.head.end = Some(text.into_owned());
                self.head.state = StreamState::Ended;
            }
            StreamRecord::Test(text) => {
                let (calls, lane) = (self.columns.len(), self.threads.lane());
                keep(&mut self.head.tests, TestAt { said: text.into_owned(), calls, lane });
            }
            StreamRecord::Switch(number) => self.threads.switch(number)?,
            StreamRecord::Task { number, name } => {
                let name = self.head.strings.get(name as usize).cloned().unwrap_or_default();
                self.threads.task(number, name)?;
            }
            StreamRecord::Level { function, level, why } => {
                let (why, event) = (why.into_owned(), self.head.events);
                keep(&mut self.head.levels, LevelAt { function, level, why, event });
            }
            StreamRecord::Count { function, calls } => {
                if let Some(tally) = self.head.tallies.get_mut(function as usize) {
                    tally.counted = tally.counted.saturating_add(calls);
                }
            }
            StreamRecord::Forked(pid) => {
                let calls = self.columns.len();
                keep(&mut self.head.forks, (calls, pid));
            }
            // Events are taken before.
            _ => {}
        }
        Ok(())
    }

    fn process(&mut self, text: &str) {
        let facts: Json = serde_json::from_str(text).unwrap_or_default();
        let ticks = facts.get("ticks_ns").and_then(Json::as_f64);
        self.head.ticks_ns = ticks.filter(|it| it.is_finite() && *it > 0.0).unwrap_or(1.0);
        self.head.process = text.to_owned();
    }

    fn string(&mut self, text: String) -> Result<(), Damage> {
        self.strings_bytes = self.strings_bytes.saturating_add(text.len());
        if self.strings_bytes > limits::NAMES_BYTES_MAX {
            return Err(Damage::Many("strings"));
        }
        self.values.string(&text);
        self.head.strings.push(text);
        Ok(())
    }

    fn function(&mut self, function: FunctionAt) {
        let text = |number: u32| self.head.strings.get(number as usize).map_or("", |it| it);
        let path = self.head.files.get(function.file as usize).map_or("", |it| it.path.as_str());
        let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = of_bytes(text(function.qualified).as_bytes());
        self.names.push(mix(name, of_bytes(file.as_bytes())));
        let writes = vec![0; function.slots.len()];
        self.head.tallies.push(Tally { writes, ..Tally::default() });
        self.head.functions.push(function);
    }

    /// The number of what happens now.
    fn event(&mut self) -> u64 {
        let event = self.head.events;
        self.head.events += 1;
        event
    }

    fn tick(&mut self, ticks: u64) -> u64 {
        self.clock = self.clock.saturating_add(ticks);
        self.head.ticks = self.clock;
        self.clock
    }

    /// One step of the top frame; nothing where there is none.
    fn step(&mut self, step: &FrameStep) -> Option<u32> {
        let event = self.event();
        let Some(live) = self.threads.top() else {
            self.head.stray += 1;
            return None;
        };
        live.steps.push(event, step);
        if live.steps.is_full() {
            self.packs.put(live);
        }
        self.threads.top().map(|live| live.call)
    }

    fn line(&mut self, to: impl Fn(u32) -> Result<u32, Damage>) -> Result<(), Damage> {
        let Some(live) = self.threads.top() else {
            self.event();
            self.head.stray += 1;
            return Ok(());
        };
        let line = to(live.steps.line())?;
        live.has_lines = true;
        let (call, catching) = (live.call, live.catching.take());
        self.step(&FrameStep::Line(line));
        self.head.lines += 1;
        if let Some(episode) = catching {
            self.episodes.at_line(episode, line);
        }
        self.runs_on(call, line);
        Ok(())
    }

    /// Whoever was called last and is not recorded has caught what was in flight, or the frame has itself, where its
    /// recorder cannot tell.
    fn runs_on(&mut self, call: u32, line: u32) {
        let Some((lane, flight, has_left)) = self.threads.passed_by() else { return };
        match has_left {
            true => self.episodes.outside(flight, lane, call, line),
            false => {
                self.columns.flag(call, HANDLED);
                self.episodes.caught_here(flight, lane, (call, line), &mut self.columns);
            }
        }
    }

    fn write(&mut self, slot: u32, value: u32) -> Result<(), Damage> {
        if let Some(live) = self.threads.top() {
            let tally = self.head.tallies.get_mut(live.function as usize);
            let count = tally.and_then(|it| it.writes.get_mut(slot as usize));
            *count.ok_or(Damage::Unknown("slot"))? += 1;
        }
        self.step(&FrameStep::Write { slot, value });
        Ok(())
    }

    fn leaf(&mut self, name: u32, arguments: Vec<u32>, result: u32) -> Result<(), Damage> {
        let is_log = self.head.strings.get(name as usize).is_some_and(|it| is_log(it));
        let call = self.step(&FrameStep::Leaf { name, arguments, result });
        if let (true, Some(call)) = (is_log, call) {
            self.episodes.logged(call, &mut self.columns);
        }
        Ok(())
    }

    fn call(&mut self, function: u32, ticks: u64, arguments: &[u32]) -> Result<(), Damage> {
        let (call, begin) = (self.columns.len(), self.tick(ticks));
        self.threads.room()?;
        let event = self.event();
        let lane = self.threads.lane();
        let (mut parent, mut site) = (NONE, 0);
        match self.threads.top() {
            Some(live) => {
                (parent, site) = (live.call, live.steps.line());
                let before = std::mem::replace(&mut live.last_child, call);
                let chain = match before {
                    NONE => self.columns.first_child.get_mut(parent as usize),
                    before => self.columns.next.get_mut(before as usize),
                };
                chain.into_iter().for_each(|it| *it = call);
                // Without lines the columns say the same.
                if live.has_lines {
                    live.steps.push(event, &FrameStep::Child(call));
                }
            }
            None => self.root(call),
        }
        self.columns.push(&Beginning { function, parent, lane, site, begin, arguments });
        if let Some(tally) = self.head.tallies.get_mut(function as usize) {
            tally.calls += 1;
        }
        let first = self.head.functions.get(function as usize).map_or(0, |it| it.first_line);
        let name = self.names.get(function as usize).copied().unwrap_or(0);
        let hash = arguments.iter().fold(name, |hash, it| mix(hash, self.values.hash(*it)));
        self.threads.push(Live::new(call, function, lane, first, begin, hash));
        Ok(())
    }

    fn root(&mut self, call: u32) {
        match self.columns.next.get_mut(self.last_root as usize) {
            Some(next) => *next = call,
            None => self.head.first_root = Some(call),
        }
        self.last_root = call;
    }

    fn end(&mut self, how: u32, value: u32, ticks: u64) -> Result<(), Damage> {
        let now = self.tick(ticks);
        self.event();
        // One without lines says only by this that it went on.
        let at =
            self.threads.top().filter(|_| how == RETURNED).map(|it| (it.call, it.steps.line()));
        if let Some((call, line)) = at {
            self.runs_on(call, line);
        }
        let Some(mut live) = self.threads.pop() else {
            self.head.stray += 1;
            return Ok(());
        };
        self.packs.put(&mut live);
        let (at, function) = (live.call as usize, live.function as usize);
        let hash = mix(mix(live.whole_hash(), u64::from(how)), self.values.hash(value));
        put(&mut self.columns.result, at, value);
        put(&mut self.columns.hash, at, (hash >> 32) as u32);
        put(&mut self.columns.kept, at, live.steps.steps());
        put(&mut self.columns.took, at, now.saturating_sub(live.begin));
        self.columns.flag(live.call, how);
        let class = self.values.class(value);
        if let Some(tally) = self.head.tallies.get_mut(function) {
            tally.with_lines += u64::from(live.has_lines);
            tally.ticks = tally.ticks.saturating_add(now.saturating_sub(live.begin));
            match how {
                RETURNED => count(&mut tally.results, class, live.call),
                _ => tally.raised += 1,
            }
        }
        // What another lane does is compared by itself.
        match self.threads.top_of(live.lane, live.call, &self.columns) {
            Some(above) => above.hash = mix(above.hash, hash),
            None => self.ended_late(live.call, live.lane, hash),
        }
        Ok(())
    }

    /// Who made it waits, or has ended long ago, as with everything asynchronous: all above it have to differ where it
    /// does. The order in which such calls end is chance.
    fn ended_late(&mut self, call: u32, lane: u32, hash: u64) {
        let mut at = call;
        for _ in 0..limits::LATE_DEPTH_MAX {
            let Some(parent) = late_parent(&self.columns, at, lane) else { return };
            let ending = self.columns.ending.get(parent as usize).map_or(OPEN, |it| it & 3);
            if matches!(ending, OPEN | SUSPENDED) {
                if let Some(live) = self.threads.not_ended(parent) {
                    live.late = live.late.wrapping_add(hash);
                }
                return;
            }
            add_hash(&mut self.columns, parent, hash);
            at = parent;
        }
    }

    fn unwind(&mut self, value: u32, ticks: u64) -> Result<(), Damage> {
        if let Some((call, line)) = self.threads.top().map(|it| (it.call, it.steps.line())) {
            let object = self.values.object(value);
            let lane = self.threads.lane();
            let event = self.head.events;
            let flight = self.threads.flight();
            self.episodes.going(
                flight,
                (value, object),
                (lane, call, line, event),
                &mut self.columns,
            );
        }
        self.end(UNWOUND, value, ticks)?;
        self.threads.unwound();
        if self.threads.is_idle()
            && let Some(flight) = self.threads.flight().take()
        {
            self.episodes.escaped(flight.0);
        }
        Ok(())
    }

    fn suspend(&mut self, value: u32, ticks: u64) -> Result<(), Damage> {
        let now = self.tick(ticks);
        if self.step(&FrameStep::Yield(value)).is_some()
            && let Some(mut live) = self.threads.pop()
        {
            live.ran = live.ran.saturating_add(now.saturating_sub(live.begin));
            self.columns.flag(live.call, SUSPENDED);
            self.threads.park(live);
        }
        Ok(())
    }

    fn resume(&mut self, ago: u32, ticks: u64) -> Result<(), Damage> {
        let now = self.tick(ticks);
        let call = self.columns.len().checked_sub(ago).ok_or(Damage::Unknown("call"))?;
        let mut live = self.threads.unpark(call).ok_or(Damage::NoFrame)?;
        live.begin = now.saturating_sub(live.ran);
        live.ran = 0;
        self.columns.unflag(call, SUSPENDED);
        self.threads.push(live);
        self.step(&FrameStep::Resume);
        Ok(())
    }

    fn raise(&mut self, value: u32) -> Result<(), Damage> {
        let event = self.head.events;
        self.step(&FrameStep::Raise(value));
        let Some((call, line)) = self.threads.top().map(|it| (it.call, it.steps.line())) else {
            return Ok(());
        };
        self.columns.flag(call, RAISED);
        let (object, lane) = (self.values.object(value), self.threads.lane());
        let flight = self.threads.flight();
        self.episodes.going(flight, (value, object), (lane, call, line, event), &mut self.columns);
        Ok(())
    }

    fn handled(&mut self, value: u32) -> Result<(), Damage> {
        let event = self.head.events;
        self.step(&FrameStep::Handled(value));
        let Some((call, line)) = self.threads.top().map(|it| (it.call, it.steps.line())) else {
            return Ok(());
        };
        self.columns.flag(call, HANDLED);
        let (object, lane) = (self.values.object(value), self.threads.lane());
        let flight = self.threads.flight().take();
        let seen = (value, object);
        let at = (lane, call, line, event);
        let episode = self.episodes.handled(flight, seen, at, &mut self.columns);
        if let Some(live) = self.threads.top() {
            live.catching = Some(episode);
        }
        Ok(())
    }

    /// What was read, packed for a file; more may follow to this one.
    pub(crate) fn pack(&self, out: &mut Packed) -> Head {
        let mut head = self.head.clone();
        let (mut packs, mut columns) = (self.packs.clone(), self.columns.clone());
        let mut open: Vec<_> = self.threads.open().cloned().collect();
        // Who was called comes behind who called it.
        open.sort_unstable_by_key(|it| std::cmp::Reverse(it.call));
        let mut late: HashMap<u32, u64> = HashMap::new();
        for mut live in open {
            packs.put(&mut live);
            put(&mut columns.kept, live.call as usize, live.steps.steps());
            put(&mut columns.took, live.call as usize, self.clock.saturating_sub(live.begin));
            live.late = live.late.wrapping_add(late.remove(&live.call).unwrap_or(0));
            let hash = mix(live.whole_hash(), u64::from(OPEN));
            put(&mut columns.hash, live.call as usize, (hash >> 32) as u32);
            let mut at = live.call;
            for _ in 0..limits::LATE_DEPTH_MAX {
                let Some(parent) = late_parent(&columns, at, live.lane) else { break };
                let ending = columns.ending.get(parent as usize).map_or(OPEN, |it| it & 3);
                if matches!(ending, OPEN | SUSPENDED) {
                    let sum = late.entry(parent).or_insert(0);
                    *sum = sum.wrapping_add(hash);
                    break;
                }
                add_hash(&mut columns, parent, hash);
                at = parent;
            }
        }
        head.lanes = self.threads.lanes().to_vec();
        head.exceptions = self.episodes.kept();
        (head.calls, head.values) = (columns.len(), self.known.values);
        (head.packs, head.pieces) = packs.finish(out);
        head.value_blocks = self.values.finish(out);
        let blocks = columns.function.len().div_ceil(limits::BLOCK);
        head.blocks = (0..blocks)
            .map(|block| {
                let fields = FIELDS.iter().map(|it| out.deflated(&columns.encode(*it, block)));
                let mut parts: Vec<_> = fields.collect();
                parts.push(out.deflated(&columns.encode_arguments(block)));
                parts
            })
            .collect();
        head
    }
}

/// Who made a call of this lane, if that is of the same.
fn late_parent(columns: &Columns, call: u32, lane: u32) -> Option<u32> {
    let parent = *columns.parent.get(call as usize)?;
    (columns.lane.get(parent as usize) == Some(&lane)).then_some(parent)
}

fn add_hash(columns: &mut Columns, call: u32, hash: u64) {
    if let Some(sum) = columns.hash.get_mut(call as usize) {
        *sum = sum.wrapping_add((hash >> 32) as u32);
    }
}

fn put<T>(column: &mut [T], at: usize, value: T) {
    if let Some(place) = column.get_mut(at) {
        *place = value;
    }
}

/// Beyond the bound nothing more is kept; there are thousands before.
fn keep<T>(all: &mut Vec<T>, one: T) {
    if all.len() < limits::FACTS_KEPT {
        all.push(one);
    }
}

fn count(results: &mut Vec<(u32, u64, u32)>, class: u32, call: u32) {
    if let Some((_, times, _)) = results.iter_mut().find(|(it, ..)| *it == class) {
        *times += 1;
    } else if results.len() <= limits::CLASSES_MAX {
        results.push((class, 1, call));
    }
}

/// Whether a call of that name tells somebody of what it is given.
fn is_log(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let verbs =
        ["debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print"];
    verbs.contains(&last) || name.starts_with("logging.")
}
