//! The command line: the commands of [`COMMANDS`], and nothing of what they do.

use std::process::ExitCode;

use clap::Command;

use crate::{cmd::COMMANDS, out, stderr};

const ABOUT: &str = "The debugger for AI agents and the people beside them";
const LONG_ABOUT: &str = "\
The debugger for AI agents and the people beside them.

An agent starts `holdpoint mcp`; a person starts `holdpoint serve` or looks at `holdpoint demo` first.";

/// Parses the arguments of this process and does as they say.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(said) => return Ok(tell(&said)),
    };
    let Some((name, given)) = matches.subcommand() else { return Ok(ExitCode::FAILURE) };
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(given),
        None => anyhow::bail!("no command `{name}`"),
    }
}

/// Help and the version are data; what is wrong with the arguments is for the person.
fn tell(said: &clap::Error) -> ExitCode {
    let text = said.render();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    let shown = |is_terminal: bool| match is_terminal && !plain {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    match said.use_stderr() {
        true => stderr::line(shown(stderr::is_terminal()).trim_end()),
        false => out::line(shown(out::is_terminal()).trim_end()),
    }
    ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(2))
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
