//! What of CPython's C API is called, declared by hand.
//!
//! The symbols are those of the interpreter that loads the library, so nothing is linked and one file serves
//! every version. All but `_PyType_Lookup` and `PyCode_Addr2Line` belong to the Stable ABI of 3.12; these two
//! are exported by every version that `raw::Layout` knows.

use std::ffi::{c_char, c_int, c_long, c_longlong, c_uint, c_ulong, c_void};

#[repr(C)]
pub struct PyObject {
    pub(crate) refcount: isize,
    pub(crate) kind: *mut PyObject,
}

pub(crate) type Obj = *mut PyObject;
pub(crate) type FastCall = unsafe extern "C" fn(Obj, *const Obj, isize) -> Obj;

#[repr(C)]
pub(crate) struct MethodDef {
    pub(crate) name: *const c_char,
    pub(crate) call: Option<FastCall>,
    pub(crate) flags: c_int,
    pub(crate) doc: *const c_char,
}

/// A table of methods is never written to by anyone.
unsafe impl Sync for MethodDef {}

#[repr(C)]
pub(crate) struct ModuleDef {
    pub(crate) base: [usize; 5],
    pub(crate) name: *const c_char,
    pub(crate) doc: *const c_char,
    pub(crate) size: isize,
    pub(crate) methods: *const MethodDef,
    pub(crate) slots: *const c_void,
    pub(crate) traverse: *const c_void,
    pub(crate) clear: *const c_void,
    pub(crate) free: *const c_void,
}

/// Python writes to it once, under its lock.
unsafe impl Sync for ModuleDef {}

pub(crate) const METH_FASTCALL: c_int = 0x80;
pub(crate) const API_VERSION: c_int = 1013;

pub(crate) const TP_BASE: c_int = 48;
pub(crate) const TP_ITER: c_int = 62;

pub(crate) const FLAG_IMMUTABLE: c_ulong = 1 << 8;
pub(crate) const FLAG_HEAP: c_ulong = 1 << 9;
pub(crate) const FLAG_MANAGED_WEAKREF: c_ulong = 1 << 3;
pub(crate) const FLAG_MANAGED_DICT: c_ulong = 1 << 4;
pub(crate) const FLAG_LONG: c_ulong = 1 << 24;
pub(crate) const FLAG_LIST: c_ulong = 1 << 25;
pub(crate) const FLAG_TUPLE: c_ulong = 1 << 26;
pub(crate) const FLAG_BYTES: c_ulong = 1 << 27;
pub(crate) const FLAG_UNICODE: c_ulong = 1 << 28;
pub(crate) const FLAG_DICT: c_ulong = 1 << 29;
pub(crate) const FLAG_EXCEPTION: c_ulong = 1 << 30;
pub(crate) const FLAG_TYPE: c_ulong = 1 << 31;

unsafe extern "C" {
    pub(crate) static mut PyLong_Type: PyObject;
    pub(crate) static mut PyFloat_Type: PyObject;
    pub(crate) static mut PyUnicode_Type: PyObject;
    pub(crate) static mut PyBytes_Type: PyObject;
    pub(crate) static mut PyBool_Type: PyObject;
    pub(crate) static mut PySet_Type: PyObject;
    pub(crate) static mut PyFrozenSet_Type: PyObject;
    pub(crate) static mut PyFunction_Type: PyObject;
    pub(crate) static mut PyMethod_Type: PyObject;
    pub(crate) static mut PyCFunction_Type: PyObject;
    pub(crate) static mut PyModule_Type: PyObject;
    pub(crate) static mut PyMemberDescr_Type: PyObject;
    pub(crate) static mut PyDict_Type: PyObject;
    pub(crate) static mut PyList_Type: PyObject;
    pub(crate) static mut PyTuple_Type: PyObject;
    pub(crate) static mut PyByteArray_Type: PyObject;
    pub(crate) static mut PyCell_Type: PyObject;
    pub(crate) static PyExc_StopAsyncIteration: Obj;
    pub(crate) static PyExc_StopIteration: Obj;
    pub(crate) static mut _Py_NoneStruct: PyObject;
    pub(crate) static mut _Py_TrueStruct: PyObject;

    pub(crate) fn Py_IncRef(it: Obj);
    pub(crate) fn Py_DecRef(it: Obj);
    pub(crate) fn PyThreadState_Get() -> *mut c_void;
    pub(crate) fn PyThreadState_GetID(thread: *mut c_void) -> u64;
    pub(crate) fn PyEval_GetFrame() -> Obj;
    pub(crate) fn PyErr_Clear();
    pub(crate) fn PyErr_Occurred() -> Obj;
    pub(crate) fn PyObject_GetAttrString(it: Obj, name: *const c_char) -> Obj;
    pub(crate) fn PyObject_GenericGetAttr(it: Obj, name: Obj) -> Obj;
    pub(crate) fn PyObject_GenericGetDict(it: Obj, context: *mut c_void) -> Obj;
    pub(crate) fn PyObject_CallNoArgs(call: Obj) -> Obj;
    pub(crate) fn PyObject_CallOneArg(call: Obj, argument: Obj) -> Obj;
    pub(crate) fn PyObject_Hash(it: Obj) -> isize;
    pub(crate) fn PyIter_Next(it: Obj) -> Obj;
    pub(crate) fn PyLong_AsLongLongAndOverflow(it: Obj, overflow: *mut c_int) -> c_longlong;
    pub(crate) fn PyLong_AsLong(it: Obj) -> c_long;
    pub(crate) fn PyLong_FromLongLong(it: c_longlong) -> Obj;
    pub(crate) fn PyNumber_ToBase(it: Obj, base: c_int) -> Obj;
    pub(crate) fn PyFloat_AsDouble(it: Obj) -> f64;
    pub(crate) fn PyUnicode_GetLength(it: Obj) -> isize;
    pub(crate) fn PyUnicode_AsEncodedString(
        it: Obj,
        to: *const c_char,
        errors: *const c_char,
    ) -> Obj;
    pub(crate) fn PyUnicode_Substring(it: Obj, from: isize, to: isize) -> Obj;
    pub(crate) fn PyUnicode_InternFromString(text: *const c_char) -> Obj;
    pub(crate) fn PyBytes_AsString(it: Obj) -> *const c_char;
    pub(crate) fn PyBytes_Size(it: Obj) -> isize;
    pub(crate) fn PyList_Size(it: Obj) -> isize;
    pub(crate) fn PyList_GetItem(it: Obj, at: isize) -> Obj;
    pub(crate) fn PyTuple_Size(it: Obj) -> isize;
    pub(crate) fn PyTuple_GetItem(it: Obj, at: isize) -> Obj;
    pub(crate) fn PyDict_Size(it: Obj) -> isize;
    pub(crate) fn PyDict_Next(it: Obj, at: *mut isize, key: *mut Obj, value: *mut Obj) -> c_int;
    pub(crate) fn PyDict_GetItemWithError(it: Obj, key: Obj) -> Obj;
    pub(crate) fn PyDict_New() -> Obj;
    pub(crate) fn PyDict_SetItem(it: Obj, key: Obj, value: Obj) -> c_int;
    pub(crate) fn PySet_Size(it: Obj) -> isize;
    pub(crate) fn PyObject_Size(it: Obj) -> isize;
    pub(crate) fn PySequence_GetItem(it: Obj, at: isize) -> Obj;
    pub(crate) fn PyType_GetFlags(kind: Obj) -> c_ulong;
    pub(crate) fn PyType_GetSlot(kind: Obj, slot: c_int) -> *mut c_void;
    pub(crate) fn _PyType_Lookup(kind: Obj, name: Obj) -> Obj;
    pub(crate) fn PyException_GetArgs(it: Obj) -> Obj;
    pub(crate) fn PyException_GetTraceback(it: Obj) -> Obj;
    pub(crate) fn PyModule_Create2(module: *mut ModuleDef, version: c_int) -> Obj;
    pub(crate) fn PyModule_GetNameObject(it: Obj) -> Obj;
    pub(crate) fn PyCFunction_NewEx(method: *const MethodDef, this: Obj, module: Obj) -> Obj;
    pub(crate) fn PyWeakref_NewRef(it: Obj, callback: Obj) -> Obj;
    pub(crate) fn PyCode_Addr2Line(code: Obj, at: c_int) -> c_int;
    pub(crate) static Py_Version: c_uint;
}

/// `None`, with a reference of its own.
pub(crate) fn none() -> Obj {
    // SAFETY: the interpreter that loaded us has it.
    unsafe {
        let it = &raw mut _Py_NoneStruct;
        Py_IncRef(it);
        it
    }
}

/// A reference that is given back when it goes.
pub(crate) struct Held(Obj);

impl Held {
    /// Takes over a new reference; nothing, and no error left behind, where the call failed.
    ///
    /// # Safety
    /// `it` is null or a reference that the caller owns; the lock of the interpreter is held.
    pub(crate) unsafe fn new(it: Obj) -> Option<Held> {
        if it.is_null() {
            unsafe { PyErr_Clear() };
            return None;
        }
        Some(Held(it))
    }

    pub(crate) fn get(&self) -> Obj {
        self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: it was ours since `new`.
        unsafe { Py_DecRef(self.0) }
    }
}

/// The type of an object, as the interpreter knows it: `__class__` is not asked.
///
/// # Safety
/// `it` is an object that lives.
pub(crate) unsafe fn kind(it: Obj) -> Obj {
    unsafe { (*it).kind }
}
