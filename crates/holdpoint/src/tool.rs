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
    answer::{Answer, Meta, Reply, Shape, envelope, refused},
    call::{Call, Caller, Common},
    params::{echo, nearest},
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
    /// `thing_action`; the part before the first `_` is the family.
    const NAME: &'static str;
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
    /// The tools of seed 000 say everything in JSON, failures too, and pass over parameters that they do
    /// not know, with a note.
    const SPEAKS_JSON: bool = false;
    /// Parameters with which such a tool is one of the line breakpoints', and speaks as they do.
    const WORDS_WITH: &'static [&'static str] = &[];
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

/// One row of the registry: a tool with its types forgotten.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) title: &'static str,
    pub(crate) effect: Effect,
    rare: &'static [&'static str],
    old_names: &'static [(&'static str, &'static str)],
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    speaks_json: bool,
    words_with: &'static [&'static str],
    schema: fn() -> JsonObject,
    publish: fn(&JsonObject, Size) -> JsonObject,
    run: fn(Call, JsonObject) -> BoxFuture<'static, Result<Reply, Failure>>,
}

pub(crate) const fn entry<T: Tool>() -> Entry {
    Entry {
        name: T::NAME,
        about: T::ABOUT,
        title: T::TITLE,
        effect: T::EFFECT,
        rare: T::RARE,
        old_names: T::OLD_NAMES,
        timeout: T::TIMEOUT,
        grace: T::GRACE,
        speaks_json: T::SPEAKS_JSON,
        words_with: T::WORDS_WITH,
        schema: schema_of::<T>,
        publish: schema::published,
        run: run::<T>,
    }
}

impl Entry {
    /// `server_status` → `server`.
    pub(crate) fn family(&self) -> &'static str {
        self.name.split_once('_').map_or(self.name, |(family, _)| family)
    }

    /// Whether a call with these parameters is answered in JSON, failures too.
    fn speaks_json(&self, arguments: &JsonObject) -> bool {
        let given = |name: &&str| arguments.get(*name).is_some_and(|value| !value.is_null());
        self.speaks_json && !self.words_with.iter().any(given)
    }

    /// A schema that no type of ours makes, for the conformance suite's fixtures.
    #[cfg(feature = "conformance")]
    pub(crate) const fn with_schema(self, schema: fn() -> JsonObject) -> Entry {
        Entry { schema, publish: |schema, _| schema.clone(), ..self }
    }

    /// What a call's parameters are checked against.
    pub(crate) fn schema(&self, size: Size) -> JsonObject {
        let mut schema = (self.schema)();
        if size == Size::Slim
            && let Some(properties) = schema.get_mut("properties").and_then(|it| it.as_object_mut())
        {
            properties.retain(|name, _| !self.rare.contains(&name.as_str()));
        }
        schema
    }

    /// The tool as clients see it, for a checked schema of its own.
    pub(crate) fn describe(&self, schema: &JsonObject, size: Size) -> McpTool {
        let about = match size {
            Size::Whole => self.about,
            Size::Slim => first_sentence(self.about),
        };
        let tool = McpTool::new(self.name, about, (self.publish)(schema, size))
            .with_annotations(self.effect.annotations());
        match self.title {
            "" => tool,
            title => tool.with_title(title),
        }
    }
}

/// How many words a tool may take to describe itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Whole,
    /// The first sentence, and parameters by their names.
    Slim,
}

/// Up to its full stop, with it.
pub(crate) fn first_sentence(text: &str) -> &str {
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

/// The single way into a tool. Always answers, within the deadline.
pub(crate) async fn call(
    entry: &'static Entry,
    schema: &JsonObject,
    caller: Caller,
    arguments: JsonObject,
) -> Result<Reply, Failure> {
    let speaks_json = entry.speaks_json(&arguments);
    let app = caller.app.clone();
    let _under_way = app.activity.begin();
    let done = match enter(entry, schema, caller, arguments).await {
        Err(failure) if speaks_json => Ok(Reply::Refused(refused(&failure))),
        done => done,
    };
    app.catalogue.mentions.retell(done)
}

async fn enter(
    entry: &'static Entry,
    schema: &JsonObject,
    caller: Caller,
    mut arguments: JsonObject,
) -> Result<Reply, Failure> {
    params::bounded(&arguments)?;
    let speaks_json = entry.speaks_json(&arguments);
    // To most models an explicit null means "not given"; but a result of `null` is one.
    arguments.retain(|name, value| !value.is_null() || (speaks_json && name == "fake_result"));
    params::rename(entry, &mut arguments)?;
    let ignored = match speaks_json {
        true => params::pass_over(entry, schema, &mut arguments)?,
        false => None,
    };
    let common = Common::take(&mut arguments, schema)?;
    params::check(entry.name, schema, &arguments)?;
    let deadline = common.deadline(entry, caller.app.tool_timeout);
    let promised = common.promised(entry, caller.app.tool_timeout);
    let gone = caller.gone.clone();
    let shape = caller.shape;
    let budget = if shape == Shape::Perhaps { common.budget.halved() } else { common.budget };
    let mut call = Call::new(caller, budget, common.session);
    call.asked_budget = common.asked_budget;
    let cancel = call.cancel.clone();
    let shutdown = call.app.shutdown.clone();
    let app = call.app.clone();
    let alive = call.keep_client_informed(entry.name, promised);
    let work = AssertUnwindSafe((entry.run)(call, arguments)).catch_unwind();
    let started = Instant::now();
    tokio::select! {
        // A finished answer is never thrown away for a deadline that passed in the same moment.
        biased;
        done = work => {
            let done = done.unwrap_or_else(|_panic| Err(panicked(entry.name)));
            let restored = app.engine.take_restored();
            let done = done.map(|it| it.with_note(ignored).with_note(restored));
            // Before it is cut: said otherwise it may be longer.
            let done = app.catalogue.mentions.retell(done);
            let done = done.map(|reply| reply.within(common.budget, shape));
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
