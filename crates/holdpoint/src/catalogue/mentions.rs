//! What an answer may say of tools: only those that this client has.
//!
//! Hints and cut lines are written where they arise, and name the tool that goes on. Which tools are mounted
//! is known here alone, so a name that is not is put right on the way out: by its twin, by the call of
//! `more_tools` that reaches it, or by leaving out what it says.
//! A program's own text is left alone: a name counts only as we write one, in backticks or after a colon.

use std::{borrow::Cow, collections::BTreeSet};

use holdpoint_engine::failure::Failure;
use serde_json::Value;

use crate::{
    tool::{Answer, Reply},
    tools::MORE,
};

/// Tools that do the same, for what one mentions the other for.
const TWINS: &[(&str, &str)] = &[
    ("debug_breakpoint", "breakpoint_set"),
    ("breakpoint_set", "debug_breakpoint"),
    ("breakpoint_list_breakpoints", "breakpoint_list"),
    ("debug_wait", "breakpoint_wait"),
    ("breakpoint_wait", "debug_wait"),
];

/// Stands before a name that is called through `more_tools`.
const REACHED: &str = "more_tools {\"name\": \"";

/// What a hint says when its every step needs a tool that is not there.
const ELSEWHERE: &str = "this needs a tool of `--toolset agent`";

/// Below this line stands what the program wrote.
const OUTPUT: &str = "--- Program output";

#[derive(Default)]
pub(crate) struct Mentions {
    /// Empty where all are mounted.
    missing: BTreeSet<Cow<'static, str>>,
    has_more: bool,
}

/// One name in a text.
struct Mention<'t> {
    before: &'t str,
    name: &'t str,
    /// Its arguments, where it is written as a call.
    arguments: &'t str,
    after: &'t str,
}

impl Mentions {
    /// Of the tools that there are, those that are `missing` here.
    pub(super) fn new(missing: BTreeSet<Cow<'static, str>>, has_more: bool) -> Mentions {
        Mentions { missing, has_more }
    }

    /// An answer, or why there is none, in terms of what is mounted.
    pub(crate) fn retell(&self, done: Result<Reply, Failure>) -> Result<Reply, Failure> {
        if self.missing.is_empty() {
            return done;
        }
        match done {
            Ok(Reply::Answer(answer)) => {
                Ok(Reply::Answer(Answer { text: self.answer(answer.text), ..answer }))
            }
            Ok(Reply::Json(json)) => Ok(Reply::Json(self.json(json))),
            Ok(Reply::Refused(json)) => Ok(Reply::Refused(self.json(json))),
            Ok(raw @ Reply::Raw(_)) => Ok(raw),
            Err(failure) => Err(self.failure(failure)),
        }
    }

    pub(crate) fn failure(&self, mut failure: Failure) -> Failure {
        failure.message = self.replaced(&failure.message, |_| true).into_owned().into();
        failure.hint = failure.hint.map(|hint| self.hint(&hint).into());
        failure
    }

    /// A description: what is not there is not spoken of.
    pub(crate) fn description<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.find(text).is_none() {
            return Cow::Borrowed(text);
        }
        let twinned = self.twinned(text, |_| true);
        let parts = split(&twinned).into_iter().filter(|(part, _)| self.find(part).is_none());
        let mut kept: String = parts.map(|(part, end)| format!("{part}{end}")).collect();
        kept.truncate(kept.trim_end_matches([' ', ',', ';']).len());
        if !kept.is_empty() && !kept.ends_with(['.', '?']) {
            kept.push('.');
        }
        Cow::Owned(kept)
    }

    /// Our own words in an answer; a program's stay as they are.
    pub(crate) fn answer(&self, text: String) -> String {
        if self.find(&text).is_none() {
            return text;
        }
        let (ours, theirs) = match text.find(OUTPUT) {
            Some(at) => text.split_at(at),
            None => (text.as_str(), ""),
        };
        let mut lines: Vec<Cow<'_, str>> = ours.split('\n').map(|line| self.line(line)).collect();
        // What comes after the output is ours again; of that there is a hint at the most.
        let theirs = theirs.split('\n').map(|line| match line.starts_with("hint: ") {
            true => self.line(line),
            false => Cow::Borrowed(line),
        });
        if text.contains(OUTPUT) {
            let last = lines.pop().unwrap_or_default();
            let mut theirs = theirs;
            let first = theirs.next().unwrap_or_default();
            lines.push(Cow::Owned(format!("{last}{first}")));
            lines.extend(theirs);
        }
        lines.join("\n")
    }

    fn line<'t>(&self, line: &'t str) -> Cow<'t, str> {
        match line.strip_prefix("hint: ") {
            Some(hint) if self.find(hint).is_some() => {
                Cow::Owned(format!("hint: {}", self.hint(hint)))
            }
            Some(_) => Cow::Borrowed(line),
            None if is_source(line) => Cow::Borrowed(line),
            None => self.replaced(line, is_ours),
        }
    }

    /// The steps that can be taken.
    fn hint(&self, hint: &str) -> String {
        if self.find(hint).is_none() {
            return hint.to_owned();
        }
        let hint = self.twinned(hint, |_| true);
        if self.has_more {
            return self.replaced(&hint, |_| true).into_owned();
        }
        let parts = split(&hint).into_iter().filter(|(part, _)| self.find(part).is_none());
        let kept: String = parts.map(|(part, end)| format!("{part}{end}")).collect();
        match kept.trim_end_matches([' ', ',', ';', '.']) {
            "" => ELSEWHERE.to_owned(),
            kept => kept.trim_start_matches("or ").to_owned(),
        }
    }

    /// The members of a JSON answer that are ours to word.
    fn json(&self, mut json: Value) -> Value {
        if let Some(object) = json.as_object_mut() {
            for (name, value) in object {
                if let ("hint" | "note" | "message" | "warning", Value::String(text)) =
                    (name.as_str(), &*value)
                {
                    *value = self.hint(text).into();
                }
            }
        }
        json
    }

    /// Each name that is not mounted, said otherwise.
    fn replaced<'t>(&self, text: &'t str, counts: fn(&str) -> bool) -> Cow<'t, str> {
        let twinned = self.twinned(text, counts);
        let mut done = String::new();
        let mut rest = twinned.as_str();
        while let Some(mention) = self.find(rest) {
            done += mention.before;
            match counts(mention.before) {
                true => done += &self.instead(&mention),
                false => done += &format!("{}{}", mention.name, mention.arguments),
            }
            rest = mention.after;
        }
        if done.is_empty() && rest == text {
            return Cow::Borrowed(text);
        }
        Cow::Owned(done + rest)
    }

    fn instead(&self, mention: &Mention<'_>) -> String {
        let (name, arguments) = (mention.name, mention.arguments.trim_start());
        match (self.has_more, arguments) {
            (true, "") => format!("{} {{\"name\": \"{name}\"}}", MORE.name()),
            (true, arguments) => {
                format!("{} {{\"name\": \"{name}\", \"arguments\": {arguments}}}", MORE.name())
            }
            (false, _) => "a tool of --toolset agent".to_owned(),
        }
    }

    fn twinned(&self, text: &str, counts: fn(&str) -> bool) -> String {
        let mut done = String::new();
        let mut rest = text;
        while let Some(mention) = self.find(rest) {
            let twin = TWINS.iter().find(|(name, twin)| {
                *name == mention.name && !self.missing.contains(*twin) && counts(mention.before)
            });
            done += mention.before;
            done += twin.map_or(mention.name, |(_, twin)| twin);
            done += mention.arguments;
            rest = mention.after;
        }
        done + rest
    }

    /// The first name of a tool that is not mounted.
    fn find<'t>(&self, text: &'t str) -> Option<Mention<'t>> {
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let mut from = 0;
        loop {
            let (_, rest) = text.split_at_checked(from)?;
            let start = from + rest.find(is_word)?;
            let (before, rest) = text.split_at_checked(start)?;
            let length = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            // One that is called through `more_tools` is said as it should be.
            let is_reached = before.ends_with(REACHED);
            if self.missing.contains(word) && !is_reached {
                let (arguments, after) = after.split_at(call_length(after));
                return Some(Mention { before, name: word, arguments, after });
            }
            from = start + length;
        }
    }
}

/// Whether we write names so: in backticks, or as the call that shows the rest.
fn is_ours(before: &str) -> bool {
    before.ends_with('`') || before.ends_with(": ")
}

/// `>>>   12 | total = 0`
fn is_source(line: &str) -> bool {
    let number = line.split_once(" |").map(|(number, _)| number.trim_start_matches('>').trim());
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|digit| digit.is_ascii_digit()))
}

/// How much of the text after a name is its arguments.
fn call_length(after: &str) -> usize {
    let Some(json) = after.strip_prefix(' ').filter(|it| it.starts_with('{')) else { return 0 };
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::Object(_))) => 1 + values.byte_offset(),
        _ => 0,
    }
}

/// The steps of a hint or the sentences of a description, each with what follows it. Not inside of a call.
fn split(text: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quoted) = (0_usize, 0_i32, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '`' => quoted = !quoted,
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            ',' | ';' | '.' if depth == 0 && !quoted => {
                let is_end = text.get(at + 1..).is_some_and(|rest| rest.starts_with(' '));
                if let (true, Some(part), Some(end)) =
                    (is_end, text.get(start..at), text.get(at..at + 2))
                {
                    parts.push((part, end));
                    start = at + 2;
                }
            }
            _ => {}
        }
    }
    parts.push((text.get(start..).unwrap_or_default(), ""));
    parts
}

#[cfg(test)]
mod tests;
