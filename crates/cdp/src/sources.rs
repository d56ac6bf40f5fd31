//! Files and lines as people name them, for one thread: [`Scripts`] and their source maps together.
//!
//! A script without a usable map is its own source, line for line; so is a `.ts` whose types Node
//! strips, which keeps every line where it was. Maps are read when a question needs them first,
//! from disk: ask from where blocking is allowed.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    inserted::Inserted,
    position::Position,
    scripts::{Script, Scripts, UserFile},
    source_map::{self, Generated, MapFailure, OnLine, SourceMap},
    types::{Location, ScriptId, debugger::ScriptParsed},
};

#[derive(Debug, Default)]
pub struct Sources {
    scripts: Scripts,
    /// `None` for a script that has no usable map; absent while nobody has asked.
    maps: HashMap<ScriptId, Option<SourceMap>>,
    failures: Vec<MapFailure>,
    /// What texts of files may have been put into, by their real paths, and the scripts whose texts have.
    expected: HashMap<PathBuf, Arc<Inserted>>,
    inserted: HashMap<ScriptId, Arc<Inserted>>,
}

/// Where a stop is, as people say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// `None` for Node's own scripts, for `eval`, and for sources that are not on this machine.
    pub file: Option<PathBuf>,
    /// The path, or what there is: `node:fs`, the name in the map, nothing for an `eval`.
    pub name: String,
    pub position: Position,
    /// A source map was followed.
    pub mapped: bool,
}

/// Where a place people wrote is in one script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedAt {
    pub script: ScriptId,
    pub generated: Generated,
    /// A source map was followed. Without one the place is as it was asked for, code or not.
    pub mapped: bool,
}

impl Sources {
    /// Takes a `Debugger.scriptParsed`.
    pub fn add(&mut self, parsed: &ScriptParsed) {
        let script = Script::new(parsed);
        let expected = script.file().and_then(|file| self.expected.get(file));
        if let Some(expected) = expected.filter(|it| parsed.length == Some(it.length)) {
            self.inserted.insert(script.id.clone(), Arc::clone(expected));
        }
        if let Some(id) = self.scripts.add(script) {
            self.maps.remove(&id);
            self.inserted.remove(&id);
        }
    }

    /// A file whose text may be loaded with pieces in it, by its real path.
    pub fn expect(&mut self, file: &Path, inserted: Arc<Inserted>) {
        self.expected.insert(file.to_owned(), inserted);
    }

    /// What was put into a script's text, if anything was.
    pub fn inserted(&self, id: &ScriptId) -> Option<&Arc<Inserted>> {
        self.inserted.get(id)
    }

    pub fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// A place in a script, as people say it. `None` for a script that was never announced.
    pub fn place(&mut self, location: &Location) -> Option<SourcePlace> {
        self.read_map(&location.script_id);
        let position = Position::of(location);
        let script = self.scripts.get(&location.script_id)?;
        let inserted = self.inserted.get(&location.script_id);
        let position = inserted.map_or(position, |it| it.original(position));
        let original = self.map(&location.script_id).and_then(|map| map.original(position));
        Some(match original {
            Some(original) => SourcePlace {
                file: original.source.path.clone(),
                name: match &original.source.path {
                    Some(path) => path.display().to_string(),
                    None => original.source.name.clone(),
                },
                position: original.position,
                mapped: true,
            },
            None => SourcePlace {
                file: script.file().map(PathBuf::from),
                name: match script.file() {
                    Some(path) => path.display().to_string(),
                    None => script.url.clone(),
                },
                position,
                mapped: false,
            },
        })
    }

    /// Where a file's line is in every loaded script that has it, through maps or as it stands.
    pub fn generated(&mut self, file: &UserFile, asked: Position) -> Vec<GeneratedAt> {
        let unread: Vec<ScriptId> = self.unread().cloned().collect();
        for id in unread {
            self.read_map(&id);
        }
        let mapped = self.scripts.iter().filter_map(|script| {
            let generated = self.map(&script.id)?.generated(file, asked)?;
            Some(GeneratedAt { script: script.id.clone(), generated, mapped: true })
        });
        let itself = self
            .scripts
            .of_file(file)
            .into_iter()
            .filter(|script| !self.map(&script.id).is_some_and(|map| map.has(file)))
            .map(|script| GeneratedAt {
                script: script.id.clone(),
                generated: Generated {
                    positions: vec![
                        self.inserted.get(&script.id).map_or(asked, |it| it.generated(asked)),
                    ],
                    original: asked,
                    bound: OnLine::Asked,
                },
                mapped: false,
            });
        let mut found: Vec<GeneratedAt> = mapped.chain(itself).collect();
        found.sort_by(|a, b| a.script.cmp(&b.script));
        found
    }

    /// The map of a script, read if it was not yet.
    pub fn source_map(&mut self, id: &ScriptId) -> Option<&SourceMap> {
        self.read_map(id);
        self.map(id)
    }

    /// Maps that could not be used since the last time somebody asked; each is told once.
    pub fn take_failures(&mut self) -> Vec<MapFailure> {
        std::mem::take(&mut self.failures)
    }

    fn map(&self, id: &ScriptId) -> Option<&SourceMap> {
        self.maps.get(id)?.as_ref()
    }

    fn unread(&self) -> impl Iterator<Item = &ScriptId> {
        self.scripts
            .iter()
            .filter(|script| script.source_map_url.is_some())
            .map(|script| &script.id)
            .filter(|id| !self.maps.contains_key(id))
    }

    fn read_map(&mut self, id: &ScriptId) {
        if self.maps.contains_key(id) {
            return;
        }
        let Some(script) = self.scripts.get(id) else { return };
        let loaded = match &script.source_map_url {
            Some(map_url) => source_map::load(&script.url, script.file(), map_url),
            None => Ok(None),
        };
        let map = loaded.unwrap_or_else(|failure| {
            tracing::debug!(%failure, "map ignored");
            self.failures.push(failure);
            None
        });
        self.maps.insert(id.clone(), map);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::source_map::tests::mappings;

    fn sources(id: &str, url: &str, map: &str) -> Sources {
        let mut sources = Sources::default();
        let parsed = json!({"scriptId": id, "url": url, "sourceMapURL": map});
        sources.add(&serde_json::from_value(parsed).unwrap());
        sources
    }

    fn at(line: u32, column: u32) -> Location {
        Location {
            script_id: ScriptId("1".into()),
            line_number: line - 1,
            column_number: Some(column - 1),
        }
    }

    fn inline(source: &str) -> String {
        let json =
            json!({"version": 3, "sources": [source], "mappings": mappings(&[(1, 1, 7, 3)])});
        let encoded: String = json.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
        format!("data:application/json,{encoded}")
    }

    fn ask(sources: &mut Sources, file: &str, line: u32) -> Vec<(u32, bool)> {
        let asked = Position::new(line, None).unwrap();
        let found = sources.generated(&UserFile::new(Path::new(file)), asked);
        found.iter().map(|at| (at.generated.positions[0].line(), at.mapped)).collect()
    }

    #[test]
    fn a_script_without_a_map_is_its_own_source() {
        let mut sources = sources("1", "file:///nowhere/a.ts", "");
        assert_eq!(ask(&mut sources, "/nowhere/a.ts", 7), [(7, false)]);
        let place = sources.place(&at(7, 1)).unwrap();
        assert_eq!(place.file.as_deref(), Some(Path::new("/nowhere/a.ts")));
        assert_eq!((place.position.line(), place.mapped), (7, false));
    }

    #[test]
    fn a_script_that_is_mapped_to_its_own_name_is_mapped_once() {
        let mut sources = sources("1", "file:///nowhere/a.ts", &inline("/nowhere/a.ts"));
        assert_eq!(ask(&mut sources, "/nowhere/a.ts", 7), [(1, true)]);
        assert_eq!(sources.place(&at(1, 1)).unwrap().position, Position::new(7, Some(3)).unwrap());
    }

    #[test]
    fn a_bundle_can_be_named_as_well_as_its_source() {
        let mut sources = sources("1", "file:///nowhere/dist/a.js", &inline("../a.ts"));
        assert_eq!(ask(&mut sources, "/nowhere/a.ts", 7), [(1, true)]);
        assert_eq!(ask(&mut sources, "/nowhere/dist/a.js", 7), [(7, false)]);
    }

    #[test]
    fn a_text_with_pieces_in_it_is_shown_as_it_was() {
        let mut sources = Sources::default();
        let piece = crate::InsertedPiece { offset: 2, line: 0, column: 2, length: 5 };
        let inserted = Inserted { length: 12, pieces: vec![piece] };
        sources.expect(Path::new("/nowhere/a.js"), Arc::new(inserted));
        for (id, length) in [("1", 12), ("2", 7)] {
            let url = "file:///nowhere/a.js";
            let parsed = json!({"scriptId": id, "url": url, "length": length});
            sources.add(&serde_json::from_value(parsed).unwrap());
        }
        let column = |sources: &mut Sources, id: &str, column| {
            let location = Location { script_id: ScriptId(id.into()), ..at(1, column) };
            sources.place(&location).unwrap().position.column().unwrap()
        };
        assert_eq!(column(&mut sources, "1", 9), 4);
        assert_eq!(column(&mut sources, "1", 5), 3);
        // As the file is: another text, of another length.
        assert_eq!(column(&mut sources, "2", 9), 9);
    }

    #[test]
    fn a_broken_map_is_told_once_and_ignored() {
        let mut sources = sources("1", "file:///nowhere/a.js", "data:application/json,{");
        assert_eq!(ask(&mut sources, "/nowhere/a.js", 3), [(3, false)]);
        assert!(!sources.place(&at(3, 1)).unwrap().mapped);
        let failures = sources.take_failures();
        assert_eq!(failures.len(), 1);
        assert!(failures[0].to_string().contains("file:///nowhere/a.js"), "{}", failures[0]);
        ask(&mut sources, "/nowhere/a.js", 3);
        assert!(sources.take_failures().is_empty());
    }
}
