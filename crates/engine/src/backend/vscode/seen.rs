//! The programs that a person debugs in the editor by themselves: as a list, and as they come and go.

use std::{collections::BTreeMap, path::Path};

use holdpoint_bridge::{Bridge, BridgeEvent, Flavour, Since};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use tokio::time::{sleep, timeout};

use super::{
    Vscode,
    begin::{Opening, families, listed},
    translate::text,
};
use crate::limits;

/// A session of the person's that came or went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenInEditor {
    pub id: String,
    pub name: String,
    /// `started`, `found` where it ran already, or `ended`.
    pub change: &'static str,
    /// How it ended.
    pub detail: String,
}

/// The debug sessions of the editor that has the folder open, each in a line; none where no bridge tells them.
pub async fn seen(workspace: &Path, but: &[String]) -> Vec<String> {
    let Ok(bridge) = Bridge::find(workspace) else { return Vec::new() };
    if bridge.flavour() != Flavour::Ours {
        return Vec::new();
    }
    let is_new = |it: &&Json| !but.iter().any(|known| text(it, "id") == Some(known));
    roots(bridge).await.iter().filter(is_new).map(|it| listed(&[it])).collect()
}

/// Tells what the person debugs in the editor that has the folder open, whenever one has. Never ends.
pub async fn follow(workspace: &Path, tell: impl Fn(SeenInEditor)) {
    let since = Timestamp::now().as_millisecond();
    loop {
        if let Ok(bridge) = Bridge::find(workspace)
            && bridge.flavour() == Flavour::Ours
        {
            window(bridge, since, &tell).await;
        }
        sleep(limits::EDITOR_LOOK).await;
    }
}

/// The same of one window, until it is gone. It is asked nothing: its events say all of it.
async fn window(bridge: Bridge, since: i64, tell: &impl Fn(SeenInEditor)) {
    let began = bridge.status().bridge_id;
    let tail = bridge.events(Since::Start);
    // What a long debugging has written is megabytes.
    let read = tokio::task::spawn_blocking(move || {
        let mut tail = tail;
        (tail.read(), tail)
    });
    let Ok((first, mut tail)) = read.await else { return };
    let mut known = Known::default();
    let is_same = |it: &BridgeEvent| Some(&it.bridge_id) == began.as_ref();
    let is_old = |it: &&BridgeEvent| it.number("ts").is_some_and(|it| it < since);
    let (old, new): (Vec<_>, Vec<_>) = first.iter().filter(|it| is_same(it)).partition(is_old);
    old.into_iter().for_each(|it| drop(known.hears(it)));
    known.all("found", "").for_each(tell);
    new.into_iter().filter_map(|it| known.hears(it)).for_each(tell);
    loop {
        let Ok(events) = timeout(limits::EDITOR_LOOK, tail.next()).await else {
            let status = bridge.status();
            if status.dead.is_some() || status.bridge_id != began {
                break;
            }
            continue;
        };
        events.iter().take_while(|it| is_same(it)).filter_map(|it| known.hears(it)).for_each(tell);
        if !events.iter().all(is_same) {
            break;
        }
    }
    known.all("ended", "the editor's window is gone").for_each(tell);
}

/// Those that no other started; nothing where the editor does not say.
async fn roots(bridge: Bridge) -> Vec<Json> {
    let vscode: Vscode = Opening::new(bridge, "", false).vscode;
    let asked = vscode.ask_within("debug.sessions", json!({}), limits::EDITOR_SEEN).await;
    let answer = match asked {
        Ok(answer) => answer,
        Err(failure) => {
            tracing::debug!(%failure, "the editor does not list its sessions");
            return Vec::new();
        }
    };
    let all = answer.get("sessions").and_then(Json::as_array).cloned().unwrap_or_default();
    families(&all)
}

/// The person's that live, by id, with their names.
#[derive(Default)]
struct Known(BTreeMap<String, String>);

impl Known {
    fn hears(&mut self, event: &BridgeEvent) -> Option<SeenInEditor> {
        let id = event.text("sessionId")?;
        match event.kind.as_str() {
            "session-started" => {
                let is_root = event.text("parentId").is_none_or(str::is_empty);
                let is_persons = is_root && event.text("startedBy") == Some("person");
                is_persons.then(|| self.begins(id, &event.body)).flatten()
            }
            "session-ended" => {
                let code = event.number("exitCode").map(|it| format!("exit code {it}"));
                self.ends(id, code.unwrap_or_default())
            }
            _ => None,
        }
    }

    fn begins(&mut self, id: &str, of: &Json) -> Option<SeenInEditor> {
        let name = text(of, "name").unwrap_or("?").to_owned();
        let is_new = self.0.insert(id.to_owned(), name.clone()).is_none();
        let (id, change, detail) = (id.to_owned(), "started", String::new());
        is_new.then_some(SeenInEditor { id, name, change, detail })
    }

    fn ends(&mut self, id: &str, detail: String) -> Option<SeenInEditor> {
        let name = self.0.remove(id)?;
        Some(SeenInEditor { id: id.to_owned(), name, change: "ended", detail })
    }

    /// What is the case of all of them.
    fn all(&self, change: &'static str, detail: &str) -> impl Iterator<Item = SeenInEditor> {
        self.0.iter().map(move |(id, name)| SeenInEditor {
            id: id.clone(),
            name: name.clone(),
            change,
            detail: detail.to_owned(),
        })
    }
}
