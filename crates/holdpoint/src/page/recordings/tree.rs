//! Who called whom, opened level by level: what is inside of a call is fetched when it is opened.

use holdpoint_engine::{
    failure::Failure,
    limits,
    recordings::{CallId, CallsInside, ListedCall, RecordingKnown},
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{answered, to, to_call, words};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        pieces,
    },
};

/// `GET /recordings/r7/inside?of=813&after=900`: what a call made.
pub(super) async fn piece(app: &App, at: &PageAddress, id: &str) -> Result<Markup, Failure> {
    let of = app.engine.recordings.known_as(id)?;
    let (markup, _) = level(app, &of, at.chosen("of"), at.chosen("after")).await?;
    Ok(html! { ul { (*markup) } })
}

/// The calls inside of one, or the outermost; an empty name is none.
pub(super) async fn level(
    app: &App,
    of: &RecordingKnown,
    above: &str,
    after: &str,
) -> Result<(std::sync::Arc<Markup>, bool), Failure> {
    let id = of.about.id.clone();
    let (above, after) = (above.to_owned(), after.to_owned());
    let question = format!("inside {above} {after}");
    answered(app, of, &question, async {
        let asked = (above.clone(), after);
        let found = app.engine.recordings.ask(Some(&id), move |opened| {
            let named = |text: &str| match text {
                "" => Ok(None),
                text => opened.recording.call_named(text).map(Some),
            };
            opened.recording.inside(named(&asked.0)?, named(&asked.1)?, limits::PAGE_RECORDS)
        });
        Ok(rows(app.engine.secrets(), &id, &above, &found.await?))
    })
    .await
}

fn rows(secrets: &Secrets, id: &str, above: &str, found: &CallsInside) -> Markup {
    html! {
        @for it in &found.rows { (row(secrets, id, it)) }
        @if let Some(last) = found.further {
            @let more = inside(id, above, Some(last));
            li data-k={ "more-" (last) } { details.further-calls data-inside=(more) { summary { span.cut-note { "Further calls" } } noscript { a href=(beyond(id, above, last)) { "Show them" } } } }
        }
    }
}

/// What can be opened has its link beside it: a summary holds nothing else that can be pressed.
fn row(secrets: &Secrets, id: &str, it: &ListedCall) -> Markup {
    let call = &it.call;
    let rest = html! {
        span.came.cut { (words::came(secrets, &call.end)) }
        @for note in &it.notes { span.swallowed.cut { (words::plain(secrets, note)) } }
        span.type { @if it.hidden > 0 { (held(it.hidden)) " · " } (words::took(call)) }
    };
    html! {
        li.leaf[it.hidden == 0] data-k={ "c-" (call.id) } {
            @if it.hidden > 0 {
                details data-inside=(inside(id, &name(call.id), None)) { summary {
                    span.call-name { code { b { (pieces::line(&call.function)) } } } code.soft.cut { (words::given(secrets, call)) } (rest)
                } }
            } @else { (words::call(secrets, id, call)) (rest) }
            a.handle.to-frame href=(to_call(id, call.id)) aria-label={ (call.id) ", the frame of " (call.function) } { (call.id) }
        }
    }
}

fn held(calls: u64) -> String {
    match calls {
        CallsInside::COUNTED.. => format!("{}+ calls", CallsInside::COUNTED),
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    }
}

fn name(call: CallId) -> String {
    call.to_string().trim_start_matches('#').to_owned()
}

fn inside(id: &str, above: &str, after: Option<CallId>) -> String {
    let after = after.map(name).unwrap_or_default();
    let query = [("of", above), ("after", after.as_str())];
    address::to(&format!("{}/inside", to(id)), query.into_iter().filter(|it| !it.1.is_empty()))
}

/// The same without a script: the page's own tree goes on there.
fn beyond(id: &str, above: &str, after: CallId) -> String {
    let after = name(after);
    let query = [("under", above), ("after", after.as_str())];
    address::to(&to(id), query.into_iter().filter(|it| !it.1.is_empty()))
}

/// The panel of it.
pub(super) fn panel(tree: &Markup) -> Markup {
    html! {
        @if tree.0.is_empty() { p.pad.quiet { "No call of your code was recorded." } }
        @else { ul.tree.calls-tree { (tree) } }
    }
}

/// Two levels are of use at once where there is one outermost call.
pub(super) fn leads_on(at: &PageAddress) -> Markup {
    html! {
        @if !at.chosen("under").is_empty() || !at.chosen("after").is_empty() {
            p.pad.quiet { "Below " @if at.chosen("under").is_empty() { "the outermost calls" } @else { (pieces::line(at.chosen("under"))) } ". " a href=(at.path()) { "All calls" } }
        }
    }
}
