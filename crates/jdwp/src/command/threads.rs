//! Threads and their frames.

use crate::{
    JdwpError, Requester,
    types::{FrameId, FrameInfo, ObjectId, Value},
};

impl Requester {
    pub async fn thread_name(&self, thread: ObjectId) -> Result<String, JdwpError> {
        self.send((11, 1), self.fields().object(thread), |it| it.text()).await
    }

    pub async fn resume_thread(&self, thread: ObjectId) -> Result<(), JdwpError> {
        self.send((11, 3), self.fields().object(thread), |_| Ok(())).await
    }

    pub async fn thread_group(&self, thread: ObjectId) -> Result<ObjectId, JdwpError> {
        self.send((11, 5), self.fields().object(thread), |it| it.object()).await
    }

    pub async fn group_name(&self, group: ObjectId) -> Result<String, JdwpError> {
        self.send((12, 1), self.fields().object(group), |it| it.text()).await
    }

    /// The innermost first. Without a count all of them.
    pub async fn frames(
        &self,
        thread: ObjectId,
        start: usize,
        count: Option<usize>,
    ) -> Result<Vec<FrameInfo>, JdwpError> {
        let asked = self.fields().object(thread).count(start);
        let asked = match count {
            Some(count) => asked.count(count),
            None => asked.u32(u32::MAX),
        };
        self.send((11, 6), asked, |it| {
            it.list(|it| Ok(FrameInfo { id: it.frame()?, location: it.location()? }))
        })
        .await
    }

    pub async fn frame_count(&self, thread: ObjectId) -> Result<usize, JdwpError> {
        let count = self.send((11, 7), self.fields().object(thread), |it| it.u32()).await?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// It stands once more than before.
    pub async fn suspend_thread(&self, thread: ObjectId) -> Result<(), JdwpError> {
        self.send((11, 2), self.fields().object(thread), |_| Ok(())).await
    }

    /// The innermost method of a thread that stands returns this when the thread goes on, without another step.
    pub async fn force_return(&self, thread: ObjectId, value: Value) -> Result<(), JdwpError> {
        self.send((11, 14), self.fields().object(thread).tagged(value), |_| Ok(())).await
    }

    /// This frame and all inside of it are gone: its caller is about to call it again.
    pub async fn pop_frames(&self, thread: ObjectId, until: FrameId) -> Result<(), JdwpError> {
        self.send((16, 4), self.fields().object(thread).frame(until), |_| Ok(())).await
    }

    /// The values of slots, each with the tag of its kind.
    pub async fn slots(
        &self,
        thread: ObjectId,
        frame: FrameId,
        slots: &[(u32, u8)],
    ) -> Result<Vec<Value>, JdwpError> {
        let asked = self.fields().object(thread).frame(frame);
        let asked = asked.all(slots, |it, (slot, tag)| it.u32(*slot).u8(*tag));
        self.send((16, 1), asked, |it| it.list(|it| it.tagged())).await
    }

    pub async fn set_slot(
        &self,
        thread: ObjectId,
        frame: FrameId,
        slot: u32,
        value: Value,
    ) -> Result<(), JdwpError> {
        let asked = self.fields().object(thread).frame(frame).u32(1).u32(slot).tagged(value);
        self.send((16, 2), asked, |_| Ok(())).await
    }

    /// [`ObjectId::NULL`] in a static or native method.
    pub async fn this_object(
        &self,
        thread: ObjectId,
        frame: FrameId,
    ) -> Result<ObjectId, JdwpError> {
        self.send((16, 3), self.fields().object(thread).frame(frame), |it| {
            let _tag = it.u8()?;
            it.object()
        })
        .await
    }
}
