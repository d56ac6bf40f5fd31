//! What the runtime tells by itself.

use crate::{
    AssemblyRef, EventRequest, MethodRef, MonoError, ObjectRef, TypeRef, wire::WireReader,
};

/// What stands still because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuspendPolicy {
    Nothing,
    Thread,
    All,
}

impl SuspendPolicy {
    pub(crate) fn number(self) -> u8 {
        match self {
            SuspendPolicy::Nothing => 0,
            SuspendPolicy::Thread => 1,
            SuspendPolicy::All => 2,
        }
    }
}

/// What happened in one moment; one resume is for all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    pub suspends: SuspendPolicy,
    pub events: Vec<MonoEvent>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonoEvent {
    pub request: EventRequest,
    pub thread: ObjectRef,
    pub what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Started,
    Died {
        code: i32,
    },
    ThreadStarted,
    ThreadEnded,
    DomainCreated,
    DomainUnloaded,
    Entered(MethodRef),
    Left(MethodRef),
    AssemblyLoaded(AssemblyRef),
    AssemblyUnloaded(AssemblyRef),
    Breakpoint(MethodRef),
    Stepped(MethodRef),
    TypeLoaded(TypeRef),
    Thrown(ObjectRef),
    /// `Debugger.Break()`.
    UserBreak,
    /// Nothing that we asked for, or know.
    Other,
}

/// What events may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    ThreadStart = 2,
    ThreadDeath = 3,
    AssemblyLoad = 8,
    Breakpoint = 10,
    Step = 11,
    TypeLoad = 12,
    Exception = 13,
    UserBreak = 15,
}

pub(crate) const EVENT_SET: u8 = 64;
pub(crate) const COMPOSITE: u8 = 100;

impl Moment {
    pub(crate) fn read(body: &[u8]) -> Result<Moment, MonoError> {
        let mut from = WireReader::new(body);
        let suspends = match from.byte()? {
            0 => SuspendPolicy::Nothing,
            1 => SuspendPolicy::Thread,
            _ => SuspendPolicy::All,
        };
        Ok(Moment { suspends, events: from.all(one)? })
    }
}

fn one(from: &mut WireReader<'_>) -> Result<MonoEvent, MonoError> {
    let kind = from.byte()?;
    let request = EventRequest(from.int()?);
    let thread = ObjectRef(from.int()?);
    let what = match kind {
        0 => What::Started,
        1 => What::Died { code: from.int()? },
        2 => What::ThreadStarted,
        3 => What::ThreadEnded,
        4 => from.int().map(|_| What::DomainCreated)?,
        5 => from.int().map(|_| What::DomainUnloaded)?,
        6 => What::Entered(MethodRef(from.int()?)),
        7 => What::Left(MethodRef(from.int()?)),
        8 => What::AssemblyLoaded(AssemblyRef(from.int()?)),
        9 => What::AssemblyUnloaded(AssemblyRef(from.int()?)),
        10 => What::Breakpoint(place(from)?),
        11 => What::Stepped(place(from)?),
        12 => What::TypeLoaded(TypeRef(from.int()?)),
        13 => What::Thrown(ObjectRef(from.int()?)),
        14 => What::Other,
        15 => What::UserBreak,
        16 => {
            from.int()?;
            from.text()?;
            from.text()?;
            What::Other
        }
        17 => {
            from.long()?;
            from.text()?;
            What::Other
        }
        _ => return Err(MonoError::Malformed("an event of an unknown kind")),
    };
    Ok(MonoEvent { request, thread, what })
}

/// The offset beside the method is no place where the thread stands; its frames say that.
fn place(from: &mut WireReader<'_>) -> Result<MethodRef, MonoError> {
    let method = MethodRef(from.int()?);
    from.long()?;
    Ok(method)
}
