//! Setting breakpoints by file and line: by the file's own URL, loaded or not, and through the source maps
//! of scripts that were made from it.

use std::path::{Path, PathBuf};

use holdpoint_cdp::{
    GeneratedAt, HeldAt, Hold, Position, UserFile,
    types::{
        self, Location, ScriptId,
        debugger::{
            BreakLocation, GetPossibleBreakpoints, RemoveBreakpoint, SetBreakpoint,
            SetBreakpointByUrl,
        },
    },
};

use super::{
    Cdp, begin,
    points::{self, NOT_LOADED, Part, Point},
    traces, weave,
};
use crate::{
    backend::{Binding, Bound, Wanted},
    failure::Failure,
    limits,
};

/// Makes a file's breakpoints what is wanted. What did not change stays, with its count of hits.
pub(super) async fn replace(
    cdp: &Cdp,
    file: &Path,
    wanted: &[Wanted],
) -> Result<Vec<Bound>, Failure> {
    let _order = cdp.known.order.lock().await;
    let stale = cdp.points().take_stale(file, wanted);
    for point in stale {
        if point.is_woven {
            weave::end(cdp, point.wanted.id).await?;
        }
        for part in point.parts {
            remove(cdp, part.id).await?;
        }
    }
    let user_file = UserFile::new(file);
    let mut bound = Vec::new();
    for wanted in wanted {
        let kept = {
            let points = cdp.points();
            let mut here = points.files.get(file).into_iter().flatten();
            here.find(|point| !point.is_function && point.wanted == *wanted)
                .map(|point| point.binding.clone())
        };
        let state = match kept {
            Some(binding) => binding,
            None => {
                let mut point = place(cdp, &user_file, wanted).await?;
                for part in point.take_astray() {
                    remove(cdp, part.id).await?;
                }
                let binding = point.binding.clone();
                cdp.points().files.entry(file.to_owned()).or_default().push(point);
                binding
            }
        };
        bound.push(Bound { id: wanted.id, state });
    }
    weave::release_in_order(cdp).await?;
    begin::watch_for(cdp, file).await?;
    hold(cdp).await;
    Ok(bound)
}

/// Sees to it that scripts with source maps are stopped before they run, as long as a breakpoint may be in
/// one of them.
pub(super) async fn hold(cdp: &Cdp) {
    let is_needed = {
        let points = cdp.points();
        points.has_loader && points.hold.is_none() && !points.all_bound()
    };
    if !is_needed {
        return;
    }
    match tokio::time::timeout(limits::ADAPTER_ANSWER, Hold::set(&cdp.requester)).await {
        Ok(Ok(hold)) => cdp.points().hold = Some(hold),
        Ok(Err(error)) => tracing::debug!(%error, "scripts with source maps are not held"),
        Err(_) => tracing::debug!("scripts with source maps are not held: no answer"),
    }
}

/// Sets one breakpoint wherever its line is by now, and where it will be.
pub(super) async fn place(cdp: &Cdp, file: &UserFile, wanted: &Wanted) -> Result<Point, Failure> {
    cdp.points().astray.remove(&(wanted.id, wanted.line));
    let mut point = Point {
        is_function: false,
        wanted: wanted.clone(),
        binding: Binding::Not { why: NOT_LOADED.to_owned() },
        parts: Vec::new(),
        is_woven: false,
    };
    let condition = match check(cdp, wanted).await {
        Ok(condition) => condition,
        Err(why) => {
            point.binding = Binding::Not { why };
            return Ok(point);
        }
    };
    let Some(asked) = Position::new(wanted.line, wanted.column.filter(|column| *column > 0)) else {
        point.binding = Binding::Not { why: "lines begin at 1".to_owned() };
        return Ok(point);
    };
    let (loaded, own_map) = whereabouts(cdp, file, asked).await?;
    for at in loaded.iter().filter(|at| at.mapped) {
        set_mapped(cdp, &mut point, at, condition.as_ref()).await?;
    }
    // The lines of a script that was made from a file of its own name are not the lines of that file.
    if !own_map {
        let scripts: Vec<&ScriptId> =
            loaded.iter().filter(|at| !at.mapped).map(|at| &at.script).collect();
        set_by_url(cdp, &mut point, file, asked, condition, &scripts).await?;
    }
    Ok(point)
}

/// The scripts that have the line, and whether one of the file's own name has a map to it.
async fn whereabouts(
    cdp: &Cdp,
    file: &UserFile,
    asked: Position,
) -> Result<(Vec<GeneratedAt>, bool), Failure> {
    let file = file.clone();
    cdp.sources(move |sources| {
        let found = sources.generated(&file, asked);
        let own: Vec<ScriptId> =
            sources.scripts().of_file(&file).iter().map(|script| script.id.clone()).collect();
        let own_map = own.iter().any(|id| sources.source_map(id).is_some_and(|map| map.has(&file)));
        (found, own_map)
    })
    .await
}

async fn set_mapped(
    cdp: &Cdp,
    point: &mut Point,
    at: &GeneratedAt,
    condition: Option<&String>,
) -> Result<(), Failure> {
    let script = at.script.clone();
    let through = cdp
        .sources(move |sources| sources.scripts().get(&script)?.file().map(PathBuf::from))
        .await?;
    for position in at.generated.positions.iter().take(limits::PLACES) {
        let set = match &through {
            // By its name, so that it is still set when the script is loaded again.
            Some(script) => set_ahead(cdp, script, *position, &point.wanted).await,
            None => set_in_script(cdp, &at.script, *position, condition).await,
        };
        if let Some((part, location)) = set {
            point.parts.push(part);
            if let Some(location) = location {
                bind(cdp, point, &location).await?;
            }
        }
    }
    Ok(())
}

async fn set_in_script(
    cdp: &Cdp,
    script: &ScriptId,
    at: Position,
    condition: Option<&String>,
) -> Option<(Part, Option<Location>)> {
    let location = Location {
        script_id: script.clone(),
        line_number: at.line_number(),
        column_number: at.column_number(),
    };
    let command = SetBreakpoint { location, condition: condition.cloned() };
    // One of several places may have no code of its own.
    let set = cdp.ask(command).await.inspect_err(not_set).ok()?;
    Some((Part { id: set.breakpoint_id, through: None }, Some(set.actual_location)))
}

fn not_set(failure: &Failure) {
    tracing::debug!(%failure, "a mapped place is not set, or was already");
}

async fn set_by_url(
    cdp: &Cdp,
    point: &mut Point,
    file: &UserFile,
    asked: Position,
    condition: Option<String>,
    scripts: &[&ScriptId],
) -> Result<(), Failure> {
    let command = SetBreakpointByUrl {
        line_number: asked.line_number(),
        url_regex: regex(cdp, file, &point.wanted),
        column_number: cdp.in_woven(file, asked).column_number(),
        condition,
    };
    let set = match cdp.ask(command).await {
        Ok(set) => set,
        Err(failure) if point.parts.is_empty() => {
            point.binding = Binding::Not { why: failure.message.to_string() };
            return Ok(());
        }
        Err(_) => return Ok(()),
    };
    point.parts.push(Part { id: set.breakpoint_id, through: None });
    match (set.locations.last(), scripts.last()) {
        (Some(location), _) => bind(cdp, point, location).await,
        (None, Some(script)) if point.parts.len() == 1 => {
            point.binding = Binding::Not { why: no_code(cdp, script, asked).await };
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

/// V8 takes two breakpoints at one place for one, unless their names are spelled differently.
fn regex(cdp: &Cdp, file: &UserFile, wanted: &Wanted) -> String {
    let regex = cdp.url_regex(file);
    // Nothing, so many times.
    format!("(?:{regex})(?:){{{}}}", wanted.id)
}

/// Notes where V8 put it, as people count lines.
async fn bind(cdp: &Cdp, point: &mut Point, location: &Location) -> Result<(), Failure> {
    if let Some(binding) = binding(cdp, location).await? {
        point.binding = binding;
    }
    Ok(())
}

async fn binding(cdp: &Cdp, location: &Location) -> Result<Option<Binding>, Failure> {
    let location = location.clone();
    let place = cdp.sources(move |sources| sources.place(&location)).await?;
    Ok(place
        .map(|place| Binding::At { line: place.position.line(), column: place.position.column() }))
}

/// V8 bound a breakpoint by itself, in a script that was loaded just now.
pub(super) async fn resolved(
    cdp: &Cdp,
    id: &types::BreakpointId,
    location: &Location,
) -> Option<Bound> {
    let state = binding(cdp, location).await.ok()??;
    let mut points = cdp.points();
    let point = points.by_part(id)?;
    point.binding = state;
    let astray = point.take_astray();
    let (id, line, state) = (point.wanted.id, point.wanted.line, point.binding.clone());
    if !astray.is_empty() {
        // What it reports until it is taken out is dropped.
        points.astray.insert((id, line));
        let it = cdp.clone();
        // Ends with the answers.
        cdp.known.tasks.spawn(async move {
            for part in astray {
                if let Err(failure) = remove(&it, part.id).await {
                    tracing::debug!(%failure, "a tracepoint on another line stays");
                }
            }
        });
    }
    // Where its file is about to begin, that is the time for it.
    if !cdp.known.woven.0.is_empty() && !points.is_beginning(id) {
        let it = cdp.clone();
        // Ends with the answers.
        cdp.known.tasks.spawn(async move { weave::released(&it).await });
    }
    let named = points.functions.iter().find(|it| it.wanted.id == id);
    Some(Bound { id, state: named.map_or(state, |it| points.of_function(it)) })
}

/// A script with a map waits before its first statement: whatever is wanted in its sources is set.
pub(super) async fn set_in_held(cdp: &Cdp, held: HeldAt) -> Result<(), Failure> {
    let _order = cdp.known.order.lock().await;
    let held = HeldAt { file: cdp.local(held.file), ..held };
    let script = held.file.clone();
    let read = tokio::task::spawn_blocking(move || held.source_map());
    let Ok(Ok(Some(map))) = read.await else { return Ok(()) };
    for (file, mut point) in every(cdp) {
        let user_file = UserFile::new(&file);
        let asked = Position::new(point.wanted.line, point.wanted.column);
        let Some(found) = asked.and_then(|asked| map.generated(&user_file, asked)) else {
            continue;
        };
        if point.parts.iter().any(|part| part.through.as_ref() == Some(&script)) {
            continue;
        }
        let before = point.parts.clone();
        for position in found.positions.into_iter().take(limits::PLACES) {
            let set = set_ahead(cdp, &script, position, &point.wanted).await;
            point.parts.extend(set.map(|(part, _)| part));
        }
        if user_file.is(&script, &script) {
            point.parts.retain(|part| part.through.is_some());
        }
        change(cdp, &file, before, &point).await?;
    }
    Ok(())
}

/// At the first line V8 can tell what parses: tracepoints that were set before are set again, rightly.
pub(super) async fn recheck_traces(cdp: &Cdp) -> Result<(), Failure> {
    let _order = cdp.known.order.lock().await;
    for (file, point) in every(cdp) {
        let Some(tracing) = point.wanted.trace.as_ref().filter(|_| !point.is_woven) else {
            continue;
        };
        let before = cdp.traces().bad.len();
        traces::check(cdp, tracing).await;
        if cdp.traces().bad.len() == before {
            continue;
        }
        for part in &point.parts {
            remove(cdp, part.id.clone()).await?;
        }
        let mut again = place(cdp, &UserFile::new(&file), &point.wanted).await?;
        again.is_function = point.is_function;
        change(cdp, &file, Vec::new(), &again).await?;
    }
    Ok(())
}

pub(super) fn every(cdp: &Cdp) -> Vec<(PathBuf, Point)> {
    let points = cdp.points();
    let all = points.files.iter();
    all.flat_map(|(file, here)| here.iter().map(|it| (file.clone(), it.clone()))).collect()
}

/// Puts a breakpoint in the place of what it was, and takes away what it no longer has.
pub(super) async fn change(
    cdp: &Cdp,
    file: &Path,
    before: Vec<Part>,
    point: &Point,
) -> Result<(), Failure> {
    for part in before.into_iter().filter(|part| !point.parts.contains(part)) {
        remove(cdp, part.id).await?;
    }
    let mut points = cdp.points();
    let here = points.files.get_mut(file).into_iter().flatten();
    for old in here.filter(|it| it.wanted == point.wanted) {
        *old = point.clone();
    }
    Ok(())
}

/// By the name of a script, which need not be there yet.
async fn set_ahead(
    cdp: &Cdp,
    script: &Path,
    at: Position,
    wanted: &Wanted,
) -> Option<(Part, Option<Location>)> {
    let command = SetBreakpointByUrl {
        line_number: at.line_number(),
        url_regex: regex(cdp, &UserFile::new(script), wanted),
        column_number: at.column_number(),
        condition: points::condition(wanted, &cdp.traces().bad).ok()?,
    };
    let set = cdp.ask(command).await.inspect_err(not_set).ok()?;
    let part = Part { id: set.breakpoint_id, through: Some(script.to_owned()) };
    Some((part, set.locations.into_iter().next_back()))
}

/// A script with a map was loaded without a hold: its breakpoints are set now, which may be too late for
/// what runs at once, and is in time for every function of it.
pub(super) async fn set_in_loaded(cdp: &Cdp, script: &ScriptId) -> Result<Vec<Bound>, Failure> {
    let _order = cdp.known.order.lock().await;
    let mut bound = Vec::new();
    for (file, mut point) in every(cdp) {
        let before = point.parts.clone();
        if extend(cdp, &file, &mut point, script).await? {
            change(cdp, &file, before, &point).await?;
            bound.push(Bound { id: point.wanted.id, state: point.binding });
        }
    }
    Ok(bound)
}

/// Sets a breakpoint in one more script that was made from its file, if this one was.
async fn extend(
    cdp: &Cdp,
    file: &Path,
    point: &mut Point,
    script: &ScriptId,
) -> Result<bool, Failure> {
    let Some(asked) = Position::new(point.wanted.line, point.wanted.column) else {
        return Ok(false);
    };
    let (user_file, of) = (UserFile::new(file), script.clone());
    let found = cdp
        .sources(move |sources| {
            let through = sources.scripts().get(&of)?.file().map(PathBuf::from);
            let generated = sources.source_map(&of)?.generated(&user_file, asked)?;
            let is_own = through.as_deref().is_some_and(|path| user_file.is(path, path));
            Some((through, GeneratedAt { script: of, generated, mapped: true }, is_own))
        })
        .await?;
    let Some((through, at, is_own)) = found else { return Ok(false) };
    if point.parts.iter().any(|part| part.through.is_some() && part.through == through) {
        return Ok(false);
    }
    let Ok(condition) = points::condition(&point.wanted, &cdp.traces().bad) else {
        return Ok(false);
    };
    set_mapped(cdp, point, &at, condition.as_ref()).await?;
    // The lines of a script that was made from a file of its own name are not the lines of that file.
    if is_own {
        point.parts.retain(|part| part.through.is_some());
    }
    Ok(true)
}

/// The whole condition, checked by V8 before anybody waits for it in vain.
async fn check(cdp: &Cdp, wanted: &Wanted) -> Result<Option<String>, String> {
    if let Some(tracing) = &wanted.trace {
        cdp.traces().put(wanted.id, tracing);
        traces::prepare(cdp).await.map_err(|failure| failure.message.to_string())?;
        traces::check(cdp, tracing).await;
    }
    let condition = points::condition(wanted, &cdp.traces().bad)?;
    if let Some(text) = &wanted.condition {
        let problem = parses(cdp, text).await.err();
        problem.map_or(Ok(()), |it| Err(format!("its condition does not parse: {it}")))?;
    }
    Ok(condition)
}

/// What is wrong with an expression, as V8 says it.
pub(super) async fn parses(cdp: &Cdp, expression: &str) -> Result<(), String> {
    let params = serde_json::json!({
        "expression": format!("({expression}\n)"), "sourceURL": "", "persistScript": false,
    });
    let compiled = cdp.requester.call("Runtime.compileScript", params);
    // Before the program's first line there is nothing to compile in; then V8 refuses, and we trust.
    let Ok(Ok(answer)) = tokio::time::timeout(limits::ADAPTER_ANSWER, compiled).await else {
        return Ok(());
    };
    let problem = answer.pointer("/exceptionDetails/exception/description");
    match problem.and_then(|it| it.as_str()) {
        Some(problem) => Err(super::value::message(problem).to_owned()),
        None => Ok(()),
    }
}

/// Why a line of a loaded script has no breakpoint, with the lines nearby that could have one.
async fn no_code(cdp: &Cdp, script: &ScriptId, asked: Position) -> String {
    let line = asked.line_number();
    let at =
        |line_number| Location { script_id: script.clone(), line_number, column_number: Some(0) };
    let command = GetPossibleBreakpoints {
        start: at(line.saturating_sub(limits::NEARBY)),
        end: Some(at(line.saturating_add(limits::NEARBY))),
        restrict_to_function: false,
    };
    let found = cdp.ask(command).await.map(|it| it.locations).unwrap_or_default();
    let mut lines: Vec<u32> =
        found.iter().map(|it: &BreakLocation| it.line_number.saturating_add(1)).collect();
    lines.sort_by_key(|it| it.abs_diff(asked.line()));
    lines.dedup();
    match lines.as_slice() {
        [] => "no code on that line or near it".to_owned(),
        [first, ..] => format!("no code on that line; the nearest line with code is {first}"),
    }
}

pub(super) async fn remove(cdp: &Cdp, breakpoint_id: types::BreakpointId) -> Result<(), Failure> {
    cdp.ask(RemoveBreakpoint { breakpoint_id }).await.map(drop)
}
