//! Texts of 200 files: instrumented by one process while a program waits, and taken from the cache by a program that loads them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::super::table::{Goal, Row, Unit};
use super::Workload;

const FILES: usize = 200;
const COLD_MS: f64 = 300.0;
const CACHED_MS: f64 = 60.0;
const TURNS: usize = 5;

pub(super) fn rows(ours: &Path, node: &Path, folder: &Path, texts: &[PathBuf]) -> Result<Vec<Row>> {
    eprintln!("{FILES} files …");
    let project = folder.join("many");
    let main = write(&project, texts)?;
    let mut cold = f64::INFINITY;
    for turn in 0..TURNS {
        cold = cold.min(warmed(ours, &project, &folder.join(format!("cache-{turn}")))?);
    }
    let work =
        Workload { name: "200 files".to_owned(), words: vec![node.to_owned(), main], to_ms: 1.0 };
    let (mut plain, mut cached) = (f64::INFINITY, f64::INFINITY);
    // The first of these fills the cache.
    work.took(&mut work.recorded(ours, folder, "calls"))?;
    for _ in 0..TURNS {
        plain = plain.min(work.took(&mut work.plain()?)?);
        cached = cached.min(work.took(&mut work.recorded(ours, folder, "calls"))?);
    }
    let row = |what: &str, ours, limit| Row {
        what: what.to_owned(),
        unit: Unit::Milliseconds,
        ours,
        floor: f64::NAN,
        goal: Goal::AtMost(limit),
    };
    Ok(vec![
        row("200 files transformed, cold", cold, COLD_MS),
        row("200 files loaded from the cache, beyond plain", cached - plain, CACHED_MS),
    ])
}

/// Files that are loaded and do nothing: each is a real text inside of a function that nobody calls.
fn write(project: &Path, texts: &[PathBuf]) -> Result<PathBuf> {
    std::fs::create_dir_all(project)?;
    let mut main = String::from("const before = process.cpuUsage();\n");
    for (number, text) in texts.iter().cycle().take(FILES).enumerate() {
        let text = std::fs::read_to_string(text)?.replace("$hp", "$hq");
        let name = format!("f{number}.cjs");
        let whole = format!("module.exports = function f{number}() {{\n{text}\n}};\n");
        std::fs::write(project.join(&name), whole)?;
        writeln!(main, "require('./{name}');")?;
    }
    main.push_str(
        "const used = process.cpuUsage(before);\nconsole.log((used.user + used.system) / 1000);\n",
    );
    let file = project.join("main.cjs");
    std::fs::write(&file, main)?;
    Ok(file)
}

/// How long a program waits that asks for its first text, with all others of its project ahead of it.
fn warmed(ours: &Path, project: &Path, cache: &Path) -> Result<f64> {
    let request = json!({
        "cache": cache, "key": "bench-c", "goal": "commonjs", "typescript": false, "jsx": true,
        "exclude": ["node_modules"], "warm": [project],
    });
    let start = Instant::now();
    let mut child = Command::new(ours).arg("instrument").stdin(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("no stdin")?;
    input.write_all(format!("{request}\nlet a = 1;\n").as_bytes())?;
    drop(input);
    if !child.wait()?.success() {
        bail!("`holdpoint instrument` failed");
    }
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
