//! Which functions are held, and how; and those that apps have registered, to be held by a press.

use std::collections::BTreeMap;

use holdpoint_engine::{
    callpoints::{
        Callpoints,
        behavior::Behavior,
        functions::{Callpoint, Function},
    },
    failure::Failure,
    limits,
    records::CallCount,
};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::doing;
use crate::{
    app::App,
    page::{
        address::{self, FormFields, PageAddress},
        pieces::{self, icon},
        sheet::{LiveParts, Sheet, Then},
    },
};

const BEFORE: &[(&str, &str)] = &[("stop", "stop"), ("go", "go"), ("yield", "as the default")];
const AFTER: &[(&str, &str)] = &[
    ("stop", "stop"),
    ("go", "go"),
    ("exception", "stop at an exception"),
    ("stop_exception", "stop, and at an exception"),
    ("yield", "as the default"),
];
const DEFAULT: &[(&str, &str)] = &[
    ("stop", "stop"),
    ("go", "go"),
    ("exception", "stop at an exception"),
    ("stop_exception", "stop, and at an exception"),
];

pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
) -> Result<Sheet, Failure> {
    let mut parts = LiveParts::default();
    let tabs = super::tabs(app, calls, "/calls/points", &mut parts).await?;
    let (counts, is_late) = super::counts(app, calls).await?;
    parts.late(is_late);
    let (points, functions) = (calls.callpoints(), calls.functions());
    let default = calls.default_behavior();
    let search = at.chosen("search").trim().to_lowercase();
    let known: Vec<(&String, &Function)> = functions
        .iter()
        .filter(|(name, it)| it.listed && name.to_lowercase().contains(&search))
        .collect();
    let main = html! {
        header.bar {
            h1 { "Calls" } p.cut { "Which functions are held, and how." }
            form.end method="post" action="/calls/points" #default { (parts.put("default", choose_default(default))) }
        }
        (tabs)
        div.body {
            section.panel aria-labelledby="k-h" {
                header { h2 #k-h { "Callpoints" } small { "their calls ask here before they run" } div.end { (add_form("/calls/points", &functions)) } }
                div.scroll #points { (parts.put("points", points_table(calls, &points, &functions, &counts))) }
            }
            section.panel aria-labelledby="fn-h" {
                header {
                    h2 #fn-h { "Functions that apps have registered" }
                    small #fn-n { (parts.put("fn-n", html! { (known.len()) })) }
                    form.end.find.narrow method="get" action="/calls/points" role="search" {
                        (icon("search")) label.hush for="fq" { "Search functions" }
                        input.in #fq name="search" data-find type="search" placeholder="Find a function" value=(at.chosen("search"));
                    }
                }
                div.scroll #functions { (parts.put("functions", functions_table(&known, &points, &counts))) }
            }
        }
    };
    Ok(Sheet { title: "Callpoints".to_owned(), is_fill: false, shape: "points", main, parts })
}

fn choose_default(default: Behavior) -> Markup {
    html! {
        input type="hidden" name="do" value="default";
        label.soft.nowrap for="dflt" { "Where nothing is said:" }
        (choose("dflt", "behavior", DEFAULT, default.as_str(), "Default behavior"))
        noscript { button.btn.small { "Set" } }
    }
}

fn choose(id: &str, name: &str, words: &[(&str, &str)], chosen: &str, label: &str) -> Markup {
    html! {
        select.in.slim id=[(!id.is_empty()).then_some(id)] name=(name) data-acts aria-label=(label) {
            @for (value, word) in words { option value=(value) selected[*value == chosen] { (word) } }
        }
    }
}

/// One thing about one callpoint, set by itself.
fn setting(what: &str, function: &str, inside: &Markup) -> Markup {
    html! {
        form.one-set method="post" action="/calls/points" {
            input type="hidden" name="do" value=(what);
            input type="hidden" name="function" value=(function);
            (inside)
            noscript { button.btn.small { "Set" } }
        }
    }
}

fn points_table(
    calls: &Callpoints,
    points: &BTreeMap<String, Callpoint>,
    functions: &BTreeMap<String, Function>,
    counts: &[CallCount],
) -> Markup {
    let paused = calls.paused();
    let waiting =
        |name: &str| paused.iter().filter(|it| it.is_waiting && it.seen.call.name == name).count();
    html! {
        @if points.is_empty() {
            div.empty { b { "No function is held" } "Hold one below, or name one that an app will have." }
        } @else {
            table.rows.airy {
                thead { tr { th scope="col" { "Function" } th scope="col" { "Before it runs" } th scope="col" { "After it ran" }
                    th scope="col" { "Runs instead" } th scope="col" { "Last minute" } th scope="col" .num { "Calls" }
                    th scope="col" { "Now" } th scope="col" { span.hush { "Remove" } } } }
                tbody {
                    @for (name, it) in points.iter().take(limits::CALLS_LISTED) {
                        @let count = counted(counts, name);
                        tr id={ "cp-" (name) } {
                            td { (pieces::mark("cp", "cp")) span.after-mark { a href=(history(name)) { code { (pieces::line(name)) } } code.quiet { (pieces::line(&signature(functions.get(name)))) } } }
                            td { (setting("before", name, &choose("", "behavior", BEFORE, it.before.as_str(), &format!("Before {name}")))) }
                            td { (setting("after", name, &choose("", "behavior", AFTER, it.after.as_str(), &format!("After {name}")))) }
                            td { (setting("replacement", name, &instead(calls, name, it, functions))) }
                            td { @if let Some(count) = count { (spark(&count.recent)) } }
                            td.num { @if let Some(count) = count { (pieces::number(usize::try_from(count.calls).unwrap_or_default())) } }
                            td { (now(calls, name, waiting(name), count)) }
                            td { form method="post" action="/calls/points" { input type="hidden" name="do" value="remove";
                                button.btn.bare.icon.small name="function" value=(name) aria-label={ "Remove " (name) } { (icon("x")) } } }
                        }
                    }
                }
            }
            @if points.len() > limits::CALLS_LISTED { p.pad.quiet { (limits::CALLS_LISTED) " of " (points.len()) " are listed." } }
        }
    }
}

fn now(calls: &Callpoints, name: &str, waiting: usize, count: Option<&CallCount>) -> Markup {
    let failed = count.map_or(0, |it| it.failed);
    html! {
        @if waiting > 0 { a.kind.hold href="/calls" { (waiting) " paused" } }
        @else if failed > 0 { a.soft href=(address::to("/calls/records", [("function", name), ("outcome", "raised")].into_iter())) { (failed) " raised" } }
        @else { span.quiet title={ "pauses " (calls.pauses_in_words(name)) } { (pauses(&calls.pauses_in_words(name))) } }
    }
}

/// When it pauses, in few words.
fn pauses(words: &str) -> String {
    match words.split_once(';') {
        Some((never, _)) => never.to_owned(),
        None => words.to_owned(),
    }
}

/// The functions that may stand for this one.
fn instead(
    calls: &Callpoints,
    name: &str,
    it: &Callpoint,
    functions: &BTreeMap<String, Function>,
) -> Markup {
    let fits = functions
        .iter()
        .filter(|(other, known)| known.listed && other.as_str() != name && calls.fits(name, other));
    let mut fits: Vec<&str> =
        fits.map(|(other, _)| other.as_str()).take(limits::CALLS_LISTED).collect();
    if let Some(set) = it.replacement.as_deref().filter(|set| !fits.contains(set)) {
        fits.push(set);
    }
    html! {
        select.in.slim.mono name="other" data-acts aria-label={ "Runs instead of " (name) } {
            option value="" selected[it.replacement.is_none()] { "itself" }
            @for other in fits { option value=(other) selected[it.replacement.as_deref() == Some(other)] { (pieces::line(other)) } }
        }
    }
}

fn functions_table(
    known: &[(&String, &Function)],
    points: &BTreeMap<String, Callpoint>,
    counts: &[CallCount],
) -> Markup {
    html! {
        @if known.is_empty() { p.pad.quiet { "None. An app registers its functions when it starts under " code { "holdpoint run" } "." } } @else {
            table.rows.fns {
                thead { tr { th scope="col" { "Function" } th scope="col" { "Signature" } th scope="col" .num { "Calls" } th scope="col" { span.hush { "Hold" } } } }
                tbody {
                    @for (name, it) in known.iter().take(limits::CALLS_LISTED) {
                        tr id={ "fn-" (name) } {
                            td { a href=(history(name)) { code { (pieces::line(name)) } } }
                            td { code.soft { (pieces::line(&signature(Some(it)))) } }
                            td.num { @if let Some(count) = counted(counts, name) { (pieces::number(usize::try_from(count.calls).unwrap_or_default())) } }
                            td.num {
                                @if points.contains_key(*name) { span.quiet { "held" } } @else {
                                    form method="post" action="/calls/points" { input type="hidden" name="do" value="add";
                                        button.btn.small name="function" value=(name) aria-label={ "Hold " (name) } { (icon("plus")) "Hold" } }
                                }
                            }
                        }
                    }
                }
            }
            @if known.len() > limits::CALLS_LISTED { p.pad.quiet { (limits::CALLS_LISTED) " of " (known.len()) " are listed; a search finds the others." } }
        }
    }
}

fn counted<'a>(counts: &'a [CallCount], name: &str) -> Option<&'a CallCount> {
    let at = counts.binary_search_by(|it| it.name.as_str().cmp(name)).ok()?;
    counts.get(at)
}

fn signature(function: Option<&Function>) -> String {
    match function.map(|it| &it.signature) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(count)) => format!("({count} parameters)"),
        _ => String::new(),
    }
}

fn history(name: &str) -> String {
    address::to("/calls/records", [("function", name)].into_iter())
}

/// Calls over the last minute, as a line.
fn spark(counts: &[u64]) -> Markup {
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    let last = counts.len().saturating_sub(1).max(1);
    #[expect(clippy::cast_precision_loss, reason = "a picture of a few pixels")]
    let point = |(at, count): (usize, &u64)| {
        let (x, y) = (at as f64 * 100.0 / last as f64, 18.0 - *count as f64 * 16.0 / most as f64);
        format!("{x:.1} {y:.1}")
    };
    let points: Vec<String> = counts.iter().enumerate().map(point).collect();
    let line = points.join("L");
    html! {
        svg.spark.call viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={ (counts.iter().sum::<u64>()) " calls in the last minute" } {
            path.area d={ "M0 20L" (line) "L100 20Z" } {}
            path d={ "M" (line) } {}
        }
    }
}

fn add_form(to: &str, functions: &BTreeMap<String, Function>) -> Markup {
    html! {
        form.add-one method="post" action=(to) {
            input type="hidden" name="do" value="add";
            label.hush for="fn" { "Function" }
            input.in.mono #fn name="function" list="fns" placeholder="module:function" spellcheck="false" autocomplete="off" data-once required;
            button.btn { (icon("plus")) "Hold" }
            datalist #fns { @for (name, _) in functions.iter().filter(|(_, it)| it.listed).take(limits::CALLS_LISTED) { option value=(name) {} } }
        }
    }
}

/// What is held, in few words, beside the paused calls.
pub(super) fn brief(calls: &Callpoints, parts: &mut LiveParts) -> Markup {
    let points = calls.callpoints();
    let words = |all: &[(&'static str, &'static str)], it: Behavior| {
        all.iter().find(|(value, _)| *value == it.as_str()).map_or("", |(_, word)| *word)
    };
    html! {
        section.panel aria-labelledby="cp-h" {
            header { h2 #cp-h { "Callpoints" } div.end { a.btn.small.bare href="/calls/points" { "All" } } }
            div.add { (add_form("/calls", &calls.functions())) }
            ul.pick.plain #points {
                (parts.put("points", html! {
                    @if points.is_empty() { li.none { span.li.quiet { "No function is held." } } }
                    @for (name, it) in points.iter().take(limits::NAMES_SHOWN) {
                        li id={ "cp-" (name) } {
                            span.li {
                                (pieces::mark("cp", "cp"))
                                span.grow { b.cut { code { (pieces::line(name)) } }
                                    small { @match &it.replacement {
                                        Some(other) => { "replaced by " code { (pieces::line(other)) } },
                                        None => { "before: " (words(BEFORE, it.before)) ", after: " (words(AFTER, it.after)) },
                                    } } }
                                form method="post" action="/calls" { input type="hidden" name="do" value="remove";
                                    button.btn.bare.icon.small name="function" value=(name) aria-label={ "Remove " (name) } { (icon("x")) } }
                            }
                        }
                    }
                    @if points.len() > limits::NAMES_SHOWN { li { span.li { a href="/calls/points" { (points.len() - limits::NAMES_SHOWN) " more" } } } }
                }))
            }
        }
    }
}

pub(super) async fn act(app: &App, form: &FormFields) -> Result<Then, Failure> {
    let (name, behavior) = (form.get("function").trim(), form.get("behavior"));
    let set = |tool| (tool, json!({ "function_name": name, "behavior": behavior }));
    let (tool, asked) = match form.get("do") {
        "add" => ("breakpoint_add", json!({ "function_name": name, "behavior": "stop" })),
        "remove" => ("breakpoint_remove", json!({ "function_name": name })),
        "before" => set("breakpoint_set_behavior"),
        "after" => set("breakpoint_set_after_behavior"),
        "default" => ("breakpoint_set_default_behavior", json!({ "behavior": behavior })),
        "replacement" => (
            "breakpoint_set_replacement",
            json!({ "function_name": name, "replacement_function": form.get("other") }),
        ),
        _ => return Err(form.unknown()),
    };
    let answer = doing::tool(app, tool, None, asked).await?;
    Ok(match answer.get("note").and_then(Value::as_str) {
        Some(note) => Then::Said(note.to_owned()),
        None => Then::Here,
    })
}
