//! Sessions against an adapter that is played, as text: the real actor, teller and backend, and a connection
//! in memory at whose other end the script stands. One file per defect or quirk.
//!
//! ```text
//! $ continue            what a caller does; `$ launch as java` connects to an adapter of that kind
//! < stopped {…}         what the adapter says by itself: an event and its body
//! < refuses continue: … what it does with such requests from now on; also `answers`, `holds`, `releases`
//! < floods E {…} until C   the event E again and again, until it hears the command C
//! < requests R {…}       what it wants of us
//! < closes              the connection ends
//! <2 stopped {…}        the same of the adapter of a child process, which `$ child` connects to
//! ~ 10s                 time passes
//! … &                   the next line comes before everybody has done what they do
//!     > continue {…}    what the adapter hears thereupon
//!     = stopped …       what is on the log thereupon, and what the caller is answered
//! ```
//!
//! Lines with `>` and `=` are what is checked; `UPDATE_EXPECT=1` writes them. Read them before they are kept.
//! The clock is paused, so nothing takes time and no deadline is missed by chance.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on should stop where it stands"
)]

mod show;
mod stage;

use std::{fs, path::Path};

use self::stage::Stage;

#[test]
fn defects() {
    check("defects");
}

#[test]
fn quirks() {
    check("quirks");
}

/// Plays every file of a folder.
#[track_caller]
fn check(folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(folder);
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for file in files {
        let expected = fs::read_to_string(&file).unwrap();
        let played = play(&expected);
        if played == expected {
            continue;
        }
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        wrong.push(format!("--- {name}: expected\n{expected}--- {name}: played\n{played}"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&file, played).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

/// The script with what came of it.
fn play(script: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let is_given = |line: &&str| !line.starts_with("    ");
    runtime.block_on(async {
        let mut stage = Stage::default();
        let mut text = String::new();
        for line in script.lines().filter(is_given) {
            text.push_str(line);
            text.push('\n');
            for came in stage.take(line).await {
                text.push_str(&format!("    {came}\n"));
            }
        }
        text
    })
}
