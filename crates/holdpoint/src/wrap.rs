//! A transparent proxy for one MCP server over stdio: what the client says goes to the server and back as it is, byte
//! for byte, but each call of a tool is asked about like every call, recorded, and held where a callpoint says so.
//!
//! Nothing is added to the server's list and nothing is taken from it. Only lines that may be calls or their answers are
//! looked into.

mod line;
mod open;

use std::{ffi::OsString, sync::Arc};

use holdpoint_engine::{
    limits,
    process::{Program, Spec},
};
use rmcp::transport::stdio_pipes;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    sync::Mutex,
};

use self::{line::Lines, open::Calls};
use crate::{app::App, stderr};

/// What is to be wrapped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wrapped {
    /// What callpoints and records call it.
    pub(crate) name: String,
    pub(crate) command: Vec<OsString>,
}

/// Serves until either side ends.
pub(crate) async fn serve(app: App, wrapped: Wrapped) {
    let mut program = match start(&wrapped) {
        Ok(program) => program,
        Err(error) => return stderr::line(&format!("holdpoint wrap: {error}")),
    };
    let pipes = &mut program.pipes;
    let (Some(stdin), Some(stdout)) = (pipes.stdin.take(), pipes.stdout.take()) else { return };
    let says = pipes.stderr.take();
    let (read, write) = stdio_pipes();
    let (client, server) = (Arc::new(Mutex::new(write)), Arc::new(Mutex::new(Some(stdin))));
    let calls = Calls::new(app.clone(), wrapped.name, Arc::clone(&client), Arc::clone(&server));
    let from_client = async {
        let mut lines = Lines::new(read);
        while let Some(piece) = lines.next().await {
            if calls.asked(piece).await.is_err() {
                return;
            }
        }
    };
    let from_server = async {
        let mut lines = Lines::new(stdout);
        while let Some(piece) = lines.next().await {
            if calls.answered(piece).await.is_err() {
                return;
            }
        }
    };
    let from_server = async { tokio::join!(from_server, follow(says)) };
    tokio::pin!(from_server);
    tokio::select! {
        () = from_client => {
            // Its end is told as the client told it; what the server still says is heard.
            server.lock().await.take();
            if tokio::time::timeout(limits::EXTERNAL_END, &mut from_server).await.is_err() {
                tracing::debug!("the wrapped server did not end with its stdin");
            }
        }
        _ = &mut from_server => {}
        () = app.shutdown.cancelled() => {}
    }
    program.kill().await;
}

fn start(wrapped: &Wrapped) -> Result<Program, String> {
    let [program, args @ ..] = wrapped.command.as_slice() else {
        return Err("there is no command".to_owned());
    };
    let guard = std::env::current_exe().map_err(|error| error.to_string())?;
    let spec = Spec {
        program: program.into(),
        args: args.to_vec(),
        cwd: std::env::current_dir().map_err(|error| error.to_string())?,
        env: std::collections::BTreeMap::new(),
    };
    Program::start(&guard, &spec).map_err(|failure| failure.message.to_string())
}

/// What the server says to stderr is said there.
async fn follow(from: Option<Box<dyn AsyncRead + Send + Unpin>>) {
    let Some(from) = from else { return };
    let mut from = BufReader::new(from);
    let mut text = Vec::new();
    while from.read_until(b'\n', &mut text).await.is_ok_and(|read| read > 0) {
        stderr::line(String::from_utf8_lossy(&text).trim_end());
        text.clear();
    }
}
