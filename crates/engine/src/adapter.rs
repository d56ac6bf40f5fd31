//! One language each: how to find its runtime, start a program under its debugger, and connect; or connect
//! to a program that runs already.
//!
//! Adding a language is its file and its line in [`ADAPTERS`].

mod ask;
mod configured;
pub mod debugger;
mod dialled;
mod dotnet;
mod editor;
mod go;
mod java;
mod native;
mod node;
mod own;
mod provided;
mod python;
mod ruby;
mod served;
mod server;
mod tool;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use futures::future::BoxFuture;
use holdpoint_dap::Tape;
use tokio::sync::mpsc;

pub use self::{
    ask::choose_running,
    configured::{AdapterBlock, Ignored, Reach},
    server::{DebugServer, ServedProgram},
};
pub use crate::backend::Connected;
use crate::{
    attach::Attach,
    breakpoints::Breakpoints,
    failure::{Code, Failure},
    language::{DebuggerProgram, Listing, Manners, Modes, Outlined, Reading, Runners, Wants},
    launch::Launch,
    nouns::Variable,
    process::Program,
    running::Running,
};

/// All that is known of one language.
pub trait Adapter: Sync {
    fn language(&self) -> &'static str;

    /// As people say it.
    fn called(&self) -> &'static str {
        self.language()
    }

    /// What else it is called.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// How the names of its source files end.
    fn endings(&self) -> &'static [&'static str];

    /// How its source files are read.
    fn reading(&self) -> Reading {
        Reading::default()
    }

    /// The functions of a source text.
    fn outline(&self, _text: &str) -> Vec<Outlined> {
        Vec::new()
    }

    fn manners(&self) -> Manners {
        Manners::default()
    }

    /// The runners of its tests.
    fn runners(&self) -> Runners {
        Runners::default()
    }

    /// Whether this is what nobody wrote in the program: its debugger or its tools have put it there.
    fn is_noise(&self, _variable: &Variable) -> bool {
        false
    }

    /// How the parts of a value are listed.
    fn listing(&self) -> Listing {
        Listing::default()
    }

    /// What `holdpoint doctor` looks for.
    fn wants(&self) -> Option<Wants> {
        None
    }

    /// What debugs its programs, where that is a program of its own; [`debugger::find`] finds it.
    fn debugger(&self) -> Option<DebuggerProgram> {
        None
    }

    /// What of it can be debugged.
    fn modes(&self) -> Modes {
        Modes::default()
    }

    /// Folders in which nobody looks for a file of the user's.
    fn aside(&self) -> &'static [&'static str] {
        &[]
    }

    /// Folders of a project that hold what was installed for it, and no code of its own.
    fn installed(&self) -> &'static [&'static str] {
        &[]
    }

    /// The variables by which a program takes a project's modules from this checkout of it, wherever else they are
    /// installed; `known` are those that it has already.
    fn elsewhere(
        &self,
        _checkout: &Path,
        _known: &dyn Fn(&str) -> Option<String>,
    ) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Files that stand at the root of a project.
    fn roots(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a test is named so in this folder though no file is.
    fn takes_test(&self, _test: &str, _cwd: &Path) -> bool {
        false
    }

    /// Whether a folder can be launched as it is: a package, a project.
    fn takes_folder(&self, _folder: &Path) -> bool {
        false
    }

    /// Whether a launch that names no language is for this one.
    fn claims(&self, launch: &Launch) -> bool;

    /// Starts the program; it stands before its first line, configured, when this returns.
    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>>;

    /// What runs, without any debugger.
    fn plain<'a>(&'a self, _launch: &'a Launch) -> BoxFuture<'a, Result<PlainRun, Failure>> {
        Box::pin(std::future::ready(Err(unrecorded(self.called()))))
    }

    /// The variables by which a program of it, and whatever it starts, loads our recorder; `known` are those that it
    /// has already. What the recorder needs is written below `home`.
    fn recorder(
        &self,
        _home: &Path,
        _known: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        Err(unrecorded(self.called()))
    }

    /// Whether its recorder can be inside of a program that is debugged; the failure says why not.
    fn recorded_beside<'a>(&'a self, _launch: &'a Launch) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(std::future::ready(Err(unrecorded(self.called()))))
    }

    /// Whether a program file of that name is this language's runtime.
    fn is_runtime(&self, _name: &str) -> bool {
        false
    }

    /// Whether a program file was built from this language.
    fn is_program(&self, _executable: &Path) -> bool {
        false
    }

    /// Whether a process of this language that was started so listens for debuggers.
    fn listens(&self, _words: &[String]) -> bool {
        false
    }

    /// How to start a program so that it listens for debuggers there.
    fn how_to_listen(&self, _port: u16) -> Option<String> {
        None
    }

    /// What to ask whoever listens somewhere and does not greet, to know whether it is this language's.
    fn question(&self, _port: u16) -> Option<String> {
        None
    }

    /// Whether a debugger of this language greets, or answers that question, so.
    fn answers(&self, _answer: &[u8]) -> bool {
        false
    }

    /// Takes a program that runs already, and leaves it running.
    fn attach<'a>(
        &'a self,
        _attach: &'a Attach,
        _around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        let text = format!("a running program of {} cannot be debugged", self.language());
        let failure = Failure::new(Code::AttachFailed, text).hint("start it with `debug_launch`");
        Box::pin(std::future::ready(Err(failure)))
    }
}

/// What a launch comes to: a program and its words.
#[derive(Debug, Clone)]
pub struct PlainRun {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub runtime: Option<Runtime>,
    /// What there is to say about how it is started.
    pub note: Option<String>,
}

fn unrecorded(language: &str) -> Failure {
    let text =
        format!("a program of {language} cannot be recorded, because there is no recorder for it");
    Failure::new(Code::LaunchFailed, text)
        .hint("`debug_launch` or `debug_probe` show it as it runs")
}

pub const ADAPTERS: &[&dyn Adapter] = &[
    &python::Python,
    &node::Node,
    &go::Go,
    &ruby::Ruby,
    &native::Native(native::NativeLanguage::C),
    &native::Native(native::NativeLanguage::Cpp),
    &native::Native(native::NativeLanguage::Rust),
    &java::Java,
    &dotnet::Dotnet,
];

/// Other languages than ours, where a test has mounted them.
static MOUNTED: OnceLock<&'static [&'static dyn Adapter]> = OnceLock::new();

/// Mounts these languages in the place of ours: once in a process, before anything is launched. For tests.
pub fn mount(adapters: &'static [&'static dyn Adapter]) {
    MOUNTED.get_or_init(|| adapters);
}

/// All of them, where some are by configuration.
static CONFIGURED: OnceLock<&'static [&'static dyn Adapter]> = OnceLock::new();

/// Those that are code.
fn own() -> &'static [&'static dyn Adapter] {
    MOUNTED.get().copied().unwrap_or(ADAPTERS)
}

/// Adds languages that are configured and no code: once in a process, before anything is launched. One of ours, or
/// one that came first, keeps its name and its endings.
pub fn configure(blocks: Vec<AdapterBlock>) {
    CONFIGURED.get_or_init(|| {
        let mut all = own().to_vec();
        for block in blocks {
            if all.iter().any(|it| it.language() == block.name) {
                continue;
            }
            let adapter: &'static dyn Adapter =
                Box::leak(Box::new(configured::Configured::new(block)));
            all.push(adapter);
        }
        all.leak()
    });
}

/// The languages of this process.
pub fn all() -> &'static [&'static dyn Adapter] {
    CONFIGURED.get().copied().unwrap_or_else(own)
}

/// The runners of tests of all of them.
pub fn runners() -> impl Iterator<Item = Runners> {
    all().iter().map(|it| it.runners())
}

/// As people say them, without those by configuration: `Python, Node`.
pub fn called() -> String {
    own().iter().map(|it| it.called()).collect::<Vec<_>>().join(", ")
}

/// What they are called.
pub fn languages() -> Vec<&'static str> {
    all().iter().map(|it| it.language()).collect()
}

/// What an adapter needs to know of its surroundings.
#[derive(Clone)]
pub struct Around {
    /// Our own binary, which guards the programs we start.
    pub guard: PathBuf,
    /// Where we keep what we provide, such as a debugger of our own for Python.
    pub home: PathBuf,
    /// What to set before the first line of any process runs.
    pub breakpoints: Arc<Breakpoints>,
    /// For the person who waits: what takes so long.
    pub progress: mpsc::Sender<String>,
    /// Where to record what is said to and by debuggers, when somebody wants to know.
    pub tape: Option<Tape>,
}

/// What runs a program, and why that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    pub path: PathBuf,
    pub version: Option<String>,
    pub why: String,
    /// What had to be installed first.
    pub installed: Option<String>,
}

/// A program under control: one that stands before its first line, or one that ran already.
pub struct Started {
    /// `None` for a program that we did not start.
    pub runtime: Option<Runtime>,
    /// `None` for a program that we did not start: it is let go, never ended.
    pub program: Option<Program>,
    /// Such a program's process, where it is known for sure which one it is.
    pub process: Option<Running>,
    /// What it is written in, where only its start tells; and what it is called.
    pub told: Option<(&'static str, String)>,
    /// Whether it waited for a debugger, or stood still already.
    pub stands: bool,
    /// What there is to say about how it was started.
    pub note: Option<String>,
    /// The program itself first, then its children as they connect.
    pub targets: mpsc::Receiver<Connected>,
}

/// The adapter for a launch: the one it names, else the one that knows it.
pub fn choose(launch: &Launch) -> Result<&'static dyn Adapter, Failure> {
    if launch.configuration.is_some() {
        return Ok(&editor::Editor);
    }
    match &launch.language {
        Some(name) => by_name(name),
        None => all().iter().find(|it| it.claims(launch)).copied().ok_or_else(|| {
            Failure::new(
                Code::InvalidParams,
                format!("cannot tell the language of `{}`", launch.title()),
            )
            .hint(format!("pass `language`, one of: {}", names()))
        }),
    }
}

fn by_name(name: &str) -> Result<&'static dyn Adapter, Failure> {
    let is_it = |it: &&&dyn Adapter| it.language() == name || it.aliases().contains(&name);
    all().iter().find(is_it).copied().ok_or_else(|| {
        Failure::new(Code::InvalidParams, format!("no debugger for the language `{name}`"))
            .hint(format!("languages: {}", names()))
    })
}

/// The failure of a launch that says too much, or too little.
fn one_of() -> Failure {
    Failure::new(
        Code::InvalidParams,
        "pass exactly one of `program`, `module`, `command` and `test`",
    )
}

fn names() -> String {
    languages().join(", ")
}

/// Whose source a file is, by its name.
pub fn of_file(file: &Path) -> Option<&'static dyn Adapter> {
    all().iter().find(|it| has_ending(file, it.endings())).copied()
}

/// The language of a file, by its name.
pub fn language_of(file: &Path) -> Option<&'static str> {
    of_file(file).map(|it| it.language())
}

/// Whether a file's name ends so.
pub fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let found = path.extension().and_then(|it| it.to_str());
    found.is_some_and(|found| endings.iter().any(|it| found.eq_ignore_ascii_case(it)))
}
