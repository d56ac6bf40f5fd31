//! What values say of themselves in words: texts, digits, names; read by the C API as they are, without the program's code.

use super::LOOKED_AT;
use crate::{
    ffi::{self, Held, Obj},
    objects::Class,
    raw,
};

/// The first characters of a text, in a copy: nothing is cached in the program's object.
pub(crate) unsafe fn beginning(it: Obj, length: isize) -> String {
    unsafe {
        let part = if length > LOOKED_AT {
            Held::new(ffi::PyUnicode_Substring(it, 0, LOOKED_AT))
        } else {
            ffi::Py_IncRef(it);
            Held::new(it)
        };
        part.map(|part| whole(part.get())).unwrap_or_default()
    }
}

/// All of a text, whatever is in it.
pub(crate) unsafe fn whole(it: Obj) -> String {
    unsafe {
        let encoded =
            ffi::PyUnicode_AsEncodedString(it, c"utf-8".as_ptr(), c"backslashreplace".as_ptr());
        let Some(encoded) = Held::new(encoded) else { return String::new() };
        let begin = ffi::PyBytes_AsString(encoded.get()).cast::<u8>();
        let length = ffi::PyBytes_Size(encoded.get()).cast_unsigned();
        String::from_utf8_lossy(std::slice::from_raw_parts(begin, length)).into_owned()
    }
}

/// The decimal digits of an exact number.
pub(crate) unsafe fn digits(it: Obj) -> Vec<u8> {
    unsafe {
        if ffi::kind(it) == &raw mut ffi::PyFloat_Type {
            return format!("{:?}", ffi::PyFloat_AsDouble(it)).into_bytes();
        }
        let mut overflow = 0;
        let number = ffi::PyLong_AsLongLongAndOverflow(it, &raw mut overflow);
        if overflow == 0 {
            return number.to_string().into_bytes();
        }
        // Decimal digits of a huge number take long, and Python refuses beyond 4300; hexadecimal ones do not.
        let decimal = Held::new(ffi::PyNumber_ToBase(it, 10));
        let Some(text) = decimal.or_else(|| Held::new(ffi::PyNumber_ToBase(it, 16))) else {
            return Vec::new();
        };
        beginning(text.get(), ffi::PyUnicode_GetLength(text.get())).into_bytes()
    }
}

/// The name of a function, a class or a module.
pub(super) unsafe fn name_of(it: Obj, kind: Obj, class: Class) -> String {
    unsafe {
        let attribute = |of: Obj, name: &std::ffi::CStr| {
            let name = Held::new(ffi::PyUnicode_InternFromString(name.as_ptr()))?;
            let found = Held::new(ffi::PyObject_GenericGetAttr(of, name.get()))?;
            let is_text = ffi::kind(found.get()) == &raw mut ffi::PyUnicode_Type;
            is_text.then(|| beginning(found.get(), ffi::PyUnicode_GetLength(found.get())))
        };
        let found = match class {
            Class::Type => Some(String::from_utf8_lossy(raw::type_name(it)).into_owned()),
            Class::Module => Held::new(ffi::PyModule_GetNameObject(it))
                .map(|name| beginning(name.get(), ffi::PyUnicode_GetLength(name.get()))),
            Class::Method => {
                let name = Held::new(ffi::PyUnicode_InternFromString(c"__func__".as_ptr()));
                let function =
                    name.and_then(|name| Held::new(ffi::PyObject_GenericGetAttr(it, name.get())));
                function
                    .filter(|it| ffi::kind(it.get()) == &raw mut ffi::PyFunction_Type)
                    .and_then(|it| attribute(it.get(), c"__qualname__"))
            }
            _ => attribute(it, c"__qualname__"),
        };
        found.unwrap_or_else(|| String::from_utf8_lossy(raw::type_name(kind)).into_owned())
    }
}
