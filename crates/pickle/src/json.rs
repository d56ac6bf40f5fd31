//! Values as JSON, for answers that a program reads: bounded in depth and size, and what is left
//! out is said in the place where it would be.

use serde_json::{Map, Value as Json, json};

use crate::{
    limits::{DEPTH_MAX, Show},
    pickle::{Pickle, Ref},
    render::literal,
    value::{Group, Kind, Label, Text, Value},
};

/// What a JSON value costs beside its text.
const COST: usize = 4;
/// Characters that a text has at least, however little is left.
const LEAST: usize = 40;

impl Pickle<'_> {
    /// The value as JSON of about `show.chars_max` characters at most.
    ///
    /// Numbers, texts, lists and dicts are themselves; an object is a JSON object that begins with
    /// `__class__`; everything else is the text that [`Pickle::render`] gives.
    pub fn json(&self, at: Ref, show: Show) -> Json {
        let depth_max = show.depth_max.min(DEPTH_MAX);
        Page { pickle: self, left: show.chars_max, depth_max, above: Vec::new() }.value(at)
    }
}

struct Page<'p, 'a> {
    pickle: &'p Pickle<'a>,
    left: usize,
    depth_max: usize,
    /// The values around the one being written.
    above: Vec<Ref>,
}

impl<'p> Page<'p, '_> {
    fn value(&mut self, at: Ref) -> Json {
        self.left = self.left.saturating_sub(COST);
        match self.pickle.value(at) {
            Value::None => Json::Null,
            Value::Bool(bool) => bool.into(),
            Value::Int(int) => int.into(),
            Value::Float(float) if float.is_finite() => float.into(),
            Value::Str(Text::Plain(text)) => {
                let text = cut(text, self.left.max(LEAST));
                self.left = self.left.saturating_sub(text.len());
                text.into()
            }
            Value::Group(group) => self.group(at, group),
            Value::Integer(integer) => match literal::integer(integer).parse::<u64>() {
                Ok(int) => int.into(),
                Err(_) => self.text(at),
            },
            _ => self.text(at),
        }
    }

    fn group(&mut self, at: Ref, group: Group<'p>) -> Json {
        if self.above.contains(&at) {
            return "<cycle>".into();
        }
        let is_text = match group.kind {
            Kind::Function | Kind::Class => true,
            Kind::Instance => group.shown() == 0,
            Kind::List | Kind::Tuple | Kind::Set | Kind::Dict | Kind::Exception => false,
        };
        if is_text || self.above.len() >= self.depth_max {
            return self.text(at);
        }
        self.above.push(at);
        let json = match group.kind {
            Kind::List | Kind::Tuple | Kind::Set => self.array(&group),
            _ => self.object(group),
        };
        self.above.pop();
        json
    }

    fn text(&mut self, at: Ref) -> Json {
        let text = self.pickle.render(at, Show::chars(self.left.max(LEAST)));
        self.left = self.left.saturating_sub(text.len());
        text.into()
    }

    fn array(&mut self, group: &Group<'p>) -> Json {
        let total = group.shown();
        let mut items = Vec::new();
        for index in 0..total {
            if self.left < COST {
                items.push(json!(format!("… {} more", total - index)));
                break;
            }
            let part = group.shown_part(index, self.pickle);
            items.extend(part.and_then(|part| part.value).map(|value| self.value(value)));
        }
        Json::Array(items)
    }

    fn object(&mut self, group: Group<'p>) -> Json {
        let mut object = Map::new();
        if group.kind != Kind::Dict {
            object.insert("__class__".to_owned(), group.class.to_string().into());
        }
        let pickle = self.pickle;
        let segments = pickle.entered(group);
        let total: usize = segments.iter().map(|segment| segment.len()).sum();
        let parts = segments
            .iter()
            .flat_map(|segment| (0..segment.len()).filter_map(|index| segment.part(index, pickle)));
        for (index, part) in parts.enumerate() {
            if self.left < COST {
                object.insert("…".to_owned(), json!(format!("{} more", total - index)));
                break;
            }
            let Some(value) = part.value else { continue };
            let name = match &part.label {
                Label::Index(index) => format!("[{index}]"),
                Label::Field(name) | Label::Unlabelled(name) => cut(name, self.left.max(LEAST)),
                Label::Key(key) => pickle.key_text(*key, Show::chars(self.left.max(LEAST))),
            };
            self.left = self.left.saturating_sub(name.len());
            let value = self.value(value);
            object.insert(name, value);
        }
        Json::Object(object)
    }
}

/// The ends of a text, and how many characters lie between.
fn cut(text: &str, chars: usize) -> String {
    let total = text.chars().count();
    if total <= chars {
        return text.to_owned();
    }
    let room = chars.saturating_sub(24);
    let (head, tail) = (room * 2 / 3, room / 3);
    let mut cut: String = text.chars().take(head).collect();
    cut.push_str(&format!("… {} characters …", total - head - tail));
    let last: Vec<char> = text.chars().rev().take(tail).collect();
    cut.extend(last.into_iter().rev());
    cut
}
