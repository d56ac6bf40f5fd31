//! The scripts' answers in our words. Pure.

use std::path::PathBuf;

use holdpoint_bridge::Sides;
use serde_json::Value as Json;

use crate::{
    backend::{
        ExceptionInfo, Exceptions, Frame, FrameId, Handle, Scope, ScopeKind, Slice, Stack, Thread,
        Value, Variable,
    },
    failure::Failure,
};

/// Behind the number of a frame or of a value's parts: of which session of the editor it is.
const OF: char = '@';

pub(super) fn text<'a>(of: &'a Json, name: &str) -> Option<&'a str> {
    of.get(name).and_then(Json::as_str)
}

pub(super) fn number(of: &Json, name: &str) -> Option<i64> {
    of.get(name).and_then(Json::as_i64)
}

/// The same object with another field.
pub(super) fn with(mut of: Json, name: &str, value: impl Into<Json>) -> Json {
    if let Some(fields) = of.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
    of
}

fn name(number: i64, session: &str) -> String {
    format!("{number}{OF}{session}")
}

/// A handle's number and session.
pub(super) fn named(name: Option<&str>) -> Result<(i64, &str), Failure> {
    let parts = name.and_then(|it| it.split_once(OF));
    let read = parts.and_then(|(number, session)| Some((number.parse().ok()?, session)));
    read.ok_or_else(|| Failure::internal("a handle of another protocol"))
}

pub(super) fn threads(answer: &Json, local: impl Fn(i64) -> i64) -> Vec<Thread> {
    let all = answer.get("threads").and_then(Json::as_array).into_iter().flatten();
    all.map(|it| Thread {
        // The public bridge says null for 0.
        id: local(number(it, "id").unwrap_or(0)),
        name: text(it, "name").unwrap_or_default().to_owned(),
    })
    .collect()
}

/// Frames as they came, and how many there are in all.
pub(super) struct Frames {
    frames: Vec<Frame>,
    total: Option<usize>,
}

impl Frames {
    /// All came: the part that was asked for.
    pub(super) fn part(self, slice: Slice) -> Stack {
        let total = self.total.or(Some(self.frames.len()));
        let frames = self.frames.into_iter().skip(slice.start).take(slice.count).collect();
        Stack { frames, total }
    }

    /// The part came.
    pub(super) fn stack(self, slice: Slice) -> Stack {
        Stack { frames: self.frames.into_iter().take(slice.count).collect(), total: self.total }
    }
}

pub(super) fn stack(answer: &Json, field: &str, session: &str, sides: &Sides) -> Frames {
    let all = answer.get(field).and_then(Json::as_array).into_iter().flatten();
    let frames = all.map(|it| frame(it, session, sides)).collect();
    let total = number(answer, "totalFrames").and_then(|it| usize::try_from(it).ok());
    Frames { frames, total }
}

fn frame(frame: &Json, session: &str, sides: &Sides) -> Frame {
    let source = frame.get("source").unwrap_or(&Json::Null);
    let reference = number(source, "sourceReference").unwrap_or(0);
    let path = text(source, "path").map(|it| sides.here(it));
    let file = path.clone().map(PathBuf::from).filter(|it| it.is_absolute() && reference == 0);
    let place = match &file {
        Some(_) => None,
        None => path.or_else(|| text(source, "name").map(str::to_owned)),
    };
    let is_subtle = text(frame, "presentationHint").is_some_and(|it| it != "normal")
        || text(source, "presentationHint") == Some("deemphasize");
    let positive = |name: &str| number(frame, name).and_then(|it| u32::try_from(it).ok());
    Frame {
        id: FrameId::text(name(number(frame, "id").unwrap_or(0), session)),
        function: text(frame, "name").unwrap_or("?").to_owned(),
        is_user: !is_subtle && file.as_ref().is_some_and(|it| is_users(it)),
        file,
        place,
        line: positive("line").unwrap_or(0),
        column: positive("column").filter(|it| *it > 1),
    }
}

/// What a package manager put there is nobody's own code.
fn is_users(file: &std::path::Path) -> bool {
    let is_library = |part: &std::ffi::OsStr| part == "node_modules" || part == "site-packages";
    !file.iter().any(is_library)
}

pub(super) fn scopes(answer: &Json, session: &str) -> Vec<Scope> {
    let all = answer.get("scopes").and_then(Json::as_array).into_iter().flatten();
    all.map(|it| {
        let called = text(it, "name").unwrap_or_default().to_owned();
        let children = Handle::text(name(number(it, "variablesReference").unwrap_or(0), session));
        Scope { kind: kind(&called), name: called, children }
    })
    .collect()
}

/// By what debuggers call them: `Local: add`, `Block`, `Locals`, `Globals`.
fn kind(called: &str) -> ScopeKind {
    let called = called.to_lowercase();
    let begins = |all: &[&str]| all.iter().any(|it| called.starts_with(it));
    if begins(&["closure", "free", "catch"]) {
        ScopeKind::Closure
    } else if begins(&["global", "script", "static", "module"]) {
        ScopeKind::Global
    } else if begins(&["register"]) {
        ScopeKind::Registers
    } else {
        ScopeKind::Local
    }
}

/// Some debuggers do not page and send all of them; then the part is taken here.
pub(super) fn children(answer: &Json, session: &str, slice: Slice) -> Vec<Variable> {
    let all = answer.get("children").or_else(|| answer.get("variables"));
    let all = all.and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let skipped = if all.len() > slice.count { slice.start } else { 0 };
    all.iter().skip(skipped).take(slice.count).map(|it| variable(it, session)).collect()
}

fn variable(variable: &Json, session: &str) -> Variable {
    Variable {
        name: text(variable, "name").unwrap_or_default().to_owned(),
        value: value(variable, "value", session),
        expression: text(variable, "evaluateName").map(str::to_owned),
    }
}

pub(super) fn evaluated(answer: &Json, session: &str) -> Value {
    value(answer, "result", session)
}

pub(super) fn assigned(answer: &Json, session: &str) -> Value {
    value(answer, "value", session)
}

fn value(of: &Json, field: &str, session: &str) -> Value {
    let count = |name: &str| number(of, name).and_then(|it| usize::try_from(it).ok());
    let reference = number(of, "variablesReference").filter(|it| *it > 0);
    Value {
        text: text(of, field).unwrap_or_default().to_owned(),
        kind: text(of, "type").filter(|it| !it.is_empty()).map(str::to_owned),
        children: reference.map(|it| Handle::text(name(it, session))),
        indexed: count("indexedVariables"),
        named: count("namedVariables"),
    }
}

pub(super) fn exception(answer: &Json) -> ExceptionInfo {
    let details = answer.get("details").unwrap_or(&Json::Null);
    let first =
        |all: [Option<&str>; 2]| all.into_iter().flatten().next().unwrap_or_default().to_owned();
    ExceptionInfo {
        kind: first([text(details, "typeName"), text(answer, "exceptionId")]),
        message: first([text(details, "message"), text(answer, "description")]),
        trace: text(details, "stackTrace").map(str::to_owned),
    }
}

/// The debugger's own filters that mean what is wanted, by what they are called.
pub(super) fn filters(available: &Json, wanted: &Exceptions) -> Vec<String> {
    let all = available.get("available").and_then(Json::as_array).into_iter().flatten();
    let is_wanted = |id: &str| {
        let id = id.to_lowercase();
        if id.contains("user") {
            wanted.user_unhandled
        } else if id.contains("uncaught") || id.contains("unhandled") {
            wanted.uncaught
        } else {
            wanted.caught
        }
    };
    let ids = all.filter_map(|it| text(it, "filter"));
    ids.filter(|id| is_wanted(id)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use holdpoint_bridge::Machine;
    use serde_json::json;

    use super::*;

    #[test]
    fn frames_have_plain_paths_and_say_whose_they_are() {
        let sides = Sides { editor: Machine::Unix, ours: Machine::Unix };
        let frames = json!([
            {"id": 0, "name": "add", "line": 3, "column": 5,
             "source": {"path": "vscode-remote://127.0.0.1:1/ws/app.js"}},
            {"id": 1, "name": "run", "line": 9, "column": 1,
             "source": {"path": "/ws/node_modules/x/i.js"}},
            {"id": 2, "name": "emit", "line": 1, "column": 1, "presentationHint": "subtle",
             "source": {"path": "<node_internals>/events", "sourceReference": 4}},
        ]);
        let answer = json!({ "frames": frames, "totalFrames": 9 });
        let all = stack(&answer, "frames", "s", &sides);
        let all = all.part(Slice { start: 0, count: 9 });
        assert_eq!(all.total, Some(9));
        let [add, run, emit] = all.frames.as_slice() else { panic!("{all:?}") };
        assert_eq!(add.file.as_deref(), Some(std::path::Path::new("/ws/app.js")));
        assert_eq!((add.column, add.is_user), (Some(5), true));
        assert_eq!(named(add.id.as_text()).unwrap(), (0, "s"));
        assert!(!run.is_user && run.file.is_some());
        assert_eq!(emit.place.as_deref(), Some("<node_internals>/events"));
        assert!(named(Some("x@s")).is_err() && named(None).is_err());
    }

    #[test]
    fn scopes_are_known_by_how_debuggers_begin_their_names() {
        for (called, is) in [
            ("Local: add", ScopeKind::Local),
            ("Locals", ScopeKind::Local),
            ("Block", ScopeKind::Local),
            ("Closure (f)", ScopeKind::Closure),
            ("Globals", ScopeKind::Global),
            ("Registers", ScopeKind::Registers),
        ] {
            assert_eq!(kind(called), is, "{called}");
        }
    }

    #[test]
    fn a_debugger_that_does_not_page_is_paged_here() {
        let all: Vec<Json> =
            (0..5).map(|it| json!({"name": it.to_string(), "value": "v"})).collect();
        let answer = json!({ "children": all });
        let page = children(&answer, "s", Slice { start: 2, count: 2 });
        assert_eq!(page.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["2", "3"]);
        let answer = json!({ "children": [{"name": "2", "value": "v"}] });
        assert_eq!(children(&answer, "s", Slice { start: 2, count: 2 }).len(), 1);
    }

    #[test]
    fn filters_are_chosen_by_what_they_are_called() {
        let available = json!({"available": [
            {"filter": "raised"}, {"filter": "uncaught"}, {"filter": "userUnhandled"}]});
        let wanted = Exceptions { caught: true, ..Exceptions::default() };
        assert_eq!(filters(&available, &wanted), ["raised", "uncaught"]);
    }
}
