//! Asking for events.

use crate::{
    JdwpError, Requester,
    types::{EventKind, Modifier, ObjectId, StepDepth, SuspendPolicy},
    wire::Fields,
};

/// By lines, not by instructions.
const LINES: u32 = 1;

impl Requester {
    /// The number by which its events name it.
    pub async fn set_event(
        &self,
        kind: EventKind,
        policy: SuspendPolicy,
        modifiers: &[Modifier],
    ) -> Result<u32, JdwpError> {
        let asked = self.fields().u8(kind.code()).u8(policy.code());
        let asked = asked.all(modifiers, modifier);
        self.send((15, 1), asked, |it| it.u32()).await
    }

    pub async fn clear_event(&self, kind: EventKind, request: u32) -> Result<(), JdwpError> {
        self.send((15, 2), self.fields().u8(kind.code()).u32(request), |_| Ok(())).await
    }
}

fn modifier(fields: Fields, it: &Modifier) -> Fields {
    match it {
        Modifier::Count(count) => fields.u8(1).u32(*count),
        Modifier::Thread(thread) => fields.u8(3).object(*thread),
        Modifier::ClassMatch(pattern) => fields.u8(5).text(pattern),
        Modifier::ClassExclude(pattern) => fields.u8(6).text(pattern),
        Modifier::Location(location) => fields.u8(7).location(*location),
        Modifier::Exception { class, caught, uncaught } => {
            let class = class.unwrap_or_default();
            fields.u8(8).class(class).u8((*caught).into()).u8((*uncaught).into())
        }
        Modifier::Step { thread, depth } => step(fields.u8(10), *thread, *depth),
        Modifier::SourceName(name) => fields.u8(12).text(name),
    }
}

fn step(fields: Fields, thread: ObjectId, depth: StepDepth) -> Fields {
    let depth = match depth {
        StepDepth::Into => 0,
        StepDepth::Over => 1,
        StepDepth::Out => 2,
    };
    fields.object(thread).u32(LINES).u32(depth)
}
