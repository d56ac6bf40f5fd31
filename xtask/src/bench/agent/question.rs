//! A question as its file says it: sections that begin with `== `.
//!
//! A file may have several: what stands before the first `== question` is of all of them, the recording too.
//!
//! ```text
//! == question [NAME]     what is asked, and what is known from reading the package
//! == kind                value at the Nth pass, swallowed exception, …
//! == package python NAME | node NAME
//! == file NAME           a file put beside the package, such as the program that is run
//! == plant NAME          text of a file that occurs once …
//! == with                … and what stands there instead
//! == recorded            the arguments of a `record_run` that was made before anybody asks, once for the whole file
//! == ours TOOL           the arguments of one call, JSON; `== ours shell` is a command of ours,
//!                        `== ours next` whatever call the last answer ends with
//! == shell               one command
//! == expect [ours|shell] facts, one a line, all of which must be in what was read
//! == forbid [ours|shell] what would be untrue
//! ```
//!
//! `"{#apply}"` in an argument is the first call's handle that stands behind `apply` in what was read, `"{apply#}"` the
//! last before it: an agent reads it there, and it may be another tomorrow.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Side;
use super::pattern::Pattern;

#[derive(Clone)]
pub(super) struct Question {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) package: Package,
    pub(super) files: Vec<File>,
    pub(super) plants: Vec<Plant>,
    /// The run that was recorded before, and the file that names it: its questions share one recording.
    pub(super) recorded: Option<(String, Value)>,
    ours: Vec<Step>,
    shell: Vec<Step>,
    expect: Vec<Fact>,
    forbid: Vec<Fact>,
}

#[derive(Clone)]
pub(super) enum Package {
    Python(String),
    Node(String),
}

#[derive(Clone)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
}

/// A bug, or another change, made before anybody asks.
#[derive(Clone)]
pub(super) struct Plant {
    pub(super) file: String,
    pub(super) old: String,
    pub(super) new: String,
}

/// One thing the agent does.
#[derive(Clone)]
pub(super) enum Step {
    Tool {
        name: String,
        arguments: Value,
    },
    /// What the last answer says to ask next.
    Next,
    Command(String),
}

/// What must be, or must not be, in what one side read, or both.
#[derive(Clone)]
struct Fact {
    side: Option<Side>,
    pattern: Pattern,
}

impl Question {
    pub(super) fn read(path: &Path) -> Result<Vec<Self>> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path)?;
        Self::parse(&name, &text).with_context(|| format!("question `{name}`"))
    }

    fn parse(name: &str, text: &str) -> Result<Vec<Self>> {
        let mut shared = Self {
            name: name.to_owned(),
            kind: String::new(),
            text: String::new(),
            package: Package::Python(String::new()),
            files: Vec::new(),
            plants: Vec::new(),
            recorded: None,
            ours: Vec::new(),
            shell: Vec::new(),
            expect: Vec::new(),
            forbid: Vec::new(),
        };
        let mut all: Vec<Self> = Vec::new();
        for (head, body) in sections(text)? {
            if let Some(own) = head.strip_prefix("question") {
                let name = [name, own.trim()].join("-");
                let name = name.trim_end_matches('-').to_owned();
                all.push(Self { name, ..shared.clone() });
            }
            let of = all.last_mut().unwrap_or(&mut shared);
            of.take(head, body).with_context(|| format!("section `== {head}`"))?;
        }
        for question in &all {
            question.check().with_context(|| format!("`{}`", question.name))?;
        }
        if all.is_empty() {
            bail!("it asks nothing");
        }
        Ok(all)
    }

    fn take(&mut self, head: &str, body: String) -> Result<()> {
        let words: Vec<&str> = head.split_whitespace().collect();
        match words.as_slice() {
            ["question"] | ["question", _] => self.text = body,
            ["kind"] => self.kind = body,
            ["package", "python", name] => self.package = Package::Python((*name).to_owned()),
            ["package", "node", name] => self.package = Package::Node((*name).to_owned()),
            ["file", name] => self.files.push(File { name: (*name).to_owned(), text: body + "\n" }),
            ["plant", file] => {
                let (file, new) = ((*file).to_owned(), String::new());
                self.plants.push(Plant { file, old: body, new });
            }
            ["with"] => self.plants.last_mut().context("there is no `plant` before it")?.new = body,
            ["recorded"] => {
                let arguments = serde_json::from_str(&body).context("its arguments")?;
                self.recorded = Some((self.name.clone(), arguments));
            }
            ["ours", "next"] => self.ours.push(Step::Next),
            ["ours", "shell"] => self.ours.push(Step::Command(body)),
            ["ours", tool] => {
                let arguments = serde_json::from_str(&body).context("its arguments")?;
                self.ours.push(Step::Tool { name: (*tool).to_owned(), arguments });
            }
            ["shell"] => self.shell.push(Step::Command(body)),
            ["expect", side @ ..] => self.expect.extend(facts(side, &body)?),
            ["forbid", side @ ..] => self.forbid.extend(facts(side, &body)?),
            _ => bail!("no such section"),
        }
        Ok(())
    }

    /// A question that cannot be missed measures nothing.
    fn check(&self) -> Result<()> {
        for side in [Side::Ours, Side::Shell] {
            if self.steps(side).is_empty() || self.expected(side).next().is_none() {
                bail!("{} has nothing to do or nothing to find", side.name());
            }
        }
        for fact in &self.expect {
            if fact.pattern.is_in(&self.text) {
                bail!("`{}` stands in the question itself", fact.pattern.text());
            }
        }
        Ok(())
    }

    /// Whether a recording answers it; those of Python want one that has its lines.
    pub(super) fn is_recorded(&self) -> bool {
        let records = |step: &Step| match step {
            Step::Tool { name, .. } => name.starts_with("record_"),
            Step::Next | Step::Command(_) => false,
        };
        self.recorded.is_some() || self.ours.iter().any(records)
    }

    /// Whether it begins with nothing but a test that fails.
    pub(super) fn is_hunt(&self) -> bool {
        self.kind.starts_with("from failing test to cause")
    }

    pub(super) fn steps(&self, side: Side) -> &[Step] {
        match side {
            Side::Ours => &self.ours,
            Side::Shell => &self.shell,
        }
    }

    pub(super) fn expected(&self, side: Side) -> impl Iterator<Item = &Pattern> {
        of(&self.expect, side)
    }

    pub(super) fn forbidden(&self, side: Side) -> impl Iterator<Item = &Pattern> {
        of(&self.forbid, side)
    }
}

fn of(facts: &[Fact], side: Side) -> impl Iterator<Item = &Pattern> {
    let meant = facts.iter().filter(move |fact| fact.side.is_none_or(|of| of == side));
    meant.map(|fact| &fact.pattern)
}

fn facts(side: &[&str], body: &str) -> Result<Vec<Fact>> {
    let side = match side {
        [] => None,
        ["ours"] => Some(Side::Ours),
        ["shell"] => Some(Side::Shell),
        _ => bail!("only `ours` or `shell`"),
    };
    let lines = body.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(|line| Fact { side, pattern: Pattern::new(line.trim()) }).collect())
}

/// Heads and bodies; a body has no newline at its end.
fn sections(text: &str) -> Result<Vec<(&str, String)>> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("== ") {
            sections.push((head.trim(), Vec::new()));
        } else if let Some((_, body)) = sections.last_mut() {
            body.push(line);
        } else {
            bail!("it does not begin with a section");
        }
    }
    let joined = sections.into_iter().map(|(head, body)| {
        let body = body.join("\n");
        (head, body.trim_end_matches('\n').to_owned())
    });
    Ok(joined.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
== question
What is x?
== kind
a value
== package node qs
== plant lib/a.js
  old
== with
  new
== ours debug_probe
{\"program\": \"a.js\"}
== shell
node -e '
1'
== expect
x = 3
== expect shell
3
== forbid ours
never reached
";

    fn only(text: &str) -> Question {
        let mut all = Question::parse("a", text).unwrap();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn questions_of_one_file_share_what_stands_before_them() {
        let rest = TEXT.strip_prefix("== question\n").unwrap();
        let (_, rest) = rest.split_once("== ours").unwrap();
        let text = format!(
            "== package node qs\n== recorded\n{{\"program\": \"a.js\"}}\n== question one\nWhich?\n== ours{rest}\
             == question two\nWhy?\n== ours next\n== shell\ntrue\n== expect\nx = 3\n"
        );
        let all = Question::parse("a", &text).unwrap();
        let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a-one", "a-two"]);
        assert!(all.iter().all(|it| it.is_recorded() && it.recorded.as_ref().unwrap().0 == "a"));
        assert_eq!(all.iter().map(|it| it.steps(Side::Ours).len()).sum::<usize>(), 2);
    }

    #[test]
    fn a_question_is_what_its_file_says() {
        let question = only(TEXT);
        assert!(matches!(&question.package, Package::Node(name) if name == "qs"));
        let plant = question.plants.first().unwrap();
        assert_eq!((plant.old.as_str(), plant.new.as_str()), ("  old", "  new"));
        assert!(
            matches!(question.steps(Side::Shell), [Step::Command(it)] if it == "node -e '\n1'")
        );
        assert!(
            matches!(question.steps(Side::Ours), [Step::Tool { name, .. }] if name == "debug_probe")
        );
        assert_eq!(question.expected(Side::Ours).count(), 1);
        assert_eq!(question.expected(Side::Shell).count(), 2);
        assert_eq!(question.forbidden(Side::Shell).count(), 0);
    }

    #[test]
    fn the_questions_can_be_read_and_are_mixed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/agent");
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let questions: Vec<Question> = paths.flat_map(|it| Question::read(&it).unwrap()).collect();
        let count = |is: fn(&Question) -> bool| questions.iter().filter(|it| is(it)).count();
        assert!(count(|_| true) >= 24);
        assert!(count(|it| matches!(it.package, Package::Python(_))) >= 8);
        assert!(count(|it| matches!(it.package, Package::Node(_))) >= 8);
        assert!(count(|it| !it.plants.is_empty()) >= 3);
        assert!(count(|it| it.recorded.is_some()) >= 20);
        assert!(count(Question::is_hunt) >= 12);
        assert!(questions.iter().filter(|it| it.is_hunt()).all(Question::is_recorded));
    }

    #[test]
    fn an_answer_that_the_question_gives_away_is_refused() {
        let told = TEXT.replace("What is x?", "Is it so that x = 3?");
        assert!(Question::parse("a", &told).is_err());
        assert!(Question::parse("a", &TEXT.replace("== shell\n", "== bash\n")).is_err());
    }
}
