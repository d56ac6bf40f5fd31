//! The cache of instrumented texts: what a recorded Node program asks for, and all files of its project ahead of it.
//!
//! One file per text, named by what was read and how, written beside and moved into place: several processes fill one
//! cache at once, and the first wins. A text that cannot be instrumented has a file too, which says why.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use holdpoint_instrument::{Goal, SourceText, TEXT_MAX, VERSION, instrument};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// A project with more files than this is warmed by its first ones; the rest is asked for when it is loaded.
const FILES_MAX: usize = 5_000;
/// Folders inside folders, beyond which nobody keeps sources.
const DEPTH_MAX: usize = 24;
/// A request is one text of a program, or none.
const REQUEST_MAX: u64 = (TEXT_MAX as u64) * 2;
/// Deeply nested texts are read by recursion.
const STACK: usize = 256 << 20;

/// One text to instrument, and the name of its answer.
struct Job {
    key: Option<String>,
    text: Box<dyn FnOnce() -> Option<String> + Send>,
    goal: Goal,
    typescript: bool,
    jsx: bool,
}

/// Reads a request (a line of JSON, then the text) and answers it into the cache; says how many texts were instrumented.
///
/// # Errors
/// When the request cannot be read, or the cache not be written.
pub(crate) fn answer(input: impl Read) -> io::Result<usize> {
    let mut whole = String::new();
    input.take(REQUEST_MAX).read_to_string(&mut whole)?;
    let (line, text) = whole.split_once('\n').ok_or_else(|| bad("no line"))?;
    let request: Value = serde_json::from_str(line).map_err(|error| bad(&error.to_string()))?;
    let cache = folder(&request)?;
    let mut jobs = Vec::new();
    if let Some(key) = request.get("key").and_then(Value::as_str) {
        let text = text.to_owned();
        jobs.push(Job {
            key: Some(key.to_owned()),
            text: Box::new(move || Some(text)),
            goal: goal(request.get("goal").and_then(Value::as_str)),
            typescript: request.get("typescript").and_then(Value::as_bool).unwrap_or_default(),
            jsx: request.get("jsx").and_then(Value::as_bool).unwrap_or_default(),
        });
    }
    let exclude = texts(request.get("exclude"));
    for root in texts(request.get("warm")) {
        gather(Path::new(&root), &exclude, None, 0, &mut jobs);
    }
    run(&cache, jobs)
}

fn folder(request: &Value) -> io::Result<PathBuf> {
    let cache = request.get("cache").and_then(Value::as_str).ok_or_else(|| bad("no cache"))?;
    let cache = Path::new(cache).join(format!("v{VERSION}"));
    fs::create_dir_all(&cache)?;
    Ok(cache)
}

/// On two threads: the machine that waits for us has other things to do as well.
fn run(cache: &Path, jobs: Vec<Job>) -> io::Result<usize> {
    let done = AtomicUsize::new(0);
    let (left, right): (Vec<_>, Vec<_>) =
        jobs.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let work = |jobs: Vec<(usize, Job)>| {
        for (_, job) in jobs {
            match one(cache, job) {
                Ok(true) => done.fetch_add(1, Ordering::Relaxed),
                Ok(false) => 0,
                Err(error) => return Err(error),
            };
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let build = || std::thread::Builder::new().stack_size(STACK);
        let first = build().spawn_scoped(scope, || work(left))?;
        let second = if right.is_empty() {
            None
        } else {
            Some(build().spawn_scoped(scope, || work(right))?)
        };
        let mut outcome = Ok(());
        for thread in std::iter::once(first).chain(second) {
            let ended =
                thread.join().unwrap_or_else(|_| Err(bad("a text could not be instrumented")));
            outcome = outcome.and(ended);
        }
        outcome
    })?;
    Ok(done.load(Ordering::Relaxed))
}

/// Whether it was not there already.
fn one(cache: &Path, job: Job) -> io::Result<bool> {
    let Some(text) = (job.text)() else { return Ok(false) };
    let key = job.key.unwrap_or_else(|| key(&text, job.goal, job.typescript, job.jsx));
    let path = cache.join(&key);
    if path.exists() {
        return Ok(false);
    }
    let given =
        SourceText { text: &text, goal: job.goal, typescript: job.typescript, jsx: job.jsx };
    let answer = match instrument(given) {
        Ok(done) => format!("{}\n{}\n{}", done.table(), done.places, done.text),
        Err(refusal) => format!("{}\n\n", json!({ "version": VERSION, "refused": refusal.word() })),
    };
    let beside = cache.join(format!("{key}.{}", std::process::id()));
    fs::write(&beside, answer)?;
    fs::rename(&beside, &path)?;
    Ok(true)
}

/// What a text's answer is called; `clients/js/record/texts.cjs` says the same.
fn key(text: &str, goal: Goal, typescript: bool, jsx: bool) -> String {
    let mut name = String::with_capacity(70);
    for byte in Sha256::digest(text.as_bytes()) {
        if write!(name, "{byte:02x}").is_err() {
            debug_assert!(false, "a string takes all that is written to it");
        }
    }
    name.push('-');
    name.push(match goal {
        Goal::Module => 'm',
        Goal::CommonJs => 'c',
        Goal::Script => 's',
    });
    if typescript {
        name.push('t');
    }
    if jsx {
        name.push('x');
    }
    name
}

/// The files below a folder that Node would load by themselves.
fn gather(
    folder: &Path,
    exclude: &[String],
    module: Option<bool>,
    depth: usize,
    jobs: &mut Vec<Job>,
) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let module = package(folder).or(module);
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') || exclude.contains(&name) || jobs.len() >= FILES_MAX {
            continue;
        }
        if kind.is_dir() && depth < DEPTH_MAX {
            gather(&entry.path(), exclude, module, depth + 1, jobs);
        } else if kind.is_file() {
            jobs.extend(file(entry.path(), &name, module));
        }
    }
}

/// What the folder's own `package.json` says of its `.js` files.
fn package(folder: &Path) -> Option<bool> {
    let text = fs::read_to_string(folder.join("package.json")).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    Some(value.get("type").and_then(Value::as_str) == Some("module"))
}

fn file(path: PathBuf, name: &str, module: Option<bool>) -> Option<Job> {
    if name.ends_with(".d.ts") || name.ends_with(".d.mts") || name.ends_with(".d.cts") {
        return None;
    }
    let (_, ending) = name.rsplit_once('.')?;
    let typescript = matches!(ending, "ts" | "mts" | "cts");
    let goal = match ending {
        "mjs" | "mts" => Goal::Module,
        "cjs" | "cts" => Goal::CommonJs,
        "js" | "ts" if module == Some(true) => Goal::Module,
        "js" | "ts" => Goal::CommonJs,
        _ => return None,
    };
    let short = path.metadata().is_ok_and(|about| about.len() <= TEXT_MAX as u64);
    let text = move || fs::read_to_string(path).ok();
    short.then(|| Job { key: None, text: Box::new(text), goal, typescript, jsx: !typescript })
}

fn goal(word: Option<&str>) -> Goal {
    match word {
        Some("module") => Goal::Module,
        Some("script") => Goal::Script,
        _ => Goal::CommonJs,
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
