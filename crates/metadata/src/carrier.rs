//! By what a call is carried out: the editor's bridge, a command, or a request to this machine.

use crate::{
    CommandPart, LoopbackUrl, Param, ParamKind, TextTemplate,
    complaint::{Complaints, meant},
    fields::Fields,
    node::Node,
};

/// Milliseconds that a script may wait by itself; the public extension begins a longer one again.
pub(crate) const SCRIPT_WAIT_MS: f64 = 50_000.0;

#[derive(Debug, Clone, PartialEq)]
pub enum Carrier {
    Bridge(BridgeCarrier),
    Shell(ShellCarrier),
    Http(HttpCarrier),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeCarrier {
    pub ask: BridgeAsk,
    /// The parameter with the milliseconds that the script waits; a longer wait is made of several.
    pub wait: Option<String>,
    /// Where the answer counts from 0 what everything else counts from 1: `calls[].line`.
    pub zero_based: Vec<String>,
    /// It takes the bridge away, so that an answer which never comes is what was asked for.
    pub reloads: bool,
    /// Its answer is where the person is, which every answer of the editor has beside it.
    pub context: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BridgeAsk {
    Script(String),
    /// Nothing is sent: how the bridge stands.
    Status,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCarrier {
    pub program: String,
    pub arguments: Vec<CommandPart>,
    /// Exit codes that are no failures.
    pub success: Vec<i32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpCarrier {
    pub method: Method,
    pub url: LoopbackUrl,
    pub query: Vec<(String, TextTemplate)>,
    /// The members of a JSON body.
    pub json: Vec<(String, TextTemplate)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    const ALL: &'static [Method] =
        &[Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete];

    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

impl Carrier {
    /// Whether it runs or reaches something outside of the editor.
    pub fn is_open(&self) -> bool {
        !matches!(self, Carrier::Bridge(_))
    }

    pub(crate) fn read(node: &Node, params: &[Param], to: &mut Complaints) -> Option<Carrier> {
        let fields = Fields::of(node, "`run`", &["bridge", "shell", "http"], to);
        let mut members = fields.members();
        let (Some((key, node)), None) = (members.next(), members.next()) else {
            to.add(fields.line, "`run` has one of `bridge`, `shell` and `http`");
            return None;
        };
        match key.name.as_str() {
            "bridge" => bridge(node, params, to).map(Carrier::Bridge),
            "shell" => shell(node, params, to).map(Carrier::Shell),
            "http" => http(node, params, to).map(Carrier::Http),
            _ => None,
        }
    }
}

fn bridge(node: &Node, params: &[Param], to: &mut Complaints) -> Option<BridgeCarrier> {
    let known = ["script", "status", "wait", "zero_based", "reloads", "context"];
    let fields = Fields::of(node, "`bridge`", &known, to);
    let ask = match (fields.text("script", to), fields.flag("status", to)) {
        (Some(script), None) => BridgeAsk::Script(script_name(script, fields.line, to)),
        (None, Some(true)) => BridgeAsk::Status,
        _ => {
            to.add(fields.line, "`bridge` has a `script`, or else `status: true`");
            return None;
        }
    };
    let wait = fields.text("wait", to);
    if let Some(name) = &wait {
        match params.iter().find(|it| it.name == *name) {
            Some(Param {
                kind: ParamKind::Integer { max: Some(_), .. }, default: Some(_), ..
            }) => {}
            _ => to.add(
                fields.line,
                format!("`wait` names an integer parameter with `max` and `default`, not `{name}`"),
            ),
        }
    }
    for param in params.iter().filter(|it| it.name == "timeoutMs" && wait.is_none()) {
        if let ParamKind::Integer { max, .. } = param.kind
            && max.is_none_or(|max| max > SCRIPT_WAIT_MS)
        {
            let text =
                "a script waits for 50000 ms at the most: bound `timeoutMs`, or name it in `wait`";
            to.add(fields.line, text);
        }
    }
    Some(BridgeCarrier {
        ask,
        wait,
        zero_based: fields.words("zero_based", to),
        reloads: fields.flag("reloads", to).unwrap_or_default(),
        context: fields.flag("context", to).unwrap_or_default(),
    })
}

/// A plain name: what is sent as one must never be read as code.
fn script_name(script: String, line: usize, to: &mut Complaints) -> String {
    let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || ".-".contains(it);
    if !script.chars().all(is_plain) || !script.contains('.') {
        to.add(line, format!("`{script}` is no name of a script; one is like `symbol.calls`"));
    }
    script
}

fn shell(node: &Node, params: &[Param], to: &mut Complaints) -> Option<ShellCarrier> {
    let fields = Fields::of(node, "`shell`", &["command", "success"], to);
    fields.need("command", to)?;
    let (first, rest) = match fields.list("command", to) {
        [first, rest @ ..] => (first, rest),
        [] => {
            to.add(fields.line, "`command` is a list: the program, then its arguments");
            return None;
        }
    };
    let program = first.datum().as_text().map(str::to_owned).unwrap_or_default();
    if program.is_empty() || program.contains(['{', '}']) {
        to.add(first.line, "the program is a plain text: no parameter chooses what is run");
    }
    let arguments = rest.iter().filter_map(|it| CommandPart::read(it, params, to)).collect();
    let mut success = Vec::new();
    for code in fields.list("success", to) {
        match code.datum() {
            crate::Literal::Integer(code @ 0..=255) => success.extend(i32::try_from(code)),
            _ => to.add(code.line, "`success` is a list of exit codes from 0 to 255"),
        }
    }
    if success.is_empty() {
        success.push(0);
    }
    Some(ShellCarrier { program, arguments, success })
}

fn http(node: &Node, params: &[Param], to: &mut Complaints) -> Option<HttpCarrier> {
    let fields = Fields::of(node, "`http`", &["method", "url", "query", "json"], to);
    let named = fields.need_text("method", to);
    let method = Method::ALL.iter().copied().find(|it| it.as_str() == named);
    if method.is_none() && !named.is_empty() {
        let near = meant(&named, Method::ALL.iter().map(|it| it.as_str()));
        to.add(fields.line, format!("`method` is not `{named}`{near}"));
    }
    let url = fields.need_text("url", to);
    let line = fields.get("url").map_or(fields.line, |it| it.line);
    let url = LoopbackUrl::read(&url, line, params, to);
    let query = members(&fields, "query", params, to);
    let json = members(&fields, "json", params, to);
    if method == Some(Method::Get) && !json.is_empty() {
        to.add(fields.line, "a GET has no body");
    }
    Some(HttpCarrier { method: method?, url: url?, query, json })
}

fn members(
    fields: &Fields<'_>,
    name: &str,
    params: &[Param],
    to: &mut Complaints,
) -> Vec<(String, TextTemplate)> {
    let Some(node) = fields.get(name) else { return Vec::new() };
    let members = Fields::any(node, format!("`{name}`"), to);
    let mut found = Vec::new();
    for (key, node) in members.members() {
        let datum = node.datum();
        let text = datum.as_text().map_or_else(|| datum.to_string(), str::to_owned);
        // A member of a body may be an object; a text with one in it may not.
        let whole = TextTemplate::read(&text).ok().filter(|it| it.only_param().is_some());
        let is_known = |it: &TextTemplate| {
            it.params().all(|name| params.iter().any(|param| param.name == name))
        };
        let template = match whole.filter(|it| name == "json" && is_known(it)) {
            Some(whole) => Some(whole),
            None => TextTemplate::checked(&text, node.line, params, to),
        };
        found.extend(template.map(|it| (key.name.clone(), it)));
    }
    found
}
