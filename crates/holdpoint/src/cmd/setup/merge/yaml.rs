//! Our server in a YAML file, changed line by line.
//!
//! There is no writer for YAML that keeps comments and layout, and to parse a file only to write it anew
//! would lose both. So this knows block mappings as people and programs write configurations, and
//! nothing else: whatever it is not certain of (anchors, flow mappings over several lines, tabs, several
//! documents) it refuses, and the file stays as it is.

use serde_json::Value;

use super::{Field, Merged, REMOTE_KEYS, Registration, SERVER, ServerEntry, Unmerged};

/// How far an entry is set in where the file does not show it.
const STEP: usize = 2;

pub(super) fn merge(text: &str, key: &str, entry: &ServerEntry<'_>) -> Result<Merged, Unmerged> {
    let page = Page::read(text)?;
    let Some(servers) = page.find(0..page.lines.len(), 0, key)? else {
        return Ok(Merged::Added(page.with_key(key, entry)));
    };
    page.expect_block(&servers, key, true)?;
    let inner = page.inner(&servers).unwrap_or(servers.indent + STEP);
    let path = format!("{key}.{SERVER}");
    let Some(existing) = page.find(servers.body.clone(), inner, SERVER)? else {
        return Ok(Merged::Added(page.with_entry(&servers, inner, entry)));
    };
    page.expect_block(&existing, &path, false)?;
    Ok(match page.update(&existing, &path, entry)? {
        Some(text) => Merged::Updated(text),
        None => Merged::UpToDate,
    })
}

pub(super) fn look(text: &str, key: &str, fields: &[Field]) -> Result<Registration, Unmerged> {
    let page = Page::read(text)?;
    let Some(servers) = page.find(0..page.lines.len(), 0, key)? else {
        return Ok(Registration::Absent);
    };
    let inner = page.inner(&servers).unwrap_or(servers.indent + STEP);
    let Some(existing) = page.find(servers.body, inner, SERVER)? else {
        return Ok(Registration::Absent);
    };
    let Some(inner) = page.inner(&existing) else { return Ok(Registration::OtherWay) };
    for field in fields {
        if let Some(found) = page.find(existing.body.clone(), inner, field.name)?
            && let Some(command) = page.value(&found).and_then(|value| field.command(&value))
        {
            return Ok(Registration::Command(command));
        }
    }
    Ok(Registration::OtherWay)
}

/// A file, line by line, without line endings.
struct Page<'a> {
    lines: Vec<&'a str>,
    newline: &'static str,
    ends_with_newline: bool,
}

/// A key of a block mapping: where it stands, and the lines that belong to it.
#[derive(Clone)]
struct Place {
    line: usize,
    indent: usize,
    body: std::ops::Range<usize>,
}

impl<'a> Page<'a> {
    fn read(text: &'a str) -> Result<Page<'a>, Unmerged> {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in (1..).zip(&lines) {
            let (indent, rest) = split_indent(line);
            if rest.starts_with('\t') {
                return Err(Unmerged::syntax("YAML", "a tab before the text", number, indent + 1));
            }
            if line.starts_with("---") && number > 1 || line.starts_with("...") {
                return Err(Unmerged::beyond_us(number, "the end of a document"));
            }
        }
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let ends_with_newline = text.is_empty() || text.ends_with('\n');
        Ok(Page { lines, newline, ends_with_newline })
    }

    /// The key at exactly this depth. Deeper lines are other keys' bodies, whatever they look like.
    fn find(
        &self,
        among: std::ops::Range<usize>,
        indent: usize,
        key: &str,
    ) -> Result<Option<Place>, Unmerged> {
        let mut found = None;
        for line in among.clone() {
            let (depth, rest) = split_indent(self.line(line));
            if depth != indent || is_blank(rest) || !names(rest, key) {
                continue;
            }
            if found.is_some() {
                return Err(Unmerged::beyond_us(line + 1, &format!("`{key}` a second time")));
            }
            found = Some(Place { line, indent, body: self.body(line, indent, among.end) });
        }
        Ok(found)
    }

    /// The lines after a key that are set in deeper, and a list, which may stand at the key's own depth.
    fn body(&self, line: usize, indent: usize, end: usize) -> std::ops::Range<usize> {
        let belongs = |at: &usize| {
            let (depth, rest) = split_indent(self.line(*at));
            let is_item = rest == "-" || rest.starts_with("- ");
            is_blank(rest) || depth > indent || (depth == indent && is_item)
        };
        let mut last = line + 1;
        for at in (line + 1..end).take_while(belongs) {
            // What is blank before the next key belongs to nobody, or to that.
            if !is_blank(split_indent(self.line(at)).1) {
                last = at + 1;
            }
        }
        line + 1..last
    }

    /// How far the keys inside are set in.
    fn inner(&self, place: &Place) -> Option<usize> {
        let inside = place.body.clone().map(|at| split_indent(self.line(at)));
        inside.filter(|(_, rest)| !is_blank(rest)).map(|(depth, _)| depth).next()
    }

    /// A mapping written as a block; an empty one may also be written as nothing or `{}`.
    fn expect_block(&self, place: &Place, path: &str, may_be_empty: bool) -> Result<(), Unmerged> {
        let behind = self.behind(place);
        let number = place.line + 1;
        let is_block = self.inner(place).is_some();
        let is_list = is_block
            && place.body.clone().any(|at| split_indent(self.line(at)).1.starts_with('-'))
            && self.inner(place) == Some(place.indent);
        match behind {
            "" if is_list => Err(Unmerged::wrong_type(path, "a mapping", "a list")),
            "" if is_block || may_be_empty => Ok(()),
            "{}" if may_be_empty && !is_block => Ok(()),
            "" => Err(Unmerged::wrong_type(path, "a mapping", "empty")),
            text if text.starts_with('{') => {
                Err(Unmerged::beyond_us(number, "a mapping in braces"))
            }
            text if text.starts_with(['&', '*', '!', '|', '>', '[']) => {
                Err(Unmerged::beyond_us(number, &format!("`{path}` in a form of its own")))
            }
            _ => Err(Unmerged::wrong_type(path, "a mapping", "a single value")),
        }
    }

    /// What stands behind the colon, without a comment.
    fn behind(&self, place: &Place) -> &'a str {
        let text = self.line(place.line).split_once(':').map_or("", |(_, text)| text);
        without_comment(text).trim()
    }

    /// The value of a key, where it is a plain one or a list of such.
    fn value(&self, place: &Place) -> Option<Value> {
        let behind = self.behind(place);
        if let Some(inside) = behind.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
            return items.map(scalar).collect::<Option<Vec<_>>>().map(Value::Array);
        }
        if !behind.is_empty() {
            return scalar(behind);
        }
        let lines = place.body.clone().map(|at| split_indent(self.line(at)).1);
        let items = lines
            .filter(|rest| !is_blank(rest))
            .map(|rest| scalar(without_comment(rest.strip_prefix('-')?).trim()));
        items.collect::<Option<Vec<_>>>().map(Value::Array)
    }

    fn update(
        &self,
        existing: &Place,
        path: &str,
        entry: &ServerEntry<'_>,
    ) -> Result<Option<String>, Unmerged> {
        let inner = self.inner(existing).unwrap_or(existing.indent + STEP);
        for remote in REMOTE_KEYS {
            if self.find(existing.body.clone(), inner, remote)?.is_some() {
                return Err(Unmerged::remote(path, remote));
            }
        }
        let mut lines: Vec<String> = self.lines.iter().map(|&line| line.to_owned()).collect();
        let mut added = Vec::new();
        let mut changed = Vec::new();
        for field in entry.fields {
            let found = self.find(existing.body.clone(), inner, field.name)?;
            let value = found.as_ref().and_then(|place| self.value(place));
            match (found, field.mended(entry, value.as_ref())) {
                (_, None) => {}
                (None, Some(value)) => added.push(written(inner, field.name, &value)),
                (Some(place), Some(value)) => {
                    changed.push((place, written(inner, field.name, &value)))
                }
            }
        }
        if added.is_empty() && changed.is_empty() {
            return Ok(None);
        }
        // From the end, so that the places before stay true.
        lines.splice(existing.body.end..existing.body.end, added);
        changed.sort_by_key(|(place, _)| std::cmp::Reverse(place.line));
        for (place, line) in changed {
            let comment = comment_of(self.line(place.line));
            lines.splice(place.line..place.body.end.max(place.line + 1), [line + &comment]);
        }
        Ok(Some(self.joined(&lines)))
    }

    fn with_key(&self, key: &str, entry: &ServerEntry<'_>) -> String {
        let mut lines: Vec<String> = self.lines.iter().map(|&line| line.to_owned()).collect();
        lines.push(format!("{key}:"));
        lines.extend(block(STEP, entry));
        self.joined(&lines)
    }

    fn with_entry(&self, servers: &Place, inner: usize, entry: &ServerEntry<'_>) -> String {
        let mut lines: Vec<String> = self.lines.iter().map(|&line| line.to_owned()).collect();
        lines.splice(servers.body.end..servers.body.end, block(inner, entry));
        if self.behind(servers) == "{}"
            && let Some(line) = lines.get_mut(servers.line)
        {
            *line = line.replacen(" {}", "", 1);
        }
        self.joined(&lines)
    }

    fn joined(&self, lines: &[String]) -> String {
        let text = lines.join(self.newline);
        // A last line without an ending gets one only when it is ours, which ends like every other.
        let is_ours = lines.last().map(String::as_str) != self.lines.last().copied();
        if self.ends_with_newline || is_ours { text + self.newline } else { text }
    }

    fn line(&self, at: usize) -> &'a str {
        self.lines.get(at).copied().unwrap_or_default()
    }
}

fn split_indent(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len(), rest.trim_end())
}

fn is_blank(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('#') || rest == "---"
}

/// Whether a line begins with this key, bare or quoted.
fn names(rest: &str, key: &str) -> bool {
    let quoted = [format!("\"{key}\""), format!("'{key}'")];
    let after = std::iter::once(key).chain(quoted.iter().map(String::as_str));
    after.filter_map(|key| rest.strip_prefix(key)).any(|after| {
        after.strip_prefix(':').is_some_and(|text| text.is_empty() || text.starts_with([' ', '\t']))
    })
}

/// A comment begins with `#` after a space, outside of quotes.
fn without_comment(text: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return text.get(..at).unwrap_or(text),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c && before != '\\' => quote = None,
            _ => {}
        }
        before = c;
    }
    text
}

fn comment_of(line: &str) -> String {
    let kept = without_comment(line);
    line.get(kept.len()..)
        .filter(|it| !it.is_empty())
        .map(|it| format!(" {it}"))
        .unwrap_or_default()
}

fn scalar(text: &str) -> Option<Value> {
    if text.starts_with('"') {
        return serde_json::from_str(text).ok();
    }
    if let Some(inside) = text.strip_prefix('\'') {
        return Some(inside.strip_suffix('\'')?.replace("''", "'").into());
    }
    if text.is_empty() || text.starts_with(['&', '*', '!', '|', '>', '{', '[']) {
        return None;
    }
    match serde_json::from_str(text) {
        Ok(value @ (Value::Bool(_) | Value::Number(_))) => Some(value),
        _ => Some(text.into()),
    }
}

fn block(indent: usize, entry: &ServerEntry<'_>) -> Vec<String> {
    let head = format!("{}{SERVER}:", " ".repeat(indent));
    let field = |it: &Field| written(indent + STEP, it.name, &it.wanted(entry));
    std::iter::once(head).chain(entry.fields.iter().map(field)).collect()
}

/// JSON's scalars and lists are YAML's; plain words stay plain.
fn written(indent: usize, name: &str, value: &Value) -> String {
    let plain = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
    };
    let value = match value {
        Value::String(text) if plain(text) && scalar(text) == Some(value.clone()) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    };
    format!("{}{name}: {value}", " ".repeat(indent))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::tests::transcript;
    use super::super::{FileFormat, Is};
    use super::*;

    const FIELDS: &[Field] = &[
        Field { name: "type", is: Is::Word("stdio") },
        Field { name: "cmd", is: Is::Command },
        Field { name: "args", is: Is::Arguments },
        Field { name: "timeout", is: Is::Patience(600) },
    ];
    const ENTRY: ServerEntry<'_> =
        ServerEntry { command: "/bin/holdpoint", also: None, fields: FIELDS };

    #[track_caller]
    fn check(before: &str, expected: Expect) {
        expected.assert_eq(&transcript(FileFormat::Yaml, before, "extensions", &ENTRY));
    }

    #[test]
    fn an_empty_file_and_one_without_the_key_get_it() {
        check(
            "",
            expect![[r#"
            added
            extensions:
              holdpoint:
                type: stdio
                cmd: /bin/holdpoint
                args: ["mcp", "--toolset", "agent"]
                timeout: 600
        "#]],
        );
        check(
            "# Mine.\nGOOSE_MODEL: x # the good one\n",
            expect![[r#"
            added
            # Mine.
            GOOSE_MODEL: x # the good one
            extensions:
              holdpoint:
                type: stdio
                cmd: /bin/holdpoint
                args: ["mcp", "--toolset", "agent"]
                timeout: 600
        "#]],
        );
        check(
            "extensions: {} # none yet\nGOOSE_MODEL: x\n",
            expect![[r#"
            added
            extensions: # none yet
              holdpoint:
                type: stdio
                cmd: /bin/holdpoint
                args: ["mcp", "--toolset", "agent"]
                timeout: 600
            GOOSE_MODEL: x
        "#]],
        );
        check(
            "extensions:\nGOOSE_MODEL: x",
            expect![[r#"
            added
            extensions:
              holdpoint:
                type: stdio
                cmd: /bin/holdpoint
                args: ["mcp", "--toolset", "agent"]
                timeout: 600
            GOOSE_MODEL: x"#]],
        );
    }

    #[test]
    fn comments_other_servers_and_layout_stay() {
        check(
            "GOOSE_MODEL: x\nextensions:\n    # Files.\n    files:\n        type: stdio\n        args:\n        - --root\n        - .\n\n    # the end\n\nGOOSE_MODE: auto # why\n",
            expect![[r#"
                added
                GOOSE_MODEL: x
                extensions:
                    # Files.
                    files:
                        type: stdio
                        args:
                        - --root
                        - .
                    holdpoint:
                      type: stdio
                      cmd: /bin/holdpoint
                      args: ["mcp", "--toolset", "agent"]
                      timeout: 600

                    # the end

                GOOSE_MODE: auto # why
            "#]],
        );
    }

    #[test]
    fn an_older_entry_is_updated_and_its_other_settings_stay() {
        check(
            "extensions:\n  holdpoint:\n    type: stdio\n    cmd: /old/holdpoint # moved\n    args:\n    - serve\n    timeout: 5\n    envs:\n      A: b\n  files:\n    type: stdio\n",
            expect![[r#"
                updated
                extensions:
                  holdpoint:
                    type: stdio
                    cmd: /bin/holdpoint # moved
                    args: ["mcp", "--toolset", "agent"]
                    timeout: 5
                    envs:
                      A: b
                  files:
                    type: stdio
            "#]],
        );
        check(
            "extensions:\n  holdpoint:\n    type: stdio\n    cmd: \"/bin/holdpoint\"\n    args: [mcp, '--toolset', \"slim\"]\n    timeout: 5\n",
            expect!["up to date"],
        );
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        check(
            "extensions: { files: { type: stdio } }\n",
            expect![[r#"
            line 1 holds a mapping in braces, which is changed with certainty only by hand
            hint: paste what `holdpoint setup` prints without --write
        "#]],
        );
        check(
            "extensions: &all\n  files: {}\n",
            expect![[r#"
            line 1 holds `extensions` in a form of its own, which is changed with certainty only by hand
            hint: paste what `holdpoint setup` prints without --write
        "#]],
        );
        check(
            "extensions:\n- files\n",
            expect![[r#"
            `extensions` is a list, where a mapping is expected
            hint: correct or remove `extensions` by hand, then run this again
        "#]],
        );
        check(
            "extensions: none\n",
            expect![[r#"
            `extensions` is a single value, where a mapping is expected
            hint: correct or remove `extensions` by hand, then run this again
        "#]],
        );
        check(
            "a: 1\n---\nb: 2\n",
            expect![[r#"
            line 2 holds the end of a document, which is changed with certainty only by hand
            hint: paste what `holdpoint setup` prints without --write
        "#]],
        );
        check(
            "extensions:\n\tfiles: {}\n",
            expect![[r#"
            not valid YAML, line 2, column 1: a tab before the text
            hint: correct the file by hand, then run this again
        "#]],
        );
        check(
            "extensions:\n  a: {}\nextensions:\n  b: {}\n",
            expect![[r#"
            line 3 holds `extensions` a second time, which is changed with certainty only by hand
            hint: paste what `holdpoint setup` prints without --write
        "#]],
        );
        check(
            "extensions:\n  holdpoint: true\n",
            expect![[r#"
            `extensions.holdpoint` is a single value, where a mapping is expected
            hint: correct or remove `extensions.holdpoint` by hand, then run this again
        "#]],
        );
        check(
            "extensions:\n  holdpoint:\n    uri: http://127.0.0.1:5174/mcp\n",
            expect![[r#"
            `extensions.holdpoint` already reaches a server by `uri`, and an entry has either that or a command
            hint: keep it as it is, or remove `extensions.holdpoint` by hand and run this again
        "#]],
        );
    }

    #[test]
    fn line_endings_stay() {
        let Ok(Merged::Added(after)) =
            merge("a: 1\r\nextensions:\r\n  b: {}\r\n", "extensions", &ENTRY)
        else {
            panic!("not added")
        };
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    }

    #[test]
    fn looking_says_how_the_server_is_reached() {
        let check = |text: &str, expected: Registration| {
            assert_eq!(look(text, "extensions", FIELDS), Ok(expected), "{text}")
        };
        check("", Registration::Absent);
        check("extensions:\n  files:\n    cmd: x\n", Registration::Absent);
        // A key of that name elsewhere is another one.
        check("extensions:\n  files:\n    holdpoint:\n      cmd: x\n", Registration::Absent);
        check(
            "extensions:\n  holdpoint:\n    cmd: '/x y/holdpoint'\n",
            Registration::Command("/x y/holdpoint".into()),
        );
        check("extensions:\n  holdpoint:\n    uri: http://127.0.0.1\n", Registration::OtherWay);
    }

    #[test]
    fn a_command_with_spaces_or_backslashes_survives() {
        for command in [r"C:\Program Files\holdpoint.exe", "/my build/holdpoint", "/a: b # c"] {
            let Ok(Merged::Added(after)) =
                merge("", "extensions", &ServerEntry { command, ..ENTRY })
            else {
                panic!("not added")
            };
            assert_eq!(
                look(&after, "extensions", FIELDS),
                Ok(Registration::Command(command.to_owned()))
            );
        }
    }
}
