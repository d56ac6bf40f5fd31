//! `holdpoint stop`: ends what `holdpoint tool` started, and says what that was.

use std::{fs::OpenOptions, process::ExitCode, sync::mpsc, thread};

use anyhow::Context as _;
use holdpoint_engine::limits;
use rustix::process::{Pid, Signal};

use super::Command;
use crate::{
    config::Config,
    home, out,
    serve::runtime,
    servers::{Server, Starter, project, running, start},
    web,
};

/// End the server that `holdpoint tool` started for this folder, with every program under it
#[derive(clap::Parser)]
pub(crate) struct Stop {
    /// Those of every folder
    #[arg(long)]
    all: bool,
}

impl Command for Stop {
    const NAME: &'static str = "stop";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        run(self.all)
    }
}

fn run(all: bool) -> anyhow::Result<ExitCode> {
    let here = std::env::current_dir().context("the current folder is gone")?;
    let project = project(&here);
    let (ours, others): (Vec<Server>, Vec<Server>) = running()
        .into_iter()
        .partition(|it| it.starter == Starter::Tool && (all || it.folder == project));
    for server in &ours {
        end(server)?;
    }
    if ours.is_empty() {
        let whose = if all { String::new() } else { format!(" for {}", project.display()) };
        out::line(format_args!(
            "nothing to stop: `holdpoint tool` started no server{whose} that still runs"
        ));
    }
    for other in others {
        out::line(told(&other));
    }
    Ok(ExitCode::SUCCESS)
}

/// What runs on, and who can end it.
fn told(other: &Server) -> String {
    let Server { pid, folder, .. } = other;
    let folder = folder.display();
    match other.starter {
        Starter::Person => {
            format!("left running: `holdpoint serve` of {folder} (pid {pid}); Ctrl-C there ends it")
        }
        Starter::Agent => format!(
            "left running: the server of an agent in {folder} (pid {pid}); it ends with its agent"
        ),
        Starter::Tool => format!(
            "left running: the server for {folder} (pid {pid}); `holdpoint stop` there ends it, or --all"
        ),
    }
}

fn end(server: &Server) -> anyhow::Result<()> {
    let Server { pid, folder, .. } = server;
    let programs = programs(server);
    let id =
        i32::try_from(*pid).ok().and_then(Pid::from_raw).context("an entry without a process")?;
    rustix::process::kill_process(id, Signal::TERM)
        .with_context(|| format!("process {pid} cannot be told to end"))?;
    if !has_ended(*pid) {
        let log = start::log(folder).map(|log| format!("\nhint: its log is {}", log.display()));
        anyhow::bail!(
            "the server for {} (pid {pid}) was told to end and still runs after {} s{}",
            folder.display(),
            limits::DETACHED_STOP.as_secs(),
            log.unwrap_or_default()
        );
    }
    out::line(format_args!(
        "ended the server for {} (pid {pid}){}",
        folder.display(),
        programs.unwrap_or_default()
    ));
    Ok(())
}

/// The programs under it, as it says itself.
fn programs(server: &Server) -> Option<String> {
    let asked = async {
        let url = server.url();
        let asked = web::client(&url).ok()?.get(format!("{url}/healthz")).send().await.ok()?;
        asked.text().await.ok()
    };
    let asked = async { tokio::time::timeout(limits::HEALTH_ANSWER, asked).await.ok().flatten() };
    let health: serde_json::Value = serde_json::from_str(&runtime().ok()?.block_on(asked)?).ok()?;
    match health.get("sessions")?.as_u64()? {
        0 => None,
        1 => Some(" and the program under it".to_owned()),
        many => Some(format!(" and the {many} programs under it")),
    }
}

/// Its lock is free when it has ended, in whatever way.
fn has_ended(pid: u32) -> bool {
    let Some(folder) = home::servers() else { return true };
    let entry = folder.join(format!("{pid}.json"));
    let (tell, told) = mpsc::channel();
    // Ended by the lock, or with this process: nothing can interrupt who waits for one.
    thread::spawn(move || {
        if let Ok(file) = OpenOptions::new().read(true).open(entry) {
            file.lock_shared().unwrap_or_default();
        }
        tell.send(()).unwrap_or_default();
    });
    told.recv_timeout(limits::DETACHED_STOP).is_ok()
}
