//! What tools need of a session before they run: a live one, a stopped one.

use std::sync::Arc;

use holdpoint_engine::{
    backend::Backend,
    failure::{Code, Failure},
    session::{Session, Shown},
};

use crate::{
    app::App,
    tool::{Call, Scope},
};

/// A session, live or ended.
pub(crate) struct Chosen(pub(crate) Arc<Session>);

/// A session that stood still when the tool began, and its process.
pub(crate) struct StoppedSession {
    pub(crate) session: Arc<Session>,
    pub(crate) shown: Arc<Shown>,
    pub(crate) backend: Backend,
}

impl StoppedSession {
    /// What was read is of this stop; where the program ran on meanwhile, that is what there is to say.
    pub(crate) fn of_this_stop<T>(&self, read: Result<T, Failure>) -> Result<T, Failure> {
        let view = self.session.view();
        let stands = view.stop.as_ref().is_some_and(|it| it.stop.epoch == self.shown.stop.epoch);
        read.map_err(|failure| match failure.code {
            _ if stands => failure,
            Code::InvalidParams | Code::NotFound => failure,
            _ => {
                let id = self.session.id;
                Failure::new(Code::NotStopped, format!("{id} ran on while it was being read")).hint(
                    "`debug_wait` waits for its next stop, `debug_status` says what is the case",
                )
            }
        })
    }
}

/// A session that is to be moved, by somebody who may: agents wait while a person is in control.
pub(crate) struct Steered<S>(pub(crate) S);

impl<S: Scope> Scope for Steered<S> {
    const TAKES_SESSION: bool = S::TAKES_SESSION;

    async fn enter(call: &Call) -> Result<Self, Failure> {
        // Before it is looked whether it stands: who may not move it need not know.
        let Chosen(session) = Chosen::enter(call).await?;
        session.moves(&call.actor(), &call.said)?;
        Ok(Steered(S::enter(call).await?))
    }
}

/// Perhaps a session: what was named, and where to look.
pub(crate) struct Named {
    pub(crate) app: App,
    pub(crate) id: Option<String>,
}

/// All sessions, or the one that was named.
pub(crate) struct Any {
    pub(crate) app: App,
    pub(crate) id: Option<String>,
}

impl Scope for Any {
    const TAKES_SESSION: bool = true;

    async fn enter(call: &Call) -> Result<Self, Failure> {
        Ok(Any { app: call.app.clone(), id: call.session.clone() })
    }
}

impl Scope for Named {
    const TAKES_SESSION: bool = true;

    async fn enter(call: &Call) -> Result<Self, Failure> {
        Ok(Named { app: call.app.clone(), id: call.session.clone() })
    }
}

impl Scope for Chosen {
    const TAKES_SESSION: bool = true;

    async fn enter(call: &Call) -> Result<Self, Failure> {
        call.app.engine.sessions.find(call.session.as_deref()).map(Chosen)
    }
}

impl Scope for StoppedSession {
    const TAKES_SESSION: bool = true;

    async fn enter(call: &Call) -> Result<Self, Failure> {
        let Chosen(session) = Chosen::enter(call).await?;
        let (shown, backend) = session.standing().await?;
        Ok(StoppedSession { session, shown, backend })
    }
}
