//! The scripts of one thread: which id is which URL is which file.
//!
//! Node names a file by its percent-encoded file URL (older ones by its plain path), always by its
//! real path, and again under a new id each time it is loaded. People name it by any path that leads
//! there. Reads the file system to follow symbolic links. Unix paths; Windows is not done.

use std::{
    collections::{HashMap, VecDeque},
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Component, Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use crate::{
    limits,
    types::{ContextId, ScriptId, debugger::ScriptParsed},
};

/// What stays itself in a path of a URL. Node escapes less than this; nobody may compare text.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Where a script comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptOrigin {
    /// A file; `path` as the URL says, `real` with symbolic links followed.
    File { path: PathBuf, real: PathBuf },
    /// Part of Node itself: `node:internal/…`.
    Internal,
    /// `eval` and friends: no name at all.
    Anonymous,
    /// Some other name: `evalmachine.<anonymous>`, `https:`, `wasm:`, `data:`.
    Other,
}

/// One script as V8 compiled it.
#[derive(Clone, Debug)]
pub struct Script {
    pub id: ScriptId,
    pub url: String,
    pub origin: ScriptOrigin,
    pub source_map_url: Option<String>,
    pub context: Option<ContextId>,
    pub is_module: bool,
    pub hash: String,
    /// Zero-based, as announced: not zero for a script inside another document.
    pub start_line: u32,
    pub end_line: u32,
}

impl Script {
    pub fn new(parsed: &ScriptParsed) -> Script {
        let map = &parsed.source_map_url;
        Script {
            id: parsed.script_id.clone(),
            url: parsed.url.clone(),
            origin: ScriptOrigin::of_url(&parsed.url),
            source_map_url: (!map.is_empty()).then(|| map.clone()),
            context: parsed.execution_context_id,
            is_module: parsed.is_module,
            hash: parsed.hash.clone(),
            start_line: parsed.start_line,
            end_line: parsed.end_line,
        }
    }

    /// The file, by its real path.
    pub fn file(&self) -> Option<&Path> {
        match &self.origin {
            ScriptOrigin::File { real, .. } => Some(real),
            ScriptOrigin::Internal | ScriptOrigin::Anonymous | ScriptOrigin::Other => None,
        }
    }
}

impl ScriptOrigin {
    fn of_url(url: &str) -> ScriptOrigin {
        if url.is_empty() {
            return ScriptOrigin::Anonymous;
        }
        if url.starts_with("node:") {
            return ScriptOrigin::Internal;
        }
        match path_of_url(url) {
            Some(path) => ScriptOrigin::File { real: real_path(&path), path },
            None => ScriptOrigin::Other,
        }
    }
}

/// A file as a person names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFile {
    given: PathBuf,
    real: PathBuf,
}

impl UserFile {
    /// An absolute path, or one relative to the current folder. The file need not exist.
    pub fn new(path: &Path) -> UserFile {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let real = real_path(&absolute);
        UserFile { given: normal(&absolute), real }
    }

    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Whether a path, of a script or of a source in a map, leads to this file.
    pub fn is(&self, path: &Path, real: &Path) -> bool {
        real == self.real || path == self.real || path == self.given
    }

    /// For `Debugger.setBreakpointByUrl`: matches every spelling of this file's URL that Node may
    /// use, and nothing else, whether or not it is loaded yet.
    pub fn url_regex(&self) -> String {
        let mut paths = vec![self.real.as_path()];
        if self.given != self.real {
            // For `--preserve-symlinks`, and for programs on another machine.
            paths.push(&self.given);
        }
        let one: Vec<String> = paths.into_iter().map(path_regex).collect();
        format!("^(?:{})$", one.join("|"))
    }
}

/// All scripts of one thread.
#[derive(Debug, Default)]
pub struct Scripts {
    by_id: HashMap<ScriptId, Script>,
    by_real: HashMap<PathBuf, Vec<ScriptId>>,
    named: VecDeque<ScriptId>,
    anonymous: VecDeque<ScriptId>,
}

impl Scripts {
    /// Takes a script, and returns the one that was forgotten for it, if any.
    pub fn add(&mut self, script: Script) -> Option<ScriptId> {
        let id = script.id.clone();
        self.forget(&id);
        if let Some(file) = script.file() {
            self.by_real.entry(file.to_owned()).or_default().push(id.clone());
        }
        let (queue, most) = match script.origin {
            ScriptOrigin::Anonymous => (&mut self.anonymous, limits::ANONYMOUS_SCRIPTS),
            ScriptOrigin::File { .. } | ScriptOrigin::Internal | ScriptOrigin::Other => {
                (&mut self.named, limits::SCRIPTS)
            }
        };
        queue.push_back(id.clone());
        let oldest = if queue.len() > most { queue.pop_front() } else { None };
        self.by_id.insert(id, script);
        oldest.inspect(|oldest| self.forget(oldest))
    }

    pub fn get(&self, id: &ScriptId) -> Option<&Script> {
        self.by_id.get(id)
    }

    /// Every script that is this file, the latest generation last.
    pub fn of_file(&self, file: &UserFile) -> Vec<&Script> {
        let mut real: Vec<&ScriptId> = self.by_real.get(&file.real).into_iter().flatten().collect();
        if file.given != file.real {
            real.extend(self.by_real.get(&file.given).into_iter().flatten());
        }
        real.into_iter().filter_map(|id| self.by_id.get(id)).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Script> {
        self.by_id.values()
    }

    fn forget(&mut self, id: &ScriptId) {
        let Some(script) = self.by_id.remove(id) else { return };
        if let Some(file) = script.file()
            && let Some(ids) = self.by_real.get_mut(file)
        {
            ids.retain(|other| other != id);
        }
    }
}

/// The file URL of an absolute path.
pub fn file_url(path: &Path) -> String {
    format!("file://{}", percent_encode(path.as_os_str().as_bytes(), ESCAPED))
}

/// The path that a script's URL means: a file URL without its query and fragment, or a plain path.
pub fn path_of_url(url: &str) -> Option<PathBuf> {
    let Some(rest) = url.strip_prefix("file://") else {
        return url.starts_with('/').then(|| PathBuf::from(url));
    };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let encoded = rest.split(['?', '#']).next().unwrap_or_default();
    if !encoded.starts_with('/') {
        return None;
    }
    let bytes: Vec<u8> = percent_decode_str(encoded).collect();
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// Symbolic links followed as far as the path exists, the rest as it stands.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let path = normal_if_missing(path);
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return match path.strip_prefix(ancestor) {
                Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
                Ok(_) | Err(_) => real,
            };
        }
    }
    path
}

/// `a/link/../b` is not `a/b`: dots are taken out by hand only where no file system can say.
fn normal_if_missing(path: &Path) -> PathBuf {
    if path.exists() { path.to_owned() } else { normal(path) }
}

/// Without `.` and `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    normal
}

/// One path as URL, with anything after it that ES modules use to load a file again, or plain.
fn path_regex(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let mut url = String::new();
    let mut plain = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            url.push_str(&url_character(character));
            plain.push_str(&escaped(character));
        }
        for byte in chunk.invalid() {
            url.push_str(&percent(&[*byte]));
            // No JavaScript string can have it.
            plain.push('\u{fffd}');
        }
    }
    format!(r"file://{url}(?:[?#].*)?|{plain}")
}

/// Versions of Node differ in what they escape, so a character matches both ways; except those
/// that mean something else in a URL when they are not escaped.
fn url_character(character: char) -> String {
    let encoded = || percent(character.encode_utf8(&mut [0; 4]).as_bytes());
    match character {
        '/' | '-' | '_' | '~' | '0'..='9' | 'a'..='z' | 'A'..='Z' => character.to_string(),
        '%' | '?' | '#' => encoded(),
        _ => format!("(?:{}|{})", escaped(character), encoded()),
    }
}

fn percent(bytes: &[u8]) -> String {
    let digit = |nibble: u8| match char::from_digit(u32::from(nibble), 16) {
        Some(letter) if letter.is_ascii_alphabetic() => {
            format!("[{letter}{}]", letter.to_ascii_uppercase())
        }
        Some(number) => number.to_string(),
        None => String::new(),
    };
    bytes.iter().map(|byte| format!("%{}{}", digit(byte >> 4), digit(byte & 15))).collect()
}

fn escaped(character: char) -> String {
    match character {
        '\\' | '^' | '$' | '.' | '|' | '?' | '*' | '+' | '(' | ')' | '[' | ']' | '{' | '}' => {
            format!("\\{character}")
        }
        _ => character.to_string(),
    }
}

#[cfg(test)]
mod tests;
