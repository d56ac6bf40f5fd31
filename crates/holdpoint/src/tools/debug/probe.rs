//! `debug_probe`: one call from a question about a run to its answer: run, look at each place, end.

mod failure;
mod frames;
mod hits;
mod judge;
mod missed;
mod order;
pub(crate) mod params;
mod passes;
mod plan;
mod rows;
mod said;
mod tell;
mod trial;
pub(crate) mod trials;
mod watch;

use std::{sync::Arc, time::Duration};

use holdpoint_engine::{
    adapter,
    breakpoints::Breakpoints,
    failure::{Code, Failure},
    launch::Launch,
    limits,
    session::Session,
};

use self::{params::Params, plan::Plan, watch::Watch};
use super::wait::patience;
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Probe;

impl Tool for Probe {
    const NAME: &'static str = "debug_probe";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Find out why a test fails or where a value goes wrong: run it to its first failure \
        (no place), or to a line or function; see values at the Nth pass, the first N or all; end it.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    // The program is started first, which counts for itself.
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Probe a run";
    const LONG: bool = true;
    const RARE: &'static [&'static str] = &["language", "stdin", "at", "by"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let launch = Launch { stop_on_entry: false, ..params.what().resolve()? };
        let manners = adapter::choose(&launch)?.manners();
        let own = Arc::new(Breakpoints::default());
        let plan = Plan::make(&params, &launch, manners, &own)?;
        if plan.failure.is_some() {
            own.set_exceptions(failure::exceptions(&launch, manners));
        }
        call.doing(format!("running {}", launch.title()));
        let sessions = &app.engine.sessions;
        let started = sessions.launch_with(launch, Arc::clone(&own), call.follow()).await;
        let session = started.map_err(|failure| of_condition(&plan, failure))?;
        let ending = Ending { app: app.clone(), session: Arc::clone(&session) };
        let _ender = Ender(ending.clone());
        if let Some(text) = session.launch().and_then(|it| it.stdin.as_ref()) {
            session.input(text, true).await?;
        }
        let watch = Watch::new(&session, &own, &plan, patience);
        let seen = watch.run().await;
        ending.end().await;
        let seen = seen?;
        match plan.failure {
            Some(_) => failure::answer(&session, &seen, call.budget),
            None => tell::answer(&session, &own, &plan, seen, call.budget).await,
        }
    }
}

/// Ends the program, also when the call is cancelled or times out; what it wrote can still be read.
#[derive(Clone)]
struct Ending {
    app: App,
    session: Arc<Session>,
}

impl Ending {
    async fn end(&self) {
        self.session.stop().await;
        self.app.engine.sessions.put_away(self.session.id);
    }
}

struct Ender(Ending);

impl Drop for Ender {
    fn drop(&mut self) {
        let ending = self.0.clone();
        // Ends as soon as the program is gone.
        tokio::spawn(async move { ending.end().await });
    }
}

/// The breakpoints of a probe have numbers that nobody knows.
fn of_condition(plan: &Plan, failure: Failure) -> Failure {
    if failure.code != Code::InvalidParams || !failure.message.contains("does not parse") {
        return failure;
    }
    let text = failure.message.split_once(": ").map_or(&*failure.message, |(_, text)| text);
    let labels: Vec<&str> = plan.places.iter().map(|it| it.label.as_str()).collect();
    Failure::new(Code::InvalidParams, text.to_owned())
        .hint(format!("at {}; the condition is in the program's own language", labels.join(", ")))
}
