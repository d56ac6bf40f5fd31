//! A real `node` under `--inspect-brk`, ended with its test; every wait has a deadline.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use holdpoint_cdp::{
    Event, Inbox, Incoming, Limits, Position, Requester, Sources, Target, UserFile,
    discover::inspector_url,
    types::{
        CallFrame, Paused,
        debugger::{BreakpointByUrl, EvaluateOnCallFrame, Resume, SetBreakpointByUrl},
        runtime::{GetProperties, RemoteObject},
    },
};
use tokio::time::timeout;

/// Far above what anything here takes, on a machine that is busy with other things.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct Node {
    pub(crate) client: Requester,
    pub(crate) inbox: Inbox,
    /// Of the main thread.
    pub(crate) sources: Sources,
    pub(crate) process: Process,
    /// Events that were passed over while waiting for another.
    pub(crate) passed: Vec<(Target, Event)>,
}

/// Killed when it is dropped.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.0.kill().unwrap_or_default();
        self.0.wait().unwrap();
    }
}

impl Process {
    /// Starts node and returns the address it announces.
    pub(crate) fn start(program: &Path, arguments: &[&str]) -> (Process, String) {
        let mut child = Command::new("node")
            .arg("--inspect-brk=127.0.0.1:0")
            .args(arguments)
            .arg(program)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, urls) = std::sync::mpsc::channel();
        // Ends with the program, whose stderr it keeps empty.
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if let Some(url) = inspector_url(&line) {
                    sender.send(url).unwrap_or_default();
                }
            }
        });
        let process = Process(child);
        let url = urls.recv_timeout(DEADLINE).expect("node announces its inspector");
        (process, url)
    }

    pub(crate) async fn exit(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < DEADLINE, "the program does not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Node {
    /// Started and enabled; the program still waits for [`Requester::run`].
    pub(crate) async fn start(program: &Path) -> Node {
        Node::start_with(program, &[], Limits::default()).await
    }

    pub(crate) async fn start_with(program: &Path, arguments: &[&str], limits: Limits) -> Node {
        let (process, url) = Process::start(program, arguments);
        let (client, inbox) = Requester::connect(&url, limits).await.unwrap();
        let sources = Sources::default();
        // A call that is never answered fails its test instead of hanging it.
        let watched = client.clone();
        tokio::spawn(async move {
            tokio::time::sleep(3 * DEADLINE).await;
            watched.close().await;
        });
        let node = Node { client, inbox, sources, process, passed: Vec::new() };
        timeout(DEADLINE, node.client.enable()).await.unwrap().unwrap();
        node
    }

    /// Started and stopped at its first statement.
    pub(crate) async fn start_stopped(program: &Path) -> Node {
        let mut node = Node::start(program).await;
        node.client.run().await.unwrap();
        let (_, paused) = node.paused().await;
        assert_eq!(paused.reason, "Break on start");
        node
    }

    pub(crate) async fn next(&mut self) -> Incoming {
        let incoming = timeout(DEADLINE, self.inbox.next()).await;
        let incoming =
            incoming.unwrap_or_else(|_| panic!("nothing came after {:?}", self.passed.last()));
        let incoming = incoming.expect("asked after the end");
        if let Incoming::Event { target: Target::Main, event: Event::ScriptParsed(parsed) } =
            &incoming
        {
            self.sources.add(parsed);
        }
        incoming
    }

    /// Waits for an event, passing over others.
    pub(crate) async fn until<T>(
        &mut self,
        mut wanted: impl FnMut(&Target, &Event) -> Option<T>,
    ) -> T {
        loop {
            match self.next().await {
                Incoming::Event { target, event } => match wanted(&target, &event) {
                    Some(found) => return found,
                    None => self.passed.push((target, event)),
                },
                other => panic!("{other:?} after {:?}", self.passed.last()),
            }
        }
    }

    pub(crate) async fn paused(&mut self) -> (Target, Paused) {
        self.until(|target, event| match event {
            Event::Paused(paused) => Some((target.clone(), (**paused).clone())),
            _ => None,
        })
        .await
    }

    pub(crate) async fn resume(&mut self) {
        self.client.send(Resume::default()).await.unwrap();
    }
}

pub(crate) async fn set_breakpoint(client: &Requester, file: &Path, line: u32) -> BreakpointByUrl {
    let position = Position::new(line, None).unwrap();
    let command = SetBreakpointByUrl {
        line_number: position.line_number(),
        url_regex: UserFile::new(file).url_regex(),
        column_number: None,
        condition: None,
    };
    client.send(command).await.unwrap()
}

pub(crate) async fn evaluate(
    client: &Requester,
    frame: &CallFrame,
    expression: &str,
) -> RemoteObject {
    let command = EvaluateOnCallFrame::new(frame.call_frame_id.clone(), expression);
    let answer = client.send(command).await.unwrap();
    assert!(answer.exception_details.is_none(), "{answer:?}");
    answer.result
}

/// `kind: name=value, …` of each scope of a frame but the global one.
pub(crate) async fn scopes(client: &Requester, frame: &CallFrame) -> Vec<String> {
    let mut lines = Vec::new();
    for scope in frame.scope_chain.iter().filter(|scope| scope.kind != "global") {
        let object = scope.object_id().unwrap().clone();
        let answer = client.send(GetProperties::own(object)).await.unwrap();
        let variables: Vec<String> = answer
            .result
            .iter()
            .map(|property| {
                let value = property.value.as_ref().and_then(|value| value.description.clone());
                format!("{}={}", property.name, value.unwrap_or_else(|| "?".into()))
            })
            .collect();
        lines.push(format!("{}: {}", scope.kind, variables.join(", ")));
    }
    lines
}

pub(crate) fn line_of(paused: &Paused) -> u32 {
    Position::of(&paused.call_frames[0].location).line()
}

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// The real path, as Node will say it.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}
