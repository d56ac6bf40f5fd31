//! What differs between two values, part by part.

use std::collections::BTreeMap;

use holdpoint_engine::{
    budget,
    callpoints::Callpoints,
    failure::{Code, Failure},
    limits,
    records::{AppKey, ObjectSeen, RecordQuery, ValueLeaf},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::look;
use crate::{
    app::App,
    page::{
        address, calls,
        pieces::{self, icon},
    },
};

/// One part of two values.
#[derive(Debug, PartialEq)]
struct ComparedPart {
    path: String,
    a: Option<String>,
    b: Option<String>,
}

impl ComparedPart {
    fn is_same(&self) -> bool {
        self.a == self.b
    }

    /// `−5`, of two numbers.
    fn by(&self) -> Option<String> {
        let number =
            |it: &Option<String>| it.as_deref()?.parse::<f64>().ok().filter(|it| it.is_finite());
        let by = number(&self.b)? - number(&self.a)?;
        let sign = if by < 0.0 { "−" } else { "+" };
        let text = format!("{:.6}", by.abs());
        let text = text.trim_end_matches('0').trim_end_matches('.');
        Some(format!("{sign}{text}"))
    }
}

/// All parts of either, in the order of the second.
fn compare(a: &[ValueLeaf], b: &[ValueLeaf]) -> Vec<ComparedPart> {
    let old: BTreeMap<&str, &str> =
        a.iter().map(|it| (it.path.as_str(), it.text.as_str())).collect();
    let new: BTreeMap<&str, ()> = b.iter().map(|it| (it.path.as_str(), ())).collect();
    let part = |path: &str, a: Option<&str>, b: Option<&str>| ComparedPart {
        path: path.to_owned(),
        a: a.map(str::to_owned),
        b: b.map(str::to_owned),
    };
    let both =
        b.iter().map(|it| part(&it.path, old.get(it.path.as_str()).copied(), Some(&it.text)));
    let gone = a.iter().filter(|it| !new.contains_key(it.path.as_str()));
    both.chain(gone.map(|it| part(&it.path, Some(&it.text), None))).collect()
}

pub(super) async fn markup(
    app: &App,
    calls: &Callpoints,
    a: Option<&ObjectSeen>,
    b: &ObjectSeen,
) -> Result<Markup, Failure> {
    let Some(a) = a else { return Ok(html! {}) };
    let parts = of(calls, &a.at.cid.to_string(), &b.at.cid.to_string()).await?;
    let between = between(app, calls, a, b).await?;
    let secrets = app.engine.secrets();
    Ok(html! {
        div.ab-head { (head("A", a)) (head("B", b)) }
        (table(secrets, &parts))
        @if let Some((count, to)) = between {
            p.note { (icon("info")) span { @if count == 1 { "One call lies" } @else { (count) " calls lie" } " between them. " a href=(to) { "Show them" } } }
        }
    })
}

/// What differs between two values by their CIDs.
async fn of(
    calls: &Callpoints,
    a: &str,
    b: &str,
) -> Result<Result<(Vec<ComparedPart>, bool), Failure>, Failure> {
    let stored =
        |it: holdpoint_engine::records::StoreError| Failure::new(Code::StoreFailed, it.to_string());
    let a = calls.records.leaves(a).await.map_err(stored)?;
    let b = calls.records.leaves(b).await.map_err(stored)?;
    Ok(match (a, b) {
        (Ok((a, a_is_all)), Ok((b, b_is_all))) => Ok((compare(&a, &b), a_is_all && b_is_all)),
        (Err(no), _) | (_, Err(no)) => Err(look::why(&no)),
    })
}

/// Two values that somebody named.
pub(super) async fn two(
    app: &App,
    calls: &Callpoints,
    a: &str,
    b: &str,
) -> Result<Markup, Failure> {
    Ok(table(app.engine.secrets(), &of(calls, a, b).await?))
}

fn head(letter: &str, it: &ObjectSeen) -> Markup {
    let cid = it.at.cid.to_string();
    html! {
        div { span.ab-l { (letter) } (pieces::moment(it.at.at)) small.cut { code { (pieces::line(&it.at.name)) } }
            a.cid href={ "/values/cid/" (cid) } { (cid.get(..limits::CID_SHOWN).unwrap_or_default()) "…" } }
    }
}

fn table(secrets: &Secrets, parts: &Result<(Vec<ComparedPart>, bool), Failure>) -> Markup {
    let (parts, is_all) = match parts {
        Ok(found) => found,
        Err(failure) => return pieces::failure(failure),
    };
    let same = parts.iter().filter(|it| it.is_same()).count();
    let text = |path: &str, text: &str| {
        let name = path.rsplit(['.', '[']).next().unwrap_or(path);
        budget::cut(&secrets.named(name.trim_matches(['\'', ']', '"']), text), limits::VALUE_SHOWN)
    };
    html! {
        table.diff {
            thead.hush { tr { th { "Path" } th { "A" } th { "B" } th { "Difference" } } }
            tbody {
                @for it in parts {
                    @let path = if it.path.is_empty() { "the value" } else { it.path.as_str() };
                    tr class=(if it.is_same() { "same" } else { "chg" }) {
                        th scope="row" { code { (pieces::line(path)) } }
                        td { @if let Some(a) = &it.a { code.del[!it.is_same()] { (pieces::line(&text(&it.path, a))) } } }
                        td { @if let Some(b) = &it.b { code.ins[!it.is_same()] { (pieces::line(&text(&it.path, b))) } } }
                        td.num { @if it.is_same() { span.quiet { "same" } } @else if let Some(by) = it.by() { (by) }
                            @else if it.a.is_none() { "new" } @else if it.b.is_none() { "gone" } }
                    }
                }
                @if same > 0 { tr.fold { td colspan="4" { @if same == parts.len() { "All " (same) " parts are the same in both" } @else { (same) " more are the same in both" } } } }
            }
        }
        @if !is_all { p.note { (icon("info")) span { "Only the first " (limits::LEAVES) " parts were compared." } } }
    }
}

/// The calls of the app between two moments, and where they are listed.
async fn between(
    app: &App,
    calls: &Callpoints,
    a: &ObjectSeen,
    b: &ObjectSeen,
) -> Result<Option<(u64, String)>, Failure> {
    let (from, to) = (a.at.at.min(b.at.at), a.at.at.max(b.at.at));
    let wanted = RecordQuery {
        app: Some(AppKey::here(&a.at.process)),
        since: Some(from),
        until: Some(to),
        limit: 1,
        ..RecordQuery::default()
    };
    let (since, until) = (from.to_string(), to.to_string());
    let question = format!("between {since} {until} {}", a.at.process);
    let (page, _) = calls::asked_records(app, calls, question, wanted).await?;
    let query = [("app", a.at.process.as_str()), ("since", &since), ("until", &until)];
    Ok((page.total > 0).then(|| (page.total, address::to("/calls/records", query.into_iter()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_compared_by_their_paths() {
        let leaf =
            |path: &str, text: &str| ValueLeaf { path: path.to_owned(), text: text.to_owned() };
        let a = [leaf(".pen", "88"), leaf(".gone", "1"), leaf(".same", "'x'")];
        let b = [leaf(".pen", "83"), leaf(".same", "'x'"), leaf(".new", "2.5")];
        let parts = compare(&a, &b);
        let told: Vec<String> = parts
            .iter()
            .map(|it| format!("{} {:?} {:?} {:?}", it.path, it.a, it.b, it.by()))
            .collect();
        assert_eq!(
            told,
            [
                ".pen Some(\"88\") Some(\"83\") Some(\"−5\")",
                ".same Some(\"'x'\") Some(\"'x'\") None",
                ".new None Some(\"2.5\") None",
                ".gone Some(\"1\") None None",
            ]
        );
    }
}
