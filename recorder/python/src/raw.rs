//! Where the interpreter keeps its frames.
//!
//! The C API hands out locals only through a frame object and its `f_locals`, which on 3.12 builds a dict at
//! every look: 350 ns a line. Here the running frame is read where it stands. That is no stable interface, so
//! only layouts known by version are tried, and none is used before `check` has found it true in this very
//! process; otherwise the recorder is the pure one.

use std::ffi::c_void;

use crate::ffi::{self, Held, Obj};

/// Offsets in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    /// In the thread's state: the running frame, or on 3.12 a struct whose first field it is.
    current: usize,
    is_indirect: bool,
    instruction: usize,
    locals_plus: usize,
    /// From a code object to its first instruction; found by `check`.
    code: usize,
}

const F_GLOBALS: usize = 24;
const F_LOCALS: usize = 40;
/// In a frame object, where it points to its frame.
const FRAME_OF_OBJECT: usize = 24;
const TP_NAME: usize = 24;
const TP_WEAKLIST: usize = 208;
const TP_DICT: usize = 264;
const TP_DICT_OFFSET: usize = 288;
const CELL_VALUE: usize = 16;
const DICT_KEYS: usize = 32;
const KEYS_KIND: usize = 10;
/// 3.14 marks references in their lowest bits.
const TAG: usize = 3;

/// A frame that runs or is suspended, by its address.
pub(crate) type Frame = *const u8;

/// # Safety
/// There is a `T` at that place.
unsafe fn at<T: Copy>(base: *const u8, offset: usize) -> T {
    unsafe { base.add(offset).cast::<T>().read() }
}

fn untagged(it: usize) -> Obj {
    (it & !TAG) as Obj
}

impl Layout {
    fn of(version: u32) -> Option<Layout> {
        let layout = |current, is_indirect, locals_plus| Layout {
            current,
            is_indirect,
            instruction: 56,
            locals_plus,
            code: 0,
        };
        match version >> 16 {
            0x030c => Some(layout(56, true, 72)),
            0x030d => Some(layout(72, false, 72)),
            0x030e => Some(layout(72, false, 80)),
            _ => None,
        }
    }

    /// The layout of this interpreter, compared with what its own frame object says.
    ///
    /// # Safety
    /// Called by Python code, with the lock held.
    pub(crate) unsafe fn check(expected: Obj) -> Option<Layout> {
        unsafe {
            let mut layout = Layout::of(ffi::Py_Version)?;
            let object = ffi::PyEval_GetFrame();
            if object.is_null() {
                return None;
            }
            let frame: Frame = at(object.cast(), FRAME_OF_OBJECT);
            if !layout.finds(frame) {
                return None;
            }
            let lasti = number(object, c"f_lasti")?;
            let code = Held::new(ffi::PyObject_GetAttrString(object, c"f_code".as_ptr()))?;
            let globals = Held::new(ffi::PyObject_GetAttrString(object, c"f_globals".as_ptr()))?;
            if untagged(at(frame, 0)) != code.get() || at::<Obj>(frame, F_GLOBALS) != globals.get()
            {
                return None;
            }
            let instruction: usize = at(frame, layout.instruction);
            let begin = instruction.checked_sub(usize::try_from(lasti).ok()?)?;
            layout.code = begin.checked_sub(code.get() as usize)?;
            // The first local of the caller is the object that was handed over.
            let is_code = (128..512).contains(&layout.code);
            (is_code && layout.local(frame, 0) == expected && reads_dicts()).then_some(layout)
        }
    }

    /// Whether the thread's state leads to this frame; 3.14 moved the field once, so it is looked for.
    unsafe fn finds(&mut self, frame: Frame) -> bool {
        unsafe {
            if self.running(ffi::PyThreadState_Get()) == frame {
                return true;
            }
            if self.is_indirect {
                return false;
            }
            for word in 3..16 {
                self.current = word * 8;
                if self.running(ffi::PyThreadState_Get()) == frame {
                    return true;
                }
            }
            false
        }
    }

    /// # Safety
    /// `thread` is the state of a thread that runs.
    pub(crate) unsafe fn running(&self, thread: *mut c_void) -> Frame {
        unsafe {
            let frame: Frame = at(thread.cast(), self.current);
            if self.is_indirect { at(frame, 0) } else { frame }
        }
    }

    /// Which code unit the frame is at.
    ///
    /// # Safety
    /// `frame` runs `code`.
    pub(crate) unsafe fn unit(&self, frame: Frame, code: Obj) -> usize {
        let instruction: usize = unsafe { at(frame, self.instruction) };
        instruction.wrapping_sub(code as usize + self.code) / 2
    }

    /// A fast local as it stands: null where unbound, perhaps a cell. Borrowed.
    ///
    /// # Safety
    /// `frame` lives and has so many.
    pub(crate) unsafe fn local(&self, frame: Frame, index: u32) -> Obj {
        untagged(unsafe { at(frame, self.locals_plus + index as usize * 8) })
    }
}

/// What the frame's names are in, of a class' or a module's body. Borrowed.
pub(crate) unsafe fn names(frame: Frame) -> Obj {
    unsafe { at(frame, F_LOCALS) }
}

pub(crate) unsafe fn globals(frame: Frame) -> Obj {
    unsafe { at(frame, F_GLOBALS) }
}

/// What a cell holds. Borrowed.
pub(crate) unsafe fn in_cell(cell: Obj) -> Obj {
    unsafe {
        if cell.is_null() || ffi::kind(cell) != &raw mut ffi::PyCell_Type {
            return std::ptr::null_mut();
        }
        at(cell.cast(), CELL_VALUE)
    }
}

/// The name of a type as it was made: a builtin one's has its module.
pub(crate) unsafe fn whole_name<'a>(kind: Obj) -> &'a [u8] {
    unsafe {
        let name: *const std::ffi::c_char = at(kind.cast(), TP_NAME);
        std::ffi::CStr::from_ptr(name).to_bytes()
    }
}

/// The name of a type, without its module.
pub(crate) unsafe fn type_name<'a>(kind: Obj) -> &'a [u8] {
    unsafe {
        let name: *const std::ffi::c_char = at(kind.cast(), TP_NAME);
        let name = std::ffi::CStr::from_ptr(name).to_bytes();
        name.rsplit(|it| *it == b'.').next().unwrap_or(name)
    }
}

pub(crate) unsafe fn type_dict(kind: Obj) -> Obj {
    unsafe { at(kind.cast(), TP_DICT) }
}

/// Whether instances have a dict of their own, or can be pointed to weakly.
pub(crate) unsafe fn has_dict(kind: Obj, flags: std::ffi::c_ulong) -> bool {
    unsafe { flags & ffi::FLAG_MANAGED_DICT != 0 || at::<isize>(kind.cast(), TP_DICT_OFFSET) != 0 }
}

pub(crate) unsafe fn has_weakrefs(kind: Obj, flags: std::ffi::c_ulong) -> bool {
    unsafe { flags & ffi::FLAG_MANAGED_WEAKREF != 0 || at::<isize>(kind.cast(), TP_WEAKLIST) > 0 }
}

/// Whether all keys of a dict are exact strings, so that looking one up compares nothing of the user's.
pub(crate) unsafe fn has_text_keys(dict: Obj) -> bool {
    unsafe {
        let keys: *const u8 = at(dict.cast(), DICT_KEYS);
        at::<u8>(keys, KEYS_KIND) != 0
    }
}

unsafe fn reads_dicts() -> bool {
    unsafe {
        let (Some(dict), Some(one), Some(text)) = (
            Held::new(ffi::PyDict_New()),
            Held::new(ffi::PyLong_FromLongLong(1)),
            Held::new(ffi::PyUnicode_InternFromString(c"text".as_ptr())),
        ) else {
            return false;
        };
        ffi::PyDict_SetItem(dict.get(), text.get(), one.get());
        let is_text = has_text_keys(dict.get());
        ffi::PyDict_SetItem(dict.get(), one.get(), one.get());
        is_text && !has_text_keys(dict.get())
    }
}

unsafe fn number(of: Obj, name: &std::ffi::CStr) -> Option<i64> {
    unsafe {
        let found = Held::new(ffi::PyObject_GetAttrString(of, name.as_ptr()))?;
        Some(ffi::PyLong_AsLong(found.get()))
    }
}
