//! The text that V8 runs for a file, whatever the file has become.

use std::path::Path;

use holdpoint_cdp::{
    Sources, UserFile,
    types::{ScriptId, debugger::GetScriptSource},
};

use super::Cdp;
use crate::{backend::RunningText, failure::Failure};

enum Whence {
    Script(ScriptId),
    /// A source map carries it.
    Content(String),
    Nothing(RunningText),
}

pub(super) async fn running(cdp: &Cdp, file: &Path) -> Result<RunningText, Failure> {
    let user_file = UserFile::new(file);
    let is_typed =
        file.extension().is_some_and(|it| ["ts", "mts", "cts"].iter().any(|ts| it == *ts));
    let paused = cdp.moment().paused.clone();
    let stands_in: Vec<ScriptId> = paused
        .iter()
        .flat_map(|it| it.call_frames.iter().map(|frame| frame.location.script_id.clone()))
        .collect();
    let found = cdp.sources(move |sources| find(sources, &user_file, &stands_in, is_typed)).await?;
    Ok(match found {
        Whence::Script(script_id) => RunningText::Text(match cdp.unwoven(&script_id) {
            Some(text) => text,
            None => cdp.ask(GetScriptSource { script_id }).await?.script_source,
        }),
        Whence::Content(text) => RunningText::Text(text),
        Whence::Nothing(running) => running,
    })
}

/// Of several generations of a file, one that the thread stands in, else the newest.
fn find(sources: &mut Sources, file: &UserFile, stands_in: &[ScriptId], is_typed: bool) -> Whence {
    let own = sources.scripts().of_file(file);
    let here = own.iter().find(|it| stands_in.contains(&it.id)).or(own.last());
    let own = here.map(|it| it.id.clone());
    if let Some(id) = own
        && !sources.source_map(&id).is_some_and(|map| map.has(file))
    {
        // Without its types a `.ts` is another text, line by line.
        return if is_typed { Whence::Nothing(RunningText::Unknown) } else { Whence::Script(id) };
    }
    let with_map: Vec<ScriptId> = sources
        .scripts()
        .iter()
        .filter(|it| it.source_map_url.is_some())
        .map(|it| it.id.clone())
        .collect();
    let mut nothing = RunningText::NotLoaded;
    for id in with_map {
        let all = sources.source_map(&id).map(|map| map.sources()).unwrap_or_default();
        let mut mine = all.iter().filter(|it| it.path.as_ref().is_some_and(|it| file.is(it, it)));
        if let Some(source) = mine.next() {
            if let Some(content) = &source.content {
                return Whence::Content(content.clone());
            }
            nothing = RunningText::Unknown;
        }
    }
    Whence::Nothing(nothing)
}
