//! The walk over another language's program: its `loop` of `fixtures/<language>/suite`, as the suite's table says it
//! is launched and attached to. `HOLDPOINT_TORTURE_LANG` chooses the language.

use std::{path::Path, sync::OnceLock};

use holdpoint_testkit::packages::copy_tree;
use serde_json::{Value, json};

use super::{
    BIN, FOLDER,
    programs::{End, PROGRAMS, Program},
};
use crate::suite::{Table, filled};

/// What is said in a language's own way.
pub(super) struct Language {
    table: Table,
    /// The steps that its debugger survives, where those are not all.
    pub(super) steps: Option<Vec<&'static str>>,
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.table.language)
    }
}

/// Whether another language than Python and Node is walked over.
pub(super) fn is_chosen() -> bool {
    std::env::var("HOLDPOINT_TORTURE_LANG").is_ok_and(|it| !it.is_empty())
}

/// The programs that are walked over.
pub(super) fn programs() -> &'static [Program] {
    static CHOSEN: OnceLock<&'static [Program]> = OnceLock::new();
    CHOSEN.get_or_init(|| match std::env::var("HOLDPOINT_TORTURE_LANG") {
        Ok(name) if !name.is_empty() => of(&name).leak(),
        _ => PROGRAMS,
    })
}

/// One for each way in which its loop ends.
fn of(name: &str) -> Vec<Program> {
    let table = Table::of(name);
    let told = table.list("walk.steps");
    let steps = ["next", "step_in", "step_out"].into_iter();
    let some: Vec<&str> = steps.filter(|it| told.iter().any(|step| step == it)).collect();
    let steps = (!some.is_empty()).then_some(some);
    let language: &'static Language = Box::leak(Box::new(Language { table, steps }));
    let missing = language.table.missing();
    assert!(missing.is_none(), "`{}` is missing", missing.unwrap_or_default());
    let told = language.table.list("walk.ends");
    let all = ["never", "code", "done", "crash", "sleep"];
    let ends = all.into_iter().filter(|it| told.is_empty() || told.iter().any(|end| end == it));
    ends.map(|end| Program::of_language(language, end)).collect()
}

impl Language {
    pub(super) fn end(&self, end: &str) -> End {
        match end {
            "code" => End::Code(3),
            "done" => End::Code(0),
            "crash" => End::Crash,
            _ => End::Never,
        }
    }

    /// Whether it can be taken while it runs.
    pub(super) fn attaches(&self) -> bool {
        self.table.expected("attach") == crate::suite::Outcome::Passed
    }

    /// A copy of its folder, and its loop's source there.
    pub(super) fn write(&self, folder: &Path) -> std::path::PathBuf {
        copy_tree(&self.table.folder(), folder);
        let source = self.table.text("loop.source").expect("`loop.source`");
        folder.canonicalize().unwrap().join(source)
    }

    pub(super) fn launch(&self, folder: &Path, end: &str) -> Value {
        let text = self.put(&self.table.text("loop.launch").expect("`loop.launch`"), folder, &[]);
        let mut arguments: Value = serde_json::from_str(&text).unwrap();
        arguments["args"] = json!([end]);
        arguments
    }

    /// What it takes first, and the words that start it, with nobody over it.
    pub(super) fn run(&self, folder: &Path, port: u16) -> (Vec<Vec<String>>, Vec<String>) {
        let port = port.to_string();
        let put = |it: &String| self.put(it, folder, &[("port", &port)]);
        let build = self.table.lists("loop.build");
        let build = build.iter().map(|it| it.iter().map(put).collect()).collect();
        (build, self.table.list("loop.run").iter().map(put).collect())
    }

    pub(super) fn attach(&self, folder: &Path, pid: i32, port: u16) -> Value {
        let template = self.table.text("loop.attach").expect("`loop.attach`");
        let (pid, port) = (pid.to_string(), port.to_string());
        let text = self.put(&template, folder, &[("pid", &pid), ("port", &port)]);
        serde_json::from_str(&text).unwrap()
    }

    /// How a variable is written.
    pub(super) fn name(&self, name: &str) -> String {
        format!("{}{name}", self.table.word("v").unwrap_or_default())
    }

    /// How the program ends by its own crash, or when it is killed.
    pub(super) fn exit(&self, word: &str) -> Value {
        let text = self.table.word(word).unwrap_or_else(|| panic!("no word `{word}`"));
        serde_json::from_str(&text).unwrap()
    }

    fn put(&self, text: &str, folder: &Path, more: &[(&str, &str)]) -> String {
        let folder = folder.canonicalize().unwrap().display().to_string();
        filled(text, |name| match name {
            "folder" => Some(folder.clone()),
            "python" => Some(holdpoint_testkit::debug::python(BIN, FOLDER).path.clone()),
            _ => {
                let given = more.iter().find(|(it, _)| *it == name).map(|(_, it)| (*it).to_owned());
                given.or_else(|| self.table.word(name))
            }
        })
    }
}
