//! A frame's source with its colours, and beside each line what happened there.

use std::{borrow::Cow, path::Path};

use holdpoint_engine::{
    limits,
    recordings::{FrameLook, LineNote, LineSeen},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{history, to_call, words};
use crate::page::{address, colours, pieces};

/// The lines of a look, around one of them where there are many.
pub(super) struct SourceShown<'a> {
    pub(super) secrets: &'a Secrets,
    pub(super) id: &'a str,
    /// The address of the frame.
    pub(super) path: &'a str,
    pub(super) look: &'a FrameLook,
    /// The line that is meant.
    pub(super) at: Option<u32>,
    /// Lines before and behind it; none: all of the function.
    pub(super) around: Option<u32>,
}

impl SourceShown<'_> {
    /// Which lines are shown.
    fn range(&self) -> (u32, u32) {
        let seen = || self.look.lines.iter().map(|it| it.line).filter(|it| *it > 0);
        let first = seen().min().unwrap_or(u32::MAX).min(self.look.call.line).max(1);
        let last = seen().max().unwrap_or(0).max(self.look.last_line).max(first);
        let room = u32::try_from(limits::PAGE_LINES).unwrap_or(400);
        let around = match self.around {
            Some(around) => around,
            None if last - first < room => return (first, last),
            None => room / 2,
        };
        let at = self.at.or_else(|| seen().min()).unwrap_or(first);
        (at.saturating_sub(around).max(first), at.saturating_add(around).min(last))
    }

    pub(super) fn markup(&self) -> Markup {
        let (first, last) = self.range();
        let lines = self.lines(first, last);
        html! {
            @for (number, line) in (first..=last).zip(lines.iter()) { (self.row(number, line)) }
            @if lines.is_empty() { @for it in &self.look.lines { (self.row(it.line, &html! { })) } }
        }
    }

    fn lines(&self, first: u32, last: u32) -> Vec<Markup> {
        let Some(source) = &self.look.source else { return Vec::new() };
        let clean = |line| -> Cow<'_, str> { self.secrets.text(line) };
        colours::lines(Path::new(&source.path), &source.text, first as usize, last as usize, clean)
    }

    fn row(&self, number: u32, line: &Markup) -> Markup {
        let seen = self.look.lines.iter().find(|it| it.line == number);
        let is_here = self.at == Some(number);
        let is_cold = seen.is_none_or(|it| !it.is_reached);
        html! {
            li id={ "L" (number) } data-line=(number) .frame[is_here] .cold[is_cold] aria-current=[is_here.then_some("step")] {
                span.g { (number) }
                code { (line) @if line.0.is_empty() { " " } }
                @if let Some(seen) = seen { (self.beside(seen)) }
            }
        }
    }

    fn beside(&self, seen: &LineSeen) -> Markup {
        let line = seen.line.to_string();
        html! {
            @if seen.times > 1 {
                a.times href=(address::to(self.path, [("line", line.as_str()), ("nth", "1")].into_iter())) title="Look at each time" { "×" (words::count(seen.times)) }
            }
            @for note in &seen.notes { (self.note(note)) }
        }
    }

    fn name(&self, name: &str) -> Markup {
        html! { a.of-name href=(history::to(self.id, name, &self.look.call.function)) { (pieces::line(name)) } }
    }

    fn note(&self, note: &LineNote) -> Markup {
        let say = |text: &str| words::plain(self.secrets, text);
        let is_pass = self.look.pass.is_some();
        html! {
            @match note {
                LineNote::Wrote { name, was, now, is_sure } => span.vals {
                    (self.name(name)) " = "
                    @if let Some(was) = was { s { (words::value(self.secrets, name, was)) } " " }
                    @if is_pass { b { (words::value(self.secrets, name, now)) } } @else { (words::value(self.secrets, name, now)) }
                    @if !is_sure { " ?" }
                },
                LineNote::Series { name, first, last, left } => span.vals {
                    (self.name(name)) " = " (self.values(name, first))
                    @if *left > 0 { " … " (words::count(*left)) " more … " } @else if !last.is_empty() { ", " } (self.values(name, last))
                },
                LineNote::Called { call, function, end } => span.vals { a href=(to_call(self.id, *call)) { (pieces::line(function)) } " " (words::came(self.secrets, end)) },
                LineNote::Calls { first, function, times } => span.vals { a href=(to_call(self.id, *first)) { (pieces::line(function)) } " ×" (words::count(*times)) },
                LineNote::Leaf(text) => span.vals { (say(text)) },
                LineNote::Raised(text) => span.vals.fail-t { "raises " (say(text)) },
                LineNote::Caught(text) => span.vals { (say(text)) " caught" },
                LineNote::Yielded(text) => span.vals { "yields " (say(text)) },
                LineNote::Lost(events) => span.why { (words::count(*events)) " events not kept" },
            }
        }
    }

    fn values(&self, name: &str, all: &[String]) -> Markup {
        html! { @for (at, it) in all.iter().enumerate() { @if at > 0 { ", " } (words::value(self.secrets, name, it)) } }
    }
}
