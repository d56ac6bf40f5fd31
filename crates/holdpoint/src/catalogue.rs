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
    tool::{Entry, Size, echo, nearest},
    tools::{CORE, MORE, TOOLS, TOOLSETS, Toolset},
};

pub(crate) struct Catalogue {
    tools: BTreeMap<&'static str, Mounted>,
    /// In the order of `TOOLS`, which is the order clients see.
    order: Vec<&'static str>,
    listed: OnceLock<Vec<McpTool>>,
    /// What `more_tools` reaches; empty where that is not mounted.
    further: BTreeMap<&'static str, Mounted>,
    pub(crate) mentions: Mentions,
    pub(crate) resources: &'static [Resource],
    pub(crate) prompts: &'static [Prompt],
    pub(crate) instructions: String,
}

/// A tool and what its parameters are checked against.
pub(crate) struct Mounted {
    pub(crate) entry: &'static Entry,
    size: Size,
    schema: OnceLock<JsonObject>,
}

impl Mounted {
    fn new(entry: &'static Entry, size: Size) -> Mounted {
        Mounted { entry, size, schema: OnceLock::new() }
    }

    /// What its parameters are checked against.
    pub(crate) fn schema(&self) -> &JsonObject {
        self.schema.get_or_init(|| self.entry.schema(self.size))
    }
}

impl Catalogue {
    /// Everything of ours, narrowed to what `--toolset` names: sets, families, or tools.
    pub(crate) fn ours(toolset: &[String]) -> Result<Catalogue, Failure> {
        check(toolset)?;
        let is_asked =
            |tool: &&'static Entry| toolset.is_empty() || toolset.iter().any(|it| names(it, tool));
        // Where everything is mounted there is nothing more.
        let is_all = toolset.is_empty() || toolset.iter().any(|it| it == "all");
        let more = (!is_all).then_some(MORE);
        let entries: Vec<&'static Entry> = TOOLS.iter().chain(more).filter(is_asked).collect();
        let size = if toolset == ["slim"] { Size::Slim } else { Size::Whole };
        let mounted: BTreeSet<&'static str> = entries.iter().map(|entry| entry.name).collect();
        let further = TOOLS.iter().filter(|it| !mounted.contains(it.name));
        let mut ours = Catalogue::of(entries, resources::RESOURCES, prompts::PROMPTS, "");
        ours.tools.values_mut().for_each(|tool| tool.size = size);
        if mounted.contains(MORE.name) {
            ours.further = further.map(|it| (it.name, Mounted::new(it, Size::Whole))).collect();
        }
        ours.instructions = instructions::of(&mounted);
        ours.mentions = Mentions::new(&mounted);
        Ok(ours)
    }

    pub(crate) fn of(
        entries: Vec<&'static Entry>,
        resources: &'static [Resource],
        prompts: &'static [Prompt],
        instructions: &'static str,
    ) -> Catalogue {
        let order = entries.iter().map(|entry| entry.name).collect();
        let mount = |entry: &'static Entry| (entry.name, Mounted::new(entry, Size::Whole));
        Catalogue {
            tools: entries.into_iter().map(mount).collect(),
            order,
            listed: OnceLock::new(),
            further: BTreeMap::new(),
            mentions: Mentions::default(),
            resources,
            prompts,
            instructions: instructions.to_owned(),
        }
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &Mounted> {
        self.order.iter().filter_map(|name| self.tools.get(name))
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
        TOOLS.iter().filter_map(|tool| self.further.get(tool.name))
    }

    fn describe(&self, tool: &Mounted, said: &mut BTreeSet<(String, String)>) -> McpTool {
        let mut described = tool.entry.describe(tool.schema(), tool.size);
        let about = described.description.as_deref().unwrap_or_default();
        if let Cow::Owned(about) = self.mentions.description(about) {
            described.description = Some(about.into());
        }
        let mut schema = described.input_schema.as_ref().clone();
        self.reword(&mut schema, said);
        described.input_schema = schema.into();
        if CORE.contains(&tool.entry.name) {
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
        self.tools.get(name)?;
        self.list().iter().find(|tool| tool.name == name)
    }

    pub(crate) fn tool(&self, name: &str) -> Result<&Mounted, Failure> {
        self.tools.get(name).ok_or_else(|| self.unknown(name, &self.order))
    }

    /// The tool that a call is for, with its arguments: a call of `more_tools` is one of the tool it names.
    pub(crate) fn route(
        &self,
        name: &str,
        mut arguments: JsonObject,
    ) -> Result<(&Mounted, JsonObject), Failure> {
        let mounted = self.tool(name)?;
        if name != MORE.name || !arguments.contains_key("name") {
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
        match self.further.get(wanted.as_str()).or_else(|| self.tools.get(wanted.as_str())) {
            Some(tool) => Ok((tool, inner)),
            None => {
                let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
                Err(self.unknown(&wanted, &known))
            }
        }
    }

    fn unknown(&self, name: &str, known: &[&str]) -> Failure {
        let hint = match nearest(name, known.iter().copied()) {
            _ if self.further.contains_key(name) => {
                format!("`{} {{\"name\": \"{name}\", \"arguments\": {{…}}}}` calls it", MORE.name)
            }
            Some(near) => format!("did you mean `{near}`?"),
            None if name.len() > limits::CALLED_NAME_BYTES => {
                format!("its name has {} bytes; no tool's has so many", name.len())
            }
            None => format!("tools: {}", known.join(", ")),
        };
        Failure::new(Code::UnknownTool, format!("no tool `{}`", echo(name))).hint(hint)
    }
}

fn not_a_call(text: &str) -> Failure {
    Failure::new(Code::InvalidParams, format!("{}: {text}", MORE.name)).hint(
        "as in `more_tools {\"name\": \"debug_attach\", \"arguments\": {\"pid\": 4711}}`; without \
         `name` it lists them",
    )
}

fn names(name: &str, tool: &Entry) -> bool {
    match TOOLSETS.iter().find(|set| set.name == name) {
        Some(set) => set.tools.contains(&tool.name),
        None => name == "all" || tool.family() == name || tool.name == name,
    }
}

fn check(toolset: &[String]) -> Result<(), Failure> {
    for name in toolset {
        if !TOOLS.iter().chain([MORE]).any(|tool| names(name, tool)) {
            let mut known: Vec<&str> = TOOLS.iter().map(Entry::family).collect();
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
