//! Questions to maps that are written out in the test.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::vlq::tests::encode;

/// `(generated line, column, original line, column)`, all as people count.
pub(crate) fn mappings(places: &[(u32, u32, u32, u32)]) -> String {
    let tokens: Vec<Token> = places
        .iter()
        .map(|&(line, column, original, original_column)| Token {
            line: line - 1,
            column: column - 1,
            original: Some(OriginalToken {
                source: 0,
                line: original - 1,
                column: original_column - 1,
            }),
        })
        .collect();
    encode(&tokens)
}

fn map(places: &[(u32, u32, u32, u32)]) -> SourceMap {
    let json =
        json!({"version": 3, "sources": ["a.ts"], "names": [], "mappings": mappings(places)});
    parse(&json)
}

fn parse(json: &serde_json::Value) -> SourceMap {
    SourceMap::parse(json.to_string().as_bytes(), Some(Path::new("/nowhere"))).unwrap()
}

fn at(line: u32, column: u32) -> Position {
    Position::new(line, Some(column)).unwrap()
}

fn line(line: u32) -> Position {
    Position::new(line, None).unwrap()
}

/// Generated places, the original line, and whether it is the one asked for.
type Found = (Vec<(u32, u32)>, u32, OnLine);

fn generated(map: &SourceMap, file: &str, asked: Position) -> Option<Found> {
    let found = map.generated(&UserFile::new(Path::new(file)), asked)?;
    let places = found.positions.iter().map(|p| (p.line(), p.column().unwrap())).collect();
    Some((places, found.original.line(), found.bound))
}

#[test]
fn a_line_is_found_by_its_first_mapping_or_the_next_line_says_so() {
    let map = map(&[(1, 1, 2, 5), (1, 20, 2, 9), (2, 3, 5, 1)]);
    assert_eq!(generated(&map, "/nowhere/a.ts", line(2)), Some((vec![(1, 1)], 2, OnLine::Asked)));
    assert_eq!(
        generated(&map, "/nowhere/a.ts", at(2, 10)),
        Some((vec![(1, 20)], 2, OnLine::Asked))
    );
    assert_eq!(generated(&map, "/nowhere/a.ts", at(2, 1)), Some((vec![(1, 1)], 2, OnLine::Asked)));
    assert_eq!(generated(&map, "/nowhere/a.ts", line(3)), Some((vec![(2, 3)], 5, OnLine::Moved)));
    assert_eq!(generated(&map, "/nowhere/a.ts", at(3, 9)), Some((vec![(2, 3)], 5, OnLine::Moved)));
    assert_eq!(generated(&map, "/nowhere/a.ts", line(6)), None);
    assert_eq!(generated(&map, "/nowhere/b.ts", line(2)), None);
}

#[test]
fn text_that_was_copied_is_found_everywhere_and_a_run_once() {
    let map = map(&[(1, 1, 2, 1), (1, 9, 2, 1), (3, 1, 4, 1), (7, 5, 2, 1)]);
    let found = generated(&map, "/nowhere/a.ts", line(2)).unwrap();
    assert_eq!(found.0, [(1, 1), (7, 5)]);
}

#[test]
fn a_generated_place_has_the_mapping_that_covers_it() {
    let map = map(&[(2, 5, 1, 1), (2, 20, 3, 7), (4, 1, 9, 1)]);
    let original = |p| map.original(p).map(|o| (o.position.line(), o.position.column().unwrap()));
    assert_eq!(original(at(2, 5)), Some((1, 1)));
    assert_eq!(original(at(2, 19)), Some((1, 1)));
    assert_eq!(original(at(2, 900)), Some((3, 7)));
    assert_eq!(original(at(2, 1)), Some((1, 1)), "in front of the first");
    assert_eq!(original(line(4)), Some((9, 1)));
    assert_eq!(original(at(3, 1)), None, "a line without mappings is not its neighbour's");
    assert_eq!(original(at(5, 1)), None);
}

#[test]
fn sections_are_moved_to_their_places() {
    let section = |line: u32, column: u32, source: &str| {
        let map = json!({"version": 3, "sources": [source], "mappings": mappings(&[(1, 1, 1, 1), (2, 1, 2, 1)])});
        json!({"offset": {"line": line, "column": column}, "map": map})
    };
    let map =
        parse(&json!({"version": 3, "sections": [section(10, 4, "b.ts"), section(0, 0, "a.ts")]}));
    assert_eq!(generated(&map, "/nowhere/b.ts", line(1)).unwrap().0, [(11, 5)]);
    assert_eq!(generated(&map, "/nowhere/b.ts", line(2)).unwrap().0, [(12, 1)]);
    let original = map.original(at(2, 3)).unwrap();
    assert_eq!((original.source.name.as_str(), original.position.line()), ("a.ts", 2));
}

#[test]
fn offsets_that_overflow_are_harmless() {
    let inner = json!({"version": 3, "sources": ["a.ts"], "mappings": mappings(&[(1, 9, 1, 1), (3, 9, 2, 1)])});
    let offset = json!({"line": u32::MAX, "column": u32::MAX});
    parse(&json!({"version": 3, "sections": [{"offset": offset, "map": inner}]}));
}

#[test]
fn mappings_to_a_source_that_is_not_there_lead_nowhere() {
    let map = parse(&json!({"version": 3, "sources": [], "mappings": mappings(&[(1, 1, 1, 1)])}));
    assert_eq!(map.original(at(1, 1)), None);
}

#[test]
fn a_guard_against_scripts_is_skipped() {
    assert!(
        SourceMap::parse(b")]}'\n{\"version\":3,\"sources\":[],\"mappings\":\"\"}", None).is_ok()
    );
    assert!(SourceMap::parse(b")]}'", None).is_err());
}

proptest! {
    #[test]
    fn garbage_is_an_error_not_a_panic(json in prop::collection::vec(any::<u8>(), 0..100), text in "[A-Za-z0-9+/,;]*") {
        drop(SourceMap::parse(&json, None));
        let json = json!({"sources": ["a"], "mappings": text}).to_string();
        if let Ok(map) = SourceMap::parse(json.as_bytes(), None) {
            map.original(at(1, 1));
        }
    }

    /// What is found for a line leads back to that line.
    #[test]
    fn there_and_back(places in prop::collection::vec((1..20u32, 1..80u32, 1..20u32, 1..80u32), 1..40), asked in 1..20u32) {
        let mut places = places;
        places.sort_by_key(|p| (p.0, p.1));
        places.dedup_by_key(|p| (p.0, p.1));
        let map = map(&places);
        if let Some(found) = map.generated(&UserFile::new(Path::new("/nowhere/a.ts")), line(asked)) {
            prop_assert!(!found.positions.is_empty());
            for place in found.positions {
                prop_assert_eq!(map.original(place).unwrap().position, found.original);
            }
        }
    }
}
