//! What happened inside of one call, in few bytes: lines, writes, calls made. Frames are kept whole, so that one
//! is read without any other.
//!
//! Each step has its number among the events of the stream; what others did between two steps is skipped.
//! Values stand as the distance to the last one, since those of one frame are mostly near to each other.

use crate::{
    bytes::{Cursor, put_number, put_signed},
    damage::Damage,
    limits,
};

const SKIP: u8 = 1;
const CHILD: u8 = 2;
const LINE: u8 = 3;
const WRITE: u8 = 4;
const RAISE: u8 = 5;
const HANDLED: u8 = 6;
const YIELD: u8 = 7;
const RESUME: u8 = 8;
const LEAF: u8 = 9;
const GAP: u8 = 10;
const PARTIAL: u8 = 11;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FrameStep {
    /// It reaches a line.
    Line(u32),
    /// The last line wrote it.
    Write {
        slot: u32,
        value: u32,
    },
    /// The last line calls it.
    Child(u32),
    Raise(u32),
    Handled(u32),
    Yield(u32),
    Resume,
    /// A call into code that is not recorded.
    Leaf {
        name: u32,
        arguments: Vec<u32>,
        result: u32,
    },
    /// So many events were not kept.
    Gap(u64),
    /// The last line did not run to its end.
    Partial,
}

/// A step and its number among the events of its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepAt {
    pub(crate) event: u64,
    pub(crate) step: FrameStep,
}

/// Steps of one frame as they are written; read by [`Segment`].
#[derive(Debug, Clone, Default)]
pub(crate) struct StepWriter {
    call: u32,
    bytes: Vec<u8>,
    first: u64,
    first_line: u32,
    first_value: u32,
    next: u64,
    line: u32,
    value: u32,
    steps: u32,
    is_continued: bool,
}

impl StepWriter {
    pub(crate) fn new(call: u32, line: u32) -> Self {
        StepWriter { call, line, first_line: line, ..StepWriter::default() }
    }

    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= limits::PACK
    }

    pub(crate) fn push(&mut self, event: u64, step: &FrameStep) {
        self.begin(event);
        match step {
            FrameStep::Line(line) => {
                let delta = i64::from(*line) - i64::from(self.line);
                match (-64..64).contains(&delta) {
                    true => self.bytes.push((delta + 0xc0) as u8),
                    false => {
                        self.bytes.push(LINE);
                        put_signed(&mut self.bytes, delta);
                    }
                }
                self.line = *line;
            }
            FrameStep::Write { slot, value } => {
                match *slot < 0x40 {
                    true => self.bytes.push(0x40 + *slot as u8),
                    false => {
                        self.bytes.push(WRITE);
                        put_number(&mut self.bytes, u64::from(*slot));
                    }
                }
                self.put_value(*value);
            }
            FrameStep::Child(call) => {
                self.bytes.push(CHILD);
                put_number(&mut self.bytes, u64::from(call.saturating_sub(self.call)));
            }
            FrameStep::Raise(value) => self.put_coded(RAISE, *value),
            FrameStep::Handled(value) => self.put_coded(HANDLED, *value),
            FrameStep::Yield(value) => self.put_coded(YIELD, *value),
            FrameStep::Resume => self.bytes.push(RESUME),
            FrameStep::Leaf { name, arguments, result } => {
                self.bytes.push(LEAF);
                put_number(&mut self.bytes, u64::from(*name));
                put_number(&mut self.bytes, arguments.len() as u64);
                arguments.iter().chain([result]).for_each(|it| self.put_value(*it));
            }
            FrameStep::Gap(events) => {
                self.bytes.push(GAP);
                put_number(&mut self.bytes, *events);
            }
            FrameStep::Partial => self.bytes.push(PARTIAL),
        }
    }

    fn begin(&mut self, event: u64) {
        match self.bytes.is_empty() {
            true => self.first = event,
            false if event > self.next => {
                self.bytes.push(SKIP);
                put_number(&mut self.bytes, event - self.next);
            }
            false => {}
        }
        self.next = event + 1;
        self.steps = self.steps.saturating_add(1);
    }

    fn put_coded(&mut self, code: u8, value: u32) {
        self.bytes.push(code);
        self.put_value(value);
    }

    fn put_value(&mut self, value: u32) {
        put_signed(&mut self.bytes, i64::from(value) - i64::from(self.value));
        self.value = value;
    }

    /// Moves what was written behind a piece's other segments; what follows is another segment. Says what it is.
    pub(crate) fn seal(&mut self, piece: &mut Vec<u8>) -> Option<Sealed> {
        if self.bytes.is_empty() {
            return None;
        }
        let is_first = !std::mem::replace(&mut self.is_continued, true);
        let sealed = Sealed { begin: self.first, end: self.next, is_first };
        put_number(piece, u64::from(self.call));
        put_number(piece, self.first);
        put_number(piece, u64::from(self.first_line));
        put_number(piece, u64::from(self.first_value));
        put_number(piece, self.bytes.len() as u64);
        piece.extend_from_slice(&self.bytes);
        self.bytes.clear();
        (self.first_line, self.first_value) = (self.line, self.value);
        Some(sealed)
    }
}

/// A segment that was written: its first event, the one behind its last, and whether its frame begins with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sealed {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) is_first: bool,
}

/// Some steps of one frame, in a piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) call: u32,
    event: u64,
    line: u32,
    value: u32,
    steps: Cursor<'a>,
}

impl<'a> Segment<'a> {
    pub(crate) fn read(from: &mut Cursor<'a>) -> Result<Segment<'a>, Damage> {
        let (call, event) = (from.small()?, from.number()?);
        let (line, value) = (from.small()?, from.small()?);
        Ok(Segment { call, event, line, value, steps: Cursor::new(from.blob()?) })
    }

    /// The next step, until there is none.
    pub(crate) fn step(&mut self) -> Result<Option<StepAt>, Damage> {
        if self.steps.is_empty() {
            return Ok(None);
        }
        let mut code = self.steps.byte()?;
        while code == SKIP {
            let skipped = self.steps.number()?;
            self.event = self.event.checked_add(skipped).ok_or(Damage::Number)?;
            code = self.steps.byte()?;
        }
        let step = self.decode(code)?;
        let event = self.event;
        self.event = event.checked_add(1).ok_or(Damage::Number)?;
        Ok(Some(StepAt { event, step }))
    }

    /// The number of its next step.
    pub(crate) fn event(&self) -> u64 {
        self.event
    }

    /// The line that it has reached.
    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    /// Whether its frame was so long that it goes on in another.
    pub(crate) fn is_long(&self) -> bool {
        self.steps.remaining() >= limits::PACK
    }

    /// The next write: its event, slot and value. What stands between is passed over.
    pub(crate) fn next_write(&mut self) -> Result<Option<(u64, u32, u32)>, Damage> {
        while !self.steps.is_empty() {
            let code = self.steps.byte()?;
            if code == SKIP {
                let skipped = self.steps.number()?;
                self.event = self.event.checked_add(skipped).ok_or(Damage::Number)?;
                continue;
            }
            let event = self.event;
            self.event = event.checked_add(1).ok_or(Damage::Number)?;
            match code {
                0x80.. => self.line = moved(self.line, i64::from(code) - 0xc0)?,
                0x40.. => return Ok(Some((event, u32::from(code - 0x40), self.next_value()?))),
                code => {
                    if let FrameStep::Write { slot, value } = self.decode(code)? {
                        return Ok(Some((event, slot, value)));
                    }
                }
            }
        }
        Ok(None)
    }

    fn decode(&mut self, code: u8) -> Result<FrameStep, Damage> {
        Ok(match code {
            0x80.. => self.moved(i64::from(code) - 0xc0)?,
            0x40.. => FrameStep::Write { slot: u32::from(code - 0x40), value: self.next_value()? },
            CHILD => {
                let ahead = self.steps.small()?;
                FrameStep::Child(self.call.checked_add(ahead).ok_or(Damage::Number)?)
            }
            LINE => {
                let delta = self.steps.signed()?;
                self.moved(delta)?
            }
            WRITE => FrameStep::Write { slot: self.steps.small()?, value: self.next_value()? },
            RAISE => FrameStep::Raise(self.next_value()?),
            HANDLED => FrameStep::Handled(self.next_value()?),
            YIELD => FrameStep::Yield(self.next_value()?),
            RESUME => FrameStep::Resume,
            LEAF => {
                let (name, count) = (self.steps.small()?, self.steps.count()?);
                let arguments = (0..count).map(|_| self.next_value()).collect::<Result<_, _>>()?;
                FrameStep::Leaf { name, arguments, result: self.next_value()? }
            }
            GAP => FrameStep::Gap(self.steps.number()?),
            PARTIAL => FrameStep::Partial,
            code => return Err(Damage::Opcode(code)),
        })
    }

    fn moved(&mut self, delta: i64) -> Result<FrameStep, Damage> {
        self.line = moved(self.line, delta)?;
        Ok(FrameStep::Line(self.line))
    }

    fn next_value(&mut self) -> Result<u32, Damage> {
        self.value = moved(self.value, self.steps.signed()?)?;
        Ok(self.value)
    }
}

/// A number, moved by a distance.
pub(crate) fn moved(from: u32, by: i64) -> Result<u32, Damage> {
    let to = i64::from(from).checked_add(by).ok_or(Damage::Number)?;
    u32::try_from(to).map_err(|_| Damage::Number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn step() -> impl Strategy<Value = FrameStep> {
        let small = 0..1_000_000_u32;
        prop_oneof![
            (0..3_000_u32).prop_map(FrameStep::Line),
            (0..200_u32, small.clone()).prop_map(|(slot, value)| FrameStep::Write { slot, value }),
            small.clone().prop_map(|ahead| FrameStep::Child(7 + ahead)),
            small.clone().prop_map(FrameStep::Raise),
            small.clone().prop_map(FrameStep::Handled),
            small.clone().prop_map(FrameStep::Yield),
            Just(FrameStep::Resume),
            Just(FrameStep::Partial),
            (0..u64::MAX).prop_map(FrameStep::Gap),
            (small.clone(), prop::collection::vec(small.clone(), 0..4), small)
                .prop_map(|(name, arguments, result)| FrameStep::Leaf { name, arguments, result }),
        ]
    }

    proptest! {
        #[test]
        fn frames_come_back(steps in prop::collection::vec((step(), 0..300_u64), 0..60), cut in 0..60_usize) {
            let mut writer = StepWriter::new(7, 10);
            let (mut piece, mut event, mut wanted) = (Vec::new(), 5, Vec::new());
            for (at, (step, gap)) in steps.iter().enumerate() {
                event += gap;
                writer.push(event, step);
                wanted.push(StepAt { event, step: step.clone() });
                event += 1;
                if at == cut {
                    writer.seal(&mut piece);
                }
            }
            writer.seal(&mut piece);
            let (mut cursor, mut found) = (Cursor::new(&piece), Vec::new());
            while !cursor.is_empty() {
                let mut segment = Segment::read(&mut cursor).unwrap();
                prop_assert_eq!(segment.call, 7);
                while let Some(step) = segment.step().unwrap() {
                    found.push(step);
                }
            }
            prop_assert_eq!(found, wanted);
        }
    }
}
