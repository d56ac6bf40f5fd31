//! The command line: every command with its options, and nothing of what they do.

use std::{net::IpAddr, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use holdpoint_engine::limits;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use crate::inject;
use crate::{client, demo, docs, doctor, guard, mcp, out, run, serve, servers, setup, store};

/// The debugger for AI agents and the people beside them.
///
/// An agent starts `holdpoint mcp`; a person starts `holdpoint serve` or looks at `holdpoint demo` first.
#[derive(Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve HTTP, and MCP over it; with --mcp also MCP on stdin and stdout
    Serve {
        #[command(flatten)]
        serve: ServeArgs,
        /// Also serve MCP on stdin and stdout; when stdin ends, HTTP goes on
        #[arg(long)]
        mcp: bool,
    },
    /// Serve one agent on stdin and stdout: what an agent's configuration starts
    ///
    /// The same as `serve --mcp`, but the process ends when stdin ends.
    Mcp {
        #[command(flatten)]
        serve: ServeArgs,
        /// Go on serving HTTP when stdin ends
        #[arg(long)]
        keep_alive: bool,
    },
    /// List the tools
    Tools {
        /// As JSON, with input schemas, as MCP clients see them
        #[arg(long)]
        json: bool,
        /// Instead: the clients that are known, what each shows its model, and where that was seen
        #[arg(long)]
        clients: bool,
        /// What each toolset and each tool costs a client at its start, in bytes and tokens
        #[arg(long, conflicts_with = "json")]
        sizes: bool,
        #[command(flatten)]
        toolset: Toolset,
    },
    /// Call a tool and print its text; no set-up needed
    ///
    /// Where no server runs for this folder, one is started that ends after ten idle minutes: programs
    /// live on between calls, `holdpoint stop` ends it. Exit code 1 when the tool fails, 2 when the
    /// command is wrong. Examples: holdpoint tool debug_probe '{"program": "app.py", "line": 7}'
    /// or holdpoint tool timeline_query limit=5
    Tool {
        /// The tool's name; `holdpoint tools` lists them
        name: String,
        /// Its parameters: a JSON object, `-` to read that from stdin, or `name=value` for each
        arguments: Vec<String>,
        #[command(flatten)]
        server: ServerArgs,
        /// Print the structured answer as JSON instead of the text
        #[arg(long)]
        json: bool,
        /// How long a server that is started may be idle
        #[arg(long, hide = true, env = "HOLDPOINT_END_IDLE", value_parser = seconds)]
        end_idle: Option<Duration>,
    },
    /// End the server that `holdpoint tool` started for this folder, with every program under it
    Stop {
        /// Those of every folder
        #[arg(long)]
        all: bool,
    },
    /// Start a Python app with its calls recorded, without editing it
    ///
    /// The command runs as it would without us, with its own exit code; the Python processes in it
    /// load the client. Example: holdpoint run --watch 'shop.cart:Cart.add' -- python app.py
    Run {
        /// Wrap these functions: `pkg.module:func`, `pkg.module:Class.method`, `pkg.module` (all of
        /// it), `pkg.*`; the program itself by its file's name, `app:main`; may be repeated
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        watch: Vec<String>,
        #[command(flatten)]
        server: ServerArgs,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<std::ffi::OsString>,
    },
    /// What is kept on disk: say how much, drop the oldest, export
    Store(store::StoreArgs),
    /// Say what was found on this machine, what is missing, and the command that fixes it
    Doctor,
    /// Print an agent's configuration for Holdpoint, or merge it into the agent's own file
    Setup {
        /// The agent
        #[arg(value_parser = setup::clients::parser())]
        agent: &'static setup::clients::Client,
        /// Merge into the agent's configuration file, keeping what is there, with a backup
        #[arg(long)]
        write: bool,
        /// Write the skill, which says when to reach for which tool, where the agent reads skills
        #[arg(long)]
        skill: bool,
    },
    /// Show what Holdpoint does, end to end, on this machine
    Demo {
        /// End after the walk-through instead of staying up
        #[arg(long)]
        exit: bool,
        /// The port to try first
        #[arg(long, default_value_t = serve::PORT)]
        port: u16,
    },
    /// Stand over a program, so that it ends with us
    #[command(hide = true)]
    Guard {
        #[arg(long)]
        parent: i32,
        #[arg(last = true)]
        command: Vec<std::ffi::OsString>,
    },
    /// Call a function of a library inside a process that runs
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[command(hide = true)]
    Inject { pid: i32, library: PathBuf, function: String, text: String },
    /// Write the generated reference
    #[command(hide = true)]
    Docs {
        #[arg(value_enum)]
        page: docs::Page,
    },
    /// Serve the fixtures of the official conformance suite
    #[cfg(feature = "conformance")]
    #[command(hide = true)]
    Conformance {
        #[arg(long, default_value_t = 0)]
        port: u16,
    },
}

/// Options of everything that serves.
#[derive(Args, Clone)]
pub(crate) struct ServeArgs {
    /// The port to listen on, or the next free one; 0 takes any
    #[arg(long, env = "HOLDPOINT_PORT", default_value_t = serve::PORT)]
    pub(crate) port: u16,
    /// The address to listen on; other than loopback needs --token
    #[arg(long, env = "HOLDPOINT_HOST", default_value = "127.0.0.1", value_parser = host)]
    pub(crate) host: IpAddr,
    /// Also serve MCP over HTTP+SSE at /mcp/sse, for clients that know only that
    #[arg(long)]
    pub(crate) mcp_sse: bool,
    /// Where to keep what outlives the process: a file, or `:memory:`
    #[arg(long, env = "HOLDPOINT_DB", value_name = "PATH|:memory:")]
    pub(crate) db: Option<PathBuf>,
    /// Record what is said to and by debug adapters in this file, one JSON per line
    #[arg(long, env = "HOLDPOINT_DAP_LOG", value_name = "FILE")]
    pub(crate) dap_log: Option<PathBuf>,
    /// End after this many seconds without a call, a program or an app's call
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) end_idle: Option<Duration>,
    /// Leave the terminal and say on stdout when ready: what `holdpoint tool` starts
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
    #[command(flatten)]
    pub(crate) toolset: Toolset,
    /// Whether answers carry JSON beside their text
    #[arg(long, env = "HOLDPOINT_STRUCTURED", value_enum, default_value_t)]
    pub(crate) structured: mcp::Structured,
    /// Seconds a tool may take when the call does not say
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) tool_timeout: Option<Duration>,
    /// Trust pages of this origin (`https://host[:port]`) besides loopback; may be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub(crate) allow_origin: Vec<String>,
    /// Ask every HTTP request for this bearer token
    #[arg(long, env = "HOLDPOINT_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// How much to log on stderr: error, warn, info, debug, trace, or a filter such as `info,rmcp=debug`
    #[arg(long, env = "HOLDPOINT_LOG", value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
}

#[derive(Args, Clone)]
pub(crate) struct Toolset {
    /// Offer only these tools: `agent`, `slim` or `app`, families (`server,timeline`), or names
    #[arg(long, env = "HOLDPOINT_TOOLSET", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) toolset: Vec<String>,
}

/// Which running server to talk to.
#[derive(Args)]
pub(crate) struct ServerArgs {
    /// The server's address; without it, the one that runs for this folder
    #[arg(long, env = "HOLDPOINT_URL")]
    pub(crate) url: Option<String>,
    /// The server's bearer token, when it has one
    #[arg(long, env = "HOLDPOINT_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
}

impl Cli {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Serve { serve, mcp } => {
                let stdio = if mcp { serve::Stdio::Beside } else { serve::Stdio::Off };
                serve::run(serve, stdio)
            }
            Command::Mcp { serve, keep_alive } => {
                let stdio = if keep_alive { serve::Stdio::Beside } else { serve::Stdio::Leads };
                serve::run(serve, stdio)
            }
            Command::Tools { json, clients: true, .. } => docs::print_clients(json),
            Command::Tools { sizes: true, toolset, .. } => docs::print_sizes(&toolset.toolset),
            Command::Tools { json, toolset, .. } => docs::print_tools(&toolset.toolset, json),
            Command::Tool { name, arguments, server, json, end_idle } => {
                let idle = end_idle.unwrap_or(limits::DETACHED_IDLE);
                client::run(&name, &arguments, &server, json, idle)
            }
            Command::Stop { all } => servers::stop::run(all),
            Command::Run { watch, server, command } => run::run(&watch, &server, &command),
            Command::Store(args) => store::run(args),
            Command::Doctor => {
                let well = doctor::run(&mut std::io::stdout()).context("doctor")?;
                Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
            }
            Command::Setup { agent, write, skill } => {
                setup::run(agent, setup::Wish { write, skill }, &mut std::io::stdout())?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Demo { exit, port } => demo::run(port, exit),
            Command::Guard { parent, command } => guard::run(&command, parent),
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            Command::Inject { pid, library, function, text } => {
                inject::run(pid, &library, &function, &text)
            }
            Command::Docs { page } => {
                out::line(docs::page(page)?.trim_end());
                Ok(ExitCode::SUCCESS)
            }
            #[cfg(feature = "conformance")]
            Command::Conformance { port } => crate::conformance::run(port),
        }
    }
}

fn host(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        text => text.parse().map_err(|_| "not an IP address; use 127.0.0.1 or 0.0.0.0".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("not a positive number of seconds".to_owned()),
    }
}

fn origin(text: &str) -> Result<String, String> {
    let uri: axum::http::Uri = text.parse().map_err(|_| "not an origin".to_owned())?;
    let bare = uri.path_and_query().is_none_or(|path| path.as_str() == "/");
    match (uri.scheme_str(), uri.authority(), bare) {
        (Some(scheme), Some(authority), true) => Ok(format!("{scheme}://{authority}")),
        _ => Err("write it as scheme://host[:port], such as https://app.example".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }

    #[test]
    fn an_origin_is_kept_bare() {
        assert_eq!(origin("https://app.example/"), Ok("https://app.example".to_owned()));
        assert!(origin("app.example").is_err());
        assert!(origin("https://app.example/path").is_err());
    }
}
