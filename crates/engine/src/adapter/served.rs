//! Debug servers that live in this process: they speak the debug adapter protocol to our own backend over a pipe in
//! memory, and a runtime's own protocol to the program.
//!
//! So a language whose runtime is its own debugger needs no backend of its own: the one state machine, conditions, hit
//! counts and tracepoints are those of every other. Whoever implements [`Served`] answers requests as typed as the
//! protocol's crate has them, and tells events by its [`Outlet`]. Requests are answered side by side: one that runs the
//! program's code must not keep the others waiting.

use std::{collections::BTreeMap, sync::Arc};

use futures::{
    future::BoxFuture,
    stream::{self, StreamExt as _, TryStreamExt as _},
};
use holdpoint_dap::{
    Tape,
    codec::{Decoder, encode},
    types as t,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf},
    sync::mpsc,
    task::JoinSet,
};

use super::{Around, Connected};
use crate::{
    backend::{
        Backend,
        dap::{Dap, Setup, dialect::Dialect},
    },
    failure::{Code, Failure},
    limits,
};

/// The request, of no protocol but ours, that breaks off what the program computes for us; see
/// [`Dialect::interrupts`].
pub(super) const INTERRUPT: &str = "holdpoint/interrupt";

/// Asks side by side what takes a round trip each, and has the answers in their order.
pub(super) async fn together<T, E>(
    all: impl IntoIterator<Item = impl Future<Output = Result<T, E>>>,
) -> Result<Vec<T>, E> {
    stream::iter(all).buffered(limits::ASKED_AT_ONCE).try_collect().await
}

/// One debug server.
pub(super) trait Served: Send + Sync + 'static {
    fn capabilities(&self) -> t::Capabilities;

    /// The body of the answer, by [`body`]; or in one line why not.
    fn answer(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, Result<Value, String>>;
}

/// What is asked of it. `initialize` is answered for it, and `initialized` told when it has begun.
#[derive(Debug)]
pub(super) enum Asked {
    /// `launch` or `attach`.
    Begin,
    ConfigurationDone,
    SetBreakpoints(t::SetBreakpointsArguments),
    SetFunctionBreakpoints(t::SetFunctionBreakpointsArguments),
    SetExceptionBreakpoints(t::SetExceptionBreakpointsArguments),
    Continue(t::ContinueArguments),
    Next(t::StepArguments),
    StepIn(t::StepInArguments),
    StepOut(t::StepArguments),
    Pause(t::PauseArguments),
    Threads,
    StackTrace(t::StackTraceArguments),
    Scopes(t::ScopesArguments),
    Variables(t::VariablesArguments),
    SetVariable(t::SetVariableArguments),
    Evaluate(t::EvaluateArguments),
    ExceptionInfo(t::ExceptionInfoArguments),
    Interrupt,
    Disconnect(t::DisconnectArguments),
}

impl Asked {
    fn read(command: &str, arguments: Value) -> Result<Asked, String> {
        fn typed<T: DeserializeOwned + Default>(arguments: Value) -> Result<T, String> {
            if arguments.is_null() {
                return Ok(T::default());
            }
            serde_json::from_value(arguments).map_err(|problem| problem.to_string())
        }
        Ok(match command {
            "launch" | "attach" => Asked::Begin,
            "configurationDone" => Asked::ConfigurationDone,
            "setBreakpoints" => Asked::SetBreakpoints(typed(arguments)?),
            "setFunctionBreakpoints" => Asked::SetFunctionBreakpoints(typed(arguments)?),
            "setExceptionBreakpoints" => Asked::SetExceptionBreakpoints(typed(arguments)?),
            "continue" => Asked::Continue(typed(arguments)?),
            "next" => Asked::Next(typed(arguments)?),
            "stepIn" => Asked::StepIn(typed(arguments)?),
            "stepOut" => Asked::StepOut(typed(arguments)?),
            "pause" => Asked::Pause(typed(arguments)?),
            "threads" => Asked::Threads,
            "stackTrace" => Asked::StackTrace(typed(arguments)?),
            "scopes" => Asked::Scopes(typed(arguments)?),
            "variables" => Asked::Variables(typed(arguments)?),
            "setVariable" => Asked::SetVariable(typed(arguments)?),
            "evaluate" => Asked::Evaluate(typed(arguments)?),
            "exceptionInfo" => Asked::ExceptionInfo(typed(arguments)?),
            INTERRUPT => Asked::Interrupt,
            "disconnect" => Asked::Disconnect(typed(arguments)?),
            other => return Err(format!("`{other}` is not known here")),
        })
    }
}

/// The body of an answer.
pub(super) fn body(answer: impl Serialize) -> Result<Value, String> {
    serde_json::to_value(answer).map_err(|problem| problem.to_string())
}

/// Where a server tells what happened. Cheap to clone.
#[derive(Clone)]
pub(super) struct Outlet(mpsc::Sender<Out>);

/// What is told, on its way.
pub(super) struct Outbox(mpsc::Receiver<Out>);

enum Out {
    Message(Value),
    /// The program is gone: nothing more comes.
    End,
}

pub(super) fn outlet() -> (Outlet, Outbox) {
    let (sender, receiver) = mpsc::channel(limits::SERVED_OUTBOX);
    (Outlet(sender), Outbox(receiver))
}

impl Outlet {
    /// Nobody may be there to be told any more.
    pub(super) async fn event(&self, event: &str, body: impl Serialize) {
        let body = serde_json::to_value(body).unwrap_or_default();
        self.put(Out::Message(json!({ "type": "event", "event": event, "body": body }))).await;
    }

    /// The program is gone. Whatever is told after this is told to nobody.
    pub(super) async fn end(&self) {
        self.put(Out::End).await;
    }

    /// Until nobody is there to be told any more.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }

    async fn put(&self, out: Out) {
        self.0.send(out).await.unwrap_or_default();
    }
}

/// What a number of the protocol stands for: frames and values of one stop. No number is given twice.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    last: i64,
    known: BTreeMap<i64, T>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { last: 0, known: BTreeMap::new() }
    }
}

impl<T: Clone> Numbers<T> {
    pub(super) fn put(&mut self, it: T) -> i64 {
        self.last += 1;
        self.known.insert(self.last, it);
        self.last
    }

    pub(super) fn get(&self, number: i64) -> Option<T> {
        self.known.get(&number).cloned()
    }

    /// The program runs: what they stood for is over.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}

/// Begins a server and connects our backend to it; it is configured when this returns. The server ends with the
/// connection.
pub(super) async fn connect<S: Served>(
    served: Arc<S>,
    told: (Outlet, Outbox),
    dialect: Box<dyn Dialect>,
    begin: Begin<'_>,
) -> Result<Connected, Failure> {
    let (near, far) = tokio::io::duplex(limits::SERVED_PIPE);
    // Ends with the pipe: when the backend is dropped, or when the program is gone.
    tokio::spawn(serve(served, told.0, told.1, far));
    let around = begin.around;
    let revision = around.breakpoints.revision();
    let setup = Setup {
        greeting: &[],
        adapter_id: begin.adapter_id,
        begin: begin.command,
        arguments: Value::Null,
        breakpoints: &around.breakpoints.by_file(),
        functions: &around.breakpoints.functions(),
        exceptions: &around.breakpoints.exceptions(),
        tape: around.tape.as_ref().map(|tape: &Tape| tape.labelled(begin.title)),
        tells_output: false,
    };
    let (read, write) = tokio::io::split(near);
    let connecting = Dap::connect(read, write, dialect, setup);
    let silent = || Failure::new(Code::LaunchFailed, "the program's debugger did not answer");
    let connected = tokio::time::timeout(limits::CONNECT, connecting).await;
    let (dap, signals) = connected.map_err(|_| silent())??;
    let backend = Backend::Dap(dap);
    Ok(Connected { backend, signals, pid: begin.pid, revision, bound: Vec::new() })
}

/// How to begin with a server.
pub(super) struct Begin<'a> {
    pub(super) adapter_id: &'a str,
    /// `launch` or `attach`.
    pub(super) command: &'a str,
    /// What the session is called.
    pub(super) title: String,
    pub(super) pid: Option<u32>,
    pub(super) around: &'a Around,
}

async fn serve<S: Served>(served: Arc<S>, outlet: Outlet, outbox: Outbox, pipe: DuplexStream) {
    let (read, write) = tokio::io::split(pipe);
    tokio::select! {
        () = take(served, outlet, read) => {}
        () = tell(outbox, write) => {}
    }
}

/// Reads requests until the pipe ends; what is under way then is dropped.
async fn take<S: Served>(served: Arc<S>, outlet: Outlet, mut read: ReadHalf<DuplexStream>) {
    let mut decoder = Decoder::default();
    let mut chunk = vec![0; 16 * 1024];
    let mut answering = JoinSet::new();
    loop {
        let count = tokio::select! {
            count = read.read(&mut chunk) => count.unwrap_or_default(),
            Some(_) = answering.join_next() => continue,
        };
        if count == 0 {
            return;
        }
        decoder.feed(chunk.get(..count).unwrap_or_default());
        while let Some(decoded) = decoder.next() {
            let Ok(message) = decoded else { continue };
            answering.spawn(respond(Arc::clone(&served), outlet.clone(), message));
        }
    }
}

async fn respond<S: Served>(served: Arc<S>, outlet: Outlet, mut message: Value) {
    let command = message.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
    let seq = message.get("seq").cloned().unwrap_or_default();
    let arguments = message.get_mut("arguments").map(Value::take).unwrap_or_default();
    let mut begins = false;
    let answer = match command.as_str() {
        "initialize" => body(served.capabilities()),
        _ => match Asked::read(&command, arguments) {
            Ok(asked) => {
                begins = matches!(asked, Asked::Begin);
                served.answer(asked).await
            }
            Err(why) => Err(why),
        },
    };
    let is_done = answer.is_ok();
    let head = json!({
        "type": "response", "request_seq": seq, "command": command, "success": is_done,
    });
    let response = match answer {
        Ok(body) => with(head, "body", body),
        Err(why) => with(head, "message", why.into()),
    };
    outlet.put(Out::Message(response)).await;
    if begins && is_done {
        outlet.event("initialized", json!({})).await;
    }
}

/// An object with one field more.
fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    object
}

async fn tell(mut outbox: Outbox, mut write: WriteHalf<DuplexStream>) {
    let mut seq = 0_i64;
    while let Some(Out::Message(message)) = outbox.0.recv().await {
        seq += 1;
        let message = with(message, "seq", seq.into());
        // The backend is gone; so is everybody who would read it.
        if write.write_all(&encode(&message)).await.is_err() {
            return;
        }
    }
    if let Err(error) = write.shutdown().await {
        tracing::debug!(%error, "a pipe of ours was closed already");
    }
}
