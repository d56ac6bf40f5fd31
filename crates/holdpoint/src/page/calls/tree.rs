//! Who called whom, in one app: a window of its calls as a flame over time and as a tree, or one call with those inside.

use std::collections::BTreeMap;

use holdpoint_engine::{
    callpoints::{Callpoints, functions::Function},
    failure::{Code, Failure},
    limits,
    records::CallNode,
    secrets::{self, Secrets, Weight},
};
use maud::{Markup, html};

use super::{AppsKnown, app, flame};
use crate::{
    app::App,
    page::{
        address::{self, PageAddress},
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

/// Parts of the slider.
const SHARES: f64 = 1_000.0;

/// A call of the window, with its place in it.
pub(super) struct TreeRow<'a> {
    pub(super) node: &'a CallNode,
    /// Its line without what is secret.
    pub(super) line: String,
    pub(super) depth: usize,
    /// Colours tell modules apart.
    pub(super) hue: &'static str,
}

pub(super) async fn sheet(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
    process: Option<&str>,
) -> Result<Sheet, Failure> {
    let mut parts = LiveParts::default();
    let tabs = super::tabs(app, calls, "/calls/tree", &mut parts).await?;
    let apps = AppsKnown::of(app, calls).await?;
    parts.late(apps.is_late);
    let is_list = at.first == "call-tree" && process.is_none();
    let newest =
        apps.all().iter().find(|(_, calls)| *calls > 0).map(|(row, _)| row.process.clone());
    let process = process.map(str::to_owned).or(newest).filter(|_| !is_list);
    let body = match &process {
        Some(process) => {
            let life = apps.life(process);
            window(app, calls, at, process, life, &mut parts).await?
        }
        None => html! { div.body #apps { (parts.put("apps", processes(&apps))) } },
    };
    let main = html! {
        header.bar {
            h1 { "Calls" }
            p.cut { @match &process { Some(process) => { "Who called whom, in the app " b { (pieces::line(&apps.name(process))) } "." }, None => "Who called whom, by app." } }
            div.end { (choose(&apps, process.as_deref())) }
        }
        (tabs)
        (body)
    };
    Ok(Sheet {
        title: "Tree of calls".to_owned(),
        is_fill: false,
        shape: if process.is_some() { "tree" } else { "apps" },
        main,
        parts,
    })
}

fn choose(apps: &AppsKnown, chosen: Option<&str>) -> Markup {
    html! {
        @if let Some(chosen) = chosen {
            details.menu { summary.btn { (pieces::line(&apps.name(chosen))) (icon("down")) }
                ul { @for (row, count) in apps.all().iter().filter(|(_, calls)| *calls > 0).take(limits::NAMES_SHOWN) {
                    li { a href=(to(&row.process)) { (pieces::line(&app::name(row))) " " span.quiet { (count) " calls" } } }
                }
                li { a href="/call-tree" { "All apps" } } }
            }
        }
    }
}

pub(super) fn to(process: &str) -> String {
    format!("/calls/tree/{}", address::word(process))
}

/// Every app whose calls there are.
fn processes(apps: &AppsKnown) -> Markup {
    html! {
        section.panel aria-labelledby="a-h" {
            header { h2 #a-h { "Apps" } small { (apps.all().len()) } }
            div.scroll {
                @if apps.all().is_empty() { p.pad.quiet { "No app has called yet." } } @else {
                    table.rows {
                        thead { tr { th scope="col" { "App" } th scope="col" { "Began" } th scope="col" { "Last heard of" } th scope="col" .num { "Calls" } } }
                        tbody { @for (row, count) in apps.all().iter().take(limits::CALLS_LISTED) {
                            tr { td { a.row href=(to(&row.process)) { (pieces::line(&app::name(row))) } }
                                td.mono.quiet { (pieces::moment(row.started_at)) } td.mono.quiet { (pieces::moment(row.seen_at)) } td.num { (count) } }
                        } }
                    }
                }
            }
        }
    }
}

async fn window(
    app: &App,
    calls: &Callpoints,
    at: &PageAddress,
    process: &str,
    life: (f64, f64),
    parts: &mut LiveParts,
) -> Result<Markup, Failure> {
    calls.records.settle().await;
    let search = match at.chosen("search") {
        "" => at.chosen("filter"),
        search => search,
    };
    let of = at.chosen("of");
    let before = moment(at, life);
    // What is searched for, or one call, may be anywhere: more is looked through than is shown.
    let limit =
        if search.is_empty() && of.is_empty() { limits::PAGE_TREE } else { limits::PAGE_AROUND };
    let question = format!("{process} {before} {limit}");
    let ask = calls.records.tree(process, before.parse().ok(), limit);
    let (found, is_late) =
        app.desk.calls.trees.get(question, super::version(app, calls), ask).await?;
    parts.late(is_late);
    let (nodes, total) = &*found;
    if *total == 0 {
        return Err(Failure::new(Code::NotFound, format!("no calls of `{process}` are kept")));
    }
    let functions = calls.functions();
    let secrets = app.engine.secrets();
    let with_events = at.chosen("events") == "yes";
    let is_wanted = |node: &CallNode| with_events || node.kind != "event";
    let rows = chosen(nodes, of, search, is_wanted, |node| clean(secrets, &functions, node));
    let shown: Vec<&TreeRow<'_>> = rows.iter().take(limits::PAGE_TREE).collect();
    let legend = legend(&rows);
    let first = nodes.first().map(|it| it.started_at.to_string()).unwrap_or_default();
    let path = to(process);
    let older = nodes.len() >= limit && (nodes.len() as u64) < *total;
    Ok(html! {
        div.body.tree-view {
            section.panel aria-labelledby="fl-h" {
                header {
                    h2 #fl-h { "Over time" }
                    small.tab #fl-n { (parts.put("fl-n", between(&shown))) }
                    ul.legend.end #legend { (parts.put("legend", legend)) }
                }
                div.flame #flame { (parts.put("flame", flame::markup(&shown))) }
                (slider(&path, life, &before, search))
            }
            section.panel aria-labelledby="tr-h" {
                header {
                    h2 #tr-h { "The same, as a tree" }
                    form.end.find.narrow method="get" action=(path) role="search" {
                        (icon("search")) label.hush for="tq" { "Search" }
                        input.in #tq name="search" data-find type="search" placeholder="Words in the call" value=(search);
                    }
                }
                div.scroll #tree { (parts.put("tree", table(&shown))) }
                footer.tab #tree-n {
                    (parts.put("tree-n", html! {
                        (shown.len()) " of " (pieces::number(usize::try_from(*total).unwrap_or_default())) " calls"
                        @if older { a href=(address::to(&path, [("before", first.as_str()), ("search", search)].into_iter().filter(|it| !it.1.is_empty()))) { "Earlier ones" } }
                        @if with_events { a href=(path) { "Calls alone" } } @else { a href={ (path) "?events=yes" } { "With what apps told beside" } }
                        @if !before.is_empty() || !of.is_empty() || !search.is_empty() { a href=(path) { "The newest" } }
                    }))
                }
            }
        }
    })
}

/// Until when: as the address says, or by the slider's place in the app's life. Empty is now.
fn moment(at: &PageAddress, (first, last): (f64, f64)) -> String {
    match (at.chosen("before"), at.chosen("share").parse::<f64>()) {
        ("", Ok(share)) if (0.0..SHARES).contains(&share) => {
            (first + (last - first) * share / SHARES).to_string()
        }
        (before, _) => before.to_owned(),
    }
}

/// The app's life, to be gone through: the window ends where it stands.
fn slider(path: &str, (first, last): (f64, f64), before: &str, search: &str) -> Markup {
    let share = match before.parse::<f64>() {
        Ok(at) if last > first => ((at - first) / (last - first) * SHARES).clamp(0.0, SHARES),
        _ => SHARES,
    };
    html! {
        form.life method="get" action=(path) {
            @if !search.is_empty() { input type="hidden" name="search" value=(search); }
            span.tab.quiet { (pieces::moment(first)) }
            label.hush for="share" { "Until when, in the life of the app" }
            input #share type="range" name="share" min="0" max=(SHARES) value=(share.round()) data-acts;
            span.tab.quiet { (pieces::moment(last)) }
            noscript { button.btn.small { "Go there" } }
        }
    }
}

/// The rows that are meant: all, those inside of one call, or those that hold every word with those around them.
fn chosen<'a>(
    nodes: &'a [CallNode],
    of: &str,
    search: &str,
    is_wanted: impl Fn(&CallNode) -> bool,
    clean: impl Fn(&CallNode) -> String,
) -> Vec<TreeRow<'a>> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let root = nodes.iter().position(|it| it.call_id == of);
    let mut is_meant = vec![words.is_empty() && of.is_empty(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let inside = root.is_some_and(|root| at == root || is_below(nodes, at, root));
        let line = node.line.to_lowercase();
        let found = !words.is_empty() && words.iter().all(|word| line.contains(word));
        if !inside && !found {
            continue;
        }
        let mut next = Some(at);
        while let Some(here) = next {
            if let Some(meant) = is_meant.get_mut(here) {
                *meant = true;
            }
            // Of one call, those around it are left out.
            next = if inside { None } else { nodes.get(here).and_then(|it| it.parent) };
        }
    }
    let mut hues = Hues::default();
    let meant =
        nodes.iter().zip(&is_meant).filter(|(node, is_meant)| **is_meant && is_wanted(node));
    let row = |(node, _): (&'a CallNode, &bool)| {
        let hue = hues.of(&node.name);
        TreeRow { node, line: clean(node), depth: node.depth, hue }
    };
    let rows: Vec<TreeRow<'a>> = meant.take(limits::PAGE_TREE).map(row).collect();
    let least = rows.iter().map(|it| it.depth).min().unwrap_or_default();
    rows.into_iter().map(|it| TreeRow { depth: it.depth - least, ..it }).collect()
}

/// A call's line. It has no names of parameters: where one of its function's is secret, no argument is shown.
fn clean(secrets: &Secrets, functions: &BTreeMap<String, Function>, node: &CallNode) -> String {
    let signature = functions.get(&node.name).and_then(|it| it.signature.as_str());
    let parameters = secrets::parameters(signature.unwrap_or_default());
    if parameters.iter().any(|it| secrets.weight(it) != Weight::Plain) {
        let (_, came) = parted(&node.name, &node.line);
        return format!("{}(‹secret›) → {}", node.name, secrets.text(came));
    }
    secrets.text(&node.line).into_owned()
}

fn is_below(nodes: &[CallNode], at: usize, root: usize) -> bool {
    let mut next = nodes.get(at).and_then(|it| it.parent);
    while let Some(here) = next.filter(|here| *here >= root) {
        if here == root {
            return true;
        }
        next = nodes.get(here).and_then(|it| it.parent);
    }
    false
}

/// Four colours, by module, in the order in which they come.
#[derive(Default)]
struct Hues(BTreeMap<String, &'static str>);

impl Hues {
    fn of(&mut self, name: &str) -> &'static str {
        let next = ["c4", "c3", "c1", "c2"].get(self.0.len() % 4).copied().unwrap_or("c4");
        self.0.entry(module(name).to_owned()).or_insert(next)
    }
}

fn module(name: &str) -> &str {
    name.rsplit_once([':', '/']).map_or("", |(module, _)| module)
}

fn legend(rows: &[TreeRow<'_>]) -> Markup {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let module = module(&row.node.name);
        if !module.is_empty() && !all.iter().any(|(known, _)| *known == module) {
            all.push((module, row.hue));
        }
    }
    let raised = rows.iter().any(|it| is_raised(it.node));
    html! {
        @for (module, hue) in all.iter().take(4) { li class=(hue) { (pieces::line(module.rsplit('.').next().unwrap_or(module))) } }
        @if raised { li.cx { "raised" } }
    }
}

pub(super) fn is_raised(node: &CallNode) -> bool {
    node.status == "exception"
}

fn between(rows: &[&TreeRow<'_>]) -> Markup {
    let ends = rows.iter().map(|it| it.node.completed_at).fold(f64::MIN, f64::max);
    html! {
        @if let Some(first) = rows.first() {
            (pieces::moment(first.node.started_at)) " to " (pieces::moment(ends)) ", " (rows.len()) " calls"
        }
    }
}

fn table(rows: &[&TreeRow<'_>]) -> Markup {
    let (began, ended) = flame::span(rows);
    html! {
        table.rows.fixed.ctree aria-label="Tree of calls" {
            thead { tr { th scope="col" { "Call" } th scope="col" .c-r { "Result" } th scope="col" .num.c-d { "Took" } th scope="col" .c-w { "When" } } }
            tbody { @for row in rows { (line(row, began, ended)) } }
        }
        @if rows.is_empty() { p.pad.quiet { "No call is like that." } }
    }
}

fn line(row: &TreeRow<'_>, began: f64, ended: f64) -> Markup {
    let node = row.node;
    let (given, came) = parted(&node.name, &row.line);
    let own = module(&node.name);
    let short = node.name.strip_prefix(own).unwrap_or(&node.name);
    let (x, width) = flame::place(node, began, ended);
    html! {
        tr id={ "n-" (node.call_id) } data-level=(row.depth + 1) {
            td { span class={ "in-tree d" (row.depth.min(9)) } {
                @if row.depth > 0 { span.hush { "level " (row.depth + 1) } }
                a.row href={ "/calls/call/" (address::word(&node.call_id)) } { code { span.quiet { (pieces::line(own)) (pieces::line(short.get(..1).filter(|_| !own.is_empty()).unwrap_or_default())) }
                    b { (pieces::line(if own.is_empty() { short } else { short.get(1..).unwrap_or_default() })) } } }
                code.soft.cut { (pieces::line(given)) }
            } }
            td { code class=(if is_raised(node) { "fail-t" } else { "soft" }) { (pieces::line(came)) } }
            td.num { (pieces::took(node.completed_at - node.started_at)) }
            td { svg.db.wide aria-hidden="true" { rect class=(if is_raised(node) { "cx" } else { row.hue }) x={ (x) "%" } width={ (width) "%" } height="100%" {} } }
        }
    }
}

/// A call's line in its arguments and what came of it.
fn parted<'a>(name: &str, line: &'a str) -> (&'a str, &'a str) {
    let rest = line.strip_prefix(name).unwrap_or(line);
    for sign in [" → ", " ✗ "] {
        if let Some((given, came)) = rest.rsplit_once(sign) {
            return (given, came);
        }
    }
    (rest, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, line: &str, parent: Option<usize>, depth: usize) -> CallNode {
        CallNode {
            call_id: id.to_owned(),
            name: line.split('(').next().unwrap().to_owned(),
            kind: "call".to_owned(),
            status: "success".to_owned(),
            thread: None,
            started_at: 0.0,
            completed_at: 1.0,
            line: line.to_owned(),
            parent,
            depth,
        }
    }

    fn tree() -> Vec<CallNode> {
        vec![
            node("1", "shop:place('ann') → 1", None, 0),
            node("2", "till:charge('ann', 2) → 2", Some(0), 1),
            node("3", "till:authorize(2) → 'ok'", Some(1), 2),
            node("4", "shop:place('bob') → 3", None, 0),
        ]
    }

    #[test]
    fn a_search_finds_calls_with_those_around_them() {
        let nodes = tree();
        let ids = |of: &str, search: &str| -> Vec<(String, usize)> {
            chosen(&nodes, of, search, |_| true, |it| it.line.clone())
                .iter()
                .map(|it| (it.node.call_id.clone(), it.depth))
                .collect()
        };
        assert_eq!(ids("", "").len(), 4);
        assert_eq!(ids("", "AUTH ok"), [("1".into(), 0), ("2".into(), 1), ("3".into(), 2)]);
        assert_eq!(ids("2", ""), [("2".into(), 0), ("3".into(), 1)]);
        assert!(ids("", "nothing").is_empty());
    }

    #[test]
    fn a_line_is_parted_in_what_was_given_and_what_came() {
        assert_eq!(parted("f", "f(1, ' → ') → 2"), ("(1, ' → ')", "2"));
        assert_eq!(parted("f", "f(1) ✗ KeyError: x"), ("(1)", "KeyError: x"));
        assert_eq!(parted("f", "f(1)"), ("(1)", ""));
    }
}
