//! The port, written where clients look for it, and taken away at exit.
//!
//! Several servers may have one home: the file has a line for each that lives, the newest first, so that one is
//! found when another ends. With one server it is that server's port and nothing else, as it always was.

use std::{
    fs, io,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
};

use holdpoint_engine::limits;

use crate::home;

/// Files that hold our port for as long as this lives.
pub(crate) struct PortFiles {
    port: u16,
    written: Vec<Place>,
}

impl PortFiles {
    /// A file that cannot be written is no reason not to serve.
    pub(crate) fn write(port: u16) -> PortFiles {
        let mut written = Vec::new();
        for place in places() {
            let enter = |others: Vec<u16>, _| Some([vec![port], others].concat());
            let path = &place.path;
            match change(&place, port, enter) {
                Ok(()) => written.push(place),
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "the port file was not written");
                }
            }
        }
        PortFiles { port, written }
    }
}

impl Drop for PortFiles {
    fn drop(&mut self) {
        for place in &self.written {
            // Where another server has taken the file over, it is not ours to change.
            let leave = |others, is_named: bool| is_named.then_some(others);
            if let Err(error) = change(place, self.port, leave) {
                let path = place.path.display();
                tracing::debug!(%path, %error, "the port file still names us");
            }
        }
    }
}

/// A file where clients look.
struct Place {
    path: PathBuf,
    /// Whether its readers know of more than one server; others take the newest.
    names_all: bool,
}

/// The port of the server that started last, or of the newest of several that answers.
pub(crate) fn read(path: &Path) -> Option<u16> {
    let ports = all(&fs::read_to_string(path).ok()?);
    let first = ports.first().copied();
    match ports.as_slice() {
        [] | [_] => first,
        several => several.iter().copied().find(|port| answers(*port)).or(first),
    }
}

/// Every port that a port file names, the newest first.
pub(crate) fn all(text: &str) -> Vec<u16> {
    let ports = text.lines().filter_map(|line| line.trim().parse().ok());
    ports.filter(|port| *port != 0).take(limits::PORT_LINES).collect()
}

/// Whether anybody takes connections there.
pub(crate) fn answers(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, limits::PORT_ANSWERS).is_ok()
}

/// Writes what `make` makes of the other servers that live and of whether we are named; a file without any goes.
fn change(
    place: &Place,
    own: u16,
    make: impl Fn(Vec<u16>, bool) -> Option<Vec<u16>>,
) -> io::Result<()> {
    let path = &place.path;
    if let Some(folder) = path.parent() {
        home::make(folder)?;
    }
    // One at a time: another server may start or end in the same moment.
    let turn = home::kept(&path.with_extension("lock"))?;
    turn.lock()?;
    let before = all(&fs::read_to_string(path).unwrap_or_default());
    let is_named = before.contains(&own);
    let others = before.into_iter().filter(|port| *port != own && answers(*port));
    let Some(mut after) = make(others.collect(), is_named) else { return Ok(()) };
    if after.is_empty() && !place.names_all {
        // It can name one only: the next newest is in the other file.
        after.extend(home::port_file().and_then(|path| read(&path)).filter(|port| *port != own));
    }
    if after.is_empty() {
        return fs::remove_file(path);
    }
    let most = if place.names_all { limits::PORT_LINES } else { 1 };
    let lines: Vec<String> = after.iter().take(most).map(u16::to_string).collect();
    home::put(path, &lines.join("\n"))
}

/// Ours, and the places where existing clients of the function-level protocol look.
fn places() -> Vec<Place> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let theirs = set("CIDELDILL_PORT_FILE")
        .or_else(|| set("CIDELDILL_HOME").map(|home| home.join("port")))
        .or_else(|| {
            let folder = std::env::home_dir()?.join(".cideldill");
            folder.is_dir().then(|| folder.join("port"))
        });
    let ours = home::port_file().map(|path| Place { path, names_all: true });
    ours.into_iter().chain(theirs.map(|path| Place { path, names_all: false })).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn listener() -> (TcpListener, u16) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    #[test]
    fn each_server_has_a_line_and_takes_only_its_own_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("port");
        let place = Place { path: path.clone(), names_all: true };
        let ((_older, one), (newer, two)) = (listener(), listener());
        let text = || fs::read_to_string(&path).unwrap();
        let enter =
            |own: u16| change(&place, own, |others, _| Some([vec![own], others].concat())).unwrap();
        enter(one);
        assert_eq!(text(), one.to_string(), "one server alone: as it always was");
        enter(two);
        assert_eq!((text(), read(&path)), (format!("{two}\n{one}"), Some(two)));
        change(&place, two, |others, _| Some(others)).unwrap();
        assert_eq!(text(), one.to_string());
        // One that was killed stays named, and is not taken.
        enter(two);
        drop(newer);
        assert_eq!(read(&path), Some(one));
        change(&place, one, |others, _| Some(others)).unwrap();
        assert!(!path.exists());
    }
}
