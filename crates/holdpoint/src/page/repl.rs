//! Expressions in paused calls: every transcript that is kept, and one of them. In a live one, whose call is still
//! paused, more can be evaluated.

pub(super) mod talk;

use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
    repl::{ReplQuery, ReplSession},
};
use maud::{Markup, html};

use super::{
    address::{self, FormFields, PageAddress},
    pieces::{self, icon, line},
    sheet::{Count, LiveParts, PageView, Sheet, Then},
};
use crate::{app::App, view::refused};

pub(super) struct ReplView;

impl PageView for ReplView {
    const NAME: &'static str = "repl";
    const ALSO: &'static [&'static str] = &["repls", "repl-help"];
    const TITLE: &'static str = "REPL";
    const ICON: &'static str = "repl";
    const KEY: char = 'r';

    fn count(app: &App) -> Count {
        let paused = app.engine.opened_callpoints().map(|it| it.paused()).unwrap_or_default();
        match paused.iter().map(|it| it.repl_sessions.len()).sum() {
            0 => Count::None,
            live => Count::Some(live),
        }
    }

    /// `/repl/<id>`; without one, the newest.
    async fn show(app: App, at: PageAddress) -> Result<Sheet, Failure> {
        let repl = &app.engine.callpoints().await.repl;
        let wanted = wanted(&at)?;
        let all = repl.sessions(wanted).await;
        let named = at.word(0).filter(|_| at.first == ReplView::NAME);
        let one = match named {
            Some(id) => Some(repl.session(id).await.ok_or_else(|| nowhere(id))?),
            None => all.first().cloned(),
        };
        Ok(sheet(&app, &at, &all, one.as_ref()))
    }

    async fn act(app: App, at: PageAddress, form: FormFields) -> Result<Then, Failure> {
        let id = at.word(0).unwrap_or_default();
        match form.get("do") {
            "evaluate" => talk::evaluate(&app, id, form.get("expression")).await,
            "close" => match app.engine.callpoints().await.repl.close(id).await {
                true => Ok(Then::Here),
                false => Err(nowhere(id)),
            },
            _ => Err(form.unknown()),
        }
    }
}

fn nowhere(id: &str) -> Failure {
    Failure::new(Code::NotFound, format!("no transcript `{id}` is kept"))
        .hint("the list at /repl has those that are")
}

/// Which transcripts are listed, as over REST.
fn wanted(at: &PageAddress) -> Result<ReplQuery, Failure> {
    let time = |name: &str| match at.chosen(name) {
        "" => Ok(None),
        text => text.parse::<f64>().map(Some).map_err(|_| odd(name)),
    };
    let closed = match at.chosen("status") {
        "" => None,
        "active" => Some(false),
        "closed" => Some(true),
        _ => return Err(odd("status")),
    };
    let search = Some(at.chosen("search").trim().to_owned()).filter(|it| !it.is_empty());
    Ok(ReplQuery {
        from: time("from")?,
        to: time("to")?,
        closed,
        search,
        limit: limits::REPL_SESSIONS,
    })
}

fn odd(name: &str) -> Failure {
    Failure::new(Code::InvalidParams, format!("`{name}` of the address cannot be read"))
        .hint("`status` is active or closed, `from` and `to` are seconds since 1970")
}

fn sheet(app: &App, at: &PageAddress, all: &[ReplSession], one: Option<&ReplSession>) -> Sheet {
    let mut parts = LiveParts::default();
    let main = html! {
        header.bar { h1 { "REPL" } p.cut { "What was asked of paused calls. A live one can be asked on." } }
        div.repl-view {
            section.pane aria-labelledby="rs-h" {
                header { h2 #rs-h { "Transcripts" } span.end.quiet #repls-n { (parts.put("repls-n", html! { (all.len()) })) } }
                (filters(at))
                ul.pick.scroll #repls tabindex="0" aria-label="Transcripts" { (parts.put("repls", list(app, at, all, one))) }
            }
            @match one {
                Some(one) => (talk::pane(app, one, &mut parts)),
                None => section.pane aria-labelledby="rt-h" { header { h2 #rt-h { "Nothing was asked yet" } } (help()) },
            }
        }
    };
    let shape = if one.is_some() { "talk" } else { "none" };
    Sheet { title: "REPL".to_owned(), is_fill: true, shape, main, parts }
}

fn filters(at: &PageAddress) -> Markup {
    let status = at.chosen("status");
    html! {
        form.filters.strip role="search" method="get" action="/repls" {
            div.find { (icon("search")) label.hush for="q" { "Search" }
                input.in #q data-find type="search" name="search" value=(at.chosen("search")) placeholder="Function, input, output  ( / )" autocomplete="off" spellcheck="false"; }
            label { span.hush { "Which" }
                select.in.slim name="status" data-acts {
                    option value="" selected[status.is_empty()] { "all" }
                    option value="active" selected[status == "active"] { "live" }
                    option value="closed" selected[status == "closed"] { "closed" }
                }
            }
            noscript { button.btn.small { "Show" } }
        }
    }
}

fn list(app: &App, at: &PageAddress, all: &[ReplSession], one: Option<&ReplSession>) -> Markup {
    let kept = ["search", "status", "from", "to"];
    let query = kept.iter().map(|name| (*name, at.chosen(name))).filter(|it| !it.1.is_empty());
    let query: Vec<_> = query.collect();
    html! {
        @if all.is_empty() { li.none { span.quiet.pad { @if query.is_empty() { "None yet." } @else { "None of them. " a href="/repl" { "Show all" } } } } }
        @for session in all {
            @let is_on = one.is_some_and(|it| it.session_id == session.session_id);
            li.is-on[is_on].blue[is_on] data-k=(session.session_id) {
                a.row href=(address::to(&to(&session.session_id), query.iter().copied())) aria-current=[is_on.then_some("true")] {
                    span.state.hold[session.closed_at.is_none()] aria-hidden="true" {}
                    span.grow { b.cut { code { (line(&session.function_name)) } } small.cut { (talk::given(app, session)) ", " (since(session)) } }
                    span.tab { (session.transcript.len()) }
                }
            }
        }
    }
}

/// Where a transcript is.
fn to(id: &str) -> String {
    format!("/repl/{}", address::word(id))
}

fn since(session: &ReplSession) -> Markup {
    let at = |seconds: f64| {
        let at = pieces::seconds_ms(seconds);
        html! { time data-at=(at) { (pieces::clock(at).0) } }
    };
    html! {
        @match session.closed_at {
            Some(closed) => { "closed since " (at(closed)) },
            None => { "live since " (at(session.started_at)) },
        }
    }
}

/// How one comes to be, and what can be asked.
fn help() -> Markup {
    html! {
        div.pad.choose {
            p { "Where a call of an app is paused, expressions of its language are evaluated by the app itself, in the frame of the call." }
            (pieces::copy_line("customer, cents / 100"))
            (pieces::copy_line("cents = 100"))
            p.quiet { "What is assigned lasts. An agent asks by " code { "breakpoint_repl_eval" } "; you ask at a paused call." }
            p { a href="/calls" { "Calls that are paused" } }
        }
    }
}

/// What stands against it, in the words that every face has.
fn refused(no: holdpoint_engine::repl::NoRepl) -> Failure {
    use holdpoint_engine::repl::NoRepl;
    let code = match &no {
        NoRepl::PauseNotFound | NoRepl::SessionNotFound | NoRepl::EvalNotFound => Code::NotFound,
        NoRepl::PauseResumed | NoRepl::SessionClosed | NoRepl::InvalidPause => Code::NotStopped,
        NoRepl::Timeout(_) => Code::Timeout,
        NoRepl::Item(_) | NoRepl::Full => Code::InvalidParams,
    };
    let told = refused::repl(no).json();
    let text = |name: &str| told.get(name).and_then(serde_json::Value::as_str);
    let message = match (text("message"), text("error")) {
        (Some(message), _) => message.to_owned(),
        (None, Some("session_closed" | "pause_resumed")) => {
            "the call has gone on: the expression was not evaluated".to_owned()
        }
        (None, error) => error.unwrap_or("it was refused").replace('_', " "),
    };
    Failure::new(code, message)
}
