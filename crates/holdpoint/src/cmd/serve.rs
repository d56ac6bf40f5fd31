//! `holdpoint serve`: what a person starts.

use std::process::ExitCode;

use crate::{
    cmd::Command,
    config::Config,
    serve::{self, Stdio},
};

/// Serve HTTP, and MCP over it; with --mcp also MCP on stdin and stdout
#[derive(clap::Parser)]
pub(crate) struct Serve {
    /// Also serve MCP on stdin and stdout; when stdin ends, HTTP goes on
    #[arg(long)]
    mcp: bool,
    /// Leave the terminal and say on stdout when ready: what `holdpoint tool` starts
    #[arg(long, hide = true)]
    detached: bool,
}

impl Command for Serve {
    const NAME: &'static str = "serve";
    const TAKES: &'static [&'static str] = &[
        "port",
        "host",
        "mcp-sse",
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
        let stdio = if self.mcp { Stdio::Beside } else { Stdio::Off };
        serve::run(config.settings.with_token()?, stdio, self.detached)
    }
}
