//! `holdpoint instrument`: texts of a Node program with the recorder's probes, into the cache of the recording.
//!
//! The recorder in the program asks for what the cache lacks, and waits. A process of its own, because the program cannot
//! wait for a socket while it loads a module.

mod service;

use std::process::ExitCode;

use crate::config::Config;

/// Instrument a text of a Node program that is recorded
#[derive(clap::Parser)]
#[command(hide = true)]
pub(crate) struct Instrument {}

impl super::Command for Instrument {
    const NAME: &'static str = "instrument";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        service::answer(std::io::stdin().lock())?;
        Ok(ExitCode::SUCCESS)
    }
}
