//! Processes as they come under control: what each is sent, and what is listened to.

use std::{collections::BTreeSet, sync::Arc};

use super::{Actor, Done};
use crate::{
    adapter::Connected,
    backend::Backend,
    ids::{BreakpointId, TargetId},
    limits,
    session::{state::Input, target::Target},
};

impl Actor {
    pub(super) fn join(&mut self, connected: Connected) {
        let target = TargetId(self.next_target);
        self.next_target += 1;
        let Connected { backend, mut signals, revision, pid, bound } = connected;
        self.tell.process_started(target, pid);
        self.tell.begins_with(target, bound);
        let texts = self.targets.texts_of(target, pid, self.began);
        texts.begin(&self.breakpoints);
        if let Backend::Vscode(vscode) = &backend
            && self.control.is_persons()
        {
            vscode.held(true);
        }
        let joined = Target { backend, pid, texts, changes: Arc::default() };
        self.targets.lock().insert(target, joined.clone());
        self.look = Some((joined.clone(), tokio::time::Instant::now() + limits::LOOK_RUNNING));
        let outputs = self.state.step(Input::Joined { target });
        self.carry_out(outputs, None);
        if target == TargetId::MAIN {
            self.tell.running();
        }
        if revision != self.breakpoints.revision() {
            self.resync(target, joined);
        }
        let up = self.signals.clone();
        // Ends with the connection, or with the actor.
        self.listening.spawn(async move {
            while let Some(signal) = signals.recv().await {
                if up.send((target, signal)).await.is_err() {
                    return;
                }
            }
        });
    }

    /// A breakpoint was set while this process was connecting.
    fn resync(&self, target: TargetId, joined: Target) {
        let (breakpoints, tell) = (Arc::clone(&self.breakpoints), Arc::clone(&self.tell));
        self.beside.push(Box::pin(async move {
            let _turn = joined.changes.turn().await;
            let Target { backend, texts, .. } = &joined;
            for (file, _) in breakpoints.by_file() {
                match texts.set(backend, &breakpoints, &file).await {
                    Ok(bound) => tell.bound(target, &bound),
                    Err(failure) => {
                        tracing::warn!(%failure, "breakpoints were not sent to a child process");
                    }
                }
            }
            let rest = async {
                tell.bound(target, &backend.set_functions(&breakpoints.functions()).await?);
                backend.set_exceptions(&breakpoints.exceptions()).await
            };
            if let Err(failure) = rest.await {
                tracing::warn!(%failure, "a child process stops at fewer places");
            }
            Done::Synced
        }));
    }

    /// Tracepoints that have reported all they were to are taken out of the program.
    pub(super) fn take_out_spent(&mut self) {
        let spent = self.breakpoints.spent();
        let now: BTreeSet<(BreakpointId, u64)> =
            spent.iter().map(|(it, of)| (it.id, *of)).collect();
        for (point, generation) in spent {
            if self.taken_out.contains(&(point.id, generation)) {
                continue;
            }
            self.tell.spent(point.id, point.trace.as_ref().map_or(0, |it| it.max));
            let targets: Vec<Target> = self.targets.lock().values().cloned().collect();
            let breakpoints = Arc::clone(&self.breakpoints);
            self.beside.push(Box::pin(async move {
                for target in targets {
                    if let Err(failure) = target.sync(&breakpoints, &point.place).await {
                        tracing::debug!(%failure, "a tracepoint is still in a process");
                    }
                }
                Done::Synced
            }));
        }
        self.taken_out = now;
    }
}
