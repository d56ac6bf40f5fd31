//! A recording that was opened: its calls, frames and values, read when they are asked for.

mod cache;
mod ids;
mod process;

use std::{io, path::Path, sync::Arc};

use self::cache::Cache;
pub(crate) use self::process::{Process, is_failure};
pub use self::{
    ids::{CallId, SpotId},
    process::{ProcessFacts, TestFacts},
};
use crate::{
    bytes::Cursor,
    columns::{self, Field},
    damage::Damage,
    datum::Datum,
    head::{NONE, Part, PieceAt},
    limits, normal,
    pack::Bytes,
    steps::{Segment, StepAt},
};

/// What is read of a file that is asked for its calls; cheap to open.
pub struct Recording {
    bytes: Bytes,
    processes: Vec<Process>,
    sources: Vec<(String, bool, Part)>,
    about: String,
    cache: Cache,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskError {
    Damaged(Damage),
    /// What was named is not there; the hint says what is.
    NotFound {
        what: String,
        hint: String,
    },
    /// The question cannot be read; the hint says what can.
    Invalid {
        what: String,
        hint: String,
    },
}

impl From<Damage> for AskError {
    fn from(damage: Damage) -> Self {
        AskError::Damaged(damage)
    }
}

impl Recording {
    pub fn open(path: &Path) -> io::Result<Recording> {
        let wrong = |damage: Damage| io::Error::new(io::ErrorKind::InvalidData, damage.to_string());
        Recording::read(Bytes::open(path)?).map_err(wrong)
    }

    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Recording, Damage> {
        Recording::read(Bytes::Memory(bytes.into()))
    }

    fn read(bytes: Bytes) -> Result<Recording, Damage> {
        let directory = bytes.directory()?;
        if directory.processes.len() > limits::PROCESSES_MAX {
            return Err(Damage::Many("processes"));
        }
        let processes = directory.processes.iter().enumerate();
        let processes = processes
            .map(|(number, part)| Process::new(number as u32, bytes.head(*part)?))
            .collect::<Result<Vec<_>, Damage>>()?;
        let (about, sources) = (directory.about, directory.sources);
        Ok(Recording { bytes, processes, sources, about, cache: Cache::default() })
    }

    /// What whoever made it says of it.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Its processes, in the order in which they were given.
    pub fn process_facts(&self) -> Vec<ProcessFacts> {
        self.processes.iter().map(Process::facts).collect()
    }

    pub(crate) fn processes(&self) -> &[Process] {
        &self.processes
    }

    pub(crate) fn process(&self, number: u32) -> Result<&Process, Damage> {
        self.processes.get(number as usize).ok_or(Damage::Unknown("process"))
    }

    /// Whether there is such a call.
    pub fn has(&self, call: CallId) -> bool {
        self.processes.get(call.process as usize).is_some_and(|it| call.number < it.head.calls)
    }

    /// A source file as it was loaded, and whether that is certain.
    pub(crate) fn source(&self, path: &str) -> Option<(Arc<Vec<u8>>, bool)> {
        let (_, is_same, part) = self.sources.iter().find(|(it, ..)| it == path)?;
        let read = || self.bytes.part(*part);
        let key = (u32::MAX, part.1, u8::MAX);
        let bytes = self.cache.bytes((key.0, key.1 ^ part.2, key.2), read).ok()?;
        Some((bytes, *is_same))
    }

    pub(crate) fn column(
        &self,
        process: u32,
        block: u32,
        field: Field,
    ) -> Result<Arc<Vec<u64>>, Damage> {
        let head = &self.process(process)?.head;
        self.cache.column((process, block, field as u8), || {
            let parts = head.blocks.get(block as usize).ok_or(Damage::Unknown("call"))?;
            let part = parts.get(field as usize).ok_or(Damage::Unknown("column"))?;
            let first = block.checked_mul(limits::BLOCK as u32).ok_or(Damage::Number)?;
            columns::decode(field, first, &self.bytes.part(*part)?)
        })
    }

    /// One thing of one call.
    pub(crate) fn get(&self, call: CallId, field: Field) -> Result<u64, Damage> {
        let block = call.number / limits::BLOCK as u32;
        let column = self.column(call.process, block, field)?;
        let at = (call.number as usize) % limits::BLOCK;
        column.get(at).copied().ok_or(Damage::Unknown("call"))
    }

    pub(crate) fn small(&self, call: CallId, field: Field) -> Result<u32, Damage> {
        u32::try_from(self.get(call, field)?).map_err(|_| Damage::Number)
    }

    /// Another call that it names.
    pub(crate) fn call_of(&self, call: CallId, field: Field) -> Result<Option<CallId>, Damage> {
        let number = self.small(call, field)?;
        let found = (number != NONE).then_some(CallId { number, ..call });
        // What is damaged must not lead in circles: parents stand before, children and siblings behind.
        let is_sound = |it: CallId| match field {
            Field::Parent => it.number < call.number,
            _ => it.number > call.number,
        };
        match found {
            Some(it) if !is_sound(it) || !self.has(it) => Err(Damage::Unknown("call")),
            found => Ok(found),
        }
    }

    pub(crate) fn parent(&self, call: CallId) -> Result<Option<CallId>, Damage> {
        self.call_of(call, Field::Parent)
    }

    /// The calls that it made, in their order.
    pub(crate) fn children(&self, call: CallId) -> Children<'_> {
        Children { recording: self, next: self.call_of(call, Field::FirstChild).transpose() }
    }

    /// The calls that nothing recorded made.
    pub(crate) fn roots(&self, process: u32) -> Children<'_> {
        let first = self.process(process).ok().and_then(|it| it.head.first_root);
        let next = first.map(|number| Ok(CallId { process, number }));
        Children { recording: self, next }
    }

    /// A call and those beside it that follow.
    pub(crate) fn from(&self, call: Option<CallId>) -> Children<'_> {
        Children { recording: self, next: call.map(Ok) }
    }

    pub(crate) fn arguments(&self, call: CallId) -> Result<Vec<u32>, Damage> {
        self.arguments_with(call, <[u32]>::to_vec)
    }

    /// One of them.
    pub(crate) fn argument(&self, call: CallId, at: usize) -> Result<Option<u32>, Damage> {
        self.arguments_with(call, |all| all.get(at).copied())
    }

    fn arguments_with<T>(&self, call: CallId, take: impl FnOnce(&[u32]) -> T) -> Result<T, Damage> {
        self.arguments_near(call)?.of(call).map(take)
    }

    /// The arguments of a call and of those around it.
    pub(crate) fn arguments_near(&self, call: CallId) -> Result<ArgumentsNear, Damage> {
        let head = &self.process(call.process)?.head;
        let block = call.number / limits::BLOCK as u32;
        let all = self.cache.arguments((call.process, block, u8::MAX), || {
            let parts = head.blocks.get(block as usize).ok_or(Damage::Unknown("call"))?;
            let part = parts.get(columns::FIELDS.len()).ok_or(Damage::Unknown("column"))?;
            columns::decode_arguments(&self.bytes.part(*part)?)
        })?;
        Ok(ArgumentsNear { process: call.process, block, all })
    }

    pub(crate) fn datum(&self, process: u32, value: u32) -> Result<Datum, Damage> {
        let head = &self.process(process)?.head;
        let after = head.value_blocks.partition_point(|(first, _)| *first <= value);
        let at = after.checked_sub(1).ok_or(Damage::Unknown("value"))?;
        let (first, part) = *head.value_blocks.get(at).ok_or(Damage::Unknown("value"))?;
        let pair = self.cache.values((process, at as u32, u8::MAX - 1), || {
            let bytes = self.bytes.part(part)?;
            let mut from = Cursor::new(&bytes);
            let mut places = Vec::new();
            while !from.is_empty() {
                places.push(from.position() as u32);
                Datum::read(&mut from)?;
            }
            Ok((bytes, places))
        })?;
        let (bytes, places) = &*pair;
        let place = places.get((value - first) as usize).ok_or(Damage::Unknown("value"))?;
        let bytes = bytes.get(*place as usize..).ok_or(Damage::Short)?;
        let datum = Datum::read(&mut Cursor::new(bytes))?;
        // What is damaged must not lead in circles: parts stand before.
        let is_sound = datum.inner().all(|it| it < value);
        if is_sound { Ok(datum) } else { Err(Damage::Unknown("value")) }
    }

    /// The hash of a value's normal form, by which two runs are compared.
    pub(crate) fn value_hash(&self, process: u32, value: u32) -> Result<u64, Damage> {
        self.hash_within(process, value, limits::VALUE_DEPTH_MAX)
    }

    fn hash_within(&self, process: u32, value: u32, depth: usize) -> Result<u64, Damage> {
        let Some(deeper) = depth.checked_sub(1) else { return Ok(0) };
        let datum = self.datum(process, value)?;
        let strings = &self.process(process)?.head.strings;
        let string = |it: u32| {
            let text = strings.get(it as usize).map_or("", |it| it);
            (crate::hash::of_bytes(text.as_bytes()), normal::is_set(text))
        };
        let value = |it: u32| self.hash_within(process, it, deeper).unwrap_or(0);
        Ok(normal::hash(&datum, string, value))
    }

    /// Everything that was kept of a frame, in its order.
    pub(crate) fn steps(&self, call: CallId) -> Result<Vec<StepAt>, Damage> {
        if self.get(call, Field::Kept)? == 0 {
            return Ok(Vec::new());
        }
        let function = self.small(call, Field::Function)?;
        let mut all = Vec::new();
        self.segments(
            call.process,
            function,
            |segment| {
                if segment.call == call.number {
                    all.push(segment_steps(segment)?);
                }
                Ok(all.iter().map(Vec::len).sum::<usize>() < limits::FRAME_STEPS_MAX)
            },
            |piece| piece.low <= call.number && call.number <= piece.high,
        )?;
        all.sort_by_key(|steps| steps.first().map_or(0, |it| it.event));
        Ok(all.into_iter().flatten().collect())
    }

    /// Visits the frames of a function that are in pieces which are wanted; the visitor says whether to go on.
    pub(crate) fn segments(
        &self,
        process: u32,
        function: u32,
        mut visit: impl FnMut(Segment<'_>) -> Result<bool, Damage>,
        wanted: impl Fn(&PieceAt) -> bool,
    ) -> Result<(), Damage> {
        let of = self.process(process)?;
        for at in of.pieces_of(function) {
            let Some(piece) = of.head.pieces.get(*at as usize) else { continue };
            if !wanted(piece) {
                continue;
            }
            let part = *of.head.packs.get(piece.pack as usize).ok_or(Damage::Unknown("pack"))?;
            let key = (process, piece.pack, u8::MAX - 2);
            let bytes = self.cache.bytes(key, || self.bytes.part(part))?;
            let end = (piece.at as usize).checked_add(piece.length as usize);
            let range = piece.at as usize..end.ok_or(Damage::Number)?;
            let mut from = Cursor::new(bytes.get(range).ok_or(Damage::Short)?);
            while !from.is_empty() {
                if !visit(Segment::read(&mut from)?)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The arguments of the calls of one block.
pub(crate) struct ArgumentsNear {
    process: u32,
    block: u32,
    all: Arc<(Vec<u32>, Vec<u32>)>,
}

impl ArgumentsNear {
    pub(crate) fn has(&self, call: CallId) -> bool {
        self.process == call.process && self.block == call.number / limits::BLOCK as u32
    }

    pub(crate) fn of(&self, call: CallId) -> Result<&[u32], Damage> {
        let (all, ends) = &*self.all;
        let at = (call.number as usize) % limits::BLOCK;
        let end = ends.get(at).copied().ok_or(Damage::Unknown("call"))? as usize;
        let begin = at.checked_sub(1).and_then(|it| ends.get(it)).copied().unwrap_or(0) as usize;
        all.get(begin..end).ok_or(Damage::Unknown("argument"))
    }
}

/// The calls of one parent.
pub(crate) struct Children<'a> {
    recording: &'a Recording,
    next: Option<Result<CallId, Damage>>,
}

impl Iterator for Children<'_> {
    type Item = Result<CallId, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.next.take()?;
        if let Ok(call) = &found {
            self.next = self.recording.call_of(*call, Field::Next).transpose();
        }
        Some(found)
    }
}

pub(crate) fn segment_steps(mut segment: Segment<'_>) -> Result<Vec<StepAt>, Damage> {
    let mut steps = Vec::new();
    while let Some(step) = segment.step()? {
        steps.push(step);
        if steps.len() >= limits::FRAME_STEPS_MAX {
            break;
        }
    }
    Ok(steps)
}
