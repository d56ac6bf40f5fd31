//! The questions of a shell: the same as the tools', and the files themselves.

use std::process::ExitCode;

use anyhow::Context as _;
use holdpoint_engine::{
    limits,
    recordings::{CallOrder, CallsAsk, HistoryAsk, OpenRecording, Recordings, RunChange},
    secrets::Secrets,
};

use super::{AskedRecording, RecordVerb, line};
use crate::tools::record::{diff, frame, run};

pub(super) async fn answer(recordings: &Recordings, what: RecordVerb) -> anyhow::Result<ExitCode> {
    let text = match what {
        RecordVerb::Show(of) => show(recordings, of).await?,
        RecordVerb::Calls { of, under, function, condition, n, slowest } => {
            let AskedRecording { recording, tokens } = of;
            let order = if slowest { CallOrder::Slowest } else { CallOrder::First };
            let question = move |opened: &OpenRecording| {
                let under =
                    under.as_deref().map(|it| opened.recording.call_named(it)).transpose()?;
                let ask =
                    CallsAsk { under, function, condition, order, limit: n, ..CallsAsk::default() };
                Ok(opened.recording.calls(&ask)?.tell(&ask, tokens))
            };
            recordings.ask(recording.as_deref(), question).await?
        }
        RecordVerb::Frame { of, call, lines } => {
            let AskedRecording { recording, tokens } = of;
            let params = frame::Params::of(Some(call), None, None, lines);
            let question =
                move |opened: &OpenRecording| frame::tell(&opened.recording, &params, tokens);
            recordings.ask(recording.as_deref(), question).await?
        }
        RecordVerb::History { of, name, within, before, when } => {
            let AskedRecording { recording, tokens } = of;
            let question = move |opened: &OpenRecording| {
                let before =
                    before.as_deref().map(|it| opened.recording.spot_named(it)).transpose()?;
                let ask = HistoryAsk { name, within, before, when, ..HistoryAsk::default() };
                Ok(opened.recording.history(&ask)?.tell(&ask, tokens))
            };
            recordings.ask(recording.as_deref(), question).await?
        }
        RecordVerb::Diff { a, b, commit, test, env, ignore, tokens } => {
            let env = env.iter().map(|it| variable(it)).collect::<anyhow::Result<_>>()?;
            let timeout_s = Some(limits::RECORDED_RUN.as_secs_f64());
            let change = RunChange { commit, test, env, ..Default::default() };
            let params = diff::Params { a, b, change, ignore, timeout_s, ..Default::default() };
            diff::compare(recordings, params, tokens, &Secrets::default()).await?.1
        }
        files => of_files(recordings, files).await?,
    };
    line(&text);
    Ok(ExitCode::SUCCESS)
}

/// `NAME=VALUE`.
fn variable(text: &str) -> anyhow::Result<(String, String)> {
    let (name, value) =
        text.split_once('=').with_context(|| format!("`{text}` is not NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

async fn show(recordings: &Recordings, of: AskedRecording) -> anyhow::Result<String> {
    let AskedRecording { recording, tokens } = of;
    let question = move |opened: &OpenRecording| run::overview(opened, None, None, tokens);
    Ok(recordings.ask(recording.as_deref(), question).await?)
}

async fn of_files(recordings: &Recordings, what: RecordVerb) -> anyhow::Result<String> {
    Ok(match what {
        RecordVerb::Export { recording, file } => {
            let bytes = recordings.export(Some(&recording), file.clone()).await?;
            format!("{recording} → {} ({bytes} bytes)", file.display())
        }
        RecordVerb::Import { file } => {
            let about = recordings.import(file).await?;
            format!("{}  {}", about.id, about.title)
        }
        RecordVerb::Delete { recording } => {
            recordings.delete(&recording)?;
            format!("{recording} is deleted")
        }
        _ => {
            let all = recordings.list();
            let rows = all.iter().map(|it| {
                let name = it.name.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
                let ended = it.ended.as_deref().unwrap_or("still runs");
                let at = it.started_at.map(|it| it.to_string()).unwrap_or_default();
                format!(
                    "{}{name}  {}  {ended}  {at}  {} KB",
                    it.id,
                    it.title,
                    it.bytes.div_ceil(1_024)
                )
            });
            match all.is_empty() {
                true => {
                    "there is no recording yet; `holdpoint record -- COMMAND` makes one".to_owned()
                }
                false => rows.collect::<Vec<_>>().join("\n"),
            }
        }
    })
}
