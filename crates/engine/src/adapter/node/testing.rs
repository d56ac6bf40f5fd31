//! One test by its file and name, `cart.test.js::adds up`: with the runner that the file is written for.

use std::path::Path;

use super::command::in_project;

/// The command line that runs it.
pub(super) fn command(test: &str, cwd: &Path) -> Vec<String> {
    let (file, name) = test.split_once("::").map_or((test, None), |(file, it)| (file, Some(it)));
    // The names of suites are before it: each runner knows a test by its own name.
    let name = name.and_then(|it| it.rsplit("::").next()).filter(|it| !it.is_empty());
    let text = std::fs::read_to_string(cwd.join(file)).unwrap_or_default();
    let runner = match text.contains("node:test") {
        true => None,
        false => ["vitest", "jest", "mocha"].into_iter().find(|it| in_project(it, cwd).is_some()),
    };
    let words: Vec<String> = match (runner, name) {
        (Some("mocha"), Some(name)) => vec!["mocha".into(), file.into(), "-g".into(), plain(name)],
        (Some(runner), Some(name)) => vec![runner.into(), file.into(), "-t".into(), plain(name)],
        (Some(runner), None) => vec![runner.into(), file.into()],
        (None, Some(name)) => vec![
            "node".into(),
            "--test".into(),
            format!("--test-name-pattern={}", plain(name)),
            file.into(),
        ],
        (None, None) => vec!["node".into(), "--test".into(), file.into()],
    };
    words
}

/// A pattern that means this text only.
fn plain(text: &str) -> String {
    let mut pattern = String::new();
    for it in text.chars() {
        if "\\^$.|?*+()[]{}/".contains(it) {
            pattern.push('\\');
        }
        pattern.push(it);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_pattern_for_itself() {
        let words = command("a.test.js::cart::adds (1+1)", Path::new("/nowhere"));
        assert_eq!(words, ["node", "--test", "--test-name-pattern=adds \\(1\\+1\\)", "a.test.js"]);
        assert_eq!(command("a.test.js", Path::new("/nowhere")), ["node", "--test", "a.test.js"]);
    }
}
