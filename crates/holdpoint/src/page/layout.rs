//! Around every view: head, rail, keys. What is live in it belongs to the parts of every view.

use holdpoint_engine::failure::Failure;
use maud::{DOCTYPE, Markup, html};

use super::{
    address::PageAddress,
    assets, pieces, rail,
    sheet::{LivePart, Sheet},
};
use crate::app::App;

pub(super) fn page(
    app: &App,
    at: &PageAddress,
    mut sheet: Sheet,
    wrong: Option<&Failure>,
) -> Markup {
    // Before the rest: its parts belong to the others.
    let rail = rail::markup(app, at, &mut sheet.parts);
    let seq = app.engine.log.head();
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&format!("{} · Holdpoint", sheet.title)))
            body data-at=(at.whole) data-has=(has(&sheet)) data-now=(pieces::now_ms()) {
                (pieces::sprite())
                a.skip href="#main" { "To the content" }
                div.shell {
                    (rail)
                    main #main.main.fill[sheet.is_fill] tabindex="-1" { (sheet.main) }
                }
                div #lost .lost-bar hidden role="status" {
                    (pieces::icon("alert"))
                    span { "The server does not answer. What you see is from " time #lost-at { } "; programs are not touched by this page." }
                    span.end #lost-again { }
                }
                div #said .said role="status" aria-live="polite" {
                    @if let Some(failure) = wrong { (pieces::failure(failure)) }
                }
                template #failure-form { (pieces::failure_form()) }
                p .hush #seq data-seq=(seq) { }
                (keys())
            }
        }
    }
}

pub(super) fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            link rel="icon" href=(assets::icon()) type="image/svg+xml";
            link rel="stylesheet" href=(assets::style());
            script type="module" src=(assets::script()) {}
        }
    }
}

/// `shape:full stack:a1b2 …`: what a page has, as the stream is told.
pub(super) fn has(sheet: &Sheet) -> String {
    let each = sheet.parts.all().iter().map(|LivePart { id, mark, .. }| format!(" {id}:{mark}"));
    format!("shape:{}{}", sheet.shape, each.collect::<String>())
}

fn keys() -> Markup {
    let rows: &[(&[&str], &str)] = &[
        (&["h"], "The hold that waits longest"),
        (&["/"], "Search in this view"),
        (&["j", "k"], "Next, previous row; Enter opens it"),
        (&["F8", "F9"], "Continue, pause"),
        (&["F10", "F11", "Shift F11"], "Step over, in, out"),
        (&["b", "Shift b"], "Breakpoint, tracepoint on the line in focus"),
        (&["o"], "Take over, or hand back"),
        (&[",", "."], "The pass before, the next pass of a recorded call"),
        (&["`"], "Console"),
        (&["Esc"], "Leave a field, close"),
        (&["?"], "This list"),
    ];
    html! {
        dialog.keys #keys aria-labelledby="keys-h" {
            header {
                h2 #keys-h { "Keys" }
                form method="dialog" { button.btn.bare.icon.small aria-label="Close" { (pieces::icon("x")) } }
            }
            dl {
                div {
                    dt { kbd { "g" } " " kbd { "n" } }
                    dd { @for view in super::VIEWS { kbd { (view.key) } " " (view.title) " " } }
                }
                @for (keys, what) in rows {
                    div { dt { @for key in *keys { kbd { (key) } " " } } dd { (what) } }
                }
            }
        }
    }
}
