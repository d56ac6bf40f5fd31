//! Python by debugpy, without the adapter process in between: we listen, the program's debugger dials us,
//! and so do its children.

mod attach;
mod debugpy;
mod interpreter;
mod outline;
mod project;
mod recorder;
mod runners;
mod source;
mod testing;

use std::{collections::BTreeMap, ffi::OsString, net::Ipv4Addr, path::Path, time::Duration};

use futures::future::BoxFuture;
use holdpoint_loopback::Quick;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc};

use self::{debugpy::Debugger, interpreter::Interpreter};
use super::{Adapter, Around, Connected, PlainRun, Runtime, Started, has_ending, one_of, own};
use crate::{
    attach::Attach,
    backend::{
        Backend,
        dap::{
            Dap, Setup,
            dialect::{About, Pydevd},
        },
    },
    failure::{Code, Failure},
    language::{Listing, Manners, Mode, Modes, Outlined, Reading, Runners, WantedLibrary, Wants},
    launch::Launch,
    limits,
    nouns::Variable,
    process::{Program, Spec},
};

pub(super) struct Python;

/// What is looked for on a machine.
const WANTS: Wants = Wants {
    program: "python3",
    program_on_windows: "python",
    language: "Python",
    version: &["--version"],
    version_prefix: "Python ",
    major_min: None,
    install: "install Python 3, from https://www.python.org or as a package",
    library: Some(WantedLibrary {
        name: "debugpy",
        // An empty entry in the path stands for the current folder, whose files must not be run by a doctor.
        version: &[
            "-c",
            "import sys; sys.path[:] = [entry for entry in sys.path if entry]; import debugpy; print(debugpy.__version__)",
        ],
        shows: "-c 'import debugpy'",
        without: "Holdpoint provides its own at the first launch",
    }),
};

impl Adapter for Python {
    fn language(&self) -> &'static str {
        "python"
    }

    fn called(&self) -> &'static str {
        "Python"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["py", "python3"]
    }

    fn endings(&self) -> &'static [&'static str] {
        &["py", "pyw", "pyi"]
    }

    fn reading(&self) -> Reading {
        source::READING
    }

    fn outline(&self, text: &str) -> Vec<Outlined> {
        outline::outline(text)
    }

    fn manners(&self) -> Manners {
        Manners {
            stops_at_user_unhandled: true,
            runs_heads: true,
            truth: Some(("bool((\n", "\n))")),
            ..Manners::default()
        }
    }

    fn runners(&self) -> Runners {
        runners::RUNNERS
    }

    /// Groups that debugpy adds for a graphical tree, and what pytest makes of an `assert`.
    fn is_noise(&self, variable: &Variable) -> bool {
        let group = matches!(
            variable.name.as_str(),
            "special variables" | "function variables" | "class variables" | "protected variables"
        );
        (group && variable.value.text.is_empty())
            || variable.name.starts_with("@py")
            || variable.name == "__pytest_assert_rewrite__"
    }

    /// debugpy shows the first hundred parts or so; Python itself cuts out others.
    fn listing(&self) -> Listing {
        let cut = |expression: &str, start: usize, end: usize| {
            format!(
                "(lambda it, cut: dict(cut(it.items(), {start}, {end})) if hasattr(it, 'items') \
                 else list(cut(it, {start}, {end})))({expression}, __import__('itertools').islice)"
            )
        };
        Listing { length: Some("len()"), rest: Some("Unable to handle:"), cut: Some(cut) }
    }

    fn wants(&self) -> Option<Wants> {
        Some(WANTS)
    }

    fn modes(&self) -> Modes {
        let attach = Mode::By("pid, or the port of `debugpy.listen`");
        let test = Mode::By("pytest, else unittest");
        let core = Mode::No("debugpy reads no core file");
        Modes { attach, test, core, ..Modes::default() }
    }

    fn aside(&self) -> &'static [&'static str] {
        &["__pycache__"]
    }

    fn installed(&self) -> &'static [&'static str] {
        &[".venv", "venv"]
    }

    fn elsewhere(
        &self,
        checkout: &Path,
        known: &dyn Fn(&str) -> Option<String>,
    ) -> BTreeMap<String, String> {
        let own = [checkout.join("src"), checkout.to_owned()].map(|it| it.display().to_string());
        let before = known("PYTHONPATH").filter(|it| !it.is_empty());
        let all: Vec<String> = own.into_iter().chain(before).collect();
        [("PYTHONPATH".to_owned(), all.join(":"))].into()
    }

    fn roots(&self) -> &'static [&'static str] {
        &["pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini"]
    }

    fn claims(&self, launch: &Launch) -> bool {
        let by_file = launch.program.as_deref().is_some_and(|it| has_ending(it, &["py", "pyw"]));
        let by_command = launch.command.first().is_some_and(|word| {
            let name = Path::new(word).file_name().and_then(|it| it.to_str()).unwrap_or_default();
            name.starts_with("python")
                || matches!(name, "pytest" | "py.test")
                || name.ends_with(".py")
        });
        let by_test = launch
            .test
            .as_deref()
            .is_some_and(|it| has_ending(Path::new(it.split("::").next().unwrap_or(it)), &["py"]));
        by_file || by_command || by_test || launch.module.is_some()
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start(launch, around))
    }

    fn plain<'a>(&'a self, launch: &'a Launch) -> BoxFuture<'a, Result<PlainRun, Failure>> {
        Box::pin(plain(launch))
    }

    fn recorded_beside<'a>(&'a self, launch: &'a Launch) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(recorded_beside(launch))
    }

    fn recorder(
        &self,
        home: &Path,
        known: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        recorder::env(home, known)
    }

    fn is_runtime(&self, name: &str) -> bool {
        name.starts_with("python")
    }

    /// A web server in Python is one too.
    fn listens(&self, words: &[String]) -> bool {
        words.iter().any(|word| word.contains("debugpy"))
    }

    fn how_to_listen(&self, port: u16) -> Option<String> {
        Some(format!("python -m debugpy --listen {port} …"))
    }

    /// Its adapter greets in the protocol's own form.
    fn answers(&self, answer: &[u8]) -> bool {
        answer.starts_with(b"Content-Length:")
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(attach::attach(attach, around))
    }
}

async fn plain(launch: &Launch) -> Result<PlainRun, Failure> {
    let mut what = What::of(launch)?;
    let interpreter = Interpreter::find(launch, what.interpreter.as_deref()).await?;
    let mut note = None;
    if let Some(test) = &launch.test {
        let (words, told) = testing::words(test, launch, &interpreter).await?;
        what.words.splice(0..0, words);
        note = told;
    }
    let version = Some(interpreter.version());
    let Interpreter { path, why, .. } = interpreter;
    let runtime = Some(Runtime { path: path.clone(), version, why, installed: None });
    Ok(PlainRun { program: path, args: what.words, runtime, note })
}

/// Since 3.12 a debugger and a recorder each have a place of their own in the interpreter; before, there is one.
async fn recorded_beside(launch: &Launch) -> Result<(), Failure> {
    let what = What::of(launch)?;
    let interpreter = Interpreter::find(launch, what.interpreter.as_deref()).await?;
    let (major, minor, _) = interpreter.facts.version;
    if (major, minor) >= (3, 12) {
        return Ok(());
    }
    let text = format!(
        "Python {} cannot be debugged and recorded at once: before 3.12 it has one place for a tracer \
         (`sys.settrace`), and the debugger has it",
        interpreter.version()
    );
    Err(Failure::new(Code::InvalidParams, text).hint(
        "`record_run` records it without a debugger; `interpreter` names a Python of 3.12 or later",
    ))
}

async fn start(launch: &Launch, around: Around) -> Result<Started, Failure> {
    let mut what = What::of(launch)?;
    let interpreter = Interpreter::find(launch, what.interpreter.as_deref()).await?;
    let mut note = None;
    if let Some(test) = &launch.test {
        let (words, told) = testing::words(test, launch, &interpreter).await?;
        what.words.splice(0..0, words);
        note = told;
    }
    let (debugger, installed) = Debugger::find(&interpreter, &around).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
    let port = listener.local_addr().map_err(no_port)?.port();
    let words = debugger.words(&around.home)?;
    let spec = spec(launch, &what, &interpreter, words, port);
    let mut program = Program::start(&around.guard, &spec)?;
    let root = program.root();
    let first = tokio::select! {
        accepted = tokio::time::timeout(limits::CONNECT, own::accept(&listener, root)) => accepted,
        exit = program.wait() => return Err(died(&mut program, exit, &interpreter).await),
    };
    let stream = first
        .map_err(|_| {
            Failure::new(Code::LaunchFailed, "the program did not connect to the debugger")
        })?
        .map_err(no_port)?;
    let main = match connect(stream, launch, &around, true).await {
        Err(failure) if failure.code == Code::SessionEnded => {
            let exit = tokio::time::timeout(limits::DRAIN, program.wait()).await;
            let exit = exit.map_err(|_| failure)?;
            return Err(died(&mut program, exit, &interpreter).await);
        }
        connected => connected?,
    };
    let (sender, targets) = mpsc::channel(limits::TARGETS);
    sender.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    // Ends when the session drops its receiver, or with the listener.
    tokio::spawn(accept_children(listener, root, launch.clone(), around, sender));
    let version = Some(interpreter.version());
    let Interpreter { path, why, .. } = interpreter;
    Ok(Started {
        runtime: Some(Runtime { path, version, why, installed }),
        program: Some(program),
        process: None,
        told: None,
        stands: launch.stop_on_entry,
        note,
        targets,
    })
}

/// Python children dial the same port by themselves, one connection each.
async fn accept_children(
    listener: TcpListener,
    root: Option<u32>,
    launch: Launch,
    around: Around,
    sender: mpsc::Sender<Connected>,
) {
    // One that hangs in its handshake must not keep the others waiting. Ended with this task.
    let mut greetings = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = own::accept(&listener, root) => {
                let Ok(stream) = accepted else { return };
                let (launch, around, sender) = (launch.clone(), around.clone(), sender.clone());
                greetings.spawn(async move { greet(stream, &launch, &around, sender).await });
            }
            Some(_) = greetings.join_next() => {}
            () = sender.closed() => return,
        }
    }
}

async fn greet(
    stream: tokio::net::TcpStream,
    launch: &Launch,
    around: &Around,
    sender: mpsc::Sender<Connected>,
) {
    match connect(stream, launch, around, false).await {
        // The session may have ended meanwhile; then nobody needs the child.
        Ok(child) => sender.send(child).await.unwrap_or_default(),
        // Killed while it was connecting, mostly because the session ends.
        Err(failure) if failure.code == Code::SessionEnded => {
            tracing::debug!(%failure, "a child process is gone");
        }
        // It was gone first, as when the program is ended while it starts others.
        Err(failure) if failure.code == Code::SessionEnded => {
            tracing::debug!(%failure, "a child process was gone before it was debugged");
        }
        Err(failure) => tracing::warn!(%failure, "a child process could not be debugged"),
    }
}

async fn connect(
    stream: tokio::net::TcpStream,
    launch: &Launch,
    around: &Around,
    is_main: bool,
) -> Result<Connected, Failure> {
    let quick = Quick::new(stream).map_err(no_port)?;
    let (read, write) = tokio::io::split(quick);
    let revision = around.breakpoints.revision();
    let breakpoints = around.breakpoints.by_file();
    let files = breakpoints.iter().map(|(file, _)| file.as_path());
    let setup = Setup {
        greeting: &[
            ("pydevdAuthorize", json!({ "debugServerAccessToken": null })),
            // A condition that raises stops the program; nobody would ever learn of it otherwise.
            (
                "setDebuggerProperty",
                json!({ "skipSuspendOnBreakpointException": [], "skipPrintBreakpointException": [] }),
            ),
        ],
        adapter_id: "python",
        // `launch`, not `attach`: only then does pydevd stop at the entry.
        begin: "launch",
        arguments: arguments(launch, is_main, files),
        breakpoints: &breakpoints,
        functions: &around.breakpoints.functions(),
        exceptions: &around.breakpoints.exceptions(),
        tape: around.tape.as_ref().map(|tape| tape.labelled(launch.title())),
        tells_output: false,
    };
    let pydevd = Pydevd::new(About {
        folders: folders(launch),
        runs: false,
        emulates_traces: launch.env.get(TRACEPOINTS).is_some_and(|it| it == "emulated"),
        children: None,
        reading: source::READING,
    });
    let connecting = Dap::connect(read, write, Box::new(pydevd), setup);
    let (dap, signals) = tokio::time::timeout(limits::CONNECT, connecting)
        .await
        .map_err(|_| Failure::new(Code::LaunchFailed, "the program's debugger did not answer"))??;
    let pid = dap.pid();
    Ok(Connected { backend: Backend::Dap(dap), signals, pid, revision, bound: Vec::new() })
}

/// Where the program's own sources are.
fn folders(launch: &Launch) -> Vec<std::path::PathBuf> {
    let own = launch.program.as_deref().and_then(Path::parent).map(Path::to_owned);
    let mut folders = vec![launch.cwd.clone()];
    folders.extend(own.filter(|own| !own.starts_with(&launch.cwd)));
    folders
}

fn arguments<'a>(launch: &Launch, is_main: bool, files: impl Iterator<Item = &'a Path>) -> Value {
    json!({
        "justMyCode": launch.just_my_code,
        // Whoever sets a breakpoint in a library wants to stop there.
        "rules": files.map(|it| json!({ "path": literal(it), "include": true })).collect::<Value>(),
        "stopOnEntry": is_main && launch.stop_on_entry,
        "subProcess": true,
        // `sys.exit(3)` is an end, not an error.
        "breakOnSystemExit": [],
        "showReturnValue": true,
        "redirectOutput": false,
    })
}

/// A pattern that matches this path only.
fn literal(path: &Path) -> String {
    let escaped = |c: char| if "*?[".contains(c) { format!("[{c}]") } else { c.to_string() };
    path.display().to_string().chars().map(escaped).collect()
}

/// What runs, in debugpy's own terms.
struct What {
    interpreter: Option<std::path::PathBuf>,
    words: Vec<OsString>,
}

impl What {
    fn of(launch: &Launch) -> Result<What, Failure> {
        let mut interpreter = launch.interpreter.clone();
        let mut words: Vec<OsString> = Vec::new();
        match (&launch.program, &launch.module, launch.command.as_slice()) {
            // Which runner there is, the interpreter says.
            (None, None, []) if launch.test.is_some() => {}
            _ if launch.test.is_some() => return Err(one_of()),
            (Some(program), None, []) => words.push(program.into()),
            (None, Some(module), []) => words.extend(["-m".into(), module.into()]),
            (None, None, [first, rest @ ..]) => {
                let name =
                    Path::new(first).file_name().and_then(|it| it.to_str()).unwrap_or_default();
                if name.starts_with("python") {
                    interpreter.get_or_insert_with(|| first.into());
                    words.extend(rest.iter().map(OsString::from));
                } else if name.ends_with(".py") {
                    words.extend(launch.command.iter().map(OsString::from));
                } else {
                    words.extend([
                        "-m".into(),
                        name.replace('.', "_").replace("py_test", "pytest").into(),
                    ]);
                    words.extend(rest.iter().map(OsString::from));
                }
            }
            _ => return Err(one_of()),
        }
        words.extend(launch.args.iter().map(OsString::from));
        Ok(What { interpreter, words })
    }
}

fn spec(
    launch: &Launch,
    what: &What,
    interpreter: &Interpreter,
    debugger: [OsString; 2],
    port: u16,
) -> Spec {
    let mut args: Vec<OsString> = vec!["-X".into(), "frozen_modules=off".into()];
    args.extend(debugger);
    args.extend([
        "--connect".into(),
        format!("127.0.0.1:{port}").into(),
        "--wait-for-client".into(),
    ]);
    args.extend(what.words.iter().cloned());
    let mut env: std::collections::BTreeMap<String, Option<String>> =
        launch.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    // Without it children complain of frozen modules on the user's stderr.
    env.insert("PYDEVD_DISABLE_FILE_VALIDATION".into(), Some("1".into()));
    // Slow evaluations have our deadline, and no other thread runs while the program is stopped.
    env.insert("PYDEVD_WARN_EVALUATION_TIMEOUT".into(), Some("86400".into()));
    env.insert("PYDEVD_WARN_SLOW_RESOLVE_TIMEOUT".into(), Some("86400".into()));
    env.insert("PYDEVD_UNBLOCK_THREADS_ON_VARIABLES_TIMEOUT".into(), Some("-1".into()));
    // What was printed is to be seen when the program stops, not when a buffer is full.
    env.entry("PYTHONUNBUFFERED".into()).or_insert_with(|| Some("1".into()));
    Spec { program: interpreter.path.clone(), args, cwd: launch.cwd.clone(), env }
}

async fn died(
    program: &mut Program,
    exit: crate::process::Exit,
    interpreter: &Interpreter,
) -> Failure {
    let said = program.last_words().await;
    let path = interpreter.path.display();
    Failure::new(
        Code::LaunchFailed,
        format!("`{path}` ended with {exit} before it could be debugged\n{said}"),
    )
    .hint("see what it wrote; `interpreter` chooses another Python")
}

fn no_port(error: std::io::Error) -> Failure {
    Failure::new(Code::LaunchFailed, format!("no loopback connection: {error}"))
}

/// A launch with this variable `emulated` has tracepoints as debuggers that know none have them.
const TRACEPOINTS: &str = "HOLDPOINT_TRACEPOINTS";

/// How long a runtime may take to answer a question about itself.
const PROBE: Duration = Duration::from_secs(20);
