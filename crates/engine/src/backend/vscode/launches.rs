//! The names of `launch.json`, which has comments and commas that JSON does not know. Pure, but for reading it.

use std::path::Path;

use serde_json::Value as Json;

use super::translate::text;
use crate::{
    failure::{Code, Failure},
    limits,
};

/// Fails with the names that there are, where this is none of them. Configurations may stand elsewhere too (a
/// workspace file, the user's settings): without a `launch.json` the editor decides.
pub(super) fn check(workspace: &Path, name: Option<&str>) -> Result<(), Failure> {
    let names = in_workspace(workspace);
    match (name, names) {
        (Some(name), Some(names)) if !names.iter().any(|it| it == name) => {
            Err(unknown(workspace, name, &names))
        }
        (Some(_), _) => Ok(()),
        (None, names) => {
            let names = names.unwrap_or_default();
            Err(Failure::new(Code::InvalidParams, "which configuration is not said")
                .hint(format!("pass `configuration`, one of: {}", listed(&names))))
        }
    }
}

pub(super) fn unknown(workspace: &Path, name: &str, names: &[String]) -> Failure {
    let text = format!("no configuration `{name}` in the editor at `{}`", workspace.display());
    Failure::new(Code::NotFound, text)
        .hint(format!("there are: {}", listed(names)))
        .details(serde_json::json!({ "configurations": names }))
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none; add one to `.vscode/launch.json`".to_owned(),
        names => names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", "),
    }
}

/// `None` where there is no file, or one that cannot be read.
pub(super) fn in_workspace(workspace: &Path) -> Option<Vec<String>> {
    let file = workspace.join(".vscode/launch.json");
    let is_small = file.metadata().is_ok_and(|it| it.len() <= limits::LAUNCH_FILE);
    let text = is_small.then(|| std::fs::read_to_string(&file).ok()).flatten()?;
    names(&text)
}

fn names(file: &str) -> Option<Vec<String>> {
    let file: Json = serde_json::from_str(&plain(file)).ok()?;
    let of = |list: &str| file.get(list).and_then(Json::as_array).cloned().unwrap_or_default();
    let all = of("configurations").into_iter().chain(of("compounds"));
    Some(all.filter_map(|it| text(&it, "name").map(str::to_owned)).collect())
}

/// JSON without comments, and without commas before a closing bracket.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(it) = rest.next() {
        match (it, rest.peek()) {
            ('"', _) => {
                plain.push('"');
                while let Some(it) = rest.next() {
                    plain.push(it);
                    match it {
                        '\\' => plain.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => while rest.next_if(|it| *it != '\n').is_some() {},
            ('/', Some('*')) => {
                rest.next();
                let mut last = ' ';
                for it in rest.by_ref() {
                    if (last, it) == ('*', '/') {
                        break;
                    }
                    last = it;
                }
            }
            (']' | '}', _) => {
                let kept = plain.trim_end();
                let kept = kept.strip_suffix(',').unwrap_or(kept).len();
                plain.truncate(kept);
                plain.push(it);
            }
            _ => plain.push(it),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_past_comments_and_loose_commas() {
        let file = r#"{
            // Use IntelliSense to learn about attributes. "name": "no"
            "version": "0.2.0",
            "configurations": [
                {"name": "Run // it", "type": "node", /* "name": "never" */ "url": "http://x/*y*/"},
                {"name": "Tests \"all\"", "type": "python",},
            ],
            "compounds": [{"name": "Both", "configurations": ["a"]}],
        }"#;
        assert_eq!(names(file).unwrap(), ["Run // it", "Tests \"all\"", "Both"]);
        assert_eq!(names("{"), None);
        assert_eq!(names("{}").unwrap(), [] as [&str; 0]);
    }
}
