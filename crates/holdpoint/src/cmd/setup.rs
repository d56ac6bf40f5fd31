//! `holdpoint setup <agent> [--write] [--skill]`: making an agent know Holdpoint.
//!
//! Without `--write` this prints the agent's configuration, ready to paste, and says where it belongs.
//! With `--write` it merges the same into the agent's file, keeps what is there, and says truthfully what it did.
//! With `--skill` it writes the skill where the agent reads skills; with `--wrap` it puts another server behind us.
//! It never starts the agent, and it never changes a file that it does not fully understand.

pub(crate) mod agents;
pub(crate) mod file;
mod link;
pub(crate) mod merge;
mod skill;
pub(crate) mod whereabouts;
mod wrapping;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use serde_json::Value;

use super::Command;
use crate::config::Config;

use self::agents::{Agent, Own, ReadBy};
use self::merge::{ARGUMENTS, Merged, ServerEntry, Unmerged};
use self::whereabouts::{PROGRAM, Platform, Whereabouts};
use self::wrapping::Wrapping;

/// Print an agent's configuration for Holdpoint, or merge it into the agent's own file
#[derive(clap::Parser)]
pub(crate) struct Setup {
    /// The agent
    #[arg(value_parser = agents::parser())]
    agent: &'static Agent,
    /// Merge into the agent's configuration file, keeping what is there, with a backup
    #[arg(long)]
    write: bool,
    /// Write the skill, which says when to reach for which tool, where the agent reads skills
    #[arg(long)]
    skill: bool,
    /// Rewrite the agent's entry of this server so that `holdpoint wrap` starts it, with a backup
    #[arg(long, value_name = "NAME", conflicts_with_all = ["write", "skill", "unwrap"])]
    wrap: Option<String>,
    /// Take that back
    #[arg(long, value_name = "NAME", conflicts_with_all = ["write", "skill"])]
    unwrap: Option<String>,
}

impl Command for Setup {
    const NAME: &'static str = "setup";

    fn run(self, _: Config) -> Result<ExitCode> {
        let wrapping = match (&self.wrap, &self.unwrap) {
            (Some(name), _) => Some(Wrapping::On(name)),
            (None, Some(name)) => Some(Wrapping::Off(name)),
            (None, None) => None,
        };
        if let Some(wrapping) = wrapping {
            let done = wrapping::rewrite(&Whereabouts::of_this_process()?, self.agent, wrapping)?;
            crate::out::line(done);
            return Ok(ExitCode::SUCCESS);
        }
        let wish = Wish { write: self.write, skill: self.skill };
        run_in(&Whereabouts::of_this_process()?, self.agent, wish, &mut std::io::stdout())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What is to be done beside printing.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    write: bool,
    skill: bool,
}

/// The configuration for an agent, ready to paste.
pub(crate) fn snippet(agent: &str) -> Result<String> {
    Plan::new(&Whereabouts::of_this_process()?, Agent::named(agent)?)?.snippet()
}

/// What makes an agent know us, to be copied by hand.
pub(crate) struct ByHand {
    pub(crate) file: PathBuf,
    pub(crate) snippet: String,
    /// The agent's own command, where it has one.
    pub(crate) command: Option<String>,
    /// A link that does it by a click.
    pub(crate) link: Option<String>,
}

/// The same as is printed, for the page.
pub(crate) fn by_hand(agent: &'static Agent) -> Result<ByHand> {
    let plan = Plan::new(&Whereabouts::of_this_process()?, agent)?;
    Ok(ByHand {
        snippet: plan.snippet()?,
        command: agent.own_command.map(|own| plan.own_command(own)),
        link: agent.link.map(|link| link.to(&plan.entry())),
        file: plan.file,
    })
}

/// Prints the configuration for an agent, or merges it into the agent's file.
fn run_in(
    whereabouts: &Whereabouts,
    agent: &'static Agent,
    wish: Wish,
    out: &mut dyn Write,
) -> Result<()> {
    // Before anything is written: half of what was asked for would be nobody's wish.
    let skill = wish.skill.then(|| skill_path(whereabouts, agent)).transpose()?;
    let plan = Plan::new(whereabouts, agent)?;
    match (wish.write, &skill) {
        (true, _) => plan.write(out)?,
        (false, None) => plan.show(out)?,
        (false, Some(_)) => {}
    }
    if let Some(skill) = skill {
        writeln!(out, "skill: {}", skill::write(&skill)?)?;
    }
    Ok(())
}

fn skill_path(whereabouts: &Whereabouts, agent: &Agent) -> Result<PathBuf> {
    let skills = agent.skills.ok_or_else(|| {
        anyhow!(
            "{} reads no skills from a folder\nhint: leave --skill out; the server's own instructions say the same in short",
            agent.title
        )
    })?;
    Ok(skill::path(&skills(whereabouts)?))
}

/// One agent on this machine, with everything that depends on the machine worked out.
struct Plan {
    agent: &'static Agent,
    platform: Platform,
    file: PathBuf,
    /// Whole, since agents often do not see the shell's PATH.
    command: String,
    /// The bare name, where the search path leads to this very binary.
    also: Option<String>,
}

/// What happened to the file.
enum Outcome {
    Created,
    Added { backup: PathBuf },
    Updated { backup: PathBuf },
    UpToDate,
}

impl Plan {
    fn new(whereabouts: &Whereabouts, agent: &'static Agent) -> Result<Self> {
        Ok(Self {
            agent,
            platform: whereabouts.platform,
            file: (agent.file)(whereabouts)?,
            command: whereabouts.own_path()?,
            also: whereabouts.own_command().ok().filter(|command| command == PROGRAM),
        })
    }

    fn merge(&self, text: &str) -> Result<Merged> {
        let Agent { format, key, fields, .. } = self.agent;
        let entry = ServerEntry { command: &self.command, also: self.also.as_deref(), fields };
        format.merge(text, key, &entry).map_err(|refusal| untouched(&self.file, &refusal))
    }

    fn snippet(&self) -> Result<String> {
        match self.merge("")? {
            Merged::Added(text) | Merged::Updated(text) => Ok(text),
            // Nothing is in an empty text, so there is always something to add.
            Merged::UpToDate => Ok(String::new()),
        }
    }

    fn show(&self, out: &mut dyn Write) -> Result<()> {
        let Agent { name, title, scope, .. } = self.agent;
        let whose = match scope {
            ReadBy::Project => "for this folder",
            ReadBy::User => "for every folder",
        };
        writeln!(out, "{title} reads this from {}, {whose}:\n", self.file.display())?;
        writeln!(out, "{}", self.snippet()?)?;
        if let Some(own) = self.agent.own_command {
            writeln!(out, "The same by its own command:\n\n  {}\n", self.own_command(own))?;
        }
        if let Some(link) = self.agent.link {
            writeln!(out, "The same by a link:\n\n  {}\n", link.to(&self.entry()))?;
        }
        writeln!(out, "To merge it into the file: holdpoint setup {name} --write")?;
        self.note(out)
    }

    /// The entry as JSON, whatever language the agent's file is written in.
    fn entry(&self) -> Value {
        entry(self.agent, &self.command)
    }

    fn own_command(&self, own: Own) -> String {
        let word = |word: &str| self.platform.shell_word(word);
        match own {
            Own::Words(start) => {
                format!("{start} {} {}", word(&self.command), ARGUMENTS.join(" "))
            }
            Own::Json(start) => format!("{start} {}", word(&self.entry().to_string())),
            Own::NamedJson(start) => {
                format!("{start} {}", word(&link::named(&self.entry()).to_string()))
            }
        }
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        let file = self.file.display();
        let report = match self.apply()? {
            Outcome::Created => format!("created {file} with the server `holdpoint`"),
            Outcome::Added { backup } => {
                format!("merged the server `holdpoint` into {file}\nbackup: {}", backup.display())
            }
            Outcome::Updated { backup } => {
                format!("updated the server `holdpoint` in {file}\nbackup: {}", backup.display())
            }
            Outcome::UpToDate => return Ok(writeln!(out, "already up to date: {file}")?),
        };
        writeln!(out, "{report}\nnext: {}", self.agent.next_step)?;
        self.note(out)
    }

    fn apply(&self) -> Result<Outcome> {
        let Some(old) = file::read(&self.file)? else {
            file::create(&self.file, &self.snippet()?)?;
            return Ok(Outcome::Created);
        };
        Ok(match self.merge(&old)? {
            Merged::UpToDate => Outcome::UpToDate,
            Merged::Added(new) => Outcome::Added { backup: file::replace(&self.file, &old, &new)? },
            Merged::Updated(new) => {
                Outcome::Updated { backup: file::replace(&self.file, &old, &new)? }
            }
        })
    }

    /// A path of this machine in a file that others share deserves a word.
    fn note(&self, out: &mut dyn Write) -> Result<()> {
        if self.agent.scope == ReadBy::Project {
            writeln!(
                out,
                "note: the command is a path of this machine; to share the file, write `{PROGRAM}` instead and put it on `PATH`"
            )?;
        }
        Ok(())
    }
}

/// An agent's entry for us that starts `command`.
fn entry(agent: &Agent, command: &str) -> Value {
    let entry = ServerEntry { command, also: None, fields: agent.fields };
    let fields = agent.fields.iter().map(|it| (it.name.to_owned(), it.wanted(&entry)));
    Value::Object(fields.collect())
}

fn untouched(file: &Path, refusal: &Unmerged) -> anyhow::Error {
    anyhow!("`{}` was left as it is: {}\nhint: {}", file.display(), refusal.what, refusal.hint)
}

#[cfg(test)]
mod tests;
