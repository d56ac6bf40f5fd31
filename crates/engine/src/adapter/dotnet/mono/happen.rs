//! What the runtime tells, as it happens: stops, assemblies, threads, the end.

use std::sync::Arc;

use holdpoint_dap::types as t;
use holdpoint_sdb::{
    AssemblyRef, EventRequest, MonoError, MonoInbox, ObjectRef,
    command::{ExceptionFilter, Modifier, StepDepth},
    event::{EventKind, Moment, MonoEvent, SuspendPolicy, What},
};
use serde_json::json;

use super::{
    points::first_statement,
    server::{Begun, Done, Hold, MonoServer, Stepping, Stop, refused},
};
use crate::limits;

/// What the runtime says of a step in a thread that waits in its own code.
const NO_MANAGED_FRAME: u16 = 102;
const NO_STEP: &str = "the thread sleeps or waits inside of the runtime, where no step begins";

/// Takes what happens until the program or the session is gone.
pub(super) async fn follow(server: Arc<MonoServer>, mut inbox: MonoInbox) {
    loop {
        let moment = tokio::select! {
            moment = inbox.next() => moment,
            // Nobody listens any more; the connection ends with us.
            () = server.outlet.closed() => return,
        };
        let Some(moment) = moment else { break };
        if let Err(failure) = server.take(moment).await {
            tracing::debug!(%failure, "what happened in a program could not be looked into");
        }
    }
    server.outlet.event("terminated", json!({})).await;
    server.outlet.end().await;
}

/// What a moment comes to.
#[derive(Default)]
struct Seen {
    hits: Vec<i64>,
    hit_in: Option<ObjectRef>,
    stepped: Option<ObjectRef>,
    thrown: Option<(ObjectRef, ObjectRef)>,
    broke: Option<ObjectRef>,
    loaded: Vec<AssemblyRef>,
    entered: bool,
    requests: Vec<EventRequest>,
}

/// What becomes of a program that stands.
enum Verdict {
    Stop(Stop),
    /// Nobody is told.
    GoOn,
    /// It is at its begin, and waits until all is set.
    Stand,
}

impl MonoServer {
    async fn take(&self, moment: Moment) -> Done<()> {
        let mut hold = self.hold.lock().await;
        let suspends = moment.suspends == SuspendPolicy::All;
        if suspends {
            hold.count += 1;
        }
        let mut seen = Seen::default();
        for event in moment.events {
            self.one(event, &mut seen).await;
        }
        for assembly in &seen.loaded {
            seen.entered |= self.loaded(*assembly).await?;
        }
        if !suspends {
            return Ok(());
        }
        match self.verdict(&mut hold, seen).await {
            Ok(Verdict::Stop(stop)) => {
                self.stop(&mut hold, stop).await;
                Ok(())
            }
            Ok(Verdict::GoOn) => self.go_on(&mut hold).await,
            Ok(Verdict::Stand) => {
                self.begun.send_replace(Begun::Stands);
                Ok(())
            }
            Err(failure) => {
                // It must not stand there for ever, unseen.
                self.go_on(&mut hold).await?;
                Err(failure)
            }
        }
    }

    async fn one(&self, event: MonoEvent, seen: &mut Seen) {
        let thread = event.thread;
        match event.what {
            What::Breakpoint(_) => {
                seen.hit_in = Some(thread);
                seen.requests.push(event.request);
                seen.hits.extend(self.points.lock().await.hit(event.request));
            }
            What::Stepped(_) => seen.stepped = Some(thread),
            What::Thrown(exception) => seen.thrown = Some((thread, exception)),
            What::UserBreak => seen.broke = Some(thread),
            What::AssemblyLoaded(assembly) => seen.loaded.push(assembly),
            What::ThreadStarted => self.thread(thread, t::ThreadReason::Started).await,
            What::ThreadEnded => self.thread(thread, t::ThreadReason::Exited).await,
            What::Died { code } => {
                self.outlet.event("exited", t::ExitedEvent { exit_code: code.into() }).await;
            }
            What::Started => {
                self.begun.send_if_modified(|it| {
                    std::mem::replace(it, Begun::Started.max(*it)) < Begun::Started
                });
            }
            What::DomainCreated
            | What::DomainUnloaded
            | What::Entered(_)
            | What::Left(_)
            | What::AssemblyUnloaded(_)
            | What::TypeLoaded(_)
            | What::Other => {}
        }
    }

    async fn thread(&self, thread: ObjectRef, reason: t::ThreadReason) {
        let event = t::ThreadEvent { reason, thread_id: thread.0.into() };
        self.outlet.event("thread", event).await;
    }

    /// Whether it is the program's own, at which it begins.
    pub(super) async fn loaded(&self, assembly: AssemblyRef) -> Done<bool> {
        if !self.mono.has_debug_info(assembly).await.map_err(refused)? {
            return Ok(false);
        }
        self.types.add_users(assembly);
        self.bind_waiting(assembly).await?;
        let main = self.mono.entry_point(assembly).await.map_err(refused)?;
        Ok(!main.is_none())
    }

    /// Lets the program go on from what nobody is told.
    async fn go_on(&self, hold: &mut Hold) -> Done<()> {
        hold.count = hold.count.saturating_sub(1);
        self.mono.resume().await.map_err(refused)
    }

    async fn verdict(&self, hold: &mut Hold, seen: Seen) -> Done<Verdict> {
        let stop =
            |thread, reason, hits| Stop { thread, reason, hits, exception: None, text: None };
        if let Some(thread) = seen.hit_in {
            let mut entry = self.entry.lock().await;
            let is_entry = entry.is_some_and(|it| seen.requests.contains(&it));
            if is_entry && let Some(request) = entry.take() {
                self.mono.forget(EventKind::Breakpoint, request).await.map_err(refused)?;
            }
            return Ok(match (is_entry, seen.hits.is_empty()) {
                (true, true) => Verdict::Stop(stop(thread, t::StopReason::Entry, Vec::new())),
                // Of a breakpoint that was taken away meanwhile.
                (false, true) => Verdict::GoOn,
                _ => Verdict::Stop(stop(thread, t::StopReason::Breakpoint, seen.hits)),
            });
        }
        if let Some((thread, exception)) = seen.thrown {
            return self.thrown(thread, exception).await;
        }
        if let Some(thread) = seen.broke {
            let reason = t::StopReason::Other("Debugger.Break()".to_owned());
            return Ok(Verdict::Stop(stop(thread, reason, Vec::new())));
        }
        if let Some(thread) = seen.stepped {
            if self.is_nowhere(thread).await? && self.step_again(hold).await? {
                return Ok(Verdict::GoOn);
            }
            return Ok(Verdict::Stop(stop(thread, t::StopReason::Step, Vec::new())));
        }
        if seen.entered && *self.begun.borrow() < Begun::Stands {
            return Ok(Verdict::Stand);
        }
        Ok(Verdict::GoOn)
    }

    /// Whether a thread stands where nobody has written anything, or where the language only opens a body.
    async fn is_nowhere(&self, thread: ObjectRef) -> Done<bool> {
        self.state().stacks.remove(&thread);
        let stack = self.stack(thread).await?;
        let Some(top) = stack.first() else { return Ok(false) };
        let place = self.types.place(top.method, top.offset).await.map_err(refused)?;
        Ok(place.is_none() || (self.about.just_my_code && !self.types.is_users(top.method).await))
    }

    async fn step_again(&self, hold: &mut Hold) -> Done<bool> {
        let Some(step) = hold.step else { return Ok(false) };
        if step.rounds >= limits::MONO_STEPS {
            return Ok(false);
        }
        self.end_step(hold).await;
        self.ask_step(hold, step.thread, step.depth, step.rounds + 1).await?;
        Ok(true)
    }

    pub(super) async fn step(&self, thread: i64, depth: StepDepth) -> Done<()> {
        let thread = ObjectRef(i32::try_from(thread).unwrap_or_default());
        let mut hold = self.standing().await?;
        self.end_step(&mut hold).await;
        self.ask_step(&mut hold, thread, depth, 0).await?;
        self.release(&mut hold).await
    }

    async fn ask_step(
        &self,
        hold: &mut Hold,
        thread: ObjectRef,
        depth: StepDepth,
        rounds: usize,
    ) -> Done<()> {
        let mut modifiers = vec![Modifier::Step { thread, depth }];
        let users = self.types.users();
        if self.about.just_my_code && !users.is_empty() {
            modifiers.push(Modifier::Assemblies(users));
        }
        let asked = self.mono.request(EventKind::Step, SuspendPolicy::All, &modifiers).await;
        let request = asked.map_err(|error| match error {
            MonoError::Refused { code: NO_MANAGED_FRAME, .. } => NO_STEP.to_owned(),
            error => refused(error),
        })?;
        hold.step = Some(Stepping { thread, request, depth, rounds });
        Ok(())
    }

    /// An exception that the runtime's own code throws and catches is nobody's.
    async fn thrown(&self, thread: ObjectRef, exception: ObjectRef) -> Done<Verdict> {
        self.state().stacks.remove(&thread);
        let (is_told, mode) = match self.catcher(thread, exception).await? {
            None => (true, t::BreakMode::Unhandled),
            Some(is_users) => (is_users || !self.about.just_my_code, t::BreakMode::Always),
        };
        if !is_told {
            return Ok(Verdict::GoOn);
        }
        let reason = t::StopReason::Exception;
        let text = Some(self.exception_text(exception).await?);
        let exception = Some((exception, mode));
        Ok(Verdict::Stop(Stop { thread, reason, hits: Vec::new(), exception, text }))
    }

    /// Whether who catches it is the user's own code; `None` where nobody does.
    async fn catcher(&self, thread: ObjectRef, exception: ObjectRef) -> Done<Option<bool>> {
        let kind = self.kind_of(exception).await?;
        for frame in self.stack(thread).await?.iter() {
            // A method without a body catches nothing.
            let clauses = self.mono.catches(frame.method).await.unwrap_or_default();
            for clause in clauses.iter().filter(|it| (it.from..=it.to).contains(&frame.offset)) {
                let is_caught = match clause.kind {
                    Some(caught) => self.mono.is_assignable(caught, kind).await.map_err(refused)?,
                    None => false,
                };
                if is_caught {
                    return Ok(Some(self.types.is_users(frame.method).await));
                }
            }
        }
        Ok(None)
    }

    pub(super) async fn set_exceptions(
        &self,
        arguments: t::SetExceptionBreakpointsArguments,
    ) -> Done<()> {
        let has = |name: &str| arguments.filters.iter().any(|it| it == name);
        let filter = ExceptionFilter { kind: None, caught: has("all"), uncaught: has("uncaught") };
        let before = self.exceptions.lock().await.take();
        if let Some(request) = before {
            self.mono.forget(EventKind::Exception, request).await.map_err(refused)?;
        }
        if !filter.caught && !filter.uncaught {
            return Ok(());
        }
        let modifiers = [Modifier::Exception(filter)];
        let asked = self.mono.request(EventKind::Exception, SuspendPolicy::All, &modifiers).await;
        *self.exceptions.lock().await = Some(asked.map_err(refused)?);
        Ok(())
    }

    /// What is wanted of every program, and the way to its first own line.
    pub(super) async fn begin(&self) -> Done<()> {
        let version = self.mono.version().await.map_err(refused)?;
        let minor = version.minor.min(limits::MONO_PROTOCOL);
        self.mono.set_version(version.major, minor).await.map_err(refused)?;
        for (kind, suspends) in [
            (EventKind::AssemblyLoad, SuspendPolicy::All),
            (EventKind::UserBreak, SuspendPolicy::All),
            (EventKind::ThreadStart, SuspendPolicy::Nothing),
            (EventKind::ThreadDeath, SuspendPolicy::Nothing),
        ] {
            self.mono.request(kind, suspends, &[]).await.map_err(refused)?;
        }
        if self.about.is_attached {
            return self.begin_attached().await;
        }
        self.until(Begun::Started).await?;
        self.go_on(&mut *self.hold.lock().await).await?;
        self.until(Begun::Stands).await
    }

    async fn until(&self, far: Begun) -> Done<()> {
        let mut begun = self.begun.subscribe();
        tokio::select! {
            it = begun.wait_for(|it| *it >= far) => {
                it.map(drop).map_err(|_| "the program is gone".to_owned())
            }
            () = self.outlet.closed() => Err("ProgramEnded: nobody waits for it".to_owned()),
        }
    }

    /// All that it has loaded before.
    async fn begin_attached(&self) -> Done<()> {
        let mut hold = self.hold.lock().await;
        self.mono.suspend().await.map_err(refused)?;
        hold.count += 1;
        let domain = self.mono.root_domain().await.map_err(refused)?;
        for assembly in self.mono.assemblies(domain).await.map_err(refused)? {
            self.loaded(assembly).await?;
        }
        self.begun.send_replace(Begun::Stands);
        Ok(())
    }

    /// All is set: the program may run.
    pub(super) async fn configured(&self) -> Done<()> {
        let mut hold = self.hold.lock().await;
        // Those that were there before anybody asked for news of them.
        for thread in self.mono.threads().await.map_err(refused)? {
            self.thread(thread, t::ThreadReason::Started).await;
        }
        if self.about.is_attached {
            self.go_on(&mut hold).await?;
            // One that was started to wait for a debugger has it now.
            self.mono.resume().await.unwrap_or_default();
            return Ok(());
        }
        if self.about.stop_on_entry {
            self.stop_at_main().await?;
        }
        self.go_on(&mut hold).await
    }

    async fn stop_at_main(&self) -> Done<()> {
        let domain = self.mono.root_domain().await.map_err(refused)?;
        let assembly = self.mono.entry_assembly(domain).await.map_err(refused)?;
        let method = self.mono.entry_point(assembly).await.map_err(refused)?;
        let lines = self.lined(method).await.map_err(refused)?;
        let Some((_, _, offset)) = first_statement(&lines) else { return Ok(()) };
        let place = [Modifier::Place { method, offset }];
        let asked = self.mono.request(EventKind::Breakpoint, SuspendPolicy::All, &place).await;
        *self.entry.lock().await = Some(asked.map_err(refused)?);
        Ok(())
    }
}
