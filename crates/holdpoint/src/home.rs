//! Where Holdpoint keeps its own files: `$HOLDPOINT_HOME`, or `.holdpoint` in the user's home.
//!
//! What lies there is the user's alone: the folder is made so, one that is wider is narrowed, and the files in it are
//! made so as well, since the folder may be widened again.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{
        DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
    },
    path::{Path, PathBuf},
};

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;
/// What is not the user's own of a mode.
const OTHERS: u32 = 0o077;

pub(crate) fn folder() -> Option<PathBuf> {
    let set = std::env::var_os("HOLDPOINT_HOME").filter(|value| !value.is_empty());
    set.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".holdpoint")))
}

/// Where running servers enter themselves, and those that `holdpoint tool` started keep their logs.
pub(crate) fn servers() -> Option<PathBuf> {
    Some(folder()?.join("servers"))
}

/// Holds the port of the server that started last and still runs.
pub(crate) fn port_file() -> Option<PathBuf> {
    Some(folder()?.join("port"))
}

/// What of the home others could read until now.
const OURS: &[&str] = &["", "holdpoint.db", "holdpoint.db-wal", "holdpoint.db-shm", "port", "key"];

/// Makes the home, for this user alone, and narrows what is wider. A home that cannot be made is no reason not to
/// serve: whatever needs it says so.
pub(crate) fn close_to_others() {
    let Some(home) = folder() else { return };
    if let Err(error) = make(&home) {
        tracing::debug!(home = %home.display(), %error, "the home is not there");
        return;
    }
    for name in OURS {
        let path = if name.is_empty() { home.clone() } else { home.join(name) };
        match narrow(&path) {
            Ok(false) => {}
            Ok(true) => {
                tracing::warn!(path = %path.display(), "others could read this; now only you can");
            }
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "others may read this");
            }
        }
    }
}

/// A folder with those above it.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(folder)
}

/// Whether it was wider. What is not there is not; a link is not followed.
fn narrow(path: &Path) -> io::Result<bool> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let is_wider = found.mode() & OTHERS != 0;
    if found.is_symlink() || !is_wider {
        return Ok(false);
    }
    fs::set_permissions(path, Permissions::from_mode(found.mode() & !OTHERS))?;
    Ok(true)
}

/// A new file for this user alone. Whatever lies at its name, a link above all, is not written through.
pub(crate) fn fresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(FILE).open(path)
}

/// A file that stays what it is, opened for this user alone and through no link.
pub(crate) fn kept(path: &Path) -> io::Result<File> {
    let no_link = nix::libc::O_NOFOLLOW;
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE)
        .custom_flags(no_link)
        .open(path)
}

/// Whole or not at all: a reader never sees half of it. A link at its name is replaced, not followed.
pub(crate) fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make(folder)?;
    }
    let new = path.with_extension(format!("{}.new", std::process::id()));
    fresh(&new)?.write_all(text.as_bytes())?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn what_is_put_is_ours_alone_and_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "untouched").unwrap();
        let path = folder.path().join("home").join("port");
        make(path.parent().unwrap()).unwrap();
        assert_eq!(mode(path.parent().unwrap()), FOLDER);
        symlink(&victim, &path).unwrap();
        let new = path.with_extension(format!("{}.new", std::process::id()));
        symlink(&victim, new).unwrap();
        put(&path, "5174").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("5174", FILE));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    }

    #[test]
    fn what_is_wider_is_narrowed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
        assert!(narrow(&path).unwrap());
        assert_eq!(mode(&path), FILE);
        assert!(!narrow(&path).unwrap());
        assert!(!narrow(&folder.path().join("none")).unwrap());
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(!narrow(&link).unwrap(), "what a link leads to is not ours to change");
    }
}
