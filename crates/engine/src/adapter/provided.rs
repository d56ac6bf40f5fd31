//! What we bring along for programs: in our home, or where that cannot be written, in a temporary folder of
//! this user. A full disk, or a home that somebody else owns, is no reason not to debug.

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

/// Enough to find a full disk, and nothing beside what is to be written.
static PROBE: [u8; 64 * 1024] = [0; 64 * 1024];

/// Does `make` below the home, or below the temporary folder if that fails.
pub(super) fn below<T>(home: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    make(home).or_else(|error| {
        tracing::debug!(%error, home = %home.display(), "the home cannot be written");
        // What is wrong with the home is the better reason.
        make(&spare()?).map_err(|_| error)
    })
}

/// The home, or the temporary folder where it does not take what is to be installed.
pub(super) fn writable(home: &Path) -> io::Result<PathBuf> {
    match probe(home) {
        Ok(()) => Ok(home.to_owned()),
        Err(error) => spare().map_err(|_| error),
    }
}

fn probe(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join(format!(".{}.probe", std::process::id()));
    let written = std::fs::write(&file, PROBE);
    let removed = std::fs::remove_file(&file);
    written.and(removed)
}

/// One for all servers of this user. Whoever else made it, it is not taken.
pub(super) fn spare() -> io::Result<PathBuf> {
    let me = rustix::process::getuid().as_raw();
    let folder = std::env::temp_dir().join(format!("holdpoint-{me}"));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(&folder)?;
    if found.is_dir() && found.uid() == me && found.mode() & 0o077 == 0 {
        return Ok(folder);
    }
    let text = format!("`{}` is not this user's alone", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

/// A file that we bring along, whole or not at all: another server may read it now.
pub(super) fn write_once(file: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    if std::fs::read(file).is_ok_and(|found| found == content.as_ref()) {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = file.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&new, content)?;
    std::fs::rename(new, file)
}
