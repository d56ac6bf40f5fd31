//! lldb-dap: how it is asked for a program, and what it is told before: the program's pipes, where its own code
//! begins, how values are shown, what steps do not enter.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{build::Built, kind::NativeLanguage, pipes::NamedPipes};
use crate::{adapter::provided, launch::Launch};

/// How values are shown, in lldb's own Python.
const VALUES: &str = include_str!("values.py");
/// Where breakpoints lie, in the same.
const POINTS: &str = include_str!("points.py");

/// Functions of the languages' own libraries: `std::vec::Vec::push`, `<alloc::string::String as core::…>::from`.
const LIBRARIES: &str = r"^(std|core|alloc|__gnu_cxx|__cxxabiv1)::|^<.*(std|core|alloc)::";

/// The arguments of `launch`.
pub(super) fn launch(
    built: &Built,
    launch: &Launch,
    pipes: &NamedPipes,
    values: Option<&Path>,
) -> Value {
    let env: Vec<String> =
        built.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut before = settings(built.kind, launch.just_my_code, values);
    for (setting, pipe) in [("input", "stdin"), ("output", "stdout"), ("error", "stderr")] {
        let path = quoted(&pipes.path(pipe).display().to_string());
        before.push(format!("settings set target.{setting}-path {path}"));
    }
    json!({
        "program": built.program,
        "args": built.args,
        "cwd": built.cwd,
        "env": env,
        "stopOnEntry": false,
        "disableASLR": true,
        "initCommands": before,
        "preRunCommands": if launch.stop_on_entry { entry(built) } else { Vec::new() },
        "enableAutoVariableSummaries": true,
    })
}

/// What holds for programs that run already, too.
pub(super) fn settings(
    kind: NativeLanguage,
    just_my_code: bool,
    values: Option<&Path>,
) -> Vec<String> {
    let mut all = vec!["settings set symbols.enable-external-lookup false".to_owned()];
    // Taken as it stands, quotes and all: the second one means no function.
    let avoided = if just_my_code { LIBRARIES } else { "^$" };
    all.push(format!("settings set target.process.thread.step-avoid-regexp {avoided}"));
    // Another program in the place of this one is no stop of the user's.
    all.push("settings set target.process.stop-on-exec false".to_owned());
    if kind == NativeLanguage::Rust {
        all.push("type format add --format unsigned \"unsigned char\"".to_owned());
        // Of what it does not know it makes Objective-C, where `id` and `in` are no names of variables.
        all.push("settings set target.language c++14".to_owned());
        all.push("type format add --format decimal char \"signed char\"".to_owned());
    }
    if let Some(values) = values {
        all.push(format!("command script import {}", quoted(&values.display().to_string())));
        // Its references are pointers there, and one to a number is that number.
        if kind == NativeLanguage::Rust {
            let ours =
                "-F holdpoint_values.referred --recognizer-function holdpoint_values.is_pointer";
            all.push(format!("type summary add -w holdpoint -e {ours}"));
            let points = values.with_file_name("holdpoint_points.py");
            all.push(format!("command script import {}", quoted(&points.display().to_string())));
        }
    }
    all
}

/// Where the user's own code begins: in a program of Rust the first `main` is the runtime's.
fn entry(built: &Built) -> Vec<String> {
    let hash = "(::h[0-9a-f]{16})?$";
    if let Some(test) = &built.test {
        let exact: String = test.chars().flat_map(escaped).collect();
        return vec![format!("breakpoint set -o true -r '^{exact}{hash}'")];
    }
    let of_rust = format!("breakpoint set -o true -r '^[A-Za-z_][A-Za-z0-9_]*::main{hash}'");
    let of_c = "breakpoint set -o true -n main".to_owned();
    if built.kind == NativeLanguage::Rust { vec![of_rust] } else { vec![of_c] }
}

fn escaped(one: char) -> Vec<char> {
    if one.is_alphanumeric() || one == '_' || one == ':' { vec![one] } else { vec!['\\', one] }
}

/// A word of lldb's command line.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Our file about values, with the one about breakpoints beside it; `None` where nothing can be written, and values are shown as lldb does by itself.
pub(super) fn values(home: &Path) -> Option<PathBuf> {
    let written = provided::below(home, |home| {
        let file = home.join("lldb").join("holdpoint_values.py");
        provided::write_once(&file, VALUES)?;
        provided::write_once(&file.with_file_name("holdpoint_points.py"), POINTS)?;
        Ok(file)
    });
    written.inspect_err(|error| tracing::debug!(%error, "values are shown by lldb alone")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(quoted("/a b/\"c\""), "\"/a b/\\\"c\\\"\"");
        let exact: String = "a::b<c>".chars().flat_map(escaped).collect();
        assert_eq!(exact, "a::b\\<c\\>");
    }
}
