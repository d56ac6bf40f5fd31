//! Live objects, and one of them over time: its moments, and what differs between two of them.

use std::sync::Arc;

use holdpoint_engine::{
    budget,
    callpoints::Callpoints,
    failure::{Code, Failure},
    limits,
    records::{ObjectSeen, StoreError},
};
use maud::{Markup, html};
use serde_json::Value;

use super::{compare, look, moments};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        calls::{self, AppsKnown},
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
    named: Option<(&str, &str)>,
) -> Result<Sheet, Failure> {
    let mut parts = LiveParts::default();
    let apps = AppsKnown::of(app, calls).await?;
    calls.records.settle().await;
    let known = calls::version(app, calls);
    let ask = calls.records.objects();
    let (objects, is_late) = app.desk.calls.objects.get(String::new(), known, ask).await?;
    parts.late(is_late || apps.is_late);
    let search = at.chosen("search").trim();
    let chosen = match named {
        // Known by its number alone where the app was not named.
        Some(("", number)) => objects.iter().find(|it| it.at.client_ref == number).map(key),
        Some((process, number)) => Some((process.to_owned(), number.to_owned())),
        None => objects.iter().find(|it| holds(it, search)).map(key),
    };
    let (history, is_late) = over_time(app, calls, chosen.as_ref()).await?;
    parts.late(is_late);
    let path = chosen.as_ref().map(|(process, number)| to(process, number)).unwrap_or_default();
    let picked = moments::Picked::of(at, &history);
    let (diff, tree) = match picked.b {
        Some(b) => {
            let cid = b.at.cid.to_string();
            let diff = compare::markup(app, calls, picked.a, b).await?;
            (diff, look::tree(app, calls, &cid).await?)
        }
        None => (
            html! { div.empty { b { "Nothing to compare yet" } "What an object was at each call that had it shows up here." } },
            html! {},
        ),
    };
    let values = match history.is_empty() {
        true => newest(app, calls, search, objects.is_empty()).await?,
        false => html! {},
    };
    let main = html! {
        (bar(search))
        div.values {
            section.pane aria-labelledby="o-h" {
                header { h2 #o-h { "Objects" } span.end.quiet #o-n { (parts.put("o-n", html! { (objects.len()) })) } }
                ul.pick.scroll #objects { (parts.put("objects", list(app, &objects, &apps, search, chosen.as_ref()))) }
            }
            section.pane aria-labelledby="m-h" {
                header { h2 #m-h { @if let Some(last) = history.last() { code { (pieces::line(&kind(&last.shown))) " #" (pieces::line(&last.at.client_ref)) } } @else { "Values" } }
                    span.end.quiet.tab #m-n { (parts.put("m-n", html! { @if !history.is_empty() { (history.len()) " moments" } })) } }
                @if history.is_empty() { div.scroll #newest { (parts.put("newest", values)) } }
                @else { ol.moments.scroll #moments tabindex="0" aria-label="Moments, newest first" { (parts.put("moments", moments::list(app, at, &path, &history, &picked))) } }
            }
            section.pane aria-labelledby="d-h" {
                header { h2 #d-h { "A to B" } span.end { (changes_or_all()) } }
                div.scroll.grow-y {
                    div #diff { (parts.put("diff", diff)) }
                    @if picked.b.is_some() { h3.sec { "B as it was" } ul.tree.boxed-tree #value { (parts.put("value", tree)) } }
                }
            }
        }
    };
    Ok(Sheet {
        title: "Values".to_owned(),
        is_fill: true,
        shape: if history.is_empty() { "values" } else { "object" },
        main,
        parts,
    })
}

/// Every moment of an object that is kept, the oldest first.
async fn over_time(
    app: &App,
    calls: &Callpoints,
    chosen: Option<&(String, String)>,
) -> Result<(Arc<Vec<ObjectSeen>>, bool), Failure> {
    let Some((process, number)) = chosen else { return Ok(Default::default()) };
    let known = calls::version(app, calls);
    let ask = calls.records.history(process, number);
    app.desk.calls.objects.get(format!("{process} {number}"), known, ask).await
}

fn stored(error: StoreError) -> Failure {
    Failure::new(Code::StoreFailed, error.to_string())
}

fn key(it: &ObjectSeen) -> (String, String) {
    (it.at.process.clone(), it.at.client_ref.clone())
}

fn to(process: &str, client_ref: &str) -> String {
    format!("/values/object/{}/{}", address::word(process), address::word(client_ref))
}

pub(super) fn bar(search: &str) -> Markup {
    html! {
        header.bar {
            h1 { "Values" } p.cut { "What objects were, at each call that had them." }
            form.end.find.narrow method="get" action="/values" role="search" {
                (icon("search")) label.hush for="cid" { "CID" }
                input.in.mono #cid name="search" data-find type="search" placeholder="CID, or words" value=(search) spellcheck="false";
            }
        }
    }
}

fn changes_or_all() -> Markup {
    html! {
        fieldset.seg.tiny {
            legend.hush { "Show" }
            label { input type="radio" name="df" value="changes" checked; span { "Changes" } }
            label { input type="radio" name="df" value="all"; span { "All" } }
        }
    }
}

/// The type of a value, as far as what is shown of it tells.
pub(super) fn kind(shown: &Value) -> String {
    let text = match shown {
        Value::String(text) => text.as_str(),
        Value::Object(object) => {
            return object.get("type_name").and_then(Value::as_str).unwrap_or("object").to_owned();
        }
        Value::Array(_) => return "list".to_owned(),
        Value::Number(_) => return "number".to_owned(),
        Value::Bool(_) => return "bool".to_owned(),
        Value::Null => return "None".to_owned(),
    };
    let end =
        text.find(|it: char| !it.is_alphanumeric() && it != '_' && it != '.').unwrap_or(text.len());
    match (text.get(..end).unwrap_or_default(), text.chars().next()) {
        ("", Some('{')) => "dict".to_owned(),
        ("", Some('[')) => "list".to_owned(),
        ("", Some('(')) => "tuple".to_owned(),
        ("", Some('\'' | '"')) => "str".to_owned(),
        ("", Some('<')) => {
            text.trim_matches(['<', '>']).split(' ').next().unwrap_or("object").to_owned()
        }
        ("", _) => "object".to_owned(),
        (word, _) => word.rsplit('.').next().unwrap_or(word).to_owned(),
    }
}

pub(super) fn written(shown: &Value) -> String {
    match shown {
        Value::String(text) => text.clone(),
        other => other
            .get("summary")
            .and_then(Value::as_str)
            .map_or_else(|| other.to_string(), str::to_owned),
    }
}

/// Whether an object holds every word: in its text, its CID, its function, its role.
fn holds(it: &ObjectSeen, search: &str) -> bool {
    let text = format!(
        "{} {} {} {} {}",
        written(&it.shown),
        it.at.cid,
        it.at.name,
        it.at.role,
        it.at.client_ref
    )
    .to_lowercase();
    search.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
}

fn list(
    app: &App,
    objects: &Arc<Vec<ObjectSeen>>,
    apps: &AppsKnown,
    search: &str,
    chosen: Option<&(String, String)>,
) -> Markup {
    let found: Vec<&ObjectSeen> = objects.iter().filter(|it| holds(it, search)).collect();
    let secrets = app.engine.secrets();
    html! {
        @if found.is_empty() { li.none { span.li.quiet { @if objects.is_empty() { "None yet: an app that numbers its objects shows them here." } @else { "None of " (objects.len()) " is like that." } } } }
        @for it in found.iter().take(limits::CALLS_LISTED) {
            @let is_on = chosen.is_some_and(|(process, number)| *process == it.at.process && *number == it.at.client_ref);
            li.is-on[is_on].blue[is_on] data-k={ "o" (it.at.process) (it.at.client_ref) } {
                a.row href=(to(&it.at.process, &it.at.client_ref)) aria-current=[is_on.then_some("true")] {
                    span.grow {
                        b.cut { code { (pieces::line(&kind(&it.shown))) } " " span.quiet { "#" (pieces::line(&it.at.client_ref)) } }
                        small.cut { (pieces::line(&budget::cut(&secrets.text(&written(&it.shown)), limits::VALUE_SHOWN))) }
                        small.cut { (it.at.role) " of " (pieces::line(&it.at.name)) ", " (pieces::line(&apps.name(&it.at.process))) }
                    }
                }
            }
        }
        @if found.len() > limits::CALLS_LISTED { li { span.li.quiet { (limits::CALLS_LISTED) " of " (found.len()) "; a search finds the others" } } }
    }
}

/// The values that were kept last, whatever had them.
async fn newest(
    app: &App,
    calls: &Callpoints,
    search: &str,
    no_objects: bool,
) -> Result<Markup, Failure> {
    let all = calls.records.newest_values(limits::CALLS_LISTED).await.map_err(stored)?;
    let secrets = app.engine.secrets();
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let found: Vec<_> = all
        .iter()
        .filter(|(it, shown)| {
            let text = format!("{} {}", it.cid, written(shown)).to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
        .collect();
    let is_cid =
        search.len() >= limits::CID_DIGITS && search.bytes().all(|it| it.is_ascii_hexdigit());
    Ok(html! {
        @if is_cid { p.pad { a.btn href={ "/values/cid/" (search) } { "The value " code { (search.get(..limits::CID_SHOWN).unwrap_or(search)) } } } }
        @if found.is_empty() {
            div.empty { @if all.is_empty() { b { "No value is kept yet" } "Values come with the calls of apps." } @else { b { "None of the newest is like that" } } }
        } @else {
            table.rows {
                thead { tr { th scope="col" { "Value" } th scope="col" { "CID" } th scope="col" .num { "Bytes" } } }
                tbody { @for (it, shown) in &found {
                    @let text = written(shown);
                    tr data-k={ "v" (it.cid) } {
                        td { a.row href={ "/values/cid/" (it.cid) } { code.soft { (pieces::line(&budget::cut(&secrets.text(&text), limits::VALUE_SHOWN))) } } }
                        td { code.cid { (it.cid.to_string().get(..limits::CID_DIGITS).unwrap_or_default()) } }
                        td.num { (pieces::number(usize::try_from(it.size).unwrap_or_default())) }
                    }
                } }
            }
            @if no_objects { p.pad.quiet { "These are the newest " (found.len()) "." } }
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_type_of_a_value_is_told_by_how_it_is_written() {
        let of = |text: &str| kind(&json!(text));
        assert_eq!(
            (of("Stock(levels={})"), of("shop.Cart(x)"), of("{'a': 1}")),
            ("Stock".into(), "Cart".into(), "dict".into())
        );
        assert_eq!(
            (of("[1]"), of("'x'"), of("<Cart object>"), of("")),
            ("list".into(), "str".into(), "Cart".into(), "object".into())
        );
    }
}
