//! Which files a person may read here: what the session names, and the source files of its folder.

use std::path::{Path, PathBuf};

use holdpoint_engine::{
    adapter,
    failure::{Code, Failure},
    session::{Session, Shown},
};

use crate::page::sessions::points::PointNow;

/// The file, whole, if it may be seen.
pub(super) fn see(
    session: &Session,
    shown: Option<&Shown>,
    points: &[PointNow],
    file: &Path,
) -> Result<PathBuf, Failure> {
    let frames = shown.map(|it| it.stack.frames.as_slice()).unwrap_or_default();
    let is_named = frames.iter().any(|it| it.file.as_deref() == Some(file))
        || points.iter().any(|it| it.point.place.file() == Some(file))
        || session.launch().is_some_and(|it| it.program.as_deref() == Some(file));
    if is_named {
        return Ok(file.to_owned());
    }
    let refused = || {
        let text = format!("`{}` is no source file of this program", file.display());
        Failure::new(Code::NotFound, text)
            .hint("files of its stack, its points and its folder are shown")
    };
    // Links are followed first: one inside of the folder may lead out of it.
    let (whole, folder) = (file.canonicalize().ok(), session.cwd().canonicalize().ok());
    let (Some(whole), Some(folder)) = (whole, folder) else { return Err(refused()) };
    let below = whole.strip_prefix(&folder).map_err(|_| refused())?;
    let is_hidden = below.components().any(|it| it.as_os_str().to_string_lossy().starts_with('.'));
    let is_source = adapter::of_file(&whole).is_some();
    if is_hidden || !is_source { Err(refused()) } else { Ok(whole) }
}
