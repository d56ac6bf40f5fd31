//! Carries out what the state says: requests that run beside the loop, and what callers are answered.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Actor, Done};
use crate::{
    backend::{self, Backend, Slice, Stack, Went},
    failure::{Code, Failure},
    ids::{Epoch, TargetId, ThreadKey},
    limits,
    process::Exit,
    session::{
        Reply,
        state::{CommandRefusal, Output, Stop},
        target::Target,
    },
};

impl Actor {
    pub(super) fn carry_out(&mut self, outputs: Vec<Output>, mut reply: Option<Reply>) {
        for output in outputs {
            match output {
                Output::Resume { thread, epoch } => {
                    let ends = Some((thread, epoch));
                    self.send(thread.target, ends, reply.take(), move |it| {
                        Box::pin(async move { it.resume(thread.thread).await })
                    });
                }
                Output::Step { thread, step, epoch } => {
                    let ends = Some((thread, epoch));
                    self.send(thread.target, ends, reply.take(), move |it| {
                        Box::pin(
                            async move { it.step(thread.thread, step).await.map(|()| Went::All) },
                        )
                    });
                }
                Output::Pause { target } => {
                    self.send(target, None, reply.take(), |it| {
                        Box::pin(async move { it.pause(None).await.map(|()| Went::All) })
                    });
                }
                Output::Report(stop) => {
                    self.fetch_stack(stop);
                    self.show();
                }
                Output::Running => {
                    self.stop = None;
                    self.tell.running();
                    self.show();
                }
                Output::Over => {
                    self.stop = None;
                    self.show();
                }
                Output::ThreadsChanged => self.show(),
                Output::Ended => {
                    self.stop = None;
                    self.tell.ended(self.exit.unwrap_or(Exit::Unknown).to_string());
                    self.show();
                }
                Output::Refuse(refusal) => answer(reply.take(), Err(self.refuse(refusal))),
            }
        }
        answer(reply, Ok(()));
    }

    fn send(
        &self,
        target: TargetId,
        ends: Option<(ThreadKey, Epoch)>,
        reply: Option<Reply>,
        request: impl FnOnce(Backend) -> BoxFuture<'static, Result<Went, Failure>> + Send + 'static,
    ) {
        let backend = self.targets.backend(target);
        self.beside.push(Box::pin(async move {
            let result = match backend {
                // Whoever asked waits for as long as they like.
                Some(backend) => backend::patiently(request(backend)).await,
                None => Err(Failure::new(Code::NotFound, "the process is gone")),
            };
            Done::Sent { ends, result, reply }
        }));
    }

    /// Asks a child process once what it is called. Not before it does something of its own: its name is
    /// given to it after it has joined.
    pub(super) fn title(&mut self, target: TargetId) -> Option<impl Future<Output = ()> + use<>> {
        if target == TargetId::MAIN || !self.titled.insert(target) {
            return None;
        }
        let backend = self.targets.backend(target)?;
        let tell = Arc::clone(&self.tell);
        Some(async move {
            let asked = tokio::time::timeout(limits::TITLE, backend.title()).await;
            if let Ok(Ok(title)) = asked {
                tell.titled(target, &title);
            }
        })
    }

    /// The stack is asked for the moment a stop is known; the stop is shown with it.
    fn fetch_stack(&mut self, stop: Stop) {
        let backend = self.targets.backend(stop.thread.target);
        let target = self.targets.lock().get(&stop.thread.target).cloned();
        let later = tokio::time::Instant::now() + limits::LOOK_AFTER;
        // At the first stop at once: nobody can have edited anything before they hear of it.
        let (first, next) = match target {
            Some(target) if !target.texts.has_looked() => (Some(target), None),
            target => (None, target.map(|it| (it, later))),
        };
        self.look = next;
        let title = self.title(stop.thread.target);
        self.beside.push(Box::pin(async move {
            if let Some(target) = first {
                target.look().await;
            }
            let first = Slice { start: 0, count: limits::STACK_FRAMES };
            let stack = match &backend {
                Some(backend) => backend.stack(stop.thread.thread, first).await,
                None => Err(Failure::new(Code::SessionEnded, "the process is gone")),
            };
            if let Some(title) = title {
                title.await;
            }
            let thread = match &backend {
                Some(backend) if !stop.thread.is_main() => {
                    let all = backend.threads().await.unwrap_or_default();
                    all.into_iter().find(|it| it.id == stop.thread.thread).map(|it| it.name)
                }
                _ => None,
            };
            match stack {
                Ok(stack) => Done::Stack { stop, stack, thread },
                // The process is gone, which is told by itself.
                Err(failure) if failure.code == Code::SessionEnded => Done::Synced,
                Err(failure) => {
                    tracing::debug!(%failure, "a stop has no stack");
                    Done::Stack { stop, stack: Stack { frames: Vec::new(), total: None }, thread }
                }
            }
        }));
    }

    pub(super) fn keep_texts(&self, stop: &Stop, stack: &Stack) {
        let texts = self.targets.lock().get(&stop.thread.target).map(|it| Arc::clone(&it.texts));
        let files = stack.frames.iter().filter_map(|it| it.file.as_deref());
        if let Some(texts) = texts {
            files.for_each(|file| texts.keep(file));
        }
    }

    pub(super) fn look_at(&mut self, target: Target) {
        self.look = None;
        self.beside.push(Box::pin(async move {
            target.look().await;
            Done::Synced
        }));
    }

    fn refuse(&self, refusal: CommandRefusal) -> Failure {
        let id = self.id;
        match refusal {
            CommandRefusal::NotStarted => {
                Failure::new(Code::NotStopped, format!("{id} is still starting"))
                    .hint("`debug_wait` waits for its first stop")
            }
            CommandRefusal::AlreadyRunning => {
                Failure::new(Code::NotStopped, format!("{id} is running"))
                    .hint("`debug_pause` stops it, `debug_wait` waits for its next stop")
            }
            CommandRefusal::AlreadyStopped => {
                Failure::new(Code::AlreadyStopped, format!("{id} is stopped already"))
                    .hint("`debug_stack` says where")
            }
            CommandRefusal::Ended => {
                Failure::new(Code::SessionEnded, format!("the program of {id} has ended"))
                    .hint("`debug_restart` runs it again")
            }
            CommandRefusal::NoProcess => {
                Failure::new(Code::NotFound, format!("no process of {id} is there any more"))
                    .hint("`debug_wait` tells how it ends")
            }
            CommandRefusal::NoSuchThread => {
                Failure::new(Code::NotFound, "no such thread is stopped")
                    .hint("`debug_threads` lists them")
            }
        }
    }
}

pub(super) fn answer(reply: Option<Reply>, result: Result<(), Failure>) {
    if let Some(reply) = reply {
        // Whoever asked may be gone.
        reply.send(result).unwrap_or_default();
    }
}
