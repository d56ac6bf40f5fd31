//! A Ruby program that runs already and waits for debuggers: one that `rdbg --open` has started. No other can be
//! taken: Ruby loads no debugger into a program from outside.

use std::path::PathBuf;

use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::UnixStream,
    sync::mpsc,
};

use super::INSIDE;
use crate::{
    adapter::{Around, Connected, Started, ask},
    attach::{At, Attach},
    backend::{
        Backend,
        dap::{
            Dap, Setup,
            dialect::{Launched, RDBG},
        },
    },
    failure::{Code, Failure},
    limits,
    running::Running,
};

pub(super) async fn attach(attach: &Attach, around: Around) -> Result<Started, Failure> {
    match &attach.at {
        At::Address { host, port } => {
            let stream = ask::connect(host, *port).await?;
            connect(stream, attach, around, None).await
        }
        At::Process(pid) => {
            let process = Running::find(*pid)?;
            if let Some(stream) = socket(&process).await {
                return connect(stream, attach, around, Some(process)).await;
            }
            let port = process.sockets().into_iter().find(|it| it.is_listening);
            let opens = |it: &String| it.contains("rdbg") || it.starts_with("-rdebug/open");
            let is_open = process.words().iter().any(opens);
            match port.filter(|_| is_open) {
                Some(port) => {
                    let at = port.reachable();
                    let stream = ask::connect(&at.ip().to_string(), at.port()).await?;
                    connect(stream, attach, around, Some(process)).await
                }
                None => Err(closed(&process)),
            }
        }
        // Chosen for no such program.
        At::Editor { .. } | At::Core { .. } => Err(Failure::internal("no process is meant")),
    }
}

fn closed(process: &Running) -> Failure {
    let text = format!(
        "process {} waits for no debugger, and Ruby takes none that comes later",
        process.pid
    );
    Failure::new(Code::AttachFailed, text)
        .hint("start it with `rdbg --open --nonstop FILE`, or with `debug_launch`")
}

/// Where `rdbg` opens it: a file whose name has the process.
async fn socket(process: &Running) -> Option<UnixStream> {
    let mark = format!("-{}", process.pid);
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let temporary = std::env::temp_dir();
    let user = rustix::process::getuid().as_raw();
    let mut folders: Vec<PathBuf> = runtime.into_iter().collect();
    let inside = std::fs::read_dir(&temporary).into_iter().flatten().flatten();
    let is_ours = |it: &PathBuf| {
        let name = it.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        name.starts_with("ruby-debug-sock-") || name == format!("rdbg-{user}")
    };
    folders.extend(inside.map(|it| it.path()).filter(is_ours));
    folders.push(temporary);
    let files = folders.into_iter().flat_map(|it| std::fs::read_dir(it).into_iter().flatten());
    let named = files.flatten().map(|it| it.path()).find(|it| {
        let name = it.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        name.starts_with("ruby-debug-")
            && (name.ends_with(&mark) || name.contains(&format!("{mark}-")))
    })?;
    UnixStream::connect(named).await.ok()
}

async fn connect(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    attach: &Attach,
    around: Around,
    process: Option<Running>,
) -> Result<Started, Failure> {
    let (read, write) = tokio::io::split(stream);
    let revision = around.breakpoints.revision();
    let setup = Setup {
        greeting: &[],
        adapter_id: "rdbg",
        // Not `attach`, which would leave it standing.
        begin: "launch",
        arguments: json!({}),
        breakpoints: &around.breakpoints.by_file(),
        functions: &around.breakpoints.functions(),
        exceptions: &around.breakpoints.exceptions(),
        tape: around.tape.as_ref().map(|tape| tape.labelled(attach.at.to_string())),
        tells_output: true,
    };
    let dialect = Launched {
        table: RDBG,
        entry: None,
        libraries: Vec::new(),
        just_my_code: false,
        prelude: Some(prelude(attach.just_my_code)),
    };
    let connecting = Dap::connect(read, write, Box::new(dialect), setup);
    let (dap, signals) =
        tokio::time::timeout(limits::CONNECT, connecting).await.map_err(|_| {
            Failure::new(Code::AttachFailed, format!("{} does not answer", attach.at))
                .hint("another debugger may have it: it takes one at a time")
        })??;
    let pid = process.as_ref().map(|it| it.pid);
    let main = Connected { backend: Backend::Dap(dap), signals, pid, revision, bound: Vec::new() };
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
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

/// What makes it as one that we started. Its own text says where it ends: no text of Ruby does so.
fn prelude(just_my_code: bool) -> String {
    let end = "HOLDPOINT_INSIDE_ENDS_HERE";
    format!(
        "TOPLEVEL_BINDING.eval(<<'{end}', 'holdpoint_inside.rb') unless defined?(::HoldpointInside)\n\
         {INSIDE}\n{end}\n::HoldpointInside.join({just_my_code})"
    )
}
