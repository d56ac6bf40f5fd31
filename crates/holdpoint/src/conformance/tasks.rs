//! The tasks extension (SEP-2663): calls that answer with a task at once and are done later.
//! Holdpoint offers none; the SDK's task manager keeps these, behind our transport and boundary.

use std::time::Duration;

use holdpoint_engine::failure::{Code, Failure};
use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult,
        InputRequest,
    },
    task_manager::{TaskContext, TaskExit, TaskOptions},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    fixture::{Client, Fixture, Nothing, text},
    rounds,
};

type Done = Result<CallToolResult, TaskExit>;

/// Calls in flight are bounded by the handler; tasks outlive their calls. The suite runs one
/// at a time and cancels what it leaves.
const RUNNING_MAX: usize = 64;

/// These cannot be done within a call.
const TASK_ONLY: &[&str] = &[
    FailingJob::NAME,
    ProtocolErrorJob::NAME,
    ConfirmDelete::NAME,
    MultiInput::NAME,
    AfterRounds::NAME,
];

/// "If a server is unable to service a request without returning `CreateTaskResult` … the server MUST
/// return an error with the code -32021" (SEP-2663).
pub(super) fn check_capabilities(tool: &str, can: &ClientCapabilities) -> Result<(), ErrorData> {
    if !TASK_ONLY.contains(&tool) || can.supports_tasks() {
        return Ok(());
    }
    let required = ClientCapabilities::builder().enable_tasks().build();
    Err(ErrorData::missing_required_client_capability(required))
}

pub(super) struct Greet;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GreetParams {
    /// Whom to greet.
    name: String,
}

impl Fixture for Greet {
    const NAME: &'static str = "greet";
    const ABOUT: &'static str = "Greets, never as a task.";
    type Params = GreetParams;

    async fn answer(_: Client, params: GreetParams) -> Result<CallToolResponse, Failure> {
        Ok(text(format!("Hello, {}!", params.name)))
    }
}

pub(super) struct SlowCompute;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SlowParams {
    /// How long it takes.
    seconds: u32,
    /// What the answer is called.
    label: Option<String>,
}

impl Fixture for SlowCompute {
    const NAME: &'static str = "slow_compute";
    const ABOUT: &'static str = "Takes its time; as a task for clients that know tasks.";
    type Params = SlowParams;

    async fn answer(client: Client, params: SlowParams) -> Result<CallToolResponse, Failure> {
        let time = Duration::from_secs(params.seconds.into());
        let computed = format!("computed {}", params.label.unwrap_or_default());
        if !client.capabilities.supports_tasks() {
            tokio::time::sleep(time).await;
            return Ok(text(computed));
        }
        start(async move |task| {
            tokio::select! {
                () = task.cancelled() => Err(TaskExit::Cancelled),
                () = tokio::time::sleep(time) => Ok(plain(computed)),
            }
        })
    }
}

pub(super) struct FailingJob;

impl Fixture for FailingJob {
    const NAME: &'static str = "failing_job";
    const ABOUT: &'static str = "Fails after a moment, as a tool fails.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        start(async |_| {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(CallToolResult::error(vec![ContentBlock::text("This job always fails.")]))
        })
    }
}

pub(super) struct ProtocolErrorJob;

impl Fixture for ProtocolErrorJob {
    const NAME: &'static str = "protocol_error_job";
    const ABOUT: &'static str = "Fails as the protocol fails.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        start(async |_| Err(ErrorData::internal_error("this job has no result", None).into()))
    }
}

pub(super) struct ConfirmDelete;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct DeleteParams {
    /// What to delete; nothing is.
    filename: String,
}

impl Fixture for ConfirmDelete {
    const NAME: &'static str = "confirm_delete";
    const ABOUT: &'static str = "Asks once, while it is a task.";
    type Params = DeleteParams;

    async fn answer(_: Client, params: DeleteParams) -> Result<CallToolResponse, Failure> {
        let message = format!("Delete {}?", params.filename);
        let question = rounds::question(rounds::form(&message, "confirm", "boolean"))?;
        start(async move |task| {
            let said = task.request_input("confirm", question).await?;
            Ok(plain(format!("{message} {said}")))
        })
    }
}

pub(super) struct MultiInput;

impl Fixture for MultiInput {
    const NAME: &'static str = "multi_input";
    const ABOUT: &'static str = "Asks twice at once, while it is a task.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let ask = |message| rounds::question(rounds::form(message, "name", "string"));
        let questions: [InputRequest; 2] = [ask("First name?")?, ask("Second name?")?];
        start(async move |task| {
            let [first, second] = questions;
            let (first, second) = tokio::try_join!(
                task.request_input("first", first),
                task.request_input("second", second),
            )?;
            Ok(plain(format!("{first} {second}")))
        })
    }
}

/// Asks by rounds first, and only then becomes a task.
pub(super) struct AfterRounds;

impl Fixture for AfterRounds {
    const NAME: &'static str = "test_tool_with_task";
    const ABOUT: &'static str = "Asks for a name, then greets as a task.";
    type Params = Nothing;

    async fn answer(client: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let questions = [("user_name", rounds::form("What is your name?", "name", "string"))];
        if let Some(open) = rounds::ask(&client, questions, None)? {
            return Ok(open.into());
        }
        let name = rounds::said(&client, "user_name", "/content/name");
        start(async move |_| Ok(plain(format!("Hello, {name}!"))))
    }
}

/// Owned by the task manager, which ends what runs when the server stops.
fn start<F>(work: impl FnOnce(TaskContext) -> F) -> Result<CallToolResponse, Failure>
where
    F: Future<Output = Done> + Send + 'static,
{
    let tasks = super::tasks().map_err(|error| Failure::internal(error.message))?;
    if tasks.running_task_count() >= RUNNING_MAX {
        return Err(Failure::new(Code::Busy, format!("{RUNNING_MAX} tasks are running already")));
    }
    let options = TaskOptions::new().with_poll_interval_ms(100);
    let task = tasks.spawn(options, |context| Box::pin(work(context)));
    Ok(CreateTaskResult::new(task).into())
}

fn plain(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}
