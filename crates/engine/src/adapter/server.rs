//! Debug servers: they speak the protocol by their stdin and stdout, and run the program themselves.
//!
//! A language whose debugger is one needs only to say what is started, and how the program is asked for.

use serde_json::Value;
use tokio::sync::mpsc;

use super::{Around, Connected, Runtime, Started};
use crate::{
    backend::{
        Backend,
        dap::{Dap, Setup, dialect::Dialect},
    },
    failure::{Code, Failure},
    launch::Launch,
    limits,
    process::{Program, Spec},
};

/// A debug server that is to run one program.
pub struct DebugServer<'a> {
    pub spec: Spec,
    pub adapter_id: &'a str,
    pub dialect: Box<dyn Dialect>,
    /// `launch` or `attach`.
    pub begin: &'a str,
    /// In the server's own words.
    pub arguments: Value,
}

impl DebugServer<'_> {
    pub async fn start(self, launch: &Launch, around: Around) -> Result<Started, Failure> {
        let mut server = Program::serve(&around.guard, &self.spec)?;
        let pipes = server.pipes.stdout.take().zip(server.pipes.stdin.take());
        let (read, write) = pipes.ok_or_else(|| Failure::internal("a server without pipes"))?;
        let revision = around.breakpoints.revision();
        let setup = Setup {
            greeting: &[],
            adapter_id: self.adapter_id,
            begin: self.begin,
            arguments: self.arguments,
            breakpoints: &around.breakpoints.by_file(),
            functions: &around.breakpoints.functions(),
            exceptions: &around.breakpoints.exceptions(),
            tape: around.tape.as_ref().map(|tape| tape.labelled(launch.title())),
            tells_output: true,
        };
        let connecting = Dap::connect(read, write, self.dialect, setup);
        let connected = match tokio::time::timeout(limits::CONNECT, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(Failure::new(Code::LaunchFailed, "the debug server did not answer")),
        };
        let (dap, signals) = match connected {
            Err(failure) if failure.code == Code::SessionEnded => {
                return Err(died(&mut server, &self.spec).await);
            }
            connected => connected?,
        };
        let pid = dap.pid();
        let backend = Backend::Dap(dap);
        let main = Connected { backend, signals, pid, revision, bound: Vec::new() };
        let (joining, targets) = mpsc::channel(limits::TARGETS);
        joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
        let why = "the language's debugger".to_owned();
        let runtime = Runtime { path: self.spec.program, version: None, why, installed: None };
        Ok(Started {
            runtime: Some(runtime),
            program: Some(server),
            process: None,
            stands: launch.stop_on_entry,
            note: None,
            targets,
        })
    }
}

async fn died(server: &mut Program, spec: &Spec) -> Failure {
    let exit = server.kill().await;
    let said = server.last_words().await;
    let program = spec.program.display();
    let text =
        format!("`{program}` ended with {exit} before the program could be debugged\n{said}");
    Failure::new(Code::LaunchFailed, text)
}
