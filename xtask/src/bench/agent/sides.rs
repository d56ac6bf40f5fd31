//! The two ways to an answer: calls of our tools, and commands of a shell.
//!
//! What counts is what a model writes and what it reads: the arguments and the text of each.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::super::client::{Server, StdioClient};
use super::handles;
use super::place::Place;
use super::question::{Question, Step};
use super::{Side, Turn, Way};
use crate::process::{Show, run};

/// As agents' shells do: of longer output the middle is left out.
const SHELL_OUTPUT_CHARS: usize = 30_000;
/// A command that hangs ends here, and the question is wrong.
const COMMAND_LIMIT: Duration = Duration::from_secs(120);
/// A client whose model reads the text of an answer and nothing else.
const CLIENT: &str = "claude-code";
const CLIENT_VERSION: &str = "2.1.280";

/// Everything that one side needs to run.
pub(super) struct Runner<'a> {
    pub(super) binary: &'a Path,
    /// Where debuggers are kept from server to server: only the very first launch installs one.
    pub(super) debuggers: &'a Path,
    pub(super) packages: &'a Path,
    /// The last recording that several questions are about.
    pub(super) held: RefCell<Option<Held>>,
}

/// A run that was recorded before anybody asks, with the server that has it.
pub(super) struct Held {
    run: String,
    // Before its place: the server ends first.
    client: StdioClient,
    place: Place,
    made: Turn,
}

impl Runner<'_> {
    /// Goes one side's way from beginning to end, in a copy of its own.
    pub(super) fn way(&self, question: &Question, side: Side) -> Result<Way> {
        if let (Side::Ours, Some((run, arguments))) = (side, &question.recorded) {
            return self.asked(question, run, arguments);
        }
        let place = Place::new(self.packages, question)?;
        let mut client = match side {
            Side::Ours => Some(self.connect(&place)?),
            Side::Shell => None,
        };
        let turns = walk(&place, client.as_mut(), question.steps(side), None)?;
        // The program may still be writing when its server has yet to end.
        drop(client);
        let mut way = Way::new(question, side, turns);
        if !place.is_clean()? {
            way.missing.push("the project as it was before".into());
        }
        Ok(way)
    }

    /// Asks the recording of its file, which the first question makes.
    fn asked(&self, question: &Question, run: &str, arguments: &Value) -> Result<Way> {
        let mut held = self.held.borrow_mut();
        if held.as_ref().is_none_or(|it| it.run != run) {
            *held = None;
            let place = Place::new(self.packages, question)?;
            let mut client = self.connect(&place)?;
            let made = call(&mut client, "record_run", arguments)?;
            *held = Some(Held { run: run.to_owned(), client, place, made });
        }
        let held = held.as_mut().context("it was made above")?;
        let steps = question.steps(Side::Ours);
        let turns = walk(&held.place, Some(&mut held.client), steps, Some(&held.made))?;
        let mut way = Way::new(question, Side::Ours, turns);
        way.made = Some(held.made.clone());
        if !held.place.is_clean()? {
            way.missing.push("the project as it was before".into());
        }
        Ok(way)
    }

    fn connect(&self, place: &Place) -> Result<StdioClient> {
        let server = Server::new(self.binary, &["mcp", "--port", "0", "--toolset", "agent"])
            .inside(&place.root, place.environment())
            .with_debuggers(self.debuggers);
        let mut client = StdioClient::over_pipes(&server)?;
        client.initialize_as(CLIENT, CLIENT_VERSION)?;
        client.settle()?;
        Ok(client)
    }
}

/// One step after the other; `made` is what was read before the first.
fn walk(
    place: &Place,
    mut client: Option<&mut StdioClient>,
    steps: &[Step],
    made: Option<&Turn>,
) -> Result<Vec<Turn>> {
    let mut turns: Vec<Turn> = Vec::new();
    for step in steps {
        let (name, arguments) = match step {
            Step::Command(command) => {
                turns.push(shell(place, command)?);
                continue;
            }
            Step::Tool { name, arguments } => {
                let read: Vec<&str> =
                    made.into_iter().chain(&turns).map(|it| it.read.as_str()).collect();
                (name.clone(), handles::filled(arguments, &read)?)
            }
            Step::Next => {
                let last = turns.last().or(made).context("`next` of nothing")?;
                handles::next(&last.read)?
            }
        };
        let client = client.as_deref_mut().context("the shell has no tools")?;
        turns.push(call(client, &name, &arguments)?);
    }
    Ok(turns)
}

fn call(client: &mut StdioClient, name: &str, arguments: &Value) -> Result<Turn> {
    let written = serde_json::to_string(arguments)?;
    let read = client.call_text(name, arguments.clone())?;
    Ok(Turn { head: name.to_owned(), written, read })
}

fn shell(place: &Place, text: &str) -> Result<Turn> {
    let mut command = Command::new("bash");
    // As agents' tools do it: one stream, in the order in which it was written.
    command.arg("-c").arg(format!("exec 2>&1\n{text}"));
    command.current_dir(&place.root).envs(place.environment()).env("PATH", place.path()?);
    let finished = run(&mut command, COMMAND_LIMIT, Show::Nothing)?;
    let read = cut(&finished.stdout);
    Ok(Turn { head: "$".into(), written: text.to_owned(), read })
}

fn cut(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHELL_OUTPUT_CHARS {
        return text.to_owned();
    }
    let half = SHELL_OUTPUT_CHARS / 2;
    let front: String = text.chars().take(half).collect();
    let back: String = text.chars().skip(count - half).collect();
    format!("{front}\n… {} characters left out …\n{back}", count - 2 * half)
}
