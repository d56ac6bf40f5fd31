//! One Holdpoint process with a home folder of its own.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread::JoinHandle,
};

use crate::until;

pub struct Process {
    child: Child,
    stderr: Option<JoinHandle<String>>,
    pub home: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Process {
    /// `stdin` and `stdout` are pipes; stderr is kept for [`Process::end`].
    pub fn start(bin: &str, args: &[&str]) -> Process {
        Process::start_with(bin, args, |_| {})
    }

    pub fn start_with(bin: &str, args: &[&str], change: impl FnOnce(&mut Command)) -> Process {
        let folder = home();
        let home = folder.path().to_owned();
        let mut process = Process::start_at(bin, args, &home, change);
        process._folder = Some(folder);
        process
    }

    pub fn start_at(
        bin: &str,
        args: &[&str],
        home: &Path,
        change: impl FnOnce(&mut Command),
    ) -> Process {
        let mut command = command(bin, args, home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().expect("the binary starts");
        let stderr = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut text = String::new();
                stderr.read_to_string(&mut text).map(|_| text).unwrap_or_default()
            })
        });
        Process { child, stderr, home: home.to_owned(), _folder: None }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// The port, once the server has bound it.
    pub fn port(&mut self) -> u16 {
        let file = self.home.join("port");
        until("a port file", || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "the server ended with {ended:?}");
            std::fs::read_to_string(&file).ok()?.parse().ok()
        })
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the process to end by itself; its status and what it wrote to stderr.
    pub fn end(&mut self) -> (ExitStatus, String) {
        let status = until("the end of the process", || self.child.try_wait().unwrap());
        let stderr = self.stderr.take().map(|it| it.join().unwrap()).unwrap_or_default();
        (status, stderr)
    }

    /// `TERM`, `INT`, `HUP`, `KILL`, `STOP` …
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.id().to_string()]).status();
        assert!(status.unwrap().success(), "kill -s {name}");
    }

    /// Resident memory in kilobytes.
    pub fn rss_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error here means that it is gone already.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// As `kill -9` does it.
pub fn kill(pid: u32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.unwrap().success(), "there is no process {pid}");
}

/// The process that works in this folder and has this name.
pub fn working_in(folder: &Path, name: &str) -> Option<u32> {
    let all = std::fs::read_dir("/proc").ok()?.flatten();
    let is_it = |pid: &u32| {
        let of = |what: &str| PathBuf::from(format!("/proc/{pid}/{what}"));
        let is_here = std::fs::read_link(of("cwd")).is_ok_and(|it| it == folder);
        is_here && std::fs::read_to_string(of("comm")).is_ok_and(|it| it.trim_end() == name)
    };
    all.filter_map(|it| it.file_name().to_str()?.parse().ok()).find(is_it)
}

/// A home as Holdpoint makes it, for its user alone; a wider one would be narrowed with a line.
pub fn home() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let own = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(folder.path(), own).expect("it is ours");
    folder
}

/// The command with a clean environment of ours, so that a developer's settings change no test.
pub fn command(bin: &str, args: &[&str], home: &Path) -> Command {
    let mut command = Command::new(bin);
    command.args(args).env("HOLDPOINT_HOME", home).env("HOME", home);
    let ours = |name: &str| name.starts_with("HOLDPOINT_") || name.starts_with("CIDELDILL_");
    for (name, _) in std::env::vars() {
        if ours(&name) && name != "HOLDPOINT_HOME" {
            command.env_remove(name);
        }
    }
    command.env_remove("XDG_CONFIG_HOME").env_remove("CODEX_HOME");
    command.env_remove("CLAUDE_PROJECT_DIR");
    command
}

/// Runs a command to its end: exit code, stdout, stderr.
pub fn run(bin: &str, args: &[&str], home: &Path) -> (i32, String, String) {
    let output = command(bin, args, home).stdin(Stdio::null()).output().expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}
