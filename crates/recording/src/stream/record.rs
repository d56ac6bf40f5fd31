//! One record each: what it says, read from bytes and written to them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    bytes::{Cursor, put_blob, put_number, put_signed, put_text},
    damage::Damage,
    datum::Datum,
    limits,
};

/// What stands before a record, by which it is read: nothing is named that is not there.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub strings: u32,
    pub files: u32,
    pub values: u32,
    pub calls: u32,
    /// How many parameters each function has.
    pub parameters: Vec<u32>,
}

/// A function, as a stream says it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionAt {
    pub name: u32,
    pub qualified: u32,
    pub file: u32,
    pub first_line: u32,
    pub last_line: u32,
    pub flags: u32,
    pub parameters: u32,
    /// What it can write; the parameters are the first of them.
    pub slots: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StreamRecord<'a> {
    Process(Cow<'a, str>),
    String(Cow<'a, str>),
    File {
        path: Cow<'a, str>,
        hash: Cow<'a, [u8]>,
    },
    Function(FunctionAt),
    Value(Datum),
    Thread {
        number: u64,
        name: Cow<'a, str>,
    },
    Note(Cow<'a, str>),
    End(Cow<'a, str>),
    Test(Cow<'a, str>),
    Call {
        function: u32,
        ticks: u64,
        arguments: Vec<u32>,
    },
    Return {
        value: u32,
        ticks: u64,
    },
    Yield {
        value: u32,
        ticks: u64,
    },
    /// How many calls ago it began.
    Resume {
        ago: u32,
        ticks: u64,
    },
    Raise(u32),
    Unwind {
        value: u32,
        ticks: u64,
    },
    Handled(u32),
    Write {
        slot: u32,
        value: u32,
    },
    Switch(u64),
    Task {
        number: u64,
        name: u32,
    },
    Level {
        function: u32,
        level: u32,
        why: Cow<'a, str>,
    },
    Count {
        function: u32,
        calls: u64,
    },
    Leaf {
        name: u32,
        arguments: Vec<u32>,
        result: u32,
    },
    Line(i64),
    Gap(u64),
    LineAt(u32),
    Partial,
    Forked(u64),
}

impl<'a> StreamRecord<'a> {
    pub fn read(from: &mut Cursor<'a>, known: &Known) -> Result<StreamRecord<'a>, Damage> {
        let code = from.byte()?;
        Ok(match code {
            0x80.. => StreamRecord::Line(i64::from(code) - 0xc0),
            0x40.. => {
                let slot = u32::from(code - 0x40);
                StreamRecord::Write { slot, value: known.value(from)? }
            }
            0x01..=0x09 => StreamRecord::read_table(code, from, known)?,
            _ => StreamRecord::read_event(code, from, known)?,
        })
    }

    fn read_table(code: u8, from: &mut Cursor<'a>, known: &Known) -> Result<Self, Damage> {
        Ok(match code {
            0x01 => StreamRecord::Process(from.text()?),
            0x02 => StreamRecord::String(from.text()?),
            0x03 => StreamRecord::File { path: from.text()?, hash: Cow::Borrowed(from.blob()?) },
            0x04 => StreamRecord::Function(known.read_function(from)?),
            0x05 => StreamRecord::Value(known.read_value(from)?),
            0x06 => StreamRecord::Thread { number: from.number()?, name: from.text()? },
            0x07 => StreamRecord::Note(from.text()?),
            0x08 => StreamRecord::End(from.text()?),
            _ => StreamRecord::Test(from.text()?),
        })
    }

    fn read_event(code: u8, from: &mut Cursor<'a>, known: &Known) -> Result<Self, Damage> {
        Ok(match code {
            0x10 => known.read_call(from)?,
            0x11 => StreamRecord::Return { value: known.value(from)?, ticks: from.number()? },
            0x12 => StreamRecord::Yield { value: known.value(from)?, ticks: from.number()? },
            0x13 => {
                let ago = from.small()?;
                check(ago > 0 && ago <= known.calls, "call")?;
                StreamRecord::Resume { ago, ticks: from.number()? }
            }
            0x14 => StreamRecord::Raise(known.value(from)?),
            0x15 => StreamRecord::Unwind { value: known.value(from)?, ticks: from.number()? },
            0x16 => StreamRecord::Handled(known.value(from)?),
            0x17 => StreamRecord::Write { slot: from.small()?, value: known.value(from)? },
            0x18 => StreamRecord::Switch(from.number()?),
            0x19 => StreamRecord::Task { number: from.number()?, name: known.string(from)? },
            0x1a => {
                let (function, level) = (known.function(from)?, from.small()?);
                StreamRecord::Level { function, level, why: from.text()? }
            }
            0x1b => StreamRecord::Count { function: known.function(from)?, calls: from.number()? },
            0x1c => {
                let name = known.string(from)?;
                let arguments = known.values(from)?;
                StreamRecord::Leaf { name, arguments, result: known.value(from)? }
            }
            0x1d => StreamRecord::Line(from.signed()?),
            0x1e => StreamRecord::Gap(from.number()?),
            0x1f => StreamRecord::LineAt(from.small()?),
            0x20 => StreamRecord::Partial,
            0x21 => StreamRecord::Forked(from.number()?),
            code => return Err(Damage::Opcode(code)),
        })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        use StreamRecord as R;
        match self {
            R::Process(text) => put_texts(out, 0x01, text),
            R::String(text) => put_texts(out, 0x02, text),
            R::Note(text) => put_texts(out, 0x07, text),
            R::End(text) => put_texts(out, 0x08, text),
            R::Test(text) => put_texts(out, 0x09, text),
            R::File { path, hash } => {
                put_texts(out, 0x03, path);
                put_blob(out, hash);
            }
            R::Function(function) => put_function(out, function),
            R::Value(datum) => {
                out.push(0x05);
                datum.write(out);
            }
            R::Thread { number, name } => {
                put(out, 0x06, &[*number]);
                put_text(out, name);
            }
            R::Level { function, level, why } => {
                put(out, 0x1a, &[(*function).into(), (*level).into()]);
                put_text(out, why);
            }
            event => event.write_event(out),
        }
    }

    fn write_event(&self, out: &mut Vec<u8>) {
        use StreamRecord as R;
        match self {
            R::Call { function, ticks, arguments } => {
                put(out, 0x10, &[(*function).into(), *ticks]);
                arguments.iter().for_each(|it| put_number(out, (*it).into()));
            }
            R::Return { value, ticks } => put(out, 0x11, &[(*value).into(), *ticks]),
            R::Yield { value, ticks } => put(out, 0x12, &[(*value).into(), *ticks]),
            R::Resume { ago, ticks } => put(out, 0x13, &[(*ago).into(), *ticks]),
            R::Raise(value) => put(out, 0x14, &[(*value).into()]),
            R::Unwind { value, ticks } => put(out, 0x15, &[(*value).into(), *ticks]),
            R::Handled(value) => put(out, 0x16, &[(*value).into()]),
            R::Write { slot, value } if *slot < 0x40 => {
                put(out, 0x40 + *slot as u8, &[(*value).into()]);
            }
            R::Write { slot, value } => put(out, 0x17, &[(*slot).into(), (*value).into()]),
            R::Switch(thread) => put(out, 0x18, &[*thread]),
            R::Task { number, name } => put(out, 0x19, &[*number, (*name).into()]),
            R::Count { function, calls } => put(out, 0x1b, &[(*function).into(), *calls]),
            R::Leaf { name, arguments, result } => {
                put(out, 0x1c, &[(*name).into(), arguments.len() as u64]);
                arguments.iter().chain([result]).for_each(|it| put_number(out, (*it).into()));
            }
            R::Line(delta) if (-64..64).contains(delta) => out.push((delta + 0xc0) as u8),
            R::Line(delta) => {
                out.push(0x1d);
                put_signed(out, *delta);
            }
            R::Gap(events) => put(out, 0x1e, &[*events]),
            R::LineAt(line) => put(out, 0x1f, &[(*line).into()]),
            R::Partial => out.push(0x20),
            R::Forked(pid) => put(out, 0x21, &[*pid]),
            table => table.write(out),
        }
    }
}

impl Known {
    /// What is named from now on, after a record.
    pub fn note(&mut self, record: &StreamRecord<'_>) -> Result<(), Damage> {
        let full = |count: u32, max: usize| count as usize >= max;
        match record {
            StreamRecord::String(_) if full(self.strings, limits::NAMES_MAX) => {
                return Err(Damage::Many("strings"));
            }
            StreamRecord::File { .. } if full(self.files, limits::NAMES_MAX) => {
                return Err(Damage::Many("files"));
            }
            StreamRecord::Value(_) if full(self.values, limits::VALUES_MAX) => {
                return Err(Damage::Many("values"));
            }
            StreamRecord::Call { .. } if full(self.calls, limits::CALLS_MAX) => {
                return Err(Damage::Many("calls"));
            }
            StreamRecord::Function(_) if self.parameters.len() >= limits::NAMES_MAX => {
                return Err(Damage::Many("functions"));
            }
            StreamRecord::String(_) => self.strings += 1,
            StreamRecord::File { .. } => self.files += 1,
            StreamRecord::Value(_) => self.values += 1,
            StreamRecord::Call { .. } => self.calls += 1,
            StreamRecord::Function(function) => self.parameters.push(function.parameters),
            _ => {}
        }
        Ok(())
    }

    fn string(&self, from: &mut Cursor<'_>) -> Result<u32, Damage> {
        let number = from.small()?;
        check(number < self.strings, "string").map(|()| number)
    }

    fn value(&self, from: &mut Cursor<'_>) -> Result<u32, Damage> {
        let number = from.small()?;
        check(number < self.values, "value").map(|()| number)
    }

    fn function(&self, from: &mut Cursor<'_>) -> Result<u32, Damage> {
        let number = from.small()?;
        check((number as usize) < self.parameters.len(), "function").map(|()| number)
    }

    fn values(&self, from: &mut Cursor<'_>) -> Result<Vec<u32>, Damage> {
        let count = from.count()?;
        check_count(count, limits::PARTS_MAX, "arguments")?;
        (0..count).map(|_| self.value(from)).collect()
    }

    fn read_call<'a>(&self, from: &mut Cursor<'a>) -> Result<StreamRecord<'a>, Damage> {
        let function = self.function(from)?;
        let ticks = from.number()?;
        let count = self.parameters.get(function as usize).copied().unwrap_or(0);
        let mut arguments = Vec::with_capacity((count as usize).min(from.remaining()));
        for _ in 0..count {
            arguments.push(self.value(from)?);
        }
        Ok(StreamRecord::Call { function, ticks, arguments })
    }

    fn read_function(&self, from: &mut Cursor<'_>) -> Result<FunctionAt, Damage> {
        let (name, qualified, file) = (self.string(from)?, self.string(from)?, from.small()?);
        check(file < self.files, "file")?;
        let (first_line, last_line) = (from.small()?, from.small()?);
        let (flags, parameters) = (from.small()?, from.small()?);
        let count = from.count()?;
        check_count(count, limits::SLOTS_MAX, "slots")?;
        check(parameters as usize <= count, "parameter")?;
        let slots = (0..count).map(|_| self.string(from)).collect::<Result<_, _>>()?;
        Ok(FunctionAt { name, qualified, file, first_line, last_line, flags, parameters, slots })
    }

    fn read_value(&self, from: &mut Cursor<'_>) -> Result<Datum, Damage> {
        let datum = Datum::read(from)?;
        check(datum.inner().all(|it| it < self.values), "value")?;
        check(datum.strings().all(|it| it < self.strings), "string")?;
        Ok(datum)
    }
}

fn check(is_there: bool, what: &'static str) -> Result<(), Damage> {
    if is_there { Ok(()) } else { Err(Damage::Unknown(what)) }
}

fn check_count(count: usize, max: usize, what: &'static str) -> Result<(), Damage> {
    if count <= max { Ok(()) } else { Err(Damage::Many(what)) }
}

fn put(out: &mut Vec<u8>, code: u8, numbers: &[u64]) {
    out.push(code);
    numbers.iter().for_each(|it| put_number(out, *it));
}

fn put_texts(out: &mut Vec<u8>, code: u8, text: &str) {
    out.push(code);
    put_text(out, text);
}

fn put_function(out: &mut Vec<u8>, function: &FunctionAt) {
    let FunctionAt { name, qualified, file, first_line, last_line, flags, parameters, slots } =
        function;
    let numbers = [name, qualified, file, first_line, last_line, flags, parameters];
    put(out, 0x04, &numbers.map(|it| u64::from(*it)));
    put_number(out, slots.len() as u64);
    slots.iter().for_each(|it| put_number(out, (*it).into()));
}
