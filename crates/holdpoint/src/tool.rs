//! One tool is one type in one file; `tools.rs` holds the only list of them.
//!
//! This is the boundary every call passes, whichever face it came by: parameters are checked,
//! preconditions entered, the deadline and the cancellation kept, a panic caught.
//! A tool's body never begins with "if not stopped": what it needs is its [`Scope`].

mod answer;
mod call;
pub(crate) mod entry;
mod family;
mod params;
mod schema;

use std::time::{Duration, Instant};

use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
};
use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub(crate) use self::{
    answer::{Answer, Meta, Reply, Shape, envelope, refused, word},
    call::{Call, Caller, Common},
    entry::{Described, Entry, RunFuture, Size, Unlisted, entry, first_sentence, same, unique},
    family::{AnswerForm, Family},
    params::{check_described, echo, nearest},
    schema::{bare, published_whole as published},
};
use crate::{app::App, panics};

/// What a tool does to the world; becomes the MCP annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Changes nothing.
    Reads,
    /// Changes something; again changes it again.
    Writes,
    /// Changes something; again changes nothing more.
    Sets,
    /// Ends or removes something that cannot be had back.
    Destroys,
    /// Sets something whose expressions run in the program at each hit, and may do anything there.
    Arms,
    /// Runs what the call names, at once; what that does, nobody knows before.
    Runs,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        ToolAnnotations::new()
            .read_only(self == Effect::Reads)
            .destructive(matches!(self, Effect::Destroys | Effect::Arms | Effect::Runs))
            .idempotent(matches!(self, Effect::Reads | Effect::Sets | Effect::Arms))
            .open_world(matches!(self, Effect::Arms | Effect::Runs))
    }
}

pub(crate) trait Tool: 'static {
    /// `thing_action`.
    const NAME: &'static str;
    const FAMILY: &'static Family;
    /// For the model that chooses: what it does and when to reach for it. It is search text: the first
    /// sentence is in the words of somebody who needs it.
    const ABOUT: &'static str;
    const EFFECT: Effect;
    /// For the person who approves.
    const TITLE: &'static str = "";
    /// Whether its answer can be long, so that `budget_tokens` is worth declaring.
    const LONG: bool = false;
    /// Parameters that `--toolset slim` leaves out.
    const RARE: &'static [&'static str] = &[];
    /// Names that parameters had before, each with its present one.
    const OLD_NAMES: &'static [(&'static str, &'static str)] = &[];
    /// The deadline when the call does not say.
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    /// For a tool with a `timeout_s` of its own: how much longer it may take, for what comes before its wait.
    const GRACE: Duration = limits::TOOL_GRACE;
    /// How it answers; as its family does, unless it says otherwise.
    const FORM: AnswerForm = Self::FAMILY.form;
    /// Parameters of which `null` is a value. To most models one that is `null` was not given.
    const NULLS: &'static [&'static str] = &[];
    /// Whether it is carried out elsewhere: then its calls wait for their turn, and count for nothing here.
    const TAKES_TURNS: bool = false;
    /// What must hold before `run`.
    type Scope: Scope;
    type Params: DeserializeOwned + JsonSchema + Send + 'static;

    fn run(
        scope: Self::Scope,
        params: Self::Params,
        call: Call,
    ) -> impl Future<Output = Result<Reply, Failure>> + Send;
}

/// A precondition as a type: its value is the proof.
pub(crate) trait Scope: Sized + Send {
    /// Whether the tool takes the common parameter `session_id`.
    const TAKES_SESSION: bool = false;

    fn enter(call: &Call) -> impl Future<Output = Result<Self, Failure>> + Send;
}

impl Scope for App {
    async fn enter(call: &Call) -> Result<Self, Failure> {
        Ok(call.app.clone())
    }
}

/// The single way into a tool. Always answers, within the deadline.
pub(crate) async fn call(
    entry: &Entry,
    schema: &JsonObject,
    caller: Caller,
    arguments: JsonObject,
) -> Result<Reply, Failure> {
    let speaks_json = entry.speaks_json_with(&arguments);
    let app = caller.app.clone();
    let _under_way = app.activity.begin();
    let done = match enter(entry, schema, caller, arguments).await {
        Err(failure) if speaks_json => Ok(Reply::Refused(refused(&word(failure.code), &failure))),
        done => done.map_err(|failure| entry.advised(failure)),
    };
    app.catalogue.mentions.retell(done)
}

async fn enter(
    entry: &Entry,
    schema: &JsonObject,
    caller: Caller,
    mut arguments: JsonObject,
) -> Result<Reply, Failure> {
    params::bounded(&arguments)?;
    let speaks_json = entry.speaks_json_with(&arguments);
    params::drop_nulls(entry, schema, &mut arguments);
    params::rename(entry, &mut arguments)?;
    let ignored = match speaks_json {
        true => params::pass_over(entry, schema, &mut arguments)?,
        false => None,
    };
    let common = Common::take(entry, &mut arguments, schema)?;
    if let Err(wrong) = params::check(entry, schema, &arguments) {
        return wrong.told(speaks_json);
    }
    let deadline = common.deadline(entry, caller.app.tool_timeout);
    let promised = common.promised(entry, caller.app.tool_timeout);
    let told = common.told(entry, caller.app.tool_timeout);
    let gone = caller.gone.clone();
    let shape = caller.shape;
    let budget = if shape == Shape::Perhaps { common.budget.halved() } else { common.budget };
    let mut call = Call::new(caller, budget, common.session).saying(entry.name(), &arguments);
    call.asked_budget = common.asked_budget;
    call.until = tokio::time::Instant::now() + deadline;
    let cancel = call.cancel.clone();
    let shutdown = call.app.shutdown.clone();
    let app = call.app.clone();
    let alive = call.keep_client_informed(entry.name(), promised);
    let past = call.past(deadline);
    arguments.extend(told);
    let work = panics::caught(in_turn(entry, call, arguments));
    let started = Instant::now();
    tokio::select! {
        // A finished answer is never thrown away for a deadline that passed in the same moment.
        biased;
        done = work => {
            let done = done.unwrap_or_else(|_panic| Err(panicked(entry.name())));
            let restored = app.engine.take_restored();
            let trouble = store_note(entry, &app);
            let done = done
                .map(|it| it.with_note(ignored).with_note(restored).with_note(trouble));
            // Before it is cut: said otherwise it may be longer.
            let done = app.catalogue.mentions.retell(done);
            let done = answer::without_secrets(app.engine.secrets(), done);
            let done = done.map(|reply| reply.within(common.budget, shape));
            done.map_err(|failure| params::explain(schema, failure))
        }
        // Before the client's own cancellation, which follows from it.
        () = shutdown.cancelled() => {
            Err(Failure::new(Code::ShuttingDown, "the server is stopping"))
        }
        () = cancel.cancelled() => Err(cancelled(entry.name(), started.elapsed())),
        () = gone.cancelled() => Err(cancelled(entry.name(), started.elapsed())),
        doing = past => Err(timed_out(entry.name(), started.elapsed(), deadline, doing)),
        () = alive => Err(Failure::internal("the progress reporter ended")),
    }
}

/// The work of one of our tools for a person at the page: the same parameters, preconditions and calls of the engine.
pub(crate) async fn for_person(
    app: App,
    name: &str,
    session: Option<String>,
    arguments: JsonObject,
) -> Result<Reply, Failure> {
    let mut all = crate::tools::TOOLS.iter().chain(crate::tools::external::every());
    let Some(entry) = all.find(|it| it.name() == name) else {
        return Err(Failure::internal(format!("no tool `{name}`")));
    };
    let secrets = app.clone();
    let call = Call::of_person(app, session).saying(name, &arguments);
    let done = panics::caught(entry.run(call, arguments)).await;
    let done = done.unwrap_or_else(|_panic| Err(panicked(name)));
    answer::without_secrets(secrets.engine.secrets(), done)
}

/// Runs it, when it is its turn.
async fn in_turn(entry: &Entry, call: Call, arguments: JsonObject) -> Result<Reply, Failure> {
    let _turn = if entry.takes_turns { Some(call.turn().await?) } else { None };
    entry.run(call, arguments).await
}

/// What the tools of these families show or set is kept in the store.
const KEPT: &[&str] = &["breakpoint", "tracepoint", "timeline"];

/// Whoever depends on the store hears when it cannot be written.
fn store_note(entry: &Entry, app: &App) -> Option<String> {
    let depends = KEPT.iter().any(|family| entry.is_in(family));
    let trouble = depends.then(|| app.engine.store_trouble()).flatten()?;
    Some(format!("nothing is kept now: {trouble}"))
}

/// What the boundary takes for the tool is declared here, for every tool that takes it: several clients
/// let a model pass nothing that is not.
fn schema_of<T: Tool>() -> JsonObject {
    let mut schema = schema::of::<T::Params>();
    let Some(properties) = schema.get_mut("properties").and_then(|it| it.as_object_mut()) else {
        return schema;
    };
    if T::Scope::TAKES_SESSION {
        let session = serde_json::json!({ "type": "string" });
        properties.insert("session_id".to_owned(), session);
    }
    if T::LONG {
        properties.insert("budget_tokens".to_owned(), serde_json::json!({ "type": "integer" }));
    }
    schema
}

fn panicked(tool: &str) -> Failure {
    Failure::internal(format!("`{tool}` panicked"))
}

fn cancelled(tool: &str, after: Duration) -> Failure {
    Failure::new(
        Code::Cancelled,
        format!("`{tool}` was cancelled after {:.1} s", after.as_secs_f64()),
    )
}

/// One that was put off is told as long as it took.
fn timed_out(tool: &str, after: Duration, deadline: Duration, doing: Option<String>) -> Failure {
    let text = match doing {
        None => format!("`{tool}` was not done after {} s", deadline.as_secs_f64()),
        Some(doing) => {
            format!("`{tool}` was not done after {} s; it came to: {doing}", after.as_secs())
        }
    };
    Failure::new(Code::Timeout, text).hint("pass a larger `timeout_s`, up to 3600")
}

#[cfg(test)]
mod tests;
