//! Which rooms know which: each only those before it, so that none stand in a circle.

use std::{fs, path::Path};

/// From the leaves up.
const ROOMS: &[&str] = &[
    "expression",
    "template",
    "language",
    "nouns",
    "breakpoints",
    "backend",
    "adapter",
    "inspect",
    "session",
];

#[test]
fn no_room_knows_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (at, room) in ROOMS.iter().enumerate() {
        let mut files = vec![src.join(format!("{room}.rs"))];
        collect(&src.join(room), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for known in known(&text) {
                let above = ROOMS.iter().position(|it| *it == known).filter(|it| *it > at);
                if above.is_some() {
                    wrong.push(format!("{}: {known}", file.strip_prefix(&src).unwrap().display()));
                }
            }
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if name.ends_with(".rs") && !matches!(&*name, "tests.rs" | "recordings.rs") {
            files.push(path);
        }
    }
}

/// What a file names of the crate, but for its tests.
fn known(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = text.lines().filter(|it| !it.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let word = |it: &str| it.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    let mut known = Vec::new();
    for after in text.split("crate::").skip(1) {
        let Some(list) = after.strip_prefix('{') else {
            known.push(word(after));
            continue;
        };
        let mut depth = 0;
        let mut begins = true;
        for (at, it) in list.char_indices() {
            match it {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                it if begins && it.is_alphabetic() => {
                    known.push(word(list.get(at..).unwrap()));
                    begins = false;
                }
                _ => {}
            }
        }
    }
    known
}
