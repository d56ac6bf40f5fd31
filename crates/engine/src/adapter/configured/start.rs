//! From a block of the configuration to a program under control.

use std::collections::BTreeMap;

use holdpoint_loopback::Quick;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    Configured, Reach,
    template::{Places, filled, words},
};
use crate::{
    adapter::{Around, Connected, DebugServer, Runtime, Started, debugger},
    attach::{At, Attach},
    backend::{
        Backend,
        dap::{Dap, Setup},
    },
    failure::{Code, Failure},
    launch::Launch,
    limits,
    process::{Program, Spec},
};

pub(super) async fn launch(
    adapter: &Configured,
    launch: &Launch,
    around: Around,
) -> Result<Started, Failure> {
    let Some(program) = &launch.program else {
        let text = format!("a launch of {} names its `program`", adapter.called);
        return Err(Failure::new(Code::InvalidParams, text).hint("pass the file as `program`"));
    };
    let env: BTreeMap<&String, &String> = launch.env.iter().collect();
    let places: Places = [
        ("program", json!(program)),
        ("args", json!(launch.args)),
        ("cwd", json!(launch.cwd)),
        ("env", json!(env)),
        ("stop_on_entry", json!(launch.stop_on_entry)),
        ("interpreter", json!(launch.interpreter)),
    ]
    .into();
    let arguments = filled(&adapter.block.launch, &places);
    let begin =
        Begin { verb: "launch", arguments, title: launch.title(), stands: launch.stop_on_entry };
    match &adapter.block.reach {
        Reach::Pipes(command) => {
            let spec = spec(adapter, &words(command, &places), launch, &around)?;
            let server = DebugServer {
                spec,
                adapter_id: adapter.language,
                dialect: Box::new(adapter.table),
                begin: begin.verb,
                arguments: begin.arguments,
            };
            server.start(launch, around).await
        }
        Reach::Told(command) => {
            let port = free_port()?;
            let mut places = places;
            places.insert("port", json!(port));
            let spec = spec(adapter, &words(command, &places), launch, &around)?;
            let mut server = Program::serve(&around.guard, &spec)?;
            // Its own, and not the program's: what is written there would be read by nobody.
            drop(server.pipes.stdin.take());
            let connected = reach_own(port, &mut server).await;
            let connected = match connected {
                Ok(stream) => join(adapter, stream, begin, &around).await,
                Err(failure) => Err(failure),
            };
            match connected {
                Ok(started) => Ok(Started { program: Some(server), ..started }),
                Err(failure) => Err(died(adapter, &mut server, failure).await),
            }
        }
        Reach::Port(port) => {
            let stream = reach("127.0.0.1", *port).await?;
            join(adapter, stream, begin, &around).await
        }
    }
}

pub(super) async fn attach(
    adapter: &Configured,
    attach: &Attach,
    around: Around,
) -> Result<Started, Failure> {
    let Some(template) = &adapter.block.attach else {
        let text = format!(
            "a running program of {} cannot be debugged: its block has no `attach`",
            adapter.called
        );
        return Err(Failure::new(Code::AttachFailed, text).hint("start it with `debug_launch`"));
    };
    let mut places: Places = [("cwd", json!(attach.cwd))].into();
    let stream = match &attach.at {
        At::Editor { .. } | At::Core { .. } => {
            return Err(Failure::internal("no process of its own is meant"));
        }
        At::Address { host, port } => {
            places.extend([("host", json!(host)), ("port", json!(port)), ("pid", Value::Null)]);
            reach(host, *port).await?
        }
        At::Process(_) => {
            let text =
                format!("{} takes a running program by the port of its debugger", adapter.called);
            return Err(Failure::new(Code::AttachFailed, text).hint("pass `port`"));
        }
    };
    let arguments = filled(template, &places);
    let begin = Begin { verb: "attach", arguments, title: attach.at.to_string(), stands: false };
    join(adapter, stream, begin, &around).await
}

/// What is asked of a debugger first.
struct Begin {
    verb: &'static str,
    arguments: Value,
    title: String,
    stands: bool,
}

/// Opens the session on a connection.
async fn join(
    adapter: &Configured,
    stream: Quick,
    begin: Begin,
    around: &Around,
) -> Result<Started, Failure> {
    let revision = around.breakpoints.revision();
    let (read, write) = tokio::io::split(stream);
    let setup = Setup {
        greeting: &[],
        adapter_id: adapter.language,
        begin: begin.verb,
        arguments: begin.arguments,
        breakpoints: &around.breakpoints.by_file(),
        functions: &around.breakpoints.functions(),
        exceptions: &around.breakpoints.exceptions(),
        tape: around.tape.as_ref().map(|tape| tape.labelled(begin.title)),
        tells_output: true,
    };
    let connecting = Dap::connect(read, write, Box::new(adapter.table), setup);
    let (dap, signals) = match tokio::time::timeout(limits::CONNECT, connecting).await {
        Ok(connected) => connected?,
        Err(_) => {
            let text = format!("the debugger of {} did not answer", adapter.called);
            return Err(Failure::new(Code::LaunchFailed, text));
        }
    };
    let pid = dap.pid();
    let main = Connected { backend: Backend::Dap(dap), signals, pid, revision, bound: Vec::new() };
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    let runtime = adapter.debugger.map(|it| Runtime {
        path: it.programs.first().copied().unwrap_or_default().into(),
        version: None,
        why: format!("`[adapters.{}]` says so", adapter.language),
        installed: None,
    });
    let stands = begin.stands;
    Ok(Started { runtime, program: None, process: None, told: None, stands, note: None, targets })
}

/// Waits until the server listens; one that ends meanwhile will not.
async fn reach_own(port: u16, server: &mut Program) -> Result<Quick, Failure> {
    let listens = async {
        loop {
            match reach("127.0.0.1", port).await {
                Ok(stream) => return stream,
                // Nobody tells when a port opens.
                Err(_) => tokio::time::sleep(limits::LISTENS_AGAIN).await,
            }
        }
    };
    let refused = |text| Err(Failure::new(Code::LaunchFailed, text));
    tokio::select! {
        stream = tokio::time::timeout(limits::CONNECT, listens) => match stream {
            Ok(stream) => Ok(stream),
            Err(_) => refused(format!("its debugger does not listen on port {port}")),
        },
        exit = server.wait() => refused(format!("its debugger ended with {exit} before it listened")),
    }
}

async fn reach(host: &str, port: u16) -> Result<Quick, Failure> {
    let connected = Quick::connect((host, port)).await;
    connected.map_err(|error| {
        let text = format!("no debugger listens on {host}:{port}: {error}");
        Failure::new(Code::LaunchFailed, text).hint("start it first, or name another port")
    })
}

/// One that nobody has now; who takes it meanwhile makes the launch fail, and say so.
fn free_port() -> Result<u16, Failure> {
    let bound = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr());
    let failed = |error| Failure::new(Code::LaunchFailed, format!("no port is free: {error}"));
    bound.map(|it| it.port()).map_err(failed)
}

fn spec(
    adapter: &Configured,
    command: &[String],
    launch: &Launch,
    around: &Around,
) -> Result<Spec, Failure> {
    let Some((wanted, (_, args))) = adapter.debugger.zip(command.split_first()) else {
        return Err(Failure::internal("a block without a command"));
    };
    let program = debugger::find(adapter.language, &wanted, &around.home)?;
    let env = launch.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    Ok(Spec { program, args: args.iter().map(Into::into).collect(), cwd: launch.cwd.clone(), env })
}

/// A server that was started and led nowhere ends, with its last words and the step that mends it.
async fn died(adapter: &Configured, server: &mut Program, failure: Failure) -> Failure {
    server.kill().await;
    let said = server.last_words().await;
    let text = format!("{}\n{said}", failure.message);
    let hint = adapter.debugger.map(|it| match it.install {
        crate::language::Install::Apt(_) => {
            format!("`holdpoint adapters install {}` gets what is missing", adapter.language)
        }
        other => other.command(),
    });
    let failure = Failure::new(failure.code, text.trim_end().to_owned());
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
