//! `holdpoint guard -- PROGRAM …`: stands between us and a program we started, so that its whole process
//! tree ends when we say so, or when we die in whatever way. Linux adopts orphaned grandchildren too.
//!
//! The program has the guard's stdin, stdout and stderr, and the guard ends as the program ended.

#[cfg(target_os = "linux")]
mod tree;

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt as _,
    process::{ExitCode, ExitStatus},
    time::Duration,
};

use anyhow::{Context as _, bail};
use holdpoint_engine::process::report::ReportWriter;
use rustix::process::{Pid, Signal};
use tokio::{
    process::Command,
    signal::unix::{SignalKind, signal},
};

use crate::config::Config;

/// How often it is looked whether it has.
const AGAIN: Duration = Duration::from_millis(2);
/// How long the tree may take to disappear once it was killed.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a debugger may take to let a program go that is not ours: it writes the program back as it was.
const LETTING_GO: Duration = Duration::from_secs(10);

/// Stand over a program, so that it ends with us
#[derive(clap::Parser)]
#[command(hide = true)]
pub(crate) struct Guard {
    #[arg(long)]
    parent: i32,
    /// The parent's number of what is written down for it
    #[arg(long)]
    report: Option<i32>,
    /// It debugs a program that is not ours, and lets that go when its stdin ends
    #[arg(long)]
    visits: bool,
    #[arg(last = true)]
    command: Vec<OsString>,
}

impl super::Command for Guard {
    const NAME: &'static str = "guard";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        let report = ReportWriter::open(self.parent, self.report);
        run(&self, report)
    }
}

fn run(guard: &Guard, mut report: ReportWriter) -> anyhow::Result<ExitCode> {
    let [program, args @ ..] = guard.command.as_slice() else { bail!("guard: no program") };
    adopt(guard.parent)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let status = runtime.block_on(watch(program, args, guard.visits, &mut report))?;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        (None, Some(signal)) => {
            // Ends us the same way, without a second core dump.
            let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
            rustix::process::setrlimit(rustix::process::Resource::Core, none).unwrap_or_default();
            // It knows no real-time signals; those end a process that has no handler for them.
            signal_hook::low_level::emulate_default_handler(signal)
                .or_else(|_| signal_hook::low_level::raise(signal))?;
            Ok(ExitCode::FAILURE)
        }
        (None, None) => Ok(ExitCode::FAILURE),
    }
}

/// Orphans of the program become our children, and the end of our parent becomes a signal.
fn adopt(parent: i32) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Pid::from_raw(1)).context("guard: subreaper")?;
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))
            .context("guard: parent's death")?;
    }
    // A session of our own: no terminal's signals, and what is below us is known by it.
    rustix::process::setsid().context("guard: a session")?;
    // It may have died before we asked to be told.
    let now = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    if now != parent {
        bail!("guard: the parent is gone");
    }
    Ok(())
}

async fn watch(
    program: &OsString,
    args: &[OsString],
    visits: bool,
    report: &mut ReportWriter,
) -> anyhow::Result<ExitStatus> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut at_once = signal(SignalKind::quit())?;
    let mut command = Command::new(program);
    command.args(args).process_group(0).kill_on_drop(true);
    ends_with_us(&mut command, visits);
    let mut child =
        command.spawn().with_context(|| format!("cannot start {}", program.to_string_lossy()))?;
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let ended = tokio::select! {
        status = child.wait() => Some(status?),
        _ = terminate.recv() => match visits {
            // With our parent its stdin ended: killed before it has taken its breakpoints out, it would
            // leave them in a program that is not ours.
            true => tokio::time::timeout(LETTING_GO, child.wait()).await.ok().transpose()?,
            false => None,
        },
        // There is nothing to be let go.
        _ = at_once.recv() => None,
    };
    let gone = kill_tree(group);
    match ended {
        Some(status) => {
            report.ended(status.into());
            gone.await;
            Ok(status)
        }
        None => {
            let (status, ()) = tokio::join!(child.wait(), gone);
            let status = status?;
            report.ended(status.into());
            Ok(status)
        }
    }
}

/// Whoever kills us kills the program: it must not run on with nobody over it. What it started in turn is
/// ended by our own parent.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "only the program itself can ask for it, between its fork and its start"
)]
fn ends_with_us(command: &mut Command, visits: bool) {
    // A debugger that is killed leaves its traps in the program that it had taken.
    let signal = if visits { Signal::INT } else { Signal::KILL };
    let guard = rustix::process::getpid();
    let ask = move || {
        rustix::process::set_parent_process_death_signal(Some(signal))?;
        // We may have died before it asked.
        match rustix::process::getppid() == Some(guard) {
            true => Ok(()),
            false => Err(std::io::ErrorKind::NotConnected.into()),
        }
    };
    // SAFETY: two system calls, which neither allocate nor take a lock.
    unsafe {
        command.pre_exec(ask);
    }
}

#[cfg(not(target_os = "linux"))]
fn ends_with_us(_: &mut Command, _: bool) {}

/// Kills the program's group and, on Linux, everything that descends from us, until nothing is left.
async fn kill_tree(group: Option<Pid>) {
    if let Some(group) = group {
        // An error means that the group is empty.
        rustix::process::kill_process_group(group, Signal::KILL).unwrap_or_default();
    }
    let gone = async {
        loop {
            let left = descendants();
            if left.is_empty() {
                return;
            }
            for pid in left {
                rustix::process::kill_process(pid, Signal::KILL).unwrap_or_default();
            }
            // The kernel tells nobody when a process it moved to us is gone.
            tokio::time::sleep(AGAIN).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap_or_default();
}

/// Every living process below us, by the parents that /proc names.
#[cfg(target_os = "linux")]
fn descendants() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let origins = pids.filter_map(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, tree::Origin::parse(&stat)?))
    });
    let me = rustix::process::getpid().as_raw_nonzero().get();
    tree::below(me, &origins.collect()).into_iter().filter_map(Pid::from_raw).collect()
}

#[cfg(not(target_os = "linux"))]
fn descendants() -> Vec<Pid> {
    Vec::new()
}
