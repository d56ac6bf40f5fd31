//! What it takes an agent to find something out: our tools beside the shell, question by question.
//!
//! A question is a file of `tests/agent/`: something about a run of a real package whose answer is known, the
//! best way to it by our calls, and the best by a shell's commands. Both are gone for real, each in a fresh
//! copy of the package, which is to be the same afterwards. Counted is what a model writes and reads; what both have anyway, such as the
//! descriptions of tools, is not. An answer is right when every expected fact stands in what was read.

mod handles;
mod pattern;
mod place;
mod question;
mod report;
mod sides;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use self::question::Question;
use self::sides::Runner;
use super::client::{Server, StdioClient};
use super::{Bench, Kind, give_up_after};
use crate::install::{newest_python, packages, venv_of};
use crate::workspace::Workspace;

pub(super) const AGENT: Bench = Bench {
    name: "agent",
    about: "questions about runs of real packages: our calls beside the shell's, in calls and tokens",
    run: Kind::Whole(ask),
};

const HINT: &str = "hint: `cargo xtask bench --help` names the options";

/// Minutes on a slow machine; a server that does not answer would hold us for ever.
const LIMIT: Duration = Duration::from_secs(40 * 60);
/// The first launch may download the debugger.
const FIRST_LAUNCH_S: u32 = 170;

/// What is true of no question: no program is killed but by the probe that looked at it, and nobody
/// sets a breakpoint that could get lost.
const UNTRUE: &[&str] = &["SIGKILL", "lost its place"];

/// Who answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Ours,
    Shell,
}

impl Side {
    const BOTH: [Side; 2] = [Side::Ours, Side::Shell];

    fn name(self) -> &'static str {
        match self {
            Side::Ours => "ours",
            Side::Shell => "shell",
        }
    }
}

/// One call or command, and what came back.
#[derive(Clone)]
struct Turn {
    head: String,
    written: String,
    read: String,
}

/// What one side did for one question, and how good it was.
struct Way {
    /// The recording that was there before, which the questions of its file share.
    made: Option<Turn>,
    turns: Vec<Turn>,
    /// Expected facts that were in nothing it read.
    missing: Vec<String>,
    /// Untrue things that were.
    lies: Vec<String>,
}

impl Way {
    fn new(question: &Question, side: Side, turns: Vec<Turn>) -> Self {
        let read = turns.iter().map(|turn| turn.read.as_str()).collect::<Vec<_>>().join("\n");
        let missing = question.expected(side).filter(|fact| !fact.is_in(&read));
        let missing = missing.map(|fact| fact.text().to_owned()).collect();
        let lies = question.forbidden(side).filter(|fact| fact.is_in(&read));
        let mut lies: Vec<String> = lies.map(|fact| fact.text().to_owned()).collect();
        if side == Side::Ours {
            let untrue = UNTRUE.iter().filter(|text| read.contains(**text));
            lies.extend(untrue.map(|text| (*text).to_owned()));
        }
        Self { made: None, turns, missing, lies }
    }

    fn calls(&self) -> usize {
        self.turns.len()
    }

    fn written(&self) -> usize {
        self.turns.iter().map(|turn| turn.written.chars().count()).sum()
    }

    fn read(&self) -> usize {
        self.turns.iter().map(|turn| turn.read.chars().count()).sum()
    }

    fn tokens(&self) -> f64 {
        report::tokens(self.written() + self.read())
    }

    fn is_right(&self) -> bool {
        self.missing.is_empty()
    }

    fn is_sound(&self) -> bool {
        self.is_right() && self.lies.is_empty()
    }

    fn transcript(&self, side: Side) -> String {
        let mut text = format!("---- {} ----\n", side.name());
        for (turn, mark) in
            self.made.iter().map(|it| (it, "before:")).chain(self.turns.iter().map(|it| (it, "▶")))
        {
            text += &format!("{mark} {} {}\n{}\n", turn.head, turn.written, turn.read.trim_end());
        }
        for fact in &self.missing {
            text += &format!("WRONG: not found: {fact}\n");
        }
        for fact in &self.lies {
            text += &format!("LIE: {fact}\n");
        }
        text + &format!(
            "{} calls, {} + {} characters, {:.0} tokens\n",
            self.calls(),
            self.written(),
            self.read(),
            self.tokens()
        )
    }
}

/// Which goals are about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AskedKind {
    /// The program is run for it.
    Run,
    /// A recording was there before.
    Recorded,
    /// From a failing test to its cause.
    Hunt,
}

/// A question that both sides have answered.
struct Asked {
    name: String,
    kind: AskedKind,
    ours: Way,
    shell: Way,
}

impl Asked {
    fn way(&self, side: Side) -> &Way {
        match side {
            Side::Ours => &self.ours,
            Side::Shell => &self.shell,
        }
    }

    fn transcript(&self, question: &Question) -> String {
        let ways = Side::BOTH.map(|side| self.way(side).transcript(side));
        format!("==== {} ({})\n{}\n{}", question.name, question.kind, question.text, ways.concat())
    }
}

#[derive(Default)]
struct Options {
    question: Option<String>,
    transcripts: Option<PathBuf>,
    binary: Option<PathBuf>,
    packages: Option<PathBuf>,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut left = arguments.iter();
        while let Some(name) = left.next() {
            let value = left.next().with_context(|| format!("`{name}` has no value\n{HINT}"));
            match name.as_str() {
                "--question" => options.question = Some(value?.clone()),
                "--transcripts" => options.transcripts = Some(PathBuf::from(value?)),
                "--binary" => options.binary = Some(PathBuf::from(value?)),
                "--packages" => options.packages = Some(PathBuf::from(value?)),
                _ => bail!("no option `{name}`\n{HINT}"),
            }
        }
        Ok(options)
    }
}

fn ask(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let options = Options::read(arguments)?;
    let questions = questions(workspace, options.question.as_deref())?;
    let binary = match &options.binary {
        Some(path) => path.canonicalize().with_context(|| format!("`{}`", path.display()))?,
        None => workspace.optimised("holdpoint")?,
    };
    let installed = match &options.packages {
        Some(path) => path.canonicalize()?,
        None => {
            packages(workspace)?;
            let pins = workspace.root.join("tests/packages/python/requirements.txt");
            venv_of(workspace, place::RECORDED, &pins, newest_python()?)?;
            workspace.cache.canonicalize()?
        }
    };
    give_up_after(LIMIT)?;
    let debuggers = workspace.cache.join("agent-debugpy");
    fs::create_dir_all(&debuggers)?;
    let runner = Runner {
        binary: &binary,
        debuggers: &debuggers,
        packages: &installed,
        held: RefCell::new(None),
    };
    warm_up(&binary, &debuggers, &installed)?;
    let mut asked = Vec::new();
    for question in &questions {
        asked.push(answer(&runner, question, &options)?);
    }
    print!("\n{}\n", report::table(&asked));
    let mut met = true;
    for (goal, is_met) in report::goals(&asked) {
        println!("{}  {goal}", if is_met { "met   " } else { "MISSED" });
        met &= is_met;
    }
    // Medians are of the whole: of one question only its answers count.
    let is_enough = match options.question {
        Some(_) => asked.iter().all(|it| it.ours.is_sound() && it.shell.is_sound()),
        None => met,
    };
    Ok(if is_enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn answer(runner: &Runner<'_>, question: &Question, options: &Options) -> Result<Asked> {
    eprintln!("{} …", question.name);
    let go = |side| {
        let way = runner.way(question, side);
        way.with_context(|| format!("question `{}`, {}", question.name, side.name()))
    };
    let name = question.name.clone();
    let kind = match (question.is_hunt(), &question.recorded) {
        (true, _) => AskedKind::Hunt,
        (false, Some(_)) => AskedKind::Recorded,
        (false, None) => AskedKind::Run,
    };
    let asked = Asked { name, kind, ours: go(Side::Ours)?, shell: go(Side::Shell)? };
    if options.question.is_some() {
        println!("{}", asked.transcript(question));
    }
    if let Some(folder) = &options.transcripts {
        fs::create_dir_all(folder)?;
        let file = folder.join(format!("{}.txt", question.name));
        fs::write(file, asked.transcript(question))?;
    }
    Ok(asked)
}

/// All, or those whose name begins so: a file with several has a name before theirs.
fn questions(workspace: &Workspace, only: Option<&str>) -> Result<Vec<Question>> {
    let folder = workspace.root.join("tests").join("agent");
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading `{}`", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        found.extend(Question::read(&path)?);
    }
    found.retain(|it| only.is_none_or(|name| it.name.starts_with(name)));
    if found.is_empty() {
        bail!("no question `{}` in `{}`", only.unwrap_or("*"), folder.display());
    }
    Ok(found)
}

/// Installs the debugger where that was never done: no question is about it.
fn warm_up(binary: &Path, debuggers: &Path, installed: &Path) -> Result<()> {
    let folder = super::client::Home::new()?;
    let program = folder.0.join("ready.py");
    fs::write(&program, "print('ready')\n")?;
    let server = Server::new(binary, &["mcp", "--port", "0"]).with_debuggers(debuggers);
    let mut client = StdioClient::over_pipes(&server)?;
    client.initialize()?;
    client.settle()?;
    let interpreter = installed.join("packages-python/bin/python");
    let launch =
        json!({ "program": program, "interpreter": interpreter, "timeout_s": FIRST_LAUNCH_S });
    client.call("debug_launch", launch)?;
    Ok(())
}
