//! What a program left behind when it crashed, by real debuggers: C by lldb, Go by delve.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use holdpoint_testkit::debug::Debug;
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

const C: &str = "\
int *where;

int twice(int n) {
    return n * *where;
}

int main(int argc, char **argv) {
    int total = 41 + argc;
    return twice(total);
}
";

const GO: &str = "\
package main

import \"os\"

type Box struct{ N int }

func twice(b *Box, k int) int {
	return b.N * k
}

func main() {
	var b *Box
	if len(os.Args) > 5 {
		b = &Box{1}
	}
	println(twice(b, 42))
}
";

#[track_caller]
fn run(folder: &Path, words: &[&str]) {
    let done = Command::new(words[0]).args(&words[1..]).current_dir(folder).status().unwrap();
    assert!(done.success(), "{words:?}: {done}");
}

/// Lets `./crash` crash; the file that the system wrote.
#[track_caller]
fn crash(folder: &Path) -> PathBuf {
    let shell = "ulimit -c unlimited; GOTRACEBACK=crash ./crash 2>/dev/null";
    Command::new("bash").args(["-c", shell]).current_dir(folder).output().unwrap();
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|it| it.path());
    let is_core = |it: &PathBuf| it.file_name().unwrap().to_string_lossy().starts_with("core");
    let found = files.into_iter().find(is_core);
    let how = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    found.unwrap_or_else(|| panic!("no core file here; core_pattern is `{}`", how.trim()))
}

/// What every language tells of one: where it stands with what values, and that it does not run.
#[track_caller]
fn is_told(folder: &Path, place: &str, caller: &str, name: &str) {
    let core = crash(folder);
    let mut debug = Debug::with_editor(BIN, &[]);
    let said = debug.ok("debug_attach", json!({ "core": core, "program": folder.join("crash") }));
    said.has(&[place, "in "]);
    debug.ok("debug_stack", json!({})).has(&[caller]);
    debug.ok("debug_variables", json!({})).has(&[name, "42"]);
    debug.ok("debug_evaluate", json!({ "expression": format!("{name} + 1") })).has(&["43"]);
    for tool in ["debug_continue", "debug_step"] {
        debug.fails(tool, json!({})).has(&["a core file does not run", "debug_variables"]);
        debug.ok("debug_status", json!({})).has(&["stopped"]);
    }
    debug.ok("debug_stop", json!({})).has(&["the core file stays as it is"]);
    assert!(core.is_file());
}

#[test]
fn one_of_c_is_looked_into_by_lldb() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("crash.c"), C).unwrap();
    run(folder.path(), &["cc", "-g", "-O0", "-o", "crash", "crash.c"]);
    is_told(folder.path(), "crash.c:4", "main", "n");
}

#[test]
fn one_of_go_is_looked_into_by_delve() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.go"), GO).unwrap();
    std::fs::write(folder.path().join("go.mod"), "module crash\n\ngo 1.22\n").unwrap();
    run(folder.path(), &["go", "build", "-gcflags=all=-N -l", "-o", "crash", "."]);
    is_told(folder.path(), "main.go:8", "main.main", "k");
}

#[test]
fn one_without_its_program_is_refused() {
    let mut debug = Debug::with_editor(BIN, &[]);
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    std::fs::write(&core, "no core").unwrap();
    let said = debug.fails("debug_attach", json!({ "core": core }));
    said.has(&["`core` and `program` go together"]);
}
