//! Values as records: exact builtin types and own fields, read by the C API; never the program's code.

mod told;

use crate::{
    ffi::{self, Held, Obj},
    objects::{Class, Type},
    raw,
    recorder::Recorder,
    said::told,
    secrets::Weight,
    stream::{put, zigzag},
    table::{self, Number, mix},
};

use told::name_of;
pub(crate) use told::{beginning, digits, whole};

pub(crate) const VALUE: u8 = 0x05;
const STRING: u8 = 0x02;

/// Of a container so many items, of an object so many fields, of a text so many characters.
const ITEMS: isize = 5;
const FIELDS: usize = 8;
const CHARACTERS: usize = 200;
/// So many are looked at for secrets, some of which only their end gives away.
const LOOKED_AT: isize = 400;
/// Contents of contents.
const DEPTH: usize = 2;
/// Longer texts are not hashed: that would cost more than writing their beginning again.
const HASHED: isize = 4096;

const TEXT_KEY: u64 = 0x7465_7874;
const INT_KEY: u64 = 0x696e_7400;
const FLOAT_KEY: u64 = 0x666c_6f61;

impl Recorder {
    /// The number of a name in the stream.
    pub(crate) fn string(&mut self, text: &[u8]) -> Number {
        if let Some(number) = self.strings.get(text) {
            return *number;
        }
        let number = Number::try_from(self.strings.len()).unwrap_or(Number::MAX);
        self.strings.insert(text.into(), number);
        self.stream.byte(STRING);
        self.stream.text(text);
        number
    }

    /// The number of a value, written first if it does not stand in the stream.
    ///
    /// # Safety
    /// `it` lives, or is null: unbound.
    pub(crate) unsafe fn value(&mut self, it: Obj, weight: Weight) -> Number {
        if it.is_null() {
            return self.simple(1);
        }
        unsafe { self.value_at(it, weight, 0) }
    }

    fn simple(&mut self, kind: u8) -> Number {
        let key = mix(u64::from(kind) | 0x5100_0000);
        self.seen.find(key).unwrap_or_else(|| {
            self.stream.byte(VALUE);
            self.stream.byte(kind);
            self.numbered(key)
        })
    }

    /// The record was just written.
    fn numbered(&mut self, key: u64) -> Number {
        let number = self.values;
        self.values += 1;
        self.seen.put(key, number);
        number
    }

    unsafe fn value_at(&mut self, it: Obj, weight: Weight, depth: usize) -> Number {
        unsafe {
            let kind = ffi::kind(it);
            if weight == Weight::Plain {
                if kind == &raw mut ffi::PyLong_Type {
                    return self.integer(it);
                }
                if kind == &raw mut ffi::PyUnicode_Type {
                    return self.text(it, weight);
                }
            }
            let about = &*self.objects.kind(kind);
            match about.class {
                Class::None => self.simple(0),
                Class::Bool => self.simple(if it == &raw mut ffi::_Py_TrueStruct { 2 } else { 3 }),
                Class::Int if about.is_exact => match self.hidden_number(it, weight) {
                    Some(hidden) => hidden,
                    None => self.integer(it),
                },
                Class::Float => match self.hidden_number(it, weight) {
                    Some(hidden) => hidden,
                    None => self.float(it),
                },
                Class::Text if about.is_exact => self.text(it, weight),
                Class::Bytes if about.is_exact => self.bytes(it, weight),
                Class::Type | Class::Function | Class::Method | Class::Module => {
                    self.named(it, kind, about)
                }
                Class::Exception => self.exception(it, kind, about, weight),
                _ if depth >= DEPTH => self.outside(it, kind, about),
                Class::List | Class::Tuple | Class::Set => {
                    self.sequence(it, kind, about, weight, depth)
                }
                Class::Dict => self.mapping(it, kind, about, weight, depth),
                Class::Deque | Class::ByteArray => self.indexed(it, kind, about, weight, depth),
                Class::Fields | Class::Int | Class::Text | Class::Bytes => {
                    self.fields(it, kind, about, weight, depth)
                }
                Class::Opaque => self.outside(it, kind, about),
            }
        }
    }

    unsafe fn integer(&mut self, it: Obj) -> Number {
        let mut overflow = 0;
        let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(it, &raw mut overflow) };
        if overflow != 0 {
            return unsafe { self.long_integer(it) };
        }
        let key = mix(number.cast_unsigned()) ^ INT_KEY;
        self.seen.find(key).unwrap_or_else(|| {
            self.stream.byte(VALUE);
            self.stream.byte(4);
            self.stream.number(zigzag(number));
            self.numbered(key)
        })
    }

    /// Its digits, or the first of them, which are told as such.
    #[cold]
    unsafe fn long_integer(&mut self, it: Obj) -> Number {
        let digits = unsafe { digits(it) };
        let digits = match digits.get(..CHARACTERS) {
            Some(first) if digits.len() > CHARACTERS => [first, "…".as_bytes()].concat(),
            _ => digits,
        };
        let mut record = vec![5];
        put(&mut record, digits.len() as u64);
        record.extend_from_slice(&digits);
        self.record(&record)
    }

    unsafe fn float(&mut self, it: Obj) -> Number {
        let bits = unsafe { ffi::PyFloat_AsDouble(it) }.to_bits();
        let key = mix(bits) ^ FLOAT_KEY;
        self.seen.find(key).unwrap_or_else(|| {
            self.stream.byte(VALUE);
            self.stream.byte(6);
            self.stream.buffer.extend_from_slice(&bits.to_le_bytes());
            self.numbered(key)
        })
    }

    unsafe fn text(&mut self, it: Obj, weight: Weight) -> Number {
        unsafe {
            let length = ffi::PyUnicode_GetLength(it);
            if weight == Weight::Secret || (weight == Weight::Perhaps && length >= 16) {
                let text = beginning(it, length);
                if self.secrets.is_secret(weight, &text) {
                    return self.hidden(b"str", length, text.as_bytes());
                }
            }
            if length > HASHED {
                return self.fresh_text(it, length, None);
            }
            let hash = ffi::PyObject_Hash(it).cast_unsigned() as u64;
            let key = mix(hash ^ (length.cast_unsigned() as u64).rotate_left(40)) ^ TEXT_KEY;
            match self.seen.find(key) {
                Some(number) => number,
                None => self.fresh_text(it, length, Some(key)),
            }
        }
    }

    /// Its hash may be the program's own, so it is not asked for.
    #[cold]
    unsafe fn text_of_subclass(&mut self, it: Obj, weight: Weight) -> Number {
        unsafe {
            let length = ffi::PyUnicode_GetLength(it);
            let text = beginning(it, length);
            if self.secrets.is_secret(weight, &text) {
                return self.hidden(b"str", length, text.as_bytes());
            }
            self.fresh_text(it, length, None)
        }
    }

    #[cold]
    unsafe fn fresh_text(&mut self, it: Obj, length: isize, key: Option<u64>) -> Number {
        let text = unsafe { beginning(it, length) };
        let number = if self.secrets.is_secret(Weight::Plain, &text) {
            self.hidden(b"str", length, text.as_bytes())
        } else {
            let shown = self.secrets.without(&text).unwrap_or(text);
            let mut record = vec![7];
            put(&mut record, length.cast_unsigned() as u64);
            let end = shown.char_indices().nth(CHARACTERS).map_or(shown.len(), |(at, _)| at);
            put(&mut record, end as u64);
            record.extend_from_slice(shown.as_bytes().get(..end).unwrap_or_default());
            self.record(&record)
        };
        if let Some(key) = key {
            self.seen.put(key, number);
        }
        number
    }

    unsafe fn bytes(&mut self, it: Obj, weight: Weight) -> Number {
        unsafe {
            let length = ffi::PyBytes_Size(it);
            let begin = ffi::PyBytes_AsString(it).cast::<u8>();
            let all = std::slice::from_raw_parts(begin, length.cast_unsigned());
            let looked_at = all.get(..LOOKED_AT.cast_unsigned()).unwrap_or(all);
            let text = String::from_utf8_lossy(looked_at);
            if self.secrets.is_secret(weight, &text) || self.secrets.without(&text).is_some() {
                return self.hidden(b"bytes", length, looked_at);
            }
            let shown = all.get(..CHARACTERS).unwrap_or(all);
            let mut record = vec![8];
            put(&mut record, length.cast_unsigned() as u64);
            put(&mut record, shown.len() as u64);
            record.extend_from_slice(shown);
            self.record(&record)
        }
    }

    /// A number under a name that says secret.
    unsafe fn hidden_number(&mut self, it: Obj, weight: Weight) -> Option<Number> {
        if weight != Weight::Secret {
            return None;
        }
        let digits = unsafe { digits(it) };
        let text = String::from_utf8_lossy(&digits).into_owned();
        let is_secret = self.secrets.is_secret(weight, &text);
        is_secret.then(|| self.hidden(b"number", digits.len().cast_signed(), &digits))
    }

    #[cold]
    fn hidden(&mut self, kind: &[u8], length: isize, value: &[u8]) -> Number {
        let kind = self.string(kind);
        let mark = self.secrets.mark(value);
        let mut record = vec![14];
        put(&mut record, u64::from(kind));
        put(&mut record, length.cast_unsigned() as u64);
        put(&mut record, 2);
        record.extend_from_slice(&mark);
        self.record(&record)
    }

    /// A record that stands in the stream already is not written again: the same bytes are the same value.
    pub(crate) fn record(&mut self, record: &[u8]) -> Number {
        let key = table::hash(record);
        self.seen.find(key).unwrap_or_else(|| {
            self.stream.byte(VALUE);
            self.stream.buffer.extend_from_slice(record);
            self.numbered(key)
        })
    }

    pub(crate) unsafe fn head(&mut self, kind: u8, it: Obj, of: Obj, about: &Type) -> Vec<u8> {
        let object = unsafe { self.objects.number(it, of, about) };
        let name = self.type_string(about);
        let mut record = self.spare.pop().unwrap_or_default();
        record.clear();
        record.push(kind);
        put(&mut record, object);
        put(&mut record, u64::from(name));
        record
    }

    pub(crate) fn done(&mut self, record: Vec<u8>) -> Number {
        let number = self.record(&record);
        self.spare.push(record);
        number
    }

    fn type_string(&mut self, about: &Type) -> Number {
        if let Some(number) = about.string.get() {
            return number;
        }
        let number = self.string(&about.name);
        about.string.set(Some(number));
        number
    }

    unsafe fn outside(&mut self, it: Obj, kind: Obj, about: &Type) -> Number {
        let record = unsafe { self.head(15, it, kind, about) };
        self.done(record)
    }

    unsafe fn sequence(
        &mut self,
        it: Obj,
        kind: Obj,
        about: &Type,
        weight: Weight,
        depth: usize,
    ) -> Number {
        unsafe {
            let mut record = self.head(9, it, kind, about);
            let length = match about.class {
                Class::List => ffi::PyList_Size(it),
                Class::Tuple => ffi::PyTuple_Size(it),
                _ => ffi::PySet_Size(it),
            };
            put(&mut record, length.cast_unsigned() as u64);
            let shown = length.min(ITEMS);
            put(&mut record, shown.cast_unsigned() as u64);
            if about.class == Class::Set {
                self.items_of_set(it, shown, &mut record, weight, depth);
                return self.done(record);
            }
            for at in 0..shown {
                let item = match about.class {
                    Class::List => ffi::PyList_GetItem(it, at),
                    _ => ffi::PyTuple_GetItem(it, at),
                };
                let number = self.item(item, weight, depth);
                put(&mut record, u64::from(number));
            }
            self.done(record)
        }
    }

    pub(crate) unsafe fn item(&mut self, item: Obj, weight: Weight, depth: usize) -> Number {
        if item.is_null() {
            return self.simple(1);
        }
        unsafe { self.value_at(item, weight, depth + 1) }
    }

    unsafe fn items_of_set(
        &mut self,
        it: Obj,
        shown: isize,
        record: &mut Vec<u8>,
        weight: Weight,
        depth: usize,
    ) {
        type Iterate = unsafe extern "C" fn(Obj) -> Obj;
        unsafe {
            let slot = ffi::PyType_GetSlot(&raw mut ffi::PySet_Type, ffi::TP_ITER);
            let iterate = std::mem::transmute::<*mut std::ffi::c_void, Iterate>(slot);
            let iterator = Held::new(iterate(it));
            for _ in 0..shown {
                let next = iterator.as_ref().and_then(|all| Held::new(ffi::PyIter_Next(all.get())));
                let number = match next {
                    Some(item) => self.item(item.get(), weight, depth),
                    None => self.simple(1),
                };
                put(record, u64::from(number));
            }
        }
    }

    unsafe fn mapping(
        &mut self,
        it: Obj,
        kind: Obj,
        about: &Type,
        weight: Weight,
        depth: usize,
    ) -> Number {
        unsafe {
            let mut record = self.head(10, it, kind, about);
            let length = ffi::PyDict_Size(it);
            put(&mut record, length.cast_unsigned() as u64);
            let shown = length.min(ITEMS);
            put(&mut record, shown.cast_unsigned() as u64);
            let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
            for _ in 0..shown {
                if ffi::PyDict_Next(it, &raw mut at, &raw mut key, &raw mut value) == 0 {
                    key = std::ptr::null_mut();
                    value = std::ptr::null_mut();
                }
                let name = self.item(key, Weight::Plain, depth);
                put(&mut record, u64::from(name));
                let weight = weight.max(self.weight_of_key(key));
                let number = self.item(value, weight, depth);
                put(&mut record, u64::from(number));
            }
            self.done(record)
        }
    }

    /// What a key or an attribute's name says of its value.
    pub(crate) unsafe fn weight_of_key(&mut self, key: Obj) -> Weight {
        unsafe {
            if key.is_null() || ffi::kind(key) != &raw mut ffi::PyUnicode_Type {
                return Weight::Plain;
            }
            let length = ffi::PyUnicode_GetLength(key);
            if !(3..=80).contains(&length) {
                return Weight::Plain;
            }
            let hash = mix(ffi::PyObject_Hash(key).cast_unsigned() as u64 ^ 0x6b65_7900);
            match self.weights.find(hash) {
                Some(0) => Weight::Plain,
                Some(1) => Weight::Perhaps,
                Some(_) => Weight::Secret,
                None => {
                    let weight = self.secrets.weight(&beginning(key, length));
                    self.weights.put(hash, weight as Number);
                    weight
                }
            }
        }
    }

    unsafe fn fields(
        &mut self,
        it: Obj,
        kind: Obj,
        about: &Type,
        weight: Weight,
        depth: usize,
    ) -> Number {
        unsafe {
            let mut record = self.head(11, it, kind, about);
            let mut found: Vec<(Number, Number)> = Vec::with_capacity(FIELDS);
            let base = match about.class {
                Class::Int => Some((self.string(b"int"), self.integer(it))),
                Class::Text => Some((self.string(b"str"), self.text_of_subclass(it, weight))),
                Class::Bytes => Some((self.string(b"bytes"), self.bytes(it, weight))),
                _ => None,
            };
            found.extend(base);
            let mut count = found.len();
            for at in 0..about.slots.len() {
                let Some(name) = about.slots.get(at).copied() else { break };
                if let Some(value) = own_slot(it, name) {
                    count += 1;
                    self.field(name, value.get(), weight, depth, &mut found);
                }
            }
            let dict = if about.has_dict {
                Held::new(ffi::PyObject_GenericGetDict(it, std::ptr::null_mut()))
            } else {
                None
            };
            if let Some(dict) = dict.filter(|it| ffi::kind(it.get()) == &raw mut ffi::PyDict_Type) {
                count += ffi::PyDict_Size(dict.get()).cast_unsigned();
                let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
                while found.len() < FIELDS
                    && ffi::PyDict_Next(dict.get(), &raw mut at, &raw mut key, &raw mut value) != 0
                {
                    self.field(key, value, weight, depth, &mut found);
                }
            }
            put(&mut record, count as u64);
            put(&mut record, found.len() as u64);
            for (name, value) in found {
                put(&mut record, u64::from(name));
                put(&mut record, u64::from(value));
            }
            self.done(record)
        }
    }

    unsafe fn field(
        &mut self,
        name: Obj,
        value: Obj,
        weight: Weight,
        depth: usize,
        found: &mut Vec<(Number, Number)>,
    ) {
        unsafe {
            if found.len() >= FIELDS || ffi::kind(name) != &raw mut ffi::PyUnicode_Type {
                return;
            }
            let weight = weight.max(self.weight_of_key(name));
            let value = self.item(value, weight, depth);
            let name = self.name_string(name);
            found.push((name, value));
        }
    }

    /// The string of an exact `str`.
    unsafe fn name_string(&mut self, name: Obj) -> Number {
        unsafe {
            let hash = mix(ffi::PyObject_Hash(name).cast_unsigned() as u64 ^ 0x6e61_6d65);
            if let Some(number) = self.names.find(hash) {
                return number;
            }
            let text = beginning(name, ffi::PyUnicode_GetLength(name));
            let number = self.string(text.as_bytes());
            self.names.put(hash, number);
            number
        }
    }

    unsafe fn named(&mut self, it: Obj, kind: Obj, about: &Type) -> Number {
        unsafe {
            let name = name_of(it, kind, about.class);
            let name = self.string(name.as_bytes());
            let of = self.type_string(about);
            let mut record = vec![13];
            put(&mut record, u64::from(of));
            put(&mut record, u64::from(name));
            self.record(&record)
        }
    }

    unsafe fn exception(&mut self, it: Obj, kind: Obj, about: &Type, weight: Weight) -> Number {
        unsafe {
            let message = self.message(it, weight);
            let mut bases = Vec::new();
            let mut base: Obj = ffi::PyType_GetSlot(kind, ffi::TP_BASE).cast();
            while !base.is_null() && bases.len() < 16 {
                let name = raw::type_name(base).to_vec();
                if name == b"object" {
                    break;
                }
                bases.push(self.string(&name));
                base = ffi::PyType_GetSlot(base, ffi::TP_BASE).cast();
            }
            let mut record = self.head(12, it, kind, about);
            put(&mut record, message.len() as u64);
            record.extend_from_slice(message.as_bytes());
            put(&mut record, bases.len() as u64);
            for base in bases {
                put(&mut record, u64::from(base));
            }
            self.done(record)
        }
    }

    /// What an exception says, from its arguments.
    unsafe fn message(&mut self, it: Obj, weight: Weight) -> String {
        unsafe {
            let Some(arguments) = Held::new(ffi::PyException_GetArgs(it)) else {
                return String::new();
            };
            let count = ffi::PyTuple_Size(arguments.get());
            let mut parts = Vec::new();
            for at in 0..count.clamp(0, ITEMS) {
                let argument = ffi::PyTuple_GetItem(arguments.get(), at);
                parts.push(told(argument));
            }
            let text = parts.join(", ");
            if self.secrets.is_secret(weight, &text) {
                return String::from("‹secret›");
            }
            let text = self.secrets.without(&text).unwrap_or(text);
            text.chars().take(CHARACTERS).collect()
        }
    }
}

/// A slot's value; none where it is empty or something else has its name.
unsafe fn own_slot(it: Obj, name: Obj) -> Option<Held> {
    unsafe { crate::objects::own_attribute(it, name) }
}
