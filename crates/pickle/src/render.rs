//! Values as a Python user would read them, within a number of characters.
//!
//! A value that fits is printed whole. One that does not is cut where it costs least: small parts
//! stay whole, large ones share what is left, and what is left out is counted. The work is bounded
//! by what is printed, never by what is there: every value that is looked at prints a character,
//! and no level is looked at more than about five times its share.

pub(crate) mod literal;
mod share;

use crate::{
    limits::{DEPTH_MAX, Show},
    pickle::{Pickle, Ref},
    value::{Bytes, Group, Kind, Label, Part, Text, Value},
};

impl Pickle<'_> {
    /// The value as text of at most `show.chars_max` characters.
    pub fn render(&self, at: Ref, show: Show) -> String {
        let depth_max = show.depth_max.min(DEPTH_MAX);
        let mut page = Page { pickle: self, out: String::new(), left: 0, depth_max, above: vec![] };
        page.fit(at, show.chars_max);
        page.out
    }
}

/// There is no room for more.
struct Full;

struct Page<'p, 'a> {
    pickle: &'p Pickle<'a>,
    out: String,
    /// Characters that may still be printed.
    left: usize,
    depth_max: usize,
    /// The values around the one being printed, each with the label of the part that is printed.
    above: Vec<(Ref, Label<'p>)>,
}

/// Fewer characters than this say nothing about a value.
const LEAST: usize = 12;
/// Characters of two quotes and of `… 1234567 characters …`.
const CHARACTERS: usize = 26;

impl<'p> Page<'p, '_> {
    /// Prints a value whole if it fits, else cut. Uses at most `chars`, but for a few of a cut's own.
    fn fit(&mut self, at: Ref, chars: usize) {
        let start = self.out.len();
        self.left = chars;
        if self.whole(at).is_ok() {
            return;
        }
        self.out.truncate(start);
        self.cut(at, chars);
        self.clamp(start, chars);
    }

    /// What must not be longer is not, whatever happened.
    fn clamp(&mut self, start: usize, chars: usize) {
        let printed = self.out.get(start..).unwrap_or_default();
        if let Some((end, _)) = printed.char_indices().nth(chars) {
            let keep =
                printed.char_indices().nth(chars.saturating_sub(1)).map_or(end, |(at, _)| at);
            self.out.truncate(start + keep);
            if chars > 0 {
                self.out.push('…');
            }
        }
    }

    fn put(&mut self, text: &str) -> Result<(), Full> {
        // A character is at most four bytes; what cannot fit is not counted.
        if text.len() / 4 > self.left {
            return Err(Full);
        }
        let chars = text.chars().count();
        self.left = self.left.checked_sub(chars).ok_or(Full)?;
        self.out.push_str(text);
        Ok(())
    }

    fn whole(&mut self, at: Ref) -> Result<(), Full> {
        match self.pickle.value(at) {
            Value::Str(Text::Plain(text)) => self.whole_string(text),
            Value::Str(Text::Surrogates(bytes)) => {
                if bytes.len() > self.left * 4 {
                    return Err(Full);
                }
                self.put(&literal::surrogates(bytes))
            }
            Value::Bytes(bytes) => self.whole_bytes(bytes),
            Value::Group(group) => self.whole_group(at, &group),
            Value::Atom { text, .. } => self.put(&text),
            leaf => self.put(&short(&leaf)),
        }
    }

    fn whole_string(&mut self, text: &str) -> Result<(), Full> {
        // A character is at most four bytes; looking at more than fits would be for nothing.
        if text.len() > self.left.saturating_mul(4) {
            return Err(Full);
        }
        self.put(&literal::string(text))
    }

    fn whole_bytes(&mut self, bytes: Bytes<'_>) -> Result<(), Full> {
        if bytes.len() > self.left {
            return Err(Full);
        }
        let (all, _) = bytes.ends(bytes.len(), 0);
        let text = bytes_literal(bytes, &all, None);
        self.put(&text)
    }

    fn whole_group(&mut self, at: Ref, group: &Group<'p>) -> Result<(), Full> {
        if let Some(cycle) = self.cycle(at) {
            return self.put(&cycle);
        }
        let count = group.shown();
        if count > 0 && self.above.len() >= self.depth_max {
            return self.put(&collapsed(group, count));
        }
        self.put(&group.open)?;
        for index in 0..count {
            if index > 0 {
                self.put(", ")?;
            }
            if let Some(part) = group.shown_part(index, self.pickle) {
                self.whole_part(at, &part)?;
            }
        }
        self.put(&group.close)
    }

    fn whole_part(&mut self, at: Ref, part: &Part<'p>) -> Result<(), Full> {
        self.above.push((at, part.label.clone()));
        let done = self.whole_label(part).and_then(|()| match part.value {
            Some(value) => self.whole(value),
            None => Ok(()),
        });
        self.above.pop();
        done
    }

    /// What is printed before a part's value; the group that it belongs to is already above.
    fn whole_label(&mut self, part: &Part<'p>) -> Result<(), Full> {
        match &part.label {
            Label::Index(_) | Label::Unlabelled(_) => Ok(()),
            Label::Field(name) => {
                self.put(name)?;
                if part.value.is_some() { self.put("=") } else { Ok(()) }
            }
            Label::Key(key) => {
                self.whole(*key)?;
                self.put(": ")
            }
        }
    }

    /// Where a value already stands around itself.
    fn cycle(&self, at: Ref) -> Option<String> {
        let found = self.above.iter().position(|(above, _)| *above == at)?;
        let steps = self.above.iter().take(found).map(|(_, label)| step(self.pickle, label));
        let path: String = steps.collect();
        let path = if path.is_empty() { "the whole" } else { &path };
        Some(format!("<cycle: {path}>"))
    }

    /// A value that does not fit.
    fn cut(&mut self, at: Ref, chars: usize) {
        match self.pickle.value(at) {
            Value::Str(Text::Plain(text)) => self.cut_string(text, chars),
            Value::Str(Text::Surrogates(bytes)) => {
                let text =
                    String::from_utf8_lossy(bytes.get(..chars).unwrap_or(bytes)).into_owned();
                self.cut_string(&text, chars);
            }
            Value::Bytes(bytes) => self.cut_bytes(bytes, chars),
            Value::Group(group) => self.cut_group(at, &group, chars),
            Value::Atom { text, .. } => self.out.push_str(&middle(&text, chars)),
            leaf => {
                let text = middle(&short(&leaf), chars);
                self.out.push_str(&text);
            }
        }
    }

    /// The head and the tail of a text, and how many characters lie between.
    fn cut_string(&mut self, text: &str, chars: usize) {
        let Some(room) = chars.checked_sub(CHARACTERS + 8) else {
            let head: String = text.chars().take(chars.saturating_sub(3)).collect();
            let head = literal::string(&head);
            let mut head = middle(&head, chars.saturating_sub(1));
            head.insert(head.floor_char_boundary(head.len().saturating_sub(1)), '…');
            self.out.push_str(&head);
            return;
        };
        // Escapes make a text longer than it is; one that is nearly all escapes is cut harder.
        let room = (room + 8) * 100 / escaped_share(text, room).max(100);
        let (head, tail) = (room * 2 / 3, room / 3);
        let total = text.chars().count();
        if total <= head + tail {
            self.out.push_str(&middle(&literal::string(text), chars));
            return;
        }
        let mut last: Vec<char> = text.chars().rev().take(tail).collect();
        last.reverse();
        let has = |wanted: char| {
            text.chars().take(head).chain(last.iter().copied()).any(|it| it == wanted)
        };
        let quote = literal::quote(has('\''), has('"'));
        self.out.push(quote);
        text.chars().take(head).for_each(|char| literal::push_char(&mut self.out, char, quote));
        self.out.push_str(&format!("… {} characters …", total - head - tail));
        last.into_iter().for_each(|char| literal::push_char(&mut self.out, char, quote));
        self.out.push(quote);
    }

    fn cut_bytes(&mut self, bytes: Bytes<'_>, chars: usize) {
        let total = bytes.len();
        // Most bytes are printed as four characters.
        let room = chars.saturating_sub(36) / 4;
        let (head, tail) = (room * 2 / 3, room / 3);
        let (first, last) = bytes.ends(head, tail);
        let between = format!("… {} bytes …", total.saturating_sub(head + tail));
        let text = bytes_literal(bytes, &first, Some((&between, &last)));
        self.out.push_str(&text);
    }
}

/// A value that has nothing inside and is short.
fn short(value: &Value<'_>) -> String {
    match value {
        Value::None => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Int(int) => int.to_string(),
        Value::Integer(integer) => literal::integer(*integer),
        Value::Float(float) => literal::float(*float),
        Value::Global(name) => name.to_string(),
        Value::Str(_) | Value::Bytes(_) | Value::Atom { .. } | Value::Group(_) => String::new(),
    }
}

/// A group of which nothing is shown but how much there is.
fn collapsed(group: &Group<'_>, count: usize) -> String {
    format!("{}… {count} more{}", group.open, group.close)
}

/// Head and tail of a text that is no literal.
fn middle(text: &str, chars: usize) -> String {
    let total = text.chars().count();
    if total <= chars {
        return text.to_owned();
    }
    let (head, tail) = (chars * 2 / 3, chars / 3);
    let mut cut: String = text.chars().take(head.saturating_sub(1)).collect();
    cut.push('…');
    cut.extend(text.chars().skip(total - tail));
    cut
}

/// How many characters a hundred of a text's become, by its first `room`.
fn escaped_share(text: &str, room: usize) -> usize {
    let sample: String = text.chars().take(room.min(200)).collect();
    let shown = literal::string(&sample).chars().count().saturating_sub(2);
    let sampled = sample.chars().count().max(1);
    (shown * 100).div_ceil(sampled)
}

fn bytes_literal(bytes: Bytes<'_>, first: &[u8], rest: Option<(&str, &[u8])>) -> String {
    let (last, between) = rest.map_or((&[][..], ""), |(between, last)| (last, between));
    let has = |byte: u8| first.contains(&byte) || last.contains(&byte);
    let quote = literal::quote(has(b'\''), has(b'"'));
    let (open, close) = match bytes {
        Bytes::Array(_) => ("bytearray(b", ")"),
        Bytes::Plain(_) | Bytes::Latin1(_) => ("b", ""),
    };
    let mut text = open.to_owned();
    text.push(quote);
    first.iter().for_each(|byte| literal::push_byte(&mut text, *byte, quote));
    text.push_str(between);
    last.iter().for_each(|byte| literal::push_byte(&mut text, *byte, quote));
    text.push(quote);
    text.push_str(close);
    text
}

/// The step into a part, for the path of a cycle.
fn step(pickle: &Pickle<'_>, label: &Label<'_>) -> String {
    match label {
        Label::Index(index) => format!("[{index}]"),
        Label::Field(name) | Label::Unlabelled(name) => format!(".{name}"),
        Label::Key(key) => match pickle.value(*key) {
            Value::Str(Text::Plain(text)) if text.len() < 64 => {
                format!("[{}]", literal::string(text))
            }
            Value::Int(int) => format!("[{int}]"),
            _ => "[…]".to_owned(),
        },
    }
}

impl Kind {
    /// Whether the last items are worth as much as the first.
    fn has_tail(self) -> bool {
        matches!(self, Kind::List | Kind::Tuple)
    }
}
