//! A server that we start, spoken to by its stdin and stdout: one message a line. It runs under the guard, so
//! its whole process tree ends with us.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_engine::{
    limits,
    process::{Exit, Program, Spec},
};
use rmcp::{
    RoleClient, model::ServerJsonRpcMessage, service::TxJsonRpcMessage, transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader},
    process::ChildStdin,
    sync::Mutex,
    task::JoinHandle,
};

use super::{
    config::Way,
    long::{Gathered, Reading},
    tail::Tail,
};

/// The process of a server.
pub(super) struct Started {
    program: Program,
    pub(super) stderr: Arc<Tail>,
    /// Ends with the pipe that it reads; aborted when dropped.
    follows: JoinHandle<()>,
}

/// Its pipes as a transport of the SDK.
pub(super) struct Pipes {
    read: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    line: Gathered,
    reading: Reading,
    write: Arc<Mutex<Option<ChildStdin>>>,
}

/// Starts the server that `way` names.
pub(super) fn start(guard: &Path, way: &Way) -> Result<(Started, Pipes), String> {
    let Way::Stdio { command, args, env, cwd } = way else {
        return Err("it is no command".to_owned());
    };
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let env: BTreeMap<String, Option<String>> =
        env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    let spec = Spec {
        program: command.into(),
        args: args.iter().map(Into::into).collect(),
        cwd: cwd.clone().unwrap_or_else(here),
        env,
    };
    let mut program =
        Program::start(guard, &spec).map_err(|failure| failure.message.to_string())?;
    let pipes = &mut program.pipes;
    let (Some(stdin), Some(stdout)) = (pipes.stdin.take(), pipes.stdout.take()) else {
        return Err("it has no pipes".to_owned());
    };
    let stderr = Arc::new(Tail::default());
    let (keeps, from) = (Arc::clone(&stderr), pipes.stderr.take());
    // Ends with the server's stderr; aborted with the server.
    let follows = tokio::spawn(async move {
        if let Some(from) = from {
            keeps.follow(from).await;
        }
    });
    let write = Arc::new(Mutex::new(Some(stdin)));
    let pipes = Pipes {
        read: BufReader::new(stdout),
        line: Gathered::default(),
        reading: Reading::default(),
        write,
    };
    Ok((Started { program, stderr, follows }, pipes))
}

impl Started {
    /// Waits until it ends by itself, for a moment, and ends it. Its stdin is closed by now.
    pub(super) async fn end(&mut self) -> Exit {
        match tokio::time::timeout(limits::EXTERNAL_END, self.program.wait()).await {
            Ok(exit) => exit,
            Err(_elapsed) => self.program.kill().await,
        }
    }

    /// How it ended and what it said last, for one that is gone or never came.
    pub(super) async fn last_words(&mut self) -> String {
        let exit = self.end().await;
        // What it wrote is in the pipe still.
        let read = tokio::time::timeout(limits::DRAIN, &mut self.follows).await;
        let said = self.stderr.text();
        let exit = match exit {
            Exit::Code(_) | Exit::Signal(_) if read.is_ok() || !said.is_empty() => {
                format!("it ended with {exit}")
            }
            exit => format!("it ended with {exit}"),
        };
        if said.is_empty() { exit } else { format!("{exit}; stderr: {said}") }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.follows.abort();
    }
}

impl Pipes {
    /// The next line, or none at the end. May be dropped at any await: what was read stays.
    async fn line(&mut self) -> Option<Result<Vec<u8>, Option<String>>> {
        loop {
            let available = self.read.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let take = end.unwrap_or(available.len());
            self.line.push(available.get(..take).unwrap_or_default());
            self.read.consume(take + usize::from(end.is_some()));
            if end.is_some() {
                return Some(self.line.take());
            }
        }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        let line = serde_json::to_vec(&item);
        async move {
            let mut line = line?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let pipe = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            pipe.write_all(&line).await?;
            pipe.flush().await
        }
    }

    /// What is no message is noise: many servers print something to stdout once.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(read) = self.reading.done().await {
                return Some(read);
            }
            match self.line().await? {
                Ok(line) => self.reading.begin(line),
                Err(too_long) => self.reading.begin(too_long.unwrap_or_default().into_bytes()),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A server that does not read keeps the lock; its process is ended then.
        if let Ok(mut write) = self.write.try_lock() {
            write.take();
        }
        Ok(())
    }
}
