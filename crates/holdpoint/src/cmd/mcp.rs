//! `holdpoint mcp`: what an agent's configuration starts.

use std::process::ExitCode;

use crate::{
    cmd::Command,
    config::Config,
    serve::{self, Stdio},
};

/// Serve one agent on stdin and stdout: what an agent's configuration starts
///
/// The same as `serve --mcp`, but the process ends when stdin ends.
#[derive(clap::Parser)]
pub(crate) struct Mcp {}

impl Command for Mcp {
    const NAME: &'static str = "mcp";
    const TAKES: &'static [&'static str] = &[
        "port",
        "host",
        "mcp-sse",
        "keep-alive",
        "db",
        "dap-log",
        "end-idle",
        "toolset",
        "structured",
        "tool-timeout",
        "timeout",
        "workspace",
        "allow-origin",
        "allow-user",
        "share-with-users",
        "show-secrets",
        "secret-name",
        "plain-name",
        "token",
        "token-file",
        "log-level",
        "mcp-clients",
        "mcp-clients-config",
        "mcp-client",
        "expose",
    ];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        let stdio = if config.settings.keep_alive { Stdio::Beside } else { Stdio::Leads };
        serve::run(config.settings.with_token()?, stdio, false)
    }
}
