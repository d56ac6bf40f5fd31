//! `holdpoint run`: starts an app with the Python client where every Python process of it finds it.
//!
//! The client is embedded in this binary and unpacked below the home folder. All the rest is done by the
//! environment, so whatever the app starts is watched as well; then this process becomes the app, so that
//! its exit code, its signals and its terminal are its own. With `--record` its lines are recorded, too; who waits
//! for the end of that stands beside the app.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    net::{SocketAddr, TcpStream, ToSocketAddrs as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Duration,
};

use anyhow::{Context as _, bail};
use holdpoint_engine::{
    adapter,
    launch::Launch,
    recordings::{BegunRecording, RecordAsk, Recordings},
    secrets::Secrets,
};

use crate::{
    app::VERSION,
    config::{Config, Settings},
    home,
    http::serving::port_file,
    servers::{self, Server},
    stderr,
};

/// A server on this machine accepts at once or not at all.
const PATIENCE: Duration = Duration::from_secs(2);

macro_rules! client {
    ($($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../../../../clients/python/holdpoint/", $file)))),+]
    };
}

/// The Python client, file by file.
const FILES: &[(&str, &str)] = client![
    "__init__.py",
    "__main__.py",
    "_api.py",
    "_batch.py",
    "_boot/sitecustomize.py",
    "_call.py",
    "_drive.py",
    "_http.py",
    "_imports.py",
    "_limits.py",
    "_names.py",
    "_points.py",
    "_proxy.py",
    "_repl.py",
    "_runtime.py",
    "_say.py",
    "_settings.py",
    "_ship.py",
    "_stack.py",
    "_trust.py",
    "_values.py",
    "_version.py",
    "_watch.py",
    "_watched.py",
    "_wrap.py",
    "placeholder.py",
];

/// Start a Python app with its calls recorded, without editing it
///
/// The command runs as it would without us, with its own exit code; the Python processes in it
/// load the client. Example: holdpoint run --watch 'shop.cart:Cart.add' -- python app.py
#[derive(clap::Parser)]
pub(crate) struct Run {
    /// Wrap these functions: `pkg.module:func`, `pkg.module:Class.method`, `pkg.module` (all of
    /// it), `pkg.*`; the program itself by its file's name, `app:main`; may be repeated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    watch: Vec<String>,
    /// Record it as well, line by line, under this name if one is given; the recording can be asked
    /// while the app runs. `--` stands before the command then
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    record: Option<String>,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

impl super::Command for Run {
    const NAME: &'static str = "run";
    const TAKES: &'static [&'static str] = &["url", "token", "token-file"];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        self.run_with(&config.settings.with_token()?)
    }
}

impl Run {
    fn run_with(&self, server: &Settings) -> anyhow::Result<ExitCode> {
        let [program, arguments @ ..] = self.command.as_slice() else {
            bail!("no command\nhint: holdpoint run --watch 'pkg.module:func' -- python app.py");
        };
        let url = server.url.clone().or_else(of_this_folder);
        let found = find_server(url.as_deref());
        // A recording is read by whichever server comes later.
        if self.record.is_none() || !self.watch.is_empty() {
            found?;
        }
        let mut command = Command::new(program);
        command.args(arguments);
        let recorded = self.record.as_deref().map(|name| recorded(name, &self.command));
        let recorded = recorded.transpose()?;
        let python_path = recorded.as_ref().and_then(|it| it.env().get("PYTHONPATH"));
        let python_path =
            python_path.map(OsString::from).or_else(|| std::env::var_os("PYTHONPATH"));
        command.envs(recorded.iter().flat_map(|it| it.env()));
        watched(&mut command, &self.watch, python_path, server, url.as_deref())?;
        if let Some(recorded) = &recorded {
            recorded.hand_over()?;
            super::keep::beside(recorded.id())?;
            stderr::line(&told(recorded.id()));
            stderr::finish();
        }
        // It only comes back when the program could not be started.
        let error = command.exec();
        drop(recorded);
        Err(error).with_context(|| format!("cannot start `{}`", program.display()))
    }
}

/// What the app's environment has so that its Pythons load the client and find the server.
fn watched(
    command: &mut Command,
    watch: &[String],
    python_path: Option<OsString>,
    server: &Settings,
    url: Option<&str>,
) -> anyhow::Result<()> {
    let home = home::folder().context("neither $HOLDPOINT_HOME nor a home folder is set")?;
    let folder = home.join("clients").join(format!("python-{VERSION}"));
    unpack(&folder)
        .with_context(|| format!("cannot unpack the Python client into `{}`", folder.display()))?;
    let known = python_path.unwrap_or_default();
    command.env("PYTHONPATH", with_client(&folder, &known)?).env("HOLDPOINT", "ON");
    if !watch.is_empty() {
        command.env("HOLDPOINT_WATCH", watch.join(","));
    }
    match (&server.url, url) {
        (Some(named), _) => command.env("HOLDPOINT_URL", named),
        // Not as if the user had named it: the client makes sure first that it is this user's.
        (None, Some(found)) => command.env("HOLDPOINT_FOUND", found),
        (None, None) => command,
    };
    if let Some(token) = &server.token {
        command.env("HOLDPOINT_TOKEN", token);
    }
    Ok(())
}

/// Begins a recording of the command, which is run as it is: what it starts is recorded.
fn recorded(name: &str, command: &[OsString]) -> anyhow::Result<BegunRecording> {
    let home = home::folder().context("neither $HOLDPOINT_HOME nor a home folder is set")?;
    let guard = std::env::current_exe().context("where our own binary is")?;
    let cwd = std::env::current_dir().context("the current folder is gone")?;
    let words = command.iter().map(|it| it.to_string_lossy().into_owned());
    let launch = Launch { command: words.collect(), cwd, ..Launch::default() };
    let name = Some(name.to_owned()).filter(|it| !it.is_empty());
    let ask = RecordAsk { launch, level: "auto".to_owned(), name, ..RecordAsk::default() };
    let recordings = Recordings::new(guard, home);
    Ok(recordings.accompany(&ask, adapter::all(), &Secrets::default())?)
}

/// Which recording it is, and what to ask of it.
fn told(id: &str) -> String {
    format!(
        "holdpoint: recording {id}, which can be asked while the app runs\n\
         hint: record_calls {{\"recording\": \"{id}\", \"where\": \"raised\"}}, or `holdpoint record calls \
         --recording {id}`"
    )
}

/// The server of this folder, which need not be the one that the port file names.
fn of_this_folder() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let mut running = servers::running();
    // One that is ending takes no connections any more, and is entered still.
    running.retain(Server::answers);
    servers::choose(&running, &here, &servers::project(&here)).map(Server::url)
}

/// An app under a debugger that nobody serves would run unseen; so this is said before it starts.
fn find_server(url: Option<&str>) -> anyhow::Result<()> {
    let (place, whence) = match url {
        Some(url) => (authority(url)?, format!("at {url}")),
        None => {
            let file =
                home::port_file().context("neither $HOLDPOINT_HOME nor a home folder is set")?;
            match port_file::read(&file) {
                Some(port) => (format!("127.0.0.1:{port}"), format!("on port {port}")),
                None => (String::new(), format!("(no port in {})", file.display())),
            }
        }
    };
    let addresses: Vec<SocketAddr> =
        place.to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    if addresses.iter().any(|address| TcpStream::connect_timeout(address, PATIENCE).is_ok()) {
        return Ok(());
    }
    bail!(
        "no server is running {whence}\n\
         hint: start one with `holdpoint serve`, or by any `holdpoint tool` in this folder; or pass --url"
    )
}

/// `host:port` of a server's address.
fn authority(url: &str) -> anyhow::Result<String> {
    let uri: axum::http::Uri = url.parse().with_context(|| format!("`{url}` is no address"))?;
    match (uri.host(), uri.port_u16()) {
        (Some(host), port) => Ok(format!("{host}:{}", port.unwrap_or(80))),
        _ => bail!("`{url}` is no address\nhint: write it as http://127.0.0.1:5174"),
    }
}

/// Writes what is not there yet, each file whole or not at all: other apps may be starting from it.
fn unpack(folder: &Path) -> io::Result<()> {
    for (name, text) in FILES {
        let path = folder.join("holdpoint").join(name);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let fresh = path.with_extension(format!("{}.new", std::process::id()));
        fs::write(&fresh, text)?;
        fs::rename(&fresh, &path)?;
    }
    Ok(())
}

/// Our folders first, then what was there: a package of the same name must not hide the client.
fn with_client(folder: &Path, known: &OsStr) -> anyhow::Result<OsString> {
    let ours = [folder.join("holdpoint").join("_boot"), folder.to_owned()];
    join(&ours, known).context("the home folder's path cannot be part of PYTHONPATH")
}

fn join(ours: &[PathBuf], known: &OsStr) -> Result<OsString, std::env::JoinPathsError> {
    let theirs = std::env::split_paths(known)
        .filter(|path| !path.as_os_str().is_empty() && !ours.contains(path));
    std::env::join_paths(ours.iter().cloned().chain(theirs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_client_is_embedded() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python/holdpoint");
        let mut found = Vec::new();
        for folder in ["", "_boot/"] {
            for entry in fs::read_dir(package.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if name.ends_with(".py") {
                    found.push(format!("{folder}{name}"));
                }
            }
        }
        found.sort();
        let embedded: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(found, embedded);
    }

    #[test]
    fn the_client_has_our_version() {
        let (_, text) = FILES.iter().find(|(name, _)| *name == "_version.py").unwrap();
        assert!(text.contains(&format!("VERSION = \"{VERSION}\"")), "{text}");
    }

    #[test]
    fn our_folders_come_first_and_once() {
        let ours = [PathBuf::from("/h/_boot"), PathBuf::from("/h")];
        let joined = join(&ours, OsStr::new("/a:/h::/b")).unwrap();
        assert_eq!(joined, "/h/_boot:/h:/a:/b");
        assert_eq!(join(&ours, OsStr::new("")).unwrap(), "/h/_boot:/h");
    }

    #[test]
    fn an_address_has_a_host_and_a_port() {
        assert_eq!(authority("http://127.0.0.1:5174/").unwrap(), "127.0.0.1:5174");
        assert_eq!(authority("http://[::1]:80").unwrap(), "[::1]:80");
        assert!(authority("/no/host").is_err());
    }
}
