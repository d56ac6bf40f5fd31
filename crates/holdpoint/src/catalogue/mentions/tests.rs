//! Every name of a tool that we write somewhere, under every toolset.

use std::path::Path;

use super::*;
use crate::{
    catalogue::Catalogue,
    tools::{TOOLS, TOOLSETS},
};

fn under(toolset: &str) -> Mentions {
    Catalogue::ours(&[toolset.to_owned()]).unwrap().mentions
}

#[track_caller]
fn check(toolset: &str, text: &str, told: &str) {
    assert_eq!(under(toolset).answer(text.to_owned()), told);
}

#[test]
fn a_hint_keeps_the_steps_that_can_be_taken() {
    let hint = "Running\nhint: `debug_wait` waits for the next stop, `debug_pause` stops it now";
    check("slim", hint, "Running\nhint: `debug_wait` waits for the next stop");
    check(
        "agent",
        hint,
        "Running\nhint: `debug_wait` waits for the next stop, \
         `more_tools {\"name\": \"debug_pause\"}` stops it now",
    );
    check("all", hint, hint);
    let once = under("agent").answer(hint.to_owned());
    check("agent", &once, &once);
    check("slim", "hint: `debug_threads` lists them", &format!("hint: {ELSEWHERE}"));
}

#[test]
fn a_twin_says_the_same() {
    check("agent", "hint: `debug_breakpoint` sets one", "hint: `breakpoint_set` sets one");
    check("app", "hint: `debug_wait` waits", "hint: `breakpoint_wait` waits");
}

#[test]
fn a_call_is_made_through_the_tool_that_is_there() {
    check(
        "agent",
        "… 5 more: debug_source {\"lines\": \"1-9\", \"frame\": 2}",
        "… 5 more: more_tools {\"name\": \"debug_source\", \"arguments\": {\"lines\": \"1-9\", \"frame\": 2}}",
    );
    check("slim", "  … 5 more: debug_variables", "  … 5 more: a tool of --toolset agent");
}

/// Somebody may debug a program that speaks of our tools.
#[test]
fn a_programs_own_text_stays() {
    for own in [
        "  12 | debug_threads(x)",
        ">>> 12 | call: debug_threads `debug_threads`",
        "name: str = 'debug_threads'",
        "--- Program output ---\nsee: debug_threads\nuse `debug_threads`",
    ] {
        check("slim", own, own);
        check("agent", own, own);
    }
}

#[test]
fn a_description_leaves_out_what_is_not_there() {
    let about = "Keep the variables. See with `debug_diff` what changed; `debug_stop` ends it.";
    assert_eq!(under("slim").description(about), "Keep the variables. `debug_stop` ends it.");
}

/// Hints and answers are put together from our literals: whichever names a tool does so in a way that is
/// recognised on the way out.
#[test]
fn every_literal_of_ours_that_names_a_tool_is_recognised() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut literals = Vec::new();
    for folder in ["engine/src", "holdpoint/src"] {
        collect(&crates.join(folder), &mut literals);
    }
    let all = Mentions { missing: TOOLS.iter().map(|it| it.key()).collect(), has_more: false };
    let naming: Vec<&(String, String)> =
        literals.iter().filter(|(_, it)| all.find(it).is_some()).collect();
    assert!(naming.len() > 50, "only {} literals were found", naming.len());
    for set in TOOLSETS {
        let mentions = under(set.name);
        for (file, literal) in &naming {
            let told = mentions.answer(literal.clone());
            let hinted = mentions.hint(literal);
            let is_hint = !set.tools.contains(&MORE.name()) && mentions.find(&hinted).is_none();
            assert!(
                mentions.find(&told).is_none() || is_hint,
                "{file}: under `{}` this names a tool that is not there:\n{told}",
                set.name
            );
        }
    }
}

fn collect(folder: &Path, literals: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Where the checkout lies says nothing about a file in it.
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let name = path.strip_prefix(crates).unwrap().display().to_string();
        let is_ours = ![
            "/demo",
            "/conformance",
            "/page",
            "tests",
            "/catalogue",
            "tools.rs",
            "setup",
            "docs.rs",
        ]
        .iter()
        .any(|part| name.contains(part));
        if path.is_dir() && is_ours {
            collect(&path, literals);
        } else if name.ends_with(".rs") && is_ours {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
            literals.extend(strings(&text).into_iter().map(|it| (name.clone(), it)));
        }
    }
}

/// The string literals of Rust source, roughly: comments are left out, `{{` is one brace, and names of
/// tools (`const NAME`) and descriptions (`const ABOUT`) are looked at elsewhere.
fn strings(source: &str) -> Vec<String> {
    let code: Vec<&str> =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    let mut rest = code.as_str();
    while let Some(at) = rest.find('"') {
        let (before, after) = rest.split_at(at);
        let text = after.strip_prefix('"').unwrap_or_default();
        let mut is_escaped = false;
        let end = text.find(|letter| {
            let is_end = letter == '"' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_end
        });
        let (literal, after) = text.split_at(end.unwrap_or(text.len()));
        let line = before.rsplit(';').next().unwrap_or_default();
        let is_elsewhere =
            ["const NAME", "const ABOUT", "starts_with"].iter().any(|it| line.contains(it));
        if !before.ends_with('\'') && !is_elsewhere {
            let joined = literal.split("\\\n").map(str::trim_start).collect::<String>();
            found.push(joined.replace("\\\"", "\"").replace("{{", "{").replace("}}", "}"));
        }
        rest = after.strip_prefix('"').unwrap_or_default();
    }
    found
}
