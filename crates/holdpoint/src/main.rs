//! Holdpoint: the debugger for AI agents and the people beside them.

mod activity;
mod app;
mod catalogue;
mod cli;
mod clients;
mod cmd;
mod config;
#[cfg(feature = "conformance")]
mod conformance;
mod delivery;
mod external;
mod heap;
mod home;
mod http;
mod key;
mod mcp;
mod metadata;
mod out;
mod page;
mod panics;
mod resident;
mod root;
mod serve;
mod servers;
mod stderr;
mod tool;
mod tools;
mod view;
mod web;
mod wrap;

use std::process::ExitCode;

/// What the system gives a program that panicked.
const PANICKED: u8 = 101;

fn main() -> ExitCode {
    panics::watch();
    heap::give_back_large_buffers();
    let code = match std::panic::catch_unwind(cli::run) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            out::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
        // Told by the hook.
        Err(_panic) => ExitCode::from(PANICKED),
    };
    stderr::finish();
    code
}
