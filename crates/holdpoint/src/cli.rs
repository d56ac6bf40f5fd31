//! The command line: the commands of [`COMMANDS`], and nothing of what they do.

use std::process::ExitCode;

use clap::Command;

use crate::cmd::COMMANDS;

const ABOUT: &str = "The debugger for AI agents and the people beside them";
const LONG_ABOUT: &str = "\
The debugger for AI agents and the people beside them.

An agent starts `holdpoint mcp`; a person starts `holdpoint serve` or looks at `holdpoint demo` first.";

/// Parses the arguments of this process and does as they say.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let matches = command().get_matches();
    let Some((name, given)) = matches.subcommand() else { return Ok(ExitCode::FAILURE) };
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(given),
        None => anyhow::bail!("no command `{name}`"),
    }
}

fn command() -> Command {
    Command::new("holdpoint")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .max_term_width(100)
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(COMMANDS.iter().map(|command| (command.build)()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
        assert_eq!(command().get_subcommands().count(), COMMANDS.len());
    }
}
