//! Values and calls in few words, as their language writes them.

use crate::{
    columns::{Field, OPEN, RETURNED, SUSPENDED},
    damage::Damage,
    datum::Datum,
    head::NONE,
    limits,
    recording::{CallId, Process, Recording},
};

/// Characters of one value among others, of a value alone, of a call.
pub(crate) const SHORT: usize = 32;
pub(crate) const LONG: usize = 120;

/// In so few characters an object is told by its type and number alone.
const BARE: usize = SHORT / 2;

/// What of an argument is shown beside many others.
const ARGUMENT_LEAST: usize = 6;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallEnd {
    Returned(String),
    Raised(String),
    /// It ran when the recording ended.
    Open,
    /// It was left by `yield` or `await`, and not resumed.
    Suspended,
}

/// A call as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct CallShown {
    pub id: CallId,
    pub function: String,
    pub arguments: Vec<(String, String)>,
    pub end: CallEnd,
    pub milliseconds: f64,
    /// Who called it, and at which line.
    pub parent: Option<(CallId, String)>,
    pub site: Option<(String, u32)>,
    pub file: String,
    pub line: u32,
}

impl Recording {
    /// A value in about so many characters.
    pub(crate) fn shown(&self, process: u32, value: u32, chars: usize) -> String {
        let Ok(of) = self.process(process) else { return "?".to_owned() };
        let mut out = String::new();
        self.put(of, value, chars, limits::VALUE_DEPTH_MAX, &mut out);
        cut(out, chars)
    }

    fn put(&self, of: &Process, value: u32, chars: usize, depth: usize, out: &mut String) {
        let Ok(datum) = self.datum(of.number, value) else { return out.push('?') };
        let is_python = of.language == "python";
        match &datum {
            Datum::None => out.push_str(if is_python { "None" } else { "null" }),
            // A name of Python's that has no value, or has none any more.
            Datum::Undefined => out.push_str(if is_python { "unbound" } else { "undefined" }),
            Datum::True => out.push_str(if is_python { "True" } else { "true" }),
            Datum::False => out.push_str(if is_python { "False" } else { "false" }),
            Datum::Integer(number) => out.push_str(&number.to_string()),
            Datum::Digits(digits) => out.push_str(digits),
            Datum::Float(number) => out.push_str(&float(*number, is_python)),
            Datum::Text { chars: whole, text } => quoted(text, *whole, chars, out),
            Datum::Bytes { length, bytes } => {
                out.push_str(if is_python { "b" } else { "bytes " });
                quoted(&escaped(bytes), *length, chars, out);
            }
            Datum::Named { kind, name } => {
                out.push_str(&format!("<{} {}>", of.string(*kind), of.string(*name)));
            }
            Datum::Secret { kind, mark, .. } => {
                let mark: String = mark.iter().take(2).map(|it| format!("{it:02x}")).collect();
                out.push_str(&format!("<secret {} {mark}>", of.string(*kind)));
            }
            // A write that only the program's own code could read back.
            Datum::Opaque { kind, .. } if of.string(*kind) == "unread" => {
                out.push_str("(written, not read)");
            }
            Datum::Opaque { object, kind } => {
                out.push_str(&format!("{}@{object}", of.string(*kind)));
            }
            Datum::Exception { kind, message, .. } => {
                out.push_str(of.string(*kind));
                if !message.is_empty() {
                    out.push(' ');
                    out.push_str(&cut(one_line(message), chars));
                }
            }
            structure => self.put_structure(of, structure, chars, depth, out),
        }
    }

    fn put_structure(
        &self,
        of: &Process,
        datum: &Datum,
        chars: usize,
        depth: usize,
        out: &mut String,
    ) {
        let (name, length, pairs, items): (String, u64, &[(u32, u32)], &[u32]) = match datum {
            Datum::List { kind, length, items, .. } => {
                (of.string(*kind).to_owned(), *length, &[], items)
            }
            Datum::Dict { kind, length, pairs, .. } => {
                (of.string(*kind).to_owned(), *length, pairs, &[])
            }
            Datum::Object { object, kind, fields, own } => {
                (format!("{}@{object}", of.string(*kind)), *fields, own, &[])
            }
            _ => return,
        };
        let is_object = matches!(datum, Datum::Object { .. });
        if is_object && chars <= BARE {
            // Half a field says less than none.
            return out.push_str(&name);
        }
        let (open, close) = brackets(&name, is_object, matches!(datum, Datum::Dict { .. }));
        out.push_str(&open);
        let Some(deeper) = depth.checked_sub(1) else {
            out.push('…');
            return out.push_str(close);
        };
        let (begin, shown) = (out.len(), items.len().max(pairs.len()) as u64);
        for (at, value) in items.iter().chain(pairs.iter().map(|(_, value)| value)).enumerate() {
            if out.len().saturating_sub(begin) > chars {
                break;
            }
            if at > 0 {
                out.push_str(", ");
            }
            match pairs.get(at) {
                Some((name, _)) if is_object => out.push_str(&format!("{}=", of.string(*name))),
                Some((key, _)) => {
                    self.put(of, *key, chars, deeper, out);
                    out.push_str(": ");
                }
                None => {}
            }
            self.put(of, *value, chars / 2, deeper, out);
        }
        if length > shown {
            let more = length - shown;
            out.push_str(&format!("{}…+{more}", if shown > 0 { ", " } else { "" }));
        }
        if close == ")" && !is_object && length == 1 {
            // As Python writes it: one item, and no parentheses around a value.
            out.push(',');
        }
        out.push_str(close);
    }

    /// How long it took; one that was left and never resumed takes no time that anybody knows.
    pub(crate) fn took(&self, call: CallId) -> Result<u64, Damage> {
        let is_left = self.small(call, Field::Ending)? & 3 == SUSPENDED;
        if is_left { Ok(0) } else { self.get(call, Field::Took) }
    }

    pub(crate) fn call_end(&self, call: CallId, chars: usize) -> Result<CallEnd, Damage> {
        let ending = self.small(call, Field::Ending)? & 3;
        let result = self.small(call, Field::Result)?;
        Ok(match ending {
            OPEN => CallEnd::Open,
            SUSPENDED => CallEnd::Suspended,
            _ if result == NONE => CallEnd::Open,
            RETURNED => CallEnd::Returned(self.shown(call.process, result, chars)),
            _ => CallEnd::Raised(self.shown(call.process, result, chars)),
        })
    }

    /// A call with its arguments, its end, and who made it.
    pub(crate) fn call_shown(&self, call: CallId, chars: usize) -> Result<CallShown, Damage> {
        let of = self.process(call.process)?;
        let number = self.small(call, Field::Function)?;
        let function = of.function(number)?;
        let values = self.arguments(call)?;
        let named = function.slots.iter().zip(&values);
        let arguments = named
            .map(|(name, value)| {
                let value = self.shown(call.process, *value, chars);
                (of.string(*name).to_owned(), value)
            })
            .collect();
        let (mut parent, mut site) = (None, None);
        if let Some(above) = self.parent(call)? {
            let by = self.small(above, Field::Function)?;
            parent = Some((above, of.qualified(by).to_owned()));
            let line = self.small(call, Field::Site)?;
            site = Some((of.shown_path(by).to_owned(), line));
        }
        Ok(CallShown {
            id: call,
            function: of.qualified(number).to_owned(),
            arguments,
            end: self.call_end(call, chars)?,
            milliseconds: of.milliseconds(self.took(call)?),
            parent,
            site,
            file: of.shown_path(number).to_owned(),
            line: function.first_line,
        })
    }
}

impl CallShown {
    /// `rate(tier='VIP', table=dict@3)`, in about so many characters.
    pub fn signature(&self, chars: usize) -> String {
        let is_receiver = |name: &str| name == "self" || name == "this" || name == "cls";
        let shown: Vec<_> = self.arguments.iter().filter(|(name, _)| !is_receiver(name)).collect();
        let one = |name: &str, value: &str| format!("{name}={value}");
        let all: Vec<String> = shown.iter().map(|(name, value)| one(name, value)).collect();
        let all = all.join(", ");
        if all.chars().count() <= chars {
            return format!("{}({all})", self.function);
        }
        // Each its share: one long argument must not hide the others.
        let names: usize = shown.iter().map(|(name, _)| name.chars().count() + 3).sum();
        let mut left = chars.saturating_sub(names);
        let mut values: Vec<(usize, usize)> =
            shown.iter().enumerate().map(|(at, (_, it))| (it.chars().count(), at)).collect();
        values.sort_unstable();
        let mut room = vec![0; shown.len()];
        for (done, (length, at)) in values.iter().enumerate() {
            let share = (*length).min(left / (values.len() - done)).max(ARGUMENT_LEAST);
            room.get_mut(*at).into_iter().for_each(|it| *it = share);
            left = left.saturating_sub(share);
        }
        let all =
            shown.iter().zip(&room).map(|((name, it), room)| one(name, &cut(it.clone(), *room)));
        // Of very many arguments the last are left out.
        format!("{}({})", self.function, cut(all.collect::<Vec<_>>().join(", "), chars + chars / 2))
    }
}

impl CallEnd {
    /// Whether it returned only that it would answer.
    pub(crate) fn is_promise(&self) -> bool {
        matches!(self, CallEnd::Returned(value) if value.starts_with("Promise@"))
    }

    /// `→ None`, `raised KeyError 'VIP'`.
    pub fn shown(&self) -> String {
        match self {
            CallEnd::Returned(value) => format!("→ {value}"),
            CallEnd::Raised(value) => format!("raised {value}"),
            CallEnd::Open => "→ (had not ended)".to_owned(),
            CallEnd::Suspended => "→ (suspended, not resumed)".to_owned(),
        }
    }
}

fn brackets(name: &str, is_object: bool, is_dict: bool) -> (String, &'static str) {
    match name {
        "list" | "Array" => ("[".to_owned(), "]"),
        "tuple" => ("(".to_owned(), ")"),
        "dict" | "set" | "Object" => ("{".to_owned(), "}"),
        _ if is_object => (format!("{name}("), ")"),
        _ if is_dict => (format!("{name}{{"), "}"),
        _ => (format!("{name}["), "]"),
    }
}

fn float(number: f64, is_python: bool) -> String {
    if is_python && number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    match number {
        it if it.is_nan() => if is_python { "nan" } else { "NaN" }.to_owned(),
        it if it.is_finite() && is_python => format!("{it:?}"),
        it => it.to_string(),
    }
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|it| std::ascii::escape_default(*it)).map(char::from).collect()
}

/// Within single quotes, or double ones where it has single ones itself, on one line; what is longer says by how much.
fn quoted(text: &str, whole: u64, chars: usize, out: &mut String) {
    let shown: String = text.chars().take(chars.max(8)).collect();
    let quote = if shown.contains('\'') && !shown.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in shown.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\'' if quote == '\'' => out.push_str("\\'"),
            it if it.is_control() => out.push_str(&it.escape_default().to_string()),
            it => out.push(it),
        }
    }
    out.push(quote);
    let left = whole.saturating_sub(shown.chars().count() as u64);
    if left > 0 {
        out.push_str(&format!("…+{left}"));
    }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most so many characters.
pub(crate) fn cut(text: String, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text,
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}
