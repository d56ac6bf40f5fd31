//! Words into a tree, by precedence. Bounded in depth: who walks a tree walks as deep.

use super::{
    token::{Grammar, Token, tokens},
    tree::Tree,
};
use crate::limits;

/// Two-sided signs, the weakest first. Casts, `instanceof` and what is short-circuited have words of their own.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>", ">>>"],
    &["+", "-"],
    &["*", "/", "%"],
];
/// Where `instanceof`, `is` and `as` stand.
const COMPARING: usize = 6;
const ASSIGNING: &[(&str, Option<&str>)] = &[
    ("=", None),
    ("+=", Some("+")),
    ("-=", Some("-")),
    ("*=", Some("*")),
    ("/=", Some("/")),
    ("%=", Some("%")),
    ("&=", Some("&")),
    ("|=", Some("|")),
    ("^=", Some("^")),
    ("<<=", Some("<<")),
    (">>=", Some(">>")),
    (">>>=", Some(">>>")),
];
const PRIMITIVES: &[&str] = &[
    "boolean", "bool", "byte", "sbyte", "short", "ushort", "char", "int", "uint", "long", "ulong",
    "float", "double", "decimal", "string", "object",
];

pub(crate) fn parse(text: &str, grammar: Grammar) -> Result<Tree, String> {
    if text.len() > limits::EXPRESSION_BYTES {
        return Err(format!("SyntaxError: more than {} bytes", limits::EXPRESSION_BYTES));
    }
    let tokens = tokens(text.trim().trim_end_matches(';'), grammar)?;
    let mut parser = Parser { tokens, at: 0, depth: 0, grammar };
    let tree = parser.assignment()?;
    match parser.peek() {
        None => Ok(tree),
        Some(Token::Sign(sign @ ("->" | "=>" | "::"))) => Err(unsupported(sign)),
        Some(Token::Sign(sign @ ("++" | "--"))) => Err(unsupported(sign)),
        Some(token) => Err(format!("SyntaxError: {} is one too many", shown(token))),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    grammar: Grammar,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn ahead(&self, by: usize) -> Option<&Token> {
        self.tokens.get(self.at + by)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(it)) if *it == sign)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_it = self.is_sign(sign);
        self.at += usize::from(is_it);
        is_it
    }

    fn one_of(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let found = signs.iter().find(|it| self.is_sign(it)).copied()?;
        self.at += 1;
        Some(found)
    }

    fn wants(&mut self, sign: &str) -> Result<(), String> {
        if self.take_sign(sign) {
            return Ok(());
        }
        let found =
            self.peek().map_or_else(|| "it ends".to_owned(), |it| format!("{} stands", shown(it)));
        Err(format!("SyntaxError: {found} where `{sign}` is wanted"))
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Word(it)) if it == word);
        self.at += usize::from(is_it);
        is_it
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek().cloned() {
            Some(Token::Word(name)) => {
                self.at += 1;
                Ok(name)
            }
            Some(token) => {
                Err(format!("SyntaxError: {} stands where a name is wanted", shown(&token)))
            }
            None => Err("SyntaxError: it ends where a name is wanted".to_owned()),
        }
    }

    /// Every way inside passes here.
    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        self.depth += 1;
        if self.depth > limits::EXPRESSION_DEPTH {
            return Err(format!("SyntaxError: deeper than {} levels", limits::EXPRESSION_DEPTH));
        }
        let found = inner(self);
        self.depth -= 1;
        found
    }

    fn assignment(&mut self) -> Result<Tree, String> {
        self.deeper(|it| {
            let to = it.choice()?;
            let Some((_, sign)) = ASSIGNING.iter().find(|(written, _)| it.is_sign(written)) else {
                return Ok(to);
            };
            if !matches!(to, Tree::Name(_) | Tree::Field { .. } | Tree::Index { .. }) {
                return Err(
                    "SyntaxError: only a variable, a field or an element can be assigned to"
                        .to_owned(),
                );
            }
            it.at += 1;
            let value = it.assignment()?;
            Ok(Tree::Assign { to: Box::new(to), sign: *sign, value: Box::new(value) })
        })
    }

    fn choice(&mut self) -> Result<Tree, String> {
        let when = self.otherwise()?;
        if !self.take_sign("?") {
            return Ok(when);
        }
        let then = self.assignment()?;
        self.wants(":")?;
        let otherwise = self.assignment()?;
        Ok(Tree::Choice {
            when: Box::new(when),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        })
    }

    /// `??`, which leans to the right.
    fn otherwise(&mut self) -> Result<Tree, String> {
        let left = self.level(0)?;
        if self.grammar != Grammar::CSharp || !self.take_sign("??") {
            return Ok(left);
        }
        let right = self.deeper(Parser::otherwise)?;
        Ok(Tree::Either { sign: "??", left: Box::new(left), right: Box::new(right) })
    }

    fn level(&mut self, level: usize) -> Result<Tree, String> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        let mut rounds = 0;
        loop {
            if level == COMPARING
                && let Some(tree) = self.kinds(&left)?
            {
                left = tree;
                continue;
            }
            let Some(sign) = self.one_of(signs) else { return Ok(left) };
            // A tree leans to the left as deep as there are signs.
            rounds += 1;
            if rounds > limits::EXPRESSION_DEPTH {
                return Err(format!(
                    "SyntaxError: more than {} in a row",
                    limits::EXPRESSION_DEPTH
                ));
            }
            let right = Box::new(self.level(level + 1)?);
            let before = Box::new(left);
            left = match sign {
                "&&" | "||" => Tree::Either { sign, left: before, right },
                _ => Tree::Binary { sign, left: before, right },
            };
        }
    }

    /// `x instanceof T`, `x is T`, `x as T`.
    fn kinds(&mut self, left: &Tree) -> Result<Option<Tree>, String> {
        let (is, to) = match self.grammar {
            Grammar::Java => (self.take_word("instanceof"), false),
            Grammar::CSharp => (self.take_word("is"), self.take_word("as")),
        };
        if !is && !to {
            return Ok(None);
        }
        let of = Box::new(left.clone());
        if is && self.grammar == Grammar::CSharp && self.take_word("null") {
            return Ok(Some(Tree::Binary { sign: "==", left: of, right: Box::new(Tree::Null) }));
        }
        let kind = self.kind()?;
        Ok(Some(if is { Tree::IsA { of, kind } } else { Tree::As { of, to: kind } }))
    }

    fn unary(&mut self) -> Result<Tree, String> {
        self.deeper(|it| {
            if let Some(sign) = it.one_of(&["!", "-", "+", "~"]) {
                let of = Box::new(it.unary()?);
                return Ok(Tree::Unary { sign, of });
            }
            if let Some(sign) = it.one_of(&["++", "--"]) {
                return Err(unsupported(sign));
            }
            if let Some(to) = it.cast()? {
                let of = Box::new(it.unary()?);
                return Ok(Tree::Cast { to, of });
            }
            it.postfix()
        })
    }

    /// `(T)` is a cast where something follows that it could be of: `(a) + b` adds, `(a) b` casts.
    fn cast(&mut self) -> Result<Option<String>, String> {
        let begin = self.at;
        if !self.take_sign("(") || !matches!(self.peek(), Some(Token::Word(_))) {
            self.at = begin;
            return Ok(None);
        }
        let kind = self.kind();
        let is_closed = kind.is_ok() && self.take_sign(")");
        let kind = kind.unwrap_or_default();
        let follows = match self.peek() {
            Some(Token::Word(word)) => !matches!(word.as_str(), "instanceof" | "is" | "as"),
            Some(Token::Number(_) | Token::Text(_) | Token::Char(_)) => true,
            Some(Token::Sign("(" | "!" | "~")) => true,
            Some(Token::Sign("-" | "+")) => PRIMITIVES.contains(&kind.as_str()),
            _ => false,
        };
        if is_closed && follows {
            return Ok(Some(kind));
        }
        self.at = begin;
        Ok(None)
    }

    /// `java.util.List<String>[]`; what stands between `<` and `>` is read and forgotten, as the runtime does.
    fn kind(&mut self) -> Result<String, String> {
        let mut kind = self.name()?;
        while self.is_sign(".") && matches!(self.ahead(1), Some(Token::Word(_))) {
            self.at += 1;
            kind = format!("{kind}.{}", self.name()?);
        }
        if self.is_sign("<") {
            self.type_arguments()?;
        }
        while self.is_sign("[") && matches!(self.ahead(1), Some(Token::Sign("]"))) {
            self.at += 2;
            kind.push_str("[]");
        }
        Ok(kind)
    }

    fn type_arguments(&mut self) -> Result<(), String> {
        let mut open = 0_i32;
        loop {
            match self.peek() {
                Some(Token::Sign("<")) => open += 1,
                Some(Token::Sign(">")) => open -= 1,
                Some(Token::Sign(">>")) => open -= 2,
                Some(Token::Sign(">>>")) => open -= 3,
                Some(Token::Word(_) | Token::Sign("," | "." | "?" | "[" | "]")) => {}
                _ => return Err("SyntaxError: `<` without its `>`".to_owned()),
            }
            self.at += 1;
            if open <= 0 {
                return Ok(());
            }
        }
    }

    fn postfix(&mut self) -> Result<Tree, String> {
        let mut tree = self.primary()?;
        let mut rounds = 0;
        loop {
            rounds += 1;
            if rounds > limits::EXPRESSION_DEPTH {
                return Err(format!(
                    "SyntaxError: more than {} in a row",
                    limits::EXPRESSION_DEPTH
                ));
            }
            let unless_null = self.grammar == Grammar::CSharp && self.is_sign("?.");
            if unless_null || self.is_sign(".") {
                self.at += 1;
                let name = self.name()?;
                let of = Box::new(tree);
                tree = match self.is_sign("(") {
                    true => {
                        Tree::Call { of: Some(of), name, arguments: self.arguments()?, unless_null }
                    }
                    false => Tree::Field { of, name, unless_null },
                };
            } else if self.take_sign("[") {
                let mut at = vec![self.assignment()?];
                while self.take_sign(",") {
                    at.push(self.assignment()?);
                }
                self.wants("]")?;
                tree = Tree::Index { of: Box::new(tree), at };
            } else {
                return Ok(tree);
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<Tree>, String> {
        self.wants("(")?;
        let mut all = Vec::new();
        if self.take_sign(")") {
            return Ok(all);
        }
        loop {
            all.push(self.assignment()?);
            if let Some(sign) = self.one_of(&["->", "=>", "::"]) {
                return Err(unsupported(sign));
            }
            if !self.take_sign(",") {
                self.wants(")")?;
                return Ok(all);
            }
        }
    }

    fn primary(&mut self) -> Result<Tree, String> {
        let Some(token) = self.peek().cloned() else {
            return Err("SyntaxError: it ends where a value is wanted".to_owned());
        };
        self.at += 1;
        Ok(match token {
            Token::Number(number) => Tree::Number(number),
            Token::Text(text) => Tree::Text(text),
            Token::Char(unit) => Tree::Char(unit),
            Token::Sign("(") => {
                let inner = self.assignment()?;
                self.wants(")")?;
                inner
            }
            Token::Sign(sign @ ("->" | "=>" | "::")) => return Err(unsupported(sign)),
            Token::Sign(sign) => {
                return Err(format!("SyntaxError: `{sign}` stands where a value is wanted"));
            }
            Token::Word(word) => match word.as_str() {
                "null" => Tree::Null,
                "true" => Tree::Bool(true),
                "false" => Tree::Bool(false),
                "this" => Tree::This,
                "new" => {
                    let kind = self.kind()?;
                    if !self.is_sign("(") {
                        return Err("Unsupported: `new` of an array".to_owned());
                    }
                    Tree::New { kind, arguments: self.arguments()? }
                }
                "switch" | "throw" | "return" | "if" | "for" | "while" | "await" => {
                    return Err(format!(
                        "Unsupported: `{word}` begins a statement; pass an expression"
                    ));
                }
                _ if self.is_sign("(") => Tree::Call {
                    of: None,
                    name: word,
                    arguments: self.arguments()?,
                    unless_null: false,
                },
                _ => Tree::Name(word),
            },
        })
    }
}

fn unsupported(sign: &str) -> String {
    let what = match sign {
        "->" | "=>" => "lambdas",
        "::" => "references to methods",
        _ => "`++` and `--`; write `x += 1`",
    };
    format!("Unsupported: the debugger does not evaluate {what}")
}

fn shown(token: &Token) -> String {
    match token {
        Token::Word(word) => format!("`{word}`"),
        Token::Sign(sign) => format!("`{sign}`"),
        Token::Number(_) => "a number".to_owned(),
        Token::Text(_) => "a text".to_owned(),
        Token::Char(_) => "a character".to_owned(),
    }
}
