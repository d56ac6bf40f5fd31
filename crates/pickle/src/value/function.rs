//! Functions that travel as code: their name, parameters and place, as dill and cloudpickle send them.

use std::borrow::Cow;

use super::{Group, Kind, Label, Name, Part, Segment, Value, known::Call};
use crate::{
    limits::PARAMS_MAX,
    node::{Id, Node},
    pickle::{Pickle, Ref},
};

const VARARGS: i64 = 0x04;
const VARKEYWORDS: i64 = 0x08;
const GENERATOR: i64 = 0x20;
const COROUTINE: i64 = 0x80;
const ASYNC_GENERATOR: i64 = 0x200;

/// What a code object says about the function.
struct Code<'p> {
    name: &'p str,
    file: &'p str,
    line: i64,
    flags: i64,
    positional: usize,
    positional_only: usize,
    keyword_only: usize,
    locals: &'p [Id],
}

impl Pickle<'_> {
    /// The arguments of `CodeType`, whose number and order changed with Python 3.8 and 3.11.
    /// What does not change: the counts, then the flags, then the code itself, which is the first
    /// `bytes`; then constants, names, locals, file, name, and the line after one or two names.
    fn code(&self, id: Id) -> Option<Code<'_>> {
        let args = self.tuple(self.object(id)?.args);
        // dill puts the old line table first.
        let args = match args {
            [table, rest @ ..] if self.bytes_like(*table).is_some() => rest,
            args => args,
        };
        let at = args.iter().take(8).position(|arg| self.bytes_like(*arg).is_some())?;
        let (counts, rest) = args.split_at_checked(at)?;
        let count = |index: usize| {
            let count = counts.get(index).and_then(|id| self.int(*id));
            count.and_then(|count| usize::try_from(count).ok())
        };
        let (positional_only, keyword_only) = match at {
            6 => (count(1)?, count(2)?),
            _ => (0, count(1)?),
        };
        let [_, _, _, locals, file, name, rest @ ..] = rest else { return None };
        let (qualified, line) = match rest {
            [qualified, line, ..] if self.word(*qualified).is_some() => (qualified, line),
            [line, ..] => (name, line),
            [] => return None,
        };
        Some(Code {
            name: self.word(*qualified)?,
            file: self.word(*file).unwrap_or("?"),
            line: self.int(*line)?,
            flags: counts.last().and_then(|flags| self.int(*flags))?,
            positional: count(0)?,
            positional_only,
            keyword_only,
            locals: self.sequence(*locals),
        })
    }

    /// The name of a function that travels as code.
    pub(super) fn code_name(&self, function: Id) -> Option<&str> {
        let code = self.tuple(self.object(function)?.args).first()?;
        Some(self.code(*code)?.name)
    }

    pub(super) fn code_value<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        let code = self.code(call.id)?;
        let text = format!("<code object {} at {}:{}>", code.name, base(code.file), code.line);
        Some(Value::Atom { class: Name { module: "types", name: "CodeType" }, text })
    }

    /// `<function add(a, b=2, *args, c=3, **kw) at app.py:14>`
    pub(super) fn function<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        let [code, globals, _, defaults, closure, ..] = call.args else { return None };
        let code = self.code(*code)?;
        let set = |name| self.attribute(call.object, name);
        let is_there = |id: &Id| *self.node(*id) != Node::None;
        let defaults = set("__defaults__").filter(is_there).or(Some(*defaults)).filter(is_there);
        let keyword_defaults = set("__kwdefaults__").filter(is_there);
        let qualified = set("__qualname__").and_then(|id| self.word(id)).unwrap_or(code.name);
        let word = match code.flags {
            flags if flags & (COROUTINE | ASYNC_GENERATOR) != 0 => "async function",
            flags if flags & GENERATOR != 0 => "generator function",
            _ => "function",
        };
        let open = format!("<{word} {qualified}(");
        let close = format!(") at {}:{}>", base(code.file), code.line);
        let class = Name { module: "types", name: "FunctionType" };
        let mut group = Group::new(Kind::Function, class, open, close);
        let positional = defaults.map_or(&[][..], |id| self.tuple(id));
        let keywords = keyword_defaults.map_or(&[][..], |id| self.pairs(id));
        for part in self.parameters(&code, positional, keywords) {
            group = group.with(Segment::One(part));
        }
        // cloudpickle makes the function first and fills it afterwards.
        let hidden = [
            ("__closure__", set("__closure__").or(Some(*closure))),
            ("__globals__", set("__globals__").or(Some(*globals))),
            ("__doc__", set("__doc__")),
            ("__annotations__", set("__annotations__")),
        ];
        for (name, value) in hidden {
            group = group.hidden(name, value.filter(is_there).map(Ref::from));
        }
        Some(Value::Group(group))
    }

    fn parameters<'p>(
        &'p self,
        code: &Code<'p>,
        defaults: &'p [Id],
        keyword_defaults: &'p [Id],
    ) -> Vec<Part<'p>> {
        let mut names = code.locals.iter().map(|id| self.word(*id).unwrap_or("?"));
        let mut parts = Vec::new();
        let bare = |text: Cow<'p, str>| Part { label: Label::Field(text), value: None };
        let without = code.positional.saturating_sub(defaults.len());
        for (at, name) in names.by_ref().take(code.positional.min(PARAMS_MAX)).enumerate() {
            let default = at.checked_sub(without).and_then(|at| defaults.get(at));
            parts.push(Part {
                label: Label::Field(name.into()),
                value: default.map(|id| (*id).into()),
            });
            if at + 1 == code.positional_only {
                parts.push(bare("/".into()));
            }
        }
        if code.positional > PARAMS_MAX {
            parts.push(bare("…".into()));
            return parts;
        }
        let keywords: Vec<&str> = names.by_ref().take(code.keyword_only.min(PARAMS_MAX)).collect();
        if code.flags & VARARGS != 0 {
            parts.push(bare(format!("*{}", names.next().unwrap_or("args")).into()));
        } else if !keywords.is_empty() {
            parts.push(bare("*".into()));
        }
        for name in keywords {
            let default = self.lookup(keyword_defaults, name).map(Ref::from);
            parts.push(Part { label: Label::Field(name.into()), value: default });
        }
        if code.flags & VARKEYWORDS != 0 {
            parts.push(bare(format!("**{}", names.next().unwrap_or("kwargs")).into()));
        }
        parts
    }
}

/// The file's own name: what a reader looks for, whatever folder the program ran in.
fn base(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}
