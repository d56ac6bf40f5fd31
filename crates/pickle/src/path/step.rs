//! How a path is written: `args[0].name`, `['key with spaces'][-1]`, `{3}`.

use crate::{limits::PATH_MAX, render::literal};

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// `.name`, of an object or a dict; the first needs no dot.
    Field(String),
    /// `[3]`, `[-1]`: an item, or the entry of a dict under that number.
    Index(i64),
    /// `['key']` of a dict or an object.
    Key(String),
    /// `{3}`: the child at that place, for keys that are neither text nor number.
    Entry(usize),
}

/// The steps, or what is wrong and where.
pub(super) fn parse(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    rest = rest.strip_prefix('$').unwrap_or(rest);
    while !rest.is_empty() {
        if steps.len() == PATH_MAX {
            return Err(format!("more than {PATH_MAX} steps"));
        }
        let (step, after) = next(rest, steps.is_empty())
            .ok_or_else(|| format!("`{}` is no step", rest.chars().take(40).collect::<String>()))?;
        steps.push(step);
        rest = after;
    }
    Ok(steps)
}

fn next(rest: &str, first: bool) -> Option<(Step, &str)> {
    if let Some(inner) = rest.strip_prefix('[') {
        return match inner.chars().next()? {
            quote @ ('\'' | '"') => {
                let (key, after) = quoted(inner, quote)?;
                Some((Step::Key(key), after.strip_prefix(']')?))
            }
            _ => {
                let (number, after) = inner.split_once(']')?;
                Some((Step::Index(number.trim().parse().ok()?), after))
            }
        };
    }
    if let Some(inner) = rest.strip_prefix('{') {
        let (number, after) = inner.split_once('}')?;
        return Some((Step::Entry(number.trim().parse().ok()?), after));
    }
    let name = match rest.strip_prefix('.') {
        Some(name) => name,
        None if first => rest,
        None => return None,
    };
    let end = name.find(['.', '[', '{']).unwrap_or(name.len());
    let (name, after) = name.split_at_checked(end)?;
    (!name.is_empty()).then(|| (Step::Field(name.to_owned()), after))
}

/// A key between quotes, with the escapes that Python has.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut key = String::new();
    let mut chars = text.chars();
    chars.next();
    loop {
        match chars.next()? {
            '\\' => key.push(match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'x' => code(&mut chars, 2)?,
                'u' => code(&mut chars, 4)?,
                'U' => code(&mut chars, 8)?,
                char => char,
            }),
            char if char == quote => return Some((key, chars.as_str())),
            char => key.push(char),
        }
    }
}

/// A character by its number.
fn code(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let digits: String = chars.by_ref().take(digits).collect();
    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
}

/// `.name`, or the key where it is not a word.
pub(super) fn field(name: &str) -> String {
    let is_word = |char: char| char == '_' || char.is_alphanumeric();
    if !name.is_empty() && name.chars().all(is_word) && name.len() < 256 {
        return format!(".{name}");
    }
    key(name)
}

pub(super) fn key(name: &str) -> String {
    format!("[{}]", literal::string(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_step_is_read() {
        let steps = parse("args[0].name['a b'][\"it's\"][-1]{3}").unwrap();
        let text = |text: &str| text.to_owned();
        assert_eq!(
            steps,
            [
                Step::Field(text("args")),
                Step::Index(0),
                Step::Field(text("name")),
                Step::Key(text("a b")),
                Step::Key(text("it's")),
                Step::Index(-1),
                Step::Entry(3),
            ]
        );
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(parse("$.a").unwrap(), [Step::Field(text("a"))]);
        assert_eq!(parse(r"['a\'b\\']").unwrap(), [Step::Key(text(r"a'b\"))]);
    }

    #[test]
    fn what_is_no_step_is_named() {
        for wrong in ["[", "[x]", "a..b", "['a'", "[1]x", "{a}", "[99999999999999999999]", "."] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse(&"[0]".repeat(PATH_MAX + 1)).is_err());
    }
}
