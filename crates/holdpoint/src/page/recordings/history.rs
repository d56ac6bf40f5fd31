//! A value's life: every write that was seen, as a list, and as a plot where they are numbers.

use holdpoint_engine::{
    failure::Failure,
    limits,
    recordings::{HistoryAsk, HistoryFound, Recording, RecordingKnown, ValueSeries, WriteRow},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{answered, plot, to_call, words};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

/// Points of a plot: more than the pixels of a phone, fewer than a browser notices.
const POINTS: usize = 400;

/// Where the life of a name is, within a function.
pub(super) fn to(id: &str, name: &str, within: &str) -> String {
    let path = format!("{}/history", super::to(id));
    // An attribute is its object's, whichever function writes it.
    let within = if name.contains('.') { "" } else { within };
    let query = [("name", name), ("in", within)];
    address::to(&path, query.into_iter().filter(|it| !it.1.is_empty()))
}

pub(super) async fn sheet(app: &App, at: &PageAddress, id: &str) -> Result<Sheet, Failure> {
    let of = app.engine.recordings.known_as(id)?;
    let mut parts = LiveParts::default();
    let said = |name: &str| at.chosen(name).trim().to_owned();
    let asked = [said("name"), said("in"), said("before"), said("when")];
    let found = match asked.first().is_some_and(|it| it.is_empty()) {
        true => {
            html! { div.empty { b { "Whose life?" } "A variable, an attribute as " code { "self.qty" } ", or that of one object as " code { "Item@3.qty" } "." } }
        }
        false => {
            match answered(app, &of, &format!("history {asked:?}"), body(app, &of, &asked)).await {
                Ok((markup, is_late)) => {
                    parts.late(is_late);
                    html! { (*markup) }
                }
                Err(failure) => pieces::failure(&failure),
            }
        }
    };
    let main = html! {
        header.bar {
            a.crumb href="/recordings" { "Recordings" } a.crumb href=(super::to(&of.about.id)) { (of.about.id) }
            h1 { "The life of a value" } p.cut { (words::plain(app.engine.secrets(), &of.about.title)) }
        }
        div.body {
            section.panel aria-labelledby="h-h" {
                header { h2 #h-h { @if at.chosen("name").is_empty() { "Writes" } @else { code { (pieces::line(at.chosen("name"))) } } } (form(at)) }
                div #life { (parts.put("life", found)) }
            }
        }
    };
    Ok(Sheet {
        title: "The life of a value".to_owned(),
        is_fill: false,
        shape: "life",
        main,
        parts,
    })
}

fn form(at: &PageAddress) -> Markup {
    let field = |id: &str, name: &str, label: &str, hint: &str| {
        html! {
            label.hush for=(id) { (label) }
            input.in.mono.slim id=(id) name=(name) placeholder=(hint) value=(at.chosen(name)) spellcheck="false" autocomplete="off";
        }
    };
    html! {
        form.end.where-form method="get" action=(at.path()) role="search" {
            div.find { (icon("search")) label.hush for="h-name" { "Name" }
                input.in.mono #h-name name="name" data-find placeholder="total, self.qty" value=(at.chosen("name")) spellcheck="false" autocomplete="off"; }
            (field("h-in", "in", "In a function, or a call", "in a function, #813"))
            (field("h-when", "when", "When", "< 0, changed"))
            (field("h-before", "before", "Before", "before #813:42/2"))
            button.btn.small { "Find" }
        }
    }
}

async fn body(app: &App, of: &RecordingKnown, asked: &[String; 4]) -> Result<Markup, Failure> {
    let (id, asked) = (of.about.id.clone(), asked.clone());
    let found = app.engine.recordings.ask(Some(&id), move |opened| {
        let ask = question(&opened.recording, &asked)?;
        let series = opened.recording.series(&ask, POINTS)?;
        Ok((opened.recording.history(&ask)?, series))
    });
    let (found, series) = found.await?;
    Ok(markup(app.engine.secrets(), &id, &found, &series))
}

fn question(
    recording: &Recording,
    [name, within, before, when]: &[String; 4],
) -> Result<HistoryAsk, holdpoint_engine::recordings::AskError> {
    let some = |text: &String| Some(text.clone()).filter(|it| !it.is_empty());
    let is_call = within.starts_with('#');
    Ok(HistoryAsk {
        name: name.clone(),
        within: some(within).filter(|_| !is_call),
        within_call: some(within)
            .filter(|_| is_call)
            .map(|it| recording.call_named(&it))
            .transpose()?,
        before: some(before).map(|it| recording.spot_named(&it)).transpose()?,
        when: some(when),
        limit: Some(limits::PAGE_TREE),
    })
}

fn markup(secrets: &Secrets, id: &str, found: &HistoryFound, series: &ValueSeries) -> Markup {
    let left = found.matched.saturating_sub(found.rows.len() as u64);
    let middle = found.rows.len() / 2;
    html! {
        (plot::markup(id, &found.of, series))
        @if found.rows.is_empty() { div.empty { b { "No write is like that" } "Of " (words::count(found.total)) " writes, none." } } @else {
            div.scroll {
                table.rows.fixed.writes {
                    thead { tr { th scope="col" .c-n { "Where" } th scope="col" { "Value" } th scope="col" { "Function" } } }
                    tbody {
                        @for (at, row) in found.rows.iter().enumerate() {
                            @if left > 0 && at == middle { tr.fold { td colspan="3" { "… " (words::count(left)) " writes between" } } }
                            (line(secrets, id, &found.of, row))
                        }
                    }
                }
            }
        }
        footer.found-n {
            span { (words::count(found.matched)) " of " (words::count(found.total)) " writes of " code { (words::plain(secrets, &found.of)) } }
            @if !found.others.is_empty() { span { "Others: " @for (at, (name, times)) in found.others.iter().enumerate() { @if at > 0 { ", " } (pieces::line(name)) " (" (times) ")" } } }
            span { "Not seen: " (words::plain(secrets, &found.blind.join("; "))) }
        }
        (words::missing(&found.missing))
    }
}

fn line(secrets: &Secrets, id: &str, name: &str, row: &WriteRow) -> Markup {
    let call = to_call(id, row.call);
    let number = row.line.to_string();
    html! {
        tr {
            td.mono { a.row href=(if row.line > 0 { format!("{call}#L{number}") } else { call }) { (row.call) @if row.line > 0 { ":" (row.line) } } }
            td { code {
                @if let Some(item) = &row.item { span.quiet { (words::plain(secrets, item)) " " } }
                @match (&row.before, row.line) {
                    (Some(before), _) => { s.quiet { (words::value(secrets, name, before)) } " → " },
                    (None, 0) => span.quiet { "passed " },
                    (None, _) => {},
                }
                (words::value(secrets, name, &row.value))
            } }
            td { code { (pieces::line(&row.function)) } @if let Some(note) = &row.note { " " code.soft { (words::plain(secrets, note)) } } }
        }
    }
}
