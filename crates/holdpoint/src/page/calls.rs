//! Calls of apps: those that are paused and what is to become of them, all that were recorded, who called whom, which
//! functions are held, and what went wrong between apps and here.
//!
//! Everything that a person decides goes through the tools that agents use.

mod app;
mod callpoints;
mod decide;
pub(super) mod doing;
mod errors;
mod flame;
mod one;
mod paused;
mod places;
mod records;
mod shown;
mod talk;
mod tree;

use holdpoint_engine::{
    callpoints::Callpoints,
    failure::Failure,
    limits,
    records::{AppRow, CallCount, CallNode, ObjectSeen, RecordPage, RecordQuery},
};
use maud::{Markup, html};

pub(super) use self::{
    app::AppsKnown,
    paused::{to, when},
    shown::ShownCall,
};
use super::{
    address::{FormFields, PageAddress},
    pieces,
    sheet::{Count, LiveParts, PageView, Sheet, Then},
    slow::SlowAnswers,
};
use crate::app::App;

pub(super) struct CallsView;

/// What the store said, kept for all pages.
#[derive(Default)]
pub(crate) struct CallAnswers {
    pub(super) records: SlowAnswers<RecordPage>,
    trees: SlowAnswers<(Vec<CallNode>, u64)>,
    counts: SlowAnswers<Vec<CallCount>>,
    totals: SlowAnswers<u64>,
    pub(super) apps: SlowAnswers<Vec<(AppRow, u64)>>,
    pub(super) objects: SlowAnswers<Vec<ObjectSeen>>,
}

/// What an address of this view names; those of the call protocol's pages among them.
#[derive(Debug, PartialEq)]
enum CallsPlace<'a> {
    Paused(Option<&'a str>),
    Records { function: Option<&'a str> },
    Tree(Option<&'a str>),
    Points,
    Call { id: &'a str, frame: Option<&'a str> },
    Frame { pause: &'a str, frame: Option<&'a str> },
    Source,
    Errors,
}

fn place(at: &PageAddress) -> Option<CallsPlace<'_>> {
    let word = |number| at.word(number);
    Some(match (at.first.as_str(), word(0), word(1)) {
        ("calls", None, _) => CallsPlace::Paused(None),
        ("calls", Some("paused"), id) => CallsPlace::Paused(id),
        ("callstack", Some(id), _) => CallsPlace::Paused(Some(id)),
        ("calls", Some("records"), _) => CallsPlace::Records { function: None },
        ("breakpoint", Some(name), Some("history")) => match word(2) {
            Some(id) => CallsPlace::Call { id, frame: None },
            None => CallsPlace::Records { function: Some(name) },
        },
        ("calls", Some("tree"), process) => CallsPlace::Tree(process),
        ("call-tree", process, _) => CallsPlace::Tree(process),
        ("calls", Some("points"), _) => CallsPlace::Points,
        ("calls", Some("call"), Some(id)) => CallsPlace::Call { id, frame: None },
        ("frame", Some("call"), Some(_process)) => {
            CallsPlace::Call { id: word(2)?, frame: word(3) }
        }
        ("frame", Some("source"), _) => CallsPlace::Source,
        ("frame", Some(pause), frame) => CallsPlace::Frame { pause, frame },
        ("calls", Some("errors"), _) | ("com-errors", ..) => CallsPlace::Errors,
        _ => return None,
    })
}

impl PageView for CallsView {
    const NAME: &'static str = "calls";
    const ALSO: &'static [&'static str] =
        &["call-tree", "breakpoint", "callstack", "frame", "com-errors"];
    const TITLE: &'static str = "Calls";
    const ICON: &'static str = "calls";
    const KEY: char = 'c';

    fn count(app: &App) -> Count {
        let all = app.engine.opened_callpoints().map(|it| it.paused()).unwrap_or_default();
        Count::Held(all.iter().filter(|it| it.is_waiting).count())
    }

    async fn show(app: App, at: PageAddress) -> Result<Sheet, Failure> {
        let place = place(&at).ok_or_else(nowhere)?;
        let calls = app.engine.callpoints().await;
        match place {
            CallsPlace::Paused(id) => paused::sheet(&app, calls, id, at.chosen("frame"), &at).await,
            CallsPlace::Frame { pause, frame } => {
                paused::sheet(&app, calls, Some(pause), frame.unwrap_or("0"), &at).await
            }
            CallsPlace::Records { function } => records::sheet(&app, calls, &at, function).await,
            CallsPlace::Tree(process) => tree::sheet(&app, calls, &at, process).await,
            CallsPlace::Points => callpoints::sheet(&app, calls, &at).await,
            CallsPlace::Call { id, frame } => {
                let frame = frame.unwrap_or_else(|| at.chosen("frame"));
                one::sheet(&app, calls, &at, id, frame).await
            }
            CallsPlace::Source => places::sheet(&app, calls, &at).await,
            CallsPlace::Errors => errors::sheet(&app, calls, &at).await,
        }
    }

    /// One secret of a call, for the person who asked for it.
    async fn piece(app: App, at: PageAddress) -> Option<Result<Markup, Failure>> {
        let calls = app.engine.callpoints().await;
        match (at.first.as_str(), at.word(0)?, at.word(1)?, at.word(2)?) {
            ("calls", "paused", id, "show") => {
                Some(shown::reveal_paused(&app, calls, id, at.chosen("at")))
            }
            ("calls", "call", id, "show") => {
                Some(shown::reveal_recorded(&app, calls, id, at.chosen("at")).await)
            }
            _ => None,
        }
    }

    async fn act(app: App, at: PageAddress, form: FormFields) -> Result<Then, Failure> {
        match place(&at).ok_or_else(nowhere)? {
            CallsPlace::Paused(Some(id)) | CallsPlace::Frame { pause: id, .. } => {
                match form.get("do") {
                    "evaluate" => talk::evaluate(&app, id, &form).await,
                    "repl" => talk::open(&app, id).await,
                    _ => decide::act(&app, id, &form).await,
                }
            }
            CallsPlace::Points | CallsPlace::Paused(None) => callpoints::act(&app, &form).await,
            CallsPlace::Call { .. } => callpoints::act(&app, &form).await,
            _ => Err(form.unknown()),
        }
    }
}

fn nowhere() -> Failure {
    use holdpoint_engine::failure::Code;
    Failure::new(Code::NotFound, "no page of calls is here")
}

/// Whether another view is there to be linked to.
pub(super) fn has_view(name: &str) -> bool {
    super::VIEWS.iter().any(|it| it.name == name)
}

/// The tabs above every view of calls.
async fn tabs(
    app: &App,
    calls: &Callpoints,
    here: &str,
    parts: &mut LiveParts,
) -> Result<Markup, Failure> {
    let waiting = calls.paused().iter().filter(|it| it.is_waiting).count();
    let known = version(app, calls);
    let asked = app.desk.calls.totals.get(String::new(), known, calls.records.count());
    let (total, is_late) = asked.await?;
    parts.late(is_late || !calls.records.progress().1);
    let errors = calls.com_errors().len();
    let tab = |to: &str, word: &str, number: Markup| {
        html! { a href=(to) aria-current=[(here == to).then_some("page")] { (word) (number) } }
    };
    let number = |count: usize| html! { @if count > 0 { span.n { (pieces::number(count)) } } };
    let total = usize::try_from(*total).unwrap_or_default();
    let inside = html! {
        (tab("/calls", "Paused", html! { @if waiting > 0 { span.n.held { (waiting) } } }))
        (tab("/calls/records", "Records", number(total)))
        (tab("/calls/tree", "Tree", html! {}))
        (tab("/calls/points", "Callpoints", number(calls.callpoints().len())))
        @if errors > 0 || here == "/calls/errors" { (tab("/calls/errors", "Trouble", number(errors))) }
    };
    Ok(html! { nav.sub #tabs aria-label="Calls" { (parts.put("tabs", inside)) } })
}

/// Grows with whatever happens and whatever is recorded.
pub(super) fn version(app: &App, calls: &Callpoints) -> u64 {
    app.engine.log.head().0 + calls.records.progress().0
}

/// A page of records, as the store has it or had it a moment ago.
pub(super) async fn asked_records(
    app: &App,
    calls: &Callpoints,
    question: String,
    wanted: RecordQuery,
) -> Result<(std::sync::Arc<RecordPage>, bool), Failure> {
    calls.records.settle().await;
    app.desk.calls.records.get(question, version(app, calls), calls.records.page(wanted)).await
}

/// Functions with how often they were called.
async fn counts(
    app: &App,
    calls: &Callpoints,
) -> Result<(std::sync::Arc<Vec<CallCount>>, bool), Failure> {
    calls.records.settle().await;
    let ask = calls.records.counts(limits::PAGE_RECENT, limits::PAGE_RECENT_PARTS);
    app.desk.calls.counts.get(String::new(), version(app, calls), ask).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_the_call_protocol_s_pages_leads_somewhere() {
        let of = |path: &str| {
            let at = PageAddress::read(path).unwrap();
            format!("{:?}", place(&at))
        };
        for (path, wanted) in [
            ("/calls", "Some(Paused(None))"),
            ("/callstack/p1", "Some(Paused(Some(\"p1\")))"),
            ("/call-tree", "Some(Tree(None))"),
            ("/call-tree/1.5+7", "Some(Tree(Some(\"1.5+7\")))"),
            ("/breakpoint/a%2Fb/history", "Some(Records { function: Some(\"a/b\") })"),
            ("/breakpoint/f/history/c1?frame=2", "Some(Call { id: \"c1\", frame: None })"),
            ("/frame/p1/2", "Some(Frame { pause: \"p1\", frame: Some(\"2\") })"),
            ("/frame/call/1.5+7/c1/2", "Some(Call { id: \"c1\", frame: Some(\"2\") })"),
            ("/frame/source?file=a&line=1", "Some(Source)"),
            ("/com-errors", "Some(Errors)"),
            ("/breakpoint/f", "None"),
            ("/calls/nothing", "None"),
        ] {
            assert_eq!(of(path), wanted, "{path}");
        }
    }
}
