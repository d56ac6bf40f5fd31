//! What a session is to stop at and to tell, and what became of it in its processes.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use super::{
    PassCount, Session,
    target::{Target, UNANSWERED},
};
use crate::{
    backend::{self, Backend, Binding, Bound, Exceptions, TraceWay},
    breakpoints::{Breakpoint, Breakpoints, Place},
    failure::{Code, Failure},
    ids::{BreakpointId, TargetId},
    limits,
};

impl Session {
    /// Sends the breakpoints that share a place's file, or those by function, to every process; what
    /// became of each, per process.
    pub async fn sync_breakpoints(
        &self,
        breakpoints: &Breakpoints,
        place: &Place,
    ) -> Vec<Result<Vec<Bound>, Failure>> {
        // A session with breakpoints of its own has no others.
        if !std::ptr::eq(&*self.breakpoints, breakpoints) {
            return Vec::new();
        }
        let targets = self.targets.lock().clone();
        let sent = targets.into_iter().map(|(target, it)| self.send(target, it, place));
        futures::future::join_all(sent).await
    }

    /// A program that keeps its interpreter to itself takes them when it comes back; until then nobody
    /// need wait.
    async fn send(
        &self,
        target: TargetId,
        to: Target,
        place: &Place,
    ) -> Result<Vec<Bound>, Failure> {
        let (breakpoints, tell) = (Arc::clone(&self.breakpoints), Arc::clone(&self.tell));
        let at = place.clone();
        let endless = match &to.backend {
            Backend::Cdp(cdp) => cdp.endless(),
            Backend::Dap(_) | Backend::Vscode(_) => None,
        };
        let sending = self.beside.begin(backend::patiently(async move {
            let bound = to.sync(&breakpoints, &at).await?;
            tell.bound(target, &bound);
            Ok(bound)
        }));
        match tokio::time::timeout(limits::PROMPT, sending).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Err(Failure::internal(format!("breakpoints were not sent: {error}"))),
            Err(_) => {
                self.tell.unanswered(target, place);
                let when = "`breakpoint_list` tells when".to_owned();
                let hint = endless.map_or(when.clone(), |it| format!("{when}; perhaps {it}"));
                Err(Failure::new(Code::Timeout, UNANSWERED).hint(hint))
            }
        }
    }

    /// Before the process that stands goes on it has the breakpoints that were asked for: some debuggers take
    /// a file's away before they set them again, and meanwhile it would run past all of them.
    pub(super) async fn settle_changes(&self) {
        let standing = self.view().stop.as_ref().map(|it| it.stop.thread.target);
        let Some(target) = standing.and_then(|it| self.targets.of(Some(it))) else { return };
        // A debugger that does not answer is no reason to keep the program.
        if tokio::time::timeout(limits::ADAPTER_ANSWER, target.changes.settle()).await.is_err() {
            tracing::warn!(session = %self.id, "goes on before its breakpoints are set");
        }
    }

    /// Moves breakpoints with their code, where their files were edited since they were loaded: the next
    /// run has other lines. Those that moved, and from where.
    pub async fn follow_edits(&self) -> Vec<(u32, Breakpoint)> {
        let Some(main) = self.targets.of(None) else { return Vec::new() };
        let went = main.texts.went(&main.backend, &self.breakpoints).await;
        went.into_iter().filter_map(|(id, line)| self.breakpoints.go_to(id, line)).collect()
    }

    /// The line that runs of a breakpoint that was asked for by the lines of a file that was edited since
    /// it was loaded.
    pub fn runs_as(&self, id: BreakpointId) -> Option<u32> {
        self.targets.lock().values().find_map(|it| it.texts.runs_as(id))
    }

    pub async fn set_exceptions(&self, exceptions: &Exceptions) -> Result<(), Failure> {
        for backend in self.backends() {
            match backend.set_exceptions(exceptions).await {
                // A process that ends in this moment needs none, and the others do.
                Err(failure) if failure.code == Code::SessionEnded => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// Where a breakpoint lies in this session, or why it does not; `None` for one of another language.
    pub fn binding_of(&self, id: BreakpointId) -> Option<Binding> {
        self.tell.binding_of(id)
    }

    /// What is enabled and lies nowhere in this session, with the reason where one was told.
    pub fn pending(&self) -> Vec<(Breakpoint, Option<String>)> {
        self.tell.pending()
    }

    /// Why a breakpoint lay nowhere in this session, also after its end.
    pub fn why_unbound(&self, id: BreakpointId) -> Option<String> {
        self.tell.why_unbound(id)
    }

    /// Breakpoints that are to stop and never did here, and whether each is known to have been bound.
    pub fn never_hit(&self) -> Vec<(Breakpoint, bool)> {
        self.tell.never_hit()
    }

    /// How often a breakpoint stopped the program here.
    pub fn hits_of(&self, id: BreakpointId) -> u64 {
        self.tell.hits_of(id)
    }

    /// The tracepoints that are to report here, and how often each did.
    pub fn passes(&self) -> Vec<PassCount> {
        self.tell.passes()
    }

    /// The lines of a surveyed file that ran, where a process told it; what still runs is asked now.
    pub async fn lines_reached(&self, file: &Path) -> Option<BTreeSet<u32>> {
        for backend in self.backends() {
            if let Backend::Cdp(cdp) = backend {
                self.tell.reached(cdp.survey().await);
            }
        }
        self.tell.lines_reached(file)
    }

    /// Whether a condition is one, as far as a process that could hold it can tell.
    pub async fn check_condition(
        &self,
        file: Option<&std::path::Path>,
        condition: &str,
    ) -> Result<(), Failure> {
        let checked = async {
            for backend in self.backends() {
                match backend {
                    Backend::Dap(dap) => dap.check_condition(file, condition).await?,
                    Backend::Cdp(cdp) => cdp.check_condition(condition).await?,
                    // The editor's debugger says so when it is hit.
                    Backend::Vscode(_) => {}
                }
            }
            Ok(())
        };
        // What is not checked now is told when it is hit.
        tokio::time::timeout(limits::PROMPT, checked).await.unwrap_or(Ok(()))
    }

    /// Whether the expressions of a tracepoint are some, as far as a process that could hold it can tell.
    pub async fn check_expressions(
        &self,
        file: Option<&std::path::Path>,
        expressions: &[&str],
    ) -> Result<(), Failure> {
        let checked = async {
            for backend in self.backends() {
                backend.check_expressions(file, expressions).await?;
            }
            Ok(())
        };
        // What is not checked now is told when it is hit.
        tokio::time::timeout(limits::PROMPT, checked).await.unwrap_or(Ok(()))
    }

    /// Whether one of its processes is stopped at each hit of a breakpoint, to look whether it is meant.
    pub fn emulates(&self, breakpoint: &Breakpoint) -> bool {
        self.backends().iter().any(|it| it.emulates(breakpoint))
    }

    /// How a tracepoint works in its processes: in the one where it costs the most.
    pub fn trace_way(&self, breakpoint: &Breakpoint) -> Option<TraceWay> {
        self.backends().iter().map(|it| it.trace_way(breakpoint)).max()
    }
}
