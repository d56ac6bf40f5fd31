//! Our server in a JSON file, with comments and trailing commas where the user has them.
//!
//! The text is changed as a concrete syntax tree, so what is not ours comes out byte for byte as it went in.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::{Field, Merged, REMOTE_KEYS, Registration, SERVER, ServerEntry, Unmerged};

pub(super) fn merge(text: &str, key: &str, entry: &ServerEntry<'_>) -> Result<Merged, Unmerged> {
    // The tree's nodes hold their parents weakly: the root has to live as long as they are used.
    let root = parse(text)?;
    let top = match root.value() {
        Some(value) => top_object(&value)?,
        // An empty file, or one with nothing but comments.
        None => root.object_value_or_set(),
    };
    let servers = match property(&top, key) {
        Some(property) => property_object(&property, key)?,
        None => top.object_value_or_set(key),
    };
    let Some(existing) = property(&servers, SERVER) else {
        servers.append(SERVER, CstInputValue::Object(new_fields(entry)));
        return Ok(Merged::Added(root.to_string()));
    };
    let path = format!("{key}.{SERVER}");
    if update(&property_object(&existing, &path)?, &path, entry)? {
        return Ok(Merged::Updated(root.to_string()));
    }
    Ok(Merged::UpToDate)
}

pub(super) fn look(text: &str, key: &str, fields: &[Field]) -> Result<Registration, Unmerged> {
    let root = parse(text)?;
    let Some(value) = root.value() else { return Ok(Registration::Absent) };
    let Some(servers) = property(&top_object(&value)?, key) else {
        return Ok(Registration::Absent);
    };
    let Some(existing) = property(&property_object(&servers, key)?, SERVER) else {
        return Ok(Registration::Absent);
    };
    let existing = property_object(&existing, &format!("{key}.{SERVER}"))?;
    let command = fields.iter().find_map(|it| it.command(&value_of(&existing, it.name)?));
    Ok(command.map_or(Registration::OtherWay, Registration::Command))
}

/// Comments and trailing commas are what agents and editors accept beyond JSON; a missing comma is an error to all.
fn parse(text: &str) -> Result<CstRootNode, Unmerged> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_loose_object_property_names: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| {
        Unmerged::syntax(
            "JSON",
            &error.kind().to_string(),
            error.line_display(),
            error.column_display(),
        )
    })
}

fn new_fields(entry: &ServerEntry<'_>) -> Vec<(String, CstInputValue)> {
    let field = |it: &Field| (it.name.to_owned(), input(it.wanted(entry)));
    entry.fields.iter().map(field).collect()
}

fn input(value: Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(yes) => yes.into(),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => text.into(),
        Value::Array(items) => CstInputValue::Array(items.into_iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.into_iter().map(|(name, it)| (name, input(it))).collect())
        }
    }
}

/// Sets what is ours in an entry and leaves the rest, such as `env`. Says whether anything had to change.
fn update(existing: &CstObject, path: &str, entry: &ServerEntry<'_>) -> Result<bool, Unmerged> {
    if let Some(remote) = REMOTE_KEYS.iter().find(|remote| property(existing, remote).is_some()) {
        return Err(Unmerged::remote(path, remote));
    }
    let mut changed = false;
    for field in entry.fields {
        let Some(value) = field.mended(entry, value_of(existing, field.name).as_ref()) else {
            continue;
        };
        match property(existing, field.name) {
            Some(property) => property.set_value(input(value)),
            None => drop(existing.append(field.name, input(value))),
        }
        changed = true;
    }
    Ok(changed)
}

/// Where a key stands twice, the last one counts, as in every agent's own parser.
fn property(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    object
        .properties()
        .into_iter()
        .rfind(|property| property.decoded_name().as_deref() == Some(name))
}

fn value_of(object: &CstObject, name: &str) -> Option<Value> {
    property(object, name)?.value()?.to_serde_value()
}

fn top_object(value: &CstNode) -> Result<CstObject, Unmerged> {
    value.as_object().ok_or_else(|| Unmerged::wrong_top("an object", type_name(Some(value))))
}

fn property_object(property: &CstObjectProp, path: &str) -> Result<CstObject, Unmerged> {
    property.object_value().ok_or_else(|| {
        Unmerged::wrong_type(path, "an object", type_name(property.value().as_ref()))
    })
}

fn type_name(value: Option<&CstNode>) -> &'static str {
    match value.and_then(CstNode::to_serde_value) {
        Some(Value::Null) => "`null`",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "a string",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
        None => "no value",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::super::tests::transcript;
    use super::super::{FileFormat, Is};
    use super::*;

    const FIELDS: &[Field] = &[
        Field { name: "type", is: Is::Word("stdio") },
        Field { name: "command", is: Is::Command },
        Field { name: "args", is: Is::Arguments },
    ];
    const ENTRY: ServerEntry<'_> = ServerEntry { command: "holdpoint", also: None, fields: FIELDS };

    #[track_caller]
    fn check(before: &str, expected: Expect) {
        expected.assert_eq(&transcript(FileFormat::Json, before, "servers", &ENTRY));
    }

    #[test]
    fn an_empty_file_and_an_empty_object_get_the_server() {
        check(
            "",
            expect![[r#"
                added
                {
                  "servers": {
                    "holdpoint": {
                      "type": "stdio",
                      "command": "holdpoint",
                      "args": ["mcp", "--toolset", "agent"]
                    }
                  }
                }
            "#]],
        );
        for before in ["\n", "{}\n"] {
            assert_eq!(merge(before, "servers", &ENTRY), merge("", "servers", &ENTRY));
        }
    }

    #[test]
    fn comments_other_servers_and_indentation_stay() {
        check(
            r#"// Mine.
{
    "inputs": [], // none yet
    "servers": {
        /* the first */
        "files": {"command": "files", "args": ["--root", "."]} // why
        // the end
    }
}
"#,
            expect![[r#"
                added
                // Mine.
                {
                    "inputs": [], // none yet
                    "servers": {
                        /* the first */
                        "files": {"command": "files", "args": ["--root", "."]}, // why
                        "holdpoint": {
                            "type": "stdio",
                            "command": "holdpoint",
                            "args": ["mcp", "--toolset", "agent"]
                        }
                        // the end
                    }
                }
            "#]],
        );
    }

    #[test]
    fn tabs_and_trailing_commas_stay() {
        check(
            "{\n\t\"servers\": {\n\t\t\"files\": { \"command\": \"files\" },\n\t},\n}",
            expect![[r#"
                added
                {
                	"servers": {
                		"files": { "command": "files" },
                		"holdpoint": {
                			"type": "stdio",
                			"command": "holdpoint",
                			"args": ["mcp", "--toolset", "agent"],
                		},
                	},
                }"#]],
        );
    }

    #[test]
    fn line_endings_stay() {
        let Ok(Merged::Added(after)) = merge("{\r\n  \"a\": 1\r\n}\r\n", "servers", &ENTRY) else {
            panic!("not added")
        };
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    }

    #[test]
    fn an_older_entry_is_updated_and_its_other_settings_stay() {
        check(
            r#"{
  "servers": {
    "holdpoint": {
      "command": "/old/holdpoint", // moved
      "args": ["serve"],
      // Mine.
      "env": { "HOLDPOINT_HOME": "/data" }
    }
  }
}"#,
            expect![[r#"
                updated
                {
                  "servers": {
                    "holdpoint": {
                      "command": "holdpoint", // moved
                      "args": ["mcp", "--toolset", "agent"],
                      // Mine.
                      "env": { "HOLDPOINT_HOME": "/data" },
                      "type": "stdio"
                    }
                  }
                }"#]],
        );
    }

    #[test]
    fn further_arguments_are_the_users_choice() {
        check(
            r#"{"servers": {"holdpoint": {"type": "stdio", "command": "holdpoint", "args": ["mcp", "--toolset", "slim"]}}}"#,
            expect!["up to date"],
        );
    }

    #[test]
    fn where_a_key_stands_twice_the_last_one_is_changed() {
        check(
            r#"{"servers": [], "servers": {}}"#,
            expect![[r#"
                added
                {"servers": [], "servers": {
                    "holdpoint": {
                      "type": "stdio",
                      "command": "holdpoint",
                      "args": ["mcp", "--toolset", "agent"]
                    }
                  }}"#]],
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_refused() {
        check(
            r#"{"servers": []}"#,
            expect![[r#"
                `servers` is an array, where an object is expected
                hint: correct or remove `servers` by hand, then run this again
            "#]],
        );
        check(
            r#"{"servers": {"holdpoint": "yes"}}"#,
            expect![[r#"
                `servers.holdpoint` is a string, where an object is expected
                hint: correct or remove `servers.holdpoint` by hand, then run this again
            "#]],
        );
        check(
            "[1, 2]",
            expect![[r#"
                the file holds an array, where an object is expected
                hint: correct the file by hand, then run this again
            "#]],
        );
    }

    #[test]
    fn an_entry_with_a_url_is_refused() {
        check(
            r#"{"servers": {"holdpoint": {"type": "http", "url": "http://127.0.0.1:5174/mcp"}}}"#,
            expect![[r#"
                `servers.holdpoint` already reaches a server by `url`, and an entry has either that or a command
                hint: keep it as it is, or remove `servers.holdpoint` by hand and run this again
            "#]],
        );
    }

    #[test]
    fn a_syntax_error_is_refused_with_its_place() {
        check(
            "{\n  \"a\": 1\n  \"b\": 2\n}",
            expect![[r#"
                not valid JSON, line 2, column 9: expected comma
                hint: correct the file by hand, then run this again
            "#]],
        );
        check(
            "{\n  \"servers\": {",
            expect![[r#"
                not valid JSON, line 2, column 14: unterminated object
                hint: correct the file by hand, then run this again
            "#]],
        );
    }

    #[test]
    fn looking_says_how_the_server_is_reached() {
        let check = |text: &str, expected: Registration| {
            assert_eq!(look(text, "servers", FIELDS), Ok(expected))
        };
        check("", Registration::Absent);
        check("{}", Registration::Absent);
        check(r#"{"servers": {"files": {}}}"#, Registration::Absent);
        check(
            r#"{"servers": {"holdpoint": {"command": "/x y/holdpoint"}}}"#,
            Registration::Command("/x y/holdpoint".into()),
        );
        check(
            r#"{"servers": {"holdpoint": {"url": "http://127.0.0.1:5174/mcp"}}}"#,
            Registration::OtherWay,
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn everything_else_means_the_same_afterwards(others in prop::collection::btree_map(any::<String>(), any_json(), 0..4), pretty: bool) {
            let mut wanted = Value::Object(others.into_iter().collect());
            let before = if pretty { format!("{wanted:#}") } else { wanted.to_string() };
            let Ok(Merged::Added(after)) = merge(&before, "servers", &ENTRY) else { panic!("not added to {before}") };
            wanted["servers"] = serde_json::json!({"holdpoint": {"type": "stdio", "command": "holdpoint", "args": ["mcp", "--toolset", "agent"]}});
            prop_assert_eq!(serde_json::from_str::<Value>(&after).unwrap(), wanted);
        }
    }
}
