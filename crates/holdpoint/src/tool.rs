//! One tool is one type in one file; `tools.rs` holds the only list of them.
//!
//! This is the boundary every call passes, whichever face it came by: parameters are checked,
//! preconditions entered, the deadline and the cancellation kept, a panic caught.
//! A tool's body never begins with "if not stopped": what it needs is its [`Scope`].

mod answer;
mod call;
mod params;
mod schema;

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures::{FutureExt as _, future::BoxFuture};
use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
};
use rmcp::model::{JsonObject, Tool as McpTool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub(crate) use self::{
    answer::{Answer, Meta, Reply, envelope, refused},
    call::{Call, Caller, Common},
    params::nearest,
    schema::bare,
};
use crate::app::App;

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
}

pub(crate) trait Tool: 'static {
    /// `thing_action`; the part before the first `_` is the family.
    const NAME: &'static str;
    /// For the model that chooses: what it does and when to reach for it.
    const ABOUT: &'static str;
    const EFFECT: Effect;
    /// The deadline when the call does not say.
    const TIMEOUT: Duration = limits::TOOL_TIMEOUT;
    /// For a tool with a `timeout_s` of its own: how much longer it may take, for what comes before its wait.
    const GRACE: Duration = limits::TOOL_GRACE;
    /// The tools of seed 000 say everything in JSON, failures too, and pass over parameters that they do
    /// not know.
    const SPEAKS_JSON: bool = false;
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
    /// What that parameter means, for the model.
    const ABOUT_SESSION: &'static str = "Which session; not needed when one is live.";

    fn enter(call: &Call) -> impl Future<Output = Result<Self, Failure>> + Send;
}

impl Scope for App {
    async fn enter(call: &Call) -> Result<Self, Failure> {
        Ok(call.app.clone())
    }
}

/// One row of the registry: a tool with its types forgotten.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) effect: Effect,
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    speaks_json: bool,
    schema: fn() -> JsonObject,
    run: fn(Call, JsonObject) -> BoxFuture<'static, Result<Reply, Failure>>,
}

pub(crate) const fn entry<T: Tool>() -> Entry {
    Entry {
        name: T::NAME,
        about: T::ABOUT,
        effect: T::EFFECT,
        timeout: T::TIMEOUT,
        grace: T::GRACE,
        speaks_json: T::SPEAKS_JSON,
        schema: schema_of::<T>,
        run: run::<T>,
    }
}

impl Entry {
    /// `server_status` → `server`.
    pub(crate) fn family(&self) -> &'static str {
        self.name.split_once('_').map_or(self.name, |(family, _)| family)
    }

    /// A schema that no type of ours makes, for the conformance suite's fixtures.
    #[cfg(feature = "conformance")]
    pub(crate) const fn with_schema(self, schema: fn() -> JsonObject) -> Entry {
        Entry { schema, ..self }
    }

    /// The tool as clients see it. Made once per process: schemas take time to build.
    pub(crate) fn describe(&self) -> McpTool {
        let hints = ToolAnnotations::new()
            .read_only(self.effect == Effect::Reads)
            .destructive(self.effect == Effect::Destroys)
            .idempotent(matches!(self.effect, Effect::Reads | Effect::Sets))
            .open_world(false);
        McpTool::new(self.name, self.about, (self.schema)()).with_annotations(hints)
    }
}

/// The single way into a tool. Always answers, within the deadline.
pub(crate) async fn call(
    entry: &'static Entry,
    schema: &JsonObject,
    caller: Caller,
    arguments: JsonObject,
) -> Result<Reply, Failure> {
    match enter(entry, schema, caller, arguments).await {
        Err(failure) if entry.speaks_json => Ok(Reply::Refused(refused(&failure))),
        done => done,
    }
}

async fn enter(
    entry: &'static Entry,
    schema: &JsonObject,
    caller: Caller,
    mut arguments: JsonObject,
) -> Result<Reply, Failure> {
    if entry.speaks_json {
        let known = schema.get("properties").and_then(|it| it.as_object());
        let common = ["timeout_s", "budget_tokens"];
        arguments.retain(|name, value| {
            // A result of `null` is one.
            let given = !value.is_null() || name == "fake_result";
            let is_known = known.is_some_and(|it| it.contains_key(name));
            given && (is_known || common.contains(&name.as_str()))
        });
    } else {
        // To most models an explicit null means "not given".
        arguments.retain(|_, value| !value.is_null());
    }
    let common = Common::take(&mut arguments, schema)?;
    params::check(entry.name, schema, &arguments)?;
    let deadline = common.deadline(entry, caller.app.tool_timeout);
    let promised = common.promised(entry, caller.app.tool_timeout);
    let gone = caller.gone.clone();
    let call = Call::new(caller, common.budget, common.session);
    let cancel = call.cancel.clone();
    let shutdown = call.app.shutdown.clone();
    let engine = std::sync::Arc::clone(&call.app.engine);
    let alive = call.keep_client_informed(entry.name, promised);
    let work = AssertUnwindSafe((entry.run)(call, arguments)).catch_unwind();
    let started = Instant::now();
    tokio::select! {
        // A finished answer is never thrown away for a deadline that passed in the same moment.
        biased;
        done = work => {
            let done = done.unwrap_or_else(|_panic| Err(panicked(entry.name)));
            let done = done.map(|reply| reply.with_note(engine.take_restored()));
            done.map_err(|failure| params::explain(schema, failure))
        }
        // Before the client's own cancellation, which follows from it.
        () = shutdown.cancelled() => {
            Err(Failure::new(Code::ShuttingDown, "the server is stopping"))
        }
        () = cancel.cancelled() => Err(cancelled(entry.name, started.elapsed())),
        () = gone.cancelled() => Err(cancelled(entry.name, started.elapsed())),
        () = tokio::time::sleep(deadline) => Err(timed_out(entry.name, deadline)),
        () = alive => Err(Failure::internal("the progress reporter ended")),
    }
}

/// `session_id` is described once, here, for every tool whose scope takes it.
fn schema_of<T: Tool>() -> JsonObject {
    let mut schema = schema::of::<T::Params>();
    if T::Scope::TAKES_SESSION
        && let Some(properties) = schema.get_mut("properties").and_then(|it| it.as_object_mut())
    {
        let about = T::Scope::ABOUT_SESSION;
        let described = serde_json::json!({ "type": "string", "description": about });
        properties.insert("session_id".to_owned(), described);
    }
    schema
}

fn run<T: Tool>(call: Call, arguments: JsonObject) -> BoxFuture<'static, Result<Reply, Failure>> {
    Box::pin(async move {
        let params = params::parse::<T::Params>(T::NAME, arguments)?;
        // Whatever is about programs begins with what an earlier server left.
        if ["debug_", "breakpoint_", "tracepoint_"].iter().any(|it| T::NAME.starts_with(it)) {
            call.app.engine.memory().await;
        }
        let scope = T::Scope::enter(&call).await?;
        T::run(scope, params, call).await
    })
}

fn panicked(tool: &'static str) -> Failure {
    Failure::internal(format!("`{tool}` panicked"))
}

fn cancelled(tool: &'static str, after: Duration) -> Failure {
    Failure::new(
        Code::Cancelled,
        format!("`{tool}` was cancelled after {:.1} s", after.as_secs_f64()),
    )
}

fn timed_out(tool: &'static str, deadline: Duration) -> Failure {
    Failure::new(Code::Timeout, format!("`{tool}` was not done after {} s", deadline.as_secs_f64()))
        .hint("pass a larger `timeout_s`, up to 3600")
}

/// For `const _: () = assert!(unique(TOOLS))`: a duplicate name does not compile.
pub(crate) const fn unique(entries: &[Entry]) -> bool {
    let mut rest = entries;
    while let [first, others @ ..] = rest {
        let mut tail = others;
        while let [second, more @ ..] = tail {
            if same(first.name.as_bytes(), second.name.as_bytes()) {
                return false;
            }
            tail = more;
        }
        rest = others;
    }
    true
}

pub(crate) const fn same(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

#[cfg(test)]
mod tests;
