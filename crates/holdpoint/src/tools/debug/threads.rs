//! `debug_threads`: the threads and processes of the program.

use std::collections::BTreeSet;

use holdpoint_engine::{failure::Failure, ids::TargetId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::report::who;
use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::session::Chosen,
};

pub(crate) struct Threads;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {}

impl Tool for Threads {
    const NAME: &'static str = "debug_threads";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "All threads, also of child processes (`2/1`: thread 1 of process \
        2).";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Threads";
    type Scope = Chosen;
    type Params = Params;

    async fn run(Chosen(session): Chosen, _: Params, call: Call) -> Result<Reply, Failure> {
        let view = session.view();
        let current = view.stop.as_ref().map(|shown| shown.stop.thread);
        let threads = session.all_threads().await;
        let processes: BTreeSet<TargetId> = threads.iter().map(|it| it.key.target).collect();
        let is_family = processes.len() > 1;
        let mut lines = holdpoint_engine::budget::Lines::within(call.budget);
        let mut rows = Vec::new();
        for row in &threads {
            let name = match &row.name {
                Some(name) => Some(name.clone()),
                None => session.thread_name(row.key).await,
            };
            let state = if row.is_stopped { "stopped" } else { "running" };
            let here = if current == Some(row.key) { " ← here" } else { "" };
            let thread = name.as_deref().unwrap_or("thread");
            let named = if is_family {
                session.learn_title(row.key.target).await;
                match who::process(&session, row.key.target) {
                    // A process of one thread is called what its thread is.
                    process if process.starts_with(thread) => process,
                    process => format!("{thread} of {process}"),
                }
            } else {
                thread.to_owned()
            };
            let text = format!("{} {named} {state}{here}", row.key);
            if !lines.push(&text) {
                let more = threads.len() - rows.len();
                lines.always(&format!("… {more} more threads: pass a larger `budget_tokens`"));
                break;
            }
            let pid = session.process(row.key.target).and_then(|it| it.pid);
            rows.push(json!({ "thread_id": row.key, "name": name, "state": state, "pid": pid }));
        }
        if rows.is_empty() {
            lines.always("(no threads)");
        }
        Ok(Answer::new(lines.into_text(), &json!({ "threads": rows }))?.into())
    }
}
