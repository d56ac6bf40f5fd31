//! The tools that a workspace brings along: `.holdpoint/tools/*.yaml`, looked at once at the start.
//!
//! One that is wrong, or that the user does not trust, is not mounted, and is told of: on stderr, by `holdpoint doctor`
//! and by `server_status`. It never stops a start, which an agent's work hangs on.

use std::{
    collections::BTreeSet,
    fmt, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_engine::{failure::Code, limits};
use holdpoint_metadata::{
    Carrier, CommandPart, FILE_BYTES, ShellCarrier, TextPiece, TextTemplate, ToolSpec,
};
use serde::Serialize;

use super::{Editor, WORKSPACE, built_in, describe, entry, trust::Trust};
use crate::{
    tool::{Entry, nearest},
    tools::{MORE, TOOLS, external},
};

/// The command that trusts.
pub(crate) const TRUST: &str = "holdpoint tools trust";

/// Where the files of a workspace are.
pub(crate) fn folder(workspace: &Path) -> PathBuf {
    workspace.join(".holdpoint").join("tools")
}

/// One file, as it was found.
#[derive(Debug, Clone)]
pub(crate) struct ToolFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) state: FileState,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FileState {
    /// It is right, and trusted.
    Mounted(Box<ToolSpec>),
    /// It is right, and waits for the user's word.
    Untrusted(Box<ToolSpec>),
    /// It says itself that it is not to be there.
    Disabled,
    /// What is wrong, each with its line.
    Wrong(Vec<(usize, String)>),
}

/// One file for whoever asks how the server stands.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FileRow {
    pub(crate) file: PathBuf,
    pub(crate) state: &'static str,
    pub(crate) detail: String,
}

/// All files of a workspace, with what is to be said of each.
pub(crate) fn look(workspace: &Path, trust: &Trust) -> Vec<ToolFile> {
    let mut taken: BTreeSet<String> = names_of_ours();
    let mut files = Vec::new();
    for path in paths(&folder(workspace)) {
        files.push(file(path, trust, &mut taken));
    }
    files
}

/// What those that are right and trusted become, and what is to be said of all of them.
pub(crate) fn mounted(workspace: &Path, toolset: &[String]) -> (Vec<Entry>, Vec<FileRow>) {
    let files = look(workspace, &Trust::load());
    if files.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let editor = Arc::new(Editor::of(workspace));
    // Whoever put a file there wants it in every list.
    let mut toolsets = toolset.to_vec();
    toolsets.push("agent".to_owned());
    let mut entries = Vec::new();
    for file in &files {
        if let FileState::Mounted(spec) = &file.state {
            let origin = file.path.display().to_string();
            entries.push(entry((**spec).clone(), WORKSPACE, origin, &toolsets, &editor));
        }
    }
    (entries, files.iter().map(FileRow::of).collect())
}

fn names_of_ours() -> BTreeSet<String> {
    let ours = TOOLS.iter().chain([MORE]).chain(external::every());
    let ours = ours.map(|it| it.name().to_owned());
    ours.chain(built_in().map(|(_, spec)| spec.name)).collect()
}

/// The files in the order of their names.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|it| it == "yaml" || it == "yml");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_yaml).collect();
    paths.sort_unstable();
    paths.truncate(limits::TOOL_FILES);
    paths
}

fn file(path: PathBuf, trust: &Trust, taken: &mut BTreeSet<String>) -> ToolFile {
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) => {
            let state = FileState::Wrong(vec![(1, format!("it cannot be read: {error}"))]);
            return ToolFile { path, text: String::new(), state };
        }
    };
    let state = match checked(&text) {
        Err(wrong) => FileState::Wrong(wrong),
        Ok(spec) if !spec.enabled => FileState::Disabled,
        Ok(spec) if !taken.insert(spec.name.clone()) => {
            let name = &spec.name;
            FileState::Wrong(vec![(
                1,
                format!("there is a tool `{name}` already; rename this one"),
            )])
        }
        Ok(spec) if trust.has(&path, &text) => FileState::Mounted(Box::new(spec)),
        Ok(spec) => FileState::Untrusted(Box::new(spec)),
    };
    ToolFile { path, text, state }
}

/// The file by the one reader, and what only a server knows: which codes and which tools there are.
pub(crate) fn checked(text: &str) -> Result<ToolSpec, Vec<(usize, String)>> {
    let spec = ToolSpec::read(text).map_err(|complaints| {
        complaints.into_iter().map(|it| (it.line, it.text)).collect::<Vec<_>>()
    })?;
    let mut wrong = Vec::new();
    for known in spec.errors.iter().filter(|it| Code::named(&it.code).is_none()) {
        let near = nearest(&known.code, Code::ALL.iter().map(|it| it.as_str()));
        let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        wrong.push((known.line, format!("no failure has the code `{}`{near}", known.code)));
    }
    let ours = names_of_ours();
    for name in describe::mentioned(&spec).into_keys().filter(|it| !ours.contains(*it)) {
        let near = nearest(name, ours.iter().map(String::as_str));
        let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        wrong.push((1, format!("`prerequisites`: there is no tool `{name}`{near}")));
    }
    if wrong.is_empty() { Ok(spec) } else { Err(wrong) }
}

/// Only a plain file, and no more of it than such files have: nobody waits for the other end of a pipe.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut text = String::new();
    let most = u64::try_from(FILE_BYTES).unwrap_or(u64::MAX);
    fs::File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    Ok(text)
}

impl FileRow {
    fn of(file: &ToolFile) -> FileRow {
        let state = match &file.state {
            FileState::Mounted(_) => "mounted",
            FileState::Untrusted(_) => "untrusted",
            FileState::Disabled => "disabled",
            FileState::Wrong(_) => "wrong",
        };
        FileRow { file: file.path.clone(), state, detail: file.state.to_string() }
    }

    /// Whether the user is to do something about it.
    pub(crate) fn is_open(&self) -> bool {
        ["untrusted", "wrong"].contains(&self.state)
    }
}

/// `.holdpoint/tools/a_b.yaml: untrusted: …`
impl fmt::Display for FileRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.file.display(), self.state, self.detail)
    }
}

impl fmt::Display for FileState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileState::Mounted(spec) => write!(f, "`{}` {}", spec.name, runs(&spec.run)),
            FileState::Untrusted(spec) => {
                write!(f, "`{}` {}; `{TRUST}` lets it", spec.name, runs(&spec.run))
            }
            FileState::Disabled => f.write_str("`enabled: false`"),
            FileState::Wrong(wrong) => {
                let each = wrong.iter().map(|(line, text)| format!("line {line}: {text}"));
                f.write_str(&each.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

/// What a call of it does, for the person who is to trust it.
pub(crate) fn runs(carrier: &Carrier) -> String {
    match carrier {
        Carrier::Bridge(bridge) => format!("asks the editor: {:?}", bridge.ask),
        Carrier::Shell(shell) => format!("runs: {}", line(shell)),
        Carrier::Http(http) => {
            let path: Vec<String> = http.url.segments.iter().map(text).collect();
            let (method, host) = (http.method.as_str(), &http.url.authority);
            format!("requests: {method} http://{host}/{}", path.join("/"))
        }
    }
}

fn line(shell: &ShellCarrier) -> String {
    let mut words = vec![shell.program.clone()];
    for argument in &shell.arguments {
        match argument {
            CommandPart::One(template) => words.push(text(template)),
            CommandPart::When { add, .. } => {
                let add: Vec<String> = add.iter().map(text).collect();
                words.push(format!("[{}]", add.join(" ")));
            }
        }
    }
    words.join(" ")
}

fn text(template: &TextTemplate) -> String {
    let pieces = template.0.iter().map(|piece| match piece {
        TextPiece::Literal(text) => text.clone(),
        TextPiece::Param(name) => format!("{{{name}}}"),
    });
    pieces.collect()
}
