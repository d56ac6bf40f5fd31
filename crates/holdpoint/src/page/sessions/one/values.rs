//! The variables of a frame as a tree: one level at once, the next when it is opened. What is secret is a mark that a
//! person can open, one at a time; nothing of it goes to an agent.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use holdpoint_engine::{
    budget,
    failure::Failure,
    ids::ThreadKey,
    limits,
    nouns::Variable,
    secrets::Secrets,
    session::{Session, Status},
};
use maud::{Markup, html};

use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        desk::SeenStop,
        pieces::{self, icon},
        sheet::LiveParts,
    },
    tools::debug::variables::is_extra,
};

pub(super) fn pane(
    app: &App,
    session: &Arc<Session>,
    at: &PageAddress,
    frame: usize,
    seen: Option<&SeenStop>,
    parts: &mut LiveParts,
) -> Markup {
    let is_stopped = session.view().status == Status::Stopped;
    let function =
        seen.and_then(|it| it.shown.stack.frames.get(frame)).map(|it| it.function.as_str());
    html! {
        details.pane open {
            summary {
                h2 { "Variables" }
                span.end.quiet #vars-of {
                    (parts.put("vars-of", html! {
                        @match (is_stopped, function) {
                            (true, Some(function)) => { "frame " (frame) ", " (pieces::line(function)) },
                            (false, Some(_)) => "as of the last stop",
                            (_, None) => {},
                        }
                    }))
                }
            }
            ul.tree #vars { (parts.put("vars", all(app, at, frame, seen, is_stopped))) }
        }
    }
}

fn all(
    app: &App,
    at: &PageAddress,
    frame: usize,
    seen: Option<&SeenStop>,
    is_stopped: bool,
) -> Markup {
    let Some(seen) = seen else {
        return html! { li.leaf { span.quiet { "Nothing was seen yet." } } };
    };
    let locals = match &seen.locals {
        Ok(locals) => locals,
        Err(failure) => return html! { li { (pieces::failure(failure)) } },
    };
    let thread = seen.thread.map(|it| it.to_string()).unwrap_or_default();
    // What is set is set where it stopped.
    let can_set = is_stopped && seen.thread.is_none();
    let inside = InsideOf { path: at.path(), seq: seen.shown.seq.0, frame, thread, can_set };
    html! {
        @if locals.is_empty() { li.leaf { span.quiet { "none" } } }
        @for variable in locals {
            (row(app.engine.secrets(), variable, &inside, &variable.name, was(seen.before.as_ref(), variable)))
        }
    }
}

/// What it was at the stop before, where it was something else; none also where nothing is known of it.
fn was<'a>(before: Option<&'a BTreeMap<String, String>>, variable: &Variable) -> Was<'a> {
    match before.map(|it| it.get(&variable.name)) {
        Some(Some(old)) if *old != variable.value.text => Was::From(old),
        Some(None) => Was::New,
        _ => Was::None,
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Was<'a> {
    None,
    New,
    From(&'a str),
}

/// Where what is inside of a value is to be had.
struct InsideOf<'a> {
    path: &'a str,
    seq: u64,
    frame: usize,
    /// Another thread than the one that stopped.
    thread: String,
    /// Its variables can be given other values.
    can_set: bool,
}

impl InsideOf<'_> {
    fn to(&self, what: &str, path: &str) -> String {
        let (seq, frame) = (self.seq.to_string(), self.frame.to_string());
        let query =
            [(what, path), ("frame", &*frame), ("seq", &seq), ("thread", self.thread.as_str())];
        let query = query.into_iter().filter(|it| !it.1.is_empty());
        address::to(&format!("{}/values", self.path), query)
    }
}

fn row(
    secrets: &Secrets,
    variable: &Variable,
    inside: &InsideOf<'_>,
    path: &str,
    change: Was<'_>,
) -> Markup {
    let text = clean(secrets, &variable.name, &variable.value.text);
    let is_secret = matches!(text, Cow::Owned(_));
    let is_changed = change != Was::None;
    let kind = variable.value.kind.as_deref().unwrap_or_default();
    // What is inside of another value is set by the console.
    let set = match inside.can_set && path == variable.name {
        true => setter(variable, inside),
        false => html! {},
    };
    let body = html! {
        span.name { (pieces::line(&variable.name)) }
        @if is_secret {
            button.val.mark-secret type="button" data-reveal=(inside.to("show", path)) title="Show it to me" { (pieces::line(&cut(&text))) }
        } @else {
            span class={ "val " (pieces::hue(&text)) } { (pieces::line(&cut(&text))) }
        }
        @if let Was::From(old) = change { span.was { "was " (pieces::line(&budget::cut(&clean(secrets, &variable.name, old), 40))) } }
        span.type { (pieces::line(kind)) @if let Some(count) = variable.value.indexed { ", " (count) } }
    };
    html! {
        @if variable.value.children.is_some() {
            li data-k={ "v-" (path) } { details data-inside=(inside.to("path", path)) { summary.changed[is_changed] { (body) } } (set) }
        } @else {
            li.leaf.changed[is_changed] data-k={ "v-" (path) } { (body) (set) }
        }
    }
}

/// Gives a variable another value.
fn setter(variable: &Variable, inside: &InsideOf<'_>) -> Markup {
    let name = &variable.name;
    html! {
        details.setter data-k="set" data-closes {
            summary aria-label={ "Set " (pieces::line(name)) } title="Give it another value" { (icon("edit")) }
            form method="post" action=(inside.path) {
                input type="hidden" name="do" value="set";
                input type="hidden" name="name" value=(name);
                input type="hidden" name="frame" value=(inside.frame);
                input.in.mono name="value" required aria-label={ "New value of " (pieces::line(name)) } placeholder="An expression" autocomplete="off" spellcheck="false" data-once;
                button.btn.small { "Set" }
            }
        }
    }
}

fn cut(text: &str) -> String {
    budget::cut(text, limits::PAGE_VALUE)
}

pub(super) fn clean<'t>(secrets: &Secrets, name: &str, text: &'t str) -> Cow<'t, str> {
    secrets.named(name, text)
}

/// What is inside of a value, or one secret: `GET …/values?path=…` or `?show=…`.
pub(super) async fn answer(
    app: &App,
    session: &Arc<Session>,
    at: &PageAddress,
) -> Result<Markup, Failure> {
    use holdpoint_engine::{backend::Slice, failure::Code};
    let gone = || Failure::new(Code::NotStopped, "the program went on");
    let frame: usize = at.chosen("frame").parse().unwrap_or_default();
    let other: Option<ThreadKey> = at.chosen("thread").parse().ok();
    let seen = match other {
        Some(thread) => app.desk.thread(session, thread, frame).await?,
        None => app.desk.stop(session, frame).await.ok_or_else(gone)?,
    };
    let (shown, stopped) = session.stopped()?;
    let backend = match other {
        Some(thread) => session.backend(thread.target)?,
        None => stopped,
    };
    if shown.seq.0.to_string() != at.chosen("seq") {
        return Err(gone());
    }
    let locals = seen.locals.as_ref().map_err(Clone::clone)?;
    let wanted = if at.chosen("show").is_empty() { at.chosen("path") } else { at.chosen("show") };
    let steps: Vec<&str> = wanted.split('\u{1f}').collect();
    let mut found = None::<Variable>;
    for step in &steps {
        let all = match &found {
            None => locals.clone(),
            Some(value) => match &value.value.children {
                Some(children) => {
                    backend.children(children, Slice { start: 0, count: limits::CHILDREN }).await?
                }
                None => Vec::new(),
            },
        };
        found = Some(all.into_iter().find(|it| it.name == *step).ok_or_else(gone)?);
    }
    let found = found.ok_or_else(gone)?;
    if !at.chosen("show").is_empty() {
        return Ok(html! { (pieces::line(&cut(&found.value.text))) });
    }
    let Some(children) = &found.value.children else { return Ok(html! {}) };
    let slice = Slice { start: 0, count: limits::PAGE_CHILDREN };
    let parts = backend.children(children, slice).await?;
    let path = at.path().strip_suffix("/values").unwrap_or(at.path());
    let thread = at.chosen("thread").to_owned();
    let inside = InsideOf { path, seq: shown.seq.0, frame, thread, can_set: false };
    let secrets = app.engine.secrets();
    let kept: Vec<&Variable> =
        parts.iter().filter(|it| !is_extra(it)).take(limits::PAGE_CHILDREN).collect();
    let is_cut = parts.len() >= limits::PAGE_CHILDREN;
    let total = found
        .value
        .indexed
        .unwrap_or(if is_cut { parts.len() } else { kept.len() })
        .max(kept.len());
    Ok(html! {
        ul {
            @for part in &kept { (row(secrets, part, &inside, &format!("{wanted}\u{1f}{}", part.name), Was::None)) }
            @if kept.is_empty() { li.leaf { span.quiet { "empty" } } }
            @if total > kept.len() { li.leaf { span.cut-note { (kept.len()) " of " (pieces::number(total)) "; the console shows others" } } }
        }
    })
}
