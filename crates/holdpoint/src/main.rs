//! Holdpoint: the debugger for AI agents and the people beside them.

mod activity;
mod app;
mod catalogue;
mod cli;
mod client;
mod clients;
#[cfg(feature = "conformance")]
mod conformance;
mod demo;
mod docs;
mod doctor;
mod guard;
mod home;
mod http;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod inject;
mod mcp;
mod out;
mod root;
mod run;
mod serve;
mod servers;
mod setup;
mod store;
mod told;
mod tool;
mod tools;
mod view;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            out::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
