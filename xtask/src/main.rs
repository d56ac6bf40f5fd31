//! `cargo xtask`: the project's own commands.
//!
//! A terminal program for people who work on Holdpoint and for CI. It installs what it needs
//! under `target/xtask/` and touches nothing else on the machine, unless it is told to or runs in CI.
//! It knows the product only from outside: as a binary to build, start and ask.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a terminal program speaks there")]

mod bench;
mod chromium;
mod dist;
mod docs;
mod fuzz;
mod install;
mod mutants;
mod pins;
mod process;
mod scratch;
mod soak;
mod summary;
mod test;
mod torture;
mod vsix;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;

use crate::workspace::Workspace;

const HELP: &str = "\
The project's own commands

Usage: cargo xtask <COMMAND> [ARGUMENT…]

Commands:
  test [STEP…]     install what the checks need, run them all, print one summary
  install          install what the Rust tests need, and run nothing
  bench [NAME]     measure the binary that is handed out beside a minimal server
  docs [--check]   write the generated pages of docs/, or say which are stale
  dist [URL]       make what is handed out: an .mcpb bundle, a registry's server.json
  fuzz TARGET      feed mutated inputs to whoever reads them, as many as one likes
  mutants [CORE…]  break the pure cores on purpose, and see their tests fail
  soak             one server under everything for an hour; what it holds must not grow
  torture          seeded walks with kills at random points, checked against the truth
  vsix             make the extension for VS Code, target/vsix/holdpoint-VERSION.vsix

`cargo xtask <COMMAND> --help` says more about each.
";

const COMMANDS: &[Command] = &[
    test::COMMAND,
    install::COMMAND,
    bench::COMMAND,
    docs::COMMAND,
    dist::COMMAND,
    fuzz::COMMAND,
    mutants::COMMAND,
    soak::COMMAND,
    torture::COMMAND,
    vsix::COMMAND,
];

/// One subcommand; its arguments are what follows its name.
struct Command {
    name: &'static str,
    help: &'static str,
    run: fn(&Workspace, &[String]) -> Result<ExitCode>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<ExitCode> {
    let Some((name, rest)) = arguments.split_first() else {
        eprint!("{HELP}");
        return Ok(ExitCode::FAILURE);
    };
    if is_help(name) || (name == "help" && rest.is_empty()) {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let asks_help = name == "help" || rest.iter().any(|argument| is_help(argument));
    let wanted = if name == "help" { rest.first().unwrap_or(name) } else { name };
    let Some(command) = COMMANDS.iter().find(|command| command.name == wanted) else {
        eprintln!("error: no command `{wanted}`\n\n{HELP}");
        return Ok(ExitCode::FAILURE);
    };
    if asks_help {
        print!("{}", command.help);
        return Ok(ExitCode::SUCCESS);
    }
    (command.run)(&Workspace::here()?, rest)
}

fn is_help(argument: &str) -> bool {
    matches!(argument, "--help" | "-h")
}
