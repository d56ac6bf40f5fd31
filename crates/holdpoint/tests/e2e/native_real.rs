//! Code that nobody here wrote: a bug is planted in a crate of the registry and in a source package of Debian, and
//! found by the tools, from the failure to its cause.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use holdpoint_testkit::debug::Debug;
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// What an expression comes to, without its type.
#[track_caller]
fn value(debug: &mut Debug, expression: &str) -> String {
    let said = debug.ok("debug_evaluate", json!({ "expression": expression }));
    said.data["value"].as_str().unwrap().to_owned()
}

/// The line of a file that has this text.
fn line_of(file: &Path, text: &str) -> usize {
    let source = std::fs::read_to_string(file).unwrap();
    source.lines().position(|it| it.contains(text)).expect("that text") + 1
}

fn plant(file: &Path, right: &str, wrong: &str) {
    let source = std::fs::read_to_string(file).unwrap();
    assert!(source.contains(right), "`{right}` is not in {}", file.display());
    std::fs::write(file, source.replacen(right, wrong, 1)).unwrap();
}

fn copied(from: &Path) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("real");
    assert!(Command::new("cp").arg("-r").arg(from).arg(&path).status().unwrap().success());
    (folder, path)
}

/// A crate as the registry has it: one that this workspace is built with, so it is here.
fn registry_crate(name: &str) -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.expect("Cargo's folder").join("registry/src");
    let inside = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut crates = inside(sources).flat_map(|registry| inside(registry.path()));
    let is_it = |found: &std::fs::DirEntry| {
        let found = found.file_name().to_string_lossy().into_owned();
        found.strip_prefix(name).is_some_and(|it| it.starts_with("-0"))
    };
    crates.find(is_it).expect("a crate of that name").path()
}

#[test]
fn a_bug_in_a_crate_is_found_from_its_failing_test() {
    let (_folder, package) = copied(&registry_crate("strsim"));
    let manifest = package.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, format!("{text}\n[workspace]\n")).unwrap();
    let source = package.join("src/lib.rs");
    plant(&source, "usize::from(a_elem != b_elem)", "usize::from(a_elem == b_elem)");
    let mut debug = Debug::with_editor(BIN, &[]);
    let test = json!({
        "test": "src/lib.rs::tests::levenshtein_same", "cwd": package,
        "stop_on_entry": false, "timeout_s": 170,
    });
    // It fails: that is told where the test is, with what it says.
    let failed = debug.ok("debug_launch", test.clone());
    assert_eq!(failed.data["stop"]["reason"], "exception", "{failed:?}");
    failed.has(&["panic: assertion", "levenshtein_same"]);
    debug.ok("debug_stop", json!({}));
    // Where the distance is made: equal letters must cost nothing.
    let after = line_of(&source, "let distance_a = distance_b + cost;");
    debug.ok("breakpoint_set", json!({ "file": source, "line": after }));
    let said = debug.ok("debug_launch", test);
    said.stands("breakpoint", after).has(&["generic_levenshtein"]);
    assert_eq!(value(&mut debug, "i"), "0");
    assert_eq!(value(&mut debug, "j"), "0");
    let (one, other) = (value(&mut debug, "a_elem"), value(&mut debug, "b_elem"));
    assert_eq!(one, other);
    assert_eq!(
        value(&mut debug, "cost"),
        "1",
        "equal letters cost something: the line above is wrong"
    );
    debug.ok("debug_source", json!({})).has(&["usize::from(a_elem == b_elem)"]);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}

/// The source package as its maintainers released it; fetched once. `None` where there is no Debian.
fn debian_source(package: &str) -> Option<PathBuf> {
    let folder = Path::new(FOLDER).join("debian");
    let unpacked = folder.join(package);
    if unpacked.is_dir() {
        return Some(unpacked);
    }
    for inner in ["lists/partial", "cache/archives/partial"] {
        std::fs::create_dir_all(folder.join(inner)).unwrap();
    }
    let list = folder.join("sources.list");
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    // The machine's own mirror and release.
    let asked = ["indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"];
    let told = Command::new("apt-get").args(asked).output().ok()?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let is_main = |line: &&str| {
        line.split(' ').next().is_some_and(|it| it.trim_end_matches('/').ends_with("/debian"))
    };
    let Some(mirror) = told.lines().find(is_main) else {
        assert!(std::env::var_os("CI").is_none(), "no mirror of Debian is known here");
        return None;
    };
    std::fs::write(&list, format!("deb-src [signed-by={keys}] {mirror} main\n")).unwrap();
    let apt = |words: &[&str]| {
        let mut apt = Command::new("apt-get");
        let options = [
            format!("Dir::Etc::sourcelist={}", list.display()),
            "Dir::Etc::sourceparts=/dev/null".to_owned(),
            format!("Dir::State::lists={}", folder.join("lists").display()),
            format!("Dir::Cache={}", folder.join("cache").display()),
            "APT::Sandbox::User=root".to_owned(),
        ];
        apt.args(options.iter().flat_map(|it| ["-o", it]));
        apt.args(words).current_dir(&folder).output().is_ok_and(|it| it.status.success())
    };
    let fetched = apt(&["update"]) && apt(&["source", "--download-only", package]);
    let files = std::fs::read_dir(&folder).unwrap().flatten().map(|it| it.path());
    let is_source = |it: &PathBuf| it.to_string_lossy().contains(".orig.tar");
    let archive = files.into_iter().find(is_source).filter(|_| fetched);
    let Some(archive) = archive else {
        assert!(std::env::var_os("CI").is_none(), "no source package {package}");
        println!("no source package {package} here: nothing is debugged");
        return None;
    };
    let new = folder.join(format!("{package}.new-{}", std::process::id()));
    std::fs::create_dir_all(&new).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("xf").arg(archive).args(["--strip-components=1", "-C"]).arg(&new);
    assert!(tar.status().unwrap().success());
    // Another process may have been faster.
    if std::fs::rename(&new, &unpacked).is_err() {
        std::fs::remove_dir_all(&new).unwrap();
    }
    Some(unpacked)
}

#[test]
fn a_bug_in_a_source_of_debian_is_found_from_its_wrong_output() {
    let Some(source) = debian_source("cjson") else { return };
    let (_folder, project) = copied(&source);
    let file = project.join("cJSON.c");
    plant(&file, "(unsigned int) 10 + input[i] - 'a'", "(unsigned int) 11 + input[i] - 'a'");
    let program = "#include <stdio.h>\n#include \"cJSON.h\"\nint main(void) {\n  cJSON *text = \
                   cJSON_Parse(\"\\\"\\\\u00e9t\\\\u00e9\\\"\");\n  printf(\"%s\\n\", text->valuestring);\n  \
                   return 0;\n}\n";
    std::fs::write(project.join("summer.c"), program).unwrap();
    let rule = "summer: summer.c cJSON.c\n\tcc -g -O0 -o summer summer.c cJSON.c -lm\n";
    std::fs::write(project.join("Makefile"), rule).unwrap();
    let mut debug = Debug::with_editor(BIN, &[]);
    let launch = json!({ "command": "make summer", "cwd": project, "stop_on_entry": false, "timeout_s": 120 });
    // `été` is what was meant.
    debug.ok("debug_launch", launch.clone()).ended(json!({ "code": 0 })).has(&["ùtù"]);
    // The letters come from their numbers, and those from their digits.
    let returned = line_of(&file, "    return h;");
    debug.ok("breakpoint_set", json!({ "file": file, "line": returned }));
    debug.ok("debug_launch", launch.clone()).stands("breakpoint", returned).has(&["parse_hex4"]);
    assert_eq!(value(&mut debug, "h"), "249", "0x00e9 is 233: the digits are wrong");
    debug.ok("debug_stop", json!({}));
    debug.ok("breakpoint_remove", json!({ "file": file, "line": returned }));
    // Digit by digit.
    let digit = line_of(&file, "11 + input[i] - 'a'");
    debug.ok("breakpoint_set", json!({ "file": file, "line": digit }));
    debug.ok("debug_launch", launch).stands("breakpoint", digit);
    debug.ok("debug_evaluate", json!({ "expression": "input[i]" })).has(&["'e'"]);
    assert_eq!(value(&mut debug, "h"), "0");
    debug.ok("debug_step", json!({})).has(&["h = 0 → 15"]);
    debug.ok("debug_stop", json!({}));
    debug.nothing_is_left();
}
