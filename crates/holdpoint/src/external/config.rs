//! How other servers are configured: one entry of a file, of the command line or of a request, checked.
//!
//! A file is in the form of the contract (`{"servers": {…}}`, each with its `transport`) or in that of agents' own
//! files (`{"mcpServers": {…}}`). What is wrong is an error that names the file, the line and the key.

mod expand;
mod file;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use holdpoint_engine::{limits, secrets::Secrets};
use serde_json::{Map, Value};

pub(crate) use self::file::{read, usual};
use super::hidden;
use crate::tool::{echo, nearest};

/// One server, as it is to be reached.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerConfig {
    pub(crate) way: Way,
    /// How long a call may take.
    pub(crate) timeout: Duration,
    pub(crate) auto_reconnect: bool,
}

/// How a server is reached.
#[derive(Clone, PartialEq)]
pub(crate) enum Way {
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        cwd: Option<PathBuf>,
    },
    Sse(Remote),
    Http(Remote),
    /// By an address alone: streamable HTTP, or SSE where the server does not speak that.
    Either(Remote),
}

#[derive(Clone, PartialEq)]
pub(crate) struct Remote {
    pub(crate) url: String,
    /// They let us in there: never shown.
    pub(crate) headers: BTreeMap<String, String>,
}

/// What is wrong in an entry, and at which byte of its text.
#[derive(Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) at: usize,
    pub(crate) text: String,
}

/// The fields of one entry, each with its place.
pub(crate) struct Fields {
    pub(crate) name: String,
    pub(crate) at: usize,
    pub(crate) fields: Vec<(String, usize, Value)>,
}

/// Whose form the entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryForm {
    /// The contract's: the transport is said, and nothing that is not known.
    Ours,
    /// An agent's: the transport follows from the rest, and what we do not know is the agent's business.
    Agents,
}

const KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "transport",
    "type",
    "timeout_s",
    "auto_reconnect",
    "name",
];

impl ServerConfig {
    pub(crate) fn new(way: Way) -> ServerConfig {
        ServerConfig { way, timeout: limits::EXTERNAL_CALL, auto_reconnect: true }
    }

    /// An entry of a file or of a request.
    pub(crate) fn of(entry: &Fields, form: EntryForm) -> Result<ServerConfig, Problem> {
        check_name(&entry.name).map_err(|text| Problem { at: entry.at, text })?;
        entry.known(form)?;
        let mut config = ServerConfig::new(entry.way(form)?);
        config.hidden().for_each(hidden::hide);
        if let Some((at, value)) = entry.get("timeout_s") {
            let seconds = value.as_f64().filter(|it| *it > 0.0);
            let timeout = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
            config.timeout =
                timeout.ok_or_else(|| entry.wrong(at, "timeout_s", "a number above 0", value))?;
        }
        if let Some((at, value)) = entry.get("auto_reconnect") {
            let given = value.as_bool();
            config.auto_reconnect =
                given.ok_or_else(|| entry.wrong(at, "auto_reconnect", "true or false", value))?;
        }
        Ok(config)
    }

    /// `name:value` of a command line: an address, or a command with its arguments.
    pub(crate) fn inline(text: &str) -> Result<(String, ServerConfig), String> {
        let form = "write it as NAME:COMMAND ARGS… or NAME:http://…";
        let (name, value) =
            text.split_once(':').ok_or_else(|| format!("`{}` has no colon; {form}", echo(text)))?;
        check_name(name)?;
        let value = value.trim();
        if value.starts_with("http://") || value.starts_with("https://") {
            let remote = Remote { url: value.to_owned(), headers: BTreeMap::new() };
            return Ok((name.to_owned(), ServerConfig::new(Way::Either(remote))));
        }
        let mut words = value.split_whitespace().map(str::to_owned);
        let command = words.next().ok_or_else(|| {
            format!("`{}` names neither a command nor an address; {form}", echo(text))
        })?;
        let way = Way::Stdio { command, args: words.collect(), env: BTreeMap::new(), cwd: None };
        Ok((name.to_owned(), ServerConfig::new(way)))
    }

    /// The word of the contract for how it is reached.
    pub(crate) fn transport(&self) -> &'static str {
        match self.way {
            Way::Stdio { .. } => "stdio",
            Way::Http(_) => "http",
            Way::Sse(_) | Way::Either(_) => "sse",
        }
    }

    /// A text without what this configuration holds secret: header values, and the environment that it sets.
    pub(crate) fn conceal(&self, text: &str) -> String {
        let mut text = hidden::without(text.to_owned());
        for value in self.hidden().flat_map(hidden::parts) {
            text = text.replace(value, "‹secret›");
        }
        text
    }

    /// Every header, and of the environment what its name or its look says to be secret.
    fn hidden(&self) -> impl Iterator<Item = &str> {
        let rules = Secrets::default();
        let (headers, env) = match &self.way {
            Way::Stdio { env, .. } => (None, Some(env)),
            Way::Sse(it) | Way::Http(it) | Way::Either(it) => (Some(&it.headers), None),
        };
        let env = env.into_iter().flatten();
        let env = env.filter(move |(name, value)| rules.is_secret(name, value));
        headers.into_iter().flatten().chain(env).map(|(_, value)| value.as_str())
    }
}

/// A name that can stand before the slash.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    if !name.is_empty() && name.len() <= limits::NAME_BYTES && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!("`{}` is no name of a server: letters, digits, `_` and `-`", echo(name)))
}

impl Fields {
    /// The entry of a request.
    pub(crate) fn of_request(name: &str, fields: Map<String, Value>) -> Fields {
        let fields = fields.into_iter().map(|(name, value)| (name, 0, value)).collect();
        Fields { name: name.to_owned(), at: 0, fields }
    }

    pub(crate) fn get(&self, name: &str) -> Option<(usize, &Value)> {
        let found = self.fields.iter().rfind(|(key, ..)| key == name)?;
        (!found.2.is_null()).then_some((found.1, &found.2))
    }

    fn known(&self, form: EntryForm) -> Result<(), Problem> {
        if form == EntryForm::Agents {
            return Ok(());
        }
        match self.fields.iter().find(|(key, ..)| !KEYS.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, at, _)) => {
                let near = nearest(key, KEYS.iter().copied());
                let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
                let text = format!("`{}`: no key `{}`{near}", self.name, echo(key));
                Err(Problem { at: *at, text })
            }
        }
    }

    fn way(&self, form: EntryForm) -> Result<Way, Problem> {
        let said = match self.get("transport").or_else(|| self.get("type")) {
            Some((at, Value::String(word))) => Some((at, word.as_str())),
            Some((at, other)) => return Err(self.wrong(at, "transport", "a word", other)),
            None => None,
        };
        match said {
            Some((_, "stdio")) => self.stdio(),
            Some((_, "sse")) => self.remote().map(Way::Sse),
            Some((_, "http" | "streamable-http" | "streamableHttp")) => {
                self.remote().map(Way::Http)
            }
            Some((at, other)) => {
                let text = format!(
                    "`{}`: `transport` is `{}`, not `stdio`, `sse` or `http`",
                    self.name,
                    echo(other)
                );
                Err(Problem { at, text })
            }
            None if form == EntryForm::Ours => {
                let text =
                    format!("`{}`: `transport` is missing: `stdio`, `sse` or `http`", self.name);
                Err(Problem { at: self.at, text })
            }
            None if self.get("command").is_some() => self.stdio(),
            None => self.remote().map(Way::Either),
        }
    }

    fn stdio(&self) -> Result<Way, Problem> {
        let (at, command) = self.text("command")?.ok_or_else(|| self.missing("command"))?;
        if command.trim().is_empty() {
            let text = format!("`{}`: `command` is empty", self.name);
            return Err(Problem { at, text });
        }
        let args = match self.get("args") {
            None => Vec::new(),
            Some((at, Value::Array(args))) => {
                args.iter().map(|it| self.word(at, "args", it)).collect::<Result<_, _>>()?
            }
            Some((at, other)) => return Err(self.wrong(at, "args", "a list of texts", other)),
        };
        let cwd = self.text("cwd")?.map(|(_, cwd)| PathBuf::from(cwd));
        Ok(Way::Stdio { command, args, env: self.texts("env")?, cwd })
    }

    fn remote(&self) -> Result<Remote, Problem> {
        let (at, url) = self.text("url")?.ok_or_else(|| self.missing("url"))?;
        let parsed = reqwest::Url::parse(&url).ok();
        if !parsed.is_some_and(|it| matches!(it.scheme(), "http" | "https") && it.has_host()) {
            let text = format!("`{}`: `url` is no address of http:// or https://", self.name);
            return Err(Problem { at, text });
        }
        let headers = self.texts("headers")?;
        for (name, value) in &headers {
            let good = reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_ok()
                && reqwest::header::HeaderValue::from_str(value).is_ok();
            if !good {
                let at = self.get("headers").map_or(self.at, |(at, _)| at);
                let text = format!("`{}`: `headers.{}` is no header", self.name, echo(name));
                return Err(Problem { at, text });
            }
        }
        Ok(Remote { url, headers })
    }

    fn text(&self, key: &str) -> Result<Option<(usize, String)>, Problem> {
        match self.get(key) {
            None => Ok(None),
            Some((at, value)) => self.word(at, key, value).map(|text| Some((at, text))),
        }
    }

    fn texts(&self, key: &str) -> Result<BTreeMap<String, String>, Problem> {
        match self.get(key) {
            None => Ok(BTreeMap::new()),
            Some((at, Value::Object(object))) => object
                .iter()
                .map(|(name, it)| Ok((name.clone(), self.word(at, &format!("{key}.{name}"), it)?)))
                .collect(),
            Some((at, other)) => Err(self.wrong(at, key, "an object of texts", other)),
        }
    }

    /// A text with the environment's values in it.
    fn word(&self, at: usize, key: &str, value: &Value) -> Result<String, Problem> {
        let text = match value {
            Value::String(text) => text.clone(),
            // Agents' files have them so.
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            other => return Err(self.wrong(at, key, "a text", other)),
        };
        expand::expand(&text, |name| std::env::var(name).ok())
            .map_err(|problem| Problem { at, text: format!("`{}`: `{key}`: {problem}", self.name) })
    }

    fn missing(&self, key: &str) -> Problem {
        Problem { at: self.at, text: format!("`{}`: `{key}` is missing", self.name) }
    }

    /// What it is, never its value: that may be a secret.
    fn wrong(&self, at: usize, key: &str, expected: &str, value: &Value) -> Problem {
        let is = match value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        let shown = match value {
            Value::Number(number) => format!("`{number}`"),
            _ => is.to_owned(),
        };
        let text = format!("`{}`: `{key}` is {shown}, not {expected}", self.name);
        Problem { at, text }
    }
}

/// Neither headers nor what the environment of a command holds.
impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Way::Stdio { command, args, .. } => write!(f, "stdio {command} {args:?}"),
            Way::Sse(it) => write!(f, "sse {}", bare(&it.url)),
            Way::Http(it) => write!(f, "http {}", bare(&it.url)),
            Way::Either(it) => write!(f, "http or sse {}", bare(&it.url)),
        }
    }
}

/// An address without what may let one in.
pub(crate) fn bare(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(mut url) => {
            url.set_query(None);
            // An address that cannot have them has none.
            let (_, _) = (url.set_username(""), url.set_password(None));
            url.to_string()
        }
        Err(_) => "its address".to_owned(),
    }
}

#[cfg(test)]
mod tests;
