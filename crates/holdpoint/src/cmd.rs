//! The only list of commands. The path names the command: `holdpoint stop` is `cmd/stop.rs`.
//!
//! Adding one is its file, its `mod` line and its line in [`COMMANDS`]. What a command takes for itself stands
//! in its file; options that files and the environment set as well are `config.rs`'s, and it names those.

pub(crate) mod adapters;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod docs;
pub(crate) mod doctor;
pub(crate) mod gateway;
pub(crate) mod guard;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod inject;
pub(crate) mod instrument;
pub(crate) mod keep;
pub(crate) mod leave;
pub(crate) mod mcp;
pub(crate) mod open;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod stop;
pub(crate) mod store;
pub(crate) mod tool;
pub(crate) mod tools;
pub(crate) mod wrap;

use std::process::ExitCode;

use clap::ArgMatches;

use crate::config::{Config, Opt};

/// In the order of the help.
pub(crate) const COMMANDS: &[CommandEntry] = &[
    command::<serve::Serve>(),
    command::<mcp::Mcp>(),
    command::<tools::Tools>(),
    command::<tool::Tool>(),
    command::<stop::Stop>(),
    command::<open::Open>(),
    command::<record::Record>(),
    command::<run::Run>(),
    command::<wrap::Wrap>(),
    command::<gateway::Gateway>(),
    command::<store::Store>(),
    command::<config::Print>(),
    command::<doctor::Doctor>(),
    command::<adapters::Adapters>(),
    command::<setup::Setup>(),
    command::<demo::Demo>(),
    command::<guard::Guard>(),
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    command::<inject::Inject>(),
    command::<instrument::Instrument>(),
    command::<keep::Keep>(),
    command::<leave::Leave>(),
    command::<docs::Docs>(),
    #[cfg(feature = "conformance")]
    command::<crate::conformance::Conformance>(),
    #[cfg(feature = "conformance")]
    command::<crate::conformance::client::ConformanceClient>(),
];

/// One command: its doc comment is its help, its fields are its own arguments.
pub(crate) trait Command: clap::Parser {
    const NAME: &'static str;
    /// The options of `config.rs` that it takes beside its own.
    const TAKES: &'static [&'static str] = &[];

    fn run(self, config: Config) -> anyhow::Result<ExitCode>;
}

/// A command with its type forgotten.
pub(crate) struct CommandEntry {
    pub(crate) name: &'static str,
    /// As the command line knows it.
    pub(crate) build: fn() -> clap::Command,
    pub(crate) run: fn(&ArgMatches) -> anyhow::Result<ExitCode>,
}

const fn command<C: Command>() -> CommandEntry {
    CommandEntry { name: C::NAME, build: build::<C>, run: run::<C> }
}

fn build<C: Command>() -> clap::Command {
    let options = C::TAKES.iter().filter_map(|name| Opt::find(name));
    C::command().name(C::NAME).args(options.map(Opt::arg))
}

fn run<C: Command>(matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let command = C::from_arg_matches(matches)?;
    command.run(Config::load(C::TAKES, matches)?)
}
