//! A Java virtual machine by itself, over the protocol that it speaks: the commands that a stop needs, and no more.
//!
//! Nobody else's debug adapter stands in the way of ours for Java, so this is the floor. What is asked once per class
//! or method is kept. An expression is the one local that ours has to read for it.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};

use super::packets::{Answer, Body, Packets};
use super::raw::Raw;
use super::{Debugger, First, Target};
use crate::process::Group;

const GREETING: &[u8] = b"JDWP-Handshake";
/// As many frames as our stop report asks for.
const FRAMES: usize = 20;
/// All that run are to stand.
const SUSPEND_ALL: u8 = 2;

const RESUME: (u8, u8) = (1, 9);
const METHODS: (u8, u8) = (2, 5);
const LINE_TABLE: (u8, u8) = (6, 1);
const VARIABLE_TABLE: (u8, u8) = (6, 2);
const STRING_VALUE: (u8, u8) = (10, 1);
const THREAD_FRAMES: (u8, u8) = (11, 6);
const ARRAY_LENGTH: (u8, u8) = (13, 1);
const ARRAY_VALUES: (u8, u8) = (13, 2);
const SET_REQUEST: (u8, u8) = (15, 1);
const FRAME_VALUES: (u8, u8) = (16, 1);

const STEP: u8 = 1;
const BREAKPOINT: u8 = 2;
const CLASS_PREPARE: u8 = 8;
const STARTED: u8 = 90;

pub(super) struct Jdwp<'a> {
    target: &'a Target,
    raw: Raw,
    group: Group,
    session: Option<Session>,
}

impl<'a> Jdwp<'a> {
    pub(super) fn new(target: &'a Target, raw: Raw) -> Result<Self> {
        Ok(Self { target, raw, group: Group::empty()?, session: None })
    }

    fn session(&mut self) -> Result<&mut Session> {
        self.session.as_mut().context("nothing was launched")
    }
}

impl Debugger for Jdwp<'_> {
    fn launch(&mut self, first: First) -> Result<u64> {
        let packets = Packets::over(self.raw.start(&self.group)?, GREETING)?;
        let mut session = Session { packets, thread: 0, top: None, methods: HashMap::new() };
        let class = self.target.file.file_stem().and_then(|it| it.to_str());
        session.prepare(class.context("no class")?)?;
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
        // Two modifiers: by lines over calls, and only once, after which the request is gone.
        let body = Body::default().byte(STEP).byte(SUSPEND_ALL).int(2);
        let body = body.byte(10).long(session.thread).int(1).int(1).byte(1).int(1);
        session.packets.ask(SET_REQUEST, body)?;
        session.resume(STEP)
    }

    fn evaluate(&mut self, _: &str) -> Result<String> {
        let session = self.session()?;
        let (frame, method, index) = session.top.context("it stands nowhere")?;
        let base = session.visible(method, index)?.into_iter().find(|it| it.name == "base");
        let values = session.values(frame, &[base.context("no `base`")?])?;
        match values.as_slice() {
            [Held::Int(base)] => Ok(base.wrapping_sub(*base).wrapping_add(42).to_string()),
            _ => bail!("`base` is no int"),
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
    thread: i64,
    /// The innermost frame, its method, and where it stands in it.
    top: Option<(i64, MethodOf, i64)>,
    methods: HashMap<MethodOf, Method>,
}

/// A class, and one of its methods.
type MethodOf = (i64, i64);

#[derive(Default)]
struct Method {
    /// Where each line begins.
    lines: Vec<(i64, u64)>,
    variables: Option<Vec<Variable>>,
}

#[derive(Clone)]
struct Variable {
    name: String,
    /// From where on, and for how long.
    lives: (i64, i64),
    slot: i32,
    tag: u8,
}

/// A value as it is held in a frame, or in an array.
enum Held {
    Int(i32),
    Text(i64),
    Array(i64),
    Other,
}

impl Session {
    /// Runs it until the class is there, and learns its lines.
    fn prepare(&mut self, class: &str) -> Result<()> {
        self.wait(STARTED)?;
        let body = Body::default().byte(CLASS_PREPARE).byte(SUSPEND_ALL).int(1);
        self.packets.ask(SET_REQUEST, body.byte(5).text(class)?)?;
        self.packets.ask(RESUME, Body::default())?;
        let mut event = self.wait(CLASS_PREPARE)?;
        event.skip(1)?;
        let class = event.long()?;
        let mut methods = self.packets.ask(METHODS, Body::default().long(class))?;
        let methods = methods.all(|it| {
            let method = it.long()?;
            it.text()?;
            it.text()?;
            it.int()?;
            Ok(method)
        })?;
        for method in methods {
            self.method((class, method))?;
        }
        Ok(())
    }

    fn method(&mut self, of: MethodOf) -> Result<&mut Method> {
        if !self.methods.contains_key(&of) {
            let mut table = self.packets.ask(LINE_TABLE, Body::default().long(of.0).long(of.1))?;
            table.skip(16)?;
            let lines = table.all(|it| Ok((it.long()?, u64::try_from(it.int()?)?)))?;
            self.methods.insert(of, Method { lines, variables: None });
        }
        self.methods.get_mut(&of).context("it was put there")
    }

    fn stop_at(&mut self, line: u64) -> Result<()> {
        let begins = self.methods.iter().find_map(|(of, method)| {
            let at = method.lines.iter().find(|it| it.1 == line)?.0;
            Some((*of, at))
        });
        let ((class, method), index) = begins.with_context(|| format!("no code on line {line}"))?;
        let body = Body::default().byte(BREAKPOINT).byte(SUSPEND_ALL).int(1);
        let body = body.byte(7).byte(1).long(class).long(method).long(index);
        self.packets.ask(SET_REQUEST, body)?;
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
            bail!("the machine told event {told}, not {kind}");
        }
        event.int()?;
        self.thread = event.long()?;
        Ok(event)
    }

    /// The line, and how many locals.
    fn look(&mut self) -> Result<(u64, usize)> {
        let body = Body::default().long(self.thread).int(0).int(-1);
        let mut frames = self.packets.ask(THREAD_FRAMES, body)?;
        let frames = frames.all(|it| {
            let frame = it.long()?;
            it.skip(1)?;
            Ok((frame, (it.long()?, it.long()?), it.long()?))
        })?;
        let mut lines = Vec::new();
        for (_, method, index) in frames.iter().take(FRAMES) {
            let lines_of = &self.method(*method)?.lines;
            let begun = lines_of.iter().filter(|it| it.0 <= *index).max_by_key(|it| it.0);
            lines.push(begun.map_or(0, |it| it.1));
        }
        let (frame, method, index) = *frames.first().context("no frames")?;
        self.top = Some((frame, method, index));
        let variables = self.visible(method, index)?;
        let values = self.values(frame, &variables)?;
        for value in values {
            self.show(&value)?;
        }
        Ok((*lines.first().context("no line")?, variables.len()))
    }

    fn visible(&mut self, of: MethodOf, index: i64) -> Result<Vec<Variable>> {
        if self.method(of)?.variables.is_none() {
            let mut table =
                self.packets.ask(VARIABLE_TABLE, Body::default().long(of.0).long(of.1))?;
            table.int()?;
            let variables = table.all(|it| {
                let (from, name, kind) = (it.long()?, it.text()?, it.text()?);
                let lives = (from, i64::from(it.int()?));
                let tag = kind.bytes().next().context("a variable of no type")?;
                Ok(Variable { name, lives, slot: it.int()?, tag })
            })?;
            self.method(of)?.variables = Some(variables);
        }
        let all = self.method(of)?.variables.iter().flatten();
        let lives = |it: &&Variable| (it.lives.0..it.lives.0 + it.lives.1).contains(&index);
        Ok(all.filter(lives).cloned().collect())
    }

    fn values(&mut self, frame: i64, variables: &[Variable]) -> Result<Vec<Held>> {
        let count = i32::try_from(variables.len())?;
        let body = Body::default().long(self.thread).long(frame).int(count);
        let body = variables.iter().fold(body, |body, it| body.int(it.slot).byte(it.tag));
        self.packets.ask(FRAME_VALUES, body)?.all(held)
    }

    /// What is read of a value until it can be shown; the parts of objects are not.
    fn show(&mut self, value: &Held) -> Result<()> {
        match *value {
            Held::Int(_) | Held::Other => {}
            Held::Text(text) => {
                self.packets.ask(STRING_VALUE, Body::default().long(text))?.text()?;
            }
            Held::Array(array) => {
                let length = self.packets.ask(ARRAY_LENGTH, Body::default().long(array))?.int()?;
                // Nothing may be asked of an empty one.
                if length == 0 {
                    return Ok(());
                }
                let body = Body::default().long(array).int(0).int(length);
                let mut region = self.packets.ask(ARRAY_VALUES, body)?;
                let are_objects = matches!(region.byte()?, b'L' | b's' | b'[');
                for item in if are_objects { region.all(held)? } else { Vec::new() } {
                    self.show(&item)?;
                }
            }
        }
        Ok(())
    }
}

fn held(it: &mut Answer) -> Result<Held> {
    Ok(match it.byte()? {
        b'I' => Held::Int(it.int()?),
        b's' => Held::Text(it.long()?),
        b'[' => Held::Array(it.long()?),
        b'V' => Held::Other,
        b'Z' | b'B' => it.skip(1).map(|()| Held::Other)?,
        b'C' | b'S' => it.skip(2).map(|()| Held::Other)?,
        b'F' => it.skip(4).map(|()| Held::Other)?,
        _ => it.skip(8).map(|()| Held::Other)?,
    })
}
