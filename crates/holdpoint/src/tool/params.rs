//! Parameters, checked so that the next try succeeds: the failure names the parameter,
//! what was expected, and the nearest valid name.

use holdpoint_engine::{
    budget,
    failure::{Code, Failure},
    limits,
};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Effect, Entry, Reply, entry::Made, refused, schema::admits};

/// Unknown parameters that a note names; of more it says the number.
const IGNORED_NAMED: usize = 5;

/// Nothing looks at a name that is longer than any of ours could be.
pub(super) fn bounded(arguments: &JsonObject) -> Result<(), Failure> {
    match arguments.keys().find(|name| name.len() > limits::CALLED_NAME_BYTES) {
        None => Ok(()),
        Some(long) => {
            Err(Failure::new(Code::InvalidParams, format!("unknown parameter `{}`", echo(long)))
                .hint(format!("its name has {} bytes; no parameter's has so many", long.len())))
        }
    }
}

/// What a caller sent, short enough to be said back.
pub(crate) fn echo(text: &str) -> String {
    match text.char_indices().nth(limits::ECHO_CHARS - 1) {
        Some((at, _)) if text.chars().nth(limits::ECHO_CHARS).is_some() => {
            format!("{}…", text.split_at(at).0)
        }
        _ => text.to_owned(),
    }
}

/// Parameters by the names they had before.
pub(super) fn rename(entry: &Entry, arguments: &mut JsonObject) -> Result<(), Failure> {
    for (old, new) in entry.old_names {
        let Some(value) = arguments.remove(*old) else { continue };
        if arguments.insert((*new).to_owned(), value).is_some() {
            let text = format!("`{old}` is the old name of `{new}`, and both are given");
            return Err(Failure::new(Code::InvalidParams, text).hint(format!("pass `{new}` alone")));
        }
    }
    Ok(())
}

/// Takes out what the tool does not know, and says so. Of a call that cannot be taken back a slip is a
/// refusal: it would be carried out as it was not meant.
pub(super) fn pass_over(
    entry: &Entry,
    schema: &JsonObject,
    arguments: &mut JsonObject,
) -> Result<Option<String>, Failure> {
    let known = names(schema);
    let is_known =
        |name: &str| known.contains(&name) || ["timeout_s", "budget_tokens"].contains(&name);
    let unknown: Vec<String> = arguments.keys().filter(|it| !is_known(it)).cloned().collect();
    let slip = unknown.iter().find(|it| known.iter().any(|known| is_slip(it, known)));
    if let Some(slip) = slip.filter(|_| entry.effect != Effect::Reads) {
        return Err(unknown_parameter(entry.name(), slip, &known));
    }
    arguments.retain(|name, _| is_known(name));
    let named: Vec<String> =
        unknown.iter().take(IGNORED_NAMED).map(|it| ignored(it, &known)).collect();
    let more = match unknown.len().saturating_sub(IGNORED_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Ok((!named.is_empty()).then(|| format!("ignored unknown {}{more}", named.join(", "))))
}

fn ignored(name: &str, known: &[&str]) -> String {
    match near(name, known) {
        Some(near) => format!("`{}` (did you mean `{near}`?)", echo(name)),
        None => format!("`{}`", echo(name)),
    }
}

/// The one that was meant, or else the most like it.
fn near<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let meant = known.iter().copied().find(|known| is_slip(name, known));
    meant.or_else(|| nearest(name, known.iter().copied()))
}

/// Whether `name` is `known` mistyped, in another case, or with a word more or less.
fn is_slip(name: &str, known: &str) -> bool {
    let plain = |text: &str| text.replace(['_', '-', ' '], "").to_lowercase();
    let (a, b) = (plain(name), plain(known));
    let few = if b.len() < 4 { 0 } else { (b.len() / 5).max(1) };
    if strsim::osa_distance(&a, &b) <= few {
        return true;
    }
    let words = |text: &str| text.split(['_', '-', ' ']).map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (words(name), words(known));
    a.iter().all(|word| b.contains(word)) || b.iter().all(|word| a.contains(word))
}

fn names(schema: &JsonObject) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(|it| it.keys().map(String::as_str)).collect()
}

/// A call that does not keep to its tool's schema.
pub(super) enum Wrong {
    Missing(Failure),
    Other(Failure),
}

impl Wrong {
    /// As the tool would say it.
    pub(super) fn told(self, in_json: bool) -> Result<Reply, Failure> {
        match self {
            Wrong::Missing(failure) if in_json => {
                Ok(Reply::Refused(refused("missing_parameter", &failure)))
            }
            Wrong::Missing(failure) | Wrong::Other(failure) => Err(failure),
        }
    }
}

/// Names: nothing unknown, nothing missing. The values of a type of ours are [`parse`]'s to check; for every
/// other tool its schema says all.
pub(super) fn check(
    entry: &Entry,
    schema: &JsonObject,
    arguments: &JsonObject,
) -> Result<(), Wrong> {
    let known = names(schema);
    let is_open = entry.is_described() && schema.get("additionalProperties") != Some(&json!(false));
    let mut unknown = arguments.keys().filter(|name| !known.contains(&name.as_str()));
    if let Some(unknown) = unknown.next().filter(|_| !is_open) {
        return Err(Wrong::Other(unknown_parameter(entry.name(), unknown, &known)));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(Wrong::Missing(missing(entry.name(), name, schema)));
        }
    }
    match &entry.made {
        Made::Type { .. } => Ok(()),
        Made::Described { .. } => admits::arguments(schema, arguments).map_err(|refusal| {
            let failure = wrong_value(entry.name(), &refusal.path, &refusal.problem);
            Wrong::Other(explain(schema, failure))
        }),
    }
}

/// The same for the tool of another server, by its own schema.
pub(crate) fn check_described(
    tool: &str,
    schema: &JsonObject,
    arguments: &JsonObject,
) -> Result<(), Failure> {
    let known = names(schema);
    let is_closed = schema.get("additionalProperties") == Some(&json!(false));
    let mut unknown = arguments.keys().filter(|name| !known.contains(&name.as_str()));
    if let Some(unknown) = unknown.next().filter(|_| is_closed) {
        return Err(unknown_parameter(tool, unknown, &known));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    if let Some(name) = required.find(|name| !arguments.contains_key(*name)) {
        // What was given under another name is most likely meant.
        let meant = arguments.keys().find(|it| !known.contains(&it.as_str()) && is_slip(it, name));
        return Err(match meant {
            Some(slip) => unknown_parameter(tool, slip, &known),
            None => missing(tool, name, schema),
        });
    }
    admits::arguments(schema, arguments)
        .map_err(|refusal| explain(schema, wrong_value(tool, &refusal.path, &refusal.problem)))
}

/// To most models an explicit null means "not given", unless it is a value there.
pub(super) fn drop_nulls(entry: &Entry, schema: &JsonObject, arguments: &mut JsonObject) {
    let is_value = |name: &String| match &entry.made {
        Made::Type { .. } => entry.nulls.contains(&name.as_str()),
        Made::Described { .. } => admits::null(schema, name),
    };
    arguments.retain(|name, value| !value.is_null() || is_value(name));
}

fn wrong_value(tool: &str, path: &str, problem: &str) -> Failure {
    Failure::new(Code::InvalidParams, format!("parameter `{path}` of `{tool}`: {problem}"))
        .details(json!({ "parameter": path, "problem": problem }))
}

pub(super) fn parse<P: DeserializeOwned>(tool: &str, arguments: JsonObject) -> Result<P, Failure> {
    let arguments = Value::Object(arguments);
    // Right arguments are the rule; only for wrong ones is it worth knowing where.
    if let Ok(params) = P::deserialize(&arguments) {
        return Ok(params);
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let problem = plain(&brief(&error.into_inner().to_string()));
        if path == "." {
            return Failure::new(Code::InvalidParams, format!("{tool}: {problem}"));
        }
        wrong_value(tool, &path, &problem)
    })
}

/// A problem quotes the value, which may be of any size; what was expected stands at its end.
fn brief(problem: &str) -> String {
    match problem.rsplit_once(", expected ") {
        Some((what, expected)) => format!("{}, expected {expected}", echo(what)),
        None => budget::cut(problem, 3 * limits::ECHO_CHARS),
    }
}

/// serde's words without Rust's: `expected u64` says nothing to a caller in another language.
fn plain(problem: &str) -> String {
    let Some((what, expected)) = problem.rsplit_once("expected ") else {
        return problem.to_owned();
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
            "an integer"
        }
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "an object",
        other => other,
    };
    format!("{what}expected {expected}")
}

/// A wrong type gets the hint that [`parse`] cannot give: what the schema says of the parameter.
pub(super) fn explain(schema: &JsonObject, mut failure: Failure) -> Failure {
    let path = failure.details.as_ref().and_then(|it| it.get("parameter")).and_then(Value::as_str);
    if failure.code == Code::InvalidParams
        && failure.hint.is_none()
        && let Some(path) = path
        && let Some(kind) = property(schema, path).and_then(kind)
    {
        failure.hint = Some(format!("`{path}` is {kind}").into());
    }
    failure
}

/// The schema at `who.age` or `kinds[0]`.
fn property<'s>(schema: &'s JsonObject, path: &str) -> Option<&'s JsonObject> {
    let mut at = schema;
    for step in path.split('.') {
        let (name, index) = step.split_once('[').map_or((step, false), |(name, _)| (name, true));
        at = at.get("properties")?.get(name)?.as_object()?;
        if index {
            at = at.get("items")?.as_object()?;
        }
    }
    Some(at)
}

/// `an integer from 0 to 255`, `one of "a", "b"`.
fn kind(property: &JsonObject) -> Option<String> {
    if let Some(Value::Array(values)) = property.get("enum") {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        return Some(format!("one of {}", values.join(", ")));
    }
    let name = property.get("type")?.as_str()?;
    let article = if name.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    let (min, max) = (property.get("minimum"), property.get("maximum"));
    let bounds = match (min, max) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(", {min} or more"),
        _ => String::new(),
    };
    Some(format!("{article} {name}{bounds}"))
}

/// The candidate most like `name`, if any is like it at all.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Comparing takes as long as both are long, and no name of ours is.
    if name.len() > limits::CALLED_NAME_BYTES {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

fn unknown_parameter(tool: &str, name: &str, known: &[&str]) -> Failure {
    let list = match known {
        [] => format!("`{tool}` takes no parameters of its own"),
        names => format!("`{tool}` takes {}", quoted(names)),
    };
    let hint = match near(name, known) {
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list,
    };
    let name = echo(name);
    Failure::new(Code::InvalidParams, format!("unknown parameter `{name}`"))
        .hint(hint)
        .details(json!({ "parameter": name, "expected": known }))
}

fn missing(tool: &str, name: &str, schema: &JsonObject) -> Failure {
    let property = schema.get("properties").and_then(|it| it.get(name));
    let text = |key| property.and_then(|it| it.get(key)).and_then(Value::as_str);
    let kind = text("type").unwrap_or("value");
    let about = text("description").map(|it| format!(": {it}")).unwrap_or_default();
    Failure::new(Code::InvalidParams, format!("missing parameter `{name}` of `{tool}`"))
        .hint(format!("pass `{name}` ({kind}){about}"))
        .details(json!({ "parameter": name, "expected": kind }))
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
