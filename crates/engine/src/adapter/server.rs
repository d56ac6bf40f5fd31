//! Debug servers: they speak the protocol by their stdin and stdout, and run the program themselves.
//!
//! A language whose debugger is one needs only to say what is started, and how the program is asked for.

use std::time::Duration;

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
    running::Running,
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

/// What a session is to know of a program that a debug server runs.
pub struct ServedProgram {
    /// What it is called where its traffic is recorded.
    pub title: String,
    /// What runs it; the server itself where nothing is said.
    pub runtime: Option<Runtime>,
    /// A process that ran already, and is not ours.
    pub process: Option<Running>,
    pub told: Option<(&'static str, String)>,
    pub stands: bool,
    /// Its output comes by the protocol, for it has no pipes of ours.
    pub tells_output: bool,
    /// The server looks at a program that is not ours: it is let go, never ended.
    pub visits: bool,
    /// How long it may take until the program is under control.
    pub patience: Duration,
}

impl ServedProgram {
    pub fn called(title: String) -> ServedProgram {
        ServedProgram {
            title,
            runtime: None,
            process: None,
            told: None,
            stands: false,
            tells_output: true,
            visits: false,
            patience: limits::CONNECT,
        }
    }
}

impl DebugServer<'_> {
    pub async fn start(self, launch: &Launch, around: Around) -> Result<Started, Failure> {
        let about =
            ServedProgram { stands: launch.stop_on_entry, ..ServedProgram::called(launch.title()) };
        self.run(about, around).await
    }

    pub async fn run(self, about: ServedProgram, around: Around) -> Result<Started, Failure> {
        let begin = if about.visits { Program::visit } else { Program::serve };
        let mut server = begin(&around.guard, &self.spec)?;
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
            tape: around.tape.as_ref().map(|tape| tape.labelled(about.title)),
            tells_output: about.tells_output,
        };
        let connecting = Dap::connect(read, write, self.dialect, setup);
        let connected = match tokio::time::timeout(about.patience, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(Failure::new(Code::LaunchFailed, "the debug server did not answer")),
        };
        let (dap, signals) = match connected {
            Err(failure) if failure.code == Code::SessionEnded => {
                return Err(died(&mut server, &self.spec).await);
            }
            connected => connected?,
        };
        let pid = dap.pid().or_else(|| about.process.as_ref().map(|it| it.pid));
        let backend = Backend::Dap(dap);
        let main = Connected { backend, signals, pid, revision, bound: Vec::new() };
        let (joining, targets) = mpsc::channel(limits::TARGETS);
        joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
        let why = "the language's debugger".to_owned();
        let own = || Runtime { path: self.spec.program, version: None, why, installed: None };
        let runtime = if about.visits { None } else { Some(about.runtime.unwrap_or_else(own)) };
        Ok(Started {
            runtime,
            program: Some(server),
            process: about.process,
            told: about.told,
            stands: about.stands,
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
