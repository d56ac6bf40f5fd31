//! `cargo xtask docs`: the pages that the binary writes about itself.

mod picture;

use std::fs;
use std::path::Path;
use std::process::{Command as Process, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::Command;
use crate::process::{Show, run};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command { name: "docs", help: HELP, run: write_or_check };

const HELP: &str = "\
Write the generated pages of docs/ from what the binary says about itself

Usage: cargo xtask docs [--check | --picture]

Options:
  --check     write nothing; fail when a page is stale
  --picture   also take the README's picture of the page, in a real browser

Pages:
  docs/tools.md   every tool: parameters, annotations, examples
  docs/rest.md    every HTTP endpoint
  docs/adapter-health.md  what each language's debugger does in the scenarios; its test of the suite checks it
  docs/page.webp  the picture; no two are the same, so it is not checked
";

/// The page, and the argument of the hidden command `holdpoint docs` that prints it.
const PAGES: &[(&str, &str)] = &[("docs/tools.md", "tools"), ("docs/rest.md", "rest")];

/// The tests are built first.
const HEALTH_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Printing a page starts nothing and asks nobody.
const PAGE_LIMIT: Duration = Duration::from_secs(60);

fn write_or_check(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let (check, pictured) = match arguments {
        [] => (false, false),
        [flag] if flag == "--check" => (true, false),
        [flag] if flag == "--picture" => (false, true),
        _ => bail!("unexpected arguments: `{}`\n{HELP}", arguments.join(" ")),
    };
    let binary = workspace.debug_holdpoint()?;
    let mut stale = Vec::new();
    for (page, topic) in PAGES {
        let path = workspace.root.join(page);
        let text = generate(&binary, topic)?;
        let current = fs::read_to_string(&path).unwrap_or_default();
        if current == text {
            println!("{page}: up to date");
        } else if check {
            println!("{page}: stale{}", first_difference(&current, &text));
            stale.push(*page);
        } else {
            write(&path, &text)?;
            println!("{page}: written");
        }
    }
    if !check {
        write_health(workspace)?;
    }
    if pictured {
        picture::write(workspace, &binary)?;
        println!("{}: written", picture::PICTURE);
    }
    if stale.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("hint: `cargo xtask docs` writes them");
    Ok(ExitCode::FAILURE)
}

/// The page that the suite writes from what its tests expect; `--check` leaves it to the test that compares them.
fn write_health(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo(["test", "-p", "holdpoint", "--test", "e2e", "--"]);
    command.args(["suite::health"]).env("HOLDPOINT_WRITE_HEALTH", "1");
    if !run(&mut command, HEALTH_LIMIT, Show::Errors)?.success() {
        bail!("docs/adapter-health.md was not written");
    }
    println!("docs/adapter-health.md: written");
    Ok(())
}

fn generate(binary: &Path, topic: &str) -> Result<String> {
    let finished = run(Process::new(binary).args(["docs", topic]), PAGE_LIMIT, Show::Errors)?;
    if !finished.success() || finished.stdout.is_empty() {
        bail!("`holdpoint docs {topic}` printed no page ({})", finished.how_it_ended());
    }
    Ok(finished.stdout)
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating `{}`", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("writing `{}`", path.display()))
}

fn first_difference(current: &str, generated: &str) -> String {
    if current.is_empty() {
        return ": it does not exist or is empty".into();
    }
    let same = current.lines().zip(generated.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(end)").to_owned();
    format!(" from line {}\n  is:     {}\n  should: {}", same + 1, line(current), line(generated))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_the_first_line() {
        let text = first_difference("# Tools\na\nb\n", "# Tools\na\nc\n");
        assert_eq!(text, " from line 3\n  is:     b\n  should: c");
        assert!(first_difference("", "x").contains("does not exist"));
        assert!(first_difference("a\n", "a\nb\n").contains("is:     (end)"));
    }
}
