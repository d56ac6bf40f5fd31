//! The commands, each a method of [`MonoRequester`]: what it takes and what it answers, as the protocol says it.

mod assembly;
mod frame;
mod machine;
mod method;
mod object;
mod points;
mod types;

pub use self::{
    frame::{FrameSlot, MonoFrame},
    machine::{Invocation, Invoked, MonoVersion},
    method::{CatchClause, MethodLines, MethodLocals, MethodParameters, SequencePoint},
    points::{ExceptionFilter, Modifier, StepDepth},
    types::{MonoField, MonoProperty, TypeFacts},
};
use crate::{MonoError, MonoRequester, wire::WireReader, wire::WireWriter};

impl MonoRequester {
    /// Sends a command and reads all that it answers.
    async fn read<T>(
        &self,
        (set, command): (u8, u8),
        body: WireWriter,
        read: impl FnOnce(&mut WireReader<'_>) -> Result<T, MonoError>,
    ) -> Result<T, MonoError> {
        let answer = self.ask(set, command, body).await?;
        read(&mut WireReader::new(&answer))
    }

    async fn tell(&self, (set, command): (u8, u8), body: WireWriter) -> Result<(), MonoError> {
        self.ask(set, command, body).await.map(drop)
    }
}

fn of(id: i32) -> WireWriter {
    WireWriter::default().int(id)
}
