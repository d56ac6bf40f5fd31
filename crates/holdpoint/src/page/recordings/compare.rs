//! Two recordings beside each other where they first part, and what came of it.

use holdpoint_engine::{
    failure::{Code, Failure},
    recordings::{
        AskError, CallId, CallShown, DiffAsk, DiffFound, Difference, DifferenceKind, FrameLook,
        LookAsk, Recording, RecordingKnown,
    },
    secrets::Secrets,
};
use maud::{Markup, html};

use super::{answered, source::SourceShown, to, to_call, version, words};
use crate::{
    app::App,
    page::{
        address::PageAddress,
        pieces::{self, icon},
        sheet::{LiveParts, Sheet},
    },
};

/// Lines before and behind the one at which they part.
const AROUND: u32 = 9;

/// Bytes of a function's name in a sentence.
const NAME: usize = 80;

/// One side at the first difference.
struct SideSeen {
    look: FrameLook,
    line: Option<u32>,
    verdict: String,
}

pub(super) async fn sheet(app: &App, at: &PageAddress) -> Result<Sheet, Failure> {
    let (a, b) = sides(app, at)?;
    let mut parts = LiveParts::default();
    let question = format!("diff {} {} {}", b.about.id, version(&b), at.chosen("from"));
    let asked = body(app, &a, &b, at.chosen("from"));
    let (body, is_late) = answered(app, &a, &question, asked).await?;
    parts.late(is_late);
    let secrets = app.engine.secrets();
    let main = html! {
        header.bar {
            a.crumb href="/recordings" { "Recordings" } h1 { "Two runs" }
            p.cut { a href=(to(&a.about.id)) { (a.about.id) } " " (words::plain(secrets, &a.about.title)) " against " a href=(to(&b.about.id)) { (b.about.id) } " " (words::plain(secrets, &b.about.title)) }
            div.end { a.btn href={ "/recordings/diff?a=" (b.about.id) "&b=" (a.about.id) } { (icon("restart")) span { "Swap" } } }
        }
        div.body #diff-body { (parts.put("diff-body", html! { (*body) })) }
    };
    Ok(Sheet { title: "Two runs".to_owned(), is_fill: false, shape: "two runs", main, parts })
}

/// As the address names them; else the last two that are there.
fn sides(app: &App, at: &PageAddress) -> Result<(RecordingKnown, RecordingKnown), Failure> {
    let recordings = &app.engine.recordings;
    let known: Vec<String> = recordings.list().into_iter().map(|it| it.id).collect();
    let named = |name: &str, usual: usize| match at.chosen(name) {
        "" => known.get(usual).cloned().ok_or_else(|| {
            Failure::new(Code::NotFound, "there are not two recordings yet")
                .hint("a second run is made by `Record again`, or by `record_diff` with a change")
        }),
        chosen => Ok(chosen.to_owned()),
    };
    Ok((recordings.known_as(&named("a", 1)?)?, recordings.known_as(&named("b", 0)?)?))
}

async fn body(
    app: &App,
    a: &RecordingKnown,
    b: &RecordingKnown,
    from: &str,
) -> Result<Markup, Failure> {
    let from = from.to_owned();
    let asked = app.engine.recordings.ask_both((&a.about.id, &b.about.id), move |one, other| {
        let (one, other) = (&one.recording, &other.recording);
        let from = match from.split_once('/').unwrap_or((&from, &from)) {
            ("", _) => None,
            (first, second) => Some((one.call_named(first)?, other.call_named(second)?)),
        };
        let found = one.diff(other, &DiffAsk { ignore: Vec::new(), from })?;
        let seen = seen(&found, one, other)?;
        Ok((found, seen))
    });
    let (found, seen) = asked.await?;
    Ok(markup(app.engine.secrets(), (a, b), &found, &seen))
}

/// Both frames in which the runs part.
fn seen(
    found: &DiffFound,
    one: &Recording,
    other: &Recording,
) -> Result<[Option<SideSeen>; 2], AskError> {
    let verdicts = (one.brief().verdict, other.brief().verdict);
    let side = |of: &Recording, call: CallId, line: Option<u32>, nth: u32, verdict: String| {
        let whole = of.look(&LookAsk { call, pass: None })?;
        let again =
            line.filter(|line| whole.lines.iter().any(|it| it.line == *line && it.times > 1));
        let look = match again {
            Some(line) => of.look(&LookAsk { call, pass: Some((line, nth.max(1))) })?,
            None => whole,
        };
        Ok::<_, AskError>(Some(SideSeen { look, line, verdict }))
    };
    if let Some(it) = &found.first_line {
        let first = side(one, it.calls.0, it.lines.0, it.times.0, verdicts.0)?;
        return Ok([first, side(other, it.calls.1, it.lines.1, it.times.1, verdicts.1)?]);
    }
    let first = found.differences.first();
    let call = |it: Option<&CallShown>| it.map(|it| it.id);
    let (mine, their) =
        (call(first.and_then(|it| it.one.as_ref())), call(first.and_then(|it| it.other.as_ref())));
    let mine = mine.map_or(Ok(None), |it| side(one, it, None, 1, verdicts.0))?;
    Ok([mine, their.map_or(Ok(None), |it| side(other, it, None, 1, verdicts.1))?])
}

fn markup(
    secrets: &Secrets,
    (a, b): (&RecordingKnown, &RecordingKnown),
    found: &DiffFound,
    seen: &[Option<SideSeen>; 2],
) -> Markup {
    let (one, other) = found.calls;
    html! {
        @match found.differences.first() {
            None => section.panel { div.empty { b { "No difference" } "In " (words::count(one)) " and " (words::count(other)) " calls the two runs did the same." } },
            Some(first) => {
                p.parts-at #parts-at { "The first difference is " b { (pieces::line(&kind(first))) } ", in runs of " (words::count(one)) " and " (words::count(other)) " calls." }
                div.two.sides {
                    @for ((of, side), call) in [a, b].into_iter().zip(seen).zip([&first.one, &first.other]) { (one_side(secrets, of, side.as_ref(), call.as_ref())) }
                }
            },
        }
        @if found.differences.len() > 1 { (others(secrets, (&a.about.id, &b.about.id), found)) }
        @if found.masked > 0 { p.note { (icon("info")) span { (words::count(found.masked)) " values differ only in times, addresses, uuids or temporary paths, and were passed over." } } }
        @if found.alone != (0, 0) { p.note { (icon("info")) span { (found.alone.0) " threads or tasks of the first and " (found.alone.1) " of the second have no counterpart." } } }
        (words::missing(&found.missing))
    }
}

/// What differs first, in words.
fn kind(it: &Difference) -> String {
    let name = it.one.as_ref().or(it.other.as_ref()).map_or("", |it| it.function.as_str());
    let name = holdpoint_engine::budget::cut(name, NAME);
    match it.kind {
        DifferenceKind::Result => format!("what {name} came to"),
        DifferenceKind::Arguments => format!("what {name} was given"),
        DifferenceKind::OnlyFirst => format!("a call of {name} that only the first made"),
        DifferenceKind::OnlySecond => format!("a call of {name} that only the second made"),
    }
}

fn one_side(
    secrets: &Secrets,
    of: &RecordingKnown,
    side: Option<&SideSeen>,
    call: Option<&CallShown>,
) -> Markup {
    let id = of.about.id.as_str();
    html! {
        section.panel.side-of aria-label={ "In " (id) } {
            header { h2 { a href=(to(id)) { (id) } } small.cut { (words::plain(secrets, of.about.change.as_deref().unwrap_or(&of.about.title))) } @if let Some(side) = side { span.end { (words::verdict(of, Some(&side.verdict))) } } }
            @match call {
                Some(call) => p.side-call { (words::call(secrets, id, call)) span.came.cut { (words::came(secrets, &call.end)) } (words::handle(id, call.id)) },
                None => p.side-call.quiet { "It does not make this call." },
            }
            @if let Some(side) = side {
                @let path = to_call(id, side.look.call.id);
                ol.source.brief tabindex="0" aria-label={ "Source in " (id) } { (SourceShown { secrets, id, path: &path, look: &side.look, at: side.line, around: Some(AROUND) }.markup()) }
            }
        }
    }
}

fn others(secrets: &Secrets, (a, b): (&str, &str), found: &DiffFound) -> Markup {
    let cell = |id: &str, call: Option<&CallShown>| {
        html! { @if let Some(call) = call { span.in-tree { (words::call(secrets, id, call)) span.came.cut { (words::came(secrets, &call.end)) } } } @else { span.quiet { "not made" } } }
    };
    html! {
        section.panel aria-labelledby="d-h" {
            header { h2 #d-h { "All differences" } small { (found.differences.len()) @if found.total > found.differences.len() as u64 { " of " (words::count(found.total)) } ", as they happened" } }
            div.scroll {
                table.rows.fixed.differences {
                    thead { tr { th scope="col" { "In " (a) } th scope="col" { "In " (b) } } }
                    tbody { @for it in &found.differences { tr { td { (cell(a, it.one.as_ref())) } td { (cell(b, it.other.as_ref())) } } } }
                }
            }
        }
    }
}
