//! Mono by the debugger agent inside of its runtime: we listen and the program dials us, or it listens and we dial it.
//!
//! What the agent says is made into the debug adapter protocol in this process ([`server`]), so that all else is that of
//! every other language.

mod calls;
mod collections;
mod compile;
mod happen;
mod points;
mod server;
mod serving;
mod stack;
mod types;
mod values;
mod world;

use std::{net::Ipv4Addr, path::PathBuf, sync::Arc};

use holdpoint_loopback::Quick;
use holdpoint_sdb::MonoRequester;
use tokio::{net::TcpListener, sync::mpsc};

use self::server::{About, MonoServer};
pub(super) use self::values::REST;
use super::Target;
use crate::{
    adapter::{
        Around, Connected, Runtime, Started, ask, debugger, has_ending, own,
        served::{self, Begin},
    },
    attach::{At, Attach, Mappings},
    backend::dap::dialect::MONO,
    failure::{Code, Failure},
    language::{DebuggerProgram, Install},
    launch::Launch,
    limits,
    process::{Exit, Program, Spec, command},
    running::{self, Running},
};

pub(super) const RUNTIME: DebuggerProgram = DebuggerProgram {
    name: "Mono",
    programs: &["mono"],
    version: &["--version"],
    install: Install::Apt(&["mono-runtime", "mono-mcs", "libmono-system-core4.0-cil"]),
};

pub(super) async fn start(
    launch: &Launch,
    target: Target,
    around: Around,
) -> Result<Started, Failure> {
    let mono = runtime(launch, &target, &around)?;
    let mut file = target.file.clone();
    if has_ending(&file, &["cs"]) {
        file = compile::compiled(&file, &around).await?;
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
    let port = listener.local_addr().map_err(no_port)?.port();
    let agent =
        format!("--debugger-agent=transport=dt_socket,address=127.0.0.1:{port},server=n,suspend=y");
    let words = ["--debug".into(), agent.into(), file.into_os_string()];
    let args = words.into_iter().chain(target.args.iter().map(Into::into)).collect();
    let env = launch.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    let spec = Spec { program: mono.clone(), args, cwd: launch.cwd.clone(), env };
    let mut program = Program::start(&around.guard, &spec)?;
    let root = program.root();
    let first = tokio::select! {
        accepted = tokio::time::timeout(limits::CONNECT, own::accept(&listener, root)) => accepted,
        exit = program.wait() => return Err(died(&mut program, exit).await),
    };
    let silent = || Failure::new(Code::LaunchFailed, "the program did not connect to the debugger");
    let stream = first.map_err(|_| silent())?.map_err(no_port)?;
    let quick = Quick::new(stream).map_err(no_port)?;
    let about = About {
        stop_on_entry: launch.stop_on_entry,
        just_my_code: launch.just_my_code,
        is_attached: false,
        mappings: Mappings::default(),
    };
    let main = match connect(quick, about, launch.title(), None, &around).await {
        Err(failure) if failure.code == Code::SessionEnded => {
            let exit = tokio::time::timeout(limits::DRAIN, program.wait()).await;
            let exit = exit.map_err(|_| failure)?;
            return Err(died(&mut program, exit).await);
        }
        connected => connected?,
    };
    let (sender, targets) = mpsc::channel(limits::TARGETS);
    sender.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    let runtime = Runtime {
        version: version(&mono).await,
        path: mono,
        why: "Mono runs `.cs` and `.exe`".to_owned(),
        installed: None,
    };
    Ok(Started {
        runtime: Some(runtime),
        program: Some(program),
        process: None,
        told: None,
        stands: launch.stop_on_entry,
        note: None,
        targets,
    })
}

/// The one that is named, else the machine's.
fn runtime(launch: &Launch, target: &Target, around: &Around) -> Result<PathBuf, Failure> {
    match launch.interpreter.as_ref().or(target.runtime.as_ref()) {
        Some(named) if named.components().count() > 1 => Ok(named.clone()),
        _ => debugger::find("csharp", &RUNTIME, &around.home),
    }
}

async fn version(mono: &std::path::Path) -> Option<String> {
    let asked = command(mono).arg("--version").kill_on_drop(true).output();
    let told = tokio::time::timeout(limits::REACH, asked).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let rest = text.strip_prefix("Mono JIT compiler version ")?;
    rest.split_whitespace().next().map(str::to_owned)
}

async fn connect(
    quick: Quick,
    about: About,
    title: String,
    pid: Option<u32>,
    around: &Around,
) -> Result<Connected, Failure> {
    let (read, write) = tokio::io::split(quick);
    let greeted = tokio::time::timeout(limits::CONNECT, MonoRequester::greet(read, write)).await;
    let silent = || Failure::new(Code::LaunchFailed, "Mono's debugger agent did not greet");
    let (mono, inbox) = greeted.map_err(|_| silent())?.map_err(|error| {
        Failure::new(Code::SessionEnded, format!("Mono's debugger agent: {error}"))
    })?;
    let command = if about.is_attached { "attach" } else { "launch" };
    let (outlet, outbox) = served::outlet();
    let server = Arc::new(MonoServer::new(mono, outlet.clone(), about));
    // Ends with the connection, or when nobody listens to the server any more.
    tokio::spawn(happen::follow(Arc::clone(&server), inbox));
    let begin = Begin { adapter_id: "mono", command, title, pid, around };
    served::connect(server, (outlet, outbox), Box::new(MONO), begin).await
}

/// A program whose agent listens: it takes one debugger, and after that no other.
pub(super) async fn attach(attach: &Attach, around: Around) -> Result<Started, Failure> {
    let (host, port, process) = match &attach.at {
        // Chosen for no such program.
        At::Editor { .. } | At::Core { .. } => {
            return Err(Failure::internal("no process is meant"));
        }
        At::Address { host, port } => {
            let is_here = matches!(host.as_str(), "localhost" | "127.0.0.1" | "::1");
            let listener = running::listener(*port).filter(|_| is_here);
            let process = listener.and_then(|it| Running::find(it).ok());
            (host.clone(), *port, process)
        }
        At::Process(pid) => {
            let process = Running::find(*pid)?;
            let port = agent_port(&process)?;
            ("127.0.0.1".to_owned(), port, Some(process))
        }
    };
    let quick = ask::connect(&host, port).await?;
    let about = About {
        stop_on_entry: false,
        just_my_code: attach.just_my_code,
        is_attached: true,
        mappings: attach.mappings.clone(),
    };
    let pid = process.as_ref().map(|it| it.pid);
    let main = connect(quick, about, attach.at.to_string(), pid, &around).await.map_err(|it| {
        Failure::new(Code::AttachFailed, it.message).hint(
            "an agent takes one debugger; start the program with `server=y` and nobody else there",
        )
    })?;
    let (sender, targets) = mpsc::channel(limits::TARGETS);
    sender.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    Ok(Started {
        runtime: None,
        program: None,
        process,
        told: None,
        stands: false,
        note: None,
        targets,
    })
}

/// Where the agent of a process listens, by how it was started: it cannot be loaded later.
fn agent_port(process: &Running) -> Result<u16, Failure> {
    let words = process.words();
    let agent = words.iter().find_map(|it| it.strip_prefix("--debugger-agent="));
    let listens = agent.filter(|it| it.contains("server=y"));
    let address = listens.and_then(|it| it.split(',').find_map(|it| it.strip_prefix("address=")));
    let port = address.and_then(|it| it.rsplit(':').next()).and_then(|it| it.parse().ok());
    port.ok_or_else(|| {
        let text = format!(
            "process {} was started without a debugger agent that listens, and Mono cannot load one later",
            process.pid
        );
        Failure::new(Code::AttachFailed, text).hint(
            "start it with `mono --debug --debugger-agent=transport=dt_socket,address=127.0.0.1:55555,server=y,suspend=n …`, \
             then attach to that port",
        )
    })
}

async fn died(program: &mut Program, exit: Exit) -> Failure {
    let said = program.last_words().await;
    let text = format!("Mono ended with {exit} before the program could be debugged\n{said}");
    Failure::new(Code::LaunchFailed, text.trim().to_owned())
}

fn no_port(error: std::io::Error) -> Failure {
    Failure::new(Code::LaunchFailed, format!("no connection to the program's debugger: {error}"))
}
