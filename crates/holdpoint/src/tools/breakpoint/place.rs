//! Where a breakpoint or tracepoint is to be: `{file, line}`, `{function}`, or where one with that id is.

use std::path::{Path, PathBuf};

use holdpoint_engine::{
    breakpoints::Place,
    failure::{Code, Failure},
    ids::BreakpointId,
    inspect,
};
use serde_json::json;

use crate::{app::App, root, tools::debug::launch::absolute};

/// What a call says of the place.
#[derive(Default)]
pub(crate) struct Given<'a> {
    pub(crate) file: Option<&'a Path>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    pub(crate) function: Option<&'a str>,
    /// Where the one is that is to be changed.
    pub(crate) at: Option<Place>,
}

impl Given<'_> {
    pub(crate) fn place(
        self,
        find: impl FnOnce(&Path) -> Result<PathBuf, Failure>,
    ) -> Result<Place, Failure> {
        let file = self.file.map(find).transpose()?;
        match (file, self.line, self.function, self.at) {
            (Some(file), Some(line), None, _) => {
                check_line(&file, line)?;
                Ok(Place::Line { file, line, column: self.column })
            }
            (file, None, Some(name), _) if !name.trim().is_empty() => {
                Ok(Place::Function { name: name.trim().trim_end_matches("()").to_owned(), file })
            }
            (None, None, None, Some(at)) => Ok(at),
            (Some(_), None, None, _) => {
                Err(Failure::new(Code::InvalidParams, "missing parameter `line`")
                    .hint("or `function` instead of it"))
            }
            _ => Err(Failure::new(Code::InvalidParams, "pass `file` and `line`, or `function`")
                .hint(
                    "`breakpoint_set {\"function\": \"Cart.total\"}` stops wherever it is called",
                )),
        }
    }
}

/// Where the breakpoint of an id is.
pub(crate) fn of(app: &App, id: Option<i64>) -> Result<Option<Place>, Failure> {
    let Some(id) = id.map(BreakpointId) else { return Ok(None) };
    match app.engine.sessions.breakpoints.get(id) {
        Some(known) => Ok(Some(known.place)),
        None => Err(Failure::new(Code::NotFound, format!("no breakpoint {id}"))
            .hint("`breakpoint_list` lists them")),
    }
}

/// Relative to the folder of a session, else to the project's.
pub(crate) fn find(app: &App, file: &Path) -> Result<PathBuf, Failure> {
    let here = root::current();
    let folders = app.engine.sessions.all().into_iter().rev().map(|it| it.cwd().to_owned());
    let places: Vec<PathBuf> =
        folders.chain([here]).map(|folder| absolute(&folder, file)).collect();
    let found = places.iter().find(|place| place.is_file()).cloned();
    found.ok_or_else(|| {
        let mut tried: Vec<String> = places.iter().map(|it| it.display().to_string()).collect();
        tried.dedup();
        tried.truncate(4);
        Failure::new(Code::NotFound, format!("no file `{}`", file.display()))
            .hint(format!("pass an absolute path; looked at {}", tried.join(", ")))
    })
}

pub(crate) fn check_line(file: &Path, line: u32) -> Result<(), Failure> {
    if line == 0 {
        return Err(Failure::new(Code::InvalidParams, "lines begin at 1")
            .hint("`debug_source` shows the file with its numbers"));
    }
    match inspect::snippet(file, line, line, None) {
        None => Err(Failure::new(
            Code::InvalidParams,
            format!("`{}` is not a source file", file.display()),
        )),
        Some(view) if u64::from(line) > view.lines as u64 => Err(Failure::new(
            Code::InvalidParams,
            format!("`{}` has {} lines, not {line}", file.display(), view.lines),
        )
        .hint("`debug_source` shows the file")),
        Some(_) => Ok(()),
    }
}

/// Whether a line can have code at all, as far as its text tells: neither empty nor only a comment.
pub(crate) fn has_code(file: &Path, line: u32) -> Result<(), Failure> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let Err(next) = inspect::SourceText::new(file, &bytes).code_at(line) else { return Ok(()) };
    let hint = match next {
        Some(next) => format!("the next line with code is {next}"),
        None => "`debug_source` shows the file".to_owned(),
    };
    let text = format!("line {line} of `{}` has no code", file.display());
    let details = json!({ "parameter": "line", "line": line });
    Err(Failure::new(Code::InvalidParams, text).hint(hint).details(details))
}
