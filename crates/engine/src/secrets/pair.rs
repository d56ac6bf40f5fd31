//! Names and values in a text, found at the sign between them.

use super::{Form, Hidden, Secrets, Weight, look, name, rules, shape};

/// What stands between name and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=` with nothing around it, as in an environment or a query.
    Tight,
    /// `=` or `=>` between spaces: a variable, or source.
    Equals,
    Colon,
    /// The name was given beside the value.
    Told,
}

/// All secrets in a text, in order.
pub(super) fn secrets(of: &Secrets, text: &str) -> Vec<Hidden> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    let mut word = None;
    while let Some(byte) = bytes.get(at) {
        if look::is_word(*byte) {
            word.get_or_insert(at);
        }
        let is_sign = matches!(byte, b'=' | b':');
        let is_last = !bytes.get(at + 1).is_some_and(|it| look::is_word(*it));
        if let Some(start) = word.filter(|_| is_last) {
            // Every secret word is longer than this; most words are not.
            if at + 1 - start >= SHORTEST
                && let Some(shaped) = shape::of(text, start, at + 1)
            {
                at = at.max(shaped.range.end.saturating_sub(1));
                found.push(shaped);
            }
            word = None;
        }
        if is_sign {
            found.extend(at_sign(of, text, at));
        }
        at += 1;
    }
    found.sort_by_key(|it| (it.range.start, std::cmp::Reverse(it.range.end)));
    found
}

const SHORTEST: usize = 10;

/// The secrets that belong to the sign at this place.
fn at_sign(of: &Secrets, text: &str, at: usize) -> Vec<Hidden> {
    let bytes = text.as_bytes();
    let get = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
    let before = at.checked_sub(1).map_or(b' ', get);
    if get(at) == b':' && get(at + 1) == b'/' && get(at + 2) == b'/' {
        return shape::in_address(text, at + 3).into_iter().collect();
    }
    // Comparisons, and `::`.
    if matches!(before, b'=' | b'!' | b'<' | b'>' | b':' | b'+' | b'~')
        || matches!((get(at), get(at + 1)), (b'=', b'=') | (b':', b':'))
    {
        return Vec::new();
    }
    let names = [name_before(text, at), declared(text, at)];
    let weighed = names.into_iter().flatten().map(|name| (name, of.weight(name)));
    let Some((name, weight)) = weighed.into_iter().find(|(_, it)| *it != Weight::Plain) else {
        return Vec::new();
    };
    let mut from = at + 1;
    if matches!((get(at), get(from)), (b'=', b'>') | (b':', b'=')) {
        from += 1;
    }
    let spaces = bytes.iter().skip(from).take(16).take_while(|it| **it == b' ').count();
    let sign = match get(at) {
        b':' => Sign::Colon,
        _ if spaces == 0 && before != b' ' => Sign::Tight,
        _ => Sign::Equals,
    };
    let rest = text.get(from + spaces..).unwrap_or_default();
    if sign == Sign::Colon
        && rules::HEADERS.contains(&name::joined(name).as_str())
        && !rest.starts_with(['\'', '"', '\\', '`', '{', '[', '‹', '('])
    {
        return header(text, from + spaces);
    }
    if is_end(text, at, from + spaces) {
        return Vec::new();
    }
    let is_loud = name.bytes().any(|it| it.is_ascii_uppercase())
        && !name.bytes().any(|it| it.is_ascii_lowercase());
    let sign = if sign == Sign::Tight && is_loud { Sign::Told } else { sign };
    value(weight, text, from + spaces, sign)
}

/// The name that a type stands behind: `password: dict[str, str] = …`.
fn declared(text: &str, sign: usize) -> Option<&str> {
    let before = text.get(..sign).filter(|_| text.as_bytes().get(sign) == Some(&b'='))?;
    let mut depth = 0_usize;
    for (place, letter) in before.char_indices().rev().take(LONGEST_TYPE) {
        match letter {
            ']' | '>' => depth += 1,
            '[' | '<' => depth = depth.checked_sub(1)?,
            ':' if depth == 0 => return name_before(text, place),
            ',' if depth > 0 => {}
            ' ' | '|' | '_' | '.' | '?' => {}
            letter if letter.is_alphanumeric() => {}
            _ => return None,
        }
    }
    None
}

/// Longer ones are no types that anybody writes before a value.
const LONGEST_TYPE: usize = 80;

/// The name that ends before the sign, without quotes around it.
fn name_before(text: &str, sign: usize) -> Option<&str> {
    let before = text.get(..sign)?.trim_end_matches(' ');
    let before = before.trim_end_matches([']', '\'', '"', '`', '\\', '?']);
    let start = before
        .bytes()
        .rev()
        .take(64)
        .take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.' | b'$'))
        .count();
    let name = before.get(before.len() - start..)?;
    (!name.is_empty()).then_some(name)
}

/// A header's value: the rest of its line.
fn header(text: &str, at: usize) -> Vec<Hidden> {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.get(..rest.find(['\n', '\r']).unwrap_or(rest.len())).unwrap_or_default();
    // As text inside of a quoted one, it ends with that.
    let line = line
        .get(..line.find(['"', '\'', '\\', '`']).unwrap_or(line.len()))
        .unwrap_or_default()
        .trim_end();
    let (skip, secret) = without_scheme(line);
    // `Cookie: not set` is a sentence.
    let is_sentence = !secret.contains('=') && (skip == 0 || secret.contains(' '));
    let is_sentence =
        is_sentence && (secret.contains(' ') || !secret.bytes().any(|it| it.is_ascii_digit()));
    if is_sentence || (skip == 0 && secret.len() < 6) || !look::is_secret(Weight::Secret, secret) {
        return Vec::new();
    }
    vec![Hidden { range: at + skip..at + line.len(), form: Form::Text }]
}

/// The secrets in the value that begins here, of a name of this weight.
pub(super) fn value(weight: Weight, text: &str, at: usize, sign: Sign) -> Vec<Hidden> {
    if weight == Weight::Plain {
        return Vec::new();
    }
    let rest = text.get(at..).unwrap_or_default();
    let opening = rest.chars().next().unwrap_or(' ');
    if weight == Weight::Secret && matches!(opening, '[' | '(' | '{') {
        return inside(text, at);
    }
    match quoted(text, at) {
        Some((found, _)) => {
            let secret = text.get(found.range.clone()).unwrap_or_default();
            let (skip, secret) = without_scheme(secret);
            let range = found.range.start + skip..found.range.end;
            if look::is_secret(weight, secret) {
                vec![Hidden { range, ..found }]
            } else {
                Vec::new()
            }
        }
        None => bare(weight, text, at, sign).into_iter().collect(),
    }
}

/// `Bearer abc` shows what kind it is.
fn without_scheme(value: &str) -> (usize, &str) {
    let (word, rest) = value.split_once(' ').unwrap_or((value, ""));
    let is_scheme = rules::SCHEMES.iter().any(|it| it.eq_ignore_ascii_case(word));
    if is_scheme && !rest.is_empty() { (word.len() + 1, rest) } else { (0, value) }
}

/// Whether a quote at this place ends the string that the name stands in: `input("Password: ")`.
fn is_end(text: &str, sign: usize, at: usize) -> bool {
    let (Some(before), Some(quote)) =
        (text.get(..sign), text.get(at..).and_then(|it| it.chars().next()))
    else {
        return false;
    };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_named = !before.ends_with(['"', '\'', '`', ']']);
    matches!(quote, '"' | '\'' | '`') && is_named && line.matches(quote).count() % 2 == 1
}

/// A string that begins here, and where it ends with its quote. One that is cut goes to the end of its line.
fn quoted(text: &str, at: usize) -> Option<(Hidden, usize)> {
    let rest = text.get(at..)?;
    // What stands before the quote: `b'…'`, `r"…"`, `&"…"`.
    let prefix = rest
        .bytes()
        .take(2)
        .take_while(|it| {
            matches!(it, b'b' | b'B' | b'r' | b'R' | b'u' | b'U' | b'f' | b'F' | b'@' | b'&')
        })
        .count();
    let behind = rest.get(prefix..)?;
    // Inside of another string the quote has its own mark.
    let marks = behind.bytes().take_while(|it| *it == b'\\').count();
    let quote = behind.get(marks..)?.chars().next().filter(|it| matches!(it, '"' | '\'' | '`'))?;
    let start = at + prefix + marks + 1;
    let form = match rest.get(..prefix) {
        Some(prefix) if prefix.contains(['b', 'B']) => Form::Bytes,
        _ => Form::Text,
    };
    let body = text.get(start..)?;
    let triple = body.starts_with([quote]) && body.get(1..).is_some_and(|it| it.starts_with(quote));
    if triple {
        let inner = body.get(2..)?;
        let end = inner.find(&String::from(quote).repeat(3)).unwrap_or(inner.len());
        return Some((Hidden { range: start + 2..start + 2 + end, form }, start + 2 + end + 3));
    }
    let mut escapes = 0;
    for (place, letter) in body.char_indices() {
        match letter {
            '\\' => escapes += 1,
            '\n' => return Some((Hidden { range: start..start + place, form }, start + place)),
            letter if letter == quote && escapes == marks => {
                return Some((
                    Hidden { range: start..start + place - marks, form },
                    start + place + 1,
                ));
            }
            _ => escapes = 0,
        }
        if letter == quote {
            escapes = 0;
        }
    }
    Some((Hidden { range: start..text.len(), form }, text.len()))
}

/// Every string inside of brackets, but not the names among them.
fn inside(text: &str, at: usize) -> Vec<Hidden> {
    let (mut depth, mut place, mut found) = (0_usize, at, Vec::new());
    while let Some(letter) = text.get(place..).and_then(|it| it.chars().next()) {
        match letter {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            '\n' => break,
            '"' | '\'' | '`' => {
                let Some((string, end)) = quoted(text, place) else { break };
                let is_name = text.get(end..).is_some_and(|it| {
                    it.trim_start().starts_with([':']) || it.trim_start().starts_with("=>")
                });
                let value = text.get(string.range.clone()).unwrap_or_default();
                if !is_name && look::is_secret(Weight::Secret, value) {
                    found.push(string);
                }
                place = end;
                continue;
            }
            _ => {}
        }
        place += letter.len_utf8();
        if depth == 0 {
            break;
        }
    }
    found
}

/// A value without quotes: a number, or what an environment, a query or a settings file says.
fn bare(weight: Weight, text: &str, at: usize, sign: Sign) -> Option<Hidden> {
    let rest = text.get(at..)?;
    let ends = |it: char| {
        it.is_whitespace()
            || matches!(
                it,
                ',' | ';'
                    | '&'
                    | '"'
                    | '\''
                    | '`'
                    | ')'
                    | ']'
                    | '}'
                    | '('
                    | '['
                    | '{'
                    | '<'
                    | '>'
                    | '‹'
                    | '\\'
                    | '|'
                    | '·'
            )
    };
    let end = rest.find(ends).unwrap_or(rest.len());
    let word = rest.get(..end)?;
    let is_code =
        rest.get(end..).is_some_and(|it| it.starts_with(['(', '[', '{', '<', '\'', '"', '`']))
            || word.is_empty();
    if is_code || !look::is_secret(weight, word) {
        return None;
    }
    let found = |form| Some(Hidden { range: at..at + word.len(), form });
    let is_number = word.bytes().all(|it| it.is_ascii_digit() || matches!(it, b'.' | b'-' | b'n'));
    if is_number {
        // A line's number, an error's, a time: only a variable's own value is one.
        let is_value =
            matches!(sign, Sign::Equals | Sign::Told) || (sign == Sign::Tight && word.len() >= 4);
        return if is_value && word.len() > 1 { found(Form::Number) } else { None };
    }
    let has_digit = word.bytes().any(|it| it.is_ascii_digit());
    let is_path = word.contains('/') && !look::is_random(word);
    let is_name = word.bytes().all(|it| it.is_ascii_alphabetic() || matches!(it, b'_' | b'.'));
    let is_secret = match sign {
        Sign::Told => !is_path && !word.contains('.') || look::is_random(word),
        Sign::Tight => has_digit && !is_path && !word.contains('.') || look::is_random(word),
        Sign::Equals => look::is_random(word),
        // Alone on its line, as settings files have it.
        Sign::Colon => {
            let alone = rest.get(end..).is_some_and(|it| it.is_empty() || it.starts_with('\n'));
            has_digit && !is_name && word.len() >= 6 && alone && !is_path
        }
    };
    if is_secret { found(Form::Text) } else { None }
}
