//! A question as its file says it: sections that begin with `== `, in any order.
//!
//! ```text
//! == question            what is asked, and what is known from reading the package
//! == kind                value at the Nth pass, swallowed exception, …
//! == package python NAME | node NAME
//! == file NAME           a file put beside the package, such as the program that is run
//! == plant NAME          text of a file that occurs once …
//! == with                … and what stands there instead
//! == ours TOOL           the arguments of one call, JSON; `== ours shell` is a command of ours
//! == shell               one command
//! == expect [ours|shell] facts, one a line, all of which must be in what was read
//! == forbid [ours|shell] what would be untrue
//! ```

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Side;
use super::pattern::Pattern;

pub(super) struct Question {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) package: Package,
    pub(super) files: Vec<File>,
    pub(super) plants: Vec<Plant>,
    ours: Vec<Step>,
    shell: Vec<Step>,
    expect: Vec<Fact>,
    forbid: Vec<Fact>,
}

pub(super) enum Package {
    Python(String),
    Node(String),
}

pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
}

/// A bug, or another change, made before anybody asks.
pub(super) struct Plant {
    pub(super) file: String,
    pub(super) old: String,
    pub(super) new: String,
}

/// One thing the agent does.
pub(super) enum Step {
    Tool { name: String, arguments: Value },
    Command(String),
}

/// What must be, or must not be, in what one side read, or both.
struct Fact {
    side: Option<Side>,
    pattern: Pattern,
}

impl Question {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path)?;
        Self::parse(&name, &text).with_context(|| format!("question `{name}`"))
    }

    fn parse(name: &str, text: &str) -> Result<Self> {
        let mut question = Self {
            name: name.to_owned(),
            kind: String::new(),
            text: String::new(),
            package: Package::Python(String::new()),
            files: Vec::new(),
            plants: Vec::new(),
            ours: Vec::new(),
            shell: Vec::new(),
            expect: Vec::new(),
            forbid: Vec::new(),
        };
        for (head, body) in sections(text)? {
            question.take(head, body).with_context(|| format!("section `== {head}`"))?;
        }
        question.check()?;
        Ok(question)
    }

    fn take(&mut self, head: &str, body: String) -> Result<()> {
        let words: Vec<&str> = head.split_whitespace().collect();
        match words.as_slice() {
            ["question"] => self.text = body,
            ["kind"] => self.kind = body,
            ["package", "python", name] => self.package = Package::Python((*name).to_owned()),
            ["package", "node", name] => self.package = Package::Node((*name).to_owned()),
            ["file", name] => self.files.push(File { name: (*name).to_owned(), text: body + "\n" }),
            ["plant", file] => {
                let (file, new) = ((*file).to_owned(), String::new());
                self.plants.push(Plant { file, old: body, new });
            }
            ["with"] => self.plants.last_mut().context("there is no `plant` before it")?.new = body,
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

    #[test]
    fn a_question_is_what_its_file_says() {
        let question = Question::parse("a", TEXT).unwrap();
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
        let questions: Vec<Question> = paths.map(|path| Question::read(&path).unwrap()).collect();
        let count = |is: fn(&Question) -> bool| questions.iter().filter(|it| is(it)).count();
        assert!(count(|_| true) >= 24);
        assert!(count(|it| matches!(it.package, Package::Python(_))) >= 8);
        assert!(count(|it| matches!(it.package, Package::Node(_))) >= 8);
        assert!(count(|it| !it.plants.is_empty()) >= 3);
    }

    #[test]
    fn an_answer_that_the_question_gives_away_is_refused() {
        let told = TEXT.replace("What is x?", "Is it so that x = 3?");
        assert!(Question::parse("a", &told).is_err());
        assert!(Question::parse("a", &TEXT.replace("== shell\n", "== bash\n")).is_err());
    }
}
