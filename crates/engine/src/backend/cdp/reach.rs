//! Which lines of a file ran. V8 counts that by itself when it is asked to before anything is compiled, and costs
//! the program next to nothing; it is asked for the counts when the program is at its end.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use holdpoint_cdp::{Inserted, UserFile};
use serde::Deserialize;
use serde_json::json;

use super::{Cdp, functions};
use crate::{backend::Reached, failure::Failure, limits};

#[derive(Deserialize)]
struct Coverage {
    result: Vec<ScriptCoverage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScriptCoverage {
    script_id: String,
    functions: Vec<FunctionCoverage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FunctionCoverage {
    function_name: String,
    ranges: Vec<Range>,
}

/// What is inside of another range counts before it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    start_offset: usize,
    end_offset: usize,
    count: u64,
}

impl Cdp {
    pub(super) async fn begin_survey(&self, files: Vec<PathBuf>) -> Result<(), Failure> {
        if files.is_empty() {
            return Ok(());
        }
        self.call("Profiler.enable", json!({})).await?;
        let params = json!({ "callCount": false, "detailed": true });
        self.call("Profiler.startPreciseCoverage", params).await?;
        *self.surveyed() = files;
        Ok(())
    }

    /// What ran so far of the files that were asked for.
    pub async fn survey(&self) -> Vec<Reached> {
        let files = self.surveyed().clone();
        if files.is_empty() {
            return Vec::new();
        }
        let asked = self.requester.call("Profiler.takePreciseCoverage", json!({}));
        let Ok(Ok(answer)) = tokio::time::timeout(limits::ADAPTER_ANSWER, asked).await else {
            return Vec::new();
        };
        let Ok(coverage) = serde_json::from_value::<Coverage>(answer) else { return Vec::new() };
        let read = self.sources(move |sources| {
            let mut all = Vec::new();
            for file in files {
                let scripts: Vec<_> = sources
                    .scripts()
                    .of_file(&UserFile::new(&file))
                    .iter()
                    .map(|script| script.id.clone())
                    .collect();
                let mut lines = BTreeSet::new();
                for id in scripts {
                    let is_mapped = sources.source_map(&id).is_some();
                    let inserted = sources.inserted(&id).cloned();
                    let mine = coverage.result.iter().filter(|it| it.script_id == id.0);
                    mine.for_each(|it| {
                        lines.extend(it.lines(&file, is_mapped, inserted.as_deref()));
                    });
                }
                all.push(Reached { file, lines: lines.into_iter().collect() });
            }
            all
        });
        read.await.unwrap_or_default()
    }
}

impl ScriptCoverage {
    /// The lines that ran. Of a script that was made from the file only the functions are known, by their names.
    fn lines(&self, file: &Path, is_mapped: bool, inserted: Option<&Inserted>) -> Vec<u32> {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if is_mapped {
            let called = self.functions.iter().filter(|it| it.ranges.iter().any(|it| it.count > 0));
            let called: Vec<&str> = called.map(|it| it.function_name.as_str()).collect();
            let is_called =
                |name: &str| name.rsplit('.').next().is_some_and(|last| called.contains(&last));
            let all = functions::outline(&text).into_iter();
            return all.filter(|it| is_called(&it.name)).map(|it| it.body).collect();
        }
        let ranges = self.functions.iter().flat_map(|it| it.ranges.iter().copied());
        let ranges = ranges.map(|it| inserted.map_or(it, |inserted| it.without(inserted)));
        ran(&text, ranges.collect())
    }
}

impl Range {
    /// The same range of the text as it was before something was put into it.
    fn without(self, inserted: &Inserted) -> Range {
        let original = |offset: usize| {
            let original = inserted.original_offset(u32::try_from(offset).unwrap_or(u32::MAX));
            usize::try_from(original).unwrap_or(offset)
        };
        let (start_offset, end_offset) = (original(self.start_offset), original(self.end_offset));
        Range { start_offset, end_offset, count: self.count }
    }
}

/// The lines whose code begins in a range that ran.
fn ran(text: &str, mut ranges: Vec<Range>) -> Vec<u32> {
    // The innermost range is the shortest.
    ranges.sort_by_key(|it| it.end_offset - it.start_offset);
    let mut lines = Vec::new();
    let mut at = 0;
    for (number, line) in (1_u32..).zip(text.split_inclusive('\n')) {
        let margin = line.len() - line.trim_start().len();
        let begins = at + line.get(..margin).unwrap_or_default().encode_utf16().count();
        let is_code =
            line.trim().chars().any(char::is_alphanumeric) && !line.trim().starts_with("//");
        let around = ranges.iter().find(|it| (it.start_offset..it.end_offset).contains(&begins));
        if is_code && around.is_some_and(|it| it.count > 0) {
            lines.push(number);
        }
        at += line.encode_utf16().count();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_range_says_whether_a_line_ran() {
        let text = "function f(n) {\n  if (n) {\n    g('é');\n  }\n  return n;\n}\nf(0);\n";
        let at = |part: &str| text.split(part).next().unwrap().encode_utf16().count();
        let range = |start, end, count| Range { start_offset: start, end_offset: end, count };
        let whole = range(0, text.encode_utf16().count(), 1);
        let function = range(0, at("\nf(0)"), 1);
        let block = range(at("{\n    g"), at("\n  return"), 0);
        assert_eq!(ran(text, vec![whole, function, block]), [1, 2, 5, 7]);
        assert_eq!(ran(text, vec![whole, range(0, at("\nf(0)"), 0)]), [7]);
    }
}
