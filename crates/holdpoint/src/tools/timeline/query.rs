//! `timeline_query`: what happened, since a seq, by kind, session and text, bounded; waits for the next
//! event when asked to. What the log no longer has, and what earlier servers saw, comes from the store.

use std::{sync::Arc, time::Duration};

use holdpoint_engine::{
    budget::{self, Budget, Lines},
    event::EventKind,
    failure::{Code, Failure},
    ids::Seq,
    limits,
    log::{Log, Read},
    timeline::{Ask, Fact, Facts, Timeline},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    servers,
    tool::{Answer, Call, Effect, Family, Reply, Tool, nearest},
    tools::session::Any,
};

pub(crate) struct Query;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// A `seq`; 0 is the beginning.
    since: Option<u64>,
    until: Option<u64>,
    /// `stopped`, `exception`, `output`, `note`, …
    #[serde(default)]
    kinds: Vec<String>,
    #[serde(rename = "match")]
    text: Option<String>,
    limit: Option<usize>,
    /// An earlier server's.
    run: Option<i64>,
    /// Seconds to wait.
    #[serde(default)]
    timeout_s: f64,
}

impl Tool for Query {
    const NAME: &'static str = "timeline_query";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "What happened, in order: stops, output, exceptions, calls, \
        notes. `timeout_s` waits for the next.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Timeline";
    const LONG: bool = true;
    type Scope = Any;
    type Params = Params;

    async fn run(at: Any, params: Params, call: Call) -> Result<Reply, Failure> {
        let ask = ask(&params, at.id.clone())?;
        let engine = &at.app.engine;
        // The boundary has bounded `timeout_s`. A timer of zero would still wait for its next tick.
        let patience = Duration::try_from_secs_f64(params.timeout_s).unwrap_or_default();
        let mut told = engine.timeline(&ask).await?;
        if told.facts.is_empty() && !patience.is_zero() && ask.run.is_none() {
            let since = told.since;
            call.doing(format!("waiting for an event after seq {since}"));
            let ask = Ask { since: Some(since), ..ask.clone() };
            let next = next(&engine.log, &ask, told.head);
            if tokio::time::timeout(patience, next).await.is_ok() {
                told = engine.timeline(&ask).await?;
            }
        }
        let runs = engine.kept().filter(|_| params.since.is_none_or(|since| since == 0));
        render(&told, &params, runs.filter(|_| ask.run.is_none()), call.budget)
    }
}

fn ask(params: &Params, session: Option<String>) -> Result<Ask, Failure> {
    let limit = params.limit.unwrap_or(limits::PAGE_EVENTS);
    if !(1..=limits::PAGE_EVENTS_MAX).contains(&limit) {
        return Err(Failure::new(Code::InvalidParams, format!("parameter `limit` is {limit}"))
            .hint(format!("`limit` is from 1 to {}", limits::PAGE_EVENTS_MAX)));
    }
    Ok(Ask {
        run: params.run,
        since: params.since.map(Seq),
        until: params.until.map(Seq),
        labels: params.kinds.iter().map(|name| label(name)).collect::<Result<_, _>>()?,
        session,
        text: params.text.clone().filter(|text| !text.is_empty()),
        limit,
    })
}

/// Returns when something after `head` matches.
async fn next(log: &Arc<Log>, ask: &Ask, head: Seq) {
    let mut reader = log.reader(head.max(ask.since.unwrap_or_default()));
    let accepts = |read: &Read| match read {
        Read::Record(record) => ask.accepts(record),
        // It may have been among those; the answer will say.
        Read::Gap { .. } => true,
    };
    while !reader.batch(limits::NOTIFY_BATCH).await.iter().any(accepts) {}
}

/// A kind by name, or a failure that names the nearest one.
pub(crate) fn label(name: &str) -> Result<&'static str, Failure> {
    EventKind::labels().find(|label| *label == name).ok_or_else(|| {
        let names: Vec<&str> = EventKind::labels().collect();
        let near = nearest(name, names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Failure::new(Code::InvalidParams, format!("no events are of kind `{name}`"))
            .hint(format!("{near}kinds: {}", names.join(", ")))
            .details(json!({ "parameter": "kinds", "expected": names }))
    })
}

/// As many events as the budget holds, and what is left.
fn render(
    told: &Facts,
    params: &Params,
    kept: Option<&Timeline>,
    budget: Budget,
) -> Result<Reply, Failure> {
    let mut lines = Lines::within(budget);
    if let Some((first, last)) = told.gap {
        lines.always(&format!("seq {first} to {last} are no longer kept"));
    }
    // Text and data say the same, and each costs the client its tokens.
    let data = |fact: &Fact| fact.to_json().to_string().len() + 1;
    let shown: Vec<&Fact> =
        told.facts.iter().take_while(|it| lines.push_beside(&line(it), data(it))).collect();
    let more = told.more + told.facts.len() - shown.len();
    let reached = shown.last().map_or(told.since, |fact| fact.seq());
    if shown.is_empty() {
        lines.always(&format!("no event after seq {}", told.since));
    }
    if more > 0 {
        lines.always(&rest(params, more, reached));
    }
    let running = servers::running();
    for run in kept.iter().flat_map(|kept| &kept.earlier) {
        let (id, events) = (run.id.0, run.events);
        let until = run.last_at.map(|at| format!(" until {}", at.strftime("%F %T")));
        let until = until.unwrap_or_default();
        // Several share a home, and the store tells only of their beginnings.
        match running.iter().find(|it| it.pid == run.run.pid) {
            Some(server) => {
                let folder = server.folder.display();
                lines.always(&format!("the server of {folder}, which runs: {{\"run\": {id}}}"));
            }
            None => lines
                .always(&format!("an earlier server{until}, {events} events: {{\"run\": {id}}}")),
        }
    }
    let next = if more > 0 { reached } else { told.head.max(reached) };
    let data = json!({
        "events": shown.iter().map(|fact| fact.to_json()).collect::<Vec<Value>>(),
        "more": more,
        "next_since": next,
        "gap": told.gap.map(|(first, last)| json!({ "first": first, "last": last })),
        "run": params.run.or(kept.map(|kept| kept.run.0)),
        "earlier_runs": kept.map(|kept| kept.earlier.iter().map(|run| run.id.0).collect::<Vec<_>>()),
    });
    Ok(Answer::json(lines.into_text(), data).into())
}

/// The call that shows what was left out.
fn rest(params: &Params, more: usize, reached: Seq) -> String {
    let call = match params.run {
        Some(run) => json!({ "since": reached, "run": run }),
        None => json!({ "since": reached }),
    };
    format!("… {more} more: timeline_query {call}")
}

fn line(fact: &Fact) -> String {
    let time = fact.at().strftime("%H:%M:%S%.3f");
    let text = budget::cut(&fact.text(), limits::TIMELINE_TEXT).replace('\n', " ⏎ ");
    format!("{} {time} {} {text}", fact.seq(), fact.kind())
}
