//! `holdpoint gateway`: the other MCP servers that we connect, on disk.

mod import;
mod landing;
mod login;

use std::process::ExitCode;

use clap::Subcommand;

use crate::config::Config;

/// Other MCP servers that `--mcp-clients` connects
#[derive(clap::Parser)]
pub(crate) struct Gateway {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Show the servers of an agent's own configuration as entries of `mcp_clients.json`, and what would be added
    Import(import::Import),
    /// Log in at a server that asks for it (OAuth), in a browser; its connections use it from then on
    Login(login::LogIn),
    /// Forget the login of a server
    Logout(login::LogOut),
}

impl super::Command for Gateway {
    const NAME: &'static str = "gateway";
    const TAKES: &'static [&'static str] = &["mcp-clients-config", "mcp-client"];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        match self.what {
            What::Import(import) => import.run(),
            What::Login(login) => login.run(config.settings),
            What::Logout(logout) => logout.run(),
        }
    }
}
