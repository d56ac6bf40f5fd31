//! The Python client's own tests, against the server that was built.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::{Site, Step, sdk_python, show};
use crate::install::venv;
use crate::summary::Outcome;

pub(super) const CLIENT_PYTHON: Step = Step {
    name: "client-python",
    about: "clients/python against the server",
    run: client_python,
    again: true,
};

const LIMIT: Duration = Duration::from_secs(20 * 60);

fn client_python(site: &Site) -> Result<Outcome> {
    let folder = site.workspace.root.join("clients/python");
    let requirements = folder.join("tests/requirements.txt");
    let python = venv(site.workspace, "client-python", &requirements)?;
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "-ra", "-p", "no:cacheprovider", "tests"])
        .current_dir(&folder)
        .env("HOLDPOINT_BIN", site.holdpoint()?)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let finished = show(&mut command, LIMIT)?;
    let totals = sdk_python::totals(&finished.stdout);
    Ok(Outcome::of_tests(&finished, totals, "pytest clients/python"))
}
