//! Putting our server into the text of a configuration file.
//!
//! Text in, text out: nothing here reads or writes a file.
//! Whatever else is in the text stays: comments, format, other servers, and the settings a user has given ours.
//! A text that cannot be changed with certainty is refused, with the place and a hint.

pub(crate) mod fields;
mod json;
mod toml;
mod yaml;

pub(crate) use self::fields::{Field, Is, ServerEntry};

/// The key under which every agent knows our server.
pub(super) const SERVER: &str = "holdpoint";

/// What makes the binary speak MCP over its standard streams, with the tools that agents reach for.
pub(super) const ARGUMENTS: &[&str] = &["mcp", "--toolset", "agent"];

/// The keys by which an agent reaches a server that it does not start itself.
const REMOTE_KEYS: &[&str] = &["url", "httpUrl", "serverUrl", "uri"];

/// Windows editors begin a file with this mark, and no parser wants to see it.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The language of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// JSON, with comments and trailing commas if the user wrote them.
    Json,
    Toml,
    /// YAML, as far as one can be certain of it line by line.
    Yaml,
}

/// What became of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Merged {
    UpToDate,
    /// The server was not there; this is the new text.
    Added(String),
    /// The server was there and started something else; this is the new text.
    Updated(String),
}

/// What a text says about our server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Registration {
    Absent,
    /// The agent starts this command.
    Command(String),
    /// The agent reaches the server in another way, for example by its URL.
    OtherWay,
}

/// Why a text was not changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unmerged {
    pub(crate) what: String,
    pub(crate) hint: String,
}

impl FileFormat {
    /// The text with our server in it, under `key`.
    pub(super) fn merge(
        self,
        text: &str,
        key: &str,
        entry: &ServerEntry<'_>,
    ) -> Result<Merged, Unmerged> {
        let (mark, text) = split_mark(text);
        let merged = match self {
            Self::Json => json::merge(text, key, entry)?,
            Self::Toml => toml::merge(text, key, entry)?,
            Self::Yaml => yaml::merge(text, key, entry)?,
        };
        Ok(match merged {
            Merged::UpToDate => Merged::UpToDate,
            Merged::Added(text) => Merged::Added(format!("{mark}{text}")),
            Merged::Updated(text) => Merged::Updated(format!("{mark}{text}")),
        })
    }

    /// What the text says about our server, under `key`.
    pub(crate) fn look(
        self,
        text: &str,
        key: &str,
        fields: &[Field],
    ) -> Result<Registration, Unmerged> {
        let (_, text) = split_mark(text);
        match self {
            Self::Json => json::look(text, key, fields),
            Self::Toml => toml::look(text, key, fields),
            Self::Yaml => yaml::look(text, key, fields),
        }
    }
}

impl Unmerged {
    fn syntax(language: &str, what: &str, line: usize, column: usize) -> Self {
        Self {
            what: format!(
                "not valid {language}, line {line}, column {column}: {}",
                lowercase_first(what)
            ),
            hint: "correct the file by hand, then run this again".to_owned(),
        }
    }

    fn wrong_top(wanted: &str, found: &str) -> Self {
        Self {
            what: format!("the file holds {found}, where {wanted} is expected"),
            hint: "correct the file by hand, then run this again".to_owned(),
        }
    }

    /// `path` is the way to the value, as keys with dots between.
    fn wrong_type(path: &str, wanted: &str, found: &str) -> Self {
        Self {
            what: format!("`{path}` is {found}, where {wanted} is expected"),
            hint: format!("correct or remove `{path}` by hand, then run this again"),
        }
    }

    fn beyond_us(line: usize, what: &str) -> Self {
        Self {
            what: format!("line {line} holds {what}, which is changed with certainty only by hand"),
            hint: "paste what `holdpoint setup` prints without --write".to_owned(),
        }
    }

    fn remote(path: &str, remote_key: &str) -> Self {
        Self {
            what: format!(
                "`{path}` already reaches a server by `{remote_key}`, and an entry has either that or a command"
            ),
            hint: format!("keep it as it is, or remove `{path}` by hand and run this again"),
        }
    }
}

fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix(BYTE_ORDER_MARK).map_or(("", text), |rest| (BYTE_ORDER_MARK, rest))
}

fn lowercase_first(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters
        .next()
        .map(|first| first.to_lowercase().chain(characters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as most agents have it.
    pub(super) const PLAIN: &[Field] =
        &[Field { name: "command", is: Is::Command }, Field { name: "args", is: Is::Arguments }];

    /// Merges, shows what came of it, and sees that a second merge finds nothing to do.
    #[track_caller]
    pub(super) fn transcript(
        format: FileFormat,
        before: &str,
        key: &str,
        entry: &ServerEntry<'_>,
    ) -> String {
        let (word, after) = match format.merge(before, key, entry) {
            Ok(Merged::UpToDate) => return "up to date".to_owned(),
            Ok(Merged::Added(after)) => ("added", after),
            Ok(Merged::Updated(after)) => ("updated", after),
            Err(refusal) => return format!("{}\nhint: {}\n", refusal.what, refusal.hint),
        };
        assert_eq!(format.merge(&after, key, entry), Ok(Merged::UpToDate), "after {after}");
        format!("{word}\n{after}")
    }

    #[test]
    fn a_byte_order_mark_is_kept() {
        let texts =
            [(FileFormat::Json, "{}"), (FileFormat::Toml, "a = 1\n"), (FileFormat::Yaml, "a: 1\n")];
        for (format, text) in texts {
            let text = &format!("{BYTE_ORDER_MARK}{text}");
            let entry = ServerEntry { command: "holdpoint", also: None, fields: PLAIN };
            let Merged::Added(text) = format.merge(text, "servers", &entry).unwrap() else {
                panic!("not added")
            };
            assert_eq!(text.matches(BYTE_ORDER_MARK).count(), 1);
            assert!(text.starts_with(BYTE_ORDER_MARK));
            assert_eq!(format.merge(&text, "servers", &entry).unwrap(), Merged::UpToDate);
            assert_eq!(
                format.look(&text, "servers", PLAIN).unwrap(),
                Registration::Command("holdpoint".to_owned())
            );
        }
    }
}
