//! All recordings, the newest first, live; and a form that makes one.

use holdpoint_engine::{failure::Failure, limits, recordings::RecordingKnown};
use maud::{Markup, html};

use super::{to, words};
use crate::{
    app::App,
    page::{
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

/// A recording is shown with its day when it is older than this.
const TODAY_MS: i64 = 20 * 3_600 * 1_000;

pub(super) async fn sheet(app: &App) -> Result<Sheet, Failure> {
    let (all, is_late) = app.engine.recordings.known().await;
    let mut parts = LiveParts::default();
    parts.late(is_late);
    let rows = all.iter().map(|it| (format!("rec-{}", it.about.id), row(app, it))).collect();
    let main = html! {
        header.bar { h1 { "Recordings" } p #sentence aria-live="polite" { (parts.put("sentence", sentence(&all))) } }
        div.body {
            section.panel aria-labelledby="r-h" {
                header { h2 #r-h { "Runs" } small { "the newest first" } }
                @if all.is_empty() { (empty()) } @else {
                    div.scroll tabindex="0" role="region" aria-label="All recordings, as a table" {
                        table.rows.tall-rows.recs { (head()) tbody #recordings { (parts.rows("recordings", rows)) } }
                    }
                    footer #two { (parts.put("two", two(&all))) }
                }
            }
            (form())
        }
    };
    let shape = if all.is_empty() { "no recordings" } else { "recordings" };
    Ok(Sheet { title: "Recordings".to_owned(), is_fill: false, shape, main, parts })
}

fn sentence(all: &[RecordingKnown]) -> Markup {
    let running = all.iter().filter(|it| it.is_written).count();
    let bytes: u64 = all.iter().map(|it| it.bytes).sum();
    html! {
        @match all.len() {
            0 => "A run that was kept: every call, line and value, to be asked afterwards.",
            1 => "One run was kept.",
            count => { (count) " runs were kept, " (words::size(bytes)) " in all." },
        }
        @if running > 0 { " " (running) @if running == 1 { " is being recorded." } @else { " are being recorded." } }
    }
}

fn empty() -> Markup {
    html! {
        div.pad.first-rec {
            p { b { "Nothing has been recorded." } " A recording keeps a whole run; it says why a test failed, and what every value was on the way." }
            (pieces::copy_line("holdpoint record -- python app.py"))
            p.quiet { "Agents make one with their tool " code { "record_run" } "; you can make one below." }
        }
    }
}

fn head() -> Markup {
    html! {
        thead { tr {
            th scope="col" { "Run" } th scope="col" { "Came to" } th scope="col" { "When" } th scope="col" .num { "Took" }
            th scope="col" .num { "Calls" } th scope="col" .num { "Size" } th scope="col" { "Kept" }
        } }
    }
}

fn row(app: &App, of: &RecordingKnown) -> Markup {
    let (about, brief) = (&of.about, of.brief.as_deref());
    let secrets = app.engine.secrets();
    let took = match (about.took_ms, brief) {
        (0, Some(brief)) => brief.took_ms / 1e3,
        (took, _) => took as f64 / 1e3,
    };
    html! {
        tr id={ "rec-" (about.id) } {
            td.what-ran {
                a.row href=(to(&about.id)) { b { (words::plain(secrets, &about.title)) } }
                " " span.quiet { (about.id) @if let Some(name) = &about.name { ", " (words::plain(secrets, name)) } @if let Some(change) = &about.change { ", " (words::plain(secrets, change)) } }
            }
            td { (words::verdict(of, brief.map(|it| it.verdict.as_str()))) }
            td.mono.quiet { (when(of)) }
            td.num.soft { @if of.is_written { @if let Some(at) = about.started_at { (pieces::age(at.as_millisecond())) } } @else { (pieces::took(took)) } }
            td.num.soft { @if let Some(brief) = brief { (words::count(brief.calls)) } }
            td.num.soft { (words::size(of.bytes)) }
            td.kept { (kept(of)) }
        }
    }
}

/// When it began, with its day where that is not today's.
pub(super) fn when(of: &RecordingKnown) -> Markup {
    let Some(at) = of.about.started_at else { return html! { "–" } };
    let is_old = pieces::now_ms() - at.as_millisecond() > TODAY_MS;
    let day = at.strftime("%Y-%m-%d").to_string();
    html! { @if is_old { (day) " " } (pieces::moment(at.as_millisecond() as f64 / 1e3)) }
}

/// Whether all of it is there.
fn kept(of: &RecordingKnown) -> Markup {
    html! {
        @match (&of.brief, of.is_written) {
            (_, true) => span.quiet { "is being written" },
            (None, false) => span.quiet { "not looked into" },
            (Some(brief), false) => @match brief.missing.split_first() {
                None => span.quiet { "complete" },
                Some((first, rest)) => span.soft title=(brief.missing.join("; ")) { "without " (pieces::line(first)) @if !rest.is_empty() { ", " (rest.len()) " more" } },
            },
        }
    }
}

/// Two of them, to be compared.
fn two(all: &[RecordingKnown]) -> Markup {
    let ended: Vec<&RecordingKnown> = all.iter().filter(|it| !it.is_written).collect();
    let choose = |name: &str, label: &str, chosen: usize| {
        html! {
            label { span.hush { (label) } select.in.slim name=(name) {
                @for (at, it) in ended.iter().enumerate().take(limits::RECORDINGS_KEPT) {
                    option value=(it.about.id) selected[at == chosen] { (it.about.id) " " (pieces::line(&it.about.title)) }
                }
            } }
        }
    };
    html! {
        @if ended.len() > 1 {
            form.btns-row.compare-two method="get" action="/recordings/diff" {
                span { "Where do" } (choose("a", "The first run", 1)) span { "and" } (choose("b", "The second run", 0))
                button.btn.small { "Compare" }
            }
        } @else { span.quiet { "Two recordings can be compared: where they first part." } }
    }
}

/// To record a program.
fn form() -> Markup {
    html! {
        section.panel aria-labelledby="l-h" {
            header { h2 #l-h { "Record a run" } small { "it runs to its end by itself, with a recorder inside" } }
            form.pad.launch method="post" action="/recordings" {
                input type="hidden" name="do" value="record";
                label.field.grow { span { "Command or file" } input.in.mono name="command" data-once placeholder="python app.py --all" required spellcheck="false" autocomplete="off"; }
                label.field { span { "In the folder" } input.in.mono name="cwd" placeholder=(crate::root::current().display()) spellcheck="false" autocomplete="off"; }
                label.field { span { "Keep whole " i { "functions" } } input.in.mono name="focus" placeholder="rate, Cart.total" spellcheck="false" autocomplete="off"; }
                button.btn.main-act { (icon("play")) "Record" }
            }
        }
    }
}
