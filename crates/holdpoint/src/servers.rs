//! The servers that run on this machine, each with its folder, so that a shell finds the one it means.
//!
//! Every server enters itself in a file of its own below the home folder and holds a lock on it for as
//! long as it lives. The system gives the lock back however the process ends, so nobody has to guess
//! from a process id whether an entry is still true.

pub(crate) mod find;
pub(crate) mod start;
pub(crate) mod trust;

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{app::VERSION, home, http::serving::port_file};

/// The form of an entry. A newer server may write another one, which is then not ours to judge.
const FORMAT: u32 = 1;

/// No entry comes near this size; what does is not one.
const ENTRY_BYTES_MAX: u64 = 64 << 10;

/// Who started a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Starter {
    /// A person: `holdpoint serve`.
    Person,
    /// An agent's configuration: `holdpoint mcp`. It ends with its agent.
    Agent,
    /// `holdpoint tool`, where no server ran. It ends when nobody needs it.
    Tool,
}

/// A running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Server {
    format: u32,
    version: String,
    pub(crate) pid: u32,
    pub(crate) port: u16,
    /// The folder it was started in, or for.
    pub(crate) folder: PathBuf,
    pub(crate) starter: Starter,
    /// Milliseconds since 1970.
    started_ms: i64,
}

/// A server is entered for as long as this lives.
pub(crate) struct Entered {
    path: PathBuf,
    _locked: File,
}

impl Server {
    /// This process, in its folder.
    pub(crate) fn here(port: u16, starter: Starter) -> Server {
        Server {
            format: FORMAT,
            version: VERSION.to_owned(),
            pid: std::process::id(),
            port,
            folder: std::env::current_dir().unwrap_or_default(),
            starter,
            started_ms: jiff::Timestamp::now().as_millisecond(),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Whether anybody takes connections there.
    pub(crate) fn answers(&self) -> bool {
        port_file::answers(self.port)
    }

    /// An entry that cannot be written is no reason not to serve.
    pub(crate) fn enter(&self) -> Option<Entered> {
        let path = home::servers()?.join(format!("{}.json", self.pid));
        match self.write(&path) {
            Ok(locked) => Some(Entered { path, _locked: locked }),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "this server is not entered");
                None
            }
        }
    }

    /// Locked before it has its name, so that nobody takes it for one that was left behind.
    fn write(&self, path: &Path) -> io::Result<File> {
        if let Some(folder) = path.parent() {
            home::make(folder)?;
        }
        let fresh = path.with_extension("new");
        let mut file = home::fresh(&fresh)?;
        file.lock()?;
        file.write_all(serde_json::to_string(self)?.as_bytes())?;
        fs::rename(&fresh, path)?;
        Ok(file)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "an entry stays behind");
        }
    }
}

/// Every running server. What a killed one left behind is removed.
pub(crate) fn running() -> Vec<Server> {
    let entries = home::servers().and_then(|folder| fs::read_dir(folder).ok());
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|it| it == "json")).filter_map(look).collect()
}

fn look(path: PathBuf) -> Option<Server> {
    let file = OpenOptions::new().read(true).open(&path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) => {
            fs::remove_file(&path).unwrap_or_default();
            return None;
        }
        // A file system without locks: what is there is taken at its word.
        Err(TryLockError::Error(_)) => {}
    }
    let mut text = String::new();
    file.take(ENTRY_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str::<Server>(&text).ok().filter(|server| server.format == FORMAT)
}

/// The server that somebody in the folder `here` of `project` means.
///
/// One whose own folder holds this one, the nearest first; one that `holdpoint tool` started is for
/// its own project alone. Else the one that a person started last, wherever that was.
pub(crate) fn choose<'a>(servers: &'a [Server], here: &Path, project: &Path) -> Option<&'a Server> {
    let is_near = |server: &&Server| match server.starter {
        Starter::Person | Starter::Agent => here.starts_with(&server.folder),
        Starter::Tool => server.folder == project,
    };
    let depth = |server: &Server| server.folder.components().count();
    let near = servers.iter().filter(is_near).max_by_key(|it| (depth(it), it.started_ms));
    let by_person = servers.iter().filter(|server| server.starter == Starter::Person);
    near.or_else(|| by_person.max_by_key(|server| server.started_ms))
}

/// The folder that stands for a project: the nearest one above that is a repository, else this one.
pub(crate) fn project(here: &Path) -> PathBuf {
    let home = std::env::home_dir();
    let is_root = |folder: &&Path| folder.join(".git").exists();
    here.ancestors()
        // A home folder under version control is nobody's project.
        .take_while(|folder| Some(*folder) != home.as_deref() || *folder == here)
        .find(is_root)
        .unwrap_or(here)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(pid: u32, starter: Starter, folder: &str) -> Server {
        let started_ms = i64::from(pid);
        Server { pid, started_ms, folder: folder.into(), ..Server::here(5174, starter) }
    }

    #[track_caller]
    fn check(servers: &[Server], here: &str, project: &str, expected: Option<u32>) {
        let chosen = choose(servers, Path::new(here), Path::new(project));
        assert_eq!(chosen.map(|server| server.pid), expected, "in {here}");
    }

    #[test]
    fn the_nearest_server_is_the_one_that_is_meant() {
        let servers = [
            server(1, Starter::Agent, "/home/ann"),
            server(2, Starter::Agent, "/home/ann/shop"),
            server(3, Starter::Tool, "/home/ann/mill"),
        ];
        check(&servers, "/home/ann/shop/src", "/home/ann/shop", Some(2));
        check(&servers, "/home/ann/shopping", "/home/ann/shopping", Some(1));
        check(&servers, "/home/ann/mill/src", "/home/ann/mill", Some(3));
        check(&servers, "/srv", "/srv", None);
    }

    #[test]
    fn what_a_tool_started_is_for_its_own_project() {
        let servers = [server(1, Starter::Tool, "/home/ann")];
        check(&servers, "/home/ann", "/home/ann", Some(1));
        check(&servers, "/home/ann/shop", "/home/ann/shop", None);
    }

    #[test]
    fn a_persons_server_is_there_for_every_folder() {
        let servers = [
            server(1, Starter::Person, "/a"),
            server(2, Starter::Person, "/b"),
            server(3, Starter::Agent, "/c"),
        ];
        check(&servers, "/elsewhere", "/elsewhere", Some(2));
        check(&servers, "/a", "/a", Some(1));
    }

    #[test]
    fn a_project_is_the_nearest_repository() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("shop/src/till");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(project(&deep), deep);
        fs::create_dir(root.path().join("shop/.git")).unwrap();
        assert_eq!(project(&deep), root.path().join("shop"));
    }

    #[test]
    fn an_entry_lives_as_long_as_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.json");
        let server = server(7, Starter::Tool, "/home/ann");
        let locked = server.write(&path).unwrap();
        assert_eq!(look(path.clone()), Some(server));
        drop(locked);
        assert_eq!(look(path.clone()), None);
        assert!(!path.exists(), "what was left behind is removed");
    }
}
