//! A file that was edited while a program runs it: agents do so all the time. What runs is what is shown, with
//! a word about where it went.

use std::{path::Path, sync::Arc};

use super::{LineMap, SourceView, source};

/// A file as the program runs it.
#[derive(Debug, Clone)]
pub struct Source {
    pub text: Arc<str>,
    /// How the file differs by now.
    pub edited: Option<Arc<Edited>>,
}

/// How a file differs from what runs.
#[derive(Debug, PartialEq)]
pub struct Edited {
    /// The text that runs; `None` where nobody has it any more.
    pub running: Option<Arc<str>>,
    /// Whether there is a file still.
    is_there: bool,
    map: LineMap,
}

impl Source {
    pub fn excerpt(&self, first: u32, last: u32, marked: Option<(u32, Option<u32>)>) -> SourceView {
        source::excerpt(&self.text, first, last, marked)
    }
}

impl Edited {
    /// `None` where both are the same.
    pub fn new(running: Arc<str>, now: Option<&str>) -> Option<Edited> {
        if now == Some(&*running) {
            return None;
        }
        let map = LineMap::new(&running, now.unwrap_or_default());
        Some(Edited { running: Some(running), is_there: now.is_some(), map })
    }

    /// The file has changed, and what it was before is not known.
    pub fn unknown(is_there: bool) -> Edited {
        Edited { running: None, is_there, map: LineMap::default() }
    }

    /// Where a line that runs is in the file now.
    pub fn now(&self, line: u32) -> Option<u32> {
        self.map.in_new(line)
    }

    /// Which line that runs a line of the file is.
    pub fn running(&self, line: u32) -> Option<u32> {
        self.map.in_old(line)
    }

    /// What to say beside lines of it; `line` is the one that matters.
    pub fn note(&self, file: &Path, line: Option<u32>) -> String {
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        let new_text = "`debug_restart` runs the new text";
        match (&self.running, self.is_there) {
            (_, false) => format!("{name} is no longer there: these lines are the ones that run"),
            (None, true) => format!(
                "{name} changed on disk after the program began, and what it was is not known: the lines \
                 shown are the new ones, and others may run; {new_text}"
            ),
            (Some(_), true) => {
                let went = match line.map(|line| (line, self.now(line))) {
                    None => String::new(),
                    Some((line, Some(now))) if line == now => {
                        format!("; line {line} is the same in both")
                    }
                    Some((line, Some(now))) => format!("; line {line} is line {now} there now"),
                    Some((line, None)) => format!("; line {line} is not in it any more"),
                };
                format!(
                    "{name} changed on disk since it was loaded{went}. Lines and numbers here are those \
                     that run; {new_text}"
                )
            }
        }
    }
}
