//! The longest calls over time, as bars.

use std::collections::BTreeMap;

use holdpoint_engine::{
    failure::Failure,
    limits,
    recordings::{FlameAsk, FlameBar, FlameFound},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{to_call, words};
use crate::{
    app::App,
    page::{
        bars::{self, TimeBar},
        pieces,
    },
};

/// Of one call and what it made, or of a whole process.
pub(super) async fn drawn(
    app: &App,
    id: &str,
    process: u32,
    under: &str,
) -> Result<Markup, Failure> {
    let under = under.to_owned();
    let found = app.engine.recordings.ask(Some(id), move |opened| {
        let under = match under.as_str() {
            "" => None,
            under => Some(opened.recording.call_named(under)?),
        };
        let process = under.map_or(process, |it| it.process);
        let (bars, rows) = (limits::PAGE_TREE, limits::PAGE_FLAME);
        opened.recording.flame(&FlameAsk { process, under, bars, rows })
    });
    Ok(markup(app.engine.secrets(), id, &found.await?))
}

fn markup(secrets: &Secrets, id: &str, found: &FlameFound) -> Markup {
    let hues = hues(found);
    let bars: Vec<TimeBar> = found.bars.iter().map(|it| bar(secrets, id, it, &hues)).collect();
    let span = (found.began_ms / 1e3, (found.began_ms + found.took_ms.max(1e-3)) / 1e3);
    html! {
        @if bars.is_empty() { p.pad.quiet { "Nothing to draw." } } @else {
            ul.legend.flame-legend {
                @for (file, hue) in &hues { li class=(hue) { (words::plain(secrets, file.rsplit(['/', '\\']).next().unwrap_or(file))) } }
                @if found.bars.iter().any(|it| it.is_raised) { li.cx { "raised" } }
                @if found.lanes.len() > 1 { li.end.quiet { (found.lanes.len()) " threads or tasks, one below the other" } }
            }
            div.flame { (bars::drawing(&bars, found.rows, span)) }
            @if found.left_out > 0 || found.is_cut {
                p.pad.quiet { "The " (bars.len()) " longest are drawn; " @if found.is_cut { "more than " } (words::count(found.left_out)) " are shorter or deeper. A call's own page draws what is inside of it." }
            }
        }
    }
}

/// Four colours, by file, in the order in which they come; further files share the last.
fn hues(found: &FlameFound) -> BTreeMap<String, &'static str> {
    let mut hues = BTreeMap::new();
    for it in &found.bars {
        if let Some(hue) = ["c4", "c3", "c1", "c2"].get(hues.len()) {
            hues.entry(it.file.clone()).or_insert(*hue);
        }
    }
    hues
}

fn bar(
    secrets: &Secrets,
    id: &str,
    it: &FlameBar,
    hues: &BTreeMap<String, &'static str>,
) -> TimeBar {
    let known = hues.get(&it.file).copied().unwrap_or("c2");
    let told = secrets.text(&it.told);
    TimeBar {
        href: to_call(id, it.call),
        name: it.function.rsplit('.').next().unwrap_or(&it.function).to_owned(),
        told: format!("{} {told}, {}", it.call, pieces::took(it.took_ms / 1e3)),
        hue: if it.is_raised { "cx" } else { known },
        began: it.began_ms / 1e3,
        ended: (it.began_ms + it.took_ms) / 1e3,
        row: it.row,
    }
}
