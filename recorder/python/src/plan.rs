//! What a code object can write, and where: as `plan.py` read it from the bytecode, in a form for reading fast.

use std::cell::Cell;

use crate::{
    ffi::{self, Held, Obj},
    objects, raw,
    raw::{Frame, Layout},
    secrets::Weight,
    table::Number,
};

/// Where a value is found in a frame.
#[derive(Clone, Copy)]
enum Root {
    Fast(u32),
    Cell(u32),
    /// In the names of a class' or a module's body. The string is kept by the plan.
    Name(Obj),
    Global(Obj),
}

#[derive(Clone, Copy)]
enum Step {
    Attribute(Obj),
    Constant(Obj),
    At(Root),
}

/// Something that can be written: `total`, `self.qty`, `bins[k]`.
pub(crate) struct Slot {
    pub(crate) name: Vec<u8>,
    pub(crate) weight: Weight,
    root: Root,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Whoever comes to the segment's end has written it.
    Surely,
    /// So has whoever goes on with the code that follows.
    IfThrough,
    /// Perhaps: the value before says so.
    Perhaps,
}

#[derive(Clone, Copy)]
pub(crate) struct Write {
    pub(crate) slot: u32,
    pub(crate) how: How,
    /// The code unit behind the instructions that it is among.
    pub(crate) next: u32,
    /// Not the name is bound anew, but the container that it stands for may have other content.
    pub(crate) touches: bool,
}

/// What runs between two line events that follow each other.
pub(crate) struct Segment {
    pub(crate) line: u32,
    pub(crate) writes: Vec<Write>,
}

pub(crate) struct Code {
    pub(crate) object: Obj,
    pub(crate) name: Vec<u8>,
    pub(crate) qualified: Vec<u8>,
    pub(crate) file: Vec<u8>,
    pub(crate) hash: Vec<u8>,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) flags: u32,
    pub(crate) parameters: u32,
    pub(crate) slots: Vec<Slot>,
    /// By code unit, the segment that begins there, from 1.
    units: Vec<u16>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) is_focused: bool,
    /// Twice each code unit where the end of an iterator is no exception of the program's; one more where it is an `async for`.
    pub(crate) iterates: Vec<u32>,
    /// Its number in this stream.
    pub(crate) number: Option<Number>,
    pub(crate) calls: u64,
    pub(crate) events: Cell<u64>,
    pub(crate) level: u8,
    pub(crate) uncounted: u64,
}

pub(crate) const ASYNC: u32 = 2;
/// As `plan.py` counts: added to how a store is made.
const TOUCHED: u32 = 3;

impl Code {
    /// From the tuple that `plan.py` made, with references of its own to what it goes on to use.
    ///
    /// # Safety
    /// The lock is held; `plan` is a tuple.
    pub(crate) unsafe fn read(object: Obj, plan: Obj) -> Option<Code> {
        unsafe {
            ffi::Py_IncRef(object);
            // It holds every name in it, for as long as the process lives, as the code object does.
            ffi::Py_IncRef(plan);
            let part = |at| item(plan, at);
            let slots = each(part(8)?, |it| Slot::read(it))?;
            let segments = each(part(9)?, |it| Segment::read(it))?;
            let starts = each(part(9)?, |it| number(item(it, 0)?))?;
            let mut units = vec![0; number(part(10)?)? as usize + 1];
            for (index, start) in starts.iter().enumerate() {
                let place = units.get_mut(*start as usize)?;
                *place = u16::try_from(index + 1).ok()?;
            }
            Some(Code {
                object,
                name: text(part(0)?)?,
                qualified: text(part(1)?)?,
                file: text(part(2)?)?,
                hash: bytes(part(3)?),
                first: number(part(4)?)?,
                last: number(part(5)?)?,
                flags: number(part(6)?)?,
                parameters: number(part(7)?)?,
                slots,
                units,
                segments,
                is_focused: number(part(11)?)? != 0,
                iterates: each(part(12)?, |it| number(it))?,
                number: None,
                calls: 0,
                events: Cell::new(0),
                level: 2,
                uncounted: 0,
            })
        }
    }

    /// The segment that begins at a code unit.
    #[inline]
    pub(crate) fn segment(&self, unit: usize) -> Option<(u32, &Segment)> {
        let index = u32::from(*self.units.get(unit)?).checked_sub(1)?;
        Some((index, self.segments.get(index as usize)?))
    }
}

impl Slot {
    unsafe fn read(it: Obj) -> Option<Slot> {
        unsafe {
            let mut steps = Vec::new();
            let mut at = 4;
            while at < ffi::PyTuple_Size(it) {
                steps.push(step(number(item(it, at)?)?, item(it, at + 1)?)?);
                at += 2;
            }
            let weight = match number(item(it, 1)?)? {
                0 => Weight::Plain,
                1 => Weight::Perhaps,
                _ => Weight::Secret,
            };
            let root = root(number(item(it, 2)?)?, item(it, 3)?)?;
            Some(Slot { name: text(item(it, 0)?)?, weight, root, steps })
        }
    }

    /// Whether it is a plain name, whose value before costs nothing to look at.
    pub(crate) fn is_name(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether it is a local of the frame's own.
    pub(crate) fn is_fast(&self) -> bool {
        self.steps.is_empty() && matches!(self.root, Root::Fast(_))
    }

    /// What it is bound to, borrowed; null where it is not. Only for plain names.
    ///
    /// # Safety
    /// `frame` runs this slot's code.
    #[inline]
    pub(crate) unsafe fn name_value(&self, layout: &Layout, frame: Frame) -> Obj {
        unsafe { read_root(self.root, layout, frame) }
    }

    /// What it holds, with a reference; nothing where it cannot be read without running code of the user's.
    ///
    /// # Safety
    /// `frame` runs this slot's code.
    pub(crate) unsafe fn value(&self, layout: &Layout, frame: Frame) -> Option<Held> {
        unsafe {
            let root = read_root(self.root, layout, frame);
            if root.is_null() {
                return None;
            }
            ffi::Py_IncRef(root);
            let mut found = Held::new(root)?;
            for step in &self.steps {
                found = match step {
                    Step::Attribute(name) => objects::own_attribute(found.get(), *name)?,
                    Step::Constant(key) => subscript(found.get(), *key)?,
                    Step::At(key) => {
                        let key = read_root(*key, layout, frame);
                        if key.is_null() {
                            return None;
                        }
                        subscript(found.get(), key)?
                    }
                };
            }
            Some(found)
        }
    }
}

impl Segment {
    unsafe fn read(it: Obj) -> Option<Segment> {
        unsafe {
            let writes = each(item(it, 2)?, |it| {
                let code = number(item(it, 1)?)?;
                let how = match code % TOUCHED {
                    0 => How::Surely,
                    1 => How::IfThrough,
                    _ => How::Perhaps,
                };
                let (slot, next) = (number(item(it, 0)?)?, number(item(it, 2)?)?);
                Some(Write { slot, how, next, touches: code >= TOUCHED })
            })?;
            Some(Segment { line: number(item(it, 1)?)?, writes })
        }
    }
}

#[inline]
unsafe fn read_root(root: Root, layout: &Layout, frame: Frame) -> Obj {
    unsafe {
        match root {
            Root::Fast(index) => layout.local(frame, index),
            Root::Cell(index) => raw::in_cell(layout.local(frame, index)),
            Root::Name(name) => in_dict(raw::names(frame), name),
            Root::Global(name) => in_dict(raw::globals(frame), name),
        }
    }
}

/// The value of a name in an exact dict whose keys are all names.
unsafe fn in_dict(dict: Obj, name: Obj) -> Obj {
    unsafe {
        if dict.is_null()
            || ffi::kind(dict) != &raw mut ffi::PyDict_Type
            || !raw::has_text_keys(dict)
        {
            return std::ptr::null_mut();
        }
        ffi::PyDict_GetItemWithError(dict, name)
    }
}

/// Larger dicts whose keys are not all texts are not searched.
const SEARCHED: usize = 256;

/// An item of an exact list or dict, by an exact int or string; no `__eq__` of the user's can be met.
unsafe fn subscript(of: Obj, key: Obj) -> Option<Held> {
    unsafe {
        let (kind, key_kind) = (ffi::kind(of), ffi::kind(key));
        let is_text = key_kind == &raw mut ffi::PyUnicode_Type;
        let is_int = key_kind == &raw mut ffi::PyLong_Type;
        let found = if kind == &raw mut ffi::PyList_Type && is_int {
            let mut overflow = 0;
            let at = ffi::PyLong_AsLongLongAndOverflow(key, &raw mut overflow) as isize;
            let length = ffi::PyList_Size(of);
            let at = if at < 0 { at + length } else { at };
            if overflow != 0 || !(0..length).contains(&at) {
                return None;
            }
            ffi::PyList_GetItem(of, at)
        } else if kind == &raw mut ffi::PyDict_Type && is_text && raw::has_text_keys(of) {
            ffi::PyDict_GetItemWithError(of, key)
        } else if ffi::PyType_GetFlags(kind) & ffi::FLAG_DICT != 0 {
            search(of, key, is_int)
        } else {
            return None;
        };
        if found.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        ffi::Py_IncRef(found);
        Held::new(found)
    }
}

/// By going through it: the same object, or an equal exact int.
unsafe fn search(dict: Obj, wanted: Obj, is_int: bool) -> Obj {
    unsafe {
        let integer = |it: Obj| {
            let mut overflow = 0;
            let number = ffi::PyLong_AsLongLongAndOverflow(it, &raw mut overflow);
            (overflow == 0).then_some(number)
        };
        let number = if is_int { integer(wanted) } else { None };
        let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        for _ in 0..SEARCHED {
            if ffi::PyDict_Next(dict, &raw mut at, &raw mut key, &raw mut value) == 0 {
                break;
            }
            let is_equal = || {
                number.is_some()
                    && ffi::kind(key) == &raw mut ffi::PyLong_Type
                    && integer(key) == number
            };
            if key == wanted || is_equal() {
                return value;
            }
        }
        std::ptr::null_mut()
    }
}

unsafe fn root(kind: u32, operand: Obj) -> Option<Root> {
    unsafe {
        match kind {
            0 => Some(Root::Fast(number(operand)?)),
            1 => Some(Root::Cell(number(operand)?)),
            2 => Some(Root::Name(operand)),
            3 => Some(Root::Global(operand)),
            _ => None,
        }
    }
}

unsafe fn step(kind: u32, operand: Obj) -> Option<Step> {
    unsafe {
        match kind {
            4 => Some(Step::Attribute(operand)),
            5 => Some(Step::Constant(operand)),
            _ => Some(Step::At(root(kind.checked_sub(6)?, operand)?)),
        }
    }
}

unsafe fn item(tuple: Obj, at: isize) -> Option<Obj> {
    unsafe {
        let found = ffi::PyTuple_GetItem(tuple, at);
        if found.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(found)
    }
}

unsafe fn each<T>(tuple: Obj, read: impl Fn(Obj) -> Option<T>) -> Option<Vec<T>> {
    unsafe { (0..ffi::PyTuple_Size(tuple)).map(|at| read(item(tuple, at)?)).collect() }
}

unsafe fn number(it: Obj) -> Option<u32> {
    u32::try_from(unsafe { ffi::PyLong_AsLong(it) }).ok()
}

/// A text of ours.
pub(crate) unsafe fn text(it: Obj) -> Option<Vec<u8>> {
    unsafe {
        let length = ffi::PyUnicode_GetLength(it);
        if length < 0 {
            ffi::PyErr_Clear();
            return None;
        }
        Some(crate::values::whole(it).into_bytes())
    }
}

pub(crate) unsafe fn bytes(it: Obj) -> Vec<u8> {
    unsafe {
        let begin = ffi::PyBytes_AsString(it).cast::<u8>();
        if begin.is_null() {
            ffi::PyErr_Clear();
            return Vec::new();
        }
        std::slice::from_raw_parts(begin, ffi::PyBytes_Size(it).cast_unsigned()).to_vec()
    }
}
