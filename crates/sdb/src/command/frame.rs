//! The frames of a thread that stands still, and their variables.

use super::of;
use crate::{MethodRef, MonoError, MonoRequester, ObjectRef, value::WireValue, wire::WireWriter};

/// One call that a thread is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonoFrame {
    /// Good until the thread runs, or something is called in it.
    pub id: i32,
    pub method: MethodRef,
    pub offset: i32,
}

/// Where a frame has a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameSlot {
    Parameter(usize),
    Local(usize),
}

impl FrameSlot {
    fn number(self) -> i32 {
        match self {
            FrameSlot::Parameter(at) => i32::try_from(at).map_or(i32::MIN, |it| -it - 1),
            FrameSlot::Local(at) => i32::try_from(at).unwrap_or(i32::MAX),
        }
    }
}

impl MonoRequester {
    /// From the innermost on. Answered when the program stands still, and not before.
    pub async fn frames(&self, thread: ObjectRef) -> Result<Vec<MonoFrame>, MonoError> {
        self.read((11, 1), of(thread.0).int(0).int(-1), |it| {
            it.all(|it| {
                let frame =
                    MonoFrame { id: it.int()?, method: MethodRef(it.int()?), offset: it.int()? };
                it.byte()?;
                Ok(frame)
            })
        })
        .await
    }

    pub async fn frame_values(
        &self,
        thread: ObjectRef,
        frame: i32,
        slots: &[FrameSlot],
    ) -> Result<Vec<WireValue>, MonoError> {
        let body = within(thread, frame).count(slots.len());
        let body = slots.iter().fold(body, |body, it| body.int(it.number()));
        self.read((16, 1), body, |it| it.some(slots.len(), WireValue::read)).await
    }

    pub async fn frame_this(&self, thread: ObjectRef, frame: i32) -> Result<WireValue, MonoError> {
        self.read((16, 2), within(thread, frame), WireValue::read).await
    }

    pub async fn set_frame_value(
        &self,
        thread: ObjectRef,
        frame: i32,
        slot: FrameSlot,
        value: &WireValue,
    ) -> Result<(), MonoError> {
        self.tell((16, 3), value.write(within(thread, frame).int(1).int(slot.number()))).await
    }
}

fn within(thread: ObjectRef, frame: i32) -> WireWriter {
    of(thread.0).int(frame)
}
