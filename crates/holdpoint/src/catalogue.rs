//! What a client can reach: tools, resources, prompts. Chosen once at start and fixed from then on,
//! because many clients never look at a list twice.

mod instructions;
mod mentions;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use holdpoint_engine::{
    budget,
    failure::{Code, Failure},
    limits,
};
use rmcp::model::{JsonObject, MetaObject, Tool as McpTool};
use serde_json::Value;

pub(crate) use self::mentions::Mentions;
use crate::{
    mcp::{
        prompts::{self, Prompt},
        resources::{self, Resource},
    },
    metadata,
    tool::{Entry, Reply, Size, echo, nearest, refused, word},
    tools::{CORE, MORE, TOOLS, TOOLSETS, Toolset, external},
};

pub(crate) struct Catalogue {
    /// Ours in the order of `TOOLS`, then what was mounted: the order clients see.
    all: Vec<Mounted>,
    places: BTreeMap<Cow<'static, str>, usize>,
    listed: OnceLock<Vec<McpTool>>,
    pub(crate) mentions: Mentions,
    pub(crate) resources: &'static [Resource],
    pub(crate) prompts: &'static [Prompt],
    pub(crate) instructions: String,
}

/// A tool and what its parameters are checked against.
pub(crate) struct Mounted {
    pub(crate) entry: Entry,
    reach: Reach,
    size: Size,
    schema: OnceLock<JsonObject>,
}

/// How a client comes to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// It is in the list.
    Listed,
    /// Through `more_tools`.
    Further,
    /// Not at all.
    Not,
}

impl Mounted {
    /// What its parameters are checked against.
    pub(crate) fn schema(&self) -> &JsonObject {
        self.schema.get_or_init(|| self.entry.schema(self.size))
    }
}

impl Catalogue {
    /// Everything of ours, narrowed to what `--toolset` names: sets, families, or tools.
    pub(crate) fn ours(toolset: &[String]) -> Result<Catalogue, Failure> {
        Catalogue::with(metadata::asked_for(toolset), toolset)
    }

    /// The same, with tools that are no types of ours mounted beside them.
    pub(crate) fn with(mounted: Vec<Entry>, toolset: &[String]) -> Result<Catalogue, Failure> {
        let is_all = toolset.is_empty() || toolset.iter().any(|it| it == "all");
        let entries: Vec<Entry> = TOOLS.iter().chain([MORE]).cloned().chain(mounted).collect();
        check(&entries, toolset)?;
        let is_asked = |tool: &Entry| match is_all {
            // Where everything is listed there is nothing more.
            true => tool.name() != MORE.name(),
            false => toolset.iter().any(|it| names(it, tool)),
        };
        let rest = match entries.iter().any(|it| it.name() == MORE.name() && is_asked(it)) {
            true => Reach::Further,
            false => Reach::Not,
        };
        let size = if toolset == ["slim"] { Size::Slim } else { Size::Whole };
        let mut catalogue = Catalogue::of(entries, resources::RESOURCES, prompts::PROMPTS, "")?;
        for tool in &mut catalogue.all {
            match is_asked(&tool.entry) {
                true => tool.size = size,
                false => tool.reach = rest,
            }
        }
        let listed: BTreeSet<&str> = catalogue.tools().map(|tool| tool.entry.name()).collect();
        let instructions = instructions::of(&listed);
        let missing = catalogue.all.iter().filter(|tool| tool.reach != Reach::Listed);
        // Of `more_tools` nothing speaks where it is not.
        let missing = missing.filter(|tool| tool.entry.name() != MORE.name());
        let missing = missing.map(|tool| tool.entry.key()).collect();
        catalogue.mentions = Mentions::new(missing, listed.contains(MORE.name()));
        catalogue.instructions = instructions;
        Ok(catalogue)
    }

    /// Two tools of one name are refused: nobody could tell which of them is called.
    pub(crate) fn of(
        entries: Vec<Entry>,
        resources: &'static [Resource],
        prompts: &'static [Prompt],
        instructions: &'static str,
    ) -> Result<Catalogue, Failure> {
        let mut places = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            check_name(entry)?;
            if let Some(first) = places.insert(entry.key(), at) {
                let first = entries.get(first).map(Entry::origin).unwrap_or_default();
                return Err(shared(entry, first));
            }
        }
        for (at, entry) in entries.iter().enumerate() {
            if let Some(alias) = entry.alias() {
                places.entry(alias.to_owned().into()).or_insert(at);
            }
        }
        let mount = |entry| Mounted {
            entry,
            reach: Reach::Listed,
            size: Size::Whole,
            schema: OnceLock::new(),
        };
        Ok(Catalogue {
            all: entries.into_iter().map(mount).collect(),
            places,
            listed: OnceLock::new(),
            mentions: Mentions::default(),
            resources,
            prompts,
            instructions: instructions.to_owned(),
        })
    }

    fn of_reach(&self, reach: Reach) -> impl Iterator<Item = &Mounted> {
        self.all.iter().filter(move |tool| tool.reach == reach)
    }

    fn get(&self, name: &str) -> Option<&Mounted> {
        self.places.get(name).and_then(|at| self.all.get(*at))
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &Mounted> {
        self.of_reach(Reach::Listed)
    }

    /// The tools as clients list them; made when first asked for, as a start must not wait for schemas.
    pub(crate) fn list(&self) -> &[McpTool] {
        self.listed.get_or_init(|| {
            let mut said = BTreeSet::new();
            self.tools().map(|tool| self.describe(tool, &mut said)).collect()
        })
    }

    /// What `more_tools` reaches.
    pub(crate) fn further(&self) -> impl Iterator<Item = &Mounted> {
        self.of_reach(Reach::Further)
    }

    fn describe(&self, tool: &Mounted, said: &mut BTreeSet<(String, String)>) -> McpTool {
        let mut described = tool.entry.describe(tool.schema(), tool.size);
        if tool.entry.is_described() && !tool.entry.is_by_file() {
            return described;
        }
        let about = described.description.as_deref().unwrap_or_default();
        if let Cow::Owned(about) = self.mentions.description(about) {
            described.description = Some(about.into());
        }
        // It is shown alone, where a client loads it when it is searched for.
        if tool.entry.is_by_file() {
            return described;
        }
        let mut schema = described.input_schema.as_ref().clone();
        self.reword(&mut schema, said);
        described.input_schema = schema.into();
        if CORE.contains(&tool.entry.name()) {
            let mut meta = JsonObject::new();
            // Claude Code loads the schema of no other tool before it has searched for it.
            meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
            described.meta = Some(MetaObject(meta));
        }
        described
    }

    /// Parameters' descriptions speak of tools too. One that several tools share is said by the first.
    fn reword(&self, schema: &mut JsonObject, said: &mut BTreeSet<(String, String)>) {
        if let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) {
            self.reword(items, said);
        }
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            let Some(property) = property.as_object_mut() else { continue };
            if let Some(about) = property.get("description").and_then(Value::as_str) {
                let about = self.mentions.description(about).into_owned();
                match !about.is_empty() && said.insert((name.clone(), about.clone())) {
                    true => property.insert("description".to_owned(), about.into()),
                    false => property.shift_remove("description"),
                };
            }
            self.reword(property, said);
        }
    }

    /// One of the list.
    pub(crate) fn find(&self, name: &str) -> Option<&McpTool> {
        self.get(name)?;
        self.list().iter().find(|tool| tool.name == name)
    }

    pub(crate) fn tool(&self, name: &str) -> Result<&Mounted, Failure> {
        let listed = self.get(name).filter(|tool| tool.reach == Reach::Listed);
        listed.ok_or_else(|| self.unknown(name, self.tools()))
    }

    /// The tool that a call is for, with its arguments: a call of `more_tools` is one of the tool it names.
    pub(crate) fn route(
        &self,
        name: &str,
        mut arguments: JsonObject,
    ) -> Result<(&Mounted, JsonObject), Failure> {
        let mounted = match self.get(name) {
            // Whoever knows of it from another server's list finds here what is listed.
            Some(more) if more.entry.name() == MORE.name() && self.lists_all() => more,
            _ => self.tool(name)?,
        };
        if name != MORE.name() || !arguments.contains_key("name") {
            return Ok((mounted, arguments));
        }
        let wanted = match arguments.remove("name") {
            Some(Value::String(wanted)) => wanted,
            _ => return Err(not_a_call("`name` is the name of a tool")),
        };
        let inner = match arguments.remove("arguments") {
            None | Some(Value::Null) => JsonObject::new(),
            Some(Value::Object(inner)) => inner,
            Some(_) => return Err(not_a_call("`arguments` is an object")),
        };
        if let Some(other) = arguments.keys().next() {
            let hint = "the tool's own parameters go into `arguments`";
            return Err(not_a_call(&format!("unknown parameter `{}`", echo(other))).hint(hint));
        }
        match self.get(&wanted) {
            Some(tool) => Ok((tool, inner)),
            None => {
                let others = self.all.iter().filter(|tool| tool.entry.name() != MORE.name());
                Err(self.unknown(&wanted, others))
            }
        }
    }

    fn lists_all(&self) -> bool {
        self.all.iter().all(|it| it.reach == Reach::Listed || it.entry.name() == MORE.name())
    }

    fn unknown<'c>(&self, name: &str, known: impl Iterator<Item = &'c Mounted>) -> Failure {
        let known: Vec<&str> = known.map(|tool| tool.entry.name()).collect();
        let hint = match nearest(name, known.iter().copied()) {
            _ if self.get(name).is_some_and(|tool| tool.reach == Reach::Further) => {
                format!("`{} {{\"name\": \"{name}\", \"arguments\": {{…}}}}` calls it", MORE.name())
            }
            _ if is_external(name) && !known.iter().any(|it| is_external(it)) => {
                format!("this server was started without other MCP servers; {}", external::NONE)
            }
            Some(near) => format!("did you mean `{near}`?"),
            None if name.len() > limits::CALLED_NAME_BYTES => {
                format!("its name has {} bytes; no tool's has so many", name.len())
            }
            None => format!("tools: {}", known.join(", ")),
        };
        Failure::new(Code::UnknownTool, format!("no tool `{}`", echo(name))).hint(hint)
    }

    /// A tool that is none, said as the family speaks that it would be of by its name.
    pub(crate) fn in_dialect(&self, name: &str, failure: Failure) -> Result<Reply, Failure> {
        let speaks_json = || match self.get(name) {
            // One that is only not listed speaks for itself.
            Some(tool) => tool.entry.speaks_json(),
            None => self.all.iter().any(|tool| tool.entry.speaks_json_for(name)),
        };
        if failure.code != Code::UnknownTool || !speaks_json() {
            return Err(failure);
        }
        let mut error = refused(&word(failure.code), &failure);
        if let Some(error) = error.as_object_mut() {
            error.insert("tool".to_owned(), budget::cut(name, limits::NAME_SHOWN).into());
        }
        Ok(Reply::Refused(error))
    }
}

/// Whether it is of the tools about other servers, which are there where such servers are.
fn is_external(name: &str) -> bool {
    name.strip_prefix(external::FAMILY.name.as_ref()).is_some_and(|rest| rest.starts_with('_'))
}

/// What clients take as a tool's name, all of them.
fn check_name(entry: &Entry) -> Result<(), Failure> {
    let (name, origin) = (entry.name(), entry.origin());
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
    if (1..=limits::TOOL_NAME_BYTES).contains(&name.len()) && name.chars().all(is_plain) {
        return Ok(());
    }
    let text = format!("`{}` of {origin} is no name of a tool", echo(name));
    Err(Failure::new(Code::InvalidParams, text).hint(format!(
        "a name has 1 to {} characters: letters, digits, `_`, `-` and `.`",
        limits::TOOL_NAME_BYTES
    )))
}

fn shared(entry: &Entry, first: &str) -> Failure {
    let (name, origin) = (entry.name(), entry.origin());
    Failure::new(Code::InvalidParams, format!("two tools are called `{name}`"))
        .hint(format!("one is of {first}, the other of {origin}; rename one of them"))
}

fn not_a_call(text: &str) -> Failure {
    Failure::new(Code::InvalidParams, format!("{}: {text}", MORE.name())).hint(
        "as in `more_tools {\"name\": \"debug_attach\", \"arguments\": {\"pid\": 4711}}`; without \
         `name` it lists them",
    )
}

fn names(name: &str, tool: &Entry) -> bool {
    let is_in_ours = TOOLSETS.iter().find(|set| set.name == name).map(|set| set.tools);
    match is_in_ours {
        Some(tools) => tools.contains(&tool.name()) || tool.is_in(name),
        None => name == "all" || tool.is_in(name) || tool.name() == name,
    }
}

fn check(entries: &[Entry], toolset: &[String]) -> Result<(), Failure> {
    for name in toolset {
        if !entries.iter().any(|tool| names(name, tool)) {
            let families = entries.iter().filter(|it| it.name() != MORE.name());
            let mut known: Vec<&str> = families.map(|it| it.family.name.as_ref()).collect();
            known.sort_unstable();
            known.dedup();
            known.push("all");
            known.extend(TOOLSETS.iter().map(|set: &Toolset| set.name));
            let name = echo(name);
            return Err(Failure::new(Code::InvalidParams, format!("no toolset `{name}`"))
                .hint(format!("toolsets: {}, or the name of a tool", known.join(", "))));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
