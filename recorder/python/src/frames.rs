//! Frames that run, the lines they are at, and what each line wrote.

use crate::{
    ffi::Obj,
    plan::{Code, How, Write},
    raw,
    recorder::{Recorder, op},
    stream::zigzag,
};

/// Of a line so many names are compared with what they were before it.
const BEFORE: usize = 8;
const NO_SEGMENT: u32 = u32::MAX;
/// Past its limit a frame keeps so many lines, then skips some, then keeps so many again.
const BURST: u32 = 100;

pub(crate) struct Thread {
    pub(crate) id: u64,
    pub(crate) number: u32,
    pub(crate) stack: Vec<Frame>,
    /// The exception that the last frame ended by: in the next one it does not begin.
    pub(crate) flying: usize,
    pub(crate) task: u64,
}

#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) frame: raw::Frame,
    pub(crate) code: *mut Code,
    /// Its number among the calls; none after a fork.
    pub(crate) call: Option<u64>,
    pub(crate) level: u8,
    /// An exception came up in the line that it is at.
    pub(crate) is_broken: bool,
    /// The last line that was written; none at the beginning, and after a gap.
    line: Option<u32>,
    at_line: u32,
    segment: u32,
    before: [Obj; BEFORE],
    lines: u32,
    room: u32,
    skips: u32,
    skipped: u32,
}

impl Frame {
    pub(crate) fn new(
        frame: raw::Frame,
        code: *mut Code,
        level: u8,
        room: u32,
        first: u32,
    ) -> Frame {
        Frame {
            frame,
            code,
            call: None,
            level,
            is_broken: false,
            line: Some(first),
            at_line: first,
            segment: NO_SEGMENT,
            before: [std::ptr::null_mut(); BEFORE],
            lines: 0,
            room,
            skips: 10 * BURST,
            skipped: 0,
        }
    }

    /// In a new stream its first line is told anew.
    pub(crate) fn restart(&mut self) {
        // SAFETY: codes live as long as the process.
        self.line = Some(unsafe { (*self.code).first });
        self.skipped = 0;
    }
}

impl Recorder {
    /// A frame comes to a line: first what the one before it wrote.
    ///
    /// # Safety
    /// `top` runs, at this code unit.
    #[inline]
    pub(crate) unsafe fn line(&mut self, thread: u32, top: &mut Frame, unit: usize, told: u32) {
        unsafe {
            if top.segment != NO_SEGMENT {
                self.finish(thread, top, Some(unit));
            }
            let code = &*top.code;
            let found = code.segment(unit);
            top.is_broken = false;
            let (segment, line) = found.map_or((NO_SEGMENT, told), |(at, it)| (at, it.line));
            top.at_line = line;
            top.segment = segment;
            top.lines += 1;
            if top.room == 0 {
                self.skip(top);
                return;
            }
            top.room -= 1;
            self.events += 1;
            code.events.update(|it| it + 1);
            self.select(thread);
            self.line_record(top);
            if let Some((_, segment)) = found {
                for (write, before) in segment.writes.iter().zip(&mut top.before) {
                    let slot = &code.slots[write.slot as usize];
                    *before = if write.touches {
                        self.touched_before(slot, *write, top.frame)
                    } else if slot.is_name() {
                        slot.name_value(&self.layout, top.frame)
                    } else if write.how == How::Surely {
                        std::ptr::null_mut()
                    } else {
                        slot.value(&self.layout, top.frame)
                            .map_or(std::ptr::null_mut(), |it| it.get())
                    };
                }
            }
        }
    }

    #[inline]
    fn line_record(&mut self, top: &mut Frame) {
        let line = top.at_line;
        match top.line {
            Some(last) => {
                let delta = i64::from(line) - i64::from(last);
                if (-64..64).contains(&delta) {
                    self.stream.byte((i64::from(op::LINE_0) + delta) as u8);
                } else {
                    self.stream.byte(op::LINE);
                    self.stream.number(zigzag(delta));
                }
            }
            None => {
                self.stream.byte(op::LINE_AT);
                self.stream.number(u64::from(line));
            }
        }
        top.line = Some(line);
    }

    /// A frame past its limit: the line is counted, and now and then some are kept again.
    #[cold]
    fn skip(&mut self, top: &mut Frame) {
        top.skipped += 1;
        if top.skipped >= top.skips {
            top.skips = top.skips.saturating_mul(2);
            // What this line writes belongs to the gap.
            self.gap(top);
            top.room = BURST;
            top.segment = NO_SEGMENT;
        }
    }

    fn gap(&mut self, top: &mut Frame) {
        self.stream.byte(op::GAP);
        self.stream.number(u64::from(top.skipped));
        top.skipped = 0;
        top.line = None;
    }

    /// Before a record that belongs to a line which was not written, the line.
    ///
    /// # Safety
    /// `top` runs.
    pub(crate) unsafe fn catch_up(&mut self, thread: u32, top: &mut Frame) {
        if top.skipped > 0 {
            top.skipped -= 1;
            self.select(thread);
            self.gap(top);
            self.line_record(top);
        }
    }

    /// A frame ends: the containers that it alone holds die with it.
    ///
    /// # Safety
    /// The locals of `frame` are there still.
    pub(crate) unsafe fn forget_containers(&mut self, frame: &Frame) {
        let code = unsafe { &*frame.code };
        for slot in &code.slots {
            // SAFETY: what is borrowed from the frame is looked at at once.
            unsafe {
                let value = if slot.is_fast() {
                    slot.name_value(&self.layout, frame.frame)
                } else {
                    std::ptr::null_mut()
                };
                if !value.is_null() && (*value).refcount as u32 == 1 {
                    self.objects.dies(value);
                }
            }
        }
    }

    /// A frame's line has ended: what it wrote. `next` is where the frame goes on.
    ///
    /// # Safety
    /// `top` runs or is about to end, and its locals are there.
    pub(crate) unsafe fn finish(&mut self, thread: u32, top: &mut Frame, next: Option<usize>) {
        if top.skipped > 0 {
            top.segment = NO_SEGMENT;
            return;
        }
        let code = unsafe { &*top.code };
        let Some(segment) = code.segments.get(top.segment as usize) else { return };
        top.segment = NO_SEGMENT;
        if segment.writes.is_empty() {
            return;
        }
        self.select(thread);
        if top.is_broken {
            self.stream.byte(op::PARTIAL);
        }
        let mut told = 0_u64;
        for (at, write) in segment.writes.iter().enumerate() {
            let Some(slot) = code.slots.get(write.slot as usize) else { continue };
            let is_sure = !top.is_broken
                && (write.how == How::Surely
                    || (write.how == How::IfThrough && next == Some(write.next as usize)));
            let before = top.before.get(at).copied();
            // SAFETY: the frame's locals are there, and what is borrowed from them is used at once.
            let number = unsafe {
                if write.touches {
                    let is_told = |(at, it): (usize, &Write)| {
                        it.slot == write.slot && at < 64 && (told >> at) & 1 != 0
                    };
                    if segment.writes.iter().take(at).enumerate().any(is_told) {
                        continue;
                    }
                    match self.touched(slot, *write, top.frame, is_sure, before) {
                        Some(number) => number,
                        None => continue,
                    }
                } else if slot.is_name() {
                    let value = slot.name_value(&self.layout, top.frame);
                    if !is_sure && before.is_none_or(|it| it == value) {
                        continue;
                    }
                    self.value(value, slot.weight)
                } else {
                    let value = slot.value(&self.layout, top.frame);
                    let now = value.as_ref().map_or(std::ptr::null_mut(), |it| it.get());
                    if !is_sure && (top.is_broken || before.is_none_or(|it| it == now)) {
                        continue;
                    }
                    match value {
                        Some(value) => self.value(value.get(), slot.weight),
                        None => self.unread(),
                    }
                }
            };
            told |= 1_u64.checked_shl(at as u32).unwrap_or(0);
            match u8::try_from(write.slot) {
                Ok(slot @ 0..64) => self.stream.byte(op::WRITE_0 + slot),
                _ => {
                    self.stream.byte(op::WRITE);
                    self.stream.number(u64::from(write.slot));
                }
            }
            self.stream.number(u64::from(number));
            self.events += 1;
            code.events.update(|it| it + 1);
        }
    }
}
