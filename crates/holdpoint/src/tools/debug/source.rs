//! `debug_source`: lines of a file, or around a frame.

use std::path::{Path, PathBuf};

use holdpoint_engine::{
    budget,
    failure::{Code, Failure},
    inspect,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::{debug::what::absolute, session::Chosen},
};

pub(crate) struct Source;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    file: Option<PathBuf>,
    /// 0 is the innermost.
    #[serde(default)]
    frame: usize,
    /// `10-40`, or `25` for those around it.
    lines: Option<String>,
}

/// Lines before and after a single line that was asked for.
const AROUND: u32 = 10;

impl Tool for Source {
    const NAME: &'static str = "debug_source";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Show source lines of a file, or around a frame.";
    const EFFECT: Effect = Effect::Reads;
    const TITLE: &'static str = "Source";
    const LONG: bool = true;
    type Scope = Chosen;
    type Params = Params;

    async fn run(Chosen(session): Chosen, params: Params, call: Call) -> Result<Reply, Failure> {
        let shown = session.view().stop.clone();
        let frame = shown.as_ref().and_then(|shown| shown.stack.frames.get(params.frame));
        let file = match (&params.file, frame.and_then(|frame| frame.file.clone())) {
            (Some(file), _) => absolute(session.cwd(), file),
            (None, Some(file)) => file,
            (None, None) => {
                return Err(Failure::new(Code::NotFound, "no file: the program stands in none")
                    .hint("pass `file`"));
            }
        };
        let here = frame.filter(|frame| frame.file.as_ref() == Some(&file)).map(|it| it.line);
        let (first, last) = range(params.lines.as_deref(), here)?;
        let marked = here.map(|line| (line, None));
        let target = shown.as_ref().map(|it| it.stop.thread.target);
        let source = session.source(target, &file).await;
        show(&file, source, (first, last), marked, call.budget.bytes())
    }
}

fn range(lines: Option<&str>, here: Option<u32>) -> Result<(u32, u32), Failure> {
    let around = |line: u32| (line.saturating_sub(AROUND).max(1), line.saturating_add(AROUND));
    let Some(text) = lines else { return Ok(here.map_or((1, 2 * AROUND), around)) };
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let parsed = match text.split_once('-') {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(text).map(around),
    };
    parsed.filter(|(first, last)| first <= last).ok_or_else(|| {
        Failure::new(Code::InvalidParams, format!("`{text}` is not a range of lines"))
            .hint("write `10-40`, or `25` for the lines around it")
    })
}

fn show(
    file: &Path,
    source: Option<inspect::Source>,
    (first, last): (u32, u32),
    marked: Option<(u32, Option<u32>)>,
    bytes: usize,
) -> Result<Reply, Failure> {
    let source = source.ok_or_else(|| {
        Failure::new(Code::NotFound, format!("`{}` cannot be read as source", file.display()))
    })?;
    let view = source.excerpt(first, last, marked);
    if view.text.is_empty() {
        let text = format!("`{}` has {} lines", file.display(), view.lines);
        return Err(Failure::new(Code::InvalidParams, text).hint("ask for lines that exist"));
    }
    let note = source.edited.map(|it| it.note(file, marked.map(|(line, _)| line)));
    let note = note.map(|it| format!("\n{it}")).unwrap_or_default();
    let lines = budget::cut(&view.text, bytes);
    let text = format!("{} ({} lines)\n{lines}{note}", file.display(), view.lines);
    let data = json!({ "file": file.display().to_string(), "lines": view.lines, "first": first,
        "changed": !note.is_empty() });
    Ok(Answer::new(text, &data)?.into())
}
