//! What is to become of a paused call: as it is, with other arguments, skipped with a result, raising, or another function
//! in its place. Carried out by the tool that agents use.

mod wish;

use holdpoint_engine::{
    budget,
    callpoints::{Callpoints, behavior::Moment, paused::Paused},
    failure::{Code, Failure},
    limits,
};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{ShownCall, doing, paused, shown::ShownArgument};
use crate::{
    app::App,
    page::{
        address::{self, FormFields},
        pieces::{self, icon},
        sheet::Then,
    },
};

pub(super) fn markup(app: &App, calls: &Callpoints, it: &Paused, call: &ShownCall) -> Markup {
    html! {
        div id={ "d-" (it.id) } {
            header.tall {
                svg.i.hold-i.big.duo aria-hidden="true" { (pieces::using("paused")) }
                div.grow {
                    h2 #d-h { code { (pieces::line(&format!("{}{}", call.name(), call.given()))) } }
                    p { "paused " (paused::when(it.moment)) ", " (pieces::age(pieces::seconds_ms(it.paused_at))) " ago, "
                        (pieces::line(&paused::whose(call)))
                        @if !call.word("thread_name").is_empty() { ", " (pieces::line(call.word("thread_name"))) } }
                }
                @if it.is_waiting { (pieces::badge("hold", "paused", "paused")) } @else { (pieces::badge("", "clock", "nobody waits")) }
            }
            @if it.moment == Moment::Before { (choices(app, calls, it, call)) } @else { (after(it, call)) }
        }
    }
}

/// The call has run: all that is left is to go on.
fn after(it: &Paused, call: &ShownCall) -> Markup {
    let (came, raised) = call.came();
    html! {
        form.pad.choice method="post" action=(paused::to(&it.id)) {
            input type="hidden" name="act" value="continue";
            dl.kv.wide-kv {
                @for argument in call.arguments() { dt { code { (pieces::line(&argument.name)) } } dd { (call.value(&argument.pointer)) } }
                dt { @if raised { "raised" } @else { "returned" } }
                dd { @if raised { code.fail-t { (pieces::line(&came)) } } @else { (call.value("/pretty_result")) } }
            }
            @let traceback = call.get("exception").get("traceback").and_then(Value::as_str).unwrap_or_default();
            @if !traceback.is_empty() { pre.trace-back tabindex="0" { (pieces::block(&budget::cut(traceback, limits::REPL_BYTES))) } }
            @if it.is_post_mortem { p.note { (icon("info")) span { "The app went on with its exception; nothing waits here. Continue takes it off the list." } } }
            (go(it))
        }
    }
}

fn choices(app: &App, calls: &Callpoints, it: &Paused, call: &ShownCall) -> Markup {
    let acts = [
        ("continue", "Continue"),
        ("modify", "Change arguments"),
        ("skip", "Skip with a result"),
        ("raise", "Raise"),
        ("replace", "Run another"),
    ];
    html! {
        form.pad.choice method="post" action=(paused::to(&it.id)) {
            fieldset.seg.wrap.acts {
                legend.hush { "What shall become of this call?" }
                @for (value, word) in acts {
                    label { input type="radio" name="act" value=(value) checked[value == "continue"]; span { (word) } }
                }
            }
            div.act data-act="continue" { (as_it_is(call)) }
            div.act data-act="modify" { (arguments(call)) }
            div.act data-act="skip" {
                label.field { span { "The call does not run; its caller gets this, as JSON" }
                    textarea.in name="result" rows="3" spellcheck="false" { "null" } }
            }
            div.act data-act="raise" {
                div.pair {
                    label.field { span { "Exception " i { "a builtin one, or one that the app can import" } } input.in.mono name="exception_type" value="RuntimeError" spellcheck="false" autocomplete="off"; }
                    label.field { span { "Message" } input.in name="exception_message" autocomplete="off"; }
                }
            }
            div.act data-act="replace" { (others(calls, call)) }
            (go(it))
            p.quiet.small-t { (told(app)) }
        }
    }
}

/// Who hears of it.
fn told(app: &App) -> String {
    let names: Vec<String> = app.clients.live().iter().map(|it| it.name.clone()).collect();
    match names.as_slice() {
        [] => "What you decide is in the timeline.".to_owned(),
        [one] => format!("{one} is told what you decided."),
        [many @ .., last] => format!("{} and {last} are told what you decided.", many.join(", ")),
    }
}

fn go(it: &Paused) -> Markup {
    html! {
        div.go {
            button.btn.main-act name="do" value="decide" data-key="F8" title="Let it go on (F8)" { (icon("play")) "Let it go on" }
            @if it.is_waiting { button.btn name="do" value="release" { "Let it go on, and hold no more of these" } }
            a.btn.bare href=(address::to("/calls/records", [("function", it.seen.call.name.as_str())].into_iter())) { "Its other calls" }
        }
    }
}

fn as_it_is(call: &ShownCall) -> Markup {
    let all = call.arguments();
    html! {
        p.soft { "The call runs as it is." }
        @if !all.is_empty() {
            dl.kv.wide-kv { @for it in &all { dt { code { (pieces::line(&it.name)) } } dd { (call.value(&it.pointer)) (leads(call, it)) } } }
        }
    }
}

/// Where a value is looked into.
pub(super) fn leads(call: &ShownCall, it: &ShownArgument) -> Markup {
    html! {
        @if !it.cid.is_empty() { " " a.cid href={ "/values/cid/" (it.cid) } { (super::talk::short(&it.cid)) } }
        @if let Some(client_ref) = &it.client_ref {
            " " a.cid href={ "/values/object/" (address::word(call.word("process_key"))) "/" (address::word(client_ref)) } { "object #" (pieces::line(client_ref)) }
        }
    }
}

fn arguments(call: &ShownCall) -> Markup {
    let all = call.arguments();
    let language = if call.is_json() { "JavaScript" } else { "Python" };
    let evaluates = call.get("process_pid").as_i64().is_some();
    html! {
        @if evaluates {
            fieldset.seg.tiny.as-what {
                legend.hush { "Written as" }
                label { input type="radio" name="as" value="json" checked; span { "JSON" } }
                label { input type="radio" name="as" value="code"; span { (language) ", evaluated by the app" } }
            }
        }
        table.args {
            thead { tr { th scope="col" { "Argument" } th scope="col" { "Is" } th scope="col" { "Shall be" } } }
            tbody {
                @for it in &all {
                    @let json = if call.is_secret(&it.pointer) { None } else { wish::as_json(&call.text(&it.pointer)) };
                    tr {
                        th scope="row" { code { (pieces::line(&it.name)) } }
                        td { (call.value(&it.pointer)) }
                        td {
                            input type="hidden" name={ "was" (it.pointer) } value=(json.as_deref().unwrap_or_default());
                            input.in.mono name={ "new" (it.pointer) } aria-label=(it.name) value=(json.as_deref().unwrap_or_default()) placeholder="stays" spellcheck="false" autocomplete="off";
                        }
                    }
                }
                tr {
                    th scope="row" { input.in.mono.slim name="more-name" aria-label="Name of one more argument" placeholder="one more: name" spellcheck="false" autocomplete="off"; }
                    td { span.quiet { "without a name it comes last" } }
                    td { input.in.mono name="more" aria-label="One more argument" placeholder="none" spellcheck="false" autocomplete="off"; }
                }
            }
        }
    }
}

/// Functions that may stand for it: those of the same signature first.
fn others(calls: &Callpoints, call: &ShownCall) -> Markup {
    let (name, signature) = (call.name(), call.word("signature"));
    let functions = calls.functions();
    let known = functions.iter().filter(|(other, it)| it.listed && other.as_str() != name);
    let mut known: Vec<(&String, bool)> =
        known.map(|(other, _)| (other, calls.fits(name, other))).collect();
    known.sort_by_key(|(other, fits)| (!fits, *other));
    let fitting = known.iter().filter(|(_, fits)| *fits).count();
    html! {
        label.field { span { "A function of the app" @if !signature.is_empty() { ", best one with the same parameters: " code { (pieces::line(signature)) } } }
            input.in.mono name="function" list="others" value=[known.first().filter(|(_, fits)| *fits).map(|(other, _)| other)] spellcheck="false" autocomplete="off"; }
        datalist #others { @for (other, _) in known.iter().take(limits::CALLS_LISTED) { option value=(other) {} } }
        p.quiet.small-t {
            @match fitting { 0 => "No other function with these parameters is registered.", 1 => "One other has them.", count => { (count) " others have them." } }
        }
    }
}

pub(super) async fn act(app: &App, id: &str, form: &FormFields) -> Result<Then, Failure> {
    match form.get("do") {
        "decide" => {}
        "release" => {
            let calls = app.engine.callpoints().await;
            if let Some(name) = calls.paused_one(id).map(|it| it.seen.call.name.clone()) {
                for tool in ["breakpoint_set_behavior", "breakpoint_set_after_behavior"] {
                    let asked = json!({ "function_name": name, "behavior": "go" });
                    doing::tool(app, tool, None, asked).await?;
                }
            }
        }
        _ => return Err(form.unknown()),
    }
    let asked = wish::asked(app, id, form).await?;
    let answer = doing::tool(app, "breakpoint_continue", None, asked).await?;
    match answer.get("warning").and_then(Value::as_str) {
        Some(warning) => Ok(Then::Said(warning.to_owned())),
        None => Ok(Then::Here),
    }
}

fn wrong(text: String) -> Failure {
    Failure::new(Code::InvalidParams, text)
}
