//! Our server in a TOML file.
//!
//! A new table is appended to the text, which leaves every byte before it as it was.
//! Only an existing entry, or servers written as one inline table, are changed inside the document.

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

use super::{Field, Merged, REMOTE_KEYS, Registration, SERVER, ServerEntry, Unmerged};

pub(super) fn merge(text: &str, key: &str, entry: &ServerEntry<'_>) -> Result<Merged, Unmerged> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut(key) else {
        return Ok(Merged::Added(append(text, key, entry)));
    };
    if let Some(inline) =
        servers.as_inline_table_mut().filter(|inline| !inline.contains_key(SERVER))
    {
        insert_inline(inline, entry);
        return Ok(Merged::Added(with_line_endings_of(text, &document)));
    }
    let path = format!("{key}.{SERVER}");
    let Some(existing) = table_mut(servers, key)?.get_mut(SERVER) else {
        return Ok(Merged::Added(append(text, key, entry)));
    };
    if update(table_mut(existing, &path)?, &path, entry)? {
        return Ok(Merged::Updated(with_line_endings_of(text, &document)));
    }
    Ok(Merged::UpToDate)
}

pub(super) fn look(text: &str, key: &str, fields: &[Field]) -> Result<Registration, Unmerged> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut(key) else { return Ok(Registration::Absent) };
    let Some(existing) = table_mut(servers, key)?.get_mut(SERVER) else {
        return Ok(Registration::Absent);
    };
    let existing = table_mut(existing, &format!("{key}.{SERVER}"))?;
    let command = fields.iter().find_map(|it| it.command(&json(existing.get(it.name)?)));
    Ok(command.map_or(Registration::OtherWay, Registration::Command))
}

fn parse(text: &str) -> Result<DocumentMut, Unmerged> {
    text.parse::<DocumentMut>().map_err(|error| {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        Unmerged::syntax("TOML", error.message(), line, column)
    })
}

/// Both count from one, the column in characters.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// TOML allows a sub-table anywhere after its parent, so the end of the file is always a right place.
fn append(text: &str, key: &str, entry: &ServerEntry<'_>) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match text {
        "" => String::new(),
        text if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    let line = |it: &Field| format!("{} = {}{newline}", it.name, toml(it.wanted(entry)));
    let lines: String = entry.fields.iter().map(line).collect();
    format!("{text}{gap}[{key}.{SERVER}]{newline}{lines}")
}

fn insert_inline(servers: &mut InlineTable, entry: &ServerEntry<'_>) {
    // The space before the closing brace belongs to the last value, which we are now.
    let ending = servers.iter_mut().last().and_then(|(_, last)| {
        let ending = last.decor().suffix()?.as_str()?.to_owned();
        last.decor_mut().set_suffix("");
        Some(ending)
    });
    let server =
        InlineTable::from_iter(entry.fields.iter().map(|it| (it.name, toml(it.wanted(entry)))));
    servers.insert(SERVER, Value::from(server).decorated(" ", ending.as_deref().unwrap_or(" ")));
}

/// Sets what is ours in an entry and leaves the rest, such as `env`. Says whether anything had to change.
fn update(
    existing: &mut dyn TableLike,
    path: &str,
    entry: &ServerEntry<'_>,
) -> Result<bool, Unmerged> {
    if let Some(remote) = REMOTE_KEYS.iter().find(|remote| existing.contains_key(remote)) {
        return Err(Unmerged::remote(path, remote));
    }
    let mut changed = false;
    for field in entry.fields {
        let found = existing.get(field.name).map(json);
        if let Some(value) = field.mended(entry, found.as_ref()) {
            set(existing, field.name, toml(value));
            changed = true;
        }
    }
    Ok(changed)
}

fn set(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key) {
        Some(item) => {
            // The comment behind a value is part of the value's decor.
            if let Some(old) = item.as_value() {
                *value.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(value);
        }
        None => drop(table.insert(key, Item::Value(value))),
    }
}

/// What a field can hold; anything else is nothing of ours.
fn json(item: &Item) -> Json {
    match item.as_value() {
        Some(Value::String(text)) => text.value().as_str().into(),
        Some(Value::Integer(number)) => (*number.value()).into(),
        Some(Value::Boolean(yes)) => (*yes.value()).into(),
        Some(Value::Array(items)) => {
            items.iter().map(|it| json(&Item::Value(it.clone()))).collect()
        }
        _ => Json::Null,
    }
}

fn toml(value: Json) -> Value {
    match value {
        Json::Bool(yes) => yes.into(),
        Json::Number(number) => number.as_i64().unwrap_or_default().into(),
        Json::Array(items) => Value::Array(items.into_iter().map(toml).collect::<Array>()),
        Json::String(text) => text.into(),
        // No field of ours holds these.
        Json::Null | Json::Object(_) => String::new().into(),
    }
}

fn table_mut<'a>(item: &'a mut Item, path: &str) -> Result<&'a mut dyn TableLike, Unmerged> {
    let found = item.type_name();
    item.as_table_like_mut()
        .ok_or_else(|| Unmerged::wrong_type(path, "a table", &format!("of type {found}")))
}

/// The document writer knows only one line ending.
fn with_line_endings_of(text: &str, document: &DocumentMut) -> String {
    let written = document.to_string();
    if text.contains("\r\n") {
        written.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        written
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::FileFormat;
    use super::super::tests::{PLAIN, transcript};
    use super::*;

    const ENTRY: ServerEntry<'_> = ServerEntry { command: "holdpoint", also: None, fields: PLAIN };

    #[track_caller]
    fn check(before: &str, expected: Expect) {
        expected.assert_eq(&transcript(FileFormat::Toml, before, "mcp_servers", &ENTRY));
    }

    #[test]
    fn an_empty_file_gets_the_table() {
        check(
            "",
            expect![[r#"
                added
                [mcp_servers.holdpoint]
                command = "holdpoint"
                args = ["mcp", "--toolset", "agent"]
            "#]],
        );
    }

    #[test]
    fn comments_and_other_tables_stay() {
        check(
            "# Mine.\nmodel = \"x\" # the good one\n\n[mcp_servers.files]\ncommand='files'\n\n[tui]\nsound = false\n# the end",
            expect![[r#"
                added
                # Mine.
                model = "x" # the good one

                [mcp_servers.files]
                command='files'

                [tui]
                sound = false
                # the end

                [mcp_servers.holdpoint]
                command = "holdpoint"
                args = ["mcp", "--toolset", "agent"]
            "#]],
        );
    }

    #[test]
    fn servers_written_as_dotted_keys_get_a_table() {
        check(
            "mcp_servers.files.command = \"files\"\n",
            expect![[r#"
                added
                mcp_servers.files.command = "files"

                [mcp_servers.holdpoint]
                command = "holdpoint"
                args = ["mcp", "--toolset", "agent"]
            "#]],
        );
    }

    #[test]
    fn servers_written_as_an_inline_table_get_a_value() {
        check(
            "mcp_servers = { files = { command = \"files\" } } # short\n",
            expect![[r#"
                added
                mcp_servers = { files = { command = "files" }, holdpoint = { command = "holdpoint", args = ["mcp", "--toolset", "agent"] } } # short
            "#]],
        );
        check(
            "mcp_servers = {}\n",
            expect![[r#"
                added
                mcp_servers = { holdpoint = { command = "holdpoint", args = ["mcp", "--toolset", "agent"] } }
            "#]],
        );
    }

    #[test]
    fn an_older_entry_is_updated_and_its_other_settings_stay() {
        check(
            "[mcp_servers.holdpoint]\n# Ours.\ncommand = \"/old/holdpoint\" # moved\nstartup_timeout_sec = 20\n\n[mcp_servers.holdpoint.env]\nA = \"1\"\n",
            expect![[r#"
                updated
                [mcp_servers.holdpoint]
                # Ours.
                command = "holdpoint" # moved
                startup_timeout_sec = 20
                args = ["mcp", "--toolset", "agent"]

                [mcp_servers.holdpoint.env]
                A = "1"
            "#]],
        );
    }

    #[test]
    fn further_arguments_are_the_users_choice() {
        check(
            "[mcp_servers.holdpoint]\ncommand = \"holdpoint\"\nargs = [\n  \"mcp\", # required\n  \"--toolset\", \"slim\",\n]\n",
            expect!["up to date"],
        );
    }

    #[test]
    fn a_path_with_backslashes_survives() {
        let entry = ServerEntry { command: r"C:\Program Files\holdpoint.exe", ..ENTRY };
        let Ok(Merged::Added(after)) = merge("", "mcp_servers", &entry) else {
            panic!("not added")
        };
        assert_eq!(
            look(&after, "mcp_servers", PLAIN),
            Ok(Registration::Command(entry.command.to_owned()))
        );
    }

    #[test]
    fn line_endings_stay() {
        for before in
            ["a = 1\r\n", "mcp_servers = { }\r\n", "[mcp_servers.holdpoint]\r\ncommand = 'x'\r\n"]
        {
            let (Merged::Added(after) | Merged::Updated(after)) =
                merge(before, "mcp_servers", &ENTRY).unwrap()
            else {
                panic!("not changed")
            };
            assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
        }
    }

    #[test]
    fn a_value_of_the_wrong_type_is_refused() {
        check(
            "mcp_servers = []\n",
            expect![[r#"
                `mcp_servers` is of type array, where a table is expected
                hint: correct or remove `mcp_servers` by hand, then run this again
            "#]],
        );
        check(
            "[[mcp_servers]]\nname = \"files\"\n",
            expect![[r#"
                `mcp_servers` is of type array of tables, where a table is expected
                hint: correct or remove `mcp_servers` by hand, then run this again
            "#]],
        );
        check(
            "[mcp_servers]\nholdpoint = true\n",
            expect![[r#"
                `mcp_servers.holdpoint` is of type boolean, where a table is expected
                hint: correct or remove `mcp_servers.holdpoint` by hand, then run this again
            "#]],
        );
    }

    #[test]
    fn an_entry_with_a_url_is_refused() {
        check(
            "[mcp_servers.holdpoint]\nurl = \"http://127.0.0.1:5174/mcp\"\n",
            expect![[r#"
                `mcp_servers.holdpoint` already reaches a server by `url`, and an entry has either that or a command
                hint: keep it as it is, or remove `mcp_servers.holdpoint` by hand and run this again
            "#]],
        );
    }

    #[test]
    fn a_syntax_error_is_refused_with_its_place() {
        check(
            "a = 1\nö = 2\n",
            expect![[r#"
                not valid TOML, line 2, column 1: invalid unquoted key, expected letters, numbers, `-`, `_`
                hint: correct the file by hand, then run this again
            "#]],
        );
        check(
            "model = \"x\"\n[mcp_servers\n",
            expect![[r#"
                not valid TOML, line 2, column 13: unclosed table, expected `]`
                hint: correct the file by hand, then run this again
            "#]],
        );
    }

    #[test]
    fn looking_says_how_the_server_is_reached() {
        let check = |text: &str, expected: Registration| {
            assert_eq!(look(text, "mcp_servers", PLAIN), Ok(expected))
        };
        check("", Registration::Absent);
        check("[mcp_servers.files]\n", Registration::Absent);
        check("[mcp_servers.holdpoint]\ncommand = 'x'\n", Registration::Command("x".into()));
        check(
            "mcp_servers = { holdpoint = { command = 'x' } }\n",
            Registration::Command("x".into()),
        );
        check(
            "[mcp_servers.holdpoint]\nurl = 'http://127.0.0.1:5174/mcp'\n",
            Registration::OtherWay,
        );
    }
}
