//! What one language says of itself: `fixtures/<language>/suite/suite.toml`.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::{Command, Stdio},
};

use toml_edit::{DocumentMut, Item};

use super::script::root;

pub(crate) struct Table {
    pub(crate) language: String,
    /// As people say it.
    pub(crate) called: String,
    document: DocumentMut,
    words: BTreeMap<String, String>,
}

/// What came of a scenario, or is to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// It passed, and said that it is done by stopping the program at each hit.
    Emulated,
    /// A tool refused, and said this.
    Refused(String),
    /// Its debugger does something else: the check of the scenario that does not hold, and why, or what was seen.
    Absent {
        check: String,
        why: String,
    },
    /// Now one thing and now another, for this reason: nothing is held against it.
    Unsteady(String),
}

impl Outcome {
    /// Whether what was seen is what this one expects: of a refusal, a piece of its text.
    pub(crate) fn is_met_by(&self, seen: &Outcome) -> bool {
        match (self, seen) {
            (Outcome::Refused(wanted), Outcome::Refused(said)) => said.contains(wanted),
            (Outcome::Absent { check, .. }, Outcome::Absent { check: failed, .. }) => {
                check.split(" || ").any(|it| it == failed)
            }
            (Outcome::Unsteady(_), _) => true,
            _ => self == seen,
        }
    }
}

impl Table {
    #[track_caller]
    pub(crate) fn of(language: &str) -> Table {
        let read = |file: PathBuf| -> DocumentMut {
            let text = std::fs::read_to_string(&file);
            let text = text.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        };
        let document = read(folder(language).join("suite.toml"));
        let mut words = strings(read(root().join("scenarios/words.toml")).as_item());
        words.extend(document.get("words").map(strings).unwrap_or_default());
        let called = document["called"].as_str().expect("`called`").to_owned();
        let table = Table { language: language.to_owned(), called, document, words };
        table.is_sound();
        table
    }

    /// A key that nobody reads looks as if it held.
    #[track_caller]
    fn is_sound(&self) {
        let known: &[(&str, &[&str])] = &[
            (
                "",
                &[
                    "called", "source", "needs", "check", "launch", "hits", "home", "config",
                    "loop", "test", "words", "emulated", "refused", "absent", "unsteady", "walk",
                    "bench",
                ],
            ),
            ("loop", &["source", "launch", "build", "run", "attach"]),
            ("test", &["source", "launch"]),
            ("walk", &["ends", "steps"]),
            (
                "bench",
                &["source", "build", "env", "launch", "expression", "raw", "speaks", "raw_launch"],
            ),
        ];
        for (section, keys) in known {
            let item = if section.is_empty() {
                Some(self.document.as_item())
            } else {
                self.document.get(section)
            };
            let table = item.and_then(Item::as_table_like).into_iter().flat_map(|it| it.iter());
            for (key, _) in table {
                assert!(
                    keys.contains(&key),
                    "{}: no key `{key}` is known in `[{section}]`",
                    self.language
                );
            }
        }
        let names: Vec<String> = super::Scenario::all().into_iter().map(|it| it.name).collect();
        for section in ["emulated", "refused", "absent", "unsteady"] {
            let table = self.document.get(section).and_then(Item::as_table_like);
            for (key, _) in table.into_iter().flat_map(|it| it.iter()) {
                assert!(
                    names.iter().any(|it| *it == key.replace('_', "-")),
                    "{}: no scenario `{key}`",
                    self.language
                );
            }
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        folder(&self.language)
    }

    /// A text of the table by its path: `loop.source`.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.item(path)?.as_str().map(str::to_owned)
    }

    /// Words of the table by their path; none where it has none.
    pub(crate) fn list(&self, path: &str) -> Vec<String> {
        self.item(path).map(list).unwrap_or_default()
    }

    /// Lists of words.
    pub(crate) fn lists(&self, path: &str) -> Vec<Vec<String>> {
        let all = self.item(path).and_then(Item::as_array);
        let each = all.into_iter().flat_map(|it| it.iter());
        each.map(|it| list(&Item::Value(it.clone()))).collect()
    }

    pub(crate) fn hits(&self) -> i64 {
        self.document.get("hits").and_then(Item::as_integer).unwrap_or(1_000)
    }

    fn item(&self, path: &str) -> Option<&Item> {
        path.split('.').try_fold(self.document.as_item(), |item, key| item.get(key))
    }

    pub(crate) fn word(&self, name: &str) -> Option<String> {
        self.words.get(name).cloned()
    }

    /// What its programs need and this machine has not.
    pub(crate) fn missing(&self) -> Option<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = root().join("target/xtask/adapters").join(&self.language).join("bin");
        let folders: Vec<PathBuf> = std::env::split_paths(&path).chain([own]).collect();
        let has = |name: &String| folders.iter().any(|it| it.join(name).is_file());
        self.list("needs").into_iter().find(|it| !has(it)).or_else(|| self.unchecked())
    }

    /// The command that would tell that all is there, where it does not.
    fn unchecked(&self) -> Option<String> {
        let words = self.list("check");
        let (program, args) = words.split_first()?;
        let run = Command::new(program).args(args).stdin(Stdio::null()).output();
        let is_fine = run.is_ok_and(|it| it.status.success());
        (!is_fine).then(|| words.join(" "))
    }

    pub(crate) fn expected(&self, scenario: &str) -> Outcome {
        let row = |section: &str| {
            let rows = self.document.get(section)?;
            rows.get(scenario).or_else(|| rows.get(scenario.replace('-', "_").as_str()))
        };
        if let Some(Item::Value(row)) = row("absent") {
            let [check, why] = &list(&Item::Value(row.clone()))[..] else {
                panic!("{}: `absent.{scenario}` is the check that fails, and why", self.language);
            };
            return Outcome::Absent { check: check.clone(), why: why.clone() };
        }
        if let Some(why) = row("unsteady").and_then(Item::as_str) {
            return Outcome::Unsteady(why.to_owned());
        }
        match (row("refused").and_then(Item::as_str), row("emulated").and_then(Item::as_bool)) {
            (Some(why), _) => Outcome::Refused(why.to_owned()),
            (None, Some(true)) => Outcome::Emulated,
            (None, _) => Outcome::Passed,
        }
    }
}

fn folder(language: &str) -> PathBuf {
    root().join("fixtures").join(language).join("suite")
}

fn strings(item: &Item) -> BTreeMap<String, String> {
    let table = item.as_table_like().expect("a table");
    let text = |(name, it): (&str, &Item)| Some((name.to_owned(), it.as_str()?.to_owned()));
    table.iter().filter_map(text).collect()
}

fn list(item: &Item) -> Vec<String> {
    let all = item.as_array().into_iter().flat_map(|it| it.iter());
    all.filter_map(|it| it.as_str().map(str::to_owned)).collect()
}
