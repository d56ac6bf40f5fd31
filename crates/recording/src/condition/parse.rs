//! From text to a condition, with errors that say where, what is known, and the nearest name.

use crate::{limits, recording::AskError};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// An exception went through the call, or ended in it; of that type, if one is named.
    Raised(Option<String>),
    Swallowed(Option<String>),
    Compare(Term, Comparison, Term),
    /// The value itself.
    Holds(Term),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    In,
    Contains,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Term {
    None,
    Undefined,
    Bool(bool),
    NotANumber,
    Number(f64),
    Text(String),
    List(Vec<Term>),
    Length(Box<Term>),
    Type(Box<Term>),
    /// `args.items`, `result`, `ms`: where it begins, and the way inside.
    Path(String, Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Number(f64),
    Text(String),
    Sign(&'static str),
}

const SIGNS: &[&str] =
    &["==", "!=", "<=", ">=", "===", "!==", "<", ">", "(", ")", "[", "]", ".", ",", "-"];

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
    roots: &'a [&'a str],
}

impl Condition {
    /// Reads a condition about `roots`.
    pub(crate) fn parse(text: &str, roots: &[&str]) -> Result<Condition, AskError> {
        if text.len() > limits::WHERE_MAX {
            let what = format!("the condition has more than {} characters", limits::WHERE_MAX);
            return Err(AskError::Invalid { what, hint: "ask for less at once".to_owned() });
        }
        let tokens = tokens(text)?;
        let mut parser = Parser { text, tokens, at: 0, depth: 0, roots };
        let condition = parser.any()?;
        match parser.tokens.get(parser.at) {
            None => Ok(condition),
            Some((at, _)) => Err(wrong(text, *at, "`and`, `or` or the end is expected here")),
        }
    }

    /// Every path of it.
    pub(crate) fn paths(&self) -> Vec<(&str, &[String])> {
        let mut all = Vec::new();
        self.collect(&mut all);
        all
    }

    fn collect<'a>(&'a self, into: &mut Vec<(&'a str, &'a [String])>) {
        match self {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|it| it.collect(into));
            }
            Condition::Not(inner) => inner.collect(into),
            Condition::Raised(_) | Condition::Swallowed(_) => {}
            Condition::Compare(left, _, right) => {
                left.collect(into);
                right.collect(into);
            }
            Condition::Holds(term) => term.collect(into),
        }
    }
}

impl Term {
    fn collect<'a>(&'a self, into: &mut Vec<(&'a str, &'a [String])>) {
        match self {
            Term::Path(root, way) => into.push((root, way)),
            Term::Length(inner) | Term::Type(inner) => inner.collect(into),
            Term::List(items) => items.iter().for_each(|it| it.collect(into)),
            _ => {}
        }
    }
}

fn wrong(text: &str, at: usize, what: &str) -> AskError {
    let before = text.get(..at).unwrap_or(text).chars().count();
    let what = format!("{what}: character {} of `{text}`", before + 1);
    AskError::Invalid { what, hint: HINT.to_owned() }
}

const HINT: &str = "for example: result is None · args.amount < 0 · raised KeyError · swallowed · ms > 50 · \
    len(args.items) == 0 · type(result) == 'str' · 'x' in args.name · result contains 'x' · and, or, not";

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, AskError> {
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        let (length, token) = match first {
            it if it.is_whitespace() => (it.len_utf8(), None),
            '\'' | '"' => {
                let (length, text) = quoted(text, at, first)?;
                (length, Some(Token::Text(text)))
            }
            it if it.is_ascii_digit() => {
                let part = |it: char| it.is_ascii_alphanumeric() || it == '.' || it == '_';
                let length = rest.find(|it| !part(it)).unwrap_or(rest.len());
                let digits = rest.get(..length).unwrap_or_default().replace('_', "");
                let number = digits.parse();
                let number = number.map_err(|_| wrong(text, at, "this is no number"))?;
                (length, Some(Token::Number(number)))
            }
            it if it.is_alphabetic() || it == '_' || it == '$' => {
                let part = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
                let length = rest.find(|it| !part(it)).unwrap_or(rest.len());
                (length, Some(Token::Word(rest.get(..length).unwrap_or_default().to_owned())))
            }
            _ => {
                let found = SIGNS.iter().filter(|it| rest.starts_with(**it));
                let sign = found.max_by_key(|it| it.len());
                let sign = sign.ok_or_else(|| wrong(text, at, "this means nothing here"))?;
                (sign.len(), Some(Token::Sign(sign)))
            }
        };
        all.extend(token.map(|it| (at, it)));
        at += length;
    }
    Ok(all)
}

/// A text in quotes: how long it is there, and what it says.
fn quoted(text: &str, at: usize, quote: char) -> Result<(usize, String), AskError> {
    let (mut out, mut is_escaped) = (String::new(), false);
    let rest = text.get(at..).unwrap_or_default();
    for (place, character) in rest.char_indices().skip(1) {
        match character {
            _ if is_escaped => {
                out.push(match character {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            it if it == quote => return Ok((place + it.len_utf8(), out)),
            it => out.push(it),
        }
    }
    Err(wrong(text, at, "this quote is not closed"))
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn word(&self) -> Option<&str> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let is_it = self.word() == Some(wanted);
        self.at += usize::from(is_it);
        is_it
    }

    fn take_sign(&mut self, wanted: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Sign(sign)) if *sign == wanted);
        self.at += usize::from(is_it);
        is_it
    }

    fn wrong<T>(&self, what: &str) -> Result<T, AskError> {
        let at = self.tokens.get(self.at).map_or(self.text.len(), |(at, _)| *at);
        Err(wrong(self.text, at, what))
    }

    fn any(&mut self) -> Result<Condition, AskError> {
        let mut parts = vec![self.all()?];
        while self.take_word("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition, AskError> {
        let mut parts = vec![self.not()?];
        while self.take_word("and") {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Condition::All))
    }

    fn not(&mut self) -> Result<Condition, AskError> {
        self.depth += 1;
        if self.depth > limits::WHERE_DEPTH_MAX {
            return self.wrong("this goes too deep");
        }
        let found = match self.take_word("not") {
            true => Ok(Condition::Not(Box::new(self.not()?))),
            false => self.atom(),
        };
        self.depth -= 1;
        found
    }

    fn atom(&mut self) -> Result<Condition, AskError> {
        if self.take_sign("(") {
            let inner = self.any()?;
            return match self.take_sign(")") {
                true => Ok(inner),
                false => self.wrong("`)` is expected here"),
            };
        }
        if self.roots.contains(&"raised") && self.take_word("raised") {
            return Ok(Condition::Raised(self.type_name()));
        }
        if self.roots.contains(&"swallowed") && self.take_word("swallowed") {
            return Ok(Condition::Swallowed(self.type_name()));
        }
        let left = self.term()?;
        self.comparison(left)
    }

    /// `KeyError` of `raised KeyError`.
    fn type_name(&mut self) -> Option<String> {
        let word = self.word().filter(|it| !["and", "or", "not"].contains(it))?.to_owned();
        self.at += 1;
        // Of `json.JSONDecodeError` the last part.
        let mut name = word;
        while self.take_sign(".") {
            if let Some(part) = self.word().map(str::to_owned) {
                self.at += 1;
                name = part;
            }
        }
        Some(name)
    }

    fn comparison(&mut self, left: Term) -> Result<Condition, AskError> {
        if self.take_word("is") {
            let is_not = self.take_word("not");
            let right = self.term()?;
            let same = Condition::Compare(left, Comparison::Equal, right);
            return Ok(if is_not { Condition::Not(Box::new(same)) } else { same });
        }
        if self.word() == Some("not") {
            self.at += 1;
            if !self.take_word("in") {
                return self.wrong("`in` is expected here");
            }
            let within = Condition::Compare(left, Comparison::In, self.term()?);
            return Ok(Condition::Not(Box::new(within)));
        }
        let how = match self.peek() {
            Some(Token::Word(word)) if word == "in" => Comparison::In,
            Some(Token::Word(word)) if word == "contains" => Comparison::Contains,
            Some(Token::Sign("==" | "===")) => Comparison::Equal,
            Some(Token::Sign("!=" | "!==")) => Comparison::Unequal,
            Some(Token::Sign("<")) => Comparison::Less,
            Some(Token::Sign("<=")) => Comparison::AtMost,
            Some(Token::Sign(">")) => Comparison::More,
            Some(Token::Sign(">=")) => Comparison::AtLeast,
            _ => return Ok(Condition::Holds(left)),
        };
        self.at += 1;
        Ok(Condition::Compare(left, how, self.term()?))
    }

    fn term(&mut self) -> Result<Term, AskError> {
        let is_negative = self.take_sign("-");
        let Some((at, token)) = self.tokens.get(self.at).cloned() else {
            return self.wrong("a value is expected here");
        };
        self.at += 1;
        match token {
            Token::Number(number) => Ok(Term::Number(if is_negative { -number } else { number })),
            _ if is_negative => Err(wrong(self.text, at, "a number is expected here")),
            Token::Text(text) => Ok(Term::Text(text)),
            Token::Sign("[" | "(") => self.list(),
            Token::Sign(_) => Err(wrong(self.text, at, "a value is expected here")),
            Token::Word(word) => self.named(at, word),
        }
    }

    fn list(&mut self) -> Result<Term, AskError> {
        let mut items = Vec::new();
        self.depth += 1;
        if self.depth > limits::WHERE_DEPTH_MAX {
            return self.wrong("this goes too deep");
        }
        while !self.take_sign("]") && !self.take_sign(")") {
            items.push(self.term()?);
            let is_end = matches!(self.peek(), Some(Token::Sign("]" | ")")));
            if !self.take_sign(",") && !is_end {
                return self.wrong("`,` or `]` is expected here");
            }
        }
        self.depth -= 1;
        Ok(Term::List(items))
    }

    fn named(&mut self, at: usize, word: String) -> Result<Term, AskError> {
        match word.as_str() {
            "None" | "null" => return Ok(Term::None),
            "undefined" => return Ok(Term::Undefined),
            "True" | "true" => return Ok(Term::Bool(true)),
            "False" | "false" => return Ok(Term::Bool(false)),
            "NaN" | "nan" => return Ok(Term::NotANumber),
            "len" | "type" if self.take_sign("(") => {
                let inner = Box::new(self.term()?);
                if !self.take_sign(")") {
                    return self.wrong("`)` is expected here");
                }
                return Ok(if word == "len" { Term::Length(inner) } else { Term::Type(inner) });
            }
            _ => {}
        }
        let is_value = |it: &&&str| !["raised", "swallowed"].contains(*it);
        if !self.roots.iter().filter(is_value).any(|it| *it == word) {
            return Err(self.unknown(at, &word));
        }
        let way = self.way()?;
        Ok(Term::Path(word, way))
    }

    /// `.items`, `[0]`, `['a']`.
    fn way(&mut self) -> Result<Vec<String>, AskError> {
        let mut way = Vec::new();
        loop {
            if self.take_sign(".") {
                let Some(name) = self.word().map(str::to_owned) else {
                    return self.wrong("a name is expected here");
                };
                self.at += 1;
                way.push(name);
            } else if self.take_sign("[") {
                let key = match self.peek() {
                    Some(Token::Text(text)) => text.clone(),
                    Some(Token::Number(number)) => number.to_string(),
                    _ => return self.wrong("a number or a text in quotes is expected here"),
                };
                self.at += 1;
                if !self.take_sign("]") {
                    return self.wrong("`]` is expected here");
                }
                way.push(key);
            } else {
                return Ok(way);
            }
        }
    }

    fn unknown(&self, at: usize, word: &str) -> AskError {
        let before = self.text.get(..at).unwrap_or_default().chars().count();
        let what = format!("`{word}` is not known: character {} of `{}`", before + 1, self.text);
        let near = nearest(word, self.roots.iter().copied());
        let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        let arguments = match self.roots.contains(&"args") {
            true => format!("; a parameter is `args.{word}`"),
            false => String::new(),
        };
        let hint = format!("known: {}{near}{arguments}", self.roots.join(", "));
        AskError::Invalid { what, hint }
    }
}

fn one_or(mut parts: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            many(parts)
        }
        None => many(parts),
    }
}

/// The name that was probably meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = |it: &'a str| (strsim::jaro_winkler(name, it), it);
    let found = known.map(near).max_by(|one, other| one.0.total_cmp(&other.0));
    found.filter(|(score, it)| *score > 0.75 && is_near(name, it)).map(|(_, it)| it)
}

/// Whether one may be meant by the other: the same letters but for a third of them, or its beginning. What is further
/// off only looks like an answer.
fn is_near(name: &str, known: &str) -> bool {
    let (name, known) = (name.to_lowercase(), known.to_lowercase());
    let longest = name.chars().count().max(known.chars().count());
    let is_beginning = name.chars().count() >= 3 && known.starts_with(&name);
    is_beginning || strsim::damerau_levenshtein(&name, &known) * 3 <= longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROOTS: &[&str] = &["args", "result", "ms", "raised", "swallowed"];

    #[test]
    fn a_guess_that_is_far_off_is_not_offered() {
        for (name, known) in [("user", "super"), ("maps", "markupsafe"), ("lexer.py", "Lexer.wrap")]
        {
            assert_eq!(nearest(name, [known].into_iter()), None, "{name}");
        }
        for (name, known) in
            [("totl", "total"), ("Total", "total"), ("disc", "discount"), ("resutl", "result")]
        {
            assert_eq!(nearest(name, [known].into_iter()), Some(known));
        }
    }

    #[test]
    fn conditions_are_read() {
        for text in [
            "result is None",
            "result is not None",
            "args.amount < 0",
            "raised KeyError and not swallowed",
            "raised json.JSONDecodeError",
            "ms > 50 or len(args.items) == 0",
            "type(result) == 'str'",
            "args.kind in ['a', \"b\"]",
            "'x' not in args.name",
            "result contains 'it\\'s'",
            "(result == -1.5e3 or result.total >= 1_000) and not args['x'][0]",
            "result",
        ] {
            Condition::parse(text, ROOTS).unwrap();
        }
    }

    #[track_caller]
    fn refused(text: &str, place: usize, hint: &str) {
        let Err(AskError::Invalid { what, hint: found }) = Condition::parse(text, ROOTS) else {
            panic!("{text} was taken")
        };
        assert!(what.contains(&format!("character {place} of")), "{what}");
        assert!(found.contains(hint), "{found}");
    }

    #[test]
    fn what_cannot_be_read_says_where_and_what_can() {
        refused("result is Nothing", 11, "known: args, result");
        refused("reslt == 1", 1, "did you mean `result`?");
        refused("amount < 0", 1, "`args.amount`");
        refused("result ==", 10, "for example");
        refused("result == 'x", 11, "for example");
        refused("(result == 1", 13, "for example");
        refused("result == 1 args.x", 13, "for example");
        refused("result ; 1", 8, "for example");
        refused("args. < 1", 7, "for example");
        refused("ms > 1x", 6, "for example");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}", words in "([a-z(\\[. ]{0,4}(args|not|is|in|or|'|len\\()){0,40}") {
            // Neither may panic; both may be wrong.
            prop_assert!(Condition::parse(&text, ROOTS).is_ok() || !text.is_empty() || text.is_empty());
            prop_assert!(Condition::parse(&words, ROOTS).is_ok() || words.len() < 2_000);
        }
    }
}
