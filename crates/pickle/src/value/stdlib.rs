//! Values of the standard library whose pickles do not look like them.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Group, Kind, Name, Segment, Value, known::Call, known::method};
use crate::{
    node::{Id, Node},
    pickle::{Face, Pickle, Ref},
    render::literal,
};

/// Flags of `re` that are worth a word, in the order in which Python prints them.
const FLAGS: &[(i64, &str)] = &[
    (2, "re.IGNORECASE"),
    (4, "re.LOCALE"),
    (8, "re.MULTILINE"),
    (16, "re.DOTALL"),
    (64, "re.VERBOSE"),
    (256, "re.ASCII"),
];

impl Pickle<'_> {
    pub(super) fn stdlib<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        match (call.name.module, call.name.name, call.args) {
            ("collections", "deque", args) => Some(self.deque(call, args.get(1).copied())),
            ("collections", "Counter", [counts]) => {
                let group = Group::new(Kind::Instance, call.name, "Counter(", ")");
                let group = group.with(Segment::Through((*counts).into()));
                Some(Value::Group(self.with_state(group, call)))
            }
            ("functools", "partial", [function]) => self.partial(call, *function),
            ("types", "MethodType", [function, owner]) => {
                let name = match self.code_name(*function) {
                    Some(name) => name,
                    None => self.name(*function)?.name,
                };
                let name = match name.contains('.') {
                    true => name.to_owned(),
                    false => format!("{}.{name}", self.made_by(*owner).short()),
                };
                Some(method(name, *owner))
            }
            ("types", "MappingProxyType", [inner]) => {
                let group = Group::new(Kind::Instance, call.name, "mappingproxy(", ")");
                Some(Value::Group(group.with(Segment::Through((*inner).into()))))
            }
            ("types", "CodeType", [..]) => self.code_value(call),
            ("uuid", "UUID", []) => self.uuid(call),
            ("pathlib", _, parts) => self.path(call, parts),
            ("re", "_compile", [pattern, flags]) => self.regex(*pattern, self.int(*flags)?),
            ("ipaddress", _, [number]) => self.address(call, *number),
            // Before Python 3.11 it was a text.
            ("fractions", "Fraction", [text]) => {
                let text = self.word(*text)?;
                let (above, below) = text.split_once('/').unwrap_or((text, "1"));
                Some(Value::Atom { class: call.name, text: format!("Fraction({above}, {below})") })
            }
            ("zoneinfo", "_unpickle", [key, ..]) => {
                let class = Name { module: "zoneinfo", name: "ZoneInfo" };
                let text = format!("zoneinfo.ZoneInfo(key={})", self.short_text(*key)?);
                Some(Value::Atom { class, text })
            }
            _ => None,
        }
    }

    /// A text as a literal, if it is short enough to be part of another text.
    fn short_text(&self, id: Id) -> Option<String> {
        let text = self.text(id).filter(|text| text.len() < 256)?;
        Some(literal::string(text))
    }

    fn deque<'p>(&'p self, call: &Call<'p>, maxlen: Option<Id>) -> Value<'p> {
        // Python 2 gives the items to the constructor instead of appending them.
        let given = call.arg(0).filter(|items| !self.sequence(*items).is_empty());
        let appended = Ref { id: call.id, face: Face::Items };
        let items = given.map_or(appended, Ref::from);
        let mut group = Group::new(Kind::Instance, call.name, "deque(", ")");
        group = group.with(Segment::Through(items));
        if let Some(maxlen) = maxlen {
            group = group.field("maxlen", maxlen.into());
        }
        Value::Group(group)
    }

    fn partial<'p>(&'p self, call: &Call<'p>, function: Id) -> Option<Value<'p>> {
        let [_, args, keywords, ..] = self.tuple(call.object.state?) else { return None };
        let group = Group::new(Kind::Function, call.name, "functools.partial(", ")");
        let group = group.unlabelled("func", function.into());
        let group = group.with(Segment::Items(self.tuple(*args)));
        Some(Value::Group(group.with(Segment::Fields(self.pairs(*keywords)))))
    }

    fn uuid<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        let number = self.unsigned(self.attribute(call.object, "int")?)?;
        let hex = format!("{number:032x}");
        let (a, rest) = hex.split_at_checked(8)?;
        let (b, rest) = rest.split_at_checked(4)?;
        let (c, rest) = rest.split_at_checked(4)?;
        let (d, e) = rest.split_at_checked(4)?;
        let text = format!("UUID('{a}-{b}-{c}-{d}-{e}')");
        Some(Value::Atom { class: call.name, text })
    }

    /// An integer of up to 128 bits.
    fn unsigned(&self, id: Id) -> Option<u128> {
        match self.node(id) {
            Node::Int(int) => u128::try_from(*int).ok(),
            Node::Digits(digits) => digits.parse().ok(),
            Node::Long(bytes) => {
                let (sign, bytes) = bytes.split_last()?;
                let bytes = if *sign == 0 { bytes.to_vec() } else { [bytes, &[*sign]].concat() };
                if *sign >= 0x80 || bytes.len() > 16 {
                    return None;
                }
                let mut wide = [0; 16];
                for (place, byte) in wide.iter_mut().zip(bytes) {
                    *place = byte;
                }
                Some(u128::from_le_bytes(wide))
            }
            _ => None,
        }
    }

    fn path<'p>(&'p self, call: &Call<'p>, parts: &[Id]) -> Option<Value<'p>> {
        let mut path = String::new();
        for part in parts {
            let part = self.text(*part)?;
            if !path.is_empty() && !path.ends_with(['/', '\\']) {
                path.push('/');
            }
            path.push_str(part);
            // A path that long is no path; it is shown as the call that it is.
            if path.len() > 4_096 {
                return None;
            }
        }
        let path = if path.is_empty() { "." } else { &path };
        let text = format!("{}({})", call.name.short(), literal::string(path));
        Some(Value::Atom { class: call.name, text })
    }

    fn regex(&self, pattern: Id, flags: i64) -> Option<Value<'_>> {
        let words = FLAGS.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, word)| *word);
        let words: Vec<&str> = words.collect();
        let close = if words.is_empty() { ")".into() } else { format!(", {})", words.join("|")) };
        let class = Name { module: "re", name: "Pattern" };
        let group = Group::new(Kind::Instance, class, "re.compile(", close);
        Some(Value::Group(group.unlabelled("pattern", pattern.into())))
    }

    fn address<'p>(&'p self, call: &Call<'p>, number: Id) -> Option<Value<'p>> {
        let number = self.unsigned(number)?;
        let address = match call.name.name {
            "IPv4Address" => Ipv4Addr::from(u32::try_from(number).ok()?).to_string(),
            "IPv6Address" => Ipv6Addr::from(number).to_string(),
            _ => return None,
        };
        let text = format!("{}('{address}')", call.name.name);
        Some(Value::Atom { class: call.name, text })
    }

    /// `(1+2j)`
    pub(super) fn complex(&self, re: Id, im: Id) -> Option<Value<'_>> {
        let (Node::Float(re), Node::Float(im)) = (self.node(re), self.node(im)) else {
            return None;
        };
        let short = |float: f64| literal::float(float).trim_end_matches(".0").to_owned();
        let text = if *re == 0.0 && re.is_sign_positive() {
            format!("{}j", short(*im))
        } else {
            let sign = if im.is_sign_negative() && !im.is_nan() { "" } else { "+" };
            format!("({}{sign}{}j)", short(*re), short(*im))
        };
        Some(Value::Atom { class: Name::builtin("complex"), text })
    }
}
