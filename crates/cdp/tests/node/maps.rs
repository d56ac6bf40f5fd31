//! Scripts that people wrote in another file.

use holdpoint_cdp::{Hold, OnLine, Position, UserFile, types::debugger::SetBreakpointByUrl};

use crate::harness::{Folder, Node, evaluate, line_of, set_breakpoint};

/// Two lines of `src/sum.ts`, bundled into one line:
/// line 2 `  const sum = a + b;` at column 24, line 3 `  return sum;` at column 42.
const BUNDLE: &str = "function add(a, b) {   const sum = a + b; return sum; }\nadd(1, 2);\n//# sourceMappingURL=bundle.js.map\n";
const MAP: &str = r#"{"version":3,"file":"bundle.js","sourceRoot":"../src/","sources":["sum.ts"],"names":[],"mappings":"AAAA,uBACE,mBACA;AAEF"}"#;

#[tokio::test]
async fn a_breakpoint_in_a_source_stops_in_the_bundle() {
    let folder = Folder::new();
    folder.write(
        "src/sum.ts",
        "function add(a: number, b: number) {\n  const sum = a + b;\n  return sum;\n}\nadd(1, 2);\n",
    );
    folder.write("dist/bundle.js", BUNDLE);
    folder.write("dist/bundle.js.map", MAP);
    folder.write("plain.js", "exports.a = 1;\n");
    folder.write("package.json", "{}");
    stops_in_source(&folder, "main.js", "require('./plain.js');\nrequire('./dist/bundle.js');\n")
        .await;
    std::fs::rename(folder.path().join("dist/bundle.js"), folder.path().join("dist/bundle.mjs"))
        .unwrap();
    stops_in_source(
        &folder,
        "main.mjs",
        "import './plain.js';\nawait import('./dist/bundle.mjs');\n",
    )
    .await;
}

/// The bundle is loaded after the start: held before its first statement, to look at its map.
async fn stops_in_source(folder: &Folder, name: &str, text: &str) {
    let source = folder.path().join("src/sum.ts");
    let program = folder.write(name, text);
    let mut node = Node::start_stopped(&program).await;
    let hold = Hold::set(&node.client).await.unwrap();
    node.resume().await;
    let (_, paused) = node.paused().await;
    let held = hold.held(&node.client, &paused).await.unwrap().expect("held");
    assert!(held.file.starts_with(folder.path().join("dist")), "{held:?}");

    let map = held.source_map().unwrap().unwrap();
    let found = map.generated(&UserFile::new(&source), Position::new(3, None).unwrap()).unwrap();
    assert_eq!(found.bound, OnLine::Asked);
    let position = found.positions[0];
    assert_eq!((position.line(), position.column()), (1, Some(43)));
    let command = SetBreakpointByUrl {
        line_number: position.line_number(),
        url_regex: UserFile::new(&held.file).url_regex(),
        column_number: position.column_number(),
        condition: None,
    };
    let set = node.client.send(command).await.unwrap();
    node.resume().await;

    let (_, paused) = node.paused().await;
    assert_eq!(paused.hit_breakpoints, [set.breakpoint_id]);
    assert!(!hold.is_at(&paused));
    let frame = &paused.call_frames[0];
    let place = node.sources.place(&frame.location).unwrap();
    assert_eq!(place.file.as_ref(), Some(&source));
    assert_eq!((place.position.line(), place.mapped), (3, true));
    assert_eq!(evaluate(&node.client, frame, "sum").await.value, Some(3.into()));
    // Now that it is loaded, the registry knows the same.
    let asked = Position::new(3, None).unwrap();
    let known = node.sources.generated(&UserFile::new(&source), asked);
    assert_eq!(known.len(), 1);
    assert!(known[0].mapped && known[0].generated == found);
    assert_eq!(node.sources.take_failures(), []);
}

#[tokio::test]
async fn a_script_whose_map_is_missing_is_shown_as_it_is() {
    let folder = Folder::new();
    let program = folder.write("main.js", "let a = 1;\na++;\n//# sourceMappingURL=gone.js.map\n");
    let mut node = Node::start_stopped(&program).await;
    set_breakpoint(&node.client, &program, 2).await;
    node.resume().await;
    let (_, paused) = node.paused().await;
    assert_eq!(line_of(&paused), 2);
    let place = node.sources.place(&paused.call_frames[0].location).unwrap();
    assert_eq!((place.file, place.position.line(), place.mapped), (Some(program), 2, false));
    assert_eq!(node.sources.take_failures().len(), 1);
}
