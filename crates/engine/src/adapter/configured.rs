//! Languages by configuration: any debugger that speaks DAP, told by what to start and how its requests are filled
//! in, without code. Blocks come from the user's own file and from us, never from a repository.
//!
//! They are made once, at the start of the process, and live as long as it does.

mod start;
mod template;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, PoisonError},
};

use futures::future::BoxFuture;
use serde_json::Value;

use super::{Adapter, Around, Started, has_ending};
use crate::{
    attach::Attach,
    backend::dap::dialect::{PLAIN, Table, by_name},
    failure::Failure,
    language::{DebuggerProgram, Install, Mode, Modes, Reading},
    launch::Launch,
    nouns::Variable,
};

/// One block of a configuration, `[adapters.NAME]`.
#[derive(Debug, Clone, PartialEq)]
pub struct AdapterBlock {
    pub name: String,
    /// As people say it.
    pub called: String,
    /// How the names of its source files end.
    pub endings: Vec<String>,
    /// How a line begins that is only a comment.
    pub comment: String,
    pub reach: Reach,
    /// The arguments of `launch` and of `attach`, with places for what a call says.
    pub launch: Value,
    pub attach: Option<Value>,
    /// Whose manners its debugger has, where it is one that we know.
    pub dialect: Option<String>,
    pub ignore: Ignored,
    /// The words that make the command say its version.
    pub version: Vec<String>,
    /// Packages of the system that have it, or else what a person has to do.
    pub packages: Vec<String>,
    pub install: Option<String>,
}

/// How its debugger is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A command that speaks by its stdin and stdout.
    Pipes(Vec<String>),
    /// A command that listens on the port that it is told: `{port}` among its words.
    Told(Vec<String>),
    /// Somebody has started it, and it listens there.
    Port(u16),
}

impl Reach {
    fn command(&self) -> &[String] {
        match self {
            Reach::Pipes(words) | Reach::Told(words) => words,
            Reach::Port(_) => &[],
        }
    }
}

/// What a debugger says that is not so, or is of no use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ignored {
    /// What it announces and cannot.
    pub capabilities: Vec<String>,
    /// Parts of the paths of code that is not the user's.
    pub libraries: Vec<String>,
    /// Variables that it adds.
    pub variables: Vec<String>,
}

/// A block as a language.
pub(super) struct Configured {
    block: AdapterBlock,
    language: &'static str,
    called: &'static str,
    endings: &'static [&'static str],
    comment: &'static str,
    debugger: Option<DebuggerProgram>,
    table: Table,
}

impl Configured {
    pub(super) fn new(block: AdapterBlock) -> Configured {
        let program = block.reach.command().first();
        let install = match (&block.install, block.packages.is_empty()) {
            (_, false) => Install::Apt(kept_all(&block.packages)),
            (Some(step), true) => Install::ByHand(kept(step)),
            (None, true) => Install::ByHand("its block in the configuration says what is started"),
        };
        let debugger = program.map(|program| DebuggerProgram {
            name: kept(&block.called),
            programs: kept_all(std::slice::from_ref(program)),
            version: kept_all(&block.version),
            install,
        });
        let known = block.dialect.as_deref().and_then(by_name).unwrap_or(PLAIN);
        let libraries: Vec<String> = known
            .libraries
            .iter()
            .map(|it| (*it).to_owned())
            .chain(block.ignore.libraries.clone())
            .collect();
        let table = Table {
            name: if block.dialect.is_some() { known.name } else { kept(&block.called) },
            libraries: kept_all(&libraries),
            ignores: kept_all(&block.ignore.capabilities),
            ..known
        };
        Configured {
            language: kept(&block.name),
            called: kept(&block.called),
            endings: kept_all(&block.endings),
            comment: kept(&block.comment),
            debugger,
            table,
            block,
        }
    }
}

impl Adapter for Configured {
    fn language(&self) -> &'static str {
        self.language
    }

    fn called(&self) -> &'static str {
        self.called
    }

    fn endings(&self) -> &'static [&'static str] {
        self.endings
    }

    fn reading(&self) -> Reading {
        Reading { comment: self.comment, ..Reading::default() }
    }

    fn is_noise(&self, variable: &Variable) -> bool {
        self.block.ignore.variables.contains(&variable.name)
    }

    fn debugger(&self) -> Option<DebuggerProgram> {
        self.debugger
    }

    fn modes(&self) -> Modes {
        let attach = match (&self.block.attach, &self.block.reach) {
            (Some(_), _) => Mode::By("as its block in the configuration says"),
            (None, _) => Mode::No("its block in the configuration has no `attach`"),
        };
        let test = Mode::No("a test is a program to it: pass its file as `program`");
        Modes { attach, test, ..Modes::default() }
    }

    fn claims(&self, launch: &Launch) -> bool {
        launch.program.as_deref().is_some_and(|it| has_ending(it, self.endings))
    }

    fn is_runtime(&self, name: &str) -> bool {
        let command = self.block.reach.command().first();
        let file = command.and_then(|it| Path::new(it).file_name()?.to_str());
        self.block.attach.is_some() && file == Some(name)
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start::launch(self, launch, around))
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start::attach(self, attach, around))
    }
}

/// Text that lives as long as the process: there are a few blocks, made once.
fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeMap<String, &'static str>> = Mutex::new(BTreeMap::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(text.to_owned()).or_insert_with(|| text.to_owned().leak())
}

fn kept_all(texts: &[String]) -> &'static [&'static str] {
    texts.iter().map(|it| kept(it)).collect::<Vec<_>>().leak()
}
