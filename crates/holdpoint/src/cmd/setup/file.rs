//! The configuration file on disk: read it, back it up, put a new text in its place.
//!
//! A reader of the file sees the old text or the new one, never half of it:
//! the new text is written beside the file and renamed over it.
//! A symbolic link is followed, so a file kept in a dotfiles folder stays there and its link stays a link.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

/// No configuration comes near this size; what does is not one.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// As many as the Linux kernel follows.
const LINKS_MAX: usize = 40;

/// Nobody has that many backups by intention.
const BACKUPS_MAX: usize = 100;

/// The text of the file, or nothing when there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(|error| cannot_read(path, &error))?,
    };
    if !metadata.is_file() {
        // Opening a pipe would wait for a writer.
        bail!("`{}` is not a file\nhint: move it away, then run this again", path.display());
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| cannot_read(path, &error))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        bail!(
            "`{}` is larger than {FILE_BYTES_MAX} bytes\nhint: check that it is a configuration",
            path.display()
        );
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        anyhow!(
            "`{}` is not UTF-8 at byte {place}\nhint: save it as UTF-8, then run this again",
            path.display()
        )
    })?;
    Ok(Some(text))
}

/// Writes a file that does not exist yet, and the folders above it.
pub(super) fn create(path: &Path, text: &str) -> Result<()> {
    let path = follow_links(path)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    }
    write_whole(&path, text, None).map_err(|error| cannot_write(&path, &error))
}

/// Replaces the text of a file and returns where the old text is kept.
pub(super) fn replace(path: &Path, old: &str, new: &str) -> Result<PathBuf> {
    let path = follow_links(path)?;
    let metadata = fs::metadata(&path).map_err(|error| cannot_write(&path, &error))?;
    if metadata.permissions().readonly() {
        bail!(
            "`{}` is read-only\nhint: make it writable, or change it where it is generated from",
            path.display()
        );
    }
    let backup = back_up(&path, old, &metadata)?;
    write_whole(&path, new, Some(&metadata)).map_err(|error| cannot_write(&path, &error))?;
    Ok(backup)
}

fn cannot_read(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("cannot read `{}`: {error}\nhint: check who may read it", path.display())
}

fn cannot_write(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("cannot write `{}`: {error}\nhint: check who may write to its folder", path.display())
}

/// Where a link leads, even if nothing is there yet.
fn follow_links(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    bail!(
        "`{}` is a symbolic link that leads in a circle\nhint: remove it, then run this again",
        path.display()
    )
}

/// Keeps the old text beside the file, under the first free name.
fn back_up(path: &Path, text: &str, like: &Metadata) -> Result<PathBuf> {
    for number in 1..=BACKUPS_MAX {
        let ending = if number == 1 { String::new() } else { format!("-{number}") };
        let backup = with_suffix(path, &format!(".holdpoint-backup{ending}"));
        match write_new(&backup, text, Some(like)) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot_write(&backup, &error)),
        }
    }
    bail!(
        "`{}` has {BACKUPS_MAX} backups beside it\nhint: delete the ones you no longer need",
        path.display()
    )
}

fn write_whole(path: &Path, text: &str, like: Option<&Metadata>) -> io::Result<()> {
    let temporary = with_suffix(path, &format!(".holdpoint-{}.tmp", std::process::id()));
    write_new(&temporary, text, like)?;
    fs::rename(&temporary, path).inspect_err(|_| remove(&temporary))
}

/// Writes a file that must not exist yet. A file that could not be finished is removed.
fn write_new(path: &Path, text: &str, like: Option<&Metadata>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if like.is_some() {
        // Configurations hold secrets: closed until it is known who may read the original.
        close_to_others(&mut options);
    }
    let file = options.open(path)?;
    fill(file, text, like).inspect_err(|_| remove(path))
}

fn fill(mut file: File, text: &str, like: Option<&Metadata>) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    if let Some(like) = like {
        keep_owner(&file, like)?;
        file.set_permissions(like.permissions())?;
    }
    file.sync_all()
}

fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        tracing::debug!(%error, path = %path.display(), "an unfinished file stays behind");
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

#[cfg(unix)]
fn close_to_others(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
fn close_to_others(_options: &mut OpenOptions) {}

/// Under `sudo` a new file would belong to root, and the agent could no longer write its own configuration.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let now = file.metadata()?;
    if (now.uid(), now.gid()) == (like.uid(), like.gid()) {
        return Ok(());
    }
    fchown(file, Some(like.uid()), Some(like.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _like: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a folder, sorted.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[track_caller]
    fn check_refused<T: std::fmt::Debug>(folder: &Path, result: Result<T>, expected: &str) {
        let error = format!("{:#}", result.unwrap_err()).replace(folder.to_str().unwrap(), "");
        assert_eq!(error, expected);
    }

    #[test]
    fn a_missing_file_reads_as_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none.json")).unwrap(), None);
        assert_eq!(read(&folder.path().join("no/folder/none.json")).unwrap(), None);
    }

    #[test]
    fn what_is_not_a_text_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let check = |path: &Path, expected| check_refused(folder.path(), read(path), expected);
        check(folder.path(), "`` is not a file\nhint: move it away, then run this again");

        let binary = folder.path().join("binary.json");
        fs::write(&binary, b"{\"a\": \xff}").unwrap();
        check(
            &binary,
            "`/binary.json` is not UTF-8 at byte 6\nhint: save it as UTF-8, then run this again",
        );

        let huge = folder.path().join("huge.json");
        File::create(&huge).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        check(
            &huge,
            "`/huge.json` is larger than 16777216 bytes\nhint: check that it is a configuration",
        );
    }

    #[test]
    fn creating_makes_the_folders_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/config.json");
        create(&path, "new").unwrap();
        assert_eq!(text(&path), "new");
        assert_eq!(names(path.parent().unwrap()), ["config.json"]);
    }

    #[test]
    fn replacing_keeps_every_earlier_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        fs::write(&path, "one").unwrap();
        let first = replace(&path, "one", "two").unwrap();
        let second = replace(&path, "two", "three").unwrap();
        assert_eq!(
            (text(&path), text(&first), text(&second)),
            ("three".into(), "one".into(), "two".into())
        );
        assert_eq!(
            names(folder.path()),
            ["config.json", "config.json.holdpoint-backup", "config.json.holdpoint-backup-2"]
        );
    }

    #[test]
    fn a_file_that_cannot_be_finished_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        // A folder of that name cannot be replaced by a file.
        fs::create_dir_all(path.join("inside")).unwrap();
        write_whole(&path, "new", None).unwrap_err();
        assert_eq!(names(folder.path()), ["config.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_the_backup_has_the_same() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        for mode in [0o600, 0o640, 0o664] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let backup = replace(&path, "old", "new").unwrap();
            for file in [&path, &backup] {
                assert_eq!(
                    fs::metadata(file).unwrap().permissions().mode() & 0o777,
                    mode,
                    "{}",
                    file.display()
                );
            }
        }
    }

    #[test]
    fn a_read_only_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        fs::write(&path, "old").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        check_refused(
            folder.path(),
            replace(&path, "old", "new"),
            "`/config.json` is read-only\nhint: make it writable, or change it where it is generated from",
        );
        assert_eq!(names(folder.path()), ["config.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_its_target_gets_the_text() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let (home, dotfiles) = (folder.path().join("home"), folder.path().join("dotfiles"));
        fs::create_dir(&home).unwrap();
        let link = home.join("config.json");
        symlink("../dotfiles/config.json", &link).unwrap();

        // The link leads nowhere yet.
        assert_eq!(read(&link).unwrap(), None);
        create(&link, "one").unwrap();
        replace(&link, "one", "two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(text(&dotfiles.join("config.json")), "two");
        assert_eq!(names(&home), ["config.json"]);
        assert_eq!(names(&dotfiles), ["config.json", "config.json.holdpoint-backup"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_a_circle_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("config.json");
        std::os::unix::fs::symlink("config.json", &link).unwrap();
        check_refused(
            folder.path(),
            create(&link, "new"),
            "`/config.json` is a symbolic link that leads in a circle\nhint: remove it, then run this again",
        );
    }
}
