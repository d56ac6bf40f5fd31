//! One run with something to judge and to try at several places: what `debug_experiment` does.

use std::{sync::Arc, time::Duration};

use holdpoint_engine::{
    adapter, breakpoints::Breakpoints, failure::Failure, language::Manners, launch::Launch,
};

use super::{
    Ender, Ending, judge, of_condition, params::Spot, plan::Plan, trial::Trial, watch::Watch,
};
use crate::{
    app::App,
    tool::{Call, Reply},
};

/// What is tried at one place, and what it is thought to show.
pub(crate) struct TrialAsked {
    pub(crate) at: Spot,
    pub(crate) expect: String,
    pub(crate) set: Vec<String>,
    pub(crate) hypothesis: String,
}

/// Runs the program to its end, or until the time is over; then it is ended.
pub(crate) async fn run(
    app: App,
    launch: Launch,
    asked: Vec<TrialAsked>,
    patience: Duration,
    call: Call,
) -> Result<Reply, Failure> {
    let manners = adapter::choose(&launch)?.manners();
    let own = Arc::new(Breakpoints::default());
    let hypotheses: Vec<String> = asked.iter().map(|it| it.hypothesis.clone()).collect();
    let trials = asked.into_iter().map(|it| it.trial(manners)).collect();
    let plan = Plan::of_trials(trials, &launch, manners, &own)?;
    call.doing(format!("running {}", launch.title()));
    let sessions = &app.engine.sessions;
    let started = sessions.launch_with(launch, Arc::clone(&own), call.follow()).await;
    let session = started.map_err(|failure| of_condition(&plan, failure))?;
    let ending = Ending { app: app.clone(), session: Arc::clone(&session) };
    let _ender = Ender(ending.clone());
    if let Some(text) = session.launch().and_then(|it| it.stdin.as_ref()) {
        session.input(text, true).await?;
    }
    let seen = Watch::new(&session, &own, &plan, patience).run().await;
    ending.end().await;
    judge::answer(&session, &own, &plan, &hypotheses, &seen?, call.budget)
}

impl TrialAsked {
    fn trial(self, manners: Manners) -> (Spot, Trial) {
        (self.at, Trial { expect: self.expect, set: self.set, passes: None, manners })
    }
}
