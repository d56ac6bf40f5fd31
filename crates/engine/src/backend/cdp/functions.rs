//! Breakpoints by a function's name. V8 knows places only, so the sources say where a function begins.
//!
//! The program's own files are looked through before they are loaded, and breakpoints set by their names:
//! V8 binds them before anything of the file runs. Other scripts are looked through as they are loaded,
//! which is in time for every call but those that the script itself makes at once.

mod scan;

use std::path::{Path, PathBuf};

use holdpoint_cdp::{UserFile, types::ScriptId};

use self::scan::Function;
use super::{Cdp, LIBRARIES, breakpoints, points::Named};
use crate::{
    backend::{Bound, Wanted, WantedFunction},
    failure::Failure,
    language::Outlined,
    limits,
};

const EXTENSIONS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

/// A place where a wanted function begins.
struct Place {
    of: usize,
    file: PathBuf,
    function: Function,
}

/// What a look through some files found.
#[derive(Default)]
struct Look {
    files: Vec<PathBuf>,
    places: Vec<Place>,
    /// For each wanted function, names that are like its.
    near: Vec<Vec<String>>,
}

/// The functions of a text.
pub fn outline(text: &str) -> Vec<Outlined> {
    let all = scan::functions(text).into_iter();
    let one = |it: Function| Outlined {
        name: it.path.join("."),
        head: it.head.line,
        body: it.body.line,
        last: it.last.max(it.body.line),
        lines: Vec::new(),
    };
    all.map(one).collect()
}

/// Makes the breakpoints by function what is wanted. What did not change stays, with its count of hits.
pub(super) async fn replace(cdp: &Cdp, wanted: &[WantedFunction]) -> Result<Vec<Bound>, Failure> {
    let order = cdp.known.order.lock().await;
    let stale = cdp.points().take_stale_functions(wanted);
    for part in stale.into_iter().flat_map(|point| point.parts) {
        breakpoints::remove(cdp, part.id).await?;
    }
    let fresh: Vec<WantedFunction> = {
        let points = cdp.points();
        let is_known =
            |it: &&WantedFunction| !points.functions.iter().any(|known| known.wanted == **it);
        wanted.iter().filter(is_known).cloned().collect()
    };
    if !fresh.is_empty() {
        add(cdp, fresh).await?;
    }
    drop(order);
    breakpoints::hold(cdp).await;
    let points = cdp.points();
    let named = |it: &WantedFunction| points.functions.iter().find(|known| known.wanted == *it);
    let bound = wanted.iter().filter_map(|it| {
        let state = points.of_function(named(it)?);
        Some(Bound { id: it.id, state })
    });
    Ok(bound.collect())
}

async fn add(cdp: &Cdp, fresh: Vec<WantedFunction>) -> Result<(), Failure> {
    let folders = cdp.known.folders.clone();
    let loaded = cdp.sources(|sources| {
        let files = sources.scripts().iter().filter_map(|script| script.file());
        files.map(Path::to_owned).collect::<Vec<_>>()
    });
    let loaded = loaded.await?;
    let asked = fresh.clone();
    let look = aside(move || Look::through(&asked, &folders, &loaded)).await?;
    for place in look.places {
        if let Some(wanted) = fresh.get(place.of) {
            set(cdp, wanted, &place.file, &place.function).await?;
        }
    }
    let mut points = cdp.points();
    points.scanned.extend(look.files);
    let near = look.near.into_iter().chain(std::iter::repeat(Vec::new()));
    points
        .functions
        .extend(fresh.into_iter().zip(near).map(|(wanted, near)| Named { wanted, near }));
    Ok(())
}

/// A script was loaded: whatever is wanted in it is set, unless its file was known before.
pub(super) async fn in_loaded(cdp: &Cdp, script: &ScriptId) -> Vec<Bound> {
    let wanted: Vec<WantedFunction> = {
        let points = cdp.points();
        points.functions.iter().map(|it| it.wanted.clone()).collect()
    };
    if wanted.is_empty() {
        return Vec::new();
    }
    match add_loaded(cdp, script.clone(), wanted).await {
        Ok(bound) => bound,
        Err(failure) => {
            tracing::debug!(%failure, "a script's functions are not looked at");
            Vec::new()
        }
    }
}

async fn add_loaded(
    cdp: &Cdp,
    script: ScriptId,
    wanted: Vec<WantedFunction>,
) -> Result<Vec<Bound>, Failure> {
    let _order = cdp.known.order.lock().await;
    let file = cdp.sources(move |sources| Some(sources.scripts().get(&script)?.file()?.to_owned()));
    let Some(file) = file.await? else { return Ok(Vec::new()) };
    // One that our own code has is not looked for in libraries.
    let is_library = is_library(&file);
    let wanted: Vec<WantedFunction> = {
        let mut points = cdp.points();
        if !points.scanned.insert(file.clone()) {
            return Ok(Vec::new());
        }
        let has = |it: &WantedFunction| {
            let mut all = points.files.values().flatten();
            all.any(|point| point.is_function && point.wanted.id == it.id)
        };
        wanted.into_iter().filter(|it| !is_library || !has(it)).collect()
    };
    let asked = wanted.clone();
    let path = file.clone();
    let places = aside(move || in_file(&asked, &path)).await?;
    let mut ids = Vec::new();
    for place in places {
        if let Some(wanted) = wanted.get(place.of) {
            set(cdp, wanted, &file, &place.function).await?;
            ids.push(wanted.id);
        }
    }
    ids.dedup();
    let points = cdp.points();
    let bound = points.functions.iter().filter(|it| ids.contains(&it.wanted.id));
    Ok(bound.map(|it| Bound { id: it.wanted.id, state: points.of_function(it) }).collect())
}

async fn set(
    cdp: &Cdp,
    wanted: &WantedFunction,
    file: &Path,
    function: &Function,
) -> Result<(), Failure> {
    let line = Wanted {
        id: wanted.id,
        line: function.body.line,
        column: Some(function.body.column),
        condition: wanted.condition.clone(),
        hit_condition: wanted.hit_condition.clone(),
        trace: wanted.trace.clone(),
    };
    let mut point = breakpoints::place(cdp, &UserFile::new(file), &line).await?;
    point.is_function = true;
    cdp.points().files.entry(file.to_owned()).or_default().push(point);
    Ok(())
}

impl Look {
    /// The program's own files, then what else is loaded; libraries only for what nobody else has.
    fn through(wanted: &[WantedFunction], folders: &[PathBuf], loaded: &[PathBuf]) -> Look {
        let mut look = Look::default();
        for folder in folders {
            walk(folder, &mut look.files);
        }
        let own = loaded.iter().filter(|file| !is_library(file));
        for file in own {
            if !look.files.contains(file) {
                look.files.push(file.clone());
            }
        }
        look.places = look.files.iter().flat_map(|file| in_file(wanted, file)).collect();
        for (of, one) in wanted.iter().enumerate() {
            if look.places.iter().any(|place| place.of == of) {
                look.near.push(Vec::new());
                continue;
            }
            let one = std::slice::from_ref(one);
            let libraries = loaded.iter().filter(|file| is_library(file));
            let found: Vec<Place> = libraries
                .flat_map(|file| in_file(one, file))
                .take(limits::PLACES)
                .map(|place| Place { of, ..place })
                .collect();
            let near = if found.is_empty() { near(one, &look.files) } else { Vec::new() };
            look.places.extend(found);
            look.near.push(near);
        }
        look
    }
}

/// The wanted functions of one file.
fn in_file(wanted: &[WantedFunction], file: &Path) -> Vec<Place> {
    let mine = |it: &WantedFunction| {
        it.file.as_deref().is_none_or(|only| UserFile::new(only).is(file, file))
    };
    let Some(text) = read(file) else { return Vec::new() };
    if !wanted.iter().any(|it| mine(it) && text.contains(it.last())) {
        return Vec::new();
    }
    let functions = scan::functions(&text);
    let each = wanted.iter().enumerate().filter(|(_, it)| mine(it));
    each.flat_map(|(of, it)| {
        let named = functions.iter().filter(|function| function.is_named(&it.name));
        let place = |it: &Function| Place { of, file: file.to_owned(), function: it.clone() };
        named.take(limits::PLACES).map(place).collect::<Vec<_>>()
    })
    .collect()
}

/// Names in the program's own files that are like a wanted one.
fn near(wanted: &[WantedFunction], files: &[PathBuf]) -> Vec<String> {
    let Some(wanted) = wanted.first() else { return Vec::new() };
    let mut names: Vec<(f64, String)> = Vec::new();
    for function in files.iter().filter_map(|it| read(it)).flat_map(|it| scan::functions(&it)) {
        let last = function.path.last().map(String::as_str).unwrap_or_default();
        let likeness = strsim::jaro_winkler(&last.to_lowercase(), &wanted.last().to_lowercase());
        let name = function.path.join(".");
        if likeness > 0.8 && !names.iter().any(|(_, it)| *it == name) {
            names.push((likeness, name));
        }
    }
    names.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    names.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Source files below a folder, without libraries and hidden folders.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !name.starts_with('.') && name != "node_modules" {
                folders.push(entry.path());
            } else if kind.is_file() && is_source(&entry.path()) {
                if found.len() >= limits::FUNCTION_FILES {
                    return;
                }
                found.push(entry.path());
            }
        }
    }
}

pub(super) fn is_source(file: &Path) -> bool {
    let extension = file.extension().and_then(|it| it.to_str());
    extension.is_some_and(|it| EXTENSIONS.contains(&it))
}

fn is_library(file: &Path) -> bool {
    file.to_string_lossy().contains(LIBRARIES)
}

fn read(file: &Path) -> Option<String> {
    let size = std::fs::metadata(file).ok()?.len();
    if size > limits::FUNCTION_BYTES {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

async fn aside<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Result<R, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Failure::internal(format!("sources were not looked through: {error}")))
}
