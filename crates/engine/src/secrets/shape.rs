//! Words that are keys by their own look, whatever they are called.

use super::{Form, Hidden, look, rules};

/// Whether a whole value is one.
pub(super) fn is_secret(value: &str) -> bool {
    let whole = value.trim();
    is_private_key(whole) || starts_as_key(whole)
}

/// The secret that this word is, or holds, or begins: `at` is where it starts in `text`.
pub(super) fn of(text: &str, at: usize, end: usize) -> Option<Hidden> {
    let word = text.get(at..end)?;
    let found = |range| Some(Hidden { range, form: Form::Text });
    if word.starts_with("-----BEGIN") {
        return private_key(text, at);
    }
    if starts_as_key(word) {
        // A sentence's full stop, and what a query string begins with, are not its own.
        return found(at..at + word.trim_end_matches(['.', '-', '=']).len());
    }
    let before = text.get(..at)?;
    let is_scheme = ends_with(before, "bearer ") || ends_with(before, "basic ");
    let is_long =
        word.len() >= 16 && word.bytes().any(|it| it.is_ascii_digit() || it.is_ascii_uppercase());
    if is_scheme && is_long {
        return found(at..end);
    }
    None
}

/// A password in an address, `scheme://user:password@host`: `at` is behind the `://`.
pub(super) fn in_address(text: &str, at: usize) -> Option<Hidden> {
    let rest = text.get(at..)?;
    let ends = |it: char| {
        it.is_whitespace()
            || matches!(it, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '\\' | ')')
    };
    let host = rest.get(..rest.find(ends).unwrap_or(rest.len()))?;
    let (user, _) = host.rsplit_once('@')?;
    let (name, password) = user.split_once(':').map_or((user, ""), |it| it);
    if password.is_empty() || password.starts_with(['‹', '{', '$', '*', '%']) && password.len() < 3
    {
        return None;
    }
    let start = at + name.len() + 1;
    let is_placeholder =
        password.starts_with(['{', '<', '$', '‹']) || password.bytes().all(|it| it == b'*');
    (!is_placeholder).then(|| Hidden { range: start..start + password.len(), form: Form::Text })
}

fn starts_as_key(word: &str) -> bool {
    let trimmed = word.trim_end_matches(['.', '-', '=']);
    if !trimmed.bytes().all(look::is_word) {
        return false;
    }
    let matching = rules::BEGINNINGS.iter().filter(|(start, _)| trimmed.starts_with(start));
    let mut matching = matching.filter(|(_, least)| trimmed.len() >= *least);
    matching.any(|(start, _)| is_key_behind(trimmed, start))
}

/// What follows the beginning is mixed: `sk-learn-pipeline-steps` is no key.
fn is_key_behind(word: &str, start: &str) -> bool {
    let rest = word.get(start.len()..).unwrap_or_default();
    let has = |of: fn(&u8) -> bool| rest.bytes().any(|it| of(&it));
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    match start {
        // An access key's id: capitals and digits alone.
        "AKIA" | "ASIA" => {
            word.len() == 20
                && rest.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
        }
        "SK" | "dapi" | "key-" | "pat-" => {
            rest.len() >= 32 && rest.bytes().all(|it| it.is_ascii_hexdigit())
        }
        // A web token has its three parts.
        "eyJ" => word.matches('.').count() == 2 && has(u8::is_ascii_uppercase),
        _ => digits >= 2 && (has(u8::is_ascii_lowercase) || has(u8::is_ascii_uppercase)),
    }
}

fn ends_with(text: &str, end: &str) -> bool {
    let at = text.len().checked_sub(end.len());
    at.and_then(|at| text.get(at..)).is_some_and(|it| it.eq_ignore_ascii_case(end))
}

fn is_private_key(text: &str) -> bool {
    text.starts_with("-----BEGIN")
        && text.get(..60.min(text.len())).is_some_and(|it| it.contains("PRIVATE KEY"))
}

/// From its first line to its last, or to where the text was cut.
fn private_key(text: &str, at: usize) -> Option<Hidden> {
    let rest = text.get(at..)?;
    let head = rest.get(10..)?;
    let head = head.get(..head.find("-----")?)?;
    if !head.contains("PRIVATE KEY") || head.contains('\n') {
        return None;
    }
    let end = rest.find("-----END").map_or(rest.len(), |end| {
        let behind = rest.get(end + 8..).unwrap_or_default();
        end + 8 + behind.find("-----").map_or(behind.len(), |it| it + 5)
    });
    Some(Hidden { range: at..at + end, form: Form::PrivateKey })
}
