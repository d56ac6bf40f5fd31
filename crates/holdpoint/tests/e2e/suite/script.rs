//! Scenarios as they are written: a title, what it is about, and one transcript of calls and what they must say.
//!
//! - `> tool {…}` is a call that succeeds, `! tool {…}` one that fails, `$ …` something that the suite itself does.
//! - Below a call stand its checks (`checks.rs`). `{word}` is a word of the language.

use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Scenario {
    /// Of its file: `hit-count`.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) about: String,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) what: What,
    /// What it must say, a line each.
    pub(super) checks: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    Call {
        tool: String,
        arguments: String,
        succeeds: bool,
    },
    /// `start`, `edit`, `goes on`.
    Own(String),
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

impl Scenario {
    /// In the order of their names.
    pub(super) fn all() -> Vec<Scenario> {
        let files = std::fs::read_dir(root().join("scenarios")).unwrap().flatten();
        let names =
            files.filter_map(|it| it.file_name().to_str()?.strip_suffix(".md").map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.iter().map(|it| Scenario::named(it)).collect()
    }

    #[track_caller]
    pub(super) fn named(name: &str) -> Scenario {
        let file = root().join("scenarios").join(format!("{name}.md"));
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        Scenario::parse(name, &text)
    }

    fn parse(name: &str, text: &str) -> Scenario {
        let (head, rest) = text.split_once("```\n").expect("a transcript");
        let (body, _) = rest.split_once("```").expect("its end");
        let (title, about) = head.split_once('\n').expect("a title");
        let mut steps: Vec<Step> = Vec::new();
        for line in body.lines().map(str::trim).filter(|it| !it.is_empty()) {
            match what(line) {
                Some(what) => steps.push(Step { what, checks: Vec::new() }),
                None => steps.last_mut().expect("a call first").checks.push(line.to_owned()),
            }
        }
        let title = title.trim_start_matches('#').trim().to_owned();
        Scenario { name: name.to_owned(), title, about: about.trim().to_owned(), steps }
    }
}

fn what(line: &str) -> Option<What> {
    if let Some(own) = line.strip_prefix("$ ") {
        return Some(What::Own(own.to_owned()));
    }
    let succeeds = line.starts_with("> ");
    let call = line.strip_prefix("> ").or_else(|| line.strip_prefix("! "))?;
    let (tool, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
    Some(What::Call { tool: tool.to_owned(), arguments: arguments.to_owned(), succeeds })
}

/// Puts words in: `{word}`, and no other brace. One that nobody knows is a mistake of the scenario.
#[track_caller]
pub(crate) fn filled(text: &str, word: impl Fn(&str) -> Option<String>) -> String {
    let is_word = |it: &str| {
        !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || "_:-".contains(it))
    };
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        rest = after;
        match after.split_once('}').filter(|(name, _)| is_word(name)) {
            Some((name, behind)) => {
                out += &word(name).unwrap_or_else(|| panic!("no word `{name}`: {text}"));
                rest = behind;
            }
            None => out.push('{'),
        }
    }
    out + rest
}

#[test]
fn a_transcript_is_calls_and_what_they_must_say() {
    let text = "# A title\n\nAbout.\n\n```\n> debug_launch {\"a\": 1}\nended\nhas x\n! debug_stop\n$ edit\n```\n";
    let scenario = Scenario::parse("a", text);
    assert_eq!((scenario.title.as_str(), scenario.about.as_str()), ("A title", "About."));
    let call = |tool: &str, arguments: &str, succeeds| What::Call {
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        succeeds,
    };
    let steps: Vec<_> = scenario.steps.iter().map(|it| (&it.what, it.checks.len())).collect();
    let own = What::Own("edit".to_owned());
    let (launch, stop) =
        (call("debug_launch", "{\"a\": 1}", true), call("debug_stop", "{}", false));
    assert_eq!(steps, [(&launch, 2), (&stop, 0), (&own, 0)]);
}

#[test]
fn words_are_put_in_and_braces_are_left() {
    let word = |name: &str| Some(format!("<{name}>"));
    assert_eq!(
        filled("{\"a\": {line:add}, \"b\": {\"c\": 1}}", word),
        "{\"a\": <line:add>, \"b\": {\"c\": 1}}"
    );
    assert_eq!(filled("{}", word), "{}");
}
