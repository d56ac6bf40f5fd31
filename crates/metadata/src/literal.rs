//! A value as a file or a call has it: what JSON has, and nothing of serde, which a build script would wait for.

use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Literal>),
    Map(Vec<(String, Literal)>),
}

impl Literal {
    /// What a plain word of YAML's core schema means.
    pub(crate) fn plain(text: &str) -> Literal {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Literal::Null,
            "true" | "True" | "TRUE" => return Literal::Bool(true),
            "false" | "False" | "FALSE" => return Literal::Bool(false),
            _ => {}
        }
        // `+1` and `.5` are numbers to YAML, `inf` and `nan` are not without their dot.
        let is_number = text.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it))
            && text.ends_with(|it: char| it.is_ascii_digit() || it == '.');
        match text.parse() {
            Ok(integer) if is_number => Literal::Integer(integer),
            _ => match text.parse() {
                Ok(number) if is_number => Literal::Number(number),
                _ => Literal::Text(text.to_owned()),
            },
        }
    }

    /// As a number, whichever it is.
    #[expect(clippy::cast_precision_loss, reason = "a bound or a line, never so large")]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Literal::Integer(integer) => Some(*integer as f64),
            Literal::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A member of a map.
    pub fn get(&self, name: &str) -> Option<&Literal> {
        match self {
            Literal::Map(members) => members.iter().find(|(it, _)| it == name).map(|(_, it)| it),
            _ => None,
        }
    }
}

/// As JSON writes it.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Null => f.write_str("null"),
            Literal::Bool(it) => write!(f, "{it}"),
            Literal::Integer(it) => write!(f, "{it}"),
            Literal::Number(it) => write!(f, "{it}"),
            Literal::Text(text) => quoted(f, text),
            Literal::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Literal::Map(members) => {
                f.write_str("{")?;
                for (at, (name, member)) in members.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    quoted(f, name)?;
                    write!(f, ": {member}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            letter if letter.is_control() => write!(f, "\\u{:04x}", u32::from(letter))?,
            letter => write!(f, "{letter}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_what_yaml_says() {
        for (text, datum) in [
            ("7", Literal::Integer(7)),
            ("-7", Literal::Integer(-7)),
            ("1.5", Literal::Number(1.5)),
            ("true", Literal::Bool(true)),
            ("~", Literal::Null),
            ("inf", Literal::Text("inf".to_owned())),
            ("1.2.3", Literal::Text("1.2.3".to_owned())),
            ("no", Literal::Text("no".to_owned())),
        ] {
            assert_eq!(Literal::plain(text), datum, "{text}");
        }
    }

    #[test]
    fn it_is_written_as_json() {
        let datum = Literal::Map(vec![
            ("a\"b".to_owned(), Literal::List(vec![Literal::Integer(1), Literal::Null])),
            ("c".to_owned(), Literal::Text("x\n\u{1}".to_owned())),
        ]);
        assert_eq!(datum.to_string(), r#"{"a\"b": [1, null], "c": "x\n\u0001"}"#);
    }
}
