//! What a person does to a program, by the same tools as agents. What takes long goes on beside: a press is answered with
//! "asked for", and the stream shows what came of it.

use std::time::Duration;

use holdpoint_engine::{failure::Failure, limits};
use serde_json::Value;

use crate::{
    app::App,
    tool::{self, Reply},
};

/// Carries it out; none where it is still under way after a moment.
pub(in crate::page) async fn tool(
    app: &App,
    name: &'static str,
    session: Option<&str>,
    arguments: Value,
) -> Result<Option<Reply>, Failure> {
    within(limits::PAGE_ASKED, app, name, session, arguments).await
}

/// The same for what an app answers, which is needed to go on.
pub(in crate::page) async fn patiently(
    app: &App,
    name: &'static str,
    session: Option<&str>,
    arguments: Value,
) -> Result<Option<Reply>, Failure> {
    within(limits::PAGE_EVALUATES, app, name, session, arguments).await
}

/// The same for what gives another session, which is to be shown.
pub(in crate::page) async fn start(
    app: &App,
    name: &'static str,
    session: Option<&str>,
    arguments: Value,
) -> Result<Option<Reply>, Failure> {
    within(limits::PAGE_STARTS, app, name, session, arguments).await
}

async fn within(
    patience: Duration,
    app: &App,
    name: &'static str,
    session: Option<&str>,
    arguments: Value,
) -> Result<Option<Reply>, Failure> {
    let Value::Object(arguments) = arguments else {
        return Err(Failure::internal("parameters are an object"));
    };
    let work = tool::for_person(app.clone(), name, session.map(str::to_owned), arguments);
    // Ends with the tool, within its deadline; or with the server.
    let mut work = tokio::spawn(app.shutdown.clone().run_until_cancelled_owned(work));
    match tokio::time::timeout(patience, &mut work).await {
        Ok(Ok(Some(done))) => done.map(Some),
        Ok(Ok(None)) | Err(_) => Ok(None),
        Ok(Err(error)) => Err(Failure::internal(format!("`{name}` ended: {error}"))),
    }
}
