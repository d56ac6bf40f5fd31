//! ARCHITECTURE.md is true: who knows whom, what is bounded, who owns which task, which files there are.
//! What no program can tell (facts go up by the log, answers report what was observed) is read by people.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use toml_edit::DocumentMut;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The files of what ships, without their tests.
fn sources() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let others =
                ["tests", "tests.rs", "testkit", "conformance", "conformance.rs", "build.rs"];
            let is_product = !others.contains(&name.as_str());
            if path.is_dir() && is_product {
                folders.push(path);
            } else if is_product && path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let text = text
                    .split("\n#[cfg(test)]\n")
                    .next()
                    .unwrap()
                    .split("\n#[cfg(all(test")
                    .next()
                    .unwrap();
                let place = path.strip_prefix(root()).unwrap().to_str().unwrap();
                all.push((place.to_owned(), text.to_owned()));
            }
        }
    }
    assert!(all.len() > 200, "{} files", all.len());
    all
}

/// Their lines with their places, but no comments.
fn lines() -> Vec<(String, String)> {
    let code = |line: &str| !line.trim().starts_with("//");
    let numbered = |(place, text): (String, String)| {
        let lines = text.lines().enumerate().filter(|(_, line)| code(line));
        let placed =
            |(at, line): (usize, &str)| (format!("{place}:{}", at + 1), line.trim().to_owned());
        lines.map(placed).collect::<Vec<_>>()
    };
    sources().into_iter().flat_map(numbered).collect()
}

#[track_caller]
fn none(what: &str, is_wrong: impl Fn(&str, &str) -> bool) {
    let wrong: Vec<String> = lines()
        .into_iter()
        .filter(|(place, line)| is_wrong(place, line))
        .map(|(place, line)| format!("{place}: {line}"))
        .collect();
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

/// The table of crates: what each must not know, as dependencies.
const MUST_NOT: &[(&str, &[&str])] = &[
    ("loopback", &["holdpoint-", "rmcp", "axum", "hyper", "rusqlite"]),
    ("bridge", &["holdpoint-", "rmcp", "axum", "hyper", "rusqlite", "schemars"]),
    ("dap", &["holdpoint-engine", "holdpoint-store", "holdpoint-cdp", "rmcp", "axum", "rusqlite"]),
    ("cdp", &["holdpoint-engine", "holdpoint-store", "holdpoint-dap", "rmcp", "axum", "rusqlite"]),
    ("jdwp", &["holdpoint-", "rmcp", "axum", "hyper", "rusqlite", "serde"]),
    ("sdb", &["holdpoint-", "rmcp", "axum", "hyper", "rusqlite"]),
    ("pickle", &["holdpoint-", "tokio", "rmcp", "axum", "rusqlite"]),
    ("metadata", &["holdpoint-", "tokio", "serde", "serde_json", "rmcp", "axum", "rusqlite"]),
    ("recording", &["holdpoint-", "tokio", "rmcp", "axum", "rusqlite"]),
    ("store", &["holdpoint-engine", "holdpoint-dap", "holdpoint-cdp", "rmcp", "axum", "hyper"]),
    ("engine", &["rmcp", "axum", "hyper", "utoipa", "schemars", "clap", "rusqlite"]),
    ("testkit", &["holdpoint-engine", "rmcp", "axum"]),
    ("instrument", &["holdpoint-", "tokio", "rmcp", "axum", "rusqlite"]),
];

#[test]
fn crates_know_only_what_they_may() {
    for (name, unknown) in MUST_NOT {
        let file = root().join("crates").join(name).join("Cargo.toml");
        let manifest: DocumentMut = fs::read_to_string(file).unwrap().parse().unwrap();
        let known = manifest["dependencies"].as_table_like().unwrap();
        for (dependency, _) in known.iter() {
            let is_known = unknown.iter().any(|it| match it.strip_suffix('-') {
                Some(family) => dependency.starts_with(family),
                None => dependency == *it,
            });
            assert!(!is_known, "{name} must not know {dependency}");
        }
    }
    let listed: BTreeSet<&str> =
        MUST_NOT.iter().map(|(name, _)| *name).chain(["holdpoint"]).collect();
    let crates = fs::read_dir(root().join("crates")).unwrap();
    for entry in crates {
        let name = entry.unwrap().file_name();
        assert!(listed.contains(name.to_str().unwrap()), "{name:?} is not in the table");
    }
}

/// A number in the middle of the code is no bound that anybody can find.
fn has_number(text: &str) -> bool {
    let argument = text.split(')').next().unwrap_or_default().trim();
    argument.starts_with(|it: char| it.is_ascii_digit())
}

#[test]
fn every_queue_and_every_wait_has_a_named_bound() {
    none("queues without end", |_, line| line.contains("unbounded_channel"));
    none("queues with a bound that has no name", |_, line| {
        let begin = line.split_once("mpsc::channel").and_then(|(_, rest)| rest.split_once('('));
        begin.is_some_and(|(_, bound)| has_number(bound))
    });
    none("waits with a time that has no name", |place, line| {
        let times = ["Duration::from_secs(", "Duration::from_millis(", "Duration::from_micros("];
        let has_name = line.contains("const ") || place.contains("/limits");
        !has_name && times.iter().any(|it| line.split(it).skip(1).any(has_number))
    });
}

/// What a language's debugger and runners of tests are called and say stands in its adapter's room.
#[test]
fn the_binary_knows_no_language() {
    let words = ["pytest", "unittest", "debugpy", "pydevd", "jest", "mocha", "node_modules"];
    none("facts of a language in the binary", |place, line| {
        place.starts_with("crates/holdpoint/") && words.iter().any(|it| line.contains(it))
    });
}

/// Held by whoever awaits or aborts it; or the comment above says by what it ends.
#[test]
fn every_task_has_an_owner_or_says_how_it_ends() {
    let mut wrong = Vec::new();
    for (place, text) in sources() {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            let above = lines.get(at.saturating_sub(8)..at).unwrap_or_default();
            let comment = above.iter().filter(|it| it.starts_with("//")).copied();
            let says = comment.collect::<String>().to_lowercase();
            let ends = ["ends with", "ends when", "ends as", "ended by", "to its end", "within"];
            if line.starts_with("tokio::spawn(") && !ends.iter().any(|it| says.contains(it)) {
                wrong.push(format!("{place}:{}: {line}", at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "tasks that nobody holds:\n{}", wrong.join("\n"));
}

#[test]
fn stdout_has_one_door() {
    let manifest: DocumentMut =
        fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let lints = &manifest["workspace"]["lints"]["clippy"];
    for lint in ["print_stdout", "print_stderr", "unwrap_used", "panic", "await_holding_lock"] {
        assert_eq!(lints[lint].as_str(), Some("deny"), "{lint}");
    }
    none("ways around the lint", |place, line| {
        line.contains("clippy::print_stdout") && !place.ends_with("out.rs")
            || line.contains("io::stdout()")
                && !["out.rs", "stdio", "/cmd/"].iter().any(|it| place.contains(it))
    });
    // A write there may fail, or wait for ever.
    none("ways to stderr beside the one that cannot matter", |place, line| {
        ["io::stderr", "eprint", "get_matches()"].iter().any(|it| line.contains(it))
            && !line.contains("try_get_matches")
            && !place.contains("src/stderr.rs")
    });
}

/// Names of types that two files may share, and why a reader is not misled.
const SHARED: &[(&str, &str)] = &[
    ("Params", "each tool's own, said with the tool"),
    ("Requester", "what asks a debugger, one per protocol"),
    ("Inbox", "what a debugger says by itself, one per protocol"),
    ("Incoming", "one thing of an inbox, one per protocol"),
    ("Setup", "how a backend is opened, one per protocol"),
    ("Limits", "the bounds of a library that takes them from its caller"),
    ("Value", "what a variable holds, and what a pickle does: a value, read in two ways"),
    ("Call", "of a tool at the boundary, of an app in the engine: each contract's word"),
    ("Scope", "of variables, as debuggers say; of a tool, its precondition"),
    ("Place", "where a breakpoint is, and one of the server's `Places`"),
];

/// The types of one file that others can see: name, and whether other crates can.
fn types(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().filter_map(|line| {
        let (before, rest) = line.split_once(' ')?;
        let is_public = before == "pub";
        let rest = match before {
            "pub" | "pub(crate)" => rest,
            "pub(in" => rest.split_once(' ')?.1,
            _ => return None,
        };
        let (what, rest) = rest.split_once(' ')?;
        let name = rest.split(|it: char| !it.is_alphanumeric()).next()?;
        ["struct", "enum", "trait", "type"].contains(&what).then_some((name, is_public))
    })
}

/// The type that gives a tool or a command its name: its path says which.
fn is_own_name(place: &str, name: &str) -> bool {
    let stem = place.rsplit('/').next().unwrap().trim_end_matches(".rs").replace('_', "");
    ["/src/tools/", "/src/cmd/"].iter().any(|it| place.contains(it)) && stem == name.to_lowercase()
}

/// The words of a debuggers' protocol are the protocol's.
fn is_protocol(place: &str) -> bool {
    [
        "dap/src/types",
        "cdp/src/types",
        "jdwp/src/types",
        "sdb/src/event.rs",
        "dap/src/event.rs",
        "dap/src/request.rs",
    ]
    .iter()
    .any(|it| place.starts_with(&format!("crates/{it}")))
}

/// One word, one thing: a name that more than one file can say is defined in one place.
#[test]
fn a_type_s_name_is_defined_once() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (place, text) in sources() {
        let of = place.split('/').nth(1).unwrap();
        let is_leaf = !["engine", "holdpoint"].contains(&of);
        for (name, is_public) in types(&text) {
            if is_own_name(&place, name) || is_protocol(&place) {
                continue;
            }
            // What a library keeps to itself meets nobody else's.
            let key = if is_leaf && !is_public { format!("{of}::{name}") } else { name.to_owned() };
            places.entry(key).or_default().insert(place.clone());
        }
    }
    assert!(places.len() > 300, "{} types", places.len());
    let is_shared = |name: &str| SHARED.iter().any(|(shared, _)| *shared == name);
    let twice: Vec<_> =
        places.iter().filter(|(name, it)| it.len() > 1 && !is_shared(name)).collect();
    assert!(twice.is_empty(), "one name, several types:\n{twice:#?}");
    for (name, _) in SHARED {
        assert!(places.get(*name).is_some_and(|it| it.len() > 1), "`{name}` is no exception");
    }
}

/// `session/{state,actor}.rs` is two files.
fn expanded(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((inner, after)) = rest.split_once('}') else { return vec![path.to_owned()] };
    inner.split(',').flat_map(|it| expanded(&format!("{before}{it}{after}"))).collect()
}

#[test]
fn every_file_that_the_map_names_is_there() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let map = text.split("```").nth(1).unwrap();
    let mut folder = root();
    let (mut seen, mut missing) = (0, Vec::new());
    for line in map.lines().filter(|it| !it.trim().is_empty()) {
        let is_base = !line.starts_with(' ');
        let (names, _) = line.trim_start().split_once("  ").unwrap_or((line.trim(), ""));
        if is_base {
            folder = root().join(names.split(' ').next().unwrap());
        }
        // A line that goes on, or names a pattern.
        let has_pattern = names.contains(['…', '<', '(', ':', ';']) || names.ends_with('}');
        if line.starts_with("     ") || has_pattern {
            continue;
        }
        let base = if is_base { root() } else { folder.clone() };
        for name in names.split(' ').flat_map(expanded).filter(|it| it.contains(['.', '/'])) {
            seen += 1;
            if !base.join(&name).exists() {
                missing.push(format!("{name} in `{line}`"));
            }
        }
    }
    assert!(missing.is_empty(), "not there:\n{}", missing.join("\n"));
    assert!(seen > 80, "only {seen} names were understood");
}
