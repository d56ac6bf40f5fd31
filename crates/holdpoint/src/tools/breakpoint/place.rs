//! Where a breakpoint or tracepoint is to be: `{file, line}`, `{file, match}`, `{function}`, or where one with that
//! id is.

use std::path::{Path, PathBuf};

use holdpoint_engine::{
    breakpoints::Place,
    budget,
    failure::{Code, Failure},
    ids::BreakpointId,
    inspect,
};
use serde_json::json;

use crate::{
    app::App,
    root,
    tools::{debug::what::absolute, ending},
};

/// Lines with a text that are named when it is not one.
const MATCHES: usize = 8;

/// What a call says of the place.
#[derive(Default)]
pub(crate) struct GivenPlace<'a> {
    pub(crate) file: Option<&'a Path>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    /// Text of the line.
    pub(crate) text: Option<&'a str>,
    pub(crate) function: Option<&'a str>,
    /// Where the one is that is to be changed.
    pub(crate) at: Option<Place>,
}

impl GivenPlace<'_> {
    pub(crate) fn place(
        self,
        find: impl FnOnce(&Path) -> Result<PathBuf, Failure>,
    ) -> Result<Place, Failure> {
        let file = self.file.map(find).transpose()?;
        if let Some(text) = self.text {
            let Some(file) = file else {
                return Err(Failure::new(Code::InvalidParams, "`match` is a line of a `file`")
                    .hint("pass `file` too"));
            };
            let line = matching(&file, text, self.line, self.function)?;
            return Ok(Place::Line { file, line, column: self.column });
        }
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
                    .hint("or `match` or `function` instead of it"))
            }
            _ => Err(Failure::new(Code::InvalidParams, "pass `file` and `line`, or `function`")
                .hint(
                    "`breakpoint_set {\"function\": \"Cart.total\"}` stops wherever it is called",
                )),
        }
    }
}

/// The one line with this text; of several the one nearest to `line`, or in `function`, where these are given.
fn matching(
    file: &Path,
    text: &str,
    line: Option<u32>,
    function: Option<&str>,
) -> Result<u32, Failure> {
    let wanted = text.trim();
    let source = std::fs::read(file).unwrap_or_default();
    let source = String::from_utf8_lossy(&source);
    let lines: Vec<(u32, &str)> = (1..).zip(source.lines().map(str::trim)).collect();
    let mut found: Vec<(u32, &str)> =
        lines.iter().copied().filter(|(_, it)| !wanted.is_empty() && it.contains(wanted)).collect();
    if let Some(name) = function {
        let all = inspect::outline(file);
        let mine = |it: &&holdpoint_engine::language::Outlined| {
            format!(".{}", it.name).ends_with(&format!(".{name}"))
        };
        let around: Vec<_> = all.iter().filter(mine).collect();
        found.retain(|(line, _)| around.iter().any(|it| it.has(*line)));
    }
    // What the whole line is, is meant before what is only a part of others.
    if found.iter().filter(|(_, it)| *it == wanted).count() == 1 {
        found.retain(|(_, it)| *it == wanted);
    }
    if let Some(near) = line {
        found.sort_by_key(|(at, _)| at.abs_diff(near));
        found.truncate(1);
    }
    match found.as_slice() {
        [(line, _)] => Ok(*line),
        [] => Err(no_match(file, wanted, function, &lines)),
        many => Err(Failure::new(
            Code::InvalidParams,
            format!("{} lines of `{}` have `{wanted}`: {}", many.len(), file.display(), list(many)),
        )
        .hint("pass `line`, more of the text, or the `function` that it is in")),
    }
}

fn no_match(file: &Path, text: &str, function: Option<&str>, lines: &[(u32, &str)]) -> Failure {
    let within = function.map(|it| format!(" in `{it}`")).unwrap_or_default();
    let mut near: Vec<(f64, (u32, &str))> = lines
        .iter()
        .map(|(line, it)| (strsim::jaro_winkler(it, text), (*line, *it)))
        .filter(|(likeness, _)| *likeness > 0.7)
        .collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let near: Vec<(u32, &str)> = near.into_iter().take(3).map(|(_, it)| it).collect();
    let hint = match near.as_slice() {
        [] => "`debug_source` shows the file".to_owned(),
        near => format!("near: {}", list(near)),
    };
    let text = format!("no line of `{}`{within} has `{text}`", file.display());
    Failure::new(Code::NotFound, text).hint(hint)
}

/// `12: total = 0; 18: total = 1`
fn list(lines: &[(u32, &str)]) -> String {
    let one = |(line, text): &(u32, &str)| format!("{line}: {}", budget::cut(text, 60));
    let more = match lines.len().saturating_sub(MATCHES) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    lines.iter().take(MATCHES).map(one).collect::<Vec<_>>().join("; ") + &more
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

/// Folders that are searched for a file that is named by its end.
const LOOKED_BELOW: usize = 3;

/// Relative to the folder of a session, else to the project's; else the one file there whose path ends so.
pub(crate) fn find(app: &App, file: &Path) -> Result<PathBuf, Failure> {
    let here = root::current();
    let folders = app.engine.sessions.all().into_iter().rev().map(|it| it.cwd().to_owned());
    let mut folders: Vec<PathBuf> = folders.chain([here]).collect();
    folders.dedup();
    let places: Vec<PathBuf> = folders.iter().map(|folder| absolute(folder, file)).collect();
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return Ok(found.clone());
    }
    let relative = folders.iter().take(LOOKED_BELOW).filter(|_| file.is_relative());
    for folder in relative {
        if let Some(found) = ending::the_one(folder, file)? {
            return Ok(found);
        }
    }
    let tried = places.iter().take(4).map(|it| it.display().to_string());
    let hint = format!("pass an absolute path; looked at {}", tried.collect::<Vec<_>>().join(", "));
    Err(Failure::new(Code::NotFound, format!("no file `{}`", file.display())).hint(hint))
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
    let Err(next) = inspect::source_text(file, &bytes).code_at(line) else { return Ok(()) };
    let hint = match next {
        Some(next) => format!("the next line with code is {next}"),
        None => "`debug_source` shows the file".to_owned(),
    };
    let text = format!("line {line} of `{}` has no code", file.display());
    let details = json!({ "parameter": "line", "line": line });
    Err(Failure::new(Code::InvalidParams, text).hint(hint).details(details))
}
