//! What tools need of a session before they run: a live one, a stopped one.

use std::sync::Arc;

use holdpoint_engine::{
    backend::Backend,
    failure::Failure,
    session::{Session, Shown},
};

use crate::{
    app::App,
    tool::{Call, Scope},
};

/// A session, live or ended.
pub(crate) struct Known(pub(crate) Arc<Session>);

/// A session that stood still when the tool began, and its process.
pub(crate) struct Stopped {
    pub(crate) session: Arc<Session>,
    pub(crate) shown: Arc<Shown>,
    pub(crate) backend: Backend,
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
    const ABOUT_SESSION: Option<&'static str> = Some("Default: any.");

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

impl Scope for Known {
    const TAKES_SESSION: bool = true;

    async fn enter(call: &Call) -> Result<Self, Failure> {
        call.app.engine.sessions.find(call.session.as_deref()).map(Known)
    }
}

impl Scope for Stopped {
    const TAKES_SESSION: bool = true;

    async fn enter(call: &Call) -> Result<Self, Failure> {
        let Known(session) = Known::enter(call).await?;
        let (shown, backend) = session.stopped()?;
        Ok(Stopped { session, shown, backend })
    }
}
