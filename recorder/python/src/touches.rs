//! Containers that a line changed in place: `rows.append(x)`, `del table[k]`.
//!
//! The plan says which lines can; here it is looked at whether the receiver is an exact builtin container, and its content
//! after the line is told. Of anything else, a subclass too, nothing is: its methods are the program's own.

use crate::{
    ffi::{self, Held, Obj},
    objects::{Class, Type},
    plan::{How, Slot, Write},
    raw,
    recorder::Recorder,
    secrets::Weight,
    stream::put,
    table::{Number, mix},
};

/// So many items of a container are shown.
const ITEMS: isize = 5;

impl Recorder {
    /// What says after a line whether it changed the container: its place and length, which cost nothing, or its value where
    /// the line may leave it alone.
    ///
    /// # Safety
    /// `frame` runs this slot's code.
    pub(crate) unsafe fn touched_before(
        &mut self,
        slot: &Slot,
        write: Write,
        frame: raw::Frame,
    ) -> Obj {
        unsafe {
            let value = slot.value(&self.layout, frame);
            let print =
                value.map_or(0, |it| self.container_print(it.get(), slot.weight, write.how));
            std::ptr::without_provenance_mut(print)
        }
    }

    /// The container's value now, if the line may have changed it.
    ///
    /// # Safety
    /// `frame` runs this slot's code.
    pub(crate) unsafe fn touched(
        &mut self,
        slot: &Slot,
        write: Write,
        frame: raw::Frame,
        is_sure: bool,
        before: Option<Obj>,
    ) -> Option<Number> {
        unsafe {
            let value = slot.value(&self.layout, frame)?;
            if !self.is_container(value.get()) {
                return None;
            }
            if !is_sure {
                let print = self.container_print(value.get(), slot.weight, write.how);
                if before.is_none_or(|it| it.addr() == print) {
                    return None;
                }
            }
            Some(self.value(value.get(), slot.weight))
        }
    }

    unsafe fn container_print(&mut self, it: Obj, weight: Weight, how: How) -> usize {
        unsafe {
            if !self.is_container(it) {
                return 0;
            }
            let print = match how {
                How::Surely => mix(it.addr() as u64 ^ mix(self.length(it).cast_unsigned() as u64)),
                How::IfThrough | How::Perhaps => u64::from(self.value(it, weight)) + 1,
            };
            print as usize
        }
    }

    unsafe fn is_container(&mut self, it: Obj) -> bool {
        unsafe {
            let kind = ffi::kind(it);
            kind == &raw mut ffi::PyList_Type
                || kind == &raw mut ffi::PyDict_Type
                || kind == &raw mut ffi::PySet_Type
                || kind == &raw mut ffi::PyByteArray_Type
                || (*self.objects.kind(kind)).class == Class::Deque
        }
    }

    /// The length of an exact builtin container.
    unsafe fn length(&self, it: Obj) -> isize {
        unsafe { ffi::PyObject_Size(it) }
    }

    /// A deque or a bytearray as a list of its items.
    ///
    /// # Safety
    /// `it` is an exact one.
    pub(crate) unsafe fn indexed(
        &mut self,
        it: Obj,
        kind: Obj,
        about: &Type,
        weight: Weight,
        depth: usize,
    ) -> Number {
        unsafe {
            let mut record = self.head(9, it, kind, about);
            let length = self.length(it);
            put(&mut record, length.cast_unsigned() as u64);
            let shown = length.min(ITEMS);
            put(&mut record, shown.cast_unsigned() as u64);
            for at in 0..shown {
                let item = Held::new(ffi::PySequence_GetItem(it, at));
                let item = item.as_ref().map_or(std::ptr::null_mut(), Held::get);
                let number = self.item(item, weight, depth);
                put(&mut record, u64::from(number));
            }
            self.done(record)
        }
    }
}
