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
mod heap;
mod home;
mod http;
mod key;
mod mcp;
mod out;
mod root;
mod serve;
mod servers;
mod tool;
mod tools;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    heap::give_back_large_buffers();
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            out::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
