//! Ruby by the debugger that it brings along (`debug`, which `rdbg` starts). A file of ours inside the program has it
//! dial us, so that no port or socket of it is open, and mends what its protocol says (`ruby/inside.rb`).

mod attach;
mod outline;
mod runners;
mod testing;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::json;

use super::{
    Adapter, Around, Runtime, Started,
    dialled::{Asked, Door},
    has_ending, one_of,
    provided::{self, write_once},
};
use crate::{
    attach::Attach,
    backend::dap::dialect::{Launched, RDBG},
    failure::{Code, Failure},
    language::{
        DebuggerProgram, Install, Manners, Mode, Modes, Outlined, Reading, Runners, WantedLibrary,
        Wants,
    },
    launch::Launch,
    nouns::Variable,
    process::{Program, Spec, command},
};

pub(super) struct Ruby;

/// What the program loads first.
const INSIDE: &str = include_str!("ruby/inside.rb");
const INSIDE_NAME: &str = "holdpoint_inside.rb";

/// How long a runtime may take to answer a question about itself.
const PROBE: Duration = Duration::from_secs(20);

const DEBUGGER: DebuggerProgram = DebuggerProgram {
    name: "ruby with its debugger",
    programs: &["ruby"],
    version: &["--version"],
    install: Install::Apt(&["ruby"]),
};

const WANTS: Wants = Wants {
    program: "ruby",
    program_on_windows: "ruby",
    language: "Ruby",
    version: &["--version"],
    version_prefix: "ruby ",
    major_min: Some(3),
    install: "install Ruby 3.1 or newer, from https://www.ruby-lang.org or as a package",
    library: Some(WantedLibrary {
        name: "debug",
        version: &["-rdebug/version", "-e", "puts DEBUGGER__::VERSION"],
        shows: "-rdebug/session -e 1",
        without: "Ruby 3.1 and newer bring it along; else `gem install debug`",
    }),
};

impl Adapter for Ruby {
    fn language(&self) -> &'static str {
        "ruby"
    }

    fn called(&self) -> &'static str {
        "Ruby"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["rb"]
    }

    fn endings(&self) -> &'static [&'static str] {
        &["rb"]
    }

    fn reading(&self) -> Reading {
        Reading { comment: "#", ..Reading::default() }
    }

    fn outline(&self, text: &str) -> Vec<Outlined> {
        outline::outline(text)
    }

    fn manners(&self) -> Manners {
        Manners { truth: Some(("!!((\n", "\n))")), ..Manners::default() }
    }

    fn runners(&self) -> Runners {
        runners::RUNNERS
    }

    /// What its debugger adds to every value, and what ours keeps with an exception.
    fn is_noise(&self, variable: &Variable) -> bool {
        matches!(
            variable.name.as_str(),
            "#class" | "#encoding" | "#length" | "@__debugger_postmortem_frames"
        )
    }

    fn wants(&self) -> Option<Wants> {
        Some(WANTS)
    }

    fn debugger(&self) -> Option<DebuggerProgram> {
        Some(DEBUGGER)
    }

    fn modes(&self) -> Modes {
        Modes {
            launch: Mode::Yes,
            attach: Mode::By("a program that `rdbg --open` started, by pid or port"),
            test: Mode::By("minitest and test-unit by `-n`, RSpec by `-e`"),
            core: Mode::No("a core file of Ruby is one of its interpreter, in C"),
        }
    }

    fn aside(&self) -> &'static [&'static str] {
        &["vendor"]
    }

    fn roots(&self) -> &'static [&'static str] {
        &["Gemfile", "Rakefile"]
    }

    fn claims(&self, launch: &Launch) -> bool {
        let by_program = launch.program.as_deref().is_some_and(|it| has_ending(it, &["rb"]));
        let by_command = launch.command.first().is_some_and(|it| {
            let name = Path::new(it).file_name().and_then(|it| it.to_str()).unwrap_or_default();
            name.starts_with("ruby") || name.ends_with(".rb") || SCRIPTS.contains(&name)
        });
        let by_test = launch
            .test
            .as_deref()
            .is_some_and(|it| has_ending(Path::new(it.split("::").next().unwrap_or(it)), &["rb"]));
        by_program || by_command || by_test
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start(launch, around))
    }

    fn is_runtime(&self, name: &str) -> bool {
        name.starts_with("ruby")
    }

    fn listens(&self, words: &[String]) -> bool {
        words.iter().any(|it| it.contains("rdbg") || it.starts_with("-rdebug/open"))
    }

    fn how_to_listen(&self, port: u16) -> Option<String> {
        Some(format!("rdbg --open --nonstop --port {port} …"))
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(attach::attach(attach, around))
    }
}

/// Commands that are scripts of Ruby.
const SCRIPTS: [&str; 5] = ["rspec", "rake", "rails", "minitest", "irb"];

/// What runs.
#[derive(Debug, PartialEq, Eq)]
struct What {
    ruby: Option<PathBuf>,
    words: Vec<OsString>,
    /// The file whose first line is where it begins.
    entry: Option<PathBuf>,
}

impl What {
    fn of(launch: &Launch) -> Result<What, Failure> {
        let mut what = match (&launch.program, &launch.test, launch.command.as_slice()) {
            _ if launch.module.is_some() => return Err(one_of()),
            (Some(program), None, []) => {
                What { ruby: None, words: vec![program.into()], entry: Some(program.clone()) }
            }
            (None, Some(test), []) => testing::what(test, &launch.cwd)?,
            (None, None, [first, rest @ ..]) => command_what(first, rest, &launch.cwd),
            _ => return Err(one_of()),
        };
        what.words.extend(launch.args.iter().map(OsString::from));
        Ok(what)
    }
}

fn command_what(first: &str, rest: &[String], cwd: &Path) -> What {
    let name = Path::new(first).file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let is_ruby = name.starts_with("ruby");
    let mut words: Vec<OsString> = match is_ruby || name.ends_with(".rb") {
        true => Vec::new(),
        // A script that is found as a shell would.
        false => vec!["-S".into()],
    };
    if !is_ruby {
        words.push(first.into());
    }
    words.extend(rest.iter().map(OsString::from));
    let is_script = |it: &&OsString| has_ending(Path::new(it), &["rb"]);
    let entry = words.iter().find(is_script).map(|it| cwd.join(it)).filter(|it| it.is_file());
    What { ruby: is_ruby.then(|| first.into()), words, entry }
}

async fn start(launch: &Launch, around: Around) -> Result<Started, Failure> {
    let what = What::of(launch)?;
    let ruby = launch.interpreter.clone().or(what.ruby.clone()).unwrap_or_else(|| "ruby".into());
    let version = version(&ruby, launch).await?;
    let inside = inside(&around.home)?;
    let door = Door::open().await?;
    let spec = spec(launch, &what, &ruby, &inside, door.port);
    let mut program = Program::start(&around.guard, &spec)?;
    let asked = Asked {
        title: launch.title(),
        adapter_id: "rdbg",
        dialect: Box::new(Launched {
            table: RDBG,
            entry: None,
            libraries: vec![inside],
            // The debugger passes them by itself.
            just_my_code: false,
            prelude: None,
        }),
        begin: "launch",
        arguments: json!({}),
    };
    let targets = door.greet(&mut program, &spec, asked, &around).await.map_err(without)?;
    let why = if launch.interpreter.is_some() { "as asked for" } else { "the first on PATH" };
    let why = why.to_owned();
    Ok(Started {
        runtime: Some(Runtime { path: ruby, version: Some(version), why, installed: None }),
        program: Some(program),
        process: None,
        told: None,
        stands: launch.stop_on_entry,
        note: None,
        targets,
    })
}

/// A Ruby without its debugger says so on its stderr.
fn without(failure: Failure) -> Failure {
    let is_missing = failure.message.contains("cannot load such file -- debug");
    match is_missing {
        true => failure.hint("Ruby 3.1 and newer bring `debug` along; else `gem install debug`"),
        false => failure,
    }
}

/// The file that the program loads first, in our home.
fn inside(home: &Path) -> Result<PathBuf, Failure> {
    let bring = |home: &Path| {
        let file = home.join("ruby").join(INSIDE_NAME);
        write_once(&file, INSIDE).map(|()| file)
    };
    provided::below(home, bring).map_err(|error| {
        let text = format!("`{INSIDE_NAME}` cannot be written to `{}`: {error}", home.display());
        Failure::new(Code::LaunchFailed, text)
    })
}

fn spec(launch: &Launch, what: &What, ruby: &Path, inside: &Path, port: u16) -> Spec {
    let mut args: Vec<OsString> = vec!["-r".into(), inside.into()];
    // What the project pins counts, but not for the debugger, which is loaded before.
    if launch.cwd.join("Gemfile").is_file() {
        args.push("-rbundler/setup".into());
    }
    args.extend(what.words.iter().cloned());
    let mut env: BTreeMap<String, Option<String>> =
        launch.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    env.insert("HOLDPOINT_RUBY_PORT".to_owned(), Some(port.to_string()));
    let own = if launch.just_my_code { "1" } else { "0" };
    env.insert("HOLDPOINT_RUBY_OWN".to_owned(), Some(own.to_owned()));
    let entry = what.entry.as_ref().filter(|_| launch.stop_on_entry);
    let entry = entry.map(|it| it.display().to_string());
    env.insert("HOLDPOINT_RUBY_ENTRY".to_owned(), entry);
    Spec { program: ruby.to_owned(), args, cwd: launch.cwd.clone(), env }
}

/// `ruby 3.1.2p20 (2022-04-12 …)` is `3.1.2p20`.
async fn version(ruby: &Path, launch: &Launch) -> Result<String, Failure> {
    let asked = command(ruby)
        .arg("--version")
        .envs(&launch.env)
        .current_dir(&launch.cwd)
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output();
    let failed = |why: &str| {
        let text = format!("`{}` cannot be run: {why}", ruby.display());
        Failure::new(Code::LaunchFailed, text)
            .hint("`holdpoint adapters install ruby` gets it; `interpreter` names another")
    };
    let output = tokio::time::timeout(PROBE, asked)
        .await
        .map_err(|_| failed("it did not answer"))?
        .map_err(|error| failed(&error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.strip_prefix("ruby ").and_then(|it| it.split_whitespace().next());
    version.map(str::to_owned).ok_or_else(|| failed("it does not say its version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_told_from_the_words() {
        let launch = |command: &[&str]| Launch {
            command: command.iter().map(|it| (*it).to_owned()).collect(),
            cwd: "/nowhere".into(),
            ..Launch::default()
        };
        let of = |command: &[&str]| What::of(&launch(command)).unwrap();
        assert_eq!(of(&["rspec", "spec"]).words, ["-S", "rspec", "spec"]);
        assert_eq!(of(&["ruby3.1", "-w", "a.rb"]).words, ["-w", "a.rb"]);
        assert_eq!(of(&["ruby3.1", "a.rb"]).ruby, Some("ruby3.1".into()));
        assert_eq!(of(&["./a.rb", "x"]).words, ["./a.rb", "x"]);
    }
}
