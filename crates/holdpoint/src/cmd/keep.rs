//! `holdpoint keep r7`: waits beside a recorded app that nobody here started, and makes one file of its recording when
//! nobody writes it any more.
//!
//! The app took the place of `holdpoint run`, so that its signals, its terminal and its exit code are its own; a child of
//! ours would be a child of the app, which may wait for its children. So the first of these processes only starts the
//! second, and the second belongs to nobody.

use std::process::{Command, ExitCode, Stdio};

use anyhow::Context as _;
use holdpoint_engine::recordings::Recordings;

use crate::{config::Config, home, serve};

/// Wait beside a recorded app, and make one file of its recording
#[derive(clap::Parser)]
#[command(hide = true)]
pub(crate) struct Keep {
    /// Wait here, and not in a process of its own
    #[arg(long)]
    here: bool,
    recording: String,
}

impl super::Command for Keep {
    const NAME: &'static str = "keep";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        let own = std::env::current_exe().context("where our own binary is")?;
        if !self.here {
            start(Command::new(own).args(["keep", "--here", &self.recording]))?;
            return Ok(ExitCode::SUCCESS);
        }
        // No terminal's signals: it outlives the app by what it takes to read the streams.
        rustix::process::setsid().context("a session of its own")?;
        let home = home::folder().context("there is no home folder")?;
        let recordings = Recordings::new(own, home);
        serve::runtime()?.block_on(recordings.keep(&self.recording))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Starts the keeper of a recording. It is nobody's child when this returns.
pub(crate) fn beside(recording: &str) -> anyhow::Result<()> {
    let own = std::env::current_exe().context("where our own binary is")?;
    let mut first = start(Command::new(own).args(["keep", recording]))?;
    first.wait().map(drop).context("the recording's keeper does not start")
}

fn start(command: &mut Command) -> anyhow::Result<std::process::Child> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir("/").spawn().context("the recording's keeper does not start")
}
