//! What an agent's entry for us consists of, whatever language its file is written in.
//!
//! A field is ours, and is set right, or it is only offered: where the user wrote something else, that stays.

use serde_json::{Value, json};

use super::ARGUMENTS;

/// One field of an entry, in the agent's own words.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) is: Is,
}

pub(crate) enum Is {
    /// The program to start.
    Command,
    /// Its arguments. Further ones are the user's choice.
    Arguments,
    /// Both in one list.
    CommandLine,
    /// A word without which the agent does not take the entry.
    Word(&'static str),
    /// How long a call may take, in the agent's unit.
    Patience(u32),
    /// A text that the user may change.
    Offered(&'static str),
    /// A switch that is on.
    On,
    /// Every tool.
    AllTools,
}

/// What an agent has to know to start us.
pub(crate) struct ServerEntry<'a> {
    pub(crate) command: &'a str,
    /// Another command that starts this very binary, and may stay.
    pub(crate) also: Option<&'a str>,
    pub(crate) fields: &'static [Field],
}

impl Field {
    /// The value of this field in a new entry.
    pub(in crate::cmd::setup) fn wanted(&self, entry: &ServerEntry<'_>) -> Value {
        match self.is {
            Is::Command => entry.command.into(),
            Is::Arguments => json!(ARGUMENTS),
            Is::CommandLine => command_line(entry.command, json!(ARGUMENTS)),
            Is::Word(word) | Is::Offered(word) => word.into(),
            Is::Patience(long) => long.into(),
            Is::On => true.into(),
            Is::AllTools => json!(["*"]),
        }
    }

    /// What has to stand in the place of what was found; nothing where that is right.
    pub(super) fn mended(&self, entry: &ServerEntry<'_>, found: Option<&Value>) -> Option<Value> {
        let Some(found) = found else { return Some(self.wanted(entry)) };
        let is_right = match self.is {
            Is::Command => starts_us(entry, found),
            Is::Arguments => are_arguments(found),
            Is::CommandLine => return mended_line(entry, found),
            Is::Word(word) => found == word,
            Is::Patience(_) | Is::Offered(_) | Is::On | Is::AllTools => true,
        };
        (!is_right).then(|| self.wanted(entry))
    }

    /// The command that an entry starts, if it is this field that says so.
    pub(super) fn command(&self, found: &Value) -> Option<String> {
        let command = match self.is {
            Is::Command => found,
            Is::CommandLine => found.get(0)?,
            _ => return None,
        };
        command.as_str().map(str::to_owned)
    }
}

fn starts_us(entry: &ServerEntry<'_>, found: &Value) -> bool {
    found == entry.command || entry.also.is_some_and(|also| found == also)
}

/// `mcp` alone is what `setup` wrote before there was a toolset for agents.
fn are_arguments(found: &Value) -> bool {
    let given = found.as_array().map_or(&[] as &[Value], Vec::as_slice);
    matches!(given, [first, _, ..] if ARGUMENTS.first().is_some_and(|it| first == it))
}

fn mended_line(entry: &ServerEntry<'_>, found: &Value) -> Option<Value> {
    let (command, given) = match found.as_array().and_then(|line| line.split_first()) {
        Some((command, given)) => (command, json!(given)),
        None => return Some(command_line(entry.command, json!(ARGUMENTS))),
    };
    match (starts_us(entry, command), are_arguments(&given)) {
        (true, true) => None,
        (false, true) => Some(command_line(entry.command, given)),
        (_, false) => Some(command_line(entry.command, json!(ARGUMENTS))),
    }
}

fn command_line(command: &str, arguments: Value) -> Value {
    let mut line = vec![Value::from(command)];
    if let Value::Array(arguments) = arguments {
        line.extend(arguments);
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Field = Field { name: "command", is: Is::CommandLine };
    const PATIENCE: Field = Field { name: "timeout", is: Is::Patience(600) };
    const ENTRY: ServerEntry<'_> =
        ServerEntry { command: "/bin/holdpoint", also: Some("holdpoint"), fields: &[] };

    #[track_caller]
    fn check(field: &Field, found: Value, expected: Option<Value>) {
        assert_eq!(field.mended(&ENTRY, Some(&found)), expected, "{found}");
    }

    #[test]
    fn a_command_line_keeps_the_users_arguments() {
        let ours = json!(["/bin/holdpoint", "mcp", "--toolset", "agent"]);
        check(
            &LINE,
            json!(["/old", "mcp", "--port", "0"]),
            Some(json!(["/bin/holdpoint", "mcp", "--port", "0"])),
        );
        check(&LINE, json!(["holdpoint", "mcp", "--toolset", "slim"]), None);
        check(&LINE, json!(["holdpoint", "mcp"]), Some(ours.clone()));
        check(&LINE, json!([]), Some(ours.clone()));
        check(&LINE, json!("holdpoint"), Some(ours));
    }

    #[test]
    fn what_is_only_offered_stays_as_the_user_has_it() {
        check(&PATIENCE, json!(5), None);
        assert_eq!(PATIENCE.mended(&ENTRY, None), Some(json!(600)));
    }
}
