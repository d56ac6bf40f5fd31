//! What events are asked for.

use super::of;
use crate::{
    AssemblyRef, EventRequest, MethodRef, MonoError, MonoRequester, ObjectRef, TypeRef,
    event::{EventKind, SuspendPolicy},
    wire::WireWriter,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepDepth {
    Into,
    Over,
    Out,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceptionFilter {
    /// And those that are derived from it; none for all.
    pub kind: Option<TypeRef>,
    pub caught: bool,
    pub uncaught: bool,
}

/// Which of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Modifier {
    Place {
        method: MethodRef,
        offset: i32,
    },
    /// To the next line; what nobody is to see is passed.
    Step {
        thread: ObjectRef,
        depth: StepDepth,
    },
    Exception(ExceptionFilter),
    Assemblies(Vec<AssemblyRef>),
    Files(Vec<String>),
}

/// Static constructors, and what says of itself that it is hidden or to be stepped through.
const STEP_FILTER: i32 = 1 | 2 | 4;
const STEP_LINE: i32 = 1;

impl Modifier {
    fn write(&self, to: WireWriter) -> WireWriter {
        match self {
            Modifier::Place { method, offset } => to.byte(7).int(method.0).long((*offset).into()),
            Modifier::Step { thread, depth } => {
                let depth = match depth {
                    StepDepth::Into => 0,
                    StepDepth::Over => 1,
                    StepDepth::Out => 2,
                };
                to.byte(10).int(thread.0).int(STEP_LINE).int(depth).int(STEP_FILTER)
            }
            Modifier::Exception(filter) => {
                let to = to.byte(8).int(filter.kind.map_or(0, |it| it.0));
                to.flag(filter.caught).flag(filter.uncaught).flag(true).flag(false).flag(false)
            }
            Modifier::Assemblies(all) => {
                let to = to.byte(11).count(all.len());
                all.iter().fold(to, |to, it| to.int(it.0))
            }
            Modifier::Files(all) => {
                let to = to.byte(12).count(all.len());
                all.iter().fold(to, |to, it| to.text(it))
            }
        }
    }
}

impl MonoRequester {
    pub async fn request(
        &self,
        kind: EventKind,
        suspends: SuspendPolicy,
        modifiers: &[Modifier],
    ) -> Result<EventRequest, MonoError> {
        let count = u8::try_from(modifiers.len()).unwrap_or(u8::MAX);
        let body = WireWriter::default().byte(kind as u8).byte(suspends.number()).byte(count);
        let body = modifiers.iter().fold(body, |body, it| it.write(body));
        self.read((15, 1), body, |it| it.int().map(EventRequest)).await
    }

    pub async fn forget(&self, kind: EventKind, request: EventRequest) -> Result<(), MonoError> {
        self.tell((15, 2), WireWriter::default().byte(kind as u8).int(request.0)).await
    }

    pub async fn forget_breakpoints(&self) -> Result<(), MonoError> {
        self.tell((15, 3), WireWriter::default()).await
    }

    /// For whoever asks whether an object is still there.
    pub async fn is_collected(&self, object: ObjectRef) -> Result<bool, MonoError> {
        self.read((9, 3), of(object.0), |it| Ok(it.int()? == 1)).await
    }
}
