//! `debug_start`: a configuration of the editor by its name, as VS Code's own bridges call it.

use std::{path::PathBuf, time::Duration};

use holdpoint_engine::{failure::Failure, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::launch::{begin, in_editor};
use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
};

pub(crate) struct Start;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// A name in `launch.json`.
    launch: String,
    /// The workspace, where it is another than the project.
    folder: Option<PathBuf>,
    /// Default true; else it answers as soon as it runs.
    wait: Option<bool>,
    /// Seconds to wait.
    timeout_s: Option<f64>,
}

impl Tool for Start {
    const NAME: &'static str = "debug_start";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Launch a configuration of VS Code in its own debugger, and wait for \
        its first stop.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    // The program is started first, however short the wait for its first stop.
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Start in VS Code";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = match params.wait {
            Some(false) => Duration::ZERO,
            _ => super::wait::patience(params.timeout_s, Self::TIMEOUT),
        };
        let spec = in_editor(&params.launch, params.folder.as_deref(), false);
        begin(&app, spec, patience, &call, Self::NAME).await
    }
}
