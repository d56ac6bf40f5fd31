//! `holdpoint wrap`: what an agent's configuration starts in place of a server, with the server behind it.

use std::{ffi::OsString, process::ExitCode};

use crate::{
    cmd::Command,
    config::Config,
    external::config::check_name,
    serve::{self, Stdio},
    wrap::Wrapped,
};

/// Stand between an agent and one MCP server: record every call of its tools, and hold those that a callpoint names
///
/// The server's own list is passed on as it is. Callpoints name its tools `NAME/tool`, or `NAME/*` for all.
#[derive(clap::Parser)]
pub(crate) struct Wrap {
    /// What callpoints and records call the server
    #[arg(long, default_value = "wrapped", value_parser = name)]
    name: String,
    /// The server and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

fn name(text: &str) -> Result<String, String> {
    check_name(text).map(|()| text.to_owned())
}

impl Command for Wrap {
    const NAME: &'static str = "wrap";
    const TAKES: &'static [&'static str] = &[
        "port",
        "host",
        "db",
        "allow-origin",
        "allow-user",
        "share-with-users",
        "show-secrets",
        "secret-name",
        "plain-name",
        "token",
        "token-file",
        "log-level",
    ];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        let mut settings = config.settings.with_token()?;
        settings.wrapped = Some(Wrapped { name: self.name, command: self.command });
        serve::run(settings, Stdio::Leads, false)
    }
}
