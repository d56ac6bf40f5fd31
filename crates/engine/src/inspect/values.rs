//! Variables of a stopped program, one line each, within a budget.

use std::collections::BTreeMap;

use crate::{
    adapter,
    backend::{Backend, FrameId, Handle, ScopeKind, Slice, Value, Variable},
    budget::{self, Budget, Lines},
    failure::{Code, Failure},
    limits,
};

/// The names a reader of the function sees, in the runtime's order.
pub type Locals = Vec<Variable>;

/// A listing with what it left out.
#[derive(Debug)]
pub struct Listed {
    pub text: String,
    pub shown: Vec<Variable>,
    /// Whether there is more behind it.
    pub more: bool,
}

/// A frame's own variables.
pub async fn locals(backend: &Backend, frame: &FrameId) -> Result<Locals, Failure> {
    let scopes = backend.scopes(frame).await?;
    let mut all = Locals::new();
    for scope in scopes.iter().filter(|scope| scope.kind == ScopeKind::Local) {
        let slice = Slice { start: 0, count: limits::LOCALS };
        // An inner block's variable hides the outer one of the same name.
        for variable in backend.children(&scope.children, slice).await? {
            if !is_noise(&variable) && !all.iter().any(|it| it.name == variable.name) {
                all.push(variable);
            }
        }
    }
    Ok(all)
}

/// What nobody wrote in the program: what a debugger, or a language's tools, have put there.
pub fn is_noise(variable: &Variable) -> bool {
    adapter::all().iter().any(|it| it.is_noise(variable))
}

/// Whether it only says how many parts a value has.
pub(super) fn is_length(variable: &Variable) -> bool {
    adapter::all().iter().any(|it| it.listing().length == Some(variable.name.as_str()))
}

/// One line per variable: `  name: type = value`.
pub fn list(variables: &[Variable], budget: Budget, per_value: usize) -> Listed {
    let mut lines = Lines::within(budget);
    let mut shown = Vec::new();
    for variable in variables {
        if !lines.push(&format!("  {}", one_line(&variable.name, &variable.value, per_value))) {
            break;
        }
        shown.push(variable.clone());
    }
    let more = shown.len() < variables.len();
    Listed { text: lines.into_text(), shown, more }
}

/// `name: type = value`, on one line whatever the value holds.
pub fn one_line(name: &str, value: &Value, bytes: usize) -> String {
    let text = budget::cut(&value.text.replace('\n', "⏎").replace('\r', ""), bytes);
    match &value.kind {
        Some(kind) => format!("{name}: {kind} = {text}"),
        None => format!("{name} = {text}"),
    }
}

/// What differs from an earlier stop in the same function: `name = old → new`.
pub fn changes(before: &BTreeMap<String, String>, now: &[Variable], bytes: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for variable in now {
        let cut = |text: &str| budget::cut(&text.replace('\n', "⏎"), bytes);
        let new = &variable.value.text;
        match before.get(&variable.name) {
            Some(old) if old == new => {}
            Some(old) => lines.push(format!("  {} = {} → {}", variable.name, cut(old), cut(new))),
            None => lines.push(format!("  {} = {}", variable.name, cut(new))),
        }
    }
    lines
}

/// The value at `path` below some variables: `order.items[3]`, `data["a b"]`.
pub async fn drill(backend: &Backend, roots: &[Variable], path: &str) -> Result<Variable, Failure> {
    let mut steps = split(path)?.into_iter();
    let first = steps.next().unwrap_or_default();
    let mut at = roots.iter().find(|it| it.name == first).cloned().ok_or_else(|| {
        let names: Vec<&str> = roots.iter().map(|it| it.name.as_str()).collect();
        Failure::new(Code::NotFound, format!("no variable `{first}` here"))
            .hint(format!("variables: {}", budget::cut(&names.join(", "), 400)))
    })?;
    for step in steps {
        let Some(children) = at.value.children.clone() else {
            return Err(Failure::new(Code::NotFound, format!("`{}` has no parts", at.name)));
        };
        at = child(backend, &children, at.value.indexed, &step).await?;
    }
    Ok(at)
}

async fn child(
    backend: &Backend,
    of: &Handle,
    indexed: Option<usize>,
    name: &str,
) -> Result<Variable, Failure> {
    // Where the parts are counted, the one that is wanted need not be searched among all.
    let slice = match (indexed, name.parse()) {
        (Some(count), Ok(start)) if start < count => Slice { start, count: 1 },
        _ => Slice { start: 0, count: limits::CHILDREN },
    };
    let all = backend.children(of, slice).await?;
    let quoted = [format!("'{name}'"), format!("\"{name}\""), format!("[{name}]")];
    // Long lists name their parts with leading zeros.
    let number: Option<usize> = name.parse().ok();
    let found = all.iter().find(|it| {
        it.name == name
            || quoted.contains(&it.name)
            || number.is_some_and(|number| it.name.parse() == Ok(number))
    });
    found.cloned().ok_or_else(|| {
        let names: Vec<&str> = all.iter().take(20).map(|it| it.name.as_str()).collect();
        Failure::new(Code::NotFound, format!("no part `{name}`"))
            .hint(format!("parts: {}", budget::cut(&names.join(", "), 400)))
    })
}

/// `a.b[3]["x y"]` → `a`, `b`, `3`, `x y`.
fn split(path: &str) -> Result<Vec<String>, Failure> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = inside.split_once(']').ok_or_else(|| {
                Failure::new(Code::InvalidParams, format!("`{path}` has an open bracket"))
            })?;
            steps.push(step.trim_matches(['"', '\'']).to_owned());
            rest = after;
        } else {
            let plain = rest.strip_prefix('.').unwrap_or(rest);
            let end = plain.find(['.', '[']).unwrap_or(plain.len());
            let (step, after) = plain.split_at(end);
            if step.is_empty() {
                return Err(Failure::new(Code::InvalidParams, format!("`{path}` is not a path")));
            }
            steps.push(step.to_owned());
            rest = after;
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart() {
        assert_eq!(split("a.b[3][\"x y\"].c").unwrap(), ["a", "b", "3", "x y", "c"]);
        assert!(split("a[3").is_err());
        assert!(split("a..b").is_err());
    }
}
