//! Which object is which, and of what type, without holding any.
//!
//! An object is known by its address. Where its type allows weak references one is kept, whose callback
//! forgets the object when it dies; so the next one at that address is another. Lists, dicts, sets and tuples
//! allow none: there a new number is given when the type differs, when a tuple has other items, and when a
//! frame ended that alone had held it. What else is built at the address of one that died unseen, as a list
//! in a loop's body, is taken for it.

use std::{cell::Cell, ffi::c_ulong};

use crate::{
    ffi::{self, Held, MethodDef, Obj},
    raw,
    table::{ByAddress, Number},
};

/// So many are pointed to weakly at a time; the others are known by address and type alone.
const WEAK_MOST: usize = 200_000;
/// So many containers are remembered at a time.
const CONTAINERS_MOST: usize = 100_000;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    None,
    Bool,
    Int,
    Float,
    Text,
    Bytes,
    List,
    Tuple,
    Set,
    Dict,
    Deque,
    ByteArray,
    Exception,
    Type,
    Function,
    Method,
    Module,
    /// An instance with fields of its own.
    Fields,
    /// Of a type that cannot be read.
    Opaque,
}

pub(crate) struct Type {
    pub(crate) class: Class,
    /// Not a subclass.
    pub(crate) is_exact: bool,
    pub(crate) has_dict: bool,
    has_weakrefs: bool,
    /// Names of its `__slots__`, each a reference that is kept.
    pub(crate) slots: Vec<Obj>,
    pub(crate) name: Box<[u8]>,
    /// Its number in this stream.
    pub(crate) string: Cell<Option<Number>>,
}

struct Known {
    kind: Obj,
    number: u64,
    print: u64,
    weak: Obj,
    /// An exception that was seen on its way.
    was_raised: bool,
}

#[derive(Default)]
pub(crate) struct Objects {
    known: ByAddress<Known>,
    types: ByAddress<Box<Type>>,
    weak: ByAddress<usize>,
    next: u64,
    callback: Option<Obj>,
}

static FORGET: MethodDef = MethodDef {
    name: c"forget".as_ptr(),
    call: Some(forget),
    flags: ffi::METH_FASTCALL,
    doc: std::ptr::null(),
};

/// The callback of every weak reference.
unsafe extern "C" fn forget(_: Obj, arguments: *const Obj, count: isize) -> Obj {
    if count > 0 {
        // SAFETY: Python hands over the weak reference that died; the lock is held, and no event is being
        // written, since a callback runs only where Python code may.
        unsafe {
            let weak = *arguments;
            if let Some(recorder) = crate::events::recorder() {
                recorder.objects.died(weak);
            }
        }
    }
    ffi::none()
}

impl Objects {
    /// # Safety
    /// The lock is held.
    pub(crate) unsafe fn new() -> Objects {
        let callback = unsafe {
            ffi::PyCFunction_NewEx(&raw const FORGET, std::ptr::null_mut(), std::ptr::null_mut())
        };
        Objects {
            callback: (!callback.is_null()).then_some(callback),
            next: 1,
            ..Objects::default()
        }
    }

    unsafe fn died(&mut self, weak: Obj) {
        let Some(address) = self.weak.remove(&(weak as usize)) else { return };
        match self.known.get(&address) {
            Some(known) if known.weak == weak => drop(self.known.remove(&address)),
            _ => drop(self.types.remove(&address)),
        }
        // SAFETY: it was ours since it was made.
        unsafe { ffi::Py_DecRef(weak) };
    }

    /// The number of an object, the same for as long as it lives.
    ///
    /// # Safety
    /// `it` lives, and `kind` is its type.
    pub(crate) unsafe fn number(&mut self, it: Obj, kind: Obj, about: &Type) -> u64 {
        let address = it as usize;
        let print = if about.class == Class::Tuple { unsafe { tuple_print(it) } } else { 0 };
        if let Some(known) = self.known.get(&address)
            && known.kind == kind
            && known.print == print
        {
            return known.number;
        }
        let number = self.next;
        self.next += 1;
        let weak =
            if about.has_weakrefs { unsafe { self.point(it) } } else { std::ptr::null_mut() };
        if weak.is_null() && self.known.len() > CONTAINERS_MOST + self.weak.len() {
            self.known.retain(|_, known| !known.weak.is_null());
        }
        if let Some(before) =
            self.known.insert(address, Known { kind, number, print, weak, was_raised: false })
            && !before.weak.is_null()
        {
            self.weak.remove(&(before.weak as usize));
            // SAFETY: it was ours since it was made.
            unsafe { ffi::Py_DecRef(before.weak) };
        }
        number
    }

    /// A container that only a frame held dies with it.
    pub(crate) fn dies(&mut self, it: Obj) {
        if self.known.get(&(it as usize)).is_some_and(|known| known.weak.is_null()) {
            self.known.remove(&(it as usize));
        }
    }

    /// Before an exception is numbered that begins its way here: one that was raised before at that address is gone.
    pub(crate) fn begins(&mut self, exception: Obj) {
        if self.known.get(&(exception as usize)).is_some_and(|it| it.was_raised) {
            self.dies(exception);
        }
    }

    /// After it was numbered.
    pub(crate) fn is_raised(&mut self, exception: Obj) {
        if let Some(known) = self.known.get_mut(&(exception as usize)) {
            known.was_raised = true;
        }
    }

    unsafe fn point(&mut self, it: Obj) -> Obj {
        let Some(callback) = self.callback.filter(|_| self.weak.len() < WEAK_MOST) else {
            return std::ptr::null_mut();
        };
        // SAFETY: the type allows it; a failure leaves no error behind.
        unsafe {
            let weak = ffi::PyWeakref_NewRef(it, callback);
            if weak.is_null() {
                ffi::PyErr_Clear();
            } else {
                self.weak.insert(weak as usize, it as usize);
            }
            weak
        }
    }

    /// What is known of a type.
    ///
    /// # Safety
    /// `kind` is a type that lives.
    pub(crate) unsafe fn kind(&mut self, kind: Obj) -> *const Type {
        if let Some(found) = self.types.get(&(kind as usize)) {
            return &raw const **found;
        }
        unsafe {
            let flags = ffi::PyType_GetFlags(kind);
            let about = Box::new(read_type(kind, flags));
            let place = &raw const *about;
            if flags & ffi::FLAG_HEAP != 0 {
                // Without a weak reference the next type at this address would be taken for this one.
                self.point(kind);
            }
            self.types.insert(kind as usize, about);
            place
        }
    }

    /// A new stream numbers its strings anew.
    pub(crate) fn renumber(&mut self) {
        for about in self.types.values() {
            about.string.set(None);
        }
    }
}

unsafe fn read_type(kind: Obj, flags: c_ulong) -> Type {
    unsafe {
        let (class, is_exact) = class_of(kind, flags);
        let name = raw::type_name(kind).to_vec().into_boxed_slice();
        let has_dict = raw::has_dict(kind, flags);
        let slots =
            if class == Class::Opaque || class == Class::Tuple { slots(kind) } else { Vec::new() };
        let has_fields = class == Class::Opaque && (has_dict || !slots.is_empty());
        Type {
            class: if has_fields { Class::Fields } else { class },
            is_exact,
            has_dict,
            has_weakrefs: raw::has_weakrefs(kind, flags),
            slots,
            name,
            string: Cell::new(None),
        }
    }
}

unsafe fn class_of(kind: Obj, flags: c_ulong) -> (Class, bool) {
    let exact: [(Obj, Class); 12] = [
        (unsafe { ffi::kind(&raw mut ffi::_Py_NoneStruct) }, Class::None),
        (&raw mut ffi::PyBool_Type, Class::Bool),
        (&raw mut ffi::PyLong_Type, Class::Int),
        (&raw mut ffi::PyFloat_Type, Class::Float),
        (&raw mut ffi::PyUnicode_Type, Class::Text),
        (&raw mut ffi::PyBytes_Type, Class::Bytes),
        (&raw mut ffi::PySet_Type, Class::Set),
        (&raw mut ffi::PyFrozenSet_Type, Class::Set),
        (&raw mut ffi::PyByteArray_Type, Class::ByteArray),
        (&raw mut ffi::PyFunction_Type, Class::Function),
        (&raw mut ffi::PyMethod_Type, Class::Method),
        (&raw mut ffi::PyModule_Type, Class::Module),
    ];
    if let Some((_, class)) = exact.iter().find(|(it, _)| *it == kind) {
        return (*class, true);
    }
    if kind == &raw mut ffi::PyCFunction_Type {
        return (Class::Function, true);
    }
    // It has no symbol; what a program makes has no module in its name, and can be changed.
    if flags & ffi::FLAG_IMMUTABLE != 0 && unsafe { raw::whole_name(kind) } == b"collections.deque"
    {
        return (Class::Deque, true);
    }
    let is_exact = flags & ffi::FLAG_HEAP == 0;
    let families = [
        (ffi::FLAG_LONG, Class::Int),
        (ffi::FLAG_LIST, Class::List),
        (ffi::FLAG_TUPLE, Class::Tuple),
        (ffi::FLAG_BYTES, Class::Bytes),
        (ffi::FLAG_UNICODE, Class::Text),
        (ffi::FLAG_DICT, Class::Dict),
        (ffi::FLAG_EXCEPTION, Class::Exception),
        (ffi::FLAG_TYPE, Class::Type),
    ];
    let family = families.iter().find(|(flag, _)| flags & flag != 0);
    (family.map_or(Class::Opaque, |(_, class)| *class), is_exact)
}

/// The members that `__slots__` made, of a class and its bases.
unsafe fn slots(kind: Obj) -> Vec<Obj> {
    let mut found = Vec::new();
    let mut class = kind;
    unsafe {
        while !class.is_null() && ffi::PyType_GetFlags(class) & ffi::FLAG_HEAP != 0 {
            let (mut at, mut name, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
            let dict = raw::type_dict(class);
            while !dict.is_null()
                && ffi::PyDict_Next(dict, &raw mut at, &raw mut name, &raw mut value) != 0
            {
                let is_member = ffi::kind(value) == &raw mut ffi::PyMemberDescr_Type;
                if is_member && ffi::kind(name) == &raw mut ffi::PyUnicode_Type && found.len() < 16
                {
                    ffi::Py_IncRef(name);
                    found.push(name);
                }
            }
            class = ffi::PyType_GetSlot(class, ffi::TP_BASE).cast();
        }
    }
    found
}

/// A tuple never changes: other items, another tuple.
unsafe fn tuple_print(it: Obj) -> u64 {
    unsafe {
        let length = ffi::PyTuple_Size(it);
        let mut print = length.cast_unsigned() as u64;
        for at in 0..length.min(4) {
            print = crate::table::mix(print ^ ffi::PyTuple_GetItem(it, at) as u64);
        }
        print | 1
    }
}

/// An object's own attribute, with a reference: from its dict or a slot, past every descriptor of the user's.
///
/// # Safety
/// `it` lives, `name` is an exact string.
pub(crate) unsafe fn own_attribute(it: Obj, name: Obj) -> Option<Held> {
    unsafe {
        let kind = ffi::kind(it);
        let of_class = ffi::_PyType_Lookup(kind, name);
        if !of_class.is_null() {
            let descriptor = ffi::kind(of_class);
            // A default value in the class is no descriptor; whatever else may run code is not asked.
            let is_member = descriptor == &raw mut ffi::PyMemberDescr_Type;
            if !is_member && !is_plain(descriptor) {
                return None;
            }
        }
        Held::new(ffi::PyObject_GenericGetAttr(it, name))
    }
}

const TP_DESCR_GET: i32 = 54;

/// Whether values of this type are no descriptors.
unsafe fn is_plain(kind: Obj) -> bool {
    unsafe { ffi::PyType_GetSlot(kind, TP_DESCR_GET).is_null() }
}
