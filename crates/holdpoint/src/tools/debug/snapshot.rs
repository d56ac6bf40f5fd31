//! `debug_snapshot`: keep what the stopped program holds, to compare it with later.

use holdpoint_engine::{
    budget,
    failure::{Code, Failure},
    inspect, limits,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::StoppedSession,
};

pub(crate) struct Snapshot;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    label: Option<String>,
    /// 0 to 5.
    depth: Option<usize>,
}

impl Tool for Snapshot {
    const NAME: &'static str = "debug_snapshot";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Keep the variables of this stop, to see with `debug_diff` what \
        changed.";
    const EFFECT: Effect = Effect::Writes;
    const TITLE: &'static str = "Snapshot";
    type Scope = StoppedSession;
    type Params = Params;

    async fn run(at: StoppedSession, params: Params, call: Call) -> Result<Reply, Failure> {
        let depth = depth(params.depth)?;
        let label = params.label.as_deref().map(str::trim).filter(|label| !label.is_empty());
        if let Some(label) = label {
            check(label)?;
        }
        let snapshots = &call.app.engine.snapshots;
        let name = snapshots.name();
        call.doing("reading the program's variables");
        let taken =
            inspect::Snapshot::take(at.shown.standing(at.session.id), &at.backend, name, depth)
                .await?;
        let (taken, gone) = snapshots.keep(taken.labelled(label));
        let title = super::diff::title(&taken, at.session.cwd());
        let mut text = format!("{title}: {} values, depth {depth}", taken.values());
        if let Some(why) = taken.cut {
            text += &format!("\nnot everything: {why}; a smaller `depth` looks at more of the top");
        }
        if let Some(gone) = &gone {
            text += &format!("\n`{gone}` was forgotten: {} are kept", limits::SNAPSHOTS);
        }
        let data = json!({
            "snapshot": taken.name, "label": taken.label, "session_id": taken.session,
            "seq": taken.seq, "values": taken.values(), "depth": depth, "cut": taken.cut,
            "forgotten": gone,
        });
        Ok(Answer::new(text, &data)?.into())
    }
}

fn depth(asked: Option<usize>) -> Result<usize, Failure> {
    let depth = asked.unwrap_or(limits::SNAPSHOT_DEPTH);
    let most = limits::SNAPSHOT_DEPTH_MAX;
    if depth > most {
        return Err(Failure::new(Code::InvalidParams, format!("parameter `depth` is {depth}"))
            .hint(format!("`depth` is from 0 to {most}")));
    }
    Ok(depth)
}

/// A label must not be taken for something else that `debug_diff` takes.
fn check(label: &str) -> Result<(), Failure> {
    let shown = budget::cut(label, limits::LABEL_BYTES);
    let wrong = |why: &str| {
        Err(Failure::new(Code::InvalidParams, format!("the label `{shown}` {why}"))
            .hint("use a word such as `before`"))
    };
    if label.len() > limits::LABEL_BYTES {
        return wrong("is too long");
    }
    if matches!(label, "now" | "previous") || label.parse::<u64>().is_ok() {
        return wrong("means something else to `debug_diff`");
    }
    Ok(())
}
