//! Node.js by its own inspector: `--inspect-brk`, then the V8 protocol over a websocket.
//!
//! The program's address comes on its stderr, before anything of it runs. Processes that it starts
//! announce themselves in another way: see [`children`].

mod attach;
mod chatter;
mod children;
mod command;
mod recorder;
mod runners;
mod testing;
mod weave;

use std::{collections::BTreeMap, ffi::OsString, path::Path, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use self::{
    children::{Announcements, Child},
    command::What,
};
use super::{Adapter, Around, Connected, PlainRun, Started, has_ending, own};
use crate::{
    attach::Attach,
    backend::cdp::{self, AtEntry, Began, FirstLine, Setup, Subject},
    failure::{Code, Failure},
    language::{Manners, Mode, Modes, Outlined, Reading, Runners, Wants},
    launch::Launch,
    limits,
    process::{Exit, Program, Spec},
    running::Running,
};

pub(super) struct Node;

impl Adapter for Node {
    fn language(&self) -> &'static str {
        "node"
    }

    fn called(&self) -> &'static str {
        "Node"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["js", "javascript", "ts", "typescript", "nodejs"]
    }

    fn endings(&self) -> &'static [&'static str] {
        &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"]
    }

    /// To JavaScript two more characters end a line.
    fn reading(&self) -> Reading {
        Reading { line_ends: &['\u{2028}', '\u{2029}'], ..Reading::default() }
    }

    fn outline(&self, text: &str) -> Vec<Outlined> {
        cdp::outline(text)
    }

    fn manners(&self) -> Manners {
        Manners {
            sees_no_callers_in_passing: true,
            counts_lines: true,
            truth: Some(("!!(\n", "\n)")),
            ..Manners::default()
        }
    }

    fn runners(&self) -> Runners {
        runners::RUNNERS
    }

    fn wants(&self) -> Option<Wants> {
        Some(Wants {
            program: "node",
            program_on_windows: "node",
            language: "JavaScript",
            version: &["--version"],
            version_prefix: "v",
            major_min: Some(20),
            install: "install Node.js 20 or newer, from https://nodejs.org or as a package",
            library: None,
        })
    }

    fn modes(&self) -> Modes {
        let attach = Mode::By("pid, or the port of `--inspect`");
        let test = Mode::By("node:test, mocha, jest or vitest");
        let core = Mode::No("V8 reads no core file");
        Modes { attach, test, core, ..Modes::default() }
    }

    fn aside(&self) -> &'static [&'static str] {
        &["node_modules"]
    }

    fn installed(&self) -> &'static [&'static str] {
        &["node_modules"]
    }

    fn roots(&self) -> &'static [&'static str] {
        &["package.json"]
    }

    fn claims(&self, launch: &Launch) -> bool {
        let is_script =
            |it| has_ending(it, command::SCRIPTS) || has_ending(it, command::TYPESCRIPT);
        let test = launch.test.as_deref().map(|it| Path::new(it.split("::").next().unwrap_or(it)));
        launch.program.as_deref().or(test).is_some_and(is_script)
            || command::is_ours(&launch.command, &launch.cwd)
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start(launch, around))
    }

    fn plain<'a>(&'a self, launch: &'a Launch) -> BoxFuture<'a, Result<PlainRun, Failure>> {
        Box::pin(async move {
            let what = What::of(launch).await?;
            let runtime = Some(what.runtime(launch));
            Ok(PlainRun { program: what.node, args: what.words, runtime, note: None })
        })
    }

    fn recorded_beside<'a>(&'a self, _launch: &'a Launch) -> BoxFuture<'a, Result<(), Failure>> {
        let text = "a Node program cannot be debugged and recorded at once: its recorder writes probes into the \
                    program's text, which a debugger would step through";
        let failure = Failure::new(Code::InvalidParams, text)
            .hint("`record_run` records it without a debugger");
        Box::pin(std::future::ready(Err(failure)))
    }

    fn recorder(
        &self,
        home: &Path,
        known: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        recorder::env(home, known)
    }

    fn is_runtime(&self, name: &str) -> bool {
        name.starts_with("node")
    }

    /// Its debugger is in every Node.
    fn listens(&self, words: &[String]) -> bool {
        words.iter().any(|word| word.starts_with("--inspect"))
    }

    fn how_to_listen(&self, port: u16) -> Option<String> {
        Some(format!("node --inspect={port} …"))
    }

    fn question(&self, port: u16) -> Option<String> {
        Some(format!("GET /json/version HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"))
    }

    fn answers(&self, answer: &[u8]) -> bool {
        let text = String::from_utf8_lossy(answer);
        text.starts_with("HTTP/") && text.contains("\"node.js/")
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(attach::attach(attach, around))
    }
}

async fn start(launch: &Launch, around: Around) -> Result<Started, Failure> {
    let what = What::of(launch).await?;
    let mut announcements = Announcements::open(&around.home)?;
    let woven = announcements.weave(&around.home, around.breakpoints.by_file());
    let mut program = Program::start(&around.guard, &spec(launch, &what, &announcements))?;
    let announced = address(&mut program)?;
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    let setup = Setup {
        breakpoints: Arc::clone(&around.breakpoints),
        just_my_code: launch.just_my_code,
        folders: folders(launch),
        woven,
        joining: joining.clone(),
        first_line: FirstLine::default(),
        attached: None,
    };
    if what.is_runner {
        // What the processes that it starts say, it tells as its own.
        let stdout = program.pipes.stdout.take();
        program.pipes.stdout = stdout.map(|it| chatter::without(it).0);
        // The runner itself has no line of the user's.
        if launch.stop_on_entry {
            setup.first_line.expect();
        }
        // Ends when the session drops its receiver.
        tokio::spawn(take_children(announcements, setup));
        let stands = launch.stop_on_entry;
        let runtime = Some(what.runtime(launch));
        return Ok(Started {
            runtime,
            note: None,
            program: Some(program),
            process: None,
            told: None,
            stands,
            targets,
        });
    }
    let url = found(&mut program, announced, &what.node).await?;
    own::listens(&url, program.root())?;
    let entry = if launch.stop_on_entry { AtEntry::Told } else { AtEntry::Silent };
    let subject =
        Subject { name: "main".to_owned(), pid: None, script: launch.program.clone(), entry };
    let (main, beginning) = cdp::connect(&url, setup.clone(), subject).await?;
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    // Ends when the session drops its receiver.
    tokio::spawn(take_children(announcements, setup));
    begun(&mut program, beginning, &what.node).await?;
    let (runtime, stands) = (Some(what.runtime(launch)), launch.stop_on_entry);
    let (program, process) = (Some(program), None);
    Ok(Started { runtime, note: None, program, process, told: None, stands, targets })
}

/// Where the program's own sources are.
fn folders(launch: &Launch) -> Vec<std::path::PathBuf> {
    let own = launch.program.as_deref().and_then(std::path::Path::parent);
    let own = own.filter(|own| !own.starts_with(&launch.cwd)).map(std::path::Path::to_owned);
    std::iter::once(launch.cwd.clone()).chain(own).collect()
}

fn spec(launch: &Launch, what: &What, announcements: &Announcements) -> Spec {
    let mut args: Vec<OsString> = Vec::new();
    let mut env: std::collections::BTreeMap<String, Option<String>> =
        launch.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    let ours = std::env::var("NODE_OPTIONS").ok();
    let known = launch.env.get("NODE_OPTIONS").cloned().or(ours);
    // The secret part of an inspector's address is told to us and to nobody who asks its port. With the word in it a
    // test runner knows of a debugger, too: one process at a time, and what the inspectors of its children say is not
    // taken for the tests' own output.
    let given = known.map(|it| it + " ").unwrap_or_default() + "--inspect-publish-uid=stderr";
    if !what.is_runner {
        args.push("--inspect-brk=127.0.0.1:0".into());
        env.insert(children::FOUND.to_owned(), Some("1".to_owned()));
    }
    args.extend(what.words.iter().cloned());
    env.extend(
        announcements.env(Some(&given)).into_iter().map(|(name, value)| (name, Some(value))),
    );
    Spec { program: what.node.clone(), args, cwd: launch.cwd.clone(), env }
}

/// Where the program's inspector listens: on its way. Node says it before it does anything else.
fn address(program: &mut Program) -> Result<oneshot::Receiver<String>, Failure> {
    let stderr = program.pipes.stderr.take();
    let stderr = stderr.ok_or_else(|| Failure::internal("the program has no stderr"))?;
    let (rest, url) = chatter::without(stderr);
    program.pipes.stderr = Some(rest);
    Ok(url)
}

async fn found(
    program: &mut Program,
    url: oneshot::Receiver<String>,
    node: &Path,
) -> Result<String, Failure> {
    let said = tokio::select! {
        url = tokio::time::timeout(limits::CONNECT, url) => url,
        exit = program.wait() => return Err(died(program, exit, node).await),
    };
    match said {
        Ok(Ok(url)) => Ok(url),
        // Its stderr ended without: a node that does not know its flags, or no node at all.
        Ok(Err(_)) => {
            let exit = ended(program).await;
            Err(died(program, exit, node).await)
        }
        Err(_) => Err(silent(node)),
    }
}

fn silent(node: &Path) -> Failure {
    let text = format!("`{}` did not open its inspector", node.display());
    Failure::new(Code::LaunchFailed, text).hint("is `interpreter` a Node.js?")
}

/// Waits until the program stands before its first line. One that ends before that never could run.
async fn begun(
    program: &mut Program,
    began: oneshot::Receiver<Began>,
    node: &Path,
) -> Result<(), Failure> {
    match tokio::time::timeout(limits::CONNECT, began).await {
        Ok(Ok(Began::Entered)) => Ok(()),
        Ok(Ok(Began::Over) | Err(_)) => match ended(program).await {
            // `node --check` and the like have no first line, and are done.
            Exit::Code(0) => Ok(()),
            exit => Err(died(program, exit, node).await),
        },
        Err(_) => Err(Failure::new(Code::LaunchFailed, "the program did not reach its first line")
            .hint("a preloaded module (`--require`, `--import`, NODE_OPTIONS) may not return")),
    }
}

/// It was told to go; a moment later it is gone.
async fn ended(program: &mut Program) -> Exit {
    let ended = tokio::time::timeout(limits::ADAPTER_ANSWER, program.wait()).await;
    ended.unwrap_or(Exit::Unknown)
}

async fn died(program: &mut Program, exit: Exit, node: &Path) -> Failure {
    let said = program.last_words().await;
    let hint = match said.as_str() {
        it if it.contains("SyntaxError") => "correct what Node says, then launch again",
        it if it.contains("Cannot find module") || it.contains("ERR_MODULE_NOT_FOUND") => {
            "install what is missing (`npm install`), or correct the path; `cwd` is where Node starts"
        }
        it if it.contains("bad option") => "Node does not know that flag",
        "" => "is it a Node.js? `interpreter` chooses another",
        _ => "see what Node wrote; `interpreter` chooses another node",
    };
    Failure::new(
        Code::LaunchFailed,
        format!("`{}` ended with {exit} before the first line\n{said}", node.display()),
    )
    .hint(hint)
}

/// Each child waits until it is connected.
async fn take_children(mut announcements: Announcements, setup: Setup) {
    // Children that are being taken. Ended with this task.
    let mut taking = JoinSet::new();
    loop {
        let child = tokio::select! {
            child = announcements.next() => child,
            Some(_) = taking.join_next() => continue,
            () = setup.joining.closed() => return,
        };
        let Some(child) = child else { return };
        // Ends when the child is taken, or gone.
        taking.spawn(take_child(child, setup.clone()));
    }
}

async fn take_child(child: Child, setup: Setup) {
    let joining: mpsc::Sender<Connected> = setup.joining.clone();
    let script = Running::find(child.pid).ok().and_then(|it| it.script());
    let subject = Subject {
        name: script.unwrap_or_else(|| format!("process {}", child.pid)),
        pid: Some(child.pid),
        script: None,
        entry: AtEntry::LetIn,
    };
    // Only this user can write into the pipe; the address is the child's own all the same.
    if let Err(failure) = own::listens(&child.url, Some(child.pid)) {
        return tracing::warn!(%failure, "a child process could not be debugged");
    }
    match cdp::connect(&child.url, setup, subject).await {
        Ok((connected, _)) => {
            // The session may have ended first.
            joining.send(connected).await.unwrap_or_default();
        }
        // It was gone first, as when the program is ended while it starts others.
        Err(failure) if failure.code == Code::SessionEnded => {
            tracing::debug!(%failure, "a child process was gone before it was debugged");
        }
        Err(failure) => tracing::warn!(%failure, "a child process could not be debugged"),
    }
}

/// How long a node may take to answer a question about itself.
const PROBE: Duration = Duration::from_secs(20);
