//! `holdpoint doctor`: what was found on this machine, what is missing, and the command that fixes it.
//!
//! One function per check, and one list of them, [`CHECKS`].
//! The doctor only looks: it starts no server, installs nothing and repairs nothing.
//! Every wait has a deadline, so it always answers, on a broken machine above all.

mod agents;
mod languages;
mod network;
mod ourselves;
mod port_owner;
pub(crate) mod process;
mod store;
mod tool_files;

use std::{io::Write, process::ExitCode};

use anyhow::{Context as _, Result};

use super::Command;
use super::setup::whereabouts::Whereabouts;
use crate::config::{Config, Settings, mount_languages};

/// Say what was found on this machine, what is missing, and the command that fixes it
#[derive(clap::Parser)]
pub(crate) struct Doctor {}

impl Command for Doctor {
    const NAME: &'static str = "doctor";

    fn run(self, _: Config) -> Result<ExitCode> {
        mount_languages()?;
        let well = run(&mut std::io::stdout()).context("doctor")?;
        Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

type Look = Box<dyn Fn(&Machine) -> Vec<Finding>>;

/// One thing to look at.
struct Check {
    /// Whether Holdpoint cannot run at all without it.
    is_needed: bool,
    look: Look,
}

/// Every check, in the order of the report.
fn checks() -> Vec<Check> {
    let check =
        |is_needed, look: fn(&Machine) -> Vec<Finding>| Check { is_needed, look: Box::new(look) };
    let mut all = vec![
        check(false, ourselves::binary),
        check(true, ourselves::home_folder),
        check(false, network::running_server),
        check(false, store::store),
        check(true, network::port),
        check(false, network::ipv6_loopback),
    ];
    all.extend(languages::checks());
    all.push(check(false, tool_files::tool_files));
    all.push(check(false, agents::configurations));
    all
}

/// The machine that is looked at.
struct Machine {
    whereabouts: Whereabouts,
    version: &'static str,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindingKind {
    Ok,
    /// Neither good nor bad.
    Info,
    /// Holdpoint runs, and something will not work.
    Warning,
    /// Something is not there and should be.
    Missing,
}

/// What one check has to say. The report reads: status, what, detail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) status: FindingKind,
    pub(crate) what: String,
    pub(crate) detail: String,
    /// The command, or else the step, that makes it good.
    pub(crate) fix: Option<String>,
}

/// Everything that was found, and what it comes to.
#[derive(Clone, Debug)]
pub(crate) struct Diagnosis {
    pub(crate) findings: Vec<Finding>,
    pub(crate) verdict: String,
}

/// Looks at everything, for the page. Takes a while, and waits for other programs.
pub(crate) fn diagnose() -> Result<Diagnosis> {
    let mut findings = Vec::new();
    let mut keep = |finding: &Finding| {
        findings.push(finding.clone());
        Ok(())
    };
    let (needed, optional) = look(&here()?, &checks(), &mut keep)?;
    Ok(Diagnosis { findings, verdict: verdict(&needed, optional) })
}

/// Looks at everything and reports. False means that something needed is missing.
fn run(out: &mut dyn Write) -> Result<bool> {
    examine(&here()?, &checks(), out)
}

fn here() -> Result<Machine> {
    let whereabouts = Whereabouts::of_this_process()?;
    Ok(Machine { whereabouts, version: env!("CARGO_PKG_VERSION"), port: Settings::default().port })
}

fn examine(machine: &Machine, checks: &[Check], out: &mut dyn Write) -> Result<bool> {
    let mut write = |finding: &Finding| {
        // Line by line: a slow check does not hold back what is known already.
        writeln!(out, "{}", finding.render())?;
        Ok(out.flush()?)
    };
    let (needed, optional) = look(machine, checks, &mut write)?;
    writeln!(out, "\n{}", verdict(&needed, optional))?;
    Ok(needed.is_empty())
}

/// What is needed and missing, and how many other points are open; each finding is told as it is found.
fn look(
    machine: &Machine,
    checks: &[Check],
    told: &mut dyn FnMut(&Finding) -> Result<()>,
) -> Result<(Vec<String>, usize)> {
    let (mut needed, mut optional) = (Vec::new(), 0);
    let mut before: Vec<Finding> = Vec::new();
    for check in checks {
        for finding in (check.look)(machine) {
            // Several languages may have one debugger.
            if before.contains(&finding) {
                continue;
            }
            before.push(finding.clone());
            told(&finding)?;
            match finding.status {
                FindingKind::Ok | FindingKind::Info => {}
                FindingKind::Missing if check.is_needed => needed.push(finding.what),
                FindingKind::Missing | FindingKind::Warning => optional += 1,
            }
        }
    }
    Ok((needed, optional))
}

fn verdict(needed: &[String], optional: usize) -> String {
    match (needed, optional) {
        ([], 0) => "ready: everything is here".to_owned(),
        ([], 1) => "ready: everything needed is here; 1 optional point is open".to_owned(),
        ([], more) => format!("ready: everything needed is here; {more} optional points are open"),
        (needed, _) => format!("not ready: needed, but missing: {}", needed.join(", ")),
    }
}

impl FindingKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Missing => "missing",
        }
    }
}

impl Finding {
    fn new(status: FindingKind, what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { status, what: what.into(), detail: detail.into(), fix: None }
    }

    fn with_fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    fn render(&self) -> String {
        let mut text = format!("{:<8}{}", self.status.word(), self.what);
        if !self.detail.is_empty() {
            text.push(' ');
            text.push_str(&self.detail);
        }
        if let Some(fix) = &self.fix {
            text.push_str("\n        fix: ");
            text.push_str(fix);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicU32, Ordering};

    use expect_test::{Expect, expect};

    use super::*;
    use crate::cmd::setup::whereabouts::tests::whereabouts_in;

    /// A machine inside `root`. No server listens on its port.
    pub(super) fn machine_in(root: &Path) -> Machine {
        Machine { whereabouts: whereabouts_in(root), version: "1.2.3", port: free_port() }
    }

    /// A free port that no other test gets: below the range that systems hand out, and each time another one.
    pub(super) fn free_port() -> u16 {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let start = std::process::id();
        let mut ports =
            std::iter::repeat_with(|| start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)));
        ports
            .find_map(|number| {
                let port = 20_000 + u16::try_from(number % 10_000).unwrap();
                std::net::TcpListener::bind(("127.0.0.1", port)).is_ok().then_some(port)
            })
            .unwrap()
    }

    /// The report of one check, with the folder of the test cut out.
    pub(super) fn report(root: &Path, findings: &[Finding]) -> String {
        let lines: Vec<String> = findings.iter().map(Finding::render).collect();
        lines.join("\n").replace(root.to_str().unwrap(), "")
    }

    #[track_caller]
    fn check(checks: &[Check], is_ready: bool, expected: Expect) {
        let root = tempfile::tempdir().unwrap();
        let mut out = Vec::new();
        assert_eq!(examine(&machine_in(root.path()), checks, &mut out).unwrap(), is_ready);
        expected.assert_eq(&String::from_utf8(out).unwrap());
    }

    const GOOD: fn(&Machine) -> Vec<Finding> =
        |_| vec![Finding::new(FindingKind::Ok, "python3 3.11.7", "at /bin/python3")];
    const INFO: fn(&Machine) -> Vec<Finding> =
        |_| vec![Finding::new(FindingKind::Info, "no server is running", "")];
    const WARNING: fn(&Machine) -> Vec<Finding> = |_| {
        vec![
            Finding::new(FindingKind::Warning, "node 18.1.0", "is old").with_fix("install node 20"),
        ]
    };
    const MISSING: fn(&Machine) -> Vec<Finding> = |_| {
        vec![
            Finding::new(FindingKind::Missing, "home folder /x", "is not writable")
                .with_fix("chmod u+w /home/x"),
        ]
    };

    #[test]
    fn a_healthy_machine_is_ready() {
        check(
            &[
                Check { is_needed: true, look: Box::new(GOOD) },
                Check { is_needed: false, look: Box::new(INFO) },
            ],
            true,
            expect![[r#"
                ok      python3 3.11.7 at /bin/python3
                info    no server is running

                ready: everything is here
            "#]],
        );
    }

    #[test]
    fn what_is_optional_does_not_stand_in_the_way() {
        check(
            &[
                Check { is_needed: true, look: Box::new(GOOD) },
                Check { is_needed: true, look: Box::new(WARNING) },
                Check { is_needed: false, look: Box::new(MISSING) },
            ],
            true,
            expect![[r#"
                ok      python3 3.11.7 at /bin/python3
                warning node 18.1.0 is old
                        fix: install node 20
                missing home folder /x is not writable
                        fix: chmod u+w /home/x

                ready: everything needed is here; 2 optional points are open
            "#]],
        );
    }

    #[test]
    fn what_is_needed_and_missing_does() {
        check(
            &[
                Check { is_needed: true, look: Box::new(MISSING) },
                Check { is_needed: false, look: Box::new(WARNING) },
            ],
            false,
            expect![[r#"
                missing home folder /x is not writable
                        fix: chmod u+w /home/x
                warning node 18.1.0 is old
                        fix: install node 20

                not ready: needed, but missing: home folder /x
            "#]],
        );
    }

    #[test]
    fn every_check_answers_on_an_empty_machine() {
        let root = tempfile::tempdir().unwrap();
        let mut machine = machine_in(root.path());
        machine.whereabouts.search_path = None;
        let mut out = Vec::new();
        assert!(
            examine(&machine, &checks(), &mut out).unwrap(),
            "{}",
            String::from_utf8_lossy(&out)
        );

        machine.whereabouts.home = None;
        assert!(
            !examine(&machine, &checks(), &mut out).unwrap(),
            "{}",
            String::from_utf8_lossy(&out)
        );
    }
}
