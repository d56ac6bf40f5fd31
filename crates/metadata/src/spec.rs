//! One tool as its file describes it.

use crate::{
    Carrier, Complaint, FILE_BYTES, Literal, Param, Rule, Unfit,
    complaint::{Complaints, meant},
    fields::Fields,
    node::{Node, NodeKind},
};

/// Bytes of the name that a tool may have: more, and some clients' backends refuse the whole list.
const NAME_BYTES: usize = 64;
/// The longest that a tool may take when a call does not say.
const TIMEOUT_MS: f64 = 3_600_000.0;
/// Parameters of one tool: a model chooses badly among more.
const PARAMS: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// `thing_action`
    pub name: String,
    /// What others call it: `thing.action`.
    pub alias: Option<String>,
    pub title: String,
    pub enabled: bool,
    pub description: String,
    pub when_to_use: String,
    pub response: ResponseClass,
    pub timeout_ms: u64,
    pub params: Vec<Param>,
    pub rules: Vec<Rule>,
    /// Whole calls, each checked.
    pub examples: Vec<Literal>,
    pub safety: Safety,
    pub requires: Vec<Prerequisite>,
    pub recommended: Vec<Prerequisite>,
    pub errors: Vec<KnownFailure>,
    pub run: Carrier,
}

/// What a call does, and so what comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseClass {
    Action,
    Query,
    Waitable,
    Mutate,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Safety {
    pub idempotent: bool,
    pub read_only: bool,
    pub destructive: bool,
}

/// A tool that comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prerequisite {
    pub tool: String,
    pub note: Option<String>,
}

/// A failure that is foreseen, with the step that mends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFailure {
    pub code: String,
    pub summary: String,
    pub retryable: bool,
    pub hint: String,
    pub line: usize,
}

const KEYS: &[&str] = &[
    "name",
    "alias",
    "title",
    "enabled",
    "description",
    "when_to_use",
    "response",
    "timeout_ms",
    "parameters",
    "parameter_hints",
    "rules",
    "examples",
    "safety",
    "prerequisites",
    "errors",
    "run",
];

const CLASSES: &[(&str, ResponseClass)] = &[
    ("action", ResponseClass::Action),
    ("query", ResponseClass::Query),
    ("waitable", ResponseClass::Waitable),
    ("mutate", ResponseClass::Mutate),
];

impl ToolSpec {
    /// All that is wrong with it, or else what it says.
    pub fn read(text: &str) -> Result<ToolSpec, Vec<Complaint>> {
        if text.len() > FILE_BYTES {
            let text = format!("the file has more than {FILE_BYTES} bytes");
            return Err(vec![Complaint { line: 1, text }]);
        }
        let node = Node::read(text).map_err(|complaint| vec![complaint])?;
        let mut complaints = Complaints::default();
        let spec = read(&node, &mut complaints);
        match spec {
            Some(spec) if complaints.is_empty() => Ok(spec),
            _ => Err(complaints.into_list()),
        }
    }

    /// Adds what a call left out and has a default.
    pub fn complete(&self, arguments: &mut Vec<(String, Literal)>) {
        for param in &self.params {
            if let Some(default) = &param.default
                && !arguments.iter().any(|(name, _)| *name == param.name)
            {
                arguments.push((param.name.clone(), default.clone()));
            }
        }
    }

    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|it| it.name == name)
    }

    /// Whether a call may have these arguments.
    pub fn check(&self, arguments: &Literal) -> Result<(), Unfit> {
        let Literal::Map(given) = arguments else {
            return Err(Unfit { path: ".".to_owned(), problem: "a call is a map".to_owned() });
        };
        for (name, value) in given {
            match self.param(name) {
                Some(param) => param.check(value)?,
                None => {
                    let near = meant(name, self.params.iter().map(|it| it.name.as_str()));
                    let problem = format!("there is no such parameter{near}");
                    return Err(Unfit { path: name.clone(), problem });
                }
            }
        }
        let is_given = |name: &str| given.iter().any(|(it, _)| it == name);
        if let Some(param) = self.params.iter().find(|it| it.required && !is_given(&it.name)) {
            return Err(Unfit { path: param.name.clone(), problem: "it is missing".to_owned() });
        }
        for rule in &self.rules {
            if let Err((problem, _)) = rule.check(arguments) {
                return Err(Unfit { path: ".".to_owned(), problem });
            }
        }
        Ok(())
    }

    /// What to do about arguments that break a rule.
    pub fn broken_rule(&self, arguments: &Literal) -> Option<(String, String)> {
        self.rules.iter().find_map(|rule| rule.check(arguments).err())
    }

    pub fn known_failure(&self, code: &str) -> Option<&KnownFailure> {
        self.errors.iter().find(|it| it.code == code)
    }
}

fn read(node: &Node, to: &mut Complaints) -> Option<ToolSpec> {
    let fields = Fields::of(node, "a tool", KEYS, to);
    let mut params = parameters(&fields, to);
    hints(&fields, &mut params, to);
    let rules: Vec<Rule> =
        fields.list("rules", to).iter().filter_map(|it| Rule::read(it, &params, to)).collect();
    let safety = safety(&fields, to);
    let response = response(&fields, safety, to);
    let prerequisites = fields.get("prerequisites");
    let (requires, recommended) = match prerequisites {
        Some(node) => {
            let known = ["requires", "recommended"];
            let fields = Fields::of(node, "`prerequisites`", &known, to);
            (tools(&fields, "requires", to), tools(&fields, "recommended", to))
        }
        None => (Vec::new(), Vec::new()),
    };
    let run = fields.need("run", to).and_then(|node| Carrier::read(node, &params, to));
    let spec = ToolSpec {
        name: name(&fields, to),
        alias: alias(&fields, to),
        title: fields.need_text("title", to),
        enabled: fields.flag("enabled", to).unwrap_or(true),
        description: fields.need_text("description", to),
        when_to_use: fields.need_text("when_to_use", to),
        response: response?,
        timeout_ms: timeout(&fields, to),
        params,
        rules,
        examples: Vec::new(),
        safety,
        requires,
        recommended,
        errors: errors(&fields, to),
        run: run?,
    };
    Some(with_examples(spec, &fields, to))
}

/// Checked last: an example of a call must keep to everything.
fn with_examples(mut spec: ToolSpec, fields: &Fields<'_>, to: &mut Complaints) -> ToolSpec {
    for example in fields.list("examples", to) {
        let datum = example.datum();
        if let Err(unfit) = spec.check(&datum) {
            to.add(
                example.line,
                format!("the example {datum}: `{}`: {}", unfit.path, unfit.problem),
            );
        }
        spec.examples.push(datum);
    }
    if spec.examples.is_empty() && !spec.params.is_empty() {
        to.add(fields.line, "a tool with parameters needs `examples` of calls");
    }
    spec
}

fn name(fields: &Fields<'_>, to: &mut Complaints) -> String {
    let name = fields.need_text("name", to);
    let is_word = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
            && letters.all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    let is_good = name.contains('_')
        && name.starts_with(|it: char| it.is_ascii_lowercase())
        && name.split('_').all(is_word)
        && name.len() <= NAME_BYTES;
    if !is_good && !name.is_empty() {
        let line = fields.get("name").map_or(1, |it| it.line);
        to.add(line, format!("`{name}` is no name: it is like `thing_action`, in small letters"));
    }
    name
}

/// One name in two ways.
fn alias(fields: &Fields<'_>, to: &mut Complaints) -> Option<String> {
    let alias = fields.text("alias", to)?;
    let name = fields.text("name", &mut Complaints::default()).unwrap_or_default();
    if alias.replace(['.', '-'], "_") != name {
        to.add(fields.line, format!("`{alias}` is no alias of `{name}`: only `.` and `-` differ"));
    }
    Some(alias)
}

fn timeout(fields: &Fields<'_>, to: &mut Complaints) -> u64 {
    fields.need("timeout_ms", to);
    let timeout = fields.number("timeout_ms", to).unwrap_or(1.0);
    if !(1.0..=TIMEOUT_MS).contains(&timeout) || timeout.fract() != 0.0 {
        to.add(fields.line, format!("`timeout_ms` is an integer from 1 to {TIMEOUT_MS}"));
        return 1;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just bounded")]
    {
        timeout as u64
    }
}

fn parameters(fields: &Fields<'_>, to: &mut Complaints) -> Vec<Param> {
    let Some(node) = fields.get("parameters") else { return Vec::new() };
    let all = Fields::any(node, "`parameters`", to);
    let mut params = Vec::new();
    for (key, node) in all.members() {
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if key.name.is_empty() || !key.name.chars().all(is_word) {
            to.add(key.line, format!("`{}` is no name of a parameter", key.name));
        }
        if ["timeout_s", "budget_tokens"].contains(&key.name.as_str()) {
            to.add(key.line, format!("`{}` is taken by every tool already", key.name));
        }
        let param = Param::read(&key.name, node, to);
        if param.about.is_empty() {
            to.add(key.line, format!("the parameter `{}` needs `description`", key.name));
        }
        params.push(param);
    }
    if params.len() > PARAMS {
        to.add(node.line, format!("no tool has more than {PARAMS} parameters"));
    }
    params
}

/// Every parameter has one, and every one a parameter.
fn hints(fields: &Fields<'_>, params: &mut [Param], to: &mut Complaints) {
    let hints = fields.get("parameter_hints");
    let members = hints.map(|node| Fields::any(node, "`parameter_hints`", to));
    let names: Vec<String> = params.iter().map(|it| it.name.clone()).collect();
    for (key, _) in members.iter().flat_map(Fields::members) {
        if !names.contains(&key.name) {
            let near = meant(&key.name, names.iter().map(String::as_str));
            to.add(key.line, format!("a hint for `{}`, which is no parameter{near}", key.name));
        }
    }
    for param in params {
        let node = members.as_ref().and_then(|it| it.get(&param.name));
        let Some(node) = node else {
            to.add(fields.line, format!("`{}` has no hint in `parameter_hints`", param.name));
            continue;
        };
        let what = format!("the hint for `{}`", param.name);
        let hint = Fields::of(node, what, &["examples", "note"], to);
        param.note = hint.text("note", to);
        for example in hint.list("examples", to) {
            let datum = example.datum();
            if let Err(unfit) = param.check(&datum) {
                let text = format!("the example {datum} of `{}`: {}", unfit.path, unfit.problem);
                to.add(example.line, text);
            }
            param.examples.push(datum);
        }
        if param.examples.is_empty() {
            to.add(node.line, format!("the hint for `{}` needs `examples`", param.name));
        }
    }
}

fn safety(fields: &Fields<'_>, to: &mut Complaints) -> Safety {
    let Some(node) = fields.need("safety", to) else { return Safety::default() };
    let known = ["idempotent", "read_only", "destructive"];
    let fields = Fields::of(node, "`safety`", &known, to);
    let safety = Safety {
        idempotent: fields.need_flag("idempotent", to),
        read_only: fields.need_flag("read_only", to),
        destructive: fields.need_flag("destructive", to),
    };
    if safety.read_only && safety.destructive {
        to.add(node.line, "what only reads destroys nothing");
    }
    safety
}

fn response(fields: &Fields<'_>, safety: Safety, to: &mut Complaints) -> Option<ResponseClass> {
    let word = fields.need_text("response", to);
    let found = CLASSES.iter().find(|(name, _)| *name == word).map(|(_, class)| *class);
    if found.is_none() && !word.is_empty() {
        let near = meant(&word, CLASSES.iter().map(|(name, _)| *name));
        to.add(fields.line, format!("`response` is action, query, waitable or mutate{near}"));
    }
    match found {
        Some(ResponseClass::Query) if !safety.read_only => {
            to.add(fields.line, "a `query` is `read_only`; what changes something is an `action`");
        }
        Some(ResponseClass::Mutate) if safety.read_only => {
            to.add(fields.line, "a `mutate` is not `read_only`");
        }
        _ => {}
    }
    found
}

fn tools(fields: &Fields<'_>, key: &str, to: &mut Complaints) -> Vec<Prerequisite> {
    let mut found = Vec::new();
    for item in fields.list(key, to) {
        let one = match &item.kind {
            NodeKind::Map(_) => {
                let fields = Fields::of(item, format!("`{key}`"), &["tool", "note"], to);
                Prerequisite { tool: fields.need_text("tool", to), note: fields.text("note", to) }
            }
            _ => match item.datum().as_text() {
                Some(tool) => Prerequisite { tool: tool.to_owned(), note: None },
                None => {
                    to.add(
                        item.line,
                        format!("`{key}` is a list of tools, or of `{{tool, note}}`"),
                    );
                    continue;
                }
            },
        };
        found.push(one);
    }
    found
}

fn errors(fields: &Fields<'_>, to: &mut Complaints) -> Vec<KnownFailure> {
    let Some(node) = fields.get("errors") else { return Vec::new() };
    let all = Fields::any(node, "`errors`", to);
    let mut found = Vec::new();
    for (key, node) in all.members() {
        let is_letter = |it: char| it.is_ascii_uppercase() || it == '_';
        if !key
            .name
            .strip_prefix("E_")
            .is_some_and(|it| !it.is_empty() && it.chars().all(is_letter))
        {
            to.add(
                key.line,
                format!("`{}` is no code of a failure; one is like E_TIMEOUT", key.name),
            );
        }
        let known = ["summary", "retryable", "hint"];
        let fields = Fields::of(node, format!("`{}`", key.name), &known, to);
        found.push(KnownFailure {
            code: key.name.clone(),
            summary: fields.need_text("summary", to),
            retryable: fields.need_flag("retryable", to),
            hint: fields.need_text("hint", to),
            line: key.line,
        });
    }
    found
}

#[cfg(test)]
mod tests;
