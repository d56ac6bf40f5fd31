//! One source map: from the text V8 runs to the text people wrote, and back.
//!
//! Maps come inline (`data:`), from a file named by the script, or in sections; maps on the web are
//! not fetched. Which place is which is [`crate::vlq`]'s work; where the sources lie on disk is
//! [`locate`]'s; this file answers questions.

mod load;
mod locate;

use std::path::PathBuf;

use serde::Deserialize;

pub(crate) use load::load;

use crate::{
    limits,
    position::Position,
    scripts::UserFile,
    vlq::{self, OriginalToken, Token},
};

/// Why a script's map is not used. The script is then shown as V8 runs it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the source map of `{script}` is not used: {detail}")]
pub struct MapFailure {
    pub script: String,
    pub detail: String,
}

/// A file that a map names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedSource {
    /// As the map says it.
    pub name: String,
    /// On this machine, symbolic links followed; it need not exist.
    pub path: Option<PathBuf>,
    /// Its text, where the map carries it.
    pub content: Option<String>,
}

/// A place in a text people wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original<'a> {
    pub source: &'a MappedSource,
    pub position: Position,
}

/// Where a place people wrote is in the text V8 runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// All of them: a function that was inlined twice is there twice.
    pub positions: Vec<Position>,
    /// The place that they are of.
    pub original: Position,
    pub bound: OnLine,
}

/// Whether the line that was asked for has code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLine {
    Asked,
    /// It has none; this is the next line that has.
    Moved,
}

#[derive(Debug)]
pub struct SourceMap {
    sources: Vec<MappedSource>,
    /// By generated place.
    tokens: Vec<Token>,
    /// Original place and index of its token, by original place.
    originals: Vec<(OriginalToken, u32)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Json {
    source_root: Option<String>,
    #[serde(default)]
    sources: Vec<Option<String>>,
    #[serde(default)]
    sources_content: Vec<Option<String>>,
    #[serde(default)]
    mappings: String,
    sections: Option<Vec<Section>>,
}

#[derive(Deserialize)]
struct Section {
    offset: Offset,
    map: Option<Json>,
}

#[derive(Clone, Copy, Deserialize)]
struct Offset {
    line: u32,
    column: u32,
}

impl SourceMap {
    /// `folder` is where the map lies: its sources are named from there.
    pub fn parse(json: &[u8], folder: Option<&std::path::Path>) -> Result<SourceMap, String> {
        let json = without_guard(json);
        let json: Json = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let mut map = SourceMap { sources: Vec::new(), tokens: Vec::new(), originals: Vec::new() };
        map.extend(json, Offset { line: 0, column: 0 }, folder)?;
        // Sections must be in order, and sometimes are not.
        map.tokens.sort_by_key(|token| (token.line, token.column));
        map.originals = (0u32..)
            .zip(&map.tokens)
            .filter_map(|(index, token)| Some((token.original?, index)))
            .collect();
        map.originals.sort_unstable();
        Ok(map)
    }

    pub fn sources(&self) -> &[MappedSource] {
        &self.sources
    }

    /// What a place in the generated text was made from; `None` for text that nobody wrote.
    pub fn original(&self, generated: Position) -> Option<Original<'_>> {
        let line = generated.line_number();
        let start = self.tokens.partition_point(|token| token.line < line);
        let end = self.tokens.partition_point(|token| token.line <= line);
        let tokens = self.tokens.get(start..end)?;
        let column = generated.column_number().unwrap_or(0);
        let before = tokens.partition_point(|token| token.column <= column);
        // In front of the first mapping of the line the first one is meant.
        let token = tokens.get(before.saturating_sub(1))?;
        let original = token.original?;
        let source = self.sources.get(original.source as usize)?;
        let position = Position::from_zero_based(original.line, Some(original.column));
        Some(Original { source, position })
    }

    /// Where a file's line is in the generated text; the next line that is, if it is not. `None`
    /// when the file is no source of this map, or nothing from that line on is in the text.
    pub fn generated(&self, file: &UserFile, asked: Position) -> Option<Generated> {
        let found: Vec<OriginalToken> = (0u32..)
            .zip(&self.sources)
            .filter(|(_, source)| source.path.as_ref().is_some_and(|path| file.is(path, path)))
            .filter_map(|(source, _)| self.first_from(source, asked))
            .collect();
        let first = *found.iter().min_by_key(|token| (token.line, token.column))?;
        let positions: Vec<Position> = found
            .iter()
            .filter(|token| (token.line, token.column) == (first.line, first.column))
            .flat_map(|token| self.places_of(*token))
            .collect();
        let bound = if first.line == asked.line_number() { OnLine::Asked } else { OnLine::Moved };
        let original = Position::from_zero_based(first.line, Some(first.column));
        Some(Generated { positions, original, bound })
    }

    pub fn has(&self, file: &UserFile) -> bool {
        self.sources.iter().any(|s| s.path.as_ref().is_some_and(|path| file.is(path, path)))
    }

    /// The mapping that covers the column on its line, else the line's first, else the next line's.
    fn first_from(&self, source: u32, asked: Position) -> Option<OriginalToken> {
        let line = asked.line_number();
        let at = |column| OriginalToken { source, line, column };
        let index = |least: OriginalToken| self.originals.partition_point(|(o, _)| *o < least);
        let get = |index: usize| self.originals.get(index).map(|(original, _)| *original);
        let covering = asked.column_number().and_then(|column| {
            let after = index(at(column.saturating_add(1)));
            get(after.checked_sub(1)?).filter(|o| (o.source, o.line) == (source, line))
        });
        covering.or_else(|| get(index(at(0)))).filter(|original| original.source == source)
    }

    /// Each run of mappings to the same original is one place: its beginning.
    fn places_of(&self, original: OriginalToken) -> impl Iterator<Item = Position> {
        let start = self.originals.partition_point(|(other, _)| *other < original);
        self.originals
            .iter()
            .skip(start)
            .take_while(move |(other, _)| *other == original)
            .filter(move |(_, index)| {
                let before = index.checked_sub(1).and_then(|i| self.tokens.get(i as usize));
                before.is_none_or(|token| token.original != Some(original))
            })
            .filter_map(|(_, index)| self.tokens.get(*index as usize))
            .map(|token| Position::from_zero_based(token.line, Some(token.column)))
    }

    fn extend(
        &mut self,
        json: Json,
        offset: Offset,
        folder: Option<&std::path::Path>,
    ) -> Result<(), String> {
        for section in json.sections.unwrap_or_default() {
            // A section may also name a map elsewhere; no tool in use writes that.
            let Some(map) = section.map else { continue };
            self.extend(map, plus(offset, section.offset), folder)?;
        }
        let base = u32::try_from(self.sources.len()).map_err(|_| "too many sources")?;
        let mut contents = json.sources_content.into_iter();
        for name in json.sources {
            let name = name.unwrap_or_default();
            let path = locate::source(&name, json.source_root.as_deref(), folder);
            self.sources.push(MappedSource { name, path, content: contents.next().flatten() });
        }
        let tokens = vlq::decode(&json.mappings)?;
        if self.tokens.len().saturating_add(tokens.len()) > limits::MAP_TOKENS {
            return Err(format!("more than {} mappings", limits::MAP_TOKENS));
        }
        self.tokens.extend(tokens.into_iter().map(|token| moved(token, offset, base)));
        Ok(())
    }
}

/// Servers put `)]}'` in front of JSON to keep it from being run as a script; the spec has it ignored.
fn without_guard(json: &[u8]) -> &[u8] {
    if !json.starts_with(b")]}") {
        return json;
    }
    let end = json.iter().position(|byte| *byte == b'\n').unwrap_or(json.len());
    json.get(end..).unwrap_or_default()
}

fn plus(outer: Offset, inner: Offset) -> Offset {
    let column = if inner.line == 0 { outer.column } else { 0 };
    Offset {
        line: outer.line.saturating_add(inner.line),
        column: inner.column.saturating_add(column),
    }
}

fn moved(token: Token, offset: Offset, source_base: u32) -> Token {
    let column = if token.line == 0 { offset.column } else { 0 };
    Token {
        line: token.line.saturating_add(offset.line),
        column: token.column.saturating_add(column),
        original: token
            .original
            .map(|o| OriginalToken { source: o.source.saturating_add(source_base), ..o }),
    }
}

#[cfg(test)]
pub(crate) mod tests;
