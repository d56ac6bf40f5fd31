//! Debug servers that dial us: nobody else on the machine can speak to them, and their pipes are left to the program.

use std::net::Ipv4Addr;

use holdpoint_loopback::Quick;
use serde_json::Value;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use super::{Around, Connected, own};
use crate::{
    backend::{
        Backend,
        dap::{Dap, Setup, dialect::Dialect},
    },
    failure::{Code, Failure},
    limits,
    process::{Program, Spec},
};

/// Where a debug server is to dial.
pub(super) struct Door {
    listener: TcpListener,
    pub(super) port: u16,
}

/// What is asked of one that has dialled.
pub(super) struct Asked<'a> {
    pub(super) title: String,
    pub(super) adapter_id: &'a str,
    pub(super) dialect: Box<dyn Dialect>,
    /// `launch` or `attach`.
    pub(super) begin: &'a str,
    /// In the server's own words.
    pub(super) arguments: Value,
}

impl Door {
    pub(super) async fn open() -> Result<Door, Failure> {
        let no_port =
            |error| Failure::new(Code::LaunchFailed, format!("no loopback connection: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
        let port = listener.local_addr().map_err(no_port)?.port();
        Ok(Door { listener, port })
    }

    /// Waits for the server to dial, and has it begin.
    pub(super) async fn greet(
        self,
        server: &mut Program,
        spec: &Spec,
        asked: Asked<'_>,
        around: &Around,
    ) -> Result<mpsc::Receiver<Connected>, Failure> {
        let root = server.root();
        let dialled = tokio::select! {
            dialled = tokio::time::timeout(limits::CONNECT, own::accept(&self.listener, root)) => dialled,
            _ = server.wait() => return Err(died(server, spec).await),
        };
        let name = spec.program.display();
        let late = || Failure::new(Code::LaunchFailed, format!("`{name}` did not connect"));
        let stream = dialled.map_err(|_| late())?.map_err(|error| {
            Failure::new(Code::LaunchFailed, format!("`{name}` did not connect: {error}"))
        })?;
        match connect(stream, asked, around).await {
            Err(failure) if failure.code == Code::SessionEnded => Err(died(server, spec).await),
            connected => connected,
        }
    }
}

async fn connect(
    stream: TcpStream,
    asked: Asked<'_>,
    around: &Around,
) -> Result<mpsc::Receiver<Connected>, Failure> {
    let quick = Quick::new(stream).map_err(|error| {
        Failure::new(Code::LaunchFailed, format!("no loopback connection: {error}"))
    })?;
    let (read, write) = tokio::io::split(quick);
    let revision = around.breakpoints.revision();
    let setup = Setup {
        greeting: &[],
        adapter_id: asked.adapter_id,
        begin: asked.begin,
        arguments: asked.arguments,
        breakpoints: &around.breakpoints.by_file(),
        functions: &around.breakpoints.functions(),
        exceptions: &around.breakpoints.exceptions(),
        tape: around.tape.as_ref().map(|tape| tape.labelled(asked.title)),
        tells_output: false,
    };
    let connecting = Dap::connect(read, write, asked.dialect, setup);
    let (dap, signals) = tokio::time::timeout(limits::CONNECT, connecting)
        .await
        .map_err(|_| Failure::new(Code::LaunchFailed, "the debug server did not answer"))??;
    let pid = dap.pid();
    let main = Connected { backend: Backend::Dap(dap), signals, pid, revision, bound: Vec::new() };
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    Ok(targets)
}

async fn died(server: &mut Program, spec: &Spec) -> Failure {
    let exit = server.kill().await;
    let said = server.last_words().await;
    let program = spec.program.display();
    let text =
        format!("`{program}` ended with {exit} before the program could be debugged\n{said}");
    Failure::new(Code::LaunchFailed, text)
}
