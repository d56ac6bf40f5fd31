//! What the virtual machine tells by itself.

use super::{ClassId, Location, ObjectId, SuspendPolicy};
use crate::{JdwpError, types::IdSizes, wire::Wire};

/// Events that came together, of one moment, and what stands because of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composite {
    pub suspended: Suspended,
    pub events: Vec<Event>,
}

pub type Suspended = SuspendPolicy;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    VmStart {
        thread: ObjectId,
    },
    SingleStep {
        request: u32,
        thread: ObjectId,
        location: Location,
    },
    Breakpoint {
        request: u32,
        thread: ObjectId,
        location: Location,
    },
    /// `caught` is where it will be caught; none where nothing does.
    Exception {
        request: u32,
        thread: ObjectId,
        location: Location,
        exception: ObjectId,
        caught: Option<Location>,
    },
    ThreadStart {
        request: u32,
        thread: ObjectId,
    },
    ThreadDeath {
        request: u32,
        thread: ObjectId,
    },
    ClassPrepare {
        request: u32,
        thread: ObjectId,
        tag: u8,
        class: ClassId,
        signature: String,
    },
    VmDeath {
        request: u32,
    },
}

impl Event {
    /// The thread in which it happened.
    pub fn thread(&self) -> Option<ObjectId> {
        match self {
            Event::VmStart { thread }
            | Event::SingleStep { thread, .. }
            | Event::Breakpoint { thread, .. }
            | Event::Exception { thread, .. }
            | Event::ThreadStart { thread, .. }
            | Event::ThreadDeath { thread, .. }
            | Event::ClassPrepare { thread, .. } => Some(*thread),
            Event::VmDeath { .. } => None,
        }
    }
}

impl Composite {
    pub(crate) fn read(data: &[u8], sizes: IdSizes) -> Result<Composite, JdwpError> {
        let mut wire = Wire::new(data, sizes);
        let suspended = match wire.u8()? {
            0 => SuspendPolicy::None,
            1 => SuspendPolicy::EventThread,
            _ => SuspendPolicy::All,
        };
        let count = wire.u32()?;
        let mut events = Vec::new();
        for _ in 0..count {
            events.push(event(&mut wire)?);
        }
        Ok(Composite { suspended, events })
    }
}

fn event(wire: &mut Wire<'_>) -> Result<Event, JdwpError> {
    let (kind, request) = (wire.u8()?, wire.u32()?);
    if kind == 99 {
        return Ok(Event::VmDeath { request });
    }
    let thread = match kind {
        4 | 1 | 2 | 6 | 7 | 8 | 90 => wire.object()?,
        // Its length is not known: nothing behind it can be read.
        _ => return Err(JdwpError::Malformed("an event that was not asked for")),
    };
    Ok(match kind {
        1 => Event::SingleStep { request, thread, location: wire.location()? },
        2 => Event::Breakpoint { request, thread, location: wire.location()? },
        4 => {
            let location = wire.location()?;
            let _tag = wire.u8()?;
            let exception = wire.object()?;
            let caught = Some(wire.location()?).filter(|it| it.class != ClassId(0));
            Event::Exception { request, thread, location, exception, caught }
        }
        6 => Event::ThreadStart { request, thread },
        7 => Event::ThreadDeath { request, thread },
        8 => {
            let (tag, class, signature) = (wire.u8()?, wire.class()?, wire.text()?);
            let _status = wire.u32()?;
            Event::ClassPrepare { request, thread, tag, class, signature }
        }
        _ => Event::VmStart { thread },
    })
}
