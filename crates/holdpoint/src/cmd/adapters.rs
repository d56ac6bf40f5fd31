//! `holdpoint adapters`: the debuggers of each language, what they can be asked for, and how to get one.
//!
//! Looking starts nothing but a question for a version. What is installed goes into our own folder where its
//! registry allows that; packages of the system go where the system has them.

mod install;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, bail};
use clap::Subcommand;
use holdpoint_engine::{
    adapter::{self, Adapter, debugger},
    language::{Install, Mode},
};
use serde_json::json;

use super::{Command, doctor::process};
use crate::{
    config::{Config, mount_languages},
    home, out,
    tool::nearest,
};

/// The debuggers of each language: what is here, what it can do, and how to get one
#[derive(clap::Parser)]
pub(crate) struct Adapters {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Say what was found, its version, and what of each language can be debugged
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Get the debugger of a language, with its progress
    Install {
        /// As `holdpoint adapters list` names it
        language: String,
    },
}

impl Command for Adapters {
    const NAME: &'static str = "adapters";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        mount_languages()?;
        let home = home::folder().context("there is no home folder; set HOLDPOINT_HOME")?;
        match self.what {
            What::List { json } => list(&home, json),
            What::Install { language } => install::run(named(&language)?, &home),
        }
    }
}

/// What was found of one language.
struct Seen {
    language: &'static dyn Adapter,
    /// The runtime and the debugger: what each is called, where it is, its version.
    parts: Vec<Part>,
}

struct Part {
    name: &'static str,
    path: Option<PathBuf>,
    version: Option<String>,
    /// How to come by it.
    fix: String,
}

fn list(home: &std::path::Path, as_json: bool) -> anyhow::Result<ExitCode> {
    let seen: Vec<Seen> = adapter::all().iter().map(|it| look(*it, home)).collect();
    if as_json {
        let rows: Vec<_> = seen.iter().map(as_data).collect();
        out::line(json!({ "adapters": rows }));
        return Ok(ExitCode::SUCCESS);
    }
    for it in &seen {
        out::line(text(it));
    }
    let missing = seen.iter().find_map(|it| it.parts.iter().find(|part| part.path.is_none()));
    match missing {
        Some(part) => out::line(format!("next: {}", part.fix)),
        None => out::line("next: `holdpoint setup` connects an agent"),
    }
    Ok(ExitCode::SUCCESS)
}

fn look(language: &'static dyn Adapter, home: &std::path::Path) -> Seen {
    let mut parts = Vec::new();
    if let Some(wants) = language.wants() {
        let path = on_path(wants.program);
        let version = path.as_deref().and_then(|it| version(it, wants.version));
        parts.push(Part { name: wants.program, path, version, fix: wants.install.to_owned() });
    }
    if let Some(wanted) = language.debugger() {
        let path = debugger::seek(language.language(), &wanted, home);
        let version = path.as_deref().and_then(|it| version(it, wanted.version));
        let fix = fix(language, wanted.install);
        parts.push(Part { name: wanted.name, path, version, fix });
    }
    Seen { language, parts }
}

/// The one step that gets a debugger.
pub(crate) fn fix(language: &dyn Adapter, install: Install) -> String {
    match install {
        Install::ByHand(step) => step.to_owned(),
        Install::Apt(_) | Install::Go(_) | Install::Npm(_) | Install::Provided => {
            format!("holdpoint adapters install {}", language.language())
        }
    }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file())
}

fn version(program: &std::path::Path, words: &[&str]) -> Option<String> {
    version_in(&process::said(program, words)?).or_else(|| version_by_name(program))
}

/// The number that its name ends with, of one that does not say more: `lldb-dap-19`.
pub(crate) fn version_by_name(program: &std::path::Path) -> Option<String> {
    let name = program.file_name()?.to_str()?;
    let (_, number) = name.rsplit_once('-')?;
    number.parse::<u32>().ok().map(|it| it.to_string())
}

/// The first word that is one: of `lldb version 19.1.7`, `Version: 1.27.2`, `v20.20.2`, `go1.26.8`.
pub(crate) fn version_in(text: &str) -> Option<String> {
    let words = text.split([' ', '\n', '\t', '(', ')', ',']);
    let numbers = words
        .map(|it| it.trim_start_matches("go").trim_start_matches(['v', '"']).trim_end_matches('"'));
    let is_one = |it: &&str| it.starts_with(|c: char| c.is_ascii_digit()) && it.contains('.');
    numbers.into_iter().find(is_one).map(str::to_owned)
}

fn text(seen: &Seen) -> String {
    let language = seen.language;
    let mut lines = vec![format!("{} ({})", language.language(), language.called())];
    for Part { name, path, version, fix } in &seen.parts {
        lines.push(match path {
            Some(path) => {
                let version = version.as_deref().unwrap_or("of an unknown version");
                format!("  {name} {version} at {}", path.display())
            }
            None => format!("  {name} is not here\n  fix: {fix}"),
        });
    }
    let modes = language.modes().each().map(|(name, mode)| match mode {
        Mode::Yes => format!("{name}: yes"),
        Mode::By(how) => format!("{name}: {how}"),
        Mode::No(why) => format!("{name}: no, {why}"),
    });
    lines.push(format!("  {}", modes.join(" · ")));
    lines.join("\n")
}

fn as_data(seen: &Seen) -> serde_json::Value {
    let part = |it: &Part| json!({ "name": it.name, "path": it.path, "version": it.version, "fix": it.fix });
    let modes = seen.language.modes().each().map(|(name, mode)| {
        let (can, why) = match mode {
            Mode::Yes => (true, None),
            Mode::By(how) => (true, Some(how)),
            Mode::No(why) => (false, Some(why)),
        };
        (name.to_owned(), json!({ "can": can, "why": why }))
    });
    let modes: serde_json::Map<String, serde_json::Value> = modes.into_iter().collect();
    json!({
        "language": seen.language.language(), "called": seen.language.called(),
        "parts": seen.parts.iter().map(part).collect::<Vec<_>>(), "modes": modes,
    })
}

fn named(name: &str) -> anyhow::Result<&'static dyn Adapter> {
    let is_it = |it: &&&dyn Adapter| it.language() == name || it.aliases().contains(&name);
    if let Some(found) = adapter::all().iter().find(is_it) {
        return Ok(*found);
    }
    let known = adapter::languages();
    match nearest(name, known.iter().copied()) {
        Some(near) => bail!("no language `{name}`\nhint: did you mean `{near}`?"),
        None => bail!("no language `{name}`\nhint: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_word_that_is_one() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(version_in(text).as_deref(), expected, "{text}");
        };
        check("lldb version 19.1.7", Some("19.1.7"));
        check("Delve Debugger\nVersion: 1.27.2\nBuild: $Id$", Some("1.27.2"));
        check("v20.20.2", Some("20.20.2"));
        check("go version go1.26.8 linux/amd64", Some("1.26.8"));
        check("openjdk version \"17.0.15\" 2025-04-15", Some("17.0.15"));
        check("Mono JIT compiler version 6.8.0.105 (Debian)", Some("6.8.0.105"));
        check("no version", None);
        let named = |it: &str| version_by_name(std::path::Path::new(it));
        assert_eq!(named("/usr/bin/lldb-dap-19").as_deref(), Some("19"));
        assert_eq!((named("lldb-dap"), named("dlv")), (None, None));
    }

    #[test]
    fn a_language_that_nobody_knows_is_refused_with_the_nearest() {
        let said = named("pyton").err().map(|it| it.to_string()).unwrap_or_default();
        assert_eq!(said, "no language `pyton`\nhint: did you mean `python`?");
    }
}
