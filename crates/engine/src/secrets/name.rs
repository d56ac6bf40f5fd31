//! What a name says of its value, by the words it is made of.

use super::rules;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    Plain,
    /// Secret if the value looks like one.
    Perhaps,
    Secret,
}

/// The words of a name: `userPassword`, `USER_PASSWORD`, `user-password` and `user.password` have the same.
/// Of a path only the last step counts.
fn words(name: &str) -> Vec<String> {
    let name = last_step(name);
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_alphanumeric() {
            before = ' ';
            continue;
        }
        let is_acronym_end = before.is_uppercase()
            && letter.is_uppercase()
            && letters.peek().is_some_and(|next| next.is_lowercase());
        let is_new =
            before == ' ' || (before.is_lowercase() && letter.is_uppercase()) || is_acronym_end;
        if is_new {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    // `password2` is one of two, as `password_2` is.
    for word in &mut words {
        let kept = word.trim_end_matches(|it: char| it.is_ascii_digit()).len();
        if kept > 0 {
            word.truncate(kept);
        }
    }
    while words.len() > 1 && words.last().is_some_and(|it| it.chars().all(|it| it.is_ascii_digit()))
    {
        words.pop();
    }
    words
}

/// `self.db['password']` is asked for by `password`.
fn last_step(name: &str) -> &str {
    let name = name.trim().trim_end_matches([']', '"', '\'', ')', '(', '?', '!']);
    let at = name.rfind(['.', '[', '"', '\'', ' ', '(', '/', ':', '$', '@', '>', '{', '`']);
    at.and_then(|at| name.get(at + 1..)).unwrap_or(name)
}

/// The words in one.
pub(super) fn joined(name: &str) -> String {
    words(name).concat()
}

pub(super) fn weight(name: &str) -> Weight {
    if name.len() > LONGEST || !has_stem(name) {
        return Weight::Plain;
    }
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return Weight::Plain };
    if words.len() > 1 && (rules::ABOUT.contains(last) || rules::ASKED.contains(first)) {
        return session_id(&words);
    }
    let whole = words.concat();
    if rules::SECRET_WHOLE.contains(&whole.as_str())
        || words
            .iter()
            .any(|word| rules::SECRET.contains(word) || rules::SECRET_WHOLE.contains(word))
        || is_together(&words)
    {
        return Weight::Secret;
    }
    let is_other = |words: &[&str]| words.iter().any(|it| rules::OF_ANOTHER_TRADE.contains(it));
    if rules::PERHAPS.contains(last) && !is_other(&words) { Weight::Perhaps } else { Weight::Plain }
}

fn has_stem(name: &str) -> bool {
    let name = name.as_bytes();
    let starts = |at: usize, stem: &str| {
        name.get(at..at + stem.len()).is_some_and(|it| it.eq_ignore_ascii_case(stem.as_bytes()))
    };
    name.iter()
        .enumerate()
        .any(|(at, first)| rules::stems(*first).iter().any(|stem| starts(at, stem)))
}

/// Longer ones are no names.
const LONGEST: usize = 80;

fn is_together(words: &[&str]) -> bool {
    rules::SECRET_TOGETHER.iter().any(|row| words.windows(row.len()).any(|it| it == *row))
}

/// What a session is known by lets whoever has it in.
fn session_id(words: &[&str]) -> Weight {
    let ends = |with: &[&str]| words.ends_with(with);
    if ends(&["session", "id"]) || ends(&["sess", "id"]) || ends(&["access", "key", "id"]) {
        return Weight::Perhaps;
    }
    Weight::Plain
}
