//! How a program of the editor comes under control: a configuration that is launched there, or a session of the person's.

use std::{path::Path, sync::Arc};

use holdpoint_bridge::{Bridge, EventTail, Since};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::{
    Vscode, asked,
    failures::failure,
    launches, points,
    state::{EditorState, Standing},
    told,
    translate::{number, text, with},
};
use crate::{
    backend::{Backend, Bound, Connected, Signal, StopReason, Stopped},
    breakpoints::Breakpoints,
    failure::{Code, Failure},
    limits,
};

/// A program of the editor under control.
pub struct EditorProgram {
    pub connected: Connected,
    pub name: String,
    /// What the editor calls its debugger: `pwa-node`, `debugpy`.
    pub kind: String,
    /// Whether it stands still already.
    pub stands: bool,
    /// What there is to say about it.
    pub note: Option<String>,
}

/// Launches a configuration by its name.
pub async fn launch(
    workspace: &Path,
    configuration: Option<&str>,
    stop_on_entry: bool,
    breakpoints: &Breakpoints,
) -> Result<EditorProgram, Failure> {
    let bridge = Bridge::find(workspace).map_err(|error| failure(&error))?;
    launches::check(bridge.workspace(), configuration)?;
    let name = configuration.unwrap_or_default();
    let mut opening = Opening::new(bridge, name, true);
    let bound = opening.set(breakpoints).await?;
    let mut params = json!({ "launch": name, "wait": false });
    if opening.vscode.is_ours() {
        let folder = opening.vscode.bridge.workspace().display().to_string();
        params = with(params, "folder", opening.vscode.known.sides.there(&folder));
        params = with(params, "stopOnEntry", stop_on_entry);
    }
    let started = opening.vscode.ask_within("debug.start", params, limits::CONNECT).await;
    let started = match started {
        Ok(started) => started,
        Err(failure) => {
            opening.give_up().await;
            return Err(refused(&opening.vscode, name, failure));
        }
    };
    opening.vscode.known.begins(text(&started, "sessionId").unwrap_or_default());
    let kind = text(&started, "adapterType").unwrap_or("vscode").to_owned();
    let missed = stop_on_entry && !opening.vscode.is_ours();
    let note = missed.then(|| {
        "the public VSC-Bridge extension cannot stop it at its entry; `stopOnEntry` in its configuration can"
            .to_owned()
    });
    Ok(opening.open(name, kind, bound, None, note))
}

/// The configuration is one of nobody's, or the editor could not start it.
fn refused(vscode: &Vscode, name: &str, failure: Failure) -> Failure {
    match failure.code {
        Code::NotFound => {
            let told = failure
                .details
                .as_ref()
                .and_then(|it| it.get("configurations")?.as_array().cloned());
            let told =
                told.map(|all| all.iter().filter_map(Json::as_str).map(str::to_owned).collect());
            let names = told.or_else(|| launches::in_workspace(vscode.bridge.workspace()));
            launches::unknown(vscode.bridge.workspace(), name, &names.unwrap_or_default())
        }
        Code::AdapterFailed | Code::Internal => {
            let text = format!("the editor did not start `{name}`: {}", failure.message);
            Failure { code: Code::LaunchFailed, message: text.into(), ..failure }
        }
        _ => failure,
    }
}

/// Takes a session of the editor that runs: that of this id or name, else the only one, else the active one.
pub async fn join(
    workspace: &Path,
    wanted: Option<&str>,
    breakpoints: &Breakpoints,
) -> Result<EditorProgram, Failure> {
    let bridge = Bridge::find(workspace).map_err(|error| failure(&error))?;
    let mut opening = Opening::new(bridge, wanted.unwrap_or("the editor's session"), false);
    let joined = match opening.vscode.is_ours() {
        true => told_session(&opening.vscode, wanted).await?,
        false => asked_session(&opening.vscode, wanted).await?,
    };
    opening.vscode.known.begins(&joined.id);
    for child in &joined.children {
        opening.vscode.known.joins(child, Some(&joined.id));
    }
    opening.is_held = is_held(&opening.vscode).await;
    let bound = opening.set(breakpoints).await?;
    Ok(opening.open(&joined.name, joined.kind, bound, joined.stands, None))
}

/// Whether the person holds the editor's switch already.
async fn is_held(vscode: &Vscode) -> bool {
    if !vscode.known.has("control") {
        return false;
    }
    match vscode.ask("control.get", json!({})).await {
        Ok(answer) => text(&answer, "holder") == Some("person"),
        Err(failure) => {
            tracing::debug!(%failure, "the editor does not say who steers");
            false
        }
    }
}

/// A session as the editor lists it.
struct Joined {
    id: String,
    name: String,
    kind: String,
    /// Below it, parents first.
    children: Vec<String>,
    /// The thread that stands, and whose.
    stands: Option<(String, i64)>,
}

async fn told_session(vscode: &Vscode, wanted: Option<&str>) -> Result<Joined, Failure> {
    let answer = vscode.ask("debug.sessions", json!({})).await?;
    let all = answer.get("sessions").and_then(Json::as_array).cloned().unwrap_or_default();
    let roots = families(&all);
    let roots: Vec<&Json> = roots.iter().collect();
    let is_wanted = |it: &&&Json| match wanted {
        Some(wanted) => id(it) == wanted || text(it, "name") == Some(wanted),
        None => true,
    };
    let found: Vec<&&Json> = roots.iter().filter(is_wanted).collect();
    let root = match found.as_slice() {
        [only] => *only,
        [] => return Err(none(&roots, wanted)),
        _ => return Err(several(&roots)),
    };
    let mut members = family(&all, &id(root));
    let stands = all.iter().filter(|it| members.contains(&id(it))).find_map(|it| {
        let is_stopped = text(it, "state") == Some("stopped");
        is_stopped.then(|| (id(it), number(it, "threadId").unwrap_or(0)))
    });
    let named = |name: &str| text(root, name).unwrap_or_default().to_owned();
    let children = members.split_off(1);
    Ok(Joined { id: id(root), name: named("name"), kind: named("type"), children, stands })
}

fn id(session: &Json) -> String {
    text(session, "id").unwrap_or_default().to_owned()
}

/// A session and those below it, parents first.
fn family(all: &[Json], root: &str) -> Vec<String> {
    let mut members = vec![root.to_owned()];
    for it in all {
        let is_below =
            text(it, "parentId").is_some_and(|it| members.iter().any(|known| known == it));
        if is_below {
            members.push(id(it));
        }
    }
    members
}

/// Those that no other started. One stands where any below it does: some debuggers have a root without threads.
pub(super) fn families(all: &[Json]) -> Vec<Json> {
    let is_known = |wanted: &str| all.iter().any(|it| id(it) == wanted);
    let roots = all.iter().filter(|it| !text(it, "parentId").is_some_and(is_known));
    let stands = |root: &Json| {
        let members = family(all, &id(root));
        let mut below = all.iter().filter(|it| members.contains(&id(it)));
        below.any(|it| text(it, "state") == Some("stopped"))
    };
    let told = roots.map(|root| match stands(root) {
        true => with(root.clone(), "state", "stopped"),
        false => root.clone(),
    });
    told.collect()
}

fn none(roots: &[&Json], wanted: Option<&str>) -> Failure {
    let text = match wanted {
        Some(wanted) => format!("the editor has no debug session `{wanted}`"),
        None => "nothing is being debugged in the editor".to_owned(),
    };
    let hint = match roots {
        [] => "`debug_launch` with `configuration` starts one there".to_owned(),
        roots => format!("there are: {}", listed(roots)),
    };
    Failure::new(Code::NoSession, text).hint(hint)
}

fn several(roots: &[&Json]) -> Failure {
    Failure::new(Code::NoSession, "several programs are being debugged in the editor")
        .hint(format!("pass `editor_session`, one of: {}", listed(roots)))
}

pub(super) fn listed(roots: &[&Json]) -> String {
    let each = |it: &&Json| {
        let field = |name: &str| text(it, name).unwrap_or("?").to_owned();
        format!(
            "`{}` ({}, {}, started by {})",
            field("id"),
            field("name"),
            field("state"),
            field("startedBy")
        )
    };
    roots.iter().map(each).collect::<Vec<_>>().join(", ")
}

/// The public bridge knows the active one alone.
async fn asked_session(vscode: &Vscode, wanted: Option<&str>) -> Result<Joined, Failure> {
    let status = vscode.ask("debug.status", json!({})).await?;
    let field = |name: &str| text(&status, name).unwrap_or_default().to_owned();
    let (id, name) = (field("sessionId"), field("sessionName"));
    let is_active = status.get("isActive").and_then(Json::as_bool) == Some(true);
    if !is_active || wanted.is_some_and(|it| it != id && it != name) {
        return Err(none(&[], wanted));
    }
    let frames = status.get("stackFrames").and_then(Json::as_array);
    let is_paused = status.get("isPaused").and_then(Json::as_bool) == Some(true);
    let stands = is_paused && frames.is_some_and(|it| !it.is_empty());
    let thread = status.get("currentThread").and_then(|it| number(it, "id")).unwrap_or(0);
    let stands = stands.then_some((String::new(), thread));
    Ok(Joined { id, name, kind: field("sessionType"), children: Vec::new(), stands })
}

/// A connection that is being made.
pub(super) struct Opening {
    pub(super) vscode: Vscode,
    /// From before anything was asked, so that nothing is missed.
    tail: EventTail,
    asks: mpsc::Receiver<asked::Ask>,
    revision: u64,
    /// Whether the person steers it already.
    is_held: bool,
}

impl Opening {
    pub(super) fn new(bridge: Bridge, name: &str, is_started_here: bool) -> Opening {
        let tail = bridge.events(Since::Now);
        let (sender, asks) = mpsc::channel(limits::MAILBOX);
        let capabilities = bridge.status().capabilities;
        let (sides, name) = (bridge.sides(), name.to_owned());
        let known = EditorState::new(name, is_started_here, sides, capabilities, Some(sender));
        let vscode = Vscode { bridge, known: Arc::new(known) };
        Opening { vscode, tail, asks, revision: 0, is_held: false }
    }

    /// Everything that the program is to stop at.
    async fn set(&mut self, breakpoints: &Breakpoints) -> Result<Vec<Bound>, Failure> {
        self.revision = breakpoints.revision();
        let mut bound = Vec::new();
        for (file, wanted) in breakpoints.by_file() {
            match points::replace(&self.vscode, &file, &wanted).await {
                Ok(more) => bound.extend(more),
                Err(failure) => {
                    self.give_up().await;
                    return Err(failure);
                }
            }
        }
        bound.extend(self.vscode.set_functions(&breakpoints.functions()).await?);
        Ok(bound)
    }

    async fn give_up(&self) {
        if let Err(failure) = points::take_out(&self.vscode).await {
            tracing::debug!(%failure, "breakpoints stay in the editor");
        }
    }

    fn open(
        self,
        name: &str,
        kind: String,
        bound: Vec<Bound>,
        stands: Option<(String, i64)>,
        note: Option<String>,
    ) -> EditorProgram {
        let Opening { vscode, tail, asks, revision, is_held } = self;
        let (up, signals) = mpsc::channel(limits::MAILBOX);
        // The first of an empty queue.
        if is_held && up.try_send(Signal::Held { by_person: true }).is_err() {
            tracing::debug!("who steers in the editor was not told");
        }
        if let Some((session, thread)) = &stands {
            let thread = vscode.known.local(session, *thread);
            let nowhere = Standing { file: Default::default(), line: 0, frame: None, thread };
            vscode.known.stands(nowhere);
            let reason = StopReason::Other("stopped in the editor".to_owned());
            let stopped = Stopped { thread, reason, hits: Vec::new(), text: None, all: true };
            // There is room for two.
            if up.try_send(Signal::Stopped(stopped)).is_err() {
                tracing::debug!("a stop in the editor was not told");
            }
        }
        let listening = vscode.clone();
        // Each ends with the editor's session, or when nobody takes the signals.
        if vscode.known.has("events") {
            tokio::spawn(told::listen(listening, tail, up));
        } else {
            tokio::spawn(asked::follow(listening, asks, up));
        }
        let backend = Backend::Vscode(vscode);
        let connected = Connected { backend, signals, pid: None, revision, bound };
        EditorProgram { connected, name: name.to_owned(), kind, stands: stands.is_some(), note }
    }
}
