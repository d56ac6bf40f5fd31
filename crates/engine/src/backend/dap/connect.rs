//! The handshake: greeting, `initialize`, `launch` or `attach`, breakpoints, `configurationDone`;
//! then events become signals until the connection ends.

use std::{path::PathBuf, sync::Arc};

use holdpoint_dap::{
    Event, Inbox, Incoming, Request as _, Requester, Tape,
    request::{ConfigurationDone, Evaluate, Initialize},
    types::{self as t, CapabilitiesChange, Empty},
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::JoinSet,
};

use super::{
    Dap, DebuggerState,
    dialect::Dialect,
    refused,
    share::{Feature, allowed},
    translate,
};
use crate::{
    backend::{Bound, Exceptions, Signal, Slice, StopReason, Stopped, Wanted, WantedFunction},
    failure::Failure,
    ids::BreakpointId,
    limits,
    nouns::Stream,
};

/// What a prelude comes to.
const PRELUDE_DONE: &str = ":joined";

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
    /// Where to record the traffic.
    pub tape: Option<Tape>,
    /// Whether the program's output is to be had from its debugger alone.
    pub tells_output: bool,
}

impl Dap {
    /// Returns when the adapter is configured and the program may run.
    pub async fn connect(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
        dialect: Box<dyn Dialect>,
        setup: Setup<'_>,
    ) -> Result<(Dap, mpsc::Receiver<Signal>), Failure> {
        let (requester, mut inbox) = Requester::start(read, write, setup.tape.clone());
        for (command, arguments) in setup.greeting {
            requester.raw(command, arguments.clone()).await.map_err(refused)?;
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
        let announced = requester.request::<Initialize>(hello).await.map_err(refused)?;
        let capabilities = CapabilitiesChange::without(dialect.ignores()).apply_to(&announced);
        requester.set_capabilities(&capabilities);
        let known = DebuggerState::new(dialect, capabilities, setup.tells_output);
        let dap = Dap { requester, known: Arc::new(known) };
        let (sender, signals) = mpsc::channel(limits::MAILBOX);
        let begun = match dap.configure(&mut inbox, &setup).await {
            Ok(begun) => begun,
            Err(failure) => {
                dap.part();
                return Err(failure);
            }
        };
        // Ends with the connection, or when nobody takes the signals.
        tokio::spawn(pump(dap.clone(), inbox, sender, begun));
        Ok((dap, signals))
    }

    /// An adapter that outlives its program waits to hear that we go, and may take nobody else before.
    fn part(&self) {
        if self.known.inside().is_some_and(|it| it.waits_for_goodbye()) {
            let dap = self.clone();
            // Ends with the answer, or within its deadline.
            self.known.tasks.spawn(async move {
                if let Err(failure) = dap.detach().await {
                    tracing::debug!(%failure, "an adapter was not told that we go");
                }
            });
        }
    }

    /// `initialized` may come before or after the answer to `launch`, and some adapters answer that only
    /// after `configurationDone`. What else comes meanwhile is kept.
    async fn configure(&self, inbox: &mut Inbox, setup: &Setup<'_>) -> Result<Begun, Failure> {
        let begun = self.requester.raw(setup.begin, setup.arguments.clone());
        tokio::pin!(begun);
        let mut early = Vec::new();
        let mut answered = false;
        loop {
            tokio::select! {
                // Asked before anything else, also of one that is ready at once.
                biased;
                answer = &mut begun, if !answered => {
                    answer.map_err(refused)?;
                    answered = true;
                }
                incoming = inbox.next() => match incoming {
                    Some(Incoming::Event(Event::Initialized)) => break,
                    Some(Incoming::Event(event)) => early.extend(self.known.early(event)),
                    Some(Incoming::Request(request)) => drop(request),
                    Some(Incoming::Closed(reason)) => return Err(gone(&reason)),
                    None => return Err(gone("it closed the connection")),
                },
            }
        }
        let rest = async {
            if let Some(prelude) = self.known.dialect.prelude() {
                self.prelude(prelude).await?;
            }
            let signals = self.set_all(setup).await?;
            // Before the program runs: nobody takes what it says until it has joined its session.
            if let Some(inside) = self.known.inside() {
                self.known.set_pid(inside.pid(self).await);
            }
            let done = Feature::Request(ConfigurationDone::COMMAND);
            if allowed(&self.known.capabilities(), done).is_ok() {
                self.ask::<ConfigurationDone>(Empty).await?;
            }
            if !answered {
                begun.await.map_err(refused)?;
            }
            Ok(signals)
        };
        tokio::pin!(rest);
        // What comes meanwhile is taken: an answer comes behind it.
        let signals = loop {
            tokio::select! {
                biased;
                signals = &mut rest => break signals?,
                incoming = inbox.next(), if early.len() < limits::EARLY_EVENTS => match incoming {
                    Some(Incoming::Event(event)) => early.extend(self.known.early(event)),
                    Some(Incoming::Request(request)) => drop(request),
                    // What is still waited for fails by this.
                    Some(Incoming::Closed(_)) | None => break rest.await?,
                },
            }
        };
        if self.known.dialect.prelude().is_some() {
            // It stood for us alone, and goes on.
            early.retain(|it| !matches!(it, Event::Stopped(_)));
        }
        Ok(Begun { signals, events: early })
    }

    /// Has the program evaluate something where it stands, in the user's own frame; it is waited for until it does.
    async fn prelude(&self, text: &str) -> Result<(), Failure> {
        let threads = self.threads().await?;
        let thread = threads.first().map_or(1, |it| it.id);
        let stack = self.stack(thread, Slice { start: 0, count: limits::STEP_FRAMES }).await?;
        let own = stack.frames.iter().find(|it| it.is_user).or(stack.frames.first());
        let top = own.ok_or_else(|| gone("it stands nowhere"))?;
        let arguments = t::EvaluateArguments {
            expression: text.to_owned(),
            frame_id: Some(top.id.as_number()?),
            context: Some(self.known.dialect.evaluates_for()),
            ..Default::default()
        };
        let answer = self.ask::<Evaluate>(arguments).await?;
        if answer.result == PRELUDE_DONE {
            // Who reads our requests there may still read this one as before.
            return self.threads().await.map(drop);
        }
        let said = crate::budget::cut(&answer.result, limits::STOP_TEXT);
        Err(gone(&format!("it did not take what works for us inside of it: {said}")))
    }

    /// Everything that the program is to stop at.
    async fn set_all(&self, setup: &Setup<'_>) -> Result<Vec<Signal>, Failure> {
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
        if !setup.breakpoints.is_empty() {
            self.tidy().await;
        }
        if !setup.functions.is_empty() || self.known.dialect.entry().is_some() {
            bound.extend(self.set_functions(setup.functions).await?);
        }
        let exceptions = self.begin_exceptions(setup.exceptions).await?;
        Ok(bound.into_iter().map(Signal::Breakpoint).chain(exceptions).collect())
    }

    /// A program runs though its debugger knows nothing of the exceptions that somebody chose for another;
    /// that is told. Nobody chose what everybody begins with.
    async fn begin_exceptions(&self, exceptions: &Exceptions) -> Result<Option<Signal>, Failure> {
        let missing = self.set_possible_exceptions(exceptions).await?;
        let told = missing.filter(|_| *exceptions != Exceptions::default());
        Ok(told.map(|failure| {
            let hint = failure.hint.as_deref().map(|it| format!("; {it}")).unwrap_or_default();
            let text = format!("{}{hint}\n", failure.message);
            Signal::Output { stream: Stream::Debugger, text }
        }))
    }
}

/// What there is to tell when the program may run.
struct Begun {
    signals: Vec<Signal>,
    /// What the debugger told meanwhile.
    events: Vec<Event>,
}

impl DebuggerState {
    /// What an adapter can is needed while it is configured; everything else is kept.
    fn early(&self, event: Event) -> Option<Event> {
        match event {
            Event::Capabilities(change) => {
                self.change_capabilities(&change);
                None
            }
            // Whoever takes the program over wants to know at once which process it is.
            Event::Process(process) => {
                self.set_pid(process.system_process_id.and_then(|it| u32::try_from(it).ok()));
                None
            }
            event => Some(event),
        }
    }

    /// What an event means. Stops are looked into first; see [`Dap::stop`].
    pub(super) fn signals(&self, event: Event) -> Vec<Signal> {
        if let Some(signals) = self.inside().and_then(|it| it.event(self, &event)) {
            return signals;
        }
        match event {
            Event::Stopped(stopped) => vec![Signal::Stopped(self.stopped(&stopped))],
            Event::Continued(continued) => {
                let all = continued.all_threads_continued.unwrap_or(true);
                let thread = continued.thread_id.filter(|_| !all);
                self.epochs().went(thread);
                self.hidden().clear();
                self.standing().retain(|it| thread.is_some_and(|thread| thread != *it));
                vec![Signal::Continued { thread }]
            }
            Event::Thread(thread) => vec![match thread.reason {
                t::ThreadReason::Exited => {
                    self.epochs().forget(thread.thread_id);
                    self.standing().remove(&thread.thread_id);
                    Signal::ThreadEnded { thread: thread.thread_id }
                }
                _ => Signal::ThreadStarted { thread: thread.thread_id, name: None },
            }],
            Event::Output(output) => self.output(output),
            Event::Breakpoint(changed) => {
                let bound = |id| {
                    let asked = self.sites().get(&id).map(|it| it.line);
                    let state =
                        translate::binding(&*self.dialect, Some(&changed.breakpoint), asked);
                    Signal::Breakpoint(Bound { id, state })
                };
                self.meant(&changed.breakpoint).into_iter().map(bound).collect()
            }
            Event::Exited(exited) if self.dialect.makes_up(exited.exit_code) => Vec::new(),
            Event::Exited(exited) => {
                let code = exited.exit_code;
                // Some tell a signal's number as if the program had ended with it.
                let signal = self.signal().take().filter(|it| i64::from(*it) == code);
                vec![signal.map_or(Signal::Exited { code }, |signal| Signal::Killed { signal })]
            }
            Event::Terminated(_) => vec![Signal::Ended],
            Event::Process(process) => {
                self.set_pid(process.system_process_id.and_then(|it| u32::try_from(it).ok()));
                Vec::new()
            }
            Event::Capabilities(change) => {
                self.change_capabilities(&change);
                Vec::new()
            }
            Event::Initialized
            | Event::Module(_)
            | Event::LoadedSource(_)
            | Event::Invalidated(_)
            | Event::Memory(_)
            | Event::Other { .. } => Vec::new(),
        }
    }

    pub(super) fn stopped(&self, event: &t::StoppedEvent) -> Stopped {
        let mut stopped = translate::stopped(&*self.dialect, event, &self.numbers());
        *self.signal() = self.dialect.signal(event);
        let is_raised = {
            let thrown = self.thrown();
            event.hit_breakpoint_ids.iter().any(|it| thrown.numbers.contains(it))
        };
        if stopped.hits.is_empty() && is_raised {
            stopped.reason = StopReason::Exception;
        }
        match self.inside() {
            Some(inside) => inside.stopped(self, stopped),
            None => self.dialect.told(stopped),
        }
    }

    fn output(&self, output: t::OutputEvent) -> Vec<Signal> {
        let stream = match output.category {
            Some(t::OutputCategory::Telemetry) => return Vec::new(),
            Some(t::OutputCategory::Stdout) => Stream::Stdout,
            Some(t::OutputCategory::Stderr) => Stream::Stderr,
            _ => Stream::Debugger,
        };
        if let Some(signal) = self.dialect.killed_by(&output.output) {
            *self.signal() = Some(signal);
        }
        if self.dialect.is_chatter(&output.output) {
            return Vec::new();
        }
        let exited = self.dialect.exit_code(&output.output).map(|code| Signal::Exited { code });
        // The output of a program of ours comes by its pipes; twice would be a lie.
        let is_wanted = match stream {
            Stream::Debugger => self.dialect.is_news(&output.output),
            Stream::Stdout | Stream::Stderr => self.tells_output,
        };
        let told = is_wanted.then_some(Signal::Output { stream, text: output.output });
        told.into_iter().chain(exited).collect()
    }
}

async fn pump(dap: Dap, mut inbox: Inbox, sender: mpsc::Sender<Signal>, begun: Begun) {
    for signal in begun.signals {
        if sender.send(signal).await.is_err() {
            return;
        }
    }
    // Stops that are looked into. Ended with this task, and before the connection's end is told.
    let mut looking = JoinSet::new();
    for event in begun.events {
        if dap.tell(event, &sender, &mut looking).await.is_err() {
            return;
        }
    }
    let reason = loop {
        let incoming = tokio::select! {
            incoming = inbox.next() => incoming,
            Some(_) = looking.join_next() => continue,
            // The connection ends with the last who holds it.
            () = sender.closed() => return drain(dap, inbox).await,
        };
        match incoming {
            Some(Incoming::Event(event)) => {
                if dap.tell(event, &sender, &mut looking).await.is_err() {
                    return;
                }
            }
            // Refused by its drop: we start no programs and open no terminals for an adapter.
            Some(Incoming::Request(request)) => drop(request),
            Some(Incoming::Closed(reason)) => break reason.to_string(),
            None => break "it closed the connection".to_owned(),
        }
    };
    // What still waits for an answer learns now that none comes.
    let mut asking = dap.known.tasks.take();
    while looking.join_next().await.is_some() || asking.join_next().await.is_some() {}
    // The session may have ended first.
    sender.send(Signal::Gone { reason }).await.unwrap_or_default();
}

/// Children that were announced before the adapter heard that we go wait for us, and nobody else.
async fn drain(dap: Dap, mut inbox: Inbox) {
    let rest = async {
        while let Some(Incoming::Event(event)) = inbox.next().await {
            dap.known.signals(event);
        }
    };
    if dap.known.inside().is_some_and(|it| it.waits_for_goodbye()) {
        // The adapter ends the connection before that.
        tokio::time::timeout(limits::LATE_CHILDREN, rest).await.unwrap_or_default();
    }
}

impl Dap {
    /// Tells what an event means; an error when nobody listens any more.
    async fn tell(
        &self,
        event: Event,
        sender: &mpsc::Sender<Signal>,
        looking: &mut JoinSet<()>,
    ) -> Result<(), mpsc::error::SendError<Signal>> {
        let event = match event {
            Event::Stopped(event) => match self.stop(&event, sender, looking) {
                Some(stopped) => {
                    self.known.stands(stopped.thread);
                    return sender.send(Signal::Stopped(stopped)).await;
                }
                None => return Ok(()),
            },
            event => event,
        };
        if matches!(event, Event::Terminated(_)) {
            self.part();
        }
        for signal in self.known.signals(event) {
            sender.send(signal).await?;
        }
        Ok(())
    }

    /// Stops that are looked into before anybody is told of them; `None` for those. What looks into them
    /// ends within the debugger's deadline.
    fn stop(
        &self,
        event: &t::StoppedEvent,
        sender: &mpsc::Sender<Signal>,
        looking: &mut JoinSet<()>,
    ) -> Option<Stopped> {
        let stopped = self.known.stopped(event);
        let inside = self.known.inside();
        let sender = sender.clone();
        if let Some(work) = inside.and_then(|it| it.look(self, event, &stopped)) {
            let dap = self.clone();
            looking.spawn(async move {
                if let Some(stopped) = work.await {
                    dap.tell_stop(stopped, &sender).await;
                }
            });
        } else if self.is_entry(event) {
            let dap = self.clone();
            looking.spawn(async move {
                let stopped = dap.entered(stopped).await;
                dap.tell_stop(stopped, &sender).await;
            });
        } else if let Some(look) = self.to_look_at(&stopped) {
            let dap = self.clone();
            looking.spawn(async move { dap.look_at(look, stopped, sender).await });
        } else if self.known.dialect.looks_into(&stopped) {
            let dap = self.clone();
            looking.spawn(async move {
                let known = std::sync::Arc::clone(&dap.known);
                if let Some(stopped) = known.dialect.complete(&dap, stopped).await {
                    dap.tell_stop(stopped, &sender).await;
                }
            });
        } else {
            return Some(stopped);
        }
        None
    }
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
