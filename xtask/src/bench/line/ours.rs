//! The same steps as calls of our tools, over stdio as a user's client makes them.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Debugger, First, Target};
use crate::bench::client::{Server, StdioClient};

pub(super) struct Ours<'a> {
    target: &'a Target,
    server: &'a Server,
    client: StdioClient,
}

impl<'a> Ours<'a> {
    /// Starts a server and sets the breakpoint, which it keeps from launch to launch.
    pub(super) fn new(target: &'a Target, server: &'a Server) -> Result<Self> {
        Ok(Self { target, server, client: start(target, server)? })
    }

    /// Calls a tool that answers with a stop.
    fn stop(&mut self, tool: &str, arguments: Value) -> Result<u64> {
        let result = self.client.call(tool, arguments)?;
        let line = result.pointer("/structuredContent/data/stop/line").and_then(Value::as_u64);
        line.with_context(|| format!("`{tool}` did not stop: {result}"))
    }
}

impl Debugger for Ours<'_> {
    fn forget(&mut self) -> Result<()> {
        self.client = start(self.target, self.server)?;
        Ok(())
    }

    fn launch(&mut self, first: First) -> Result<u64> {
        let mut arguments = launch(self.target);
        set(&mut arguments, "stop_on_entry", json!(matches!(first, First::Entry)));
        self.stop("debug_launch", arguments)
    }

    fn resume(&mut self) -> Result<u64> {
        self.stop("debug_continue", json!({}))
    }

    fn step(&mut self) -> Result<u64> {
        self.stop("debug_step", json!({ "action": "next" }))
    }

    fn evaluate(&mut self, expression: &str) -> Result<String> {
        let result = self.client.call("debug_evaluate", json!({ "expression": expression }))?;
        Ok(text(&result).to_owned())
    }

    fn look(&mut self) -> Result<usize> {
        self.client.call("debug_stack", json!({}))?;
        let result = self.client.call("debug_variables", json!({}))?;
        Ok(text(&result).lines().filter(|line| line.contains(" = ")).count())
    }

    fn end(&mut self) -> Result<()> {
        self.client.call("debug_stop", json!({}))?;
        Ok(())
    }

    fn probe(&mut self) -> Result<u64> {
        let Target { file, hit, .. } = self.target;
        let mut arguments = launch(self.target);
        set(&mut arguments, "file", json!(file));
        set(&mut arguments, "line", json!(hit));
        let result = self.client.call("debug_probe", arguments)?;
        let line = result.pointer("/structuredContent/data/hits/0/line").and_then(Value::as_u64);
        match line {
            Some(line) if text(&result).lines().any(|it| it.contains("label")) => Ok(line),
            _ => bail!("`debug_probe` saw no locals: {result}"),
        }
    }
}

/// What is launched.
fn launch(target: &Target) -> Value {
    let Target { file, interpreter, .. } = target;
    let own = || json!({ "program": file, "interpreter": interpreter });
    target.launch.clone().unwrap_or_else(own)
}

fn start(target: &Target, server: &Server) -> Result<StdioClient> {
    let mut client = StdioClient::over_pipes(server)?;
    client.initialize()?;
    client.settle()?;
    client.call("debug_breakpoint", json!({ "file": target.file, "line": target.hit }))?;
    Ok(client)
}

fn text(result: &Value) -> &str {
    result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default()
}

fn set(arguments: &mut Value, name: &str, value: Value) {
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.insert(name.to_owned(), value);
    }
}
