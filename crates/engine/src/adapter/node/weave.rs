//! Tracepoints that are there when a program is launched are put into its texts: each file that has some is read here and
//! handed to the program in a file of ours, from which the recorder's loader (`clients/js/record/weave.cjs`) takes it in
//! the place of the one on the disk, if that is still the same. What cannot be done so is left to V8.

use std::{
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_cdp::{Inserted, InsertedPiece, UserFile};
use holdpoint_instrument::{Goal, LeftAlone, SourceText, Woven, WovenCall, WovenPoint};
use serde_json::{Map, Value, json};

use super::recorder;
use crate::{
    adapter::provided,
    backend::{
        Wanted,
        cdp::{WovenText, WovenTexts, counted},
    },
    limits,
};

/// Set to the file with the texts.
pub(super) const TEXTS: &str = "HOLDPOINT_WEAVE";

/// What a launch brings along for its tracepoints. The file is gone with it.
pub(super) struct Weaving {
    pub(super) file: PathBuf,
    /// What the program requires before anything of its own.
    pub(super) loader: PathBuf,
    pub(super) texts: Arc<WovenTexts>,
}

impl Drop for Weaving {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.file) {
            tracing::debug!(%error, "woven texts are gone already");
        }
    }
}

/// `None` where no tracepoint can be woven, or nothing can be written: then V8 has them all.
pub(super) fn weave(
    home: &Path,
    name: &str,
    wanted: Vec<(PathBuf, Vec<Wanted>)>,
) -> Option<Weaving> {
    let mut texts = Vec::new();
    let mut files = Map::new();
    for (file, wanted) in wanted {
        let counted: Vec<(WovenPoint, u64)> = wanted.iter().filter_map(counted).collect();
        let points: Vec<WovenPoint> = counted.iter().map(|(it, _)| it.clone()).collect();
        if points.is_empty() || texts.len() >= limits::WOVEN_FILES {
            continue;
        }
        let file = UserFile::new(&file).real().to_owned();
        let Some((source, goal, woven)) = text(&file, &points) else { continue };
        let entry = json!({
            "source": source, "made": woven.text, "places": woven.places,
            "module": goal == Goal::Module, "calls": woven.calls.iter().map(call).collect::<Value>(),
        });
        files.insert(file.to_str()?.to_owned(), entry);
        texts.push(kept(file, source, counted, &woven));
    }
    if texts.is_empty() {
        return None;
    }
    match write(home, name, &json!({ "files": files })) {
        Ok((file, loader)) => Some(Weaving { file, loader, texts: Arc::new(WovenTexts(texts)) }),
        Err(error) => {
            tracing::debug!(%error, "tracepoints are not woven");
            None
        }
    }
}

fn call(it: &WovenCall) -> Value {
    json!({
        "id": it.id, "names": it.names, "condition": it.condition, "expressions": it.expressions,
    })
}

fn text(file: &Path, points: &[WovenPoint]) -> Option<(String, Goal, Woven)> {
    let ending = file.extension().and_then(|it| it.to_str())?;
    let goals: &[Goal] = match ending {
        "js" => &[Goal::CommonJs, Goal::Module],
        "cjs" => &[Goal::CommonJs],
        "mjs" => &[Goal::Module],
        // Types are taken out, or a map leads back: another text runs.
        _ => return None,
    };
    let source = std::fs::read_to_string(file).ok()?;
    for goal in goals {
        let given = SourceText { text: &source, goal: *goal, typescript: false, jsx: false };
        match holdpoint_instrument::weave(given, points) {
            Ok(woven) => return Some((source, *goal, woven)),
            Err(LeftAlone::Syntax) => {}
            Err(left) => {
                tracing::debug!(file = %file.display(), why = left.word(), "nothing is woven");
                return None;
            }
        }
    }
    None
}

fn kept(file: PathBuf, source: String, points: Vec<(WovenPoint, u64)>, woven: &Woven) -> WovenText {
    let piece = |it: &holdpoint_instrument::WovenPiece| InsertedPiece {
        offset: it.offset,
        line: it.line,
        column: it.column,
        length: it.length,
    };
    let inserted = Inserted {
        length: u64::try_from(woven.text.encode_utf16().count()).unwrap_or(u64::MAX),
        pieces: woven.pieces.iter().map(piece).collect(),
    };
    let is_in = |(it, _): &(WovenPoint, u64)| woven.calls.iter().any(|call| call.id == it.id);
    let points = points.into_iter().filter(is_in).collect();
    WovenText { file, source, inserted: Arc::new(inserted), points }
}

fn write(home: &Path, name: &str, texts: &Value) -> std::io::Result<(PathBuf, PathBuf)> {
    provided::below(home, |base| {
        let loader = recorder::written(base)?.join("weave.cjs");
        let folder = base.join("node");
        std::fs::create_dir_all(&folder)?;
        let file = folder.join(format!("{name}.woven.json"));
        let mut options = std::fs::OpenOptions::new();
        let mut out = options.write(true).create(true).truncate(true).mode(0o600).open(&file)?;
        out.write_all(texts.to_string().as_bytes())?;
        Ok((file, loader))
    })
}
