//! `timeline_query`: events since a seq, by kind, bounded; waits for the next one when asked to.

use std::time::Duration;

use holdpoint_engine::{
    budget::{self, Budget, Lines},
    event::Kind,
    failure::{Code, Failure},
    ids::Seq,
    limits,
    log::{Log, Page, Record},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Reply, Tool, nearest},
};

pub(crate) struct Query;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Only events after this seq; 0 is the beginning. Without it: the newest ones.
    since: Option<u64>,
    /// Only these kinds, e.g. `["note"]`.
    #[serde(default)]
    kinds: Vec<String>,
    /// At most this many events (1 to 1000, default 50).
    limit: Option<usize>,
    /// Wait up to this many seconds for a matching event when there is none yet (default 0).
    #[serde(default)]
    timeout_s: f64,
}

impl Tool for Query {
    const NAME: &'static str = "timeline_query";
    const ABOUT: &'static str = "What happened, in one order: events after `since`, by kind. With \
        `timeout_s` it waits for the next one. Pass the `seq` of any earlier answer as `since` and \
        nothing is missed.";
    const EFFECT: Effect = Effect::Reads;
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let wanted = Wanted::new(&params)?;
        let log = &app.engine.log;
        let since = params.since.map_or_else(|| wanted.newest(log), Seq);
        // The boundary has bounded `timeout_s`. A timer of zero would still wait for its next tick.
        let patience = Duration::try_from_secs_f64(params.timeout_s).unwrap_or_default();
        let mut page = wanted.page(log, since);
        if page.records.is_empty() && !patience.is_zero() {
            call.doing(format!("waiting for an event after seq {since}"));
            let waited = tokio::time::timeout(patience, wanted.wait(log, since)).await;
            page = waited.unwrap_or_else(|_| wanted.page(log, since));
        }
        render(&page, since, call.budget)
    }
}

/// Which events, and how many.
pub(crate) struct Wanted {
    kinds: Vec<Kind>,
    limit: usize,
}

impl Wanted {
    fn new(params: &Params) -> Result<Self, Failure> {
        let kinds = params.kinds.iter().map(|name| kind(name)).collect::<Result<_, _>>()?;
        let limit = params.limit.unwrap_or(limits::PAGE_EVENTS);
        if !(1..=limits::PAGE_EVENTS_MAX).contains(&limit) {
            return Err(Failure::new(Code::InvalidParams, format!("parameter `limit` is {limit}"))
                .hint(format!("`limit` is from 1 to {}", limits::PAGE_EVENTS_MAX)));
        }
        Ok(Wanted { kinds, limit })
    }

    pub(crate) fn kinds(kinds: Vec<Kind>) -> Self {
        Wanted { kinds, limit: limits::PAGE_EVENTS }
    }

    fn accepts(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    pub(crate) fn page(&self, log: &Log, since: Seq) -> Page {
        log.page(since, self.limit, |kind| self.accepts(kind))
    }

    pub(crate) fn newest(&self, log: &Log) -> Seq {
        log.before_newest(self.limit, |kind| self.accepts(kind))
    }

    async fn wait(&self, log: &std::sync::Arc<Log>, since: Seq) -> Page {
        let mut reader = log.reader(since);
        loop {
            let page = self.page(log, since);
            if !page.records.is_empty() {
                return page;
            }
            reader.batch(limits::NOTIFY_BATCH).await;
        }
    }
}

/// A kind by name, or a failure that names the nearest one.
pub(crate) fn kind(name: &str) -> Result<Kind, Failure> {
    Kind::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        let near = nearest(name, names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Failure::new(Code::InvalidParams, format!("no events are of kind `{name}`"))
            .hint(format!("{near}kinds: {}", names.join(", ")))
            .details(json!({ "parameter": "kinds", "expected": names }))
    })
}

/// As many events as the budget holds, and what is left.
fn render(page: &Page, since: Seq, budget: Budget) -> Result<Reply, Failure> {
    let mut lines = Lines::within(budget);
    if let Some((first, last)) = page.gap {
        lines.always(&format!("seq {first} to {last} are no longer kept"));
    }
    // Text and data say the same, and each costs the client its tokens.
    let shown: Vec<&Record> = page.records.iter().take_while(|it| lines.push(&line(it))).collect();
    let more = page.more + page.records.len() - shown.len();
    let reached = shown.last().map_or(since, |record| record.seq);
    if shown.is_empty() {
        lines.always(&format!("no event after seq {since}"));
    }
    if more > 0 {
        lines.always(&format!("… {more} more: timeline_query {{\"since\": {reached}}}"));
    }
    let next = if more > 0 { reached } else { page.head.max(reached) };
    let data = json!({
        "events": shown.iter().map(|record| record.to_json()).collect::<Vec<Value>>(),
        "more": more,
        "next_since": next,
        "gap": page.gap.map(|(first, last)| json!({ "first": first, "last": last })),
    });
    Ok(Answer::json(lines.into_text(), data).into())
}

fn line(record: &Record) -> String {
    let time = record.at.strftime("%H:%M:%S%.3f");
    let text = budget::cut(&record.event.line(), 400).replace('\n', " ⏎ ");
    format!("{} {time} {} {text}", record.seq, record.event.kind().as_str())
}
