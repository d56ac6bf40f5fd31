//! A Node program that runs already: by the address of its inspector, or by its process, which opens its
//! inspector when it gets SIGUSR1.
//!
//! A connection that drops, in whatever way, lets the program run on: V8 sees to that. Processes that it
//! starts are not debugged: that would take a change of its environment, which would outlive us.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

use holdpoint_cdp::{TargetInfo, discover};
use rustix::process::{Pid, Signal};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    adapter::{Around, Started, ask},
    attach::{At, Attach},
    backend::cdp::{self, Attached, FirstLine, Setup},
    failure::{Code, Failure},
    limits,
    running::{self, Running},
};

/// Where Node opens its inspector when it is not told where.
const DEFAULT_PORT: u16 = 9229;
/// SIGUSR1, as the kernel counts.
const OPEN: u32 = 10;

pub(super) async fn attach(attach: &Attach, around: Around) -> Result<Started, Failure> {
    let (process, host, port) = match &attach.at {
        // Chosen for no such program.
        At::Editor { .. } | At::Core { .. } => {
            return Err(Failure::internal("a session of the editor is no process"));
        }
        At::Address { host, port } => {
            // Refused and unknown are said at once, in words.
            drop(ask::connect(host, *port).await?);
            (None, host.clone(), *port)
        }
        At::Process(pid) => {
            let process = Running::find(*pid)?;
            let address = inspector(&process, &around).await?;
            (Some(process), address.ip().to_string(), address.port())
        }
    };
    let target = offered(&host, port).await?;
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    let setup = Setup {
        woven: Arc::default(),
        breakpoints: Arc::clone(&around.breakpoints),
        just_my_code: attach.just_my_code,
        folders: attach.folders(|it| &it.local),
        joining: joining.clone(),
        first_line: FirstLine::default(),
        attached: Some(Attached::new(attach.mappings.clone(), around.guard.clone())),
    };
    let pid = process.as_ref().map(|it| it.pid);
    let url = target.web_socket_debugger_url;
    let (main, stands) = cdp::attach(&url, setup, pid).await?;
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    Ok(Started { runtime: None, note: None, program: None, process, told: None, stands, targets })
}

async fn offered(host: &str, port: u16) -> Result<TargetInfo, Failure> {
    let failed = |text: String| {
        Failure::new(Code::AttachFailed, text)
            .hint(format!("`node --inspect={port} …` listens for debuggers there"))
    };
    let offered = discover::targets(host, port, limits::REACH).await;
    let offered = offered.map_err(|error| failed(format!("no inspector of Node: {error}")))?;
    let mut usable = offered.into_iter().filter(|it| !it.web_socket_debugger_url.is_empty());
    usable.next().ok_or_else(|| failed(format!("{host}:{port} offers nothing to debug")))
}

/// Where the inspector of a process listens; opened if it was not yet.
async fn inspector(process: &Running, around: &Around) -> Result<SocketAddr, Failure> {
    let pid = process.pid;
    if !process.shares_network() {
        let text = format!("process {pid} has a network of its own, as in a container");
        return Err(Failure::new(Code::AttachFailed, text)
            .hint("start it with `node --inspect=0.0.0.0:9229` and pass `host` and `port`"));
    }
    let before = listening(process);
    // Other sockets are its own business: they are asked only when it opens no new one.
    let is_open = process.words().iter().any(|word| word.starts_with("--inspect"))
        || before.iter().any(|it| it.port() == DEFAULT_PORT);
    if is_open && let Some(found) = first_inspector(&before).await {
        return is_free(found, pid);
    }
    open(process)?;
    around
        .progress
        .try_send(format!("waiting for the inspector of process {pid}"))
        .unwrap_or_default();
    let fresh = async {
        loop {
            let new: BTreeSet<SocketAddr> =
                listening(process).difference(&before).copied().collect();
            if let Some(found) = first_inspector(&new).await {
                return found;
            }
            // The system does not tell of new sockets.
            tokio::time::sleep(limits::LOOK_AGAIN).await;
        }
    };
    tokio::pin!(fresh);
    if let Ok(found) = timeout(limits::NEW_SOCKET, &mut fresh).await {
        return Ok(found);
    }
    // It may have been open all the time.
    if let Some(found) = first_inspector(&before).await {
        return is_free(found, pid);
    }
    timeout(limits::INSPECTOR, fresh).await.map_err(|_| not_opened(process))
}

/// Sends SIGUSR1, but never where it would end the process.
fn open(process: &Running) -> Result<(), Failure> {
    let pid = process.pid;
    if !process.handles(OPEN) {
        let text = format!("process {pid} does not open its inspector when it is asked to");
        return Err(Failure::new(Code::AttachFailed, text).hint(
            "it is just starting, or no Node, or was started with `--disable-sigusr1`; start it \
             with `node --inspect=0` and pass its `pid` or the `port` it prints",
        ));
    }
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let sent = raw.ok_or(rustix::io::Errno::SRCH);
    sent.and_then(|raw| rustix::process::kill_process(raw, Signal::USR1)).map_err(|error| {
        Failure::new(Code::AttachFailed, format!("process {pid} cannot be asked: {error}"))
            .hint("run Holdpoint as the user of that process")
    })
}

fn not_opened(process: &Running) -> Failure {
    let (pid, patience) = (process.pid, limits::INSPECTOR);
    let text = format!("process {pid} did not open its inspector within {patience:?}");
    let holder = running::listener(DEFAULT_PORT).filter(|it| *it != pid);
    match holder {
        Some(other) => Failure::new(
            Code::AttachFailed,
            format!("{text}: port {DEFAULT_PORT} is taken by process {other}"),
        )
        .hint("end or detach the other first, or start the program with `node --inspect=0`"),
        None => Failure::new(Code::AttachFailed, text).hint(
            "it may handle SIGUSR1 itself, or be busy in one call; start it with `node --inspect=0`",
        ),
    }
}

fn listening(process: &Running) -> BTreeSet<SocketAddr> {
    let sockets = process.sockets().into_iter().filter(|it| it.is_listening);
    sockets.map(|it| it.reachable()).collect()
}

/// The first of these that is an inspector, the usual port before the others.
async fn first_inspector(sockets: &BTreeSet<SocketAddr>) -> Option<SocketAddr> {
    let mut sockets: Vec<SocketAddr> = sockets.iter().copied().collect();
    sockets.sort_by_key(|it| it.port().abs_diff(DEFAULT_PORT));
    for at in sockets {
        let asked = discover::targets(&at.ip().to_string(), at.port(), limits::REACH).await;
        if asked.is_ok_and(|it| it.iter().any(|it| !it.web_socket_debugger_url.is_empty())) {
            return Some(at);
        }
    }
    None
}

/// Two debuggers of ours on one program would resume each other's stops.
fn is_free(found: SocketAddr, pid: u32) -> Result<SocketAddr, Failure> {
    let us = Running::find(std::process::id())?;
    let is_ours = us.sockets().iter().any(|it| !it.is_listening && it.remote == found);
    if is_ours {
        let text = format!("process {pid} is being debugged here already");
        return Err(Failure::new(Code::Busy, text).hint("`debug_status` lists the sessions"));
    }
    Ok(found)
}
