//! What an exception says, from its arguments: their content one level deep, read as any value's is.

use crate::{
    ffi::{self, Held, Obj},
    raw,
    values::{beginning, digits},
};

/// Of a container so many items.
const ITEMS: isize = 5;

/// An argument of an exception.
///
/// # Safety
/// `it` lives.
pub(crate) unsafe fn told(it: Obj) -> String {
    unsafe { told_plain(it).or_else(|| told_parts(it)).unwrap_or_else(|| told_kind(it)) }
}

unsafe fn told_kind(it: Obj) -> String {
    unsafe { format!("<{}>", String::from_utf8_lossy(raw::type_name(ffi::kind(it)))) }
}

unsafe fn told_plain(it: Obj) -> Option<String> {
    unsafe {
        let kind = ffi::kind(it);
        Some(if kind == &raw mut ffi::PyUnicode_Type {
            beginning(it, ffi::PyUnicode_GetLength(it))
        } else if kind == &raw mut ffi::PyLong_Type {
            String::from_utf8_lossy(&digits(it)).into_owned()
        } else if kind == &raw mut ffi::PyFloat_Type {
            format!("{:?}", ffi::PyFloat_AsDouble(it))
        } else if it == &raw mut ffi::_Py_NoneStruct {
            String::from("None")
        } else if kind == &raw mut ffi::PyBool_Type {
            String::from(if it == &raw mut ffi::_Py_TrueStruct { "True" } else { "False" })
        } else {
            return None;
        })
    }
}

/// Inside of a container a text has quotes, and another container is told by its type.
unsafe fn told_inside(it: Obj) -> String {
    unsafe {
        if it.is_null() {
            return String::new();
        }
        match told_plain(it) {
            Some(text) if ffi::kind(it) == &raw mut ffi::PyUnicode_Type => format!("'{text}'"),
            Some(text) => text,
            None => told_kind(it),
        }
    }
}

/// A key of several parts, the list that an assertion was about: one level of it.
unsafe fn told_parts(it: Obj) -> Option<String> {
    unsafe {
        let kind = ffi::kind(it);
        let is = |of: *mut ffi::PyObject| kind == of;
        let (length, mut parts) = if is(&raw mut ffi::PyTuple_Type) {
            let length = ffi::PyTuple_Size(it);
            let part = |at| told_inside(ffi::PyTuple_GetItem(it, at));
            (length, (0..length.min(ITEMS)).map(part).collect::<Vec<_>>())
        } else if is(&raw mut ffi::PyList_Type) {
            let length = ffi::PyList_Size(it);
            let part = |at| told_inside(ffi::PyList_GetItem(it, at));
            (length, (0..length.min(ITEMS)).map(part).collect())
        } else if is(&raw mut ffi::PyDict_Type) {
            (ffi::PyDict_Size(it), pairs(it))
        } else if is(&raw mut ffi::PySet_Type) || is(&raw mut ffi::PyFrozenSet_Type) {
            (ffi::PySet_Size(it), members(it))
        } else {
            return None;
        };
        if length > ITEMS {
            parts.push(String::from("…"));
        }
        let inside = parts.join(", ");
        Some(if is(&raw mut ffi::PyTuple_Type) {
            format!("({inside}{})", if length == 1 { "," } else { "" })
        } else if is(&raw mut ffi::PyList_Type) {
            format!("[{inside}]")
        } else if is(&raw mut ffi::PyFrozenSet_Type) {
            if length == 0 {
                String::from("frozenset()")
            } else {
                format!("frozenset({{{inside}}})")
            }
        } else if is(&raw mut ffi::PySet_Type) && length == 0 {
            String::from("set()")
        } else {
            format!("{{{inside}}}")
        })
    }
}

unsafe fn pairs(dict: Obj) -> Vec<String> {
    let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
    let mut parts = Vec::new();
    unsafe {
        for _ in 0..ITEMS {
            if ffi::PyDict_Next(dict, &raw mut at, &raw mut key, &raw mut value) == 0 {
                break;
            }
            parts.push(format!("{}: {}", told_inside(key), told_inside(value)));
        }
    }
    parts
}

unsafe fn members(set: Obj) -> Vec<String> {
    type Iterate = unsafe extern "C" fn(Obj) -> Obj;
    let mut parts = Vec::new();
    unsafe {
        let slot = ffi::PyType_GetSlot(&raw mut ffi::PySet_Type, ffi::TP_ITER);
        let iterate = std::mem::transmute::<*mut std::ffi::c_void, Iterate>(slot);
        let Some(iterator) = Held::new(iterate(set)) else { return parts };
        for _ in 0..ITEMS {
            let Some(item) = Held::new(ffi::PyIter_Next(iterator.get())) else { break };
            parts.push(told_inside(item.get()));
        }
    }
    parts
}
