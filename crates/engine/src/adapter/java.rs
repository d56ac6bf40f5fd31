//! Java by JDWP, spoken directly: we listen, the virtual machine dials us and waits, and a debug server of our own
//! stands between it and the backend ([`serving`]).

mod attach;
mod calls;
mod compile;
mod events;
mod holds;
mod maven;
mod points;
mod runners;
mod serving;
mod sources;
mod stack;
mod values;
mod vm;
mod what;
mod world;

use std::{net::Ipv4Addr, path::Path, sync::Arc};

use futures::future::BoxFuture;
use holdpoint_jdwp::Requester;
use holdpoint_loopback::Quick;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use self::{
    serving::{Entry, Serving, State},
    sources::Sources,
    vm::Vm,
    what::What,
};
use super::{
    Adapter, Around, Connected, Runtime, Started, has_ending, own,
    served::{self, Begin},
};
use crate::{
    attach::Attach,
    backend::{
        ScopeKind,
        dap::dialect::{Dialect, PLAIN, Table},
    },
    failure::{Code, Failure},
    language::{DebuggerProgram, Install, Manners, Mode, Modes, Runners, Wants},
    launch::Launch,
    limits,
    process::{Exit, Program, Spec},
};

pub(super) struct Java;

const WANTS: Wants = Wants {
    program: "java",
    program_on_windows: "java.exe",
    language: "Java",
    version: &["--version"],
    version_prefix: "openjdk ",
    major_min: Some(17),
    install: "install a JDK of 17 or later, from https://adoptium.net or as a package",
    library: None,
};

impl Adapter for Java {
    fn language(&self) -> &'static str {
        "java"
    }

    fn called(&self) -> &'static str {
        "Java"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["java"]
    }

    fn manners(&self) -> Manners {
        Manners { stops_at_user_unhandled: true, ..Manners::default() }
    }

    fn runners(&self) -> Runners {
        runners::RUNNERS
    }

    fn debugger(&self) -> Option<DebuggerProgram> {
        Some(DebuggerProgram {
            name: "the JDK",
            programs: &["javac"],
            version: &["-version"],
            install: Install::Apt(&["default-jdk-headless"]),
        })
    }

    fn modes(&self) -> Modes {
        Modes {
            launch: Mode::Yes,
            attach: Mode::By(
                "the port at which it waits for a debugger, or its pid where it was started so",
            ),
            test: Mode::By("Maven"),
            core: Mode::No("its debugger reads no core file"),
        }
    }

    fn wants(&self) -> Option<Wants> {
        Some(WANTS)
    }

    fn aside(&self) -> &'static [&'static str] {
        &["target"]
    }

    fn roots(&self) -> &'static [&'static str] {
        &["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle"]
    }

    fn takes_test(&self, test: &str, cwd: &Path) -> bool {
        maven::claims(test, cwd)
    }

    fn claims(&self, launch: &Launch) -> bool {
        let by_file =
            launch.program.as_deref().is_some_and(|it| has_ending(it, &["java", "jar", "class"]));
        let by_command = launch.command.first().is_some_and(|word| {
            let name = Path::new(word).file_name().and_then(|it| it.to_str()).unwrap_or_default();
            matches!(name, "java" | "mvn" | "mvnw")
        });
        by_file
            || by_command
            || launch.test.as_deref().is_some_and(|it| maven::claims(it, &launch.cwd))
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start(launch, around))
    }

    fn is_runtime(&self, name: &str) -> bool {
        name == "java"
    }

    fn listens(&self, words: &[String]) -> bool {
        words.iter().any(|word| word.contains("jdwp"))
    }

    fn how_to_listen(&self, port: u16) -> Option<String> {
        Some(format!(
            "java -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:{port} …"
        ))
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(attach::attach(attach, around))
    }
}

/// What our debug server does in its own way.
fn dialect() -> Box<dyn Dialect> {
    Box::new(Table {
        name: "the Java debugger",
        scopes: &[("static", ScopeKind::Global)],
        names_hits: true,
        interrupts: Some(served::INTERRUPT),
        ..PLAIN
    })
}

async fn start(launch: &Launch, around: Around) -> Result<Started, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
    let port = listener.local_addr().map_err(no_port)?.port();
    let agent = format!(
        "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1:{port},quiet=y"
    );
    let what = What::of(launch, &around, &agent).await?;
    let env = launch.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    let cwd = what.cwd.clone().unwrap_or_else(|| launch.cwd.clone());
    let spec = Spec { program: what.program.clone(), args: what.args.clone(), cwd, env };
    let mut program = Program::start(&around.guard, &spec)?;
    let stream = arrival(&listener, &mut program, &what, &around).await?;
    let pid = peer(&stream);
    let entry = what.entry.clone().filter(|_| launch.stop_on_entry);
    let about = About {
        roots: what.roots.clone(),
        just_my_code: launch.just_my_code,
        entry,
        command: "launch",
        title: launch.title(),
        pid,
    };
    let stream = Quick::new(stream).map_err(no_port)?;
    let (main, version) = match connect(stream, about, &around).await {
        Err(failure) if failure.code == Code::SessionEnded => {
            let exit = tokio::time::timeout(limits::DRAIN, program.wait()).await;
            let exit = exit.map_err(|_| failure)?;
            return Err(died(&mut program, exit, &what, &[]).await);
        }
        connected => connected?,
    };
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    let runtime =
        Runtime { path: what.program, version: Some(version), why: what.why, installed: None };
    Ok(Started {
        runtime: Some(runtime),
        program: Some(program),
        process: None,
        told: None,
        stands: launch.stop_on_entry,
        note: what.note,
        targets,
    })
}

/// Waits until the virtual machine dials us. A build writes meanwhile, and what it writes is the program's output.
async fn arrival(
    listener: &TcpListener,
    program: &mut Program,
    what: &What,
    around: &Around,
) -> Result<TcpStream, Failure> {
    let root = program.root();
    let mut stdout = program.pipes.stdout.take();
    let mut written = Vec::new();
    let patience = if what.builds { limits::BUILD } else { limits::CONNECT };
    let outcome = {
        let arriving = tokio::time::timeout(patience, own::accept(listener, root));
        let reading = read_along(stdout.as_mut(), &mut written, around);
        tokio::pin!(arriving, reading);
        tokio::select! {
            accepted = &mut arriving => Ok(accepted),
            exit = program.wait() => Err(exit),
            () = &mut reading => Err(Exit::Unknown),
        }
    };
    match outcome {
        Ok(accepted) => {
            let silent = || {
                let text = format!("no virtual machine came to be debugged within {patience:?}");
                Failure::new(Code::LaunchFailed, text)
            };
            let stream = accepted.map_err(|_| silent())?.map_err(no_port)?;
            let before = std::io::Cursor::new(written);
            program.pipes.stdout = stdout.map(|rest| Box::new(before.chain(rest)) as Box<_>);
            Ok(stream)
        }
        Err(exit) => {
            let exit = if exit == Exit::Unknown { program.wait().await } else { exit };
            if let Some(stdout) = stdout.as_mut() {
                // What it wrote last; a child may keep the pipe open.
                let rest = stdout.take(limits::OUTPUT_CHUNK as u64);
                tokio::pin!(rest);
                let read = rest.read_to_end(&mut written);
                tokio::time::timeout(limits::DRAIN, read).await.map(drop).unwrap_or_default();
            }
            Err(died(program, exit, what, &written).await)
        }
    }
}

/// Never ends before the pipe does.
async fn read_along(
    pipe: Option<&mut Box<dyn AsyncRead + Send + Unpin>>,
    written: &mut Vec<u8>,
    around: &Around,
) {
    let Some(pipe) = pipe else { return std::future::pending().await };
    let mut chunk = vec![0; limits::OUTPUT_CHUNK];
    loop {
        let count = pipe.read(&mut chunk).await.unwrap_or_default();
        if count == 0 {
            return;
        }
        let new = chunk.get(..count).unwrap_or_default();
        // Beyond what is kept of any program's output nothing is missed.
        if written.len() < limits::OUTPUT_BYTES {
            written.extend(new);
        }
        let text = String::from_utf8_lossy(new);
        if let Some(line) = text.lines().rev().find(|it| !it.trim().is_empty()) {
            // Full means that nobody follows.
            around.progress.try_send(crate::budget::cut(line, 200)).unwrap_or_default();
        }
    }
}

/// The process on the other end of an accepted connection.
fn peer(stream: &TcpStream) -> Option<u32> {
    let (local, remote) = (stream.local_addr().ok()?, stream.peer_addr().ok()?);
    let me = crate::running::Running::find(std::process::id()).ok()?;
    let socket = me.sockets().into_iter().find(|it| it.local == local && it.remote == remote)?;
    crate::running::peer(&socket)
}

/// What is to be known to serve a virtual machine.
struct About {
    roots: Vec<std::path::PathBuf>,
    just_my_code: bool,
    entry: Option<Entry>,
    /// `launch` or `attach`.
    command: &'static str,
    title: String,
    pid: Option<u32>,
}

/// Shakes hands with a virtual machine, and serves it; it is configured when this returns. Also its version.
async fn connect(
    stream: Quick,
    about: About,
    around: &Around,
) -> Result<(Connected, String), Failure> {
    let (read, write) = tokio::io::split(stream);
    let lost = |error: holdpoint_jdwp::JdwpError| {
        let code = if error.is_end() { Code::SessionEnded } else { Code::AdapterFailed };
        Failure::new(code, error.to_string())
    };
    let starting = tokio::time::timeout(limits::CONNECT, Requester::start(read, write)).await;
    let silent = || Failure::new(Code::AttachFailed, "the virtual machine did not shake hands");
    let (wire, inbox) = starting.map_err(|_| silent())?.map_err(lost)?;
    let version = wire.version().await.map_err(lost)?.version;
    let (outlet, outbox) = served::outlet();
    let is_attached = about.command == "attach";
    let serving = Arc::new(Serving {
        vm: Vm::new(wire),
        outlet: outlet.clone(),
        sources: Sources::below(about.roots),
        just_my_code: about.just_my_code,
        entry: about.entry,
        state: State { at_start: !is_attached, ..State::default() }.into(),
        calling: tokio::sync::Mutex::default(),
    });
    // Ends with the virtual machine, or when our end of its connection is dropped with the server.
    tokio::spawn(events::follow(Arc::clone(&serving), inbox));
    let begin = Begin {
        adapter_id: "java",
        command: about.command,
        title: about.title,
        pid: about.pid,
        around,
    };
    let connected = served::connect(serving, (outlet, outbox), dialect(), begin).await?;
    Ok((connected, version))
}

async fn died(program: &mut Program, exit: Exit, what: &What, written: &[u8]) -> Failure {
    let said = program.last_words().await;
    let written = String::from_utf8_lossy(written);
    let told = if what.builds { maven::complaints(&written) } else { String::new() };
    let path = what.program.display();
    let text =
        format!("`{path}` ended with {exit} before anything could be debugged\n{told}{said}");
    Failure::new(Code::LaunchFailed, text.trim_end().to_owned())
        .hint("see what it wrote; `interpreter` chooses another Java")
}

fn no_port(error: std::io::Error) -> Failure {
    Failure::new(Code::LaunchFailed, format!("no loopback connection: {error}"))
}
