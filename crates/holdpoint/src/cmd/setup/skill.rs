//! The skill: what an agent reads to know when to reach for which tool.
//!
//! The file is ours from its first line to its last. One that differs is kept beside the new one.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::file;

/// As every agent wants it: a folder of the skill's name with this file in it.
pub(crate) const TEXT: &str = include_str!("skill/SKILL.md");

/// Where the file belongs in a folder of skills.
pub(super) fn path(skills: &Path) -> PathBuf {
    skills.join("holdpoint").join("SKILL.md")
}

/// Writes it and says what that came to.
pub(super) fn write(path: &Path) -> Result<String> {
    let shown = path.display();
    let Some(old) = file::read(path)? else {
        file::create(path, TEXT)?;
        return Ok(format!("created {shown}"));
    };
    if old == TEXT {
        return Ok(format!("already up to date: {shown}"));
    }
    let backup = file::replace(path, &old, TEXT)?;
    Ok(format!("updated {shown}\nbackup: {}", backup.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    /// Between the two lines of dashes.
    fn head() -> Vec<(&'static str, &'static str)> {
        let (head, _) = TEXT.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        head.lines().map(|line| line.split_once(": ").unwrap()).collect()
    }

    #[test]
    fn it_has_the_head_that_agents_ask_for() {
        let [("name", name), ("description", description)] = head()[..] else {
            panic!("{:?}", head())
        };
        assert_eq!(name, "holdpoint", "the name of its folder");
        // The specification's bound; and a colon with a space would end a plain YAML value.
        assert!(
            description.len() <= 1024 && !description.contains(": ") && !description.contains(" #")
        );
    }

    #[test]
    fn it_is_short() {
        assert!(TEXT.lines().count() < 80, "{} lines", TEXT.lines().count());
    }

    fn catalogue() -> Catalogue {
        Catalogue::ours(&["agent".to_owned()]).unwrap()
    }

    #[test]
    fn it_names_only_tools_that_setup_mounts() {
        let catalogue = catalogue();
        let words = TEXT.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        let families =
            ["record_", "debug_", "breakpoint_", "tracepoint_", "timeline_", "server_", "more_"];
        let named: Vec<&str> =
            words.filter(|word| families.iter().any(|family| word.starts_with(family))).collect();
        assert!(named.len() > 10, "{named:?}");
        for name in named {
            assert!(catalogue.tool(name).is_ok(), "{name}");
        }
    }

    /// What stands between backquotes, in the order of the text.
    fn quoted() -> impl Iterator<Item = &'static str> {
        TEXT.split('`').skip(1).step_by(2)
    }

    #[test]
    fn its_examples_are_calls_that_the_tools_take() {
        let catalogue = catalogue();
        let mut seen = 0;
        for text in quoted() {
            let Some((before, _)) = text.split_once('{') else { continue };
            let (name, json) = text.split_at(before.len());
            // Rows of the table are all of one tool; what continues a row stands without braces.
            let name = if before.is_empty() { "debug_probe" } else { name.trim() };
            if !name.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                continue;
            }
            let arguments: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(json).unwrap_or_else(|error| panic!("{text}: {error}"));
            let tool = catalogue.tool(name).unwrap_or_else(|_| panic!("{name}"));
            let known = tool.schema()["properties"].as_object().unwrap();
            for parameter in arguments.keys() {
                assert!(known.contains_key(parameter), "{name} takes no `{parameter}`");
            }
            seen += 1;
        }
        assert!(seen >= 10, "{seen} examples");
    }
}
