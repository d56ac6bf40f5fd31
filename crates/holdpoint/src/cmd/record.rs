//! `holdpoint record`: record a run from a shell, and ask it. No server is needed: recordings are files of the home,
//! which every server of this user reads, too.

mod ask;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::Subcommand;
use holdpoint_engine::{
    launch::Launch,
    limits,
    process::Exit,
    recordings::{BUDGET, RecordAsk, Recordings},
    secrets::Secrets,
};

use super::Command;
use crate::{config::Config, home, out, serve, stderr, tools::record::run};

/// Record a run once, then ask it: calls, one frame, a value's history, two runs
///
/// `holdpoint record -- pytest -x` runs the command as it is, with its output and its exit code, and then says what was
/// recorded. The other commands ask the last recording, or the one that `--recording` names.
#[derive(clap::Parser)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Record {
    #[command(subcommand)]
    what: Option<RecordVerb>,
    /// How much is kept: auto, calls or lines
    #[arg(long, default_value = "auto")]
    level: String,
    /// A function to keep whole; may be given several times
    #[arg(long, value_name = "FUNCTION")]
    focus: Vec<String>,
    /// A folder whose code is recorded, instead of the project's and the script's; may be given several times
    #[arg(long, value_name = "FOLDER")]
    scope: Vec<PathBuf>,
    /// What to call the recording
    #[arg(long)]
    name: Option<String>,
    /// The command to run
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

#[derive(Subcommand)]
pub(crate) enum RecordVerb {
    /// Say what a run came to
    Show(AskedRecording),
    /// Which calls there were
    Calls {
        #[command(flatten)]
        of: AskedRecording,
        /// Below this call
        #[arg(long, value_name = "CALL")]
        under: Option<String>,
        /// Of this function
        #[arg(long)]
        function: Option<String>,
        /// For which this holds: `result is None`, `args.amount < 0`, `raised KeyError`
        #[arg(long = "where", value_name = "CONDITION")]
        condition: Option<String>,
        /// How many
        #[arg(long)]
        n: Option<usize>,
        /// The slowest first
        #[arg(long)]
        slowest: bool,
    },
    /// One call line by line
    Frame {
        #[command(flatten)]
        of: AskedRecording,
        /// `#813`, or `#813:42/2` for every value at line 42, second time
        call: String,
        /// These lines alone: 36-40
        #[arg(long)]
        lines: Option<String>,
    },
    /// Every write of a name
    History {
        #[command(flatten)]
        of: AskedRecording,
        /// `total`, `self.qty`
        name: String,
        /// In this function
        #[arg(long = "in", value_name = "FUNCTION")]
        within: Option<String>,
        /// Before this call
        #[arg(long, value_name = "CALL")]
        before: Option<String>,
        /// For which this holds: `is None`, `changed type`
        #[arg(long, value_name = "CONDITION")]
        when: Option<String>,
    },
    /// Where two runs part
    ///
    /// The last two, unless they are named. Or the second is made now: the first one's program at another commit (in
    /// a checkout outside your tree), or with another test or environment.
    Diff {
        /// `r7`; the last unless told
        a: Option<String>,
        /// The one before `a` unless told
        b: Option<String>,
        /// Run `a` again at this commit: `HEAD~1`, `main`
        #[arg(long, conflicts_with = "b")]
        commit: Option<String>,
        /// Run this test instead
        #[arg(long, conflicts_with = "b")]
        test: Option<String>,
        /// Run `a` again with this variable; may be given several times
        #[arg(long, value_name = "NAME=VALUE", conflicts_with = "b")]
        env: Vec<String>,
        /// A function to pass over; may be given several times
        #[arg(long, value_name = "FUNCTION")]
        ignore: Vec<String>,
        #[arg(long, default_value_t = BUDGET)]
        tokens: usize,
    },
    /// Write a recording to one file, for another machine
    Export { recording: String, file: PathBuf },
    /// Take such a file
    Import { file: PathBuf },
    /// The recordings that are kept, the newest first
    List,
    /// Delete one
    Delete { recording: String },
}

/// Which recording, and how long the answer may be.
#[derive(clap::Args)]
pub(crate) struct AskedRecording {
    /// `r7`, or its name; the last unless told
    #[arg(long)]
    recording: Option<String>,
    /// How many tokens the answer may cost
    #[arg(long, default_value_t = BUDGET)]
    tokens: usize,
}

impl Command for Record {
    const NAME: &'static str = "record";

    fn run(self, _config: Config) -> anyhow::Result<ExitCode> {
        let home = home::folder().context("there is no home folder")?;
        let guard = std::env::current_exe().context("where our own binary is")?;
        let recordings = Recordings::new(guard, home);
        serve::runtime()?.block_on(async {
            match self.what {
                Some(what) => ask::answer(&recordings, what).await,
                None => self.record(&recordings).await,
            }
        })
    }
}

impl Record {
    async fn record(self, recordings: &Recordings) -> anyhow::Result<ExitCode> {
        let cwd = std::env::current_dir().context("the current folder is gone")?;
        let scope = self.scope.iter().map(|it| cwd.join(it)).collect();
        let launch = Launch { command: self.command, cwd, ..Launch::default() };
        let (level, focus, name) = (self.level, self.focus, self.name);
        let ask = RecordAsk { launch, level, focus, scope, name, is_ours: true };
        let (id, end) = recordings.run(ask, limits::RECORDED_RUN, &Secrets::default()).await?;
        let told =
            recordings.ask(Some(&id), move |opened| run::overview(opened, None, None, BUDGET));
        // The program's output is the program's: ours goes beside it.
        stderr::line(&told.await?);
        Ok(match end.map(|it| it.exit) {
            Some(Exit::Code(code)) => ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1)),
            Some(Exit::Signal(signal)) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)),
            _ => ExitCode::FAILURE,
        })
    }
}

/// For whoever reads a list.
fn line(text: &str) {
    out::line(text);
}
