//! A Python program that runs already: by the address on which its debugpy listens, or by its process,
//! into which debugpy is put by the system's own debugger and then dials us as a program of ours would.
//!
//! A connection that drops, in whatever way, lets the program run on: debugpy sees to that.

use std::{
    fs::File,
    io::{Read as _, Seek as _},
    net::{Ipv4Addr, SocketAddr},
    process::Stdio,
};

use holdpoint_loopback::Quick;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    process::Command,
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::{Debugger, Interpreter, Python, no_port};
use crate::{
    adapter::{Adapter as _, Around, Connected, Started, ask},
    attach::{At, Attach, Mapping},
    backend::{
        Backend,
        dap::{
            Dap, Setup,
            dialect::{About, Pydevd},
        },
    },
    failure::{Code, Failure},
    limits,
    running::{self, Running, Socket},
};

pub(super) async fn attach(attach: &Attach, around: Around) -> Result<Started, Failure> {
    match &attach.at {
        // Chosen for no such program.
        At::Editor { .. } | At::Core { .. } => {
            Err(Failure::internal("no process of Python is meant"))
        }
        At::Address { host, port } => by_address(attach, host, *port, None, around).await,
        At::Process(pid) => {
            let process = Running::find(*pid)?;
            match own_adapter(&process) {
                // It waits for debuggers already; a second debugpy in it would drive out the first.
                Some(at) => {
                    let host = at.ip().to_string();
                    by_address(attach, &host, at.port(), Some(process), around).await
                }
                None => by_process(attach, process, around).await,
            }
        }
    }
}

/// Where the debugpy that a program brought along listens.
fn own_adapter(process: &Running) -> Option<SocketAddr> {
    let sockets = process.sockets();
    let connected = sockets.iter().filter(|it| !it.is_listening && it.remote.ip().is_loopback());
    connected.into_iter().find_map(|socket| {
        let adapter = Running::find(running::peer(socket)?).ok()?;
        let is_adapter = |word: &String| word.trim_end_matches('/').ends_with("debugpy/adapter");
        if !adapter.words().iter().any(is_adapter) {
            return None;
        }
        // It listens twice: for the program and its children, and for debuggers.
        let is_for_us = |it: &Socket| it.is_listening && it.local.port() != socket.remote.port();
        adapter.sockets().into_iter().find(is_for_us).map(|it| it.reachable())
    })
}

async fn by_address(
    attach: &Attach,
    host: &str,
    port: u16,
    process: Option<Running>,
    around: Around,
) -> Result<Started, Failure> {
    let (children, announced) = mpsc::channel(limits::TARGETS);
    let link = Link { attach: attach.clone(), around, children: Some(children) };
    let stream = ask::connect(host, port).await?;
    let main = link.open(stream, &[], None).await.map_err(refused)?;
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    // Ends when the session drops its receiver.
    tokio::spawn(take_announced(announced, link, host.to_owned(), port, joining));
    Ok(Started {
        runtime: None,
        note: None,
        program: None,
        process,
        told: None,
        stands: false,
        targets,
    })
}

fn refused(failure: Failure) -> Failure {
    match failure.code {
        Code::AdapterFailed if failure.message.contains("already being debugged") => {
            Failure::new(Code::Busy, failure.message)
                .hint("another debugger holds it; let that one go first")
        }
        Code::SessionEnded => Failure::new(
            Code::AttachFailed,
            format!("what listens there is no debugpy, or has no program: {}", failure.message),
        )
        .hint("`python -m debugpy --listen PORT program.py`, or `debugpy.listen(PORT)` in the program"),
        _ => failure,
    }
}

/// Children wait at the adapter until someone connects to it again, for each of them; also those that were
/// announced when the session ended: nobody else would free them.
async fn take_announced(
    mut announced: mpsc::Receiver<Value>,
    link: Link,
    host: String,
    port: u16,
    joining: mpsc::Sender<Connected>,
) {
    let over = over(joining.clone());
    tokio::pin!(over);
    // One that hangs in its handshake must not keep the others waiting. Ended with this task.
    let mut greetings = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            Some(child) = announced.recv() => {
                let Some(pid) = child.get("subProcessId").and_then(Value::as_u64) else { continue };
                let (link, host, joining) = (link.clone(), host.clone(), joining.clone());
                greetings.spawn(async move {
                    let taken = async {
                        let stream = ask::connect(&host, port).await?;
                        link.open(stream, &[], Some(pid)).await
                    };
                    match taken.await {
                        Ok(child) => hand_over(child, &joining).await,
                        Err(failure) => tracing::debug!(%failure, "a child process is not debugged"),
                    }
                });
            }
            Some(_) = greetings.join_next() => {}
            () = &mut over => return,
        }
    }
}

/// Returns a while after the session has ended.
async fn over(joining: mpsc::Sender<Connected>) {
    joining.closed().await;
    tokio::time::sleep(limits::LATE_CHILDREN).await;
}

async fn by_process(attach: &Attach, process: Running, around: Around) -> Result<Started, Failure> {
    check(&process)?;
    let interpreter = Interpreter::at(&process.executable).await?;
    let (debugger, _) = Debugger::find(&interpreter, &around).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
    let port = listener.local_addr().map_err(no_port)?.port();
    let mut injector = crate::process::command(&interpreter.path);
    injector.args(["-X", "frozen_modules=off"]).args(debugger.words(&around.home)?);
    injector.args(["--connect", &format!("127.0.0.1:{port}"), "--pid", &process.pid.to_string()]);
    injector.env("PYDEVD_DISABLE_FILE_VALIDATION", "1").process_group(0);
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        injector.env("HOLDPOINT_INJECTOR", &around.guard);
    }
    let said = File::from(
        rustix::fs::memfd_create("injector", rustix::fs::MemfdFlags::CLOEXEC)
            .map_err(|error| no_port(error.into()))?,
    );
    let copy = || said.try_clone().map(Stdio::from).map_err(no_port);
    injector.stdin(Stdio::null()).stdout(copy()?).stderr(copy()?);
    around.progress.try_send(format!("putting debugpy into {}", attach.at)).unwrap_or_default();
    let link = Link { attach: attach.clone(), around, children: None };
    let (reply, taken) = oneshot::channel();
    let injection =
        Injection { listener, port, injector, said, link: link.clone(), process: process.clone() };
    // Goes on to its end, also when nobody waits any more: broken off in the middle of a call that the
    // system's debugger makes in the process, the process would die of it.
    tokio::spawn(async move {
        let result = injection.run().await;
        if let Err(Ok((unwanted, _))) = reply.send(result)
            && let Err(failure) = unwanted.backend.detach().await
        {
            tracing::debug!(%failure, "a process that nobody waits for was not let go");
        }
    });
    let gone = || Failure::internal("the injection was lost");
    let (main, listener) = taken.await.map_err(|_| gone())??;
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    // Ends when the session drops its receiver, or with the listener.
    tokio::spawn(accept_children(listener, port, link, joining));
    Ok(Started {
        runtime: None,
        note: None,
        program: None,
        process: Some(process),
        told: None,
        stands: false,
        targets,
    })
}

/// What would fail late, or do harm, is refused at once.
fn check(process: &Running) -> Result<(), Failure> {
    let pid = process.pid;
    let failed = |text: String| Failure::new(Code::AttachFailed, text);
    // Its program file is run to put debugpy in, so it must be what it should.
    if !Python.is_runtime(process.name()) {
        let name = process.name();
        return Err(failed(format!("process {pid} is `{name}`, not a Python interpreter")).hint(
            "a program with a Python inside can call `debugpy.listen(5678)`: pass `port` then",
        ));
    }
    if let Some(tracer) = process.tracer() {
        let text = format!("process {pid} is being traced by process {tracer} already");
        return Err(Failure::new(Code::Busy, text).hint("a native debugger or `strace` holds it"));
    }
    if !process.shares_network() {
        return Err(failed(format!("process {pid} has a network of its own, as in a container"))
            .hint("let it listen (`debugpy --listen 0.0.0.0:5678`) and pass `host` and `port`"));
    }
    if !process.executable.is_file() {
        let file = process.executable.display();
        return Err(failed(format!("the interpreter of process {pid} is not here: `{file}`"))
            .hint("let the program listen for debuggers and pass `host` and `port`"));
    }
    Ok(())
}

/// Puts debugpy into a process and waits for it to dial.
struct Injection {
    listener: TcpListener,
    port: u16,
    injector: Command,
    /// What the injector and the system's debugger say. No pipe: it must not break when we end.
    said: File,
    link: Link,
    process: Running,
}

impl Injection {
    async fn run(mut self) -> Result<(Connected, TcpListener), Failure> {
        let mut injector =
            self.injector.spawn().map_err(|error| self.failed(&error.to_string()))?;
        let dialed = {
            let dialed = async {
                tokio::select! {
                    accepted = self.listener.accept() => return accepted.map_err(no_port),
                    status = injector.wait() => {
                        let said = self.said();
                        if !status.is_ok_and(|it| it.success()) || is_denied(&said) {
                            return Err(self.failed(&said));
                        }
                    }
                }
                // A newer Python runs it when it comes to it.
                self.listener.accept().await.map_err(no_port)
            };
            tokio::pin!(dialed);
            match timeout(limits::INJECT_SAID, &mut dialed).await {
                Ok(dialed) => dialed,
                Err(_) => {
                    self.say_that_it_takes_time();
                    let rest = timeout(limits::INJECT - limits::INJECT_SAID, dialed).await;
                    rest.unwrap_or_else(|_| Err(self.silent()))
                }
            }
        };
        let (stream, _) = dialed?;
        let stream = Quick::new(stream).map_err(no_port)?;
        let main = self.link.open(stream, &greeting(self.port), None).await;
        // The system's debugger leaves the process a moment later; only then does it run as it did.
        if timeout(limits::INJECT, injector.wait()).await.is_err() {
            tracing::warn!(pid = self.process.pid, "the injector does not end");
        }
        Ok((main?, self.listener))
    }

    fn said(&self) -> String {
        let mut said = Vec::new();
        let mut file = &self.said;
        let read = file.rewind().and_then(|()| file.take(64 * 1024).read_to_end(&mut said));
        if let Err(error) = read {
            tracing::debug!(%error, "what the injector said is lost");
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    fn say_that_it_takes_time(&self) {
        let pid = self.process.pid;
        let text = format!("process {pid} is busy, or a debugger before us is still leaving it");
        self.link.around.progress.try_send(text).unwrap_or_default();
    }

    fn silent(&self) -> Failure {
        let (pid, patience) = (self.process.pid, limits::INJECT);
        let text =
            format!("process {pid} did not answer within {patience:?}: no debugger is in it");
        Failure::new(Code::AttachFailed, text)
            .hint("is it stopped, or inside of a call that does not return to Python?")
    }

    fn failed(&self, said: &str) -> Failure {
        let text =
            format!("debugpy could not be put into process {}: {}", self.process.pid, reason(said));
        let failure = Failure::new(Code::AttachFailed, text);
        if is_denied(said) {
            failure.hint(
                "tracing other processes is not allowed here: let the program call \
                 `debugpy.listen(5678)` and pass `port`, or allow it \
                 (`sysctl kernel.yama.ptrace_scope=0`; in a container `--cap-add SYS_PTRACE`)",
            )
        } else if is_missing(said) {
            failure.hint(
                "install `gdb`, or let the program call `debugpy.listen(5678)` and pass `port`",
            )
        } else {
            failure.hint("let the program call `debugpy.listen(5678)` and pass `port`")
        }
    }
}

fn is_denied(said: &str) -> bool {
    let not_permitted = said.contains("ptrace: ") && said.contains("EPERM");
    not_permitted
        || said.contains("ptrace: Operation not permitted")
        || said.contains("Could not attach to process")
}

fn is_missing(said: &str) -> bool {
    said.contains("gdb: not found") || said.contains("gdb: command not found")
}

/// Of all that was said, the line that says why.
fn reason(said: &str) -> String {
    let telling = ["ptrace: ", "not found", "Could not attach", "No symbol", "Error: "];
    let mut lines = said.lines().map(str::trim).filter(|line| !line.starts_with("Running: "));
    let line = lines
        .clone()
        .find(|line| telling.iter().any(|it| line.contains(it)))
        .or_else(|| lines.rfind(|line| !line.is_empty()));
    crate::budget::cut(line.unwrap_or("no reason was given"), 300)
}

/// Its children dial the same port by themselves. One that was about to when the session ended would break
/// on a closed port, so it stays open a while longer.
async fn accept_children(
    listener: TcpListener,
    port: u16,
    link: Link,
    joining: mpsc::Sender<Connected>,
) {
    let over = over(joining.clone());
    tokio::pin!(over);
    // One that hangs in its handshake must not keep the others waiting. Ended with this task.
    let mut greetings = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { return };
                let (link, joining) = (link.clone(), joining.clone());
                greetings.spawn(async move {
                    let Ok(stream) = Quick::new(stream) else { return };
                    match link.open(stream, &greeting(port), None).await {
                        Ok(child) => hand_over(child, &joining).await,
                        Err(failure) => tracing::debug!(%failure, "a child process is not debugged"),
                    }
                });
            }
            Some(_) = greetings.join_next() => {}
            () = &mut over => return,
        }
    }
}

/// The session may have ended meanwhile; then the child is let go.
async fn hand_over(child: Connected, joining: &mpsc::Sender<Connected>) {
    if let Err(unwanted) = joining.send(child).await
        && let Err(failure) = unwanted.0.backend.detach().await
    {
        tracing::debug!(%failure, "a late child process was not let go");
    }
}

/// Before anything else is said. A thread that stood still when a debugger before us was killed would stop
/// again, at no breakpoint. And children would dial the port of the debugger before us, and be started
/// under the debugger for ever, to fail where nobody listens any more.
const PREPARE: &str = "\
import pydevd
from _pydev_bundle import pydev_monkey as monkey
from _pydevd_bundle.pydevd_thread_lifecycle import resume_threads
if not hasattr(monkey, 'holdpoint_before'):
    monkey.holdpoint_before = before = monkey._get_apply_arg_patching
    monkey._get_apply_arg_patching = lambda: before() and pydevd._is_attached()
if pydevd.SetupHolder.setup:
    pydevd.SetupHolder.setup.update(client='127.0.0.1', port=PORT)
resume_threads('*')
";

fn greeting(port: u16) -> [(&'static str, Value); 2] {
    // With names of its own: nothing of it is to be seen in the program. As `Value` writes a string, so
    // does Python.
    let code = format!("exec({}, {{}})", Value::from(PREPARE.replace("PORT", &port.to_string())));
    [
        ("pydevdAuthorize", json!({ "debugServerAccessToken": null })),
        ("evaluate", json!({ "expression": code, "context": "watch" })),
    ]
}

/// How each process of the program is taken.
#[derive(Clone)]
struct Link {
    attach: Attach,
    around: Around,
    /// Where an adapter announces children.
    children: Option<mpsc::Sender<Value>>,
}

impl Link {
    async fn open(
        &self,
        stream: Quick,
        greeting: &[(&str, Value)],
        child: Option<u64>,
    ) -> Result<Connected, Failure> {
        let (read, write) = tokio::io::split(stream);
        let breakpoints = &self.around.breakpoints;
        let revision = breakpoints.revision();
        let tape = self.around.tape.as_ref();
        let setup = Setup {
            greeting,
            adapter_id: "python",
            begin: "attach",
            arguments: self.arguments(child),
            breakpoints: &breakpoints.by_file(),
            functions: &breakpoints.functions(),
            exceptions: &breakpoints.exceptions(),
            tape: tape.map(|tape| tape.labelled(self.attach.at.to_string())),
            tells_output: true,
        };
        let pydevd = Pydevd::new(About {
            folders: self.attach.folders(|it| &it.remote),
            runs: true,
            emulates_traces: false,
            children: self.children.clone(),
            reading: super::source::READING,
        });
        let connecting = Dap::connect(read, write, Box::new(pydevd), setup);
        let (dap, signals) = timeout(limits::CONNECT, connecting).await.map_err(|_| {
            let text = format!("the debugger of {} did not answer", self.attach.at);
            Failure::new(Code::AttachFailed, text).hint("is it a debugpy that listens there?")
        })??;
        let pid = dap.pid();
        Ok(Connected { backend: Backend::Dap(dap), signals, pid, revision, bound: Vec::new() })
    }

    fn arguments(&self, child: Option<u64>) -> Value {
        let mappings: Vec<Value> = self.attach.mappings.0.iter().map(mapping).collect();
        let mut arguments = json!({
            "justMyCode": self.attach.just_my_code,
            "subProcess": true,
            "breakOnSystemExit": [],
            "showReturnValue": true,
            // Its own output goes on as before; this is a copy.
            "redirectOutput": true,
            "pathMappings": mappings,
        });
        if let (Some(child), Some(arguments)) = (child, arguments.as_object_mut()) {
            arguments.insert("subProcessId".to_owned(), child.into());
        }
        arguments
    }
}

fn mapping(mapping: &Mapping) -> Value {
    json!({ "localRoot": mapping.local, "remoteRoot": mapping.remote })
}
