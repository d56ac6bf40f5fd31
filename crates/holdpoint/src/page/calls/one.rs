//! One call that has ended, with everything: what happened in its order, its values, where it was made, and the other calls
//! of its function.

use holdpoint_engine::{
    actor::Actor,
    callpoints::Callpoints,
    event::Event,
    failure::{Code, Failure},
    limits,
    records::{RecordQuery, Recorded},
};
use maud::{Markup, html};
use serde_json::Value;

use super::{AppsKnown, ShownCall, decide, has_view, paused, places, talk, tree};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        happened,
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
    id: &str,
    frame: &str,
) -> Result<Sheet, Failure> {
    let stored =
        |it: holdpoint_engine::records::StoreError| Failure::new(Code::StoreFailed, it.to_string());
    let Some(found) = calls.records.one(id).await.map_err(stored)? else {
        return under_way(app, calls, id);
    };
    let call = ShownCall::recorded(app.engine.secrets(), &found);
    let path = format!("/calls/call/{}", address::word(id));
    let mut parts = LiveParts::default();
    let apps = AppsKnown::of(app, calls).await?;
    let places = places::markup(app, &call, at, &path, frame).await;
    let traceback =
        call.get("exception").get("traceback").and_then(Value::as_str).unwrap_or_default();
    let traceback = match traceback {
        "" => call.word("exception_traceback"),
        told => told,
    };
    let traced = places::traceback(app, traceback, &path, at.chosen("trace")).await;
    let story = story(app, calls, &found, &call).await;
    let others = others(app, calls, &found, &mut parts).await?;
    let main = html! {
        (bar(&found, &call))
        div.body.one-call {
            div.col {
                section.panel aria-labelledby="c1-h" { header { h2 #c1-h { "What happened" } } (story) }
                section.panel aria-labelledby="c2-h" { header { h2 #c2-h { "Values" } } div.scroll { (values(&call)) } }
                @if !traceback.is_empty() { section.panel aria-labelledby="c6-h" { header { h2 #c6-h { "Traceback" } } div.pad.places { (traced) } } }
                section.panel aria-labelledby="c3-h" { header { h2 #c3-h { "Called at" } } div.pad.places { (places) } }
            }
            div.col {
                section.panel aria-labelledby="c4-h" { header { h2 #c4-h { "Facts" } } div.pad { (facts(&found, &call, &apps)) } }
                section.panel aria-labelledby="c5-h" {
                    header { h2 #c5-h { "Calls of it" } small { a href=(address::to("/calls/records", [("function", call.name())].into_iter())) { "all" } } }
                    div.scroll #others { (parts.put("others", others)) }
                }
            }
        }
    };
    Ok(Sheet {
        title: format!("{} {}", call.name(), call.outcome().0),
        is_fill: false,
        shape: "call",
        main,
        parts,
    })
}

fn bar(found: &Recorded, call: &ShownCall) -> Markup {
    let (word, hue, symbol) = call.outcome();
    let process = call.word("process_key");
    html! {
        header.bar {
            a.crumb href="/calls/records" { "Calls" }
            h1 { code { (pieces::line(&format!("{}{}", call.name(), call.given()))) } }
            (pieces::badge(hue, symbol.unwrap_or("check"), &word))
            div.end {
                a.btn.bare href=(address::to(&tree::to(process), [("of", found.seen.call.id.as_str())].into_iter())) { "In the tree" }
                form method="post" action={ "/calls/call/" (address::word(&found.seen.call.id)) } {
                    input type="hidden" name="do" value="add";
                    button.btn name="function" value=(call.name()) { (pieces::mark("cp", "cp")) "Hold these" }
                }
            }
        }
    }
}

/// A call that has begun and not ended, or none at all.
fn under_way(app: &App, calls: &Callpoints, id: &str) -> Result<Sheet, Failure> {
    let none = || Failure::new(Code::NotFound, format!("no call `{id}` is kept"));
    let flying = calls.in_flight().into_iter().find(|it| it.call.id == id).ok_or_else(none)?;
    let pause = calls.paused().into_iter().find(|it| it.seen.call.id == id);
    let mut parts = LiveParts::default();
    let line = flying.call.line_without(app.engine.secrets());
    let main = html! {
        header.bar { a.crumb href="/calls/records" { "Calls" } h1 { code { (pieces::line(&line)) } } (pieces::badge("run", "play", "under way")) }
        div.body { section.panel { div.pad #under-way {
            (parts.put("under-way", html! {
                "It began " (pieces::age(pieces::seconds_ms(flying.call.started_at))) " ago and has not ended."
                @if let Some(pause) = &pause { " " a href=(paused::to(&pause.id)) { "It is paused." } }
            }))
        } } }
    };
    Ok(Sheet { title: "Under way".to_owned(), is_fill: false, shape: "under-way", main, parts })
}

/// Who did something, as a badge and a name.
fn who(by: &Actor) -> Markup {
    html! {
        @match by {
            Actor::Client { name, .. } => { (pieces::who(name)) b { (pieces::line(name)) } },
            Actor::Person => { (pieces::you()) b { "a person" } },
            Actor::App | Actor::Server => b { (pieces::line(&by.to_string())) },
        }
    }
}

/// A moment of the story: seconds since the call began, its colour, and what happened.
struct StoryMoment {
    after: f64,
    hue: &'static str,
    what: Markup,
}

async fn story(app: &App, calls: &Callpoints, found: &Recorded, call: &ShownCall) -> Markup {
    let began = call.began();
    let mut all = decisions(app, found, began);
    let secrets = app.engine.secrets();
    let sessions =
        found.seen.call.end.as_ref().map(|it| it.repl_sessions.clone()).unwrap_or_default();
    for id in &sessions {
        let said = calls.repl.session(id).await.map(|it| it.transcript).unwrap_or_default();
        all.extend(said.into_iter().map(|it| StoryMoment {
            after: it.timestamp - began,
            hue: "",
            what: html! { "Evaluated " code { (pieces::line(&secrets.text(&it.input))) } ": " code.fail-t[it.is_error] { (pieces::line(&secrets.named(&it.input, &it.output))) } },
        }));
    }
    all.sort_by(|a, b| a.after.total_cmp(&b.after));
    // What was decided is in the record even where the events are gone.
    let decision = call.get("decision");
    let told = match all.iter().any(|it| it.hue == "hold") {
        true => html! {},
        false => decided(decision),
    };
    let (came, raised) = call.came();
    html! {
        ol.story {
            li { (pieces::moment(began)) div { b { "Called" } " with " code { (pieces::line(&call.given())) }
                @if let Some(frame) = call.frames().first() { small { (pieces::line(&crate::view::short::frame(frame))) } } } }
            @for it in &all { li class=(it.hue) { time.tab { "+" (pieces::took(it.after)) } div { (it.what) } } }
            (told)
            @if let Some(why) = decision.get("not_done").and_then(Value::as_str) {
                li.fail { time.tab { } div { b { "Not done" } ": " (pieces::line(why)) small { "The call ran as it was written." } } }
            }
            li class=(if raised { "fail" } else { "run" }) { time.tab { "+" (pieces::took(call.took())) }
                div { b { @if raised { "Raised" } @else { "Returned" } } " " @if raised { code.fail-t { (pieces::line(&came)) } } @else { (call.value("/pretty_result")) } } }
        }
    }
}

/// What the record alone knows of a decision.
fn decided(decision: &Value) -> Markup {
    html! {
        @if let Some(action) = decision.get("action").and_then(Value::as_str) {
            li.hold { time.tab { } div { b { "Decided" } ": " (pieces::line(action))
                @if let Some(other) = decision.get("function_name").and_then(Value::as_str) { " by " code { (pieces::line(other)) } } } }
        }
    }
}

/// Pauses of the call and who let it go on, as far as the log has them.
fn decisions(app: &App, found: &Recorded, began: f64) -> Vec<StoryMoment> {
    let id = &found.seen.call.id;
    let paused = happened::newest(
        app,
        limits::NAMES_SHOWN,
        |it| matches!(&*it.event, Event::CallPaused { call_id, .. } if call_id == id),
    );
    let mut all = Vec::new();
    for record in &paused {
        let Event::CallPaused { pause_id, paused_at, pause_reason, method_name, .. } =
            &*record.event
        else {
            continue;
        };
        all.push(StoryMoment {
            after: paused_at - began,
            hue: "hold",
            what: html! { b { "Paused" } " at the callpoint " code { (pieces::line(method_name)) } @if *pause_reason == "exception" { ", because it raised" } },
        });
        let resumed = happened::newest(
            app,
            1,
            |it| matches!(&*it.event, Event::CallResumed { pause_id: of, .. } if of == pause_id),
        );
        for record in &resumed {
            let Event::CallResumed { action, by, .. } = &*record.event else { continue };
            let after = record.at.as_duration().as_secs_f64() - began;
            let word = match action.as_str() {
                "modify" => "changed its arguments",
                "skip" => "skipped it with a result",
                "raise" => "made it raise",
                "replace" => "ran another in its place",
                _ => "let it go on",
            };
            all.push(StoryMoment { after, hue: "hold", what: html! { (who(by)) " " (word) } });
        }
    }
    all
}

fn values(call: &ShownCall) -> Markup {
    let decision = call.get("decision");
    let is_done = decision.get("not_done").is_none();
    let changed =
        |list: &str, place: &str| decision.get(list).filter(|_| is_done)?.pointer(place).cloned();
    let target = call.get("target");
    html! {
        table.rows {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Was given" } th scope="col" { "Ran with" } th scope="col" { "CID" } } }
            tbody {
                @if !call.get("pretty_target").is_null() {
                    tr { td.quiet { "called" } td { (call.value("/pretty_target")) } td {} td { (cid(target.get("cid"))) } }
                }
                @for it in call.arguments() {
                    @let place = it.pointer.strip_prefix("/pretty_args").or_else(|| it.pointer.strip_prefix("/pretty_kwargs")).unwrap_or_default();
                    @let new = changed(if it.is_named { "modified_kwargs" } else { "modified_args" }, place);
                    tr {
                        td { code { (pieces::line(&it.name)) } }
                        td { (call.value(&it.pointer)) }
                        td { @match &new { Some(new) if new.get("cid").is_none() => code.hi { (pieces::line(&super::shown::text_of(new, true))) }, _ => (call.value(&it.pointer)) } }
                        td { (decide::leads(call, &it)) }
                    }
                }
                tr {
                    td.quiet { @if call.came().1 { "raised" } @else { "result" } } td {}
                    td { @if call.came().1 { code.fail-t { (pieces::line(&call.came().0)) } } @else { (call.value("/pretty_result")) } }
                    td { @if !call.is_secret("/pretty_result") { (cid(Some(call.get("result_cid")))) (cid(Some(call.get("exception_cid")))) } }
                }
            }
        }
    }
}

fn cid(cid: Option<&Value>) -> Markup {
    html! { @if let Some(cid) = cid.and_then(Value::as_str).filter(|it| it.len() == 128) { a.cid href={ "/values/cid/" (cid) } { (talk::short(cid)) } } }
}

fn facts(found: &Recorded, call: &ShownCall, apps: &AppsKnown) -> Markup {
    let process = call.word("process_key");
    let sessions =
        found.seen.call.end.as_ref().map(|it| it.repl_sessions.clone()).unwrap_or_default();
    let thread = match call.word("thread_name") {
        "" => call.get("thread_id").to_string(),
        name => name.to_owned(),
    };
    html! {
        dl.kv {
            dt { "Call" } dd { code { (pieces::line(&found.seen.call.id)) } }
            dt { "Function" } dd { code { (pieces::line(call.name())) (pieces::line(call.word("signature"))) } }
            @if !process.is_empty() { dt { "App" } dd { a href=(tree::to(process)) { (pieces::line(&apps.name(process))) } } }
            @if !call.word("server").is_empty() { dt { "Server" } dd { (pieces::line(call.word("server"))) } }
            @if !call.get("thread_id").is_null() { dt { "Thread" } dd { (pieces::line(&thread)) } }
            @if !call.word("client").is_empty() { dt { "Client" } dd { (pieces::line(call.word("client"))) } }
            dt { "Began" } dd { (pieces::moment(call.began())) }
            dt { "Took" } dd.tab { (pieces::took(call.took())) }
            dt { "Kind" } dd { (pieces::line(call.word("kind"))) }
            @if !sessions.is_empty() {
                dt { "REPL" }
                dd { @for id in &sessions { @if has_view("repl") { a href={ "/repl/" (address::word(id)) } { (pieces::line(id)) } } @else { code { (pieces::line(id)) } } " " } }
            }
        }
    }
}

/// The newest calls of the same function; the one before and the one behind this.
async fn others(
    app: &App,
    calls: &Callpoints,
    found: &Recorded,
    parts: &mut LiveParts,
) -> Result<Markup, Failure> {
    let name = &found.seen.call.name;
    let wanted = RecordQuery {
        name: Some(name.clone()),
        limit: limits::NAMES_SHOWN,
        before: Some(found.id + 3),
        ..RecordQuery::default()
    };
    let question = format!("around {} {name}", found.id);
    let (page, is_late) = super::asked_records(app, calls, question, wanted).await?;
    parts.late(is_late);
    let secrets = app.engine.secrets();
    Ok(html! {
        table.rows { tbody {
            @for it in &page.calls {
                @let call = ShownCall::recorded(secrets, it);
                @let (word, hue, symbol) = call.outcome();
                tr.is-on[it.id == found.id] id={ "o" (it.id) } {
                    td { a.row href={ "/calls/call/" (address::word(&it.seen.call.id)) } { code { (pieces::line(&call.given())) } } }
                    td { span class={ "oc " (hue) } { @if let Some(symbol) = symbol { svg.i.duo aria-hidden="true" { (pieces::using(symbol)) } } (pieces::line(&word)) } }
                    td.num { (pieces::took(call.took())) }
                }
            }
        } }
        @if page.total > page.calls.len() as u64 {
            p.pad { a href=(address::to("/calls/records", [("function", name.as_str())].into_iter())) { (icon("right")) "all " (page.total) } }
        }
    })
}
