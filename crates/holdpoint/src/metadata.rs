//! Tools that a file describes: those of the editor, which are built in (`tools/` of the repository), and those that
//! a workspace brings along (`.holdpoint/tools/`).
//!
//! [`holdpoint_metadata`] reads the files; here they become entries of the catalogue and are carried out. From there on
//! they pass the same boundary as every other tool. The editor's are mounted where its bridge is found at the start, or
//! where `--toolset vscode` asks for them; a workspace's where the user trusts them.

mod arguments;
mod bridge;
mod describe;
mod failures;
mod http;
mod output;
mod render;
mod shell;
pub(crate) mod trust;
pub(crate) mod workspace;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use holdpoint_engine::limits;
use holdpoint_metadata::{BridgeCarrier, Carrier, ParamKind, ToolSpec};
use rmcp::model::JsonObject;

use self::{bridge::Editor, workspace::FileRow};
use crate::{
    config,
    tool::{AnswerForm, Call, Described, Effect, Entry, Family, Reply, RunFuture, Unlisted},
};

/// What `--toolset` calls the editor's.
pub(crate) const EDITOR: &str = "vscode";
/// What it calls those of a workspace.
pub(crate) const WORKSPACE: &str = "workspace";

/// The files that are built in, each checked when this was built.
const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/described.rs"));

/// What is built in, by the name of its file.
pub(crate) fn built_in() -> impl Iterator<Item = (&'static str, ToolSpec)> {
    BUILT_IN.iter().filter_map(|(file, text)| match ToolSpec::read(text) {
        Ok(spec) => Some((*file, spec)),
        // The build has read it.
        Err(_) => None,
    })
}

/// What a start mounts beside our own.
pub(crate) struct Mounting {
    pub(crate) entries: Vec<Entry>,
    /// The workspace's files, those that are not mounted too.
    pub(crate) files: Vec<FileRow>,
    /// The folder whose editor is followed.
    pub(crate) followed: Option<PathBuf>,
}

impl Mounting {
    /// For the workspace that this process works on.
    pub(crate) fn of(toolset: &[String]) -> Mounting {
        let Some(folder) = config::workspace() else {
            return Mounting { entries: Vec::new(), files: Vec::new(), followed: None };
        };
        let followed = wants_editor(&folder, toolset).then(|| folder.clone());
        let mut entries = followed.as_deref().map(editor).unwrap_or_default();
        let (own, files) = workspace::mounted(&folder, toolset);
        entries.extend(own);
        Mounting { entries, files, followed }
    }
}

/// Those of the editor that are asked for by name, wherever an editor is.
pub(crate) fn asked_for(toolset: &[String]) -> Vec<Entry> {
    match is_asked_for(toolset) {
        true => editor(&config::workspace().unwrap_or_default()),
        false => Vec::new(),
    }
}

/// The editor's tools, for this workspace.
pub(crate) fn editor(workspace: &Path) -> Vec<Entry> {
    let editor = Arc::new(Editor::of(workspace));
    let enabled = built_in().filter(|(_, spec)| spec.enabled);
    enabled.map(|(file, spec)| entry(spec, EDITOR, file.to_owned(), &[], &editor)).collect()
}

/// Whether the editor's tools are to be mounted: somebody asks for them, or an editor is there.
fn wants_editor(workspace: &Path, toolset: &[String]) -> bool {
    is_asked_for(toolset) || Editor::of(workspace).is_there()
}

fn is_asked_for(toolset: &[String]) -> bool {
    let is_one = |name: &String| BUILT_IN.iter().any(|(file, _)| stem(file) == *name);
    toolset.iter().any(|name| name == EDITOR || is_one(name))
}

/// A file is called as its tool.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".yaml").unwrap_or(name)
}

/// One that is built in, and its whole schema, for the reference.
pub(crate) fn described(spec: &ToolSpec) -> (Entry, JsonObject) {
    let editor = Arc::new(Editor::of(Path::new("")));
    (entry(spec.clone(), EDITOR, String::new(), &[], &editor), describe::checked(spec))
}

/// One tool with its types forgotten.
fn entry(
    spec: ToolSpec,
    family: &'static str,
    origin: String,
    toolsets: &[String],
    editor: &Arc<Editor>,
) -> Entry {
    let spec = Arc::new(spec);
    let (running, advising) = (Arc::clone(&spec), Arc::clone(&spec));
    let editor = Arc::clone(editor);
    let unlisted = Unlisted {
        schema: describe::checked(&spec),
        effect: effect(&spec),
        alias: spec.alias.clone(),
        advise: Arc::new(move |failure| failures::advised(&advising, failure)),
    };
    Described {
        tool: describe::listed(&spec, &unlisted.schema),
        family: Family {
            name: Cow::Borrowed(family),
            form: AnswerForm::Words,
            about_programs: false,
        },
        toolsets: toolsets.to_vec(),
        origin: format!("the file `{origin}`"),
        timeout: timeout(&spec),
        unlisted: Some(unlisted),
        run: Arc::new(move |call, arguments| run(&running, &editor, call, arguments)),
    }
    .into()
}

fn effect(spec: &ToolSpec) -> Effect {
    let safety = spec.safety;
    match () {
        () if safety.read_only => Effect::Reads,
        () if safety.destructive && spec.run.is_open() => Effect::Runs,
        () if safety.destructive => Effect::Destroys,
        () if safety.idempotent => Effect::Sets,
        () => Effect::Writes,
    }
}

/// When the boundary cuts it off: what the file says, or the longest wait that a call may ask for.
fn timeout(spec: &ToolSpec) -> Duration {
    let own = Duration::from_millis(spec.timeout_ms);
    let Carrier::Bridge(BridgeCarrier { wait: Some(wait), .. }) = &spec.run else { return own };
    match spec.param(wait).map(|param| &param.kind) {
        Some(ParamKind::Integer { max: Some(max), .. }) => {
            own.max(Duration::from_secs_f64(max / 1_000.0) + limits::TOOL_WAIT_GRACE)
        }
        _ => own,
    }
}

fn run(spec: &Arc<ToolSpec>, editor: &Arc<Editor>, call: Call, arguments: JsonObject) -> RunFuture {
    let (spec, editor) = (Arc::clone(spec), Arc::clone(editor));
    Box::pin(async move {
        let workspace: PathBuf = editor.workspace().to_owned();
        let given = arguments::Given::of(&spec, arguments, &workspace)?;
        let reply: Reply = match &spec.run {
            Carrier::Bridge(bridge) => bridge::run(&editor, bridge, &spec, &given, &call).await?,
            Carrier::Shell(shell) => shell::run(shell, &spec, &given, &workspace).await?,
            Carrier::Http(http) => http::run(http, &given).await?,
        };
        Ok(reply)
    })
}

#[cfg(test)]
mod tests;
