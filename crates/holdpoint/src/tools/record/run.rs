//! `record_run`: run a program or a test with a recorder inside, and say what came of it.

use std::{path::PathBuf, time::Duration};

use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
    recordings::{
        AskError, DiffAsk, OpenRecording, RecordAsk, RecordingAbout, Recordings, RunEnd,
        STOPPED_END, UNSEEN_END, roots,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    app::App,
    tool::{Call, Effect, Family, Reply, Tool},
    tools::{debug::wait::patience, shared::params},
};

pub(crate) struct Run;

params! {
    #[derive(Deserialize, JsonSchema)]
    pub(crate) struct Params: launch {
        /// Again: `r7`, `last`.
        again: Option<String>,
        /// End it: `last`.
        stop: Option<String>,
        /// `auto` keeps lines while they are few.
        #[schemars(extend("enum" = ["auto", "calls", "lines"]))]
        level: Option<String>,
        /// Functions to keep whole.
        #[serde(default)]
        focus: Vec<String>,
        /// Default: the project.
        #[serde(default)]
        scope: Vec<PathBuf>,
        name: Option<String>,
        /// For its end; it is recorded on.
        timeout_s: Option<f64>,
    }
}

impl Tool for Run {
    const NAME: &'static str = "record_run";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Why does this test fail? Runs a program, script or test (Python, Node) to its end and \
        records every call, line and value; says the failure, its path, swallowed exceptions, odd results.";
    const EFFECT: Effect = Effect::Runs;
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    const GRACE: Duration = limits::START_GRACE;
    const TITLE: &'static str = "Record a run";
    const LONG: bool = true;
    const RARE: &'static [&'static str] = &["language", "stdin", "scope", "name", "stop"];
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let patience = patience(params.timeout_s, Self::TIMEOUT);
        let recordings = &app.engine.recordings;
        let again = params.again.as_deref().map(|it| before(&app, it)).transpose()?;
        let (id, end) = match &params.stop {
            Some(stop) => {
                let (id, end) = recordings.end(stop).await?;
                (id, Some(end))
            }
            None => {
                let ask = ask(params, again.clone())?;
                call.doing(format!("recording {}", ask.launch.title()));
                recordings.run(ask, patience, app.engine.secrets()).await?
            }
        };
        let same = match again.filter(|_| end.is_some()) {
            Some(first) => Some(same(recordings, &first.id, &id).await?),
            None => None,
        };
        let tokens = super::tokens(&call);
        let told =
            recordings.ask(Some(&id), move |opened| overview(opened, end.as_ref(), same, tokens));
        super::told(told.await?, &id)
    }
}

/// The one whose program is to run again.
fn before(app: &App, again: &str) -> Result<RecordingAbout, Failure> {
    let named = (again != "last" && again != "true").then_some(again);
    app.engine.recordings.about(named)
}

/// Whether a second run went as the first: what is found in one is else not true of the other.
async fn same(recordings: &Recordings, first: &str, second: &str) -> Result<String, Failure> {
    let (one, other) = (first.to_owned(), second.to_owned());
    let told = recordings.ask_both((first, second), move |a, b| {
        let found = a.recording.diff(&b.recording, &DiffAsk::default())?;
        Ok(match found.differences.first() {
            None => format!("again   the same calls as {one}"),
            Some(parted) => {
                let at = parted.one.as_ref().or(parted.other.as_ref());
                let at = at.map(|it| format!("{} {}", it.function, it.id)).unwrap_or_default();
                format!(
                    "again   not the same run as {one}: they part at {at}; record_diff {{\"a\": \"{one}\", \"b\": \"{other}\"}}"
                )
            }
        })
    });
    told.await
}

fn ask(params: Params, again: Option<RecordingAbout>) -> Result<RecordAsk, Failure> {
    let level = params.level.clone().unwrap_or_default();
    let (focus, name) = (params.focus.clone(), params.name.clone());
    let scope: Vec<PathBuf> =
        params.scope.iter().map(|it| crate::root::current().join(it)).collect();
    let Some(about) = again else {
        let launch = params.what().resolve()?;
        return Ok(RecordAsk { launch, level, focus, scope, name, is_ours: false });
    };
    let launch = about.launch.again(params.env.clone()).map_err(|missing| {
        let text =
            format!("its environment had secrets that were not kept: {}", missing.join(", "));
        Failure::new(Code::InvalidParams, text).hint("pass them anew in `env`")
    })?;
    let scope = if scope.is_empty() { about.scope } else { scope };
    Ok(RecordAsk { launch, level, focus, scope, name, is_ours: false })
}

/// What a run came to.
pub(crate) fn overview(
    opened: &OpenRecording,
    end: Option<&RunEnd>,
    same: Option<String>,
    tokens: usize,
) -> Result<String, AskError> {
    let overview = opened.recording.overview()?;
    let title = headline(&opened.about, end, &overview.verdict());
    let title = same.map_or(title.clone(), |same| format!("{title}\n{same}"));
    let output = if overview.calls > 0 { told_output(&opened.about) } else { "" };
    let text = overview.tell(&title, output, opened.bytes, tokens);
    Ok(match overview.calls {
        0 => format!("{text}\n{}", unrecorded(&opened.about)),
        _ => text,
    })
}

/// `r7  pytest tests/test_cart.py::test_total   FAILED in 0.9 s`.
fn headline(about: &RecordingAbout, end: Option<&RunEnd>, verdict: &str) -> String {
    let took = match (end, about.took_ms, about.program_pid) {
        (None, 0, Some(pid)) if about.is_live => {
            format!(" so far: it still runs, as process {pid}")
        }
        (None, 0, None) if about.is_live => {
            format!(" so far: it still runs; record_run {{\"stop\": \"{}\"}} ends it", about.id)
        }
        (None, 0, _) if about.ended.is_none() => {
            ", as far as it was written: whoever recorded it is gone".to_owned()
        }
        (_, took, _) => format!(" in {:.1} s", Duration::from_millis(took).as_secs_f64()),
    };
    if about.ended.as_deref() == Some(STOPPED_END) {
        return finished(about, &format!("stopped{took}"), end);
    }
    // What the recorder did not see, the guard did.
    let exit = about
        .ended
        .as_deref()
        .filter(|it| *it != UNSEEN_END)
        .filter(|_| !verdict.contains("FAILED") && about.exit_code != Some(0));
    let (verdict, exit) = match exit {
        Some(exit) if verdict == "ended" && about.exit_code.is_some() => {
            (format!("FAILED with {exit}"), String::new())
        }
        Some(exit) if verdict == "ended" => (format!("ended with {exit}"), String::new()),
        Some(exit) => (verdict.to_owned(), format!(", ended with {exit}")),
        None => (verdict.to_owned(), String::new()),
    };
    finished(about, &format!("{verdict}{took}{exit}"), end)
}

fn finished(about: &RecordingAbout, how: &str, end: Option<&RunEnd>) -> String {
    let trouble =
        end.and_then(|it| it.trouble.as_ref()).map(|it| format!("\n{it}")).unwrap_or_default();
    let note = about.note.as_ref().map(|it| format!("\nnote    {it}")).unwrap_or_default();
    let id = if about.id.is_empty() { "?" } else { &about.id };
    format!("{id}  {}   {how}{note}{trouble}", about.title)
}

/// What the program wrote, where it did not end well.
fn told_output(about: &RecordingAbout) -> &str {
    if about.exit_code == Some(0) { "" } else { &about.output }
}

/// What to say where nothing of the project ran, or no recorder did.
fn unrecorded(about: &RecordingAbout) -> String {
    let folders = if about.scope.is_empty() { roots(&about.launch) } else { about.scope.clone() };
    let folders: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
    let folders = folders.join(", ");
    let said = about.output.trim();
    // Its end; who cut it says so.
    let last = said.get(said.len().saturating_sub(600)..).unwrap_or(said);
    let cut = if last.len() < said.len() { "…" } else { "" };
    let output = if said.is_empty() { String::new() } else { format!("output  {cut}{last}\n") };
    format!("{output}no call of code below {folders} was recorded; `scope` names other folders")
}
