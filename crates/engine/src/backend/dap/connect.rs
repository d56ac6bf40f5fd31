//! The handshake: greeting, `initialize`, `launch` or `attach`, breakpoints, `configurationDone`;
//! then events become signals until the connection ends.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use holdpoint_dap::{
    Client, Event, Inbox, Incoming, Tape,
    request::{ConfigurationDone, Initialize},
    types::{self as t, Empty},
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::JoinSet,
};

use super::{Dap, Known, refused, translate};
use crate::{
    backend::{Bound, Exceptions, Signal, Stopped, TraceWay, Wanted, WantedFunction},
    failure::Failure,
    ids::BreakpointId,
    limits,
    session::Stream,
};

/// How pydevd says that a breakpoint's condition raised; it stops then.
const CONDITION_RAISED: &str =
    "pydevd: Error while evaluating expression in conditional breakpoint";

/// How to open a session with an adapter.
pub struct Setup<'a> {
    /// Requests of the adapter's own that come before everything.
    pub greeting: &'a [(&'a str, Value)],
    pub adapter_id: &'a str,
    /// `launch` or `attach`.
    pub begin: &'a str,
    pub arguments: Value,
    pub breakpoints: &'a [(PathBuf, Vec<Wanted>)],
    pub functions: &'a [WantedFunction],
    pub exceptions: &'a Exceptions,
    /// Tracepoints stop, whatever the debugger can.
    pub emulates_traces: bool,
    /// Where the program's own sources are.
    pub folders: Vec<PathBuf>,
    /// Where to record the traffic.
    pub tape: Option<Tape>,
    /// Whether the program's output is to be had from its debugger alone.
    pub tells_output: bool,
    /// Where to announce child processes that connect to nobody by themselves.
    pub children: Option<mpsc::Sender<Value>>,
}

impl Dap {
    /// Returns when the adapter is configured and the program may run.
    pub async fn connect(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
        setup: Setup<'_>,
    ) -> Result<(Dap, mpsc::Receiver<Signal>), Failure> {
        let (client, mut inbox) = Client::start(read, write, setup.tape.clone());
        for (command, arguments) in setup.greeting {
            client.raw(command, arguments.clone()).await.map_err(refused)?;
        }
        let hello = t::InitializeArguments {
            client_id: Some("holdpoint".to_owned()),
            client_name: Some("Holdpoint".to_owned()),
            adapter_id: setup.adapter_id.to_owned(),
            lines_start_at1: Some(true),
            columns_start_at1: Some(true),
            path_format: Some("path".to_owned()),
            supports_variable_type: Some(true),
            supports_variable_paging: Some(true),
            ..Default::default()
        };
        let capabilities = client.request::<Initialize>(hello).await.map_err(refused)?;
        client.set_capabilities(&capabilities);
        let is_pydevd = setup.adapter_id == "python";
        let known = Known {
            capabilities,
            breakpoints: Mutex::default(),
            traces: Mutex::default(),
            way: if is_pydevd && !setup.emulates_traces {
                TraceWay::InProcess
            } else {
                TraceWay::Emulated
            },
            condition_error: Mutex::default(),
            is_pydevd,
            helper: tokio::sync::OnceCell::new(),
            texts: Mutex::default(),
            folders: setup.folders.clone(),
            entering: Mutex::default(),
            tells_output: setup.tells_output,
            children: setup.children.clone(),
            parted: false.into(),
        };
        let dap = Dap { client, known: Arc::new(known) };
        let (sender, signals) = mpsc::channel(limits::MAILBOX);
        let early = match dap.configure(&mut inbox, &setup).await {
            Ok(early) => early,
            Err(failure) => {
                dap.part();
                return Err(failure);
            }
        };
        // Ends with the connection, or when nobody takes the signals.
        tokio::spawn(pump(dap.clone(), inbox, sender, early));
        Ok((dap, signals))
    }

    /// An adapter that outlives its program waits to hear that we go, and may take nobody else before.
    fn part(&self) {
        if self.known.children.is_some() {
            let dap = self.clone();
            // Ends with the answer, or within its deadline.
            tokio::spawn(async move {
                if let Err(failure) = dap.detach().await {
                    tracing::debug!(%failure, "an adapter was not told that we go");
                }
            });
        }
    }

    /// `initialized` may come before or after the answer to `launch`, and some adapters answer that only
    /// after `configurationDone`. What else comes meanwhile is kept.
    async fn configure(
        &self,
        inbox: &mut Inbox,
        setup: &Setup<'_>,
    ) -> Result<Vec<Signal>, Failure> {
        let begun = self.client.raw(setup.begin, setup.arguments.clone());
        tokio::pin!(begun);
        let mut early = Vec::new();
        let mut answered = false;
        loop {
            tokio::select! {
                answer = &mut begun, if !answered => {
                    answer.map_err(refused)?;
                    answered = true;
                }
                incoming = inbox.next() => match incoming {
                    Some(Incoming::Event(Event::Initialized)) => break,
                    Some(Incoming::Event(event)) => early.push(event),
                    Some(Incoming::Request(request)) => drop(request),
                    Some(Incoming::Closed(reason)) => return Err(gone(&reason)),
                    None => return Err(gone("it closed the connection")),
                },
            }
        }
        let rest = async {
            let bound = self.set_all(setup).await?;
            self.ask::<ConfigurationDone>(Empty).await?;
            if !answered {
                begun.await.map_err(refused)?;
            }
            Ok(bound)
        };
        tokio::pin!(rest);
        // What comes meanwhile is taken: an answer comes behind it.
        let bound = loop {
            tokio::select! {
                biased;
                bound = &mut rest => break bound?,
                incoming = inbox.next(), if early.len() < limits::EARLY_EVENTS => match incoming {
                    Some(Incoming::Event(event)) => early.push(event),
                    Some(Incoming::Request(request)) => drop(request),
                    // What is still waited for fails by this.
                    Some(Incoming::Closed(_)) | None => break rest.await?,
                },
            }
        };
        let mut signals: Vec<Signal> = bound.into_iter().map(Signal::Breakpoint).collect();
        signals.extend(early.into_iter().flat_map(|event| self.signal(event)));
        Ok(signals)
    }

    /// Everything that the program is to stop at.
    async fn set_all(&self, setup: &Setup<'_>) -> Result<Vec<Bound>, Failure> {
        let mut bound = Vec::new();
        for (file, wanted) in setup.breakpoints {
            for (id, condition) in
                wanted.iter().filter_map(|it| Some((it.id, it.condition.as_deref()?)))
            {
                let checked = self.check_condition(Some(file), condition).await;
                checked.map_err(|failure| of_breakpoint(id, &failure))?;
            }
            bound.extend(self.set_breakpoints(file, wanted).await?);
        }
        if !setup.functions.is_empty() {
            bound.extend(self.set_functions(setup.functions).await?);
        }
        self.set_exceptions(setup.exceptions).await?;
        Ok(bound)
    }

    fn signal(&self, event: Event) -> Vec<Signal> {
        match event {
            Event::Stopped(stopped) => {
                let mut stopped = translate::stopped(stopped, &self.numbers());
                if self.known.way == TraceWay::InProcess {
                    // What shares a line with a breakpoint and does not stop.
                    stopped.hits.retain(|id| !self.traces().has(*id));
                }
                stopped.text = stopped.text.or_else(|| self.condition_error().take());
                vec![Signal::Stopped(self.entered(stopped))]
            }
            Event::Continued(continued) => {
                let all = continued.all_threads_continued.unwrap_or(true);
                let thread = continued.thread_id.filter(|_| !all);
                vec![Signal::Continued { thread }]
            }
            Event::Thread(thread) => vec![match thread.reason {
                t::ThreadReason::Exited => Signal::ThreadEnded { thread: thread.thread_id },
                _ => Signal::ThreadStarted { thread: thread.thread_id, name: None },
            }],
            Event::Output(output) if output.output.starts_with(CONDITION_RAISED) => {
                let why = translate::last_line(&output.output);
                *self.condition_error() = Some(format!("the breakpoint's condition failed: {why}"));
                Vec::new()
            }
            Event::Output(output) => {
                let stream = match output.category {
                    Some(t::OutputCategory::Telemetry) => return Vec::new(),
                    Some(t::OutputCategory::Stdout) => Stream::Stdout,
                    Some(t::OutputCategory::Stderr) => Stream::Stderr,
                    _ => Stream::Debugger,
                };
                // The output of a program of ours comes by its pipes; twice would be a lie.
                let is_wanted = self.known.tells_output || stream == Stream::Debugger;
                let told = is_wanted.then_some(Signal::Output { stream, text: output.output });
                told.into_iter().collect()
            }
            Event::Other { event, body } if event == "debugpyAttach" => {
                // Full means that nobody takes them any more: the session ends.
                let announced = self.known.children.as_ref().map(|it| it.try_send(body));
                if let Some(Err(error)) = announced {
                    tracing::debug!(%error, "a child process is not debugged");
                }
                Vec::new()
            }
            Event::Breakpoint(changed) => {
                let number = changed.breakpoint.id.unwrap_or_default();
                let ids = self.numbers().get(&number).cloned().unwrap_or_default();
                let state = translate::binding(Some(&changed.breakpoint));
                let bound = |id| Signal::Breakpoint(Bound { id, state: state.clone() });
                ids.into_iter().map(bound).collect()
            }
            Event::Terminated(_) => {
                self.part();
                vec![Signal::Ended]
            }
            other => {
                let titled = self.titled(&other).map(Signal::Titled);
                titled.into_iter().chain(self.passed(&other).map(Signal::Passed)).collect()
            }
        }
    }
}

impl Dap {
    fn condition_error(&self) -> MutexGuard<'_, Option<String>> {
        self.known.condition_error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn pump(dap: Dap, mut inbox: Inbox, sender: mpsc::Sender<Signal>, early: Vec<Signal>) {
    for signal in early {
        if sender.send(signal).await.is_err() {
            return;
        }
    }
    // Stops that are looked into. Ended with this task, and before the connection's end is told.
    let mut looking = JoinSet::new();
    let reason = loop {
        let incoming = tokio::select! {
            incoming = inbox.next() => incoming,
            Some(_) = looking.join_next() => continue,
            // The connection ends with the last who holds it.
            () = sender.closed() => return drain(dap, inbox).await,
        };
        match incoming {
            Some(Incoming::Event(event)) => {
                let is_at_call = dap.known.is_pydevd && is_at_call(&event);
                for signal in dap.signal(event) {
                    let is_told = dap.aside(signal, is_at_call, &sender, &mut looking);
                    let Some(signal) = is_told else { continue };
                    if sender.send(signal).await.is_err() {
                        return;
                    }
                }
            }
            // Refused by its drop: we start no programs and open no terminals for an adapter.
            Some(Incoming::Request(request)) => drop(request),
            Some(Incoming::Closed(reason)) => break reason.to_string(),
            None => break "it closed the connection".to_owned(),
        }
    };
    while looking.join_next().await.is_some() {}
    // The session may have ended first.
    sender.send(Signal::Gone { reason }).await.unwrap_or_default();
}

/// Children that were announced before the adapter heard that we go wait for us, and nobody else.
async fn drain(dap: Dap, mut inbox: Inbox) {
    let rest = async {
        while let Some(Incoming::Event(event)) = inbox.next().await {
            dap.signal(event);
        }
    };
    if dap.known.children.is_some() {
        // The adapter ends the connection before that.
        tokio::time::timeout(limits::LATE_CHILDREN, rest).await.unwrap_or_default();
    }
}

fn is_at_call(event: &Event) -> bool {
    matches!(event, Event::Stopped(it) if it.reason == t::StopReason::FunctionBreakpoint)
}

impl Dap {
    /// Stops that are looked into before anybody is told of them; `None` for those. What looks into them
    /// ends within the debugger's deadline.
    fn aside(
        &self,
        signal: Signal,
        is_at_call: bool,
        sender: &mpsc::Sender<Signal>,
        looking: &mut JoinSet<()>,
    ) -> Option<Signal> {
        let stopped = match signal {
            Signal::Stopped(stopped) => stopped,
            signal => return Some(signal),
        };
        let (dap, sender) = (self.clone(), sender.clone());
        if is_at_call {
            looking.spawn(enter(dap, stopped, sender));
        } else if self.is_traced(&stopped) {
            looking.spawn(async move { dap.emulate(stopped, sender).await });
        } else if self.known.way == TraceWay::InProcess && stopped.hits.len() > 1 {
            looking.spawn(tell_hits(dap, stopped, sender));
        } else {
            return Some(Signal::Stopped(stopped));
        }
        None
    }
}

/// Nobody is told of a stop at a function's head, but for one that cannot go on.
async fn enter(dap: Dap, stopped: Stopped, sender: mpsc::Sender<Signal>) {
    if let Err(failure) = dap.enter(stopped.thread).await {
        tracing::debug!(%failure, "a function's body is not reached");
        // The session may have ended first.
        sender.send(Signal::Stopped(stopped)).await.unwrap_or_default();
    }
}

/// Of several breakpoints on one line, those that wanted to stop.
async fn tell_hits(dap: Dap, mut stopped: Stopped, sender: mpsc::Sender<Signal>) {
    match dap.hit().await {
        Ok(hits) if !hits.is_empty() => stopped.hits = hits,
        Ok(_) => {}
        Err(failure) => {
            tracing::debug!(%failure, "which of several breakpoints was hit is unknown")
        }
    }
    // The session may have ended first.
    sender.send(Signal::Stopped(stopped)).await.unwrap_or_default();
}

/// A launch that a kept breakpoint prevents says which one, and how to be rid of it.
fn of_breakpoint(id: BreakpointId, failure: &Failure) -> Failure {
    Failure::new(failure.code, format!("breakpoint {id}: {}", failure.message)).hint(format!(
        "`breakpoint_remove {{\"id\": {id}}}` removes it, `breakpoint_set` at its place changes it"
    ))
}

fn gone(reason: &str) -> Failure {
    Failure::new(
        crate::failure::Code::SessionEnded,
        format!("the program's debugger went away: {reason}"),
    )
}
