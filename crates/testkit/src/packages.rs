//! Real packages: copied so that a bug can be planted in them, or used as they are by a script.
//!
//! `cargo xtask test` installs them; what is missing is a failure, never a skip.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A copy of a package in a folder of its own, where its suite runs as it does at home.
pub struct Package {
    _folder: tempfile::TempDir,
    pub root: PathBuf,
}

impl Package {
    /// Sources of the archive `name` from PyPI, with the environment that its suite needs as `.venv`.
    pub fn python(name: &str) -> Package {
        let package = Package::copy(&installed("packages-python-sources").join(name), name);
        link(&installed("packages-python"), &package.root.join(".venv"));
        package
    }

    /// The npm package `name`, with what its suite needs as `node_modules`.
    pub fn node(name: &str) -> Package {
        let modules = installed("packages-node").join("node_modules");
        let package = Package::copy(&modules.join(name), name);
        link(&modules, &package.root.join("node_modules"));
        package
    }

    /// The Go module `name`, `github.com/google/btree@v1.1.3`.
    pub fn go(name: &str) -> Package {
        let folder = name.rsplit('/').next().unwrap_or(name).split('@').next().unwrap_or(name);
        Package::copy(&installed("packages-go").join(name), folder)
    }

    fn copy(from: &Path, name: &str) -> Package {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join(name);
        copy_tree(from, &root);
        Package { _folder: folder, root }
    }

    /// Replaces text that occurs exactly once.
    #[track_caller]
    pub fn replace(&self, file: &str, old: &str, new: &str) {
        let path = self.root.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {file}");
        std::fs::write(&path, text.replace(old, new)).unwrap();
    }

    /// The number of the first line with `text` after the first with `after`.
    #[track_caller]
    pub fn line(&self, file: &str, after: &str, text: &str) -> usize {
        let content = std::fs::read_to_string(self.root.join(file)).unwrap();
        let lines = (1..).zip(content.lines()).skip_while(|(_, line)| !line.contains(after));
        let found = lines.skip(1).find(|(_, line)| line.contains(text));
        found.unwrap_or_else(|| panic!("no `{text}` after `{after}` in {file}")).0
    }
}

/// A Python that can import packages of the index.
pub struct Environment {
    python: PathBuf,
}

impl Environment {
    pub fn of(name: &str) -> Environment {
        Environment { python: installed(name).join("bin").join("python") }
    }

    /// What a script prints, given this on stdin.
    #[track_caller]
    pub fn run(&self, script: &Path, input: &[u8]) -> Vec<u8> {
        let mut command = Command::new(&self.python);
        command.arg(script).env("PYTHONDONTWRITEBYTECODE", "1");
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("a Python");
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

/// What `cargo xtask` put there.
/// A script that finds what not everybody can use of a page.
pub fn axe() -> String {
    let file = installed("packages-page").join("node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(file).unwrap()
}

pub(crate) fn installed(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/xtask").join(name);
    let complete = folder.join(".xtask-stamp").is_file();
    assert!(complete, "no {name}: `cargo xtask install` installs what this test needs");
    folder.canonicalize().unwrap()
}

pub(crate) fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

/// All files of a folder, in another.
pub fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}
