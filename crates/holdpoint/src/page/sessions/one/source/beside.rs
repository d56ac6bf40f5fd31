//! The values behind the lines that made them: each variable once, at the last line before the stop that gives it one.

use std::{collections::BTreeMap, path::Path};

use holdpoint_engine::{budget, inspect, limits};
use maud::{Markup, html};

use crate::{
    app::App,
    page::{desk::SeenStop, pieces},
};

/// A variable's value at this stop.
pub(super) struct ValueBeside {
    name: String,
    value: String,
    /// What it was at the stop before, if it was something else.
    was: Option<String>,
    is_new: bool,
}

/// Bytes of a value behind a line.
const SHOWN: usize = 60;

impl ValueBeside {
    pub(super) fn markup(&self) -> Markup {
        html! {
            span.vals {
                (pieces::line(&self.name)) " = "
                @if let Some(was) = &self.was { s { (pieces::line(was)) } " " }
                @if self.is_new { b { (pieces::line(&self.value)) } } @else { (pieces::line(&self.value)) }
            }
        }
    }
}

/// By line.
pub(super) fn values(
    app: &App,
    file: &Path,
    text: &str,
    here: u32,
    seen: &SeenStop,
) -> BTreeMap<u32, Vec<ValueBeside>> {
    let Ok(locals) = &seen.locals else { return BTreeMap::new() };
    let functions = inspect::outline(file);
    let around = inspect::function_at(&functions, here);
    let (first, last) = around.map_or((1, here), |it| (it.head, it.last));
    let lines: Vec<(u32, &str)> =
        (1..).zip(text.lines()).filter(|(number, _)| (first..=last).contains(number)).collect();
    let secrets = app.engine.secrets();
    let cut = |name: &str, value: &str| budget::cut(&secrets.named(name, value), SHOWN);
    let mut all: BTreeMap<u32, Vec<ValueBeside>> = BTreeMap::new();
    for variable in locals.iter().take(limits::PAGE_CHILDREN) {
        let name = variable.name.as_str();
        let gives = |(_, line): &&(u32, &str)| gives(line, name);
        let before = lines.iter().rev().filter(|(number, _)| *number < here).find(gives);
        let found = before.or_else(|| lines.iter().find(gives));
        let old = seen.before.as_ref().map(|it| it.get(name));
        let was =
            old.flatten().filter(|old| **old != variable.value.text).map(|old| cut(name, old));
        let is_new = was.is_some() || matches!(old, Some(None));
        let just = lines.iter().filter(|(number, _)| is_new && Some(*number) == seen.from);
        let Some((number, _)) = just.clone().find(gives).or(found) else { continue };
        let value = cut(name, &variable.value.text);
        all.entry(*number).or_default().push(ValueBeside {
            name: name.to_owned(),
            value,
            was,
            is_new,
        });
    }
    all
}

/// Whether a line gives a name its value, as most languages write it: `x = …`, `x += …`, `for x in …`, `let x`, a
/// parameter of a function that begins there.
fn gives(line: &str, name: &str) -> bool {
    let code = line.trim_start();
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + name.len()..).unwrap_or_default();
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        if before.ends_with(is_word) || after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            return false;
        }
        let rest = after.trim_start();
        let is_assigned =
            rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
        let is_changed = ["+=", "-=", "*=", "/=", "|=", "&=", "%=", ":=", "++", "--"]
            .iter()
            .any(|it| rest.starts_with(it));
        let word = before
            .split(|c: char| !c.is_alphanumeric())
            .rfind(|it| !it.is_empty())
            .unwrap_or_default();
        let is_named = ["for", "let", "const", "var", "as", "catch"].contains(&word);
        let is_parameter = ["def ", "async def ", "function ", "async function "]
            .iter()
            .any(|it| code.starts_with(it))
            && before.contains('(');
        let is_unpacked = rest.starts_with(',')
            && line.contains(" = ")
            && before.trim().chars().all(|c| c.is_alphanumeric() || ",_ ".contains(c));
        is_assigned || is_changed || is_named || is_parameter || is_unpacked
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_gives_a_value_is_known_from_those_that_use_it() {
        for line in [
            "    total = 0",
            "total += x",
            "for total in lines:",
            "  let total = 1;",
            "def f(a, total=1):",
            "a, total = 1, 2",
            "total, b = 1, 2",
        ] {
            assert!(gives(line, "total"), "{line}");
        }
        for line in [
            "if total == 1:",
            "print(total)",
            "subtotal = 1",
            "self.total = 1",
            "return total",
            "total2 = 1",
        ] {
            assert!(!gives(line, "total"), "{line}");
        }
    }
}
