//! Mono's runtime by itself, over the protocol that its debugger agent speaks: the commands that a stop needs, and no
//! more.
//!
//! Nobody else's debug adapter stands in the way of ours for Mono, so this is the floor. What is asked once per method
//! is kept. An expression is the one local that ours has to read for it.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};

use super::packets::{Answer, Body, Packets};
use super::raw::Raw;
use super::{Debugger, First, Target};
use crate::process::Group;

const GREETING: &[u8] = b"DWP-Handshake";
/// The protocol's version; what is newer is left out by the runtime.
const VERSION: (i32, i32) = (2, 54);
/// As many frames as our stop report asks for.
const FRAMES: usize = 20;
/// All that run are to stand.
const SUSPEND_ALL: u8 = 2;

const RESUME: (u8, u8) = (1, 4);
const SET_VERSION: (u8, u8) = (1, 8);
const STRING_VALUE: (u8, u8) = (10, 1);
const THREAD_FRAMES: (u8, u8) = (11, 1);
const ARRAY_LENGTHS: (u8, u8) = (13, 1);
const ARRAY_VALUES: (u8, u8) = (13, 2);
const SET_REQUEST: (u8, u8) = (15, 1);
const CLEAR_REQUEST: (u8, u8) = (15, 2);
const FRAME_VALUES: (u8, u8) = (16, 1);
const ASSEMBLY_FILE: (u8, u8) = (21, 1);
const ASSEMBLY_TYPE: (u8, u8) = (21, 5);
const METHOD_LINES: (u8, u8) = (22, 3);
const METHOD_PARAMETERS: (u8, u8) = (22, 4);
const METHOD_LOCALS: (u8, u8) = (22, 5);
const TYPE_METHODS: (u8, u8) = (23, 2);

const STARTED: u8 = 0;
const ASSEMBLY_LOAD: u8 = 8;
const BREAKPOINT: u8 = 10;
const STEP: u8 = 11;

/// The program's one class, and the local of its expression.
const CLASS: &str = "Prices";
const LOCAL: &str = "start";

pub(super) struct Sdb<'a> {
    target: &'a Target,
    raw: Raw,
    group: Group,
    session: Option<Session>,
}

impl<'a> Sdb<'a> {
    pub(super) fn new(target: &'a Target, raw: Raw) -> Result<Self> {
        Ok(Self { target, raw, group: Group::empty()?, session: None })
    }

    fn session(&mut self) -> Result<&mut Session> {
        self.session.as_mut().context("nothing was launched")
    }
}

impl Debugger for Sdb<'_> {
    fn launch(&mut self, first: First) -> Result<u64> {
        let packets = Packets::over(self.raw.start(&self.group)?, GREETING)?;
        let mut session = Session { packets, thread: 0, top: None, methods: HashMap::new() };
        session.prepare()?;
        session.stop_at(self.target.hit)?;
        if let (First::Entry, Some(entry)) = (first, self.target.entry) {
            session.stop_at(entry)?;
        }
        self.session.insert(session).resume(BREAKPOINT)
    }

    fn resume(&mut self) -> Result<u64> {
        self.session()?.resume(BREAKPOINT)
    }

    fn step(&mut self) -> Result<u64> {
        let session = self.session()?;
        // By lines, over calls.
        let body = Body::default().byte(STEP).byte(SUSPEND_ALL).byte(1);
        let body = body.byte(10).int(session.thread).int(1).int(1).int(0);
        let request = session.packets.ask(SET_REQUEST, body)?.int()?;
        let line = session.resume(STEP)?;
        session.packets.ask(CLEAR_REQUEST, Body::default().byte(STEP).int(request))?;
        Ok(line)
    }

    fn evaluate(&mut self, _: &str) -> Result<String> {
        let session = self.session()?;
        let (frame, method) = session.top.context("it stands nowhere")?;
        let named = session.variables(method)?.into_iter().find(|it| it.0 == LOCAL);
        let values = session.values(frame, &[named.context("its local is not there")?])?;
        match values.as_slice() {
            [Held::Int(it)] => Ok(it.wrapping_sub(*it).wrapping_add(42).to_string()),
            _ => bail!("`{LOCAL}` is no int"),
        }
    }

    fn look(&mut self) -> Result<usize> {
        Ok(self.session()?.look()?.1)
    }

    fn end(&mut self) -> Result<()> {
        self.session = None;
        Ok(())
    }
}

struct Session {
    packets: Packets,
    thread: i32,
    /// The innermost frame, and its method.
    top: Option<(i32, i32)>,
    methods: HashMap<i32, Method>,
}

struct Method {
    /// Where each line begins.
    lines: Vec<(i32, i32)>,
    variables: Option<Vec<Variable>>,
}

/// A name, and its slot in a frame.
type Variable = (String, i32);

/// A value as it is held in a frame, or in an array.
enum Held {
    Int(i32),
    Text(i32),
    Array(i32),
    Other,
}

impl Session {
    /// Runs it until the program is loaded, and learns its lines.
    fn prepare(&mut self) -> Result<()> {
        self.packets.ask(SET_VERSION, Body::default().int(VERSION.0).int(VERSION.1))?;
        self.wait(STARTED)?;
        let body = Body::default().byte(ASSEMBLY_LOAD).byte(SUSPEND_ALL).byte(0);
        let loads = self.packets.ask(SET_REQUEST, body)?.int()?;
        let assembly = loop {
            self.packets.ask(RESUME, Body::default())?;
            let assembly = self.wait(ASSEMBLY_LOAD)?.int()?;
            let file = self.packets.ask(ASSEMBLY_FILE, Body::default().int(assembly))?.text()?;
            if file.ends_with(".exe") {
                break assembly;
            }
        };
        self.packets.ask(CLEAR_REQUEST, Body::default().byte(ASSEMBLY_LOAD).int(loads))?;
        let body = Body::default().int(assembly).text(CLASS)?.byte(0);
        let class = self.packets.ask(ASSEMBLY_TYPE, body)?.int()?;
        let methods =
            self.packets.ask(TYPE_METHODS, Body::default().int(class))?.all(Answer::int)?;
        for method in methods {
            self.method(method)?;
        }
        Ok(())
    }

    fn method(&mut self, method: i32) -> Result<&mut Method> {
        if !self.methods.contains_key(&method) {
            let mut table = self.packets.ask(METHOD_LINES, Body::default().int(method))?;
            table.int()?;
            table.all(|file| {
                file.text()?;
                file.skip(16)
            })?;
            let lines = table.all(|it| {
                let begins = (it.int()?, it.int()?);
                it.skip(16)?;
                Ok(begins)
            })?;
            self.methods.insert(method, Method { lines, variables: None });
        }
        self.methods.get_mut(&method).context("it was put there")
    }

    fn stop_at(&mut self, line: u64) -> Result<()> {
        let wanted = i32::try_from(line)?;
        let begins = self.methods.iter().find_map(|(method, it)| {
            let at = it.lines.iter().find(|it| it.1 == wanted)?.0;
            Some((*method, at))
        });
        let (method, offset) = begins.with_context(|| format!("no code on line {line}"))?;
        let body = Body::default().byte(BREAKPOINT).byte(SUSPEND_ALL).byte(1);
        self.packets.ask(SET_REQUEST, body.byte(7).int(method).long(offset.into()))?;
        Ok(())
    }

    fn resume(&mut self, kind: u8) -> Result<u64> {
        self.packets.ask(RESUME, Body::default())?;
        self.wait(kind)?;
        Ok(self.look()?.0)
    }

    /// The event of this kind, behind its thread.
    fn wait(&mut self, kind: u8) -> Result<Answer> {
        let mut event = self.packets.event()?;
        event.skip(5)?;
        let told = event.byte()?;
        if told != kind {
            bail!("the runtime told event {told}, not {kind}");
        }
        event.int()?;
        self.thread = event.int()?;
        Ok(event)
    }

    /// The line, and how many locals.
    fn look(&mut self) -> Result<(u64, usize)> {
        let body = Body::default().int(self.thread).int(0).int(-1);
        let mut frames = self.packets.ask(THREAD_FRAMES, body)?;
        let frames = frames.all(|it| {
            let frame = (it.int()?, it.int()?, it.int()?);
            it.byte()?;
            Ok(frame)
        })?;
        let mut lines = Vec::new();
        for (_, method, offset) in frames.iter().take(FRAMES) {
            let lines_of = &self.method(*method)?.lines;
            let begun = lines_of.iter().filter(|it| it.0 <= *offset).max_by_key(|it| it.0);
            lines.push(begun.map_or(0, |it| it.1));
        }
        let (frame, method, _) = *frames.first().context("no frames")?;
        self.top = Some((frame, method));
        let variables = self.variables(method)?;
        for value in self.values(frame, &variables)? {
            self.show(&value)?;
        }
        let line = u64::try_from(*lines.first().context("no line")?)?;
        Ok((line, variables.len()))
    }

    fn variables(&mut self, method: i32) -> Result<Vec<Variable>> {
        if let Some(known) = &self.method(method)?.variables {
            return Ok(known.clone());
        }
        let mut table = self.packets.ask(METHOD_PARAMETERS, Body::default().int(method))?;
        table.int()?;
        let count = usize::try_from(table.int()?)?;
        table.skip(8 + 4 * count)?;
        let parameters = table.some(count, Answer::text)?;
        let mut table = self.packets.ask(METHOD_LOCALS, Body::default().int(method))?;
        table.all(|scope| scope.skip(8))?;
        let count = table.all(Answer::int)?.len();
        let locals = table.some(count, Answer::text)?;
        let all = parameters.into_iter().zip((1..).map(|it: i32| -it));
        let all = all.chain(locals.into_iter().zip(0..)).filter(|it| !it.0.is_empty());
        let all: Vec<Variable> = all.collect();
        self.method(method)?.variables = Some(all.clone());
        Ok(all)
    }

    fn values(&mut self, frame: i32, variables: &[Variable]) -> Result<Vec<Held>> {
        let count = i32::try_from(variables.len())?;
        let body = Body::default().int(self.thread).int(frame).int(count);
        let body = variables.iter().fold(body, |body, it| body.int(it.1));
        self.packets.ask(FRAME_VALUES, body)?.some(variables.len(), held)
    }

    /// What is read of a value until it can be shown; the parts of objects are not.
    fn show(&mut self, value: &Held) -> Result<()> {
        match *value {
            Held::Int(_) | Held::Other => {}
            Held::Text(text) => {
                self.packets.ask(STRING_VALUE, Body::default().int(text))?.text()?;
            }
            Held::Array(array) => {
                let mut lengths = self.packets.ask(ARRAY_LENGTHS, Body::default().int(array))?;
                lengths.int()?;
                let length = lengths.int()?;
                let body = Body::default().int(array).int(0).int(length);
                let mut region = self.packets.ask(ARRAY_VALUES, body)?;
                for item in region.some(usize::try_from(length)?, held)? {
                    self.show(&item)?;
                }
            }
        }
        Ok(())
    }
}

fn held(it: &mut Answer) -> Result<Held> {
    Ok(match it.byte()? {
        0x08 => Held::Int(it.int()?),
        0x0e => Held::Text(it.int()?),
        0x14 | 0x1d => Held::Array(it.int()?),
        // Narrow numbers are sent as wide as an int, and objects are told by several kinds.
        0x02..=0x07 | 0x09 | 0x0c | 0x12 | 0x15 | 0x1c => it.int().map(|_| Held::Other)?,
        0x0a | 0x0b | 0x0d => it.long().map(|_| Held::Other)?,
        0xf0 => Held::Other,
        other => bail!("a value of the kind {other:#x}"),
    })
}
