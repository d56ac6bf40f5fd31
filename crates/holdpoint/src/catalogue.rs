//! What a client can reach: tools, resources, prompts. Chosen once at start and fixed from then on,
//! because many clients never look at a list twice.

use std::{collections::BTreeMap, sync::OnceLock};

use holdpoint_engine::failure::{Code, Failure};
use rmcp::model::{JsonObject, Tool as McpTool};

use crate::{
    mcp::{
        prompts::{self, Prompt},
        resources::{self, Resource},
    },
    tool::{Entry, nearest},
    tools::{SLIM, TOOLS},
};

pub(crate) struct Catalogue {
    tools: BTreeMap<&'static str, Mounted>,
    /// In the order of `TOOLS`, which is the order clients see.
    order: Vec<&'static str>,
    pub(crate) resources: &'static [Resource],
    pub(crate) prompts: &'static [Prompt],
    pub(crate) instructions: &'static str,
}

/// A tool with its description, made when first asked for: a start must not wait for schemas.
pub(crate) struct Mounted {
    pub(crate) entry: &'static Entry,
    described: OnceLock<McpTool>,
}

impl Mounted {
    pub(crate) fn describe(&self) -> &McpTool {
        self.described.get_or_init(|| self.entry.describe())
    }

    pub(crate) fn schema(&self) -> &JsonObject {
        &self.describe().input_schema
    }
}

/// When to reach for which tool. Short: every session pays for it.
const INSTRUCTIONS: &str = "Holdpoint debugs running programs. `debug_launch` starts one, stopped \
    at its entry; `debug_breakpoint`, `debug_continue` and `debug_step` move it; `debug_stack`, \
    `debug_variables` and `debug_evaluate` look at it; `debug_stop` ends it. `tracepoint_set` \
    reports values where the program passes, without stopping it. Calls of an app under `holdpoint \
    run` are recorded; `breakpoint_add` pauses a function's, `breakpoint_continue` decides. \
    `timeline_query` says what happened and, with `timeout_s`, waits for what happens next; \
    `timeline_note` tells others what you found. Every answer carries `seq`: pass it as `since` and \
    no event is missed. Every tool also takes `timeout_s` (seconds) and `budget_tokens` (size of the \
    answer). A failure ends with `hint:`, the next step.";

impl Catalogue {
    /// Everything of ours, narrowed to what `--toolset` names: families, tools, or `slim`.
    pub(crate) fn ours(toolset: &[String]) -> Result<Catalogue, Failure> {
        let entries: Vec<&'static Entry> = if toolset.is_empty() {
            TOOLS.iter().collect()
        } else {
            check(toolset)?;
            TOOLS.iter().filter(|tool| toolset.iter().any(|name| names(name, tool))).collect()
        };
        Ok(Catalogue::of(entries, resources::RESOURCES, prompts::PROMPTS, INSTRUCTIONS))
    }

    pub(crate) fn of(
        entries: Vec<&'static Entry>,
        resources: &'static [Resource],
        prompts: &'static [Prompt],
        instructions: &'static str,
    ) -> Catalogue {
        let order = entries.iter().map(|entry| entry.name).collect();
        let mount = |entry| Mounted { entry, described: OnceLock::new() };
        let tools = entries.into_iter().map(|entry| (entry.name, mount(entry))).collect();
        Catalogue { tools, order, resources, prompts, instructions }
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &Mounted> {
        self.order.iter().filter_map(|name| self.tools.get(name))
    }

    pub(crate) fn tool(&self, name: &str) -> Result<&Mounted, Failure> {
        self.tools.get(name).ok_or_else(|| {
            let hint = match nearest(name, self.order.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("tools: {}", self.order.join(", ")),
            };
            Failure::new(Code::UnknownTool, format!("no tool `{name}`")).hint(hint)
        })
    }
}

fn names(name: &str, tool: &Entry) -> bool {
    match name {
        "all" => true,
        "slim" => SLIM.contains(&tool.name),
        name => tool.family() == name || tool.name == name,
    }
}

fn check(toolset: &[String]) -> Result<(), Failure> {
    for name in toolset {
        if !TOOLS.iter().any(|tool| names(name, tool)) {
            let mut known: Vec<&str> = TOOLS.iter().map(Entry::family).collect();
            known.sort_unstable();
            known.dedup();
            known.extend(["all", "slim"]);
            return Err(Failure::new(Code::InvalidParams, format!("no toolset `{name}`"))
                .hint(format!("toolsets: {}, or the name of a tool", known.join(", "))));
        }
    }
    Ok(())
}
