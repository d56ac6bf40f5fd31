//! The second side of a comparison: the program of a recording once more, with something else about it.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;

use super::{RecordAsk, RecordingAbout, Recordings, RunEnd, checkout::Checkout};
use crate::{
    adapter,
    failure::{Code, Failure},
    launch::Launch,
    secrets::Secrets,
};

/// What differs. All else stays as it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunChange {
    /// The code of this commit, in a checkout of its own.
    pub commit: Option<String>,
    pub test: Option<String>,
    pub args: Option<Vec<String>>,
    pub env: BTreeMap<String, String>,
    pub stdin: Option<String>,
}

impl RunChange {
    pub fn is_empty(&self) -> bool {
        *self == RunChange::default()
    }

    /// In words, for whoever reads a list of recordings.
    fn told(&self, commit: Option<&str>) -> String {
        let env = self.env.keys().map(|name| format!("{name} changed"));
        let one = |what: Option<String>| what.into_iter();
        one(commit.map(|it| format!("commit {it}")))
            .chain(one(self.args.as_ref().map(|it| format!("args {}", it.join(" ")))))
            .chain(one(self.stdin.as_ref().map(|_| "other stdin".to_owned())))
            .chain(env)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn applied(&self, launch: Launch) -> Result<Launch, Failure> {
        let mut launch = launch.again(self.env.clone()).map_err(|missing| {
            let text =
                format!("its environment had secrets that were not kept: {}", missing.join(", "));
            Failure::new(Code::InvalidParams, text).hint("pass them anew in `env`")
        })?;
        if let Some(test) = &self.test {
            let (cwd, env, interpreter) = (launch.cwd, launch.env, launch.interpreter);
            let language = launch.language;
            let test = Some(test.clone());
            launch = Launch { test, cwd, env, interpreter, language, ..Launch::default() };
        }
        if let Some(args) = &self.args {
            launch.args.clone_from(args);
        }
        launch.stdin = self.stdin.clone().or(launch.stdin);
        Ok(launch)
    }
}

impl Recordings {
    /// Records the program of `first` again, as [`Recordings::run`] does.
    pub async fn run_again(
        &self,
        first: &RecordingAbout,
        change: &RunChange,
        patience: Duration,
        secrets: &Secrets,
    ) -> Result<(String, Option<RunEnd>), Failure> {
        let mut launch = change.applied(first.launch.clone())?;
        let checkout = match &change.commit {
            Some(commit) => {
                Some(Checkout::of(&launch.cwd, commit, &self.home.join("checkouts")).await?)
            }
            None => None,
        };
        let mut scope = first.scope.clone();
        if let Some(checkout) = &checkout {
            launch = there(launch, checkout);
            scope = scope.iter().map(|it| checkout.moved(it)).collect();
        }
        let told = change.told(checkout.as_ref().map(|it| it.commit.as_str()));
        let (focus, level) = (first.focus.clone(), first.level.clone());
        let ask = RecordAsk { launch, level, focus, scope, ..RecordAsk::default() };
        self.begin(ask, Some(told).filter(|it| !it.is_empty()), checkout, patience, secrets).await
    }
}

/// The same launch in another checkout of its project, with the modules of that one.
fn there(mut launch: Launch, checkout: &Checkout) -> Launch {
    launch.cwd = checkout.moved(&launch.cwd);
    launch.program = launch.program.map(|it| checkout.moved(&it));
    // Before any that is installed: a project is often installed as a link to the user's own tree.
    for adapter in adapter::all() {
        let known = |name: &str| launch.env.get(name).cloned().or_else(|| std::env::var(name).ok());
        let more = adapter.elsewhere(checkout.folder(), &known);
        launch.env.extend(more);
    }
    launch
}
