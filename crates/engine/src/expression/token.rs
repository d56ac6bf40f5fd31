//! Text into words, numbers and signs.

use super::numeric::Numeric;

/// What differs between the languages that share these expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    Java,
    CSharp,
}

impl Grammar {
    /// What the language's runtime calls the failure of who uses null.
    pub(super) fn null_error(self) -> &'static str {
        match self {
            Grammar::Java => "NullPointerException",
            Grammar::CSharp => "NullReferenceException",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    Number(Numeric),
    Text(String),
    Char(u16),
    Sign(&'static str),
}

/// The longest first: `>=` is no `>` and `=`.
const SIGNS: &[&str] = &[
    ">>>=", ">>>", "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||", "<<", "++", "--", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "->", "=>", "::", "??", "?.", "+", "-", "*", "/", "%", "&",
    "|", "^", "~", "!", "<", ">", "=", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}", ";", "@",
];

/// The words of a text, each with where it begins.
pub(super) fn tokens(text: &str, grammar: Grammar) -> Result<Vec<Token>, String> {
    let mut rest = text;
    let mut all = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(all) };
        let (token, left) = match first {
            '0'..='9' => number(rest, grammar)?,
            '.' if rest.chars().nth(1).is_some_and(|it| it.is_ascii_digit()) => {
                number(rest, grammar)?
            }
            '"' => text_literal(rest)?,
            '\'' => char_literal(rest)?,
            it if begins_word(it) => word(rest),
            _ => sign(rest).ok_or_else(|| format!("SyntaxError: `{first}` means nothing here"))?,
        };
        // `2.total` would be one word for a number and a name.
        all.push(token);
        rest = left;
    }
}

fn begins_word(it: char) -> bool {
    it.is_alphabetic() || matches!(it, '_' | '$')
}

fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|it| !is_part(it)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn word(text: &str) -> (Token, &str) {
    let (word, rest) = split(text, |it| begins_word(it) || it.is_numeric());
    (Token::Word(word.to_owned()), rest)
}

fn sign(text: &str) -> Option<(Token, &str)> {
    let found = SIGNS.iter().find(|it| text.starts_with(**it))?;
    Some((Token::Sign(found), text.strip_prefix(found)?))
}

fn number(text: &str, grammar: Grammar) -> Result<(Token, &str), String> {
    let (digits, radix, rest) = digits(text);
    let plain: String = digits.chars().filter(|it| *it != '_').collect();
    let (suffix, left) = split(rest, |it| it.is_ascii_alphanumeric());
    let suffix = suffix.to_ascii_lowercase();
    let wrong = || format!("SyntaxError: `{digits}{suffix}` is no number");
    let is_real = radix == 10
        && (plain.contains(['.', 'e', 'E']) || matches!(suffix.as_str(), "f" | "d" | "m"));
    let value = if is_real {
        let real: f64 = plain.parse().map_err(|_| wrong())?;
        match suffix.as_str() {
            // What it is written as decides, so that no digit is lost by the way.
            "f" => Numeric::F32(plain.parse().map_err(|_| wrong())?),
            "" | "d" | "m" => Numeric::F64(real),
            _ => return Err(wrong()),
        }
    } else {
        let whole = u64::from_str_radix(&plain, radix).map_err(|_| wrong())?;
        match suffix.as_str() {
            "" => Numeric::whole(whole, radix, grammar).ok_or_else(wrong)?,
            // The same bits.
            "l" => Numeric::I64(whole.cast_signed()),
            "u" if grammar == Grammar::CSharp => {
                Numeric::U32(u32::try_from(whole).map_err(|_| wrong())?)
            }
            "ul" | "lu" if grammar == Grammar::CSharp => Numeric::U64(whole),
            _ => return Err(wrong()),
        }
    };
    Ok((Token::Number(value), left))
}

/// The digits of a number, in which base they count, and what stands behind them.
fn digits(text: &str) -> (&str, u32, &str) {
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            let (digits, left) = split(rest, |it| it.is_digit(radix) || it == '_');
            return (digits, radix, left);
        }
    }
    let (whole, mut rest) = split(text, |it| it.is_ascii_digit() || it == '_');
    let mut end = whole.len();
    if let Some(fraction) = rest.strip_prefix('.')
        && fraction.starts_with(|it: char| it.is_ascii_digit())
    {
        let (digits, left) = split(fraction, |it| it.is_ascii_digit() || it == '_');
        end += 1 + digits.len();
        rest = left;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let (digits, left) = split(unsigned, |it| it.is_ascii_digit());
        if !digits.is_empty() {
            end = text.len() - left.len();
        }
    }
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    (digits, 10, rest)
}

fn text_literal(text: &str) -> Result<(Token, &str), String> {
    let mut value = String::new();
    let mut rest = text.strip_prefix('"').unwrap_or(text);
    loop {
        let mut chars = rest.chars();
        match chars.next() {
            None => return Err("SyntaxError: a text without its end".to_owned()),
            Some('"') => return Ok((Token::Text(value), chars.as_str())),
            Some('\\') => {
                let (unit, left) = escaped(chars.as_str())?;
                value.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
                rest = left;
            }
            Some(it) => {
                value.push(it);
                rest = chars.as_str();
            }
        }
    }
}

fn char_literal(text: &str) -> Result<(Token, &str), String> {
    let wrong = || "SyntaxError: `'` begins one character; a text stands in `\"`".to_owned();
    let rest = text.strip_prefix('\'').unwrap_or(text);
    let mut chars = rest.chars();
    let (unit, left) = match chars.next() {
        Some('\\') => escaped(chars.as_str())?,
        Some(it) if it != '\'' => {
            (u16::try_from(u32::from(it)).map_err(|_| wrong())?, chars.as_str())
        }
        _ => return Err(wrong()),
    };
    Ok((Token::Char(unit), left.strip_prefix('\'').ok_or_else(wrong)?))
}

/// What stands behind a backslash.
fn escaped(text: &str) -> Result<(u16, &str), String> {
    let mut chars = text.chars();
    let first = chars.next();
    let unit = match first {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('0') => '\0',
        Some(it @ ('"' | '\'' | '\\')) => it,
        Some('u') => {
            let digits = chars.as_str().split_at_checked(4);
            let read =
                digits.and_then(|(it, rest)| Some((u16::from_str_radix(it, 16).ok()?, rest)));
            return read.ok_or_else(|| "SyntaxError: `\\u` wants four digits".to_owned());
        }
        _ => return Err("SyntaxError: `\\` before what needs none".to_owned()),
    };
    Ok((u16::try_from(u32::from(unit)).unwrap_or_default(), chars.as_str()))
}
