//! The source of a program: a window of lines with their colours, the line where it stands, what is set beside them and
//! the values that they made. Only files that the session names are shown, or those of its folder that are source.

mod beside;
mod may;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_engine::{
    budget,
    failure::{Code, Failure},
    inspect, limits,
    nouns::Frame,
    session::{Session, Shown, Status},
};
use maud::{Markup, html};

use self::beside::ValueBeside;
use super::super::points::{self, PointNow};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        desk::{SeenStop, SeenText, SeenWindow},
        pieces::{self, icon},
        sheet::LiveParts,
    },
};

/// What is shown of a file.
pub(in crate::page::sessions) struct CodePane {
    file: Option<PathBuf>,
    /// Why there is nothing to show.
    none: &'static str,
    /// What the person chose beside where it stands.
    files: Vec<(PathBuf, usize)>,
    cwd: PathBuf,
    window: Option<LineWindow>,
    at: PageAddress,
}

struct LineWindow {
    first: u32,
    file: PathBuf,
    window: Arc<SeenWindow>,
    total: usize,
    here: Option<u32>,
    is_top: bool,
    edited: Option<String>,
    /// By line: what is set there.
    marks: BTreeMap<u32, Vec<LineMark>>,
    beside: BTreeMap<u32, Vec<ValueBeside>>,
    /// In a file that was edited, the number of each line by which points are asked for.
    now: Box<dyn Fn(u32) -> Option<u32> + Send>,
}

/// A point on a line.
struct LineMark {
    markup: Markup,
    /// The whole story, for the label.
    says: String,
    /// What stands behind the line.
    why: Option<String>,
    /// Of a tracepoint.
    hits: Option<String>,
}

impl CodePane {
    pub(in crate::page::sessions) async fn of(
        app: &App,
        session: &Arc<Session>,
        at: &PageAddress,
        shown: Option<&Shown>,
        points: &[PointNow],
        seen: Option<&SeenStop>,
    ) -> Result<CodePane, Failure> {
        let number: usize = at.chosen("frame").parse().unwrap_or_default();
        let frame = shown.and_then(|it| it.stack.frames.get(number));
        let chosen = Some(at.chosen("file")).filter(|it| !it.is_empty()).map(PathBuf::from);
        let file = match chosen {
            Some(file) => Some(may::see(session, shown, points, &file)?),
            None => frame
                .and_then(|it| it.file.clone())
                .or_else(|| session.launch().and_then(|it| it.program.clone())),
        };
        let mut code = CodePane {
            none: if shown.is_some() {
                "This frame has no source file."
            } else {
                "Its source shows up when it stops."
            },
            files: files(shown),
            cwd: session.cwd().to_owned(),
            window: None,
            at: at.clone(),
            file: None,
        };
        let Some(file) = file else { return Ok(code) };
        let target = shown.map(|it| it.stop.thread.target);
        match app.desk.text(session, target, &file).await {
            Some(text) => {
                let is_stopped = session.view().status == Status::Stopped;
                let here = frame
                    .filter(|it| it.file.as_ref() == Some(&file) && is_stopped)
                    .map(|it| it.line);
                let asked = at.chosen("line").parse().ok().or(here).or_else(|| {
                    frame.filter(|it| it.file.as_ref() == Some(&file)).map(|it| it.line)
                });
                let mut window = LineWindow::around(app, &file, &text, asked.unwrap_or(1));
                window.here = here;
                window.is_top = number == 0;
                window.note_points(&file, points, session, &text);
                if let (Some(line), Some(seen)) = (here, seen) {
                    window.beside = beside::values(app, &file, &text.source.text, line, seen);
                }
                code.window = Some(window);
            }
            None => code.none = "The file cannot be read as source.",
        }
        code.file = Some(file);
        Ok(code)
    }

    pub(super) fn pane(&self, parts: &mut LiveParts) -> Markup {
        let total = self.window.as_ref().map(|it| it.total);
        html! {
            section.pane.code-pane aria-labelledby="src-h" {
                header {
                    h2.hush #src-h { "Source" }
                    nav.files aria-label="Files" #files { (parts.put("files", self.tabs())) }
                    span.end.quiet #src-n { (parts.put("src-n", html! { @if let Some(total) = total { (pieces::number(total)) " lines" } })) }
                }
                div #src-note { (parts.put("src-note", self.note())) }
                form.source-form method="post" action=(self.at.whole) {
                    input type="hidden" name="do" value="toggle";
                    span #src-file { (parts.put("src-file", html! { @if let Some(file) = &self.file { input type="hidden" name="file" value=(file.display()); } })) }
                    ol.source #source tabindex="0" aria-label="Source" data-lays { (parts.rows("source", self.rows())) }
                }
            }
        }
    }

    fn tabs(&self) -> Markup {
        let name = |file: &Path| inspect::place(file, &self.cwd);
        let mut files = self.files.clone();
        if let Some(file) =
            self.file.as_ref().filter(|file| !files.iter().any(|(it, _)| it == *file))
        {
            files.insert(0, (file.clone(), usize::MAX));
        }
        html! {
            @for (file, frame) in files.iter().take(limits::PAGE_TABS) {
                @let number = if *frame == usize::MAX { String::new() } else { frame.to_string() };
                @let path = if *frame == usize::MAX { file.display().to_string() } else { String::new() };
                a href=(self.at.with(&[("frame", &number), ("file", &path), ("line", "")])) aria-current=[(Some(file) == self.file.as_ref()).then_some("true")] {
                    (pieces::line(&name(file)))
                }
            }
        }
    }

    fn note(&self) -> Markup {
        let edited = self.window.as_ref().and_then(|it| it.edited.as_deref());
        html! {
            @if let Some(text) = edited { p.note.flat { (icon("info")) span { (pieces::line(text)) } } }
            @if self.window.is_none() { div.empty { (self.none) } }
        }
    }

    /// The lines, each by its own id.
    fn rows(&self) -> Vec<(String, Markup)> {
        let Some(window) = &self.window else { return Vec::new() };
        let mut rows = Vec::new();
        let last = window.first as usize + window.window.lines.len() - 1;
        if window.first > 1 {
            rows.push((
                "before".to_owned(),
                self.further("before", window.first.saturating_sub(1), "Earlier lines"),
            ));
        }
        for (number, line) in (window.first..).zip(window.window.lines.iter()) {
            rows.push((format!("L{number}"), window.row(number, line, self.at.path())));
        }
        if last < window.total {
            let next = u32::try_from(last + 1).unwrap_or(u32::MAX);
            rows.push(("after".to_owned(), self.further("after", next, "Later lines")));
        }
        rows
    }

    fn further(&self, id: &str, line: u32, word: &str) -> Markup {
        let file = self.file.as_ref().map(|it| it.display().to_string()).unwrap_or_default();
        html! { li.further id=(id) { a href=(self.at.with(&[("file", &file), ("line", &line.to_string())])) { (word) } } }
    }

    /// Runs to the line in focus; without a script, to one that is typed.
    pub(super) fn to_line(&self, at: &PageAddress, stands: bool, parts: &mut LiveParts) -> Markup {
        html! {
            form.to-line method="post" action=(at.path()) #to-line {
                (parts.put("to-line", html! {
                    input type="hidden" name="do" value="to_line";
                    label { span.hush { "Line to run to" } input.in.slim.tab name="line" data-to-line inputmode="numeric" placeholder="line" disabled[!stands] required; }
                    button.btn title="Run to this line of the file where it stands" disabled[!stands] { (icon("tocursor")) span { "To line" } }
                }))
            }
        }
    }

    /// A tracepoint, or a condition, on a line.
    pub(super) fn tracer(&self, at: &PageAddress) -> Markup {
        let file = self.file.as_ref().map(|it| it.display().to_string()).unwrap_or_default();
        html! {
            details.pane.adder {
                summary { h2 { "Add a point" } span.end.quiet { "condition or tracepoint" } }
                form.pad-s method="post" action=(at.path()) {
                    input type="hidden" name="file" value=(file);
                    label.field { span { "Line of this file" } input.in.tab name="line" data-trace-line inputmode="numeric" required; }
                    label.field { span { "Says " i { "as a tracepoint, which does not stop" } } input.in.mono name="message" data-trace-message placeholder="{total} after {line}" spellcheck="false" autocomplete="off"; }
                    label.field { span { "Only if " i { "as a breakpoint" } } input.in.mono name="condition" spellcheck="false" autocomplete="off"; }
                    div.btns-row {
                        button.btn.small name="do" value="trace" { (pieces::mark("tp", "tp")) "Tracepoint" }
                        button.btn.small name="do" value="condition" { (pieces::mark("bpif", "bp")) "Breakpoint" }
                    }
                }
            }
        }
    }
}

/// The files of the stack, each with its first frame.
fn files(shown: Option<&Shown>) -> Vec<(PathBuf, usize)> {
    let mut files: Vec<(PathBuf, usize)> = Vec::new();
    let frames = shown.map(|it| it.stack.frames.as_slice()).unwrap_or_default();
    for (number, frame) in frames.iter().enumerate().filter(|(_, it)| it.is_user) {
        if let Some(file) =
            frame.file.as_ref().filter(|file| !files.iter().any(|(it, _)| it == *file))
        {
            files.push((file.clone(), number));
        }
    }
    files
}

impl LineWindow {
    /// The same window for every line of it, so that a step changes two lines and not all.
    fn around(app: &App, file: &Path, text: &SeenText, line: u32) -> LineWindow {
        let block = limits::PAGE_LINES / 2;
        let line = (line as usize).clamp(1, text.lines.max(1));
        let first = (line.saturating_sub(block / 2 + 1) / block * block).saturating_add(1);
        let last = (first + limits::PAGE_LINES - 1).min(text.lines);
        let edited = text.source.edited.as_ref();
        let map = edited.cloned();
        LineWindow {
            first: u32::try_from(first).unwrap_or(1),
            window: app.desk.window(app.engine.secrets(), file, text, (first, last)),
            file: file.to_owned(),
            total: text.lines,
            here: None,
            is_top: true,
            edited: edited.map(|it| it.note(file, None)),
            marks: BTreeMap::new(),
            beside: BTreeMap::new(),
            now: Box::new(move |line| match &map {
                Some(edited) if edited.running.is_some() => edited.now(line),
                _ => Some(line),
            }),
        }
    }

    fn note_points(
        &mut self,
        file: &Path,
        points: &[PointNow],
        session: &Session,
        text: &SeenText,
    ) {
        for it in points {
            let Some(asked) = it.asked_in(file) else { continue };
            // Lines here are those that run.
            let run =
                |line: u32| match text.source.edited.as_ref().filter(|it| it.running.is_some()) {
                    Some(edited) => edited.running(line),
                    None => Some(line),
                };
            let bound = it
                .line
                .and_then(run)
                .or_else(|| session.runs_as(it.point.id).filter(|_| it.line.is_some()));
            let Some(asked) = run(asked) else { continue };
            let kind = it.point.kind();
            let id = it.point.id;
            let moved = bound.filter(|line| *line != asked);
            if let Some(line) = moved {
                let says = format!("{kind} {id} is bound at line {line}: no code here");
                let why = Some(format!("not here: no code; bound at {line}"));
                let markup = pieces::mark(
                    if it.point.trace.is_some() { "tpoff" } else { "bpoff" },
                    if it.point.trace.is_some() { "tp" } else { "bp" },
                );
                self.marks.entry(asked).or_default().push(LineMark {
                    markup,
                    says,
                    why,
                    hits: None,
                });
            }
            let why = match (moved, it.point.enabled, bound) {
                (Some(_), ..) => Some(format!("{id}: asked for at {asked}, where no code is")),
                (None, true, Some(_)) => it.condition(),
                (None, _, _) => Some(it.state()),
            };
            let times = match it.hits {
                0 => String::new(),
                1 => ", hit once".to_owned(),
                hits => format!(", {hits} hits"),
            };
            let hits = it.point.trace.as_ref().filter(|_| it.hits > 0).map(|_| match it.hits {
                1 => "1 hit".to_owned(),
                hits => format!("{hits} hits"),
            });
            let says = format!("{kind} {id}, {}{times}", it.state());
            self.marks.entry(bound.unwrap_or(asked)).or_default().push(LineMark {
                markup: it.mark(),
                says,
                why,
                hits,
            });
        }
    }

    /// Where one line is to be had as it is.
    fn raw(&self, number: u32, path: &str) -> String {
        let (file, line) = (self.file.display().to_string(), number.to_string());
        let query = [("file", file.as_str()), ("line", line.as_str())];
        address::to(&format!("{path}/line"), query.into_iter())
    }

    fn row(&self, number: u32, line: &Markup, path: &str) -> Markup {
        let is_here = self.here == Some(number);
        let marks = self.marks.get(&number).map(Vec::as_slice).unwrap_or_default();
        let story = match marks {
            [] => format!("Line {number}: set a breakpoint"),
            all => format!(
                "Line {number}: {}",
                all.iter().map(|it| it.says.as_str()).collect::<Vec<_>>().join("; ")
            ),
        };
        let value = (self.now)(number);
        let class = match (is_here, self.is_top) {
            (true, true) => Some("here"),
            (true, false) => Some("frame"),
            (false, _) => None,
        };
        html! {
            li id={ "L" (number) } class=[class] data-line=(number) aria-current=[is_here.then_some("step")] {
                button.g name="line" value=[value] disabled[value.is_none()] aria-label=(story) title=(story) {
                    @if let Some(mark) = marks.first() { (mark.markup) }
                    (number)
                }
                code { (line) @if line.0.is_empty() { " " } }
                @if self.window.hides.contains(&(number as usize)) {
                    button.btn.linky.why type="button" data-reveal=(self.raw(number, path)) { "show the secret" }
                }
                @for beside in self.beside.get(&number).map(Vec::as_slice).unwrap_or_default() { (beside.markup()) }
                @for mark in marks {
                    @if let Some(why) = &mark.why { span.why { (pieces::line(why)) } }
                    @if let Some(hits) = &mark.hits { span.trace-vals { (hits) } }
                }
            }
        }
    }
}

/// One line as it is, for the person who asked for it: `GET …/line?file=…&line=…`.
pub(super) async fn raw(
    app: &App,
    session: &Arc<Session>,
    at: &PageAddress,
) -> Result<Markup, Failure> {
    let shown = session.view().stop.clone();
    let points = points::standing(app, Some(session));
    let file = may::see(session, shown.as_deref(), &points, Path::new(at.chosen("file")))?;
    let target = shown.as_ref().map(|it| it.stop.thread.target);
    let text = app.desk.text(session, target, &file).await;
    let number: usize = at.chosen("line").parse().unwrap_or_default();
    let line = text.as_ref().and_then(|it| it.source.text.lines().nth(number.checked_sub(1)?));
    let none = || Failure::new(Code::NotFound, "no such line");
    let line = line.ok_or_else(none)?.trim();
    Ok(html! { (pieces::line(&budget::cut(line, limits::PAGE_VALUE))) })
}

/// A few lines around where it stands, without anything to press.
pub(in crate::page::sessions) async fn brief(
    app: &App,
    session: &Arc<Session>,
    shown: &Shown,
    top: &Frame,
    around: u32,
) -> Markup {
    let Some(file) = &top.file else { return html! {} };
    let Some(text) = app.desk.text(session, Some(shown.stop.thread.target), file).await else {
        return html! {};
    };
    let mut window = LineWindow::around(app, file, &text, top.line);
    if let Some(seen) = app.desk.stop(session, 0).await {
        window.beside = beside::values(app, file, &text.source.text, top.line, &seen);
    }
    let lines = (window.first..).zip(window.window.lines.iter());
    let near = lines.filter(|(number, _)| number.abs_diff(top.line) <= around);
    html! {
        ol.source.brief tabindex="0" aria-label="Source" {
            @for (number, line) in near {
                li.here[number == top.line] {
                    span.g { (number) } code { (line) @if line.0.is_empty() { " " } }
                    @for beside in window.beside.get(&number).map(Vec::as_slice).unwrap_or_default() { (beside.markup()) }
                }
            }
        }
    }
}
