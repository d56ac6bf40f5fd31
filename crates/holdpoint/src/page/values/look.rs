//! One value by its CID: what it is, a tree that opens level by level, the calls that had it, and what differs from another.

use std::borrow::Cow;

use holdpoint_engine::{
    budget,
    callpoints::Callpoints,
    failure::{Code, Failure},
    limits,
    records::{Cid, InnerValue, NoValue, OpenedValue, RecordQuery, Unopened},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{compare, objects};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        calls::{self, ShownCall},
        pieces,
        sheet::{LiveParts, Sheet},
    },
};

pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
    cid: &str,
) -> Result<Sheet, Failure> {
    let opened = open(calls, cid, "").await?;
    let mut parts = LiveParts::default();
    let cid = match &opened {
        Ok(opened) => opened.cid.clone(),
        Err(Unopened::Undecodable { cid, .. }) => cid.clone(),
        Err(no) => return Err(why(no)),
    };
    let used = used(app, calls, &cid, &mut parts).await?;
    let with = at.chosen("with").trim();
    let compared = match with {
        "" => html! {},
        other => compare::two(app, calls, other, &cid).await?,
    };
    let main = html! {
        (objects::bar(""))
        div.values.one-value {
            section.pane aria-labelledby="v-h" {
                header { h2 #v-h { code { (cid.get(..limits::CID_SHOWN).unwrap_or_default()) "…" } } span.end.quiet { @if let Ok(it) = &opened { (pieces::line(&it.kind)) ", " (pieces::number(usize::try_from(it.size).unwrap_or_default())) " bytes, " (it.format) } } }
                div.scroll.grow-y {
                    @match &opened {
                        Ok(it) => {
                            @if let Some(nested) = it.nested { p.pad.quiet { "It is nested " (pieces::number(nested)) " levels deep; " (limits::SHOWN_DEPTH) " of them can be opened." } }
                            ul.tree.boxed-tree { (root(app.engine.secrets(), it)) }
                        },
                        Err(no) => (pieces::failure(&why(no))),
                    }
                    dl.kv.pad-kv { dt { "CID" } dd { code { (cid) } } }
                }
            }
            section.pane aria-labelledby="u-h" {
                header { h2 #u-h { "Calls that had it" } }
                div.scroll #used { (parts.put("used", used)) }
            }
            section.pane aria-labelledby="w-h" {
                header { h2 #w-h { "Beside another" } }
                div.scroll.grow-y {
                    form.pad-s method="get" action={ "/values/cid/" (cid) } {
                        label.field { span { "CID of the other, or the beginning of it" } input.in.mono name="with" value=(with) spellcheck="false" autocomplete="off"; }
                        button.btn.small { "Compare" }
                    }
                    (compared)
                }
            }
        }
    };
    Ok(Sheet { title: "A value".to_owned(), is_fill: true, shape: "value", main, parts })
}

/// One level of a value.
async fn open(
    calls: &Callpoints,
    cid: &str,
    path: &str,
) -> Result<Result<OpenedValue, Unopened>, Failure> {
    let found = calls.records.open(cid, path).await;
    found.map_err(|it| Failure::new(Code::StoreFailed, it.to_string()))
}

pub(super) fn why(no: &Unopened) -> Failure {
    match no {
        Unopened::NoSuchValue(NoValue::Unknown { cid }) => {
            Failure::new(Code::NotFound, format!("no value `{cid}` is kept"))
                .hint("8 digits of a CID or more name a value")
        }
        Unopened::NoSuchValue(NoValue::Several { cid, count }) => {
            Failure::new(Code::InvalidParams, format!("{count} values begin with `{cid}`"))
        }
        Unopened::NoSuchPath { why } => Failure::new(Code::NotFound, why.clone()),
        Unopened::Undecodable { why, .. } => {
            Failure::new(Code::InvalidParams, format!("its bytes cannot be read: {why}"))
        }
    }
}

/// A value as a tree whose first level is open.
pub(super) async fn tree(app: &App, calls: &Callpoints, cid: &str) -> Result<Markup, Failure> {
    Ok(match open(calls, cid, "").await? {
        Ok(opened) => root(app.engine.secrets(), &opened),
        Err(no) => html! { li { (pieces::failure(&why(&no))) } },
    })
}

fn root(secrets: &Secrets, it: &OpenedValue) -> Markup {
    let body =
        html! { span.name { (pieces::line(it.kind.rsplit('.').next().unwrap_or(&it.kind))) } };
    let type_of =
        html! { span.type { (pieces::line(&it.kind)) ", " (it.size) " bytes, " (it.format) } };
    html! {
        @if it.inside.is_empty() {
            li.leaf { (body) (value(secrets, "", &it.text, &it.cid, "")) (type_of) }
        } @else {
            li { details open { summary { (body) span.val { } (type_of) } (level(secrets, it, "")) } }
        }
    }
}

fn level(secrets: &Secrets, it: &OpenedValue, path: &str) -> Markup {
    html! {
        ul {
            @for inner in &it.inside { (row(secrets, inner, &it.cid, &format!("{path}{}", inner.step))) }
            @if it.total > it.inside.len() { li.leaf { span.cut-note { (it.inside.len()) " of " (pieces::number(it.total)) } } }
        }
    }
}

fn row(secrets: &Secrets, it: &InnerValue, cid: &str, path: &str) -> Markup {
    let name = it.step.trim_start_matches('.').trim_matches(['[', ']']);
    let body = html! {
        span.name { (pieces::line(name)) }
        (value(secrets, name.trim_matches(['\'', '"']), &it.text, cid, path))
        span.type { (pieces::line(&it.kind)) @if it.holds > 0 { ", " (it.holds) } }
    };
    html! {
        @if it.holds > 0 { li data-k={ "v-" (path) } { details data-inside=(to(cid, "path", path)) { summary { (body) } } } }
        @else { li.leaf data-k={ "v-" (path) } { (body) } }
    }
}

/// Text with its colour, or a mark that a press opens.
fn value(secrets: &Secrets, name: &str, text: &str, cid: &str, path: &str) -> Markup {
    let clean = secrets.named(name, text);
    let shown = budget::cut(&clean, limits::PAGE_VALUE);
    match clean {
        Cow::Owned(_) => {
            html! { button.val.mark-secret type="button" data-reveal=(to(cid, "show", path)) title="Show it to me" { (pieces::line(&shown)) } }
        }
        Cow::Borrowed(_) => {
            html! { span class={ "val " (pieces::hue(&shown)) } { (pieces::line(&shown)) } }
        }
    }
}

fn to(cid: &str, what: &str, path: &str) -> String {
    address::to(&format!("/values/cid/{cid}/inside"), [(what, path), ("of", "value")].into_iter())
}

/// `GET /values/cid/…/inside?path=…`: what is inside; `?show=…`: one secret.
pub(super) async fn inside(
    app: &App,
    calls: &Callpoints,
    cid: &str,
    at: &PageAddress,
) -> Result<Markup, Failure> {
    let is_secret = at.chosen("path").is_empty();
    let path = if is_secret { at.chosen("show") } else { at.chosen("path") };
    let opened = open(calls, cid, path).await?.map_err(|no| why(&no))?;
    if is_secret {
        return Ok(html! { (pieces::line(&budget::cut(&opened.text, limits::PAGE_VALUE))) });
    }
    Ok(level(app.engine.secrets(), &opened, path))
}

/// The newest calls that had the value.
async fn used(
    app: &App,
    calls: &Callpoints,
    cid: &str,
    parts: &mut LiveParts,
) -> Result<Markup, Failure> {
    let wanted = RecordQuery {
        value: Cid::parse(cid),
        limit: limits::PAGE_RECORDS,
        ..RecordQuery::default()
    };
    let (page, is_late) = calls::asked_records(app, calls, format!("with {cid}"), wanted).await?;
    parts.late(is_late);
    let secrets = app.engine.secrets();
    Ok(html! {
        @if page.calls.is_empty() { p.pad.quiet { "None that is kept." } } @else {
            table.rows.fixed.used {
                thead { tr { th scope="col" { "Call" } th scope="col" { "Result" } th scope="col" { "Began" } } }
                tbody { @for it in &page.calls {
                    @let call = ShownCall::recorded(secrets, it);
                    tr id={ "u" (it.id) } {
                        td { a.row href={ "/calls/call/" (address::word(&it.seen.call.id)) } { code { (pieces::line(&format!("{}{}", it.seen.call.name, call.given()))) } } }
                        td { code.soft { (pieces::line(&call.came().0)) } }
                        td.mono.quiet { (pieces::moment(it.seen.call.started_at)) }
                    }
                } }
            }
            @if page.total > page.calls.len() as u64 { p.pad.quiet { (page.calls.len()) " of " (page.total) } }
        }
    })
}
