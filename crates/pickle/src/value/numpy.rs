//! Arrays, told by their shape and type, and scalars; frames of pandas by their class.

use super::{Group, Kind, Name, Segment, Value, known::Call};
use crate::{
    limits::ELEMENTS_MAX,
    node::{Id, Node},
    pickle::{Pickle, Ref},
    render::literal,
};

const ARRAY: Name<'static> = Name { module: "numpy", name: "ndarray" };

const SCALARS: &[&str] = &[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
];

/// A dtype: `<i8`, taken apart.
struct Dtype<'p> {
    big_endian: bool,
    kind: &'p str,
    size: usize,
    text: String,
}

impl Pickle<'_> {
    pub(super) fn numpy<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        match (call.name.module, call.name.name, call.args) {
            ("numpy._core.multiarray", "_reconstruct", [..]) => self.array(call.object.state?),
            ("numpy._core.numeric", "_frombuffer", [data, dtype, shape, ..]) => {
                self.array_value(*shape, *dtype, *data)
            }
            ("numpy._core.multiarray", "scalar", [dtype, data, ..]) => self.scalar(*dtype, *data),
            ("numpy", "dtype", [_, ..]) => {
                let text = format!("dtype('{}')", self.dtype(call.id)?.text);
                Some(Value::Atom { class: call.name, text })
            }
            _ => None,
        }
    }

    /// From the state that an array is given: version, shape, dtype, order, data.
    pub(super) fn array(&self, state: Id) -> Option<Value<'_>> {
        match self.tuple(state) {
            [_, shape, dtype, _, data] => self.array_value(*shape, *dtype, *data),
            _ => None,
        }
    }

    fn array_value(&self, shape: Id, dtype: Id, data: Id) -> Option<Value<'_>> {
        let dtype = self.dtype(dtype)?;
        let dims: Vec<String> = self
            .tuple(shape)
            .iter()
            .take(32)
            .map(|dim| Some(self.int(*dim)?.to_string()))
            .collect::<Option<_>>()?;
        let comma = if dims.len() == 1 { "," } else { "" };
        let mut text = "array(".to_owned();
        if let Some(elements) = self.elements(&dtype, data) {
            text.push_str(&format!("[{}], ", elements.join(", ")));
        }
        text.push_str(&format!("shape=({}{comma}), dtype={})", dims.join(", "), dtype.text));
        let group = Group::new(Kind::Instance, ARRAY, text, "");
        Some(Value::Group(group.hidden("data", Some(Ref::from(data)))))
    }

    /// The elements of a small array, in the order in which they lie.
    fn elements(&self, dtype: &Dtype<'_>, data: Id) -> Option<Vec<String>> {
        let max = dtype.size.checked_mul(ELEMENTS_MAX)?;
        let (bytes, _) = self.bytes_like(data)?.ends(max.saturating_add(1), 0);
        if dtype.size == 0 || bytes.len() > max {
            return None;
        }
        bytes.chunks(dtype.size).map(|bytes| dtype.element(bytes)).collect()
    }

    fn scalar(&self, dtype: Id, data: Id) -> Option<Value<'_>> {
        let dtype = self.dtype(dtype)?;
        let known = SCALARS.iter().find(|name| **name == dtype.text);
        let class = Name { module: "numpy", name: known.copied().unwrap_or("generic") };
        let bytes = self.bytes_like(data).map(|bytes| bytes.ends(dtype.size.min(16), 0));
        let text = bytes.and_then(|(bytes, _)| dtype.element(&bytes));
        let text = match text {
            Some(text) => format!("np.{}({text})", dtype.text),
            None => format!("<numpy scalar {}>", dtype.text),
        };
        Some(Value::Atom { class, text })
    }

    fn dtype(&self, id: Id) -> Option<Dtype<'_>> {
        let object = self.object(id)?;
        let code = self.text(*self.tuple(object.args).first()?)?;
        let state = object.state.map_or(&[][..], |state| self.tuple(state));
        let big_endian = state.get(1).and_then(|order| self.text(*order)) == Some(">");
        let (kind, size) = code.split_at_checked(1)?;
        // No element is larger than the pickle that holds it; what says so is no dtype.
        let size: usize = size.parse().ok().filter(|size| *size < 1 << 32).unwrap_or(0);
        let swapped = if big_endian { ">" } else { "" };
        let text = match kind {
            "b" => "bool".to_owned(),
            "O" => "object".to_owned(),
            "i" => format!("{swapped}int{}", size * 8),
            "u" => format!("{swapped}uint{}", size * 8),
            "f" => format!("{swapped}float{}", size * 8),
            "c" => format!("{swapped}complex{}", size * 8),
            "M" => format!("datetime64{}", self.unit(state)),
            "m" => format!("timedelta64{}", self.unit(state)),
            "U" => format!("<U{size}"),
            _ => code.chars().take(32).collect(),
        };
        Some(Dtype { big_endian, kind, size, text })
    }

    /// `[D]` of a date's dtype.
    fn unit(&self, state: &[Id]) -> String {
        let unit = state.last().map_or(&[][..], |last| self.tuple(*last)).get(1);
        let unit = unit.and_then(|unit| self.tuple(*unit).first());
        match unit.and_then(|unit| self.bytes_like(*unit)) {
            Some(unit) => format!("[{}]", String::from_utf8_lossy(&unit.ends(8, 0).0)),
            None => String::new(),
        }
    }

    pub(super) fn pandas<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        let name = call.name.name;
        if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
            return None;
        }
        let open = format!("<pandas {}>", call.name.short());
        let mut group = Group::new(Kind::Instance, call.name, open, "");
        for state in self.states(call.object) {
            if matches!(self.node(state), Node::Dict(_)) {
                group = group.with(Segment::HiddenFields(self.pairs(state)));
            } else {
                group = group.hidden("__state__", Some(state.into()));
            }
        }
        Some(Value::Group(group.hidden("args", Some(call.object.args.into()))))
    }
}

impl Dtype<'_> {
    /// One element, where it is a number or a truth.
    fn element(&self, bytes: &[u8]) -> Option<String> {
        if bytes.len() != self.size || !matches!(bytes.len(), 1 | 2 | 4 | 8) {
            return None;
        }
        let mut wide = [0; 8];
        let bytes: Vec<u8> =
            if self.big_endian { bytes.iter().rev().copied().collect() } else { bytes.to_vec() };
        for (place, byte) in wide.iter_mut().zip(&bytes) {
            *place = *byte;
        }
        let unsigned = u64::from_le_bytes(wide);
        let shift = 64 - 8 * u32::try_from(bytes.len()).ok()?;
        match (self.kind, bytes.len()) {
            ("b", 1) => Some(if unsigned == 0 { "False" } else { "True" }.to_owned()),
            ("u", _) => Some(unsigned.to_string()),
            ("i", _) => Some(((unsigned << shift).cast_signed() >> shift).to_string()),
            ("f", 8) => Some(literal::float(f64::from_bits(unsigned))),
            ("f", 4) => {
                let bits = u32::try_from(unsigned).ok()?;
                Some(literal::float32(f32::from_bits(bits)))
            }
            _ => None,
        }
    }
}
