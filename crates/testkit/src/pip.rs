//! Python packages as the index has them, for tests that need the real thing.
//!
//! Installed once beside the build, whoever comes first, in whichever process. One that cannot be
//! installed fails the test that needs it: a skip would be silence.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::debug::{ask_python, held};

/// A `python3` that can import what was asked for.
pub struct Packages {
    python: String,
    folder: PathBuf,
}

/// Installs packages into a folder of their own below `folder`, which is a test's `CARGO_TARGET_TMPDIR`.
#[track_caller]
pub fn packages(folder: &str, name: &str, pins: &[&str]) -> Packages {
    let parent = Path::new(folder).join("python");
    std::fs::create_dir_all(&parent).unwrap();
    let _held = held(&parent.join(format!("{name}.lock")));
    let python = ask_python("import sys; print(sys.executable)");
    let folder = parent.join(name);
    // What was installed by another Python, or with other versions, is not what was asked for.
    let wanted = format!("{}\n{}", ask_python("import sys; print(sys.version)"), pins.join("\n"));
    let stamp = folder.join("installed.txt");
    if std::fs::read_to_string(&stamp).ok().as_deref() != Some(&wanted) {
        // Nothing to remove is as good as removed.
        std::fs::remove_dir_all(&folder).ok();
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
        pip.arg("--target").arg(&folder).args(pins);
        assert!(pip.status().unwrap().success(), "pip install {}", pins.join(" "));
        std::fs::write(&stamp, wanted).unwrap();
    }
    Packages { python, folder }
}

impl Packages {
    /// What a script prints, given this on stdin.
    #[track_caller]
    pub fn run(&self, script: &Path, input: &[u8]) -> Vec<u8> {
        let mut command = Command::new(&self.python);
        command.arg(script).env("PYTHONPATH", &self.folder).env("PYTHONDONTWRITEBYTECODE", "1");
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("python3");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_owned();
        // A script that ends without reading fails below, by its status.
        let feeder = std::thread::spawn(move || stdin.write_all(&input).ok());
        let output = child.wait_with_output().unwrap();
        feeder.join().expect("the feeder ends with the pipe");
        assert!(output.status.success(), "{} failed", script.display());
        output.stdout
    }
}
