//! What is said of recordings and calls in several places. Recorders keep secrets as marks; what looks like one all the
//! same, in a text that was put together, becomes one here.

use holdpoint_engine::{
    budget, limits,
    recordings::{CallEnd, CallId, CallShown, RecordingKnown},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::to_call;
use crate::page::pieces;

/// Bytes of one argument among others.
const ARGUMENT: usize = 80;

/// Text of a program, bounded and without secrets.
pub(super) fn plain(secrets: &Secrets, text: &str) -> Markup {
    html! { (pieces::line(&budget::cut(&secrets.text(text), limits::PAGE_VALUE))) }
}

/// The value of a name, likewise.
pub(super) fn value(secrets: &Secrets, name: &str, text: &str) -> Markup {
    html! { (pieces::line(&budget::cut(&secrets.named(name, text), limits::PAGE_VALUE))) }
}

/// How a run ended, as a badge.
pub(super) fn verdict(of: &RecordingKnown, told: Option<&str>) -> Markup {
    if of.is_written {
        return pieces::badge("run", "play", "recording");
    }
    let told = told.unwrap_or("ended");
    let exit = of.about.exit_code;
    if told.contains("FAILED") {
        return pieces::badge("fail", "fail", &told.replace("FAILED", "failed"));
    }
    match (&of.about.ended, exit) {
        (None, _) => pieces::badge("", "alert", "its server ended first"),
        // What the recorder did not see, the guard did.
        (Some(ended), exit) if exit != Some(0) && of.about.imported_from.is_none() => {
            pieces::badge("fail", "fail", &format!("ended with {ended}"))
        }
        _ if told.starts_with("passed") => pieces::badge("run", "check", told),
        _ => pieces::badge("", "check", told),
    }
}

/// `1.2 MB`
pub(super) fn size(bytes: u64) -> String {
    match bytes as f64 {
        it if it >= 1e9 => format!("{:.1} GB", it / 1e9),
        it if it >= 1e7 => format!("{:.0} MB", it / 1e6),
        it if it >= 1e6 => format!("{:.1} MB", it / 1e6),
        it => format!("{:.0} KB", (it / 1e3).ceil()),
    }
}

/// A number of things.
pub(super) fn count(number: u64) -> String {
    pieces::number(usize::try_from(number).unwrap_or(usize::MAX))
}

/// What a call was given, without who it is a method of.
pub(super) fn given(secrets: &Secrets, call: &CallShown) -> Markup {
    let is_receiver = |name: &str| matches!(name, "self" | "this" | "cls");
    let all = call.arguments.iter().filter(|(name, _)| !is_receiver(name));
    html! {
        "("
        @for (at, (name, given)) in all.enumerate() {
            @if at > 0 { ", " }
            (pieces::line(name)) "=" (pieces::line(&budget::cut(&secrets.named(name, given), ARGUMENT)))
        }
        ")"
    }
}

/// What came of it.
pub(super) fn came(secrets: &Secrets, end: &CallEnd) -> Markup {
    html! {
        @match end {
            CallEnd::Returned(value) => code.soft { "→ " (plain(secrets, value)) },
            CallEnd::Raised(value) => code.fail-t { "raised " (plain(secrets, value)) },
            CallEnd::Open => span.quiet { "had not ended" },
            CallEnd::Suspended => span.quiet { "suspended, not resumed" },
        }
    }
}

/// `Cart.total(tiers=[…])`, which leads to its frame.
pub(super) fn call(secrets: &Secrets, id: &str, call: &CallShown) -> Markup {
    html! {
        a.call-name href=(to_call(id, call.id)) { code { b { (pieces::line(&call.function)) } } }
        code.soft.cut { (given(secrets, call)) }
    }
}

/// `#813`, which leads there.
pub(super) fn handle(id: &str, call: CallId) -> Markup {
    html! { a.handle href=(to_call(id, call)) { (call) } }
}

/// Milliseconds, with the unit that fits; nothing for what has not ended.
pub(super) fn took(call: &CallShown) -> String {
    match call.end {
        CallEnd::Open | CallEnd::Suspended => String::new(),
        CallEnd::Returned(_) | CallEnd::Raised(_) => pieces::took(call.milliseconds / 1e3),
    }
}

/// What of an answer is not there.
pub(super) fn missing(all: &[String]) -> Markup {
    html! {
        @for it in all.iter().take(limits::NAMES_SHOWN) {
            p.note.flat { (pieces::icon("info")) span { "Missing: " (pieces::line(it)) } }
        }
    }
}
