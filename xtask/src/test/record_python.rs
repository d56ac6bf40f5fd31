//! The Python recorder's own tests, on every Python that is here: the compiled library is built first.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Site, Step, sdk_python, show};
use crate::install::venv;
use crate::summary::Outcome;

pub(super) const RECORD_PYTHON: Step = Step {
    name: "record-python",
    about: "the recorder inside Python programs",
    run: record_python,
    again: true,
};

const LIMIT: Duration = Duration::from_secs(20 * 60);

fn record_python(site: &Site) -> Result<Outcome> {
    let folder = site.workspace.root.join("clients/python/record");
    let requirements = folder.join("tests/requirements.txt");
    let python = venv(site.workspace, "record-python", &requirements)?;
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "-ra", "-p", "no:cacheprovider", "tests"])
        .current_dir(&folder)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let finished = show(&mut command, LIMIT)?;
    let totals = sdk_python::totals(&finished.stdout);
    Ok(Outcome::of_tests(&finished, totals, "pytest clients/python/record"))
}
