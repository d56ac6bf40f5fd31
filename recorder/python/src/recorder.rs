//! The state of a recording, and its records.
//!
//! There is one per process. Every entry into it comes from Python with the interpreter's lock held, and no
//! record is left half-written while Python code runs, so the lock orders the stream.

use std::{collections::HashMap, path::PathBuf};

use crate::{
    ffi::{self, Obj},
    frames::{Frame, Thread},
    objects::Objects,
    plan::Code,
    raw::Layout,
    secrets::{Secrets, Weight},
    stream::Stream,
    table::{ByAddress, Number, Seen},
};

pub(crate) mod op {
    pub(crate) const PROCESS: u8 = 0x01;
    pub(crate) const FILE: u8 = 0x03;
    pub(crate) const FUNCTION: u8 = 0x04;
    pub(crate) const THREAD: u8 = 0x06;
    pub(crate) const NOTE: u8 = 0x07;
    pub(crate) const END: u8 = 0x08;
    pub(crate) const TEST: u8 = 0x09;
    pub(crate) const CALL: u8 = 0x10;
    pub(crate) const RETURN: u8 = 0x11;
    pub(crate) const YIELD: u8 = 0x12;
    pub(crate) const RESUME: u8 = 0x13;
    pub(crate) const RAISE: u8 = 0x14;
    pub(crate) const UNWIND: u8 = 0x15;
    pub(crate) const HANDLED: u8 = 0x16;
    pub(crate) const WRITE: u8 = 0x17;
    pub(crate) const SWITCH: u8 = 0x18;
    pub(crate) const TASK: u8 = 0x19;
    pub(crate) const LEVEL: u8 = 0x1A;
    pub(crate) const COUNT: u8 = 0x1B;
    pub(crate) const LINE: u8 = 0x1D;
    pub(crate) const GAP: u8 = 0x1E;
    pub(crate) const LINE_AT: u8 = 0x1F;
    pub(crate) const PARTIAL: u8 = 0x20;
    pub(crate) const FORKED: u8 = 0x21;
    pub(crate) const WRITE_0: u8 = 0x40;
    pub(crate) const LINE_0: u8 = 0xC0;
}

/// What a recording may hold before it keeps less.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// Calls of a function whose lines are kept whatever else there is.
    pub(crate) whole_calls: u64,
    /// Calls of a function that are kept one by one.
    pub(crate) calls: u64,
    /// Lines of one frame that are kept one by one.
    pub(crate) frame_lines: u32,
    /// What is not written yet may be mapped for others.
    pub(crate) has_tail: bool,
}

/// The share of all events that one function's lines may have.
const SHARE: u64 = 20;

pub(crate) struct Recorder {
    pub(crate) layout: Layout,
    pub(crate) stream: Stream,
    pub(crate) folder: PathBuf,
    pub(crate) secrets: Secrets,
    pub(crate) limits: Limits,
    pub(crate) objects: Objects,
    pub(crate) seen: Seen,
    pub(crate) names: Seen,
    pub(crate) weights: Seen,
    pub(crate) strings: HashMap<Box<[u8]>, Number>,
    pub(crate) values: Number,
    files: HashMap<Vec<u8>, Number>,
    functions: Number,
    pub(crate) calls: u64,
    pub(crate) events: u64,
    pub(crate) codes: ByAddress<Box<Code>>,
    pub(crate) threads: ByAddress<Box<Thread>>,
    pub(crate) threads_seen: u32,
    pub(crate) kept: ByAddress<Frame>,
    /// The thread that the stream is at.
    pub(crate) at_thread: u32,
    /// Lines are kept at all, and whether they were from the beginning.
    pub(crate) lines: bool,
    pub(crate) began_with_lines: bool,
    /// Nothing but counts any more.
    pub(crate) is_full: bool,
    pub(crate) spare: Vec<Vec<u8>>,
    pub(crate) discover: Obj,
    pub(crate) describe_thread: Obj,
    pub(crate) current_task: Obj,
    pub(crate) disable: Obj,
}

/// What Python hands over at the start.
pub(crate) struct Means {
    pub(crate) discover: Obj,
    pub(crate) describe_thread: Obj,
    pub(crate) current_task: Obj,
    pub(crate) disable: Obj,
}

impl Recorder {
    /// # Safety
    /// The lock is held; the means are references that are kept for good.
    pub(crate) unsafe fn new(
        layout: Layout,
        folder: PathBuf,
        secrets: Secrets,
        limits: Limits,
        lines: bool,
        means: Means,
    ) -> Recorder {
        Recorder {
            layout,
            stream: Stream::closed(limits.has_tail),
            folder,
            secrets,
            limits,
            objects: unsafe { Objects::new() },
            seen: Seen::new(),
            names: Seen::new(),
            weights: Seen::new(),
            strings: HashMap::new(),
            values: 0,
            files: HashMap::new(),
            functions: 0,
            calls: 0,
            events: 0,
            codes: ByAddress::default(),
            threads: ByAddress::default(),
            threads_seen: 0,
            kept: ByAddress::default(),
            at_thread: 0,
            lines,
            began_with_lines: lines,
            is_full: false,
            spare: Vec::new(),
            discover: means.discover,
            describe_thread: means.describe_thread,
            current_task: means.current_task,
            disable: means.disable,
        }
    }

    /// Begins a stream; everything in it is numbered anew.
    pub(crate) fn begin(&mut self, process: &[u8]) -> bool {
        if !self.stream.open(&self.folder) {
            return false;
        }
        self.seen.clear();
        self.names.clear();
        self.strings.clear();
        self.files.clear();
        self.objects.renumber();
        self.values = 0;
        self.functions = 0;
        self.calls = 0;
        for code in self.codes.values_mut() {
            code.number = None;
        }
        self.stream.byte(op::PROCESS);
        self.stream.text(process);
        true
    }

    /// A record of a text alone.
    pub(crate) fn told(&mut self, op: u8, text: &[u8]) {
        if self.stream.is_open() {
            self.stream.byte(op);
            self.stream.text(text);
        }
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.told(op::NOTE, text.as_bytes());
    }

    /// What follows is of this thread.
    #[inline]
    pub(crate) fn select(&mut self, thread: u32) {
        if self.at_thread != thread {
            self.at_thread = thread;
            self.stream.byte(op::SWITCH);
            self.stream.number(u64::from(thread));
        }
    }

    /// The number of a function, written first if need be.
    pub(crate) fn function(&mut self, code: &mut Code) -> Number {
        if let Some(number) = code.number {
            return number;
        }
        let file = self.file(&code.file, &code.hash);
        let name = self.string(&code.name);
        let qualified = self.string(&code.qualified);
        let slots: Vec<Number> = code.slots.iter().map(|it| self.string(&it.name)).collect();
        self.stream.byte(op::FUNCTION);
        for operand in [name, qualified, file, code.first, code.last, code.flags, code.parameters] {
            self.stream.number(u64::from(operand));
        }
        self.stream.number(slots.len() as u64);
        for slot in slots {
            self.stream.number(u64::from(slot));
        }
        let number = self.functions;
        self.functions += 1;
        code.number = Some(number);
        number
    }

    fn file(&mut self, path: &[u8], hash: &[u8]) -> Number {
        if let Some(number) = self.files.get(path) {
            return *number;
        }
        let number = Number::try_from(self.files.len()).unwrap_or(Number::MAX);
        self.files.insert(path.to_vec(), number);
        self.stream.byte(op::FILE);
        self.stream.text(path);
        self.stream.text(hash);
        number
    }

    /// What a function is kept as at first, which needs no telling.
    pub(crate) fn first_level(&self, code: &Code) -> u8 {
        if self.began_with_lines || code.is_focused { 2 } else { 1 }
    }

    /// How much is kept of the call that begins.
    pub(crate) fn level(&mut self, code: &mut Code) -> u8 {
        code.calls += 1;
        self.watch_limits();
        let (level, why) = if code.is_focused && !self.is_full {
            (2, "")
        } else if self.is_full {
            (0, "the recording is full")
        } else if code.calls > self.limits.calls {
            (0, "many calls")
        } else if !self.lines {
            (1, "the recording has its events")
        } else if code.calls > self.limits.whole_calls
            && code.events.get() > self.limits.events / SHARE
        {
            (1, "its share of events")
        } else {
            (2, "")
        };
        if level < code.level {
            code.level = level;
            let number = self.function(code);
            self.stream.byte(op::LEVEL);
            self.stream.number(u64::from(number));
            self.stream.number(u64::from(level));
            self.stream.text(why.as_bytes());
        }
        if level > 0 || self.is_full {
            return level.min(code.level);
        }
        // Past counting, one of more and more is kept.
        let step = (code.calls / self.limits.calls.max(1)).next_power_of_two() * 64;
        u8::from(code.calls.is_multiple_of(step))
    }

    fn watch_limits(&mut self) {
        if self.lines && self.events > self.limits.events {
            self.lines = false;
            self.note(&format!("{{\"limit\":\"events\",\"most\":{}}}", self.limits.events));
        }
        if !self.is_full && self.stream.bytes > self.limits.bytes {
            self.is_full = true;
            self.note(&format!("{{\"limit\":\"bytes\",\"most\":{}}}", self.limits.bytes));
        }
    }

    /// Calls that have no record of their own, told before the next one that has.
    pub(crate) fn tell_count(&mut self, code: &mut Code) {
        if code.uncounted > 0 {
            let number = self.function(code);
            self.stream.byte(op::COUNT);
            self.stream.number(u64::from(number));
            self.stream.number(code.uncounted);
            code.uncounted = 0;
        }
    }

    /// The last record.
    pub(crate) fn end(&mut self, how: &[u8]) {
        if !self.stream.is_open() {
            return;
        }
        let mut codes: Vec<*mut Code> = self.codes.values_mut().map(|it| &raw mut **it).collect();
        codes.retain(|it| unsafe { (**it).uncounted > 0 });
        for code in codes {
            // SAFETY: the boxes stay where they are; none is added or removed here.
            self.tell_count(unsafe { &mut *code });
        }
        self.told(op::END, how);
        self.stream.flush();
        self.stream.end();
    }

    /// A value that was written, but cannot be read without running code of the program.
    pub(crate) fn unread(&mut self) -> Number {
        let kind = self.string(b"unread");
        let mut record = vec![15, 0];
        crate::stream::put(&mut record, u64::from(kind));
        self.record(&record)
    }

    /// # Safety
    /// `it` lives, or is null.
    pub(crate) unsafe fn plain(&mut self, it: Obj) -> Number {
        unsafe { self.value(it, Weight::Plain) }
    }
}

/// # Safety
/// The lock is held.
pub(crate) unsafe fn keep(it: Obj) -> Obj {
    unsafe { ffi::Py_IncRef(it) };
    it
}
