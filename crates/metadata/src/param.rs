//! One parameter: what it may be, what it is when it is not given, and how it is explained.

use regex_lite::Regex;

use crate::{
    Literal,
    complaint::{Complaints, meant},
    fields::{Fields, words},
    node::Node,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    pub name: String,
    pub about: String,
    pub kind: ParamKind,
    pub required: bool,
    pub default: Option<Literal>,
    /// Values that it takes, each checked; the parts of an object have none.
    pub examples: Vec<Literal>,
    /// What one ought to know beside.
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ParamKind {
    Text {
        pattern: Option<TextPattern>,
        /// A file or folder: a relative one begins at the workspace, and an absolute one is sent.
        is_path: bool,
        /// As an argument of a command it may begin with `-`.
        may_be_option: bool,
    },
    Integer {
        min: Option<f64>,
        max: Option<f64>,
    },
    Number {
        min: Option<f64>,
        max: Option<f64>,
    },
    Boolean,
    Choice(Vec<String>),
    List(Box<ParamKind>),
    Object(Vec<Param>),
}

/// An expression that the whole text must match.
#[derive(Debug, Clone)]
pub struct TextPattern(Regex, String);

impl TextPattern {
    pub fn as_str(&self) -> &str {
        &self.1
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.1 == other.1
    }
}

/// Where a value is not as its parameter has it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// `filters.minLength`, `kinds[0]`
    pub path: String,
    pub problem: String,
}

const KEYS: &[&str] = &[
    "type",
    "description",
    "required",
    "default",
    "min",
    "max",
    "values",
    "pattern",
    "items",
    "properties",
    "resolve",
    "option",
];

const TYPES: &[&str] = &["string", "integer", "number", "boolean", "enum", "array", "object"];

/// What belongs to one type alone.
const ONLY: &[(&str, &[&str])] = &[
    ("min", &["integer", "number"]),
    ("max", &["integer", "number"]),
    ("values", &["enum"]),
    ("pattern", &["string"]),
    ("resolve", &["string"]),
    ("option", &["string"]),
    ("items", &["array"]),
    ("properties", &["object"]),
];

impl Param {
    pub(crate) fn read(name: &str, node: &Node, to: &mut Complaints) -> Param {
        let fields = Fields::of(node, format!("the parameter `{name}`"), KEYS, to);
        let kind = ParamKind::read(name, &fields, to);
        let required = fields.flag("required", to).unwrap_or_default();
        let default = fields.get("default").map(Node::datum);
        let param = Param {
            name: name.to_owned(),
            about: fields.text("description", to).unwrap_or_default(),
            kind,
            required,
            default,
            examples: Vec::new(),
            note: None,
        };
        if let (Some(default), Some(node)) = (&param.default, fields.get("default")) {
            if required {
                to.add(node.line, format!("`{name}` is required, so it has no default"));
            }
            if let Err(unfit) = param.check(default) {
                to.add(node.line, format!("the default of `{name}`: {}", unfit.problem));
            }
        }
        param
    }

    /// Whether it may be this.
    pub fn check(&self, value: &Literal) -> Result<(), Unfit> {
        self.kind.check(value, &self.name)
    }
}

impl ParamKind {
    fn read(name: &str, fields: &Fields<'_>, to: &mut Complaints) -> ParamKind {
        let kind = fields.need_text("type", to);
        if !kind.is_empty() && !TYPES.contains(&kind.as_str()) {
            let near = meant(&kind, TYPES.iter().copied());
            to.add(
                fields.line,
                format!("`{name}` has no type `{kind}`{near} ({})", TYPES.join(", ")),
            );
        }
        for (key, kinds) in ONLY {
            if let Some(node) = fields.get(key)
                && !kinds.contains(&kind.as_str())
            {
                to.add(node.line, format!("`{key}` is for {} only", kinds.join(" and ")));
            }
        }
        match kind.as_str() {
            "integer" | "number" => numeric(&kind, fields, to),
            "boolean" => ParamKind::Boolean,
            "enum" => choice(name, fields, to),
            "array" => ParamKind::List(Box::new(items(name, fields, to))),
            "object" => ParamKind::Object(properties(name, fields, to)),
            _ => text(fields, to),
        }
    }

    /// As JSON Schema calls it.
    pub fn type_name(&self) -> &'static str {
        match self {
            ParamKind::Text { .. } | ParamKind::Choice(_) => "string",
            ParamKind::Integer { .. } => "integer",
            ParamKind::Number { .. } => "number",
            ParamKind::Boolean => "boolean",
            ParamKind::List(_) => "array",
            ParamKind::Object(_) => "object",
        }
    }

    fn check(&self, value: &Literal, path: &str) -> Result<(), Unfit> {
        let refuse = |problem: String| Err(Unfit { path: path.to_owned(), problem });
        match (self, value) {
            (ParamKind::Text { pattern: Some(pattern), .. }, Literal::Text(text)) => {
                match pattern.0.is_match(text) {
                    true => Ok(()),
                    false => refuse(format!("{value} does not match `{}`", pattern.1)),
                }
            }
            (ParamKind::Text { .. }, Literal::Text(_)) | (ParamKind::Boolean, Literal::Bool(_)) => {
                Ok(())
            }
            (ParamKind::Integer { min, max }, Literal::Integer(_))
            | (ParamKind::Number { min, max }, Literal::Integer(_) | Literal::Number(_)) => {
                in_range(value, *min, *max).or_else(refuse)
            }
            (ParamKind::Choice(values), Literal::Text(text)) if values.contains(text) => Ok(()),
            (ParamKind::Choice(values), _) => {
                refuse(format!("{value} is none of {}", values.join(", ")))
            }
            (ParamKind::List(kind), Literal::List(items)) => {
                let mut each = items.iter().enumerate();
                each.try_for_each(|(at, item)| kind.check(item, &format!("{path}[{at}]")))
            }
            (ParamKind::Object(parts), Literal::Map(members)) => object(parts, members, path),
            (kind, value) => refuse(format!("{value} is not of type {}", kind.type_name())),
        }
    }
}

fn in_range(value: &Literal, min: Option<f64>, max: Option<f64>) -> Result<(), String> {
    let number = value.as_number().unwrap_or_default();
    match (min, max) {
        (Some(min), _) if number < min => Err(format!("{value} is less than {min}")),
        (_, Some(max)) if number > max => Err(format!("{value} is more than {max}")),
        _ => Ok(()),
    }
}

fn object(parts: &[Param], members: &[(String, Literal)], path: &str) -> Result<(), Unfit> {
    for (name, member) in members {
        let path = format!("{path}.{name}");
        match parts.iter().find(|it| it.name == *name) {
            Some(part) => part.kind.check(member, &path)?,
            None => {
                let near = meant(name, parts.iter().map(|it| it.name.as_str()));
                return Err(Unfit { path, problem: format!("there is no `{name}`{near}") });
            }
        }
    }
    match parts.iter().find(|it| it.required && !members.iter().any(|(name, _)| *name == it.name)) {
        Some(part) => {
            Err(Unfit { path: path.to_owned(), problem: format!("`{}` is missing", part.name) })
        }
        None => Ok(()),
    }
}

fn numeric(kind: &str, fields: &Fields<'_>, to: &mut Complaints) -> ParamKind {
    let (min, max) = (fields.number("min", to), fields.number("max", to));
    if let (Some(least), Some(most)) = (min, max)
        && least > most
    {
        to.add(fields.line, format!("no number is from {least} to {most}"));
    }
    if kind == "integer" && [min, max].into_iter().flatten().any(|it| it.fract() != 0.0) {
        to.add(fields.line, "the range of an integer is of integers");
    }
    match kind {
        "integer" => ParamKind::Integer { min, max },
        _ => ParamKind::Number { min, max },
    }
}

fn choice(name: &str, fields: &Fields<'_>, to: &mut Complaints) -> ParamKind {
    let values = words(fields.list("values", to), "values", to);
    if values.is_empty() {
        to.add(fields.line, format!("`{name}` is one of its `values`, and has none"));
    }
    ParamKind::Choice(values)
}

fn items(name: &str, fields: &Fields<'_>, to: &mut Complaints) -> ParamKind {
    match fields.need("items", to) {
        Some(node) => Param::read(&format!("{name}[]"), node, to).kind,
        None => ParamKind::Boolean,
    }
}

fn properties(name: &str, fields: &Fields<'_>, to: &mut Complaints) -> Vec<Param> {
    let Some(node) = fields.need("properties", to) else { return Vec::new() };
    let parts = Fields::any(node, format!("`properties` of `{name}`"), to);
    parts.members().map(|(key, node)| Param::read(&key.name, node, to)).collect()
}

fn text(fields: &Fields<'_>, to: &mut Complaints) -> ParamKind {
    let pattern = fields.text("pattern", to).and_then(|text| {
        // The whole text, whatever the expression says of its ends.
        match Regex::new(&format!("^(?:{text})$")) {
            Ok(regex) => Some(TextPattern(regex, text)),
            Err(error) => {
                to.add(fields.line, format!("`pattern` is no expression: {error}"));
                None
            }
        }
    });
    let is_path = match fields.text("resolve", to).as_deref() {
        None => false,
        Some("path") => true,
        Some(other) => {
            to.add(fields.line, format!("`resolve` is `path`, not `{other}`"));
            false
        }
    };
    let may_be_option = fields.flag("option", to).unwrap_or_default();
    ParamKind::Text { pattern, is_path, may_be_option }
}
