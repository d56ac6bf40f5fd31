//! What the virtual machine tells: classes that come, and stops.

use std::sync::Arc;

use holdpoint_dap::types as t;
use holdpoint_jdwp::{
    Inbox,
    types::{Composite, Event, EventKind, Location, Modifier, ObjectId, SuspendPolicy},
};
use serde_json::{Value as Json, json};

use super::{
    serving::{Catching, Serving, Stop, is_foreign, said},
    vm::lock,
};
use crate::limits;

/// Follows one virtual machine to its end, or until nobody wants to know: then the connection ends, which lets the
/// program go.
pub(super) async fn follow(serving: Arc<Serving>, mut inbox: Inbox) {
    loop {
        let composite = tokio::select! {
            composite = inbox.next() => composite,
            () = serving.outlet.closed() => return,
        };
        let Some(composite) = composite else { break };
        serving.take(composite).await;
    }
    serving.outlet.event("terminated", json!({})).await;
    serving.outlet.end().await;
}

impl Serving {
    async fn take(&self, composite: Composite) {
        let suspended = composite.suspended;
        let thread = composite.events.iter().find_map(Event::thread);
        let mut stop = None;
        let mut starts = false;
        for event in composite.events {
            match event {
                Event::ClassPrepare { class, .. } => {
                    if let Err(problem) = self.prepared(class).await {
                        tracing::debug!(%problem, "a class was not looked into");
                    }
                }
                Event::VmStart { .. } => starts = true,
                Event::ThreadDeath { thread, .. } => {
                    let thread_id = lock(&self.state).threads.number(thread);
                    let reason = t::ThreadReason::Exited;
                    self.outlet.event("thread", t::ThreadEvent { reason, thread_id }).await;
                }
                Event::VmDeath { .. } | Event::ThreadStart { .. } => {}
                event => stop = self.stop_of(&event, stop).await,
            }
        }
        let is_called = thread.is_some() && lock(&self.state).called.map(|it| it.thread) == thread;
        match stop.filter(|_| !is_called) {
            Some(stop) => self.stopped(stop).await,
            None if starts => self.started(suspended).await,
            None => self.pass(suspended, thread).await,
        }
    }

    /// It stands at its start until everything is set. It takes commands before it stands there: one to go on that
    /// comes too early moves nothing, so what is set may also wait for the start.
    async fn started(&self, suspended: SuspendPolicy) {
        let is_configured = {
            let mut state = lock(&self.state);
            state.at_start = !state.is_configured;
            state.is_held = !state.is_configured && suspended != SuspendPolicy::None;
            state.is_configured
        };
        if is_configured {
            self.pass(suspended, None).await;
        }
    }

    /// Nobody wanted to stop here.
    async fn pass(&self, suspended: SuspendPolicy, thread: Option<ObjectId>) {
        let passed = match (suspended, thread) {
            (SuspendPolicy::None, _) => return,
            (SuspendPolicy::EventThread, Some(thread)) => self.vm.wire.resume_thread(thread).await,
            (SuspendPolicy::EventThread, None) | (SuspendPolicy::All, _) => {
                self.vm.wire.resume().await
            }
        };
        if let Err(error) = passed {
            tracing::debug!(%error, "the program was to pass");
        }
    }

    /// What an event adds to the stop that those before it in the same moment came to.
    async fn stop_of(&self, event: &Event, before: Option<Stop>) -> Option<Stop> {
        match event {
            Event::Breakpoint { request, thread, .. } => {
                let (meant, is_entry) = {
                    let state = lock(&self.state);
                    (state.points.meant(*request), state.entries.contains(request))
                };
                if is_entry {
                    self.entered().await;
                }
                // Taken back in this very moment.
                if meant.is_none() && !is_entry {
                    return before;
                }
                let mut stop = before.unwrap_or_else(|| stop(*thread, t::StopReason::Entry));
                if let Some(number) = meant {
                    stop.reason = t::StopReason::Breakpoint;
                    stop.hits.push(number);
                }
                Some(stop)
            }
            Event::SingleStep { thread, location, .. } => match before {
                Some(stop) => Some(stop),
                None => self.step_end(*thread, *location).await,
            },
            Event::Exception { request, thread, exception, caught, .. } => {
                let known =
                    lock(&self.state).exceptions.iter().find(|it| it.0 == *request).map(|it| it.1);
                let Some(catching) = known else { return before };
                if before.as_ref().is_some_and(|it| it.exception.is_some()) {
                    return before;
                }
                if !self.is_wanted(catching, *thread, *caught).await {
                    return before;
                }
                let text = Some(self.vm.thrown(*exception).await);
                let exception = Some(*exception);
                Some(Stop { exception, text, ..stop(*thread, t::StopReason::Exception) })
            }
            _ => before,
        }
    }

    /// A step ends on a line of the user's; elsewhere it goes on.
    async fn step_end(&self, thread: ObjectId, location: Location) -> Option<Stop> {
        let step = lock(&self.state).steps.get(&thread).copied()?;
        let line = self.vm.line(location).await.ok().flatten();
        if line.is_none() && step.rounds < limits::LINELESS_STEPS {
            let again = self.ask_step(thread, step.depth, step.rounds + 1).await;
            if again.is_ok() {
                return None;
            }
        }
        Some(stop(thread, t::StopReason::Step))
    }

    /// Uncaught ones always; others only where they pass through the user's code.
    async fn is_wanted(
        &self,
        catching: Catching,
        thread: ObjectId,
        caught: Option<Location>,
    ) -> bool {
        if catching == Catching::Uncaught {
            return true;
        }
        let Some(caught) = caught else { return false };
        let Ok(by) = self.vm.class(caught.class).await else { return true };
        if catching == Catching::UserUnhandled && self.source_of(&by).is_some() {
            return false;
        }
        let frames = self.vm.wire.frames(thread, 0, None).await.unwrap_or_default();
        for frame in frames {
            let Ok(class) = self.vm.class(frame.location.class).await else { return true };
            if !is_foreign(&class.name) && self.source_of(&class).is_some() {
                return true;
            }
            if (frame.location.class, frame.location.method) == (caught.class, caught.method) {
                return false;
            }
        }
        false
    }

    pub(super) async fn set_exceptions(
        &self,
        asked: t::SetExceptionBreakpointsArguments,
    ) -> Result<Json, String> {
        let before = std::mem::take(&mut lock(&self.state).exceptions);
        for (request, _) in before {
            self.vm.wire.clear_event(EventKind::Exception, request).await.map_err(said)?;
        }
        for filter in asked.filters {
            let catching = match filter.as_str() {
                "uncaught" => Catching::Uncaught,
                "caught" => Catching::Caught,
                _ => Catching::UserUnhandled,
            };
            let caught = catching != Catching::Uncaught;
            let asked = [Modifier::Exception { class: None, caught, uncaught: !caught }];
            let set = self.vm.wire.set_event(EventKind::Exception, SuspendPolicy::All, &asked);
            let request = set.await.map_err(said)?;
            lock(&self.state).exceptions.push((request, catching));
        }
        Ok(json!({ "breakpoints": [] }))
    }
}

fn stop(thread: ObjectId, reason: t::StopReason) -> Stop {
    Stop { thread, reason, hits: Vec::new(), exception: None, text: None }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use holdpoint_jdwp::Requester;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
        sync::mpsc,
        time::timeout,
    };

    use super::*;
    use crate::adapter::{
        java::{serving::State, sources::Sources, vm::Vm},
        served::outlet,
    };

    const RESUME: (u8, u8) = (1, 9);
    const ID_SIZES: (u8, u8) = (1, 7);

    /// A virtual machine that agrees to everything, tells what it was asked, and has started when it is told to.
    async fn machine(
        pipe: DuplexStream,
        asked: mpsc::Sender<(u8, u8)>,
        mut start: mpsc::Receiver<()>,
    ) {
        let (mut read, mut write) = tokio::io::split(pipe);
        let mut shake = [0; 14];
        read.read_exact(&mut shake).await.unwrap();
        write.write_all(&shake).await.unwrap();
        let told = async {
            loop {
                let mut head = [0; 11];
                if read.read_exact(&mut head).await.is_err() {
                    return;
                }
                let length = u32::from_be_bytes(head[..4].try_into().unwrap());
                let mut rest = vec![0; usize::try_from(length).unwrap() - head.len()];
                read.read_exact(&mut rest).await.unwrap();
                let command = (head[9], head[10]);
                let sizes: Vec<u8> = [8_u32; 5].iter().flat_map(|it| it.to_be_bytes()).collect();
                let body = if command == ID_SIZES { sizes } else { vec![0, 0, 0, 1] };
                let mut reply = u32::try_from(11 + body.len()).unwrap().to_be_bytes().to_vec();
                reply.extend(&head[4..8]);
                reply.extend([0x80, 0, 0]);
                reply.extend(body);
                write.write_all(&reply).await.unwrap();
                asked.send(command).await.unwrap();
                if start.try_recv().is_ok() {
                    // All threads are suspended; one event, VM_START, of no request, in thread 1.
                    let mut event = vec![2, 0, 0, 0, 1, 90, 0, 0, 0, 0];
                    event.extend(1_u64.to_be_bytes());
                    let mut bytes = u32::try_from(11 + event.len()).unwrap().to_be_bytes().to_vec();
                    bytes.extend([0, 0, 0, 1, 0, 64, 100]);
                    bytes.extend(event);
                    write.write_all(&bytes).await.unwrap();
                }
            }
        };
        told.await;
    }

    /// What it was asked, in order, when it had started before or after everything was set.
    async fn asked_when(starts_first: bool) -> Vec<(u8, u8)> {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (asked, mut commands) = mpsc::channel(64);
        let (start, starts) = mpsc::channel(1);
        tokio::spawn(machine(far, asked, starts));
        let (read, write) = tokio::io::split(near);
        let (wire, inbox) = Requester::start(read, write).await.unwrap();
        let (outlet, _outbox) = outlet();
        let serving = Arc::new(Serving {
            vm: Vm::new(wire.clone()),
            outlet,
            sources: Sources::below(Vec::new()),
            just_my_code: true,
            entry: None,
            state: State { at_start: true, ..State::default() }.into(),
            calling: tokio::sync::Mutex::default(),
        });
        tokio::spawn(follow(Arc::clone(&serving), inbox));
        let mut begin_then_start = [true, false];
        if starts_first {
            begin_then_start.reverse();
        }
        for begins in begin_then_start {
            if begins {
                serving.begin().await.unwrap();
            } else {
                start.send(()).await.unwrap();
                // Whatever it is asked next, it has started after it.
                wire.suspend().await.unwrap();
            }
        }
        let mut all = Vec::new();
        while let Ok(Some(command)) = timeout(Duration::from_millis(300), commands.recv()).await {
            all.push(command);
        }
        all
    }

    #[tokio::test]
    async fn a_machine_is_let_go_from_its_start_once_and_never_before_it() {
        const SUSPEND: (u8, u8) = (1, 8);
        for starts_first in [true, false] {
            let asked = asked_when(starts_first).await;
            assert_eq!(asked, [ID_SIZES, SUSPEND, RESUME], "started first: {starts_first}");
        }
    }
}
