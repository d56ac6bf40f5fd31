//! What is asked for about functions, and what apps said of theirs: callpoints, behaviors,
//! replacements, signatures. Every change has a number, and whoever watches hears of it.

use std::{collections::BTreeMap, time::Duration};

use holdpoint_store::{CallpointChange, CallpointRow, FunctionRow, Kept};
use serde_json::{Map, Value, json};

use super::{
    Callpoints,
    behavior::{Behavior, Moment, pauses},
};
use crate::{
    actor::Actor,
    calls::{call::Call, clock, value::Format},
    event::Event,
    limits,
    records::recorder::Bring,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callpoint {
    pub before: Behavior,
    pub after: Behavior,
    pub replacement: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Function {
    /// Text from Python, a number from JavaScript.
    pub signature: Value,
    pub metadata: Value,
    /// A function, and not only something that metadata was given for.
    pub listed: bool,
}

pub(super) struct Config {
    pub(super) points: BTreeMap<String, Callpoint>,
    pub(super) default: Behavior,
    pub(super) functions: BTreeMap<String, Function>,
}

/// Why a change was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoChange {
    NotFound,
    SignatureMismatch,
    /// As many callpoints or functions as there may be.
    Full,
}

/// What becomes of a call that is to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Replacing {
    Known,
    /// Nobody registered the function; what the app does then.
    Unknown {
        app_does: String,
    },
    /// The app registered its functions, it is none of them, and the call would raise.
    Raises {
        known: Vec<String>,
    },
}

/// How things stand, to a watcher.
#[derive(Debug, Clone, PartialEq)]
pub struct Watched {
    pub version: u64,
    pub default: Behavior,
    pub callpoints: BTreeMap<String, Callpoint>,
}

impl Default for Config {
    fn default() -> Self {
        Config { points: BTreeMap::new(), default: Behavior::Stop, functions: BTreeMap::new() }
    }
}

impl Default for Callpoint {
    fn default() -> Self {
        Callpoint { before: Behavior::Yield, after: Behavior::Yield, replacement: None }
    }
}

impl Config {
    pub(super) fn restore(kept: Kept) -> Config {
        let point = |row: CallpointRow| {
            let before = Behavior::before(&row.before).unwrap_or(Behavior::Yield);
            let after = Behavior::after(&row.after).unwrap_or(Behavior::Yield);
            (row.name, Callpoint { before, after, replacement: row.replacement })
        };
        let json = |text: Option<String>| {
            text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
        };
        let function = |row: FunctionRow| {
            let (signature, metadata) = (json(row.signature), json(row.metadata));
            (row.name, Function { signature, metadata, listed: row.listed })
        };
        let default = kept.default_behavior.as_deref().and_then(Behavior::default);
        Config {
            points: kept.callpoints.into_iter().map(point).collect(),
            default: default.unwrap_or(Behavior::Stop),
            functions: kept.functions.into_iter().map(function).collect(),
        }
    }

    /// The callpoint of a function; of a tool of another server its own, or else that of all of the server's.
    pub(super) fn point(&self, name: &str) -> Option<&Callpoint> {
        self.points.get(name).or_else(|| {
            let (server, _) = name.split_once('/')?;
            self.points.get(&format!("{server}/*"))
        })
    }

    /// Whether a call of `name` pauses at that moment.
    pub(super) fn pauses(&self, name: &str, moment: Moment) -> bool {
        self.point(name).is_some_and(|point| {
            let own = if moment == Moment::Before { point.before } else { point.after };
            pauses(own, self.default, moment)
        })
    }

    /// What an app does that is told to run `wanted` in place of its call.
    pub(super) fn replacing(&self, wanted: &str, call: &Call) -> Replacing {
        if self.functions.get(wanted).is_some_and(|it| it.listed) {
            return Replacing::Known;
        }
        let is_ours = call.origin.client.as_deref().is_some_and(|it| it.starts_with("holdpoint"));
        let registered_here = |function: &Function| {
            let key = function.metadata.get("last_process_key").and_then(Value::as_str);
            function.listed && key == Some(call.process.as_str())
        };
        let raises = !is_ours && call.format == Format::Dill;
        if raises && self.functions.values().any(registered_here) {
            let known = self.functions.iter().filter(|(_, it)| it.listed);
            return Replacing::Raises { known: known.map(|(name, _)| name.clone()).collect() };
        }
        let does = match raises {
            true => "if the app has none, its client raises DebugProtocolError in the program",
            false => "if the app has none, the call runs as written",
        };
        Replacing::Unknown { app_does: format!("no app has registered `{wanted}`: {does}") }
    }

    /// Known, equal and not null; JavaScript's are numbers.
    fn same_signature(&self, one: &str, other: &str) -> bool {
        let of = |name| self.functions.get(name).map(|it| &it.signature).filter(|it| truthy(it));
        matches!((of(one), of(other)), (Some(one), Some(other)) if one == other)
    }
}

/// As Python and JavaScript see it; a signature of 0 parameters is one all the same.
fn truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

impl Callpoints {
    /// Adds a callpoint; one that is there keeps what it has, but for `before` if that is given.
    pub async fn add(
        &self,
        name: &str,
        before: Option<Behavior>,
        by: &Actor,
    ) -> Result<(), NoChange> {
        let changed = {
            let mut live = self.live();
            let points = &mut live.config.points;
            if points.len() >= limits::CALLPOINTS && !points.contains_key(name) {
                return Err(NoChange::Full);
            }
            let is_new = !points.contains_key(name);
            let point = points.entry(name.to_owned()).or_default();
            let behaves = before.is_some_and(|before| before != point.before);
            point.before = before.unwrap_or(point.before);
            is_new || behaves
        };
        if changed {
            self.changed(name, "added", by).await;
        }
        Ok(())
    }

    /// Says whether there was one.
    pub async fn remove(&self, name: &str, by: &Actor) -> bool {
        let there = self.live().config.points.remove(name).is_some();
        if there {
            self.tell_change(name, "removed", by);
            self.keep(CallpointChange::Removed(name.to_owned())).await;
        }
        there
    }

    pub async fn set_before(
        &self,
        name: &str,
        behavior: Behavior,
        by: &Actor,
    ) -> Result<(), NoChange> {
        self.edit(name, "behavior", by, |point| point.before = behavior).await
    }

    pub async fn set_after(
        &self,
        name: &str,
        behavior: Behavior,
        by: &Actor,
    ) -> Result<(), NoChange> {
        self.edit(name, "after_behavior", by, |point| point.after = behavior).await
    }

    /// `None`, the empty name and the function's own name clear it.
    pub async fn set_replacement(
        &self,
        name: &str,
        replacement: Option<&str>,
        by: &Actor,
    ) -> Result<(), NoChange> {
        let wanted = replacement.filter(|it| !it.is_empty() && *it != name).map(str::to_owned);
        if let Some(wanted) = &wanted
            && !self.live().config.same_signature(name, wanted)
        {
            return Err(NoChange::SignatureMismatch);
        }
        self.edit(name, "replacement", by, |point| point.replacement = wanted).await
    }

    /// Whether one function may stand for the other: both are known, with equal signatures.
    pub fn fits(&self, name: &str, replacement: &str) -> bool {
        let clears = replacement.is_empty() || replacement == name;
        clears || self.live().config.same_signature(name, replacement)
    }

    /// When a call of this function pauses, as things stand: in words.
    pub fn pauses_in_words(&self, name: &str) -> String {
        let live = self.live();
        let pauses = |moment| live.config.pauses(name, moment);
        let moments = [
            (pauses(Moment::Before), "before"),
            (pauses(Moment::AfterSuccess), "after"),
            (pauses(Moment::AfterException), "when it raises"),
        ];
        let when: Vec<&str> = moments.iter().filter(|it| it.0).map(|it| it.1).collect();
        match when.as_slice() {
            [] => format!("never; the default is {}", live.config.default.as_str()),
            when => when.join(", "),
        }
    }

    async fn edit(
        &self,
        name: &str,
        what: &'static str,
        by: &Actor,
        change: impl FnOnce(&mut Callpoint),
    ) -> Result<(), NoChange> {
        let changed = {
            let mut live = self.live();
            let point = live.config.points.get_mut(name).ok_or(NoChange::NotFound)?;
            let was = point.clone();
            change(point);
            *point != was
        };
        if changed {
            self.changed(name, what, by).await;
        }
        Ok(())
    }

    pub fn default_behavior(&self) -> Behavior {
        self.live().config.default
    }

    pub async fn set_default_behavior(&self, behavior: Behavior, by: &Actor) {
        let was = std::mem::replace(&mut self.live().config.default, behavior);
        if was == behavior {
            return;
        }
        self.tell_change("", "default_behavior", by);
        self.keep(CallpointChange::DefaultBehavior(behavior.as_str().to_owned())).await;
    }

    /// An app has this function. What it does not say keeps what is known.
    pub async fn register(&self, name: &str, signature: &Value, metadata: Value) {
        let row = {
            let mut live = self.live();
            let functions = &mut live.config.functions;
            if functions.len() >= limits::FUNCTIONS && !functions.contains_key(name) {
                tracing::warn!(name, "a function more than are kept");
                return;
            }
            let function = functions.entry(name.to_owned()).or_default();
            let was = function.clone();
            function.listed = true;
            if truthy(signature) {
                function.signature = signature.clone();
            }
            if !metadata.is_null() {
                function.metadata = metadata;
            }
            if *function == was {
                return;
            }
            if !was.listed {
                self.log.append(Event::FunctionRegistered { function_name: name.to_owned() });
            }
            row(name, function)
        };
        self.keep(CallpointChange::Function(row)).await;
    }

    /// Notes in which app a function was registered last.
    pub(super) async fn registered_in(&self, name: &str, process: &str) {
        let row = {
            let mut live = self.live();
            let functions = &mut live.config.functions;
            if functions.len() >= limits::FUNCTIONS && !functions.contains_key(name) {
                return;
            }
            let function = functions.entry(name.to_owned()).or_default();
            if function.metadata.is_null() {
                function.metadata = json!({});
            }
            let Some(metadata) = function.metadata.as_object_mut() else { return };
            let process = json!(process);
            if metadata.get("last_process_key") == Some(&process) {
                return;
            }
            metadata.insert("last_process_key".to_owned(), process);
            row(name, function)
        };
        self.keep(CallpointChange::Function(row)).await;
    }

    /// With the next batch: an app that registers a thousand functions does not wait for the disk.
    async fn keep(&self, change: CallpointChange) {
        self.recorder.bring(Bring { changes: vec![change], ..Bring::default() }).await;
    }

    /// Metadata as the wire has it: with when and as what the app knows the function.
    pub fn metadata(given: Value, client_ref: Option<Value>) -> Value {
        let Some(client_ref) = client_ref else { return given };
        let mut object = match given {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        object.entry("client_ref").or_insert(client_ref);
        object.entry("registered_at").or_insert_with(|| json!(clock::now()));
        Value::Object(object)
    }

    pub fn callpoints(&self) -> BTreeMap<String, Callpoint> {
        self.live().config.points.clone()
    }

    /// Every function with what is known of it, by name; also names that only have metadata.
    pub fn functions(&self) -> BTreeMap<String, Function> {
        self.live().config.functions.clone()
    }

    /// The callpoints as apps watch them: at once when they are not at `version`, else when they change
    /// or `wait` has passed.
    pub async fn watch(&self, version: Option<u64>, wait: Duration) -> Watched {
        let mut changes = self.version.subscribe();
        let mut closing = self.closing.subscribe();
        if version == Some(*changes.borrow_and_update()) && !*closing.borrow() {
            let wait = wait.min(limits::WATCH);
            tokio::select! {
                // Whichever it is: the answer says how things stand.
                _changed = changes.changed() => {}
                _closing = closing.changed() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
        let live = self.live();
        let version = *self.version.borrow();
        let (default, callpoints) = (live.config.default, live.config.points.clone());
        Watched { version, default, callpoints }
    }

    async fn changed(&self, name: &str, what: &'static str, by: &Actor) {
        self.tell_change(name, what, by);
        let row = self.live().config.points.get(name).map(|point| CallpointRow {
            name: name.to_owned(),
            before: point.before.as_str().to_owned(),
            after: point.after.as_str().to_owned(),
            replacement: point.replacement.clone(),
        });
        if let Some(row) = row {
            self.keep(CallpointChange::Callpoint(row)).await;
        }
    }

    fn tell_change(&self, name: &str, what: &'static str, by: &Actor) {
        self.version.send_modify(|version| *version += 1);
        let (function_name, by) = (name.to_owned(), by.clone());
        self.log.append(Event::CallpointChanged { function_name, change: what, by });
    }
}

fn row(name: &str, function: &Function) -> FunctionRow {
    let json = |value: &Value| (!value.is_null()).then(|| value.to_string());
    FunctionRow {
        name: name.to_owned(),
        listed: function.listed,
        signature: json(&function.signature),
        metadata: json(&function.metadata),
    }
}
