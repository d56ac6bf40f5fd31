//! `holdpoint demo`: the main job, end to end, on embedded defaults, as a transcript one can read.
//!
//! It starts a real server (this binary again), connects to it as a real MCP client over stdio, and plays
//! its scenes. Adding one is its file and its line in [`SCENES`].

mod arrival;
mod call;
mod languages;
mod line;
mod other;
mod record;
mod stage;
mod trace;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use futures::future::BoxFuture;

use self::stage::Stage;
use super::{Command, setup};
use crate::{
    config::Config,
    out,
    serve::{Signals, runtime},
};

/// Show what Holdpoint does, end to end, on this machine
#[derive(clap::Parser)]
pub(crate) struct Demo {
    /// End after the walk-through instead of staying up
    #[arg(long)]
    exit: bool,
}

struct Scene {
    title: &'static str,
    play: for<'a> fn(&'a mut Stage) -> BoxFuture<'a, anyhow::Result<()>>,
}

const SCENES: &[Scene] = &[
    arrival::SCENE,
    record::SCENE,
    line::SCENE,
    languages::SCENE,
    trace::SCENE,
    call::SCENE,
    other::SCENE,
];

impl Command for Demo {
    const NAME: &'static str = "demo";
    const TAKES: &'static [&'static str] = &["port"];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        runtime()?.block_on(play(config.settings.port, self.exit))?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn play(port: u16, exit: bool) -> anyhow::Result<()> {
    let mut signals = Signals::new().context("cannot listen for signals")?;
    out::line("Starting a Holdpoint server and connecting to it as an MCP client over stdio …");
    let mut stage = Stage::open(port).await?;
    for (number, scene) in (1..).zip(SCENES) {
        out::line(format_args!("\n── {number}. {} ──", scene.title));
        (scene.play)(&mut stage).await.with_context(|| scene.title)?;
    }
    out::line(format_args!("\n── Yours now ──\nThe page: {}/", stage.url));
    out::line("To give it to Claude Code, put this into .mcp.json of your project");
    out::line("(`holdpoint setup --help` lists the other agents):\n");
    out::line(setup::snippet("claude-code")?.trim_end());
    if exit {
        return stage.close().await;
    }
    out::line("\nThe server stays up until Ctrl-C.");
    let reason = tokio::select! {
        reason = signals.next() => reason,
        () = stage.ended() => "the server ended",
    };
    out::line(format_args!("\nStopping: {reason}."));
    stage.close().await
}

/// A program of a scene's, in a folder of its own that the scene removes.
fn written(name: &str, program: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let folder = std::env::temp_dir().join(format!("holdpoint-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).context("no temporary folder")?;
    let file = folder.join(name);
    std::fs::write(&file, program).context("the program could not be written")?;
    Ok((folder, file))
}

/// The line of a program that carries this mark.
fn marked(program: &str, mark: &str) -> anyhow::Result<u32> {
    let line = (1..).zip(program.lines()).find(|(_, text)| text.contains(mark));
    line.map(|(number, _)| number).context("the program has lost its mark")
}
