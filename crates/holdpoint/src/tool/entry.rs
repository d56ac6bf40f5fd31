//! One row of the catalogue: a tool with its types forgotten, wherever it comes from.
//!
//! A type of ours becomes one by [`entry`], while compiling. Whatever is described elsewhere (in a file, by
//! another server) becomes one by [`Described`]; from there on the two differ in nothing that a caller sees.

use std::{borrow::Cow, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use holdpoint_engine::{adapter, failure::Failure};
use rmcp::model::{JsonObject, Tool as McpTool};

use super::{AnswerForm, Call, Effect, Family, Reply, Tool, params, schema, schema_of};

pub(crate) type RunFuture = BoxFuture<'static, Result<Reply, Failure>>;

/// Where one of ours names the languages that there are.
const LANGUAGES: &str = "{languages}";

/// Whose our own are, for the person who reads that two tools share a name.
const OURS: &str = "Holdpoint itself";

#[derive(Clone)]
pub(crate) struct Entry {
    pub(super) name: Cow<'static, str>,
    about: Cow<'static, str>,
    pub(crate) title: Cow<'static, str>,
    pub(crate) effect: Effect,
    pub(crate) family: Cow<'static, Family>,
    pub(super) form: AnswerForm,
    /// Parameters of which `null` is a value like any other.
    pub(super) nulls: &'static [&'static str],
    rare: &'static [&'static str],
    pub(super) old_names: &'static [(&'static str, &'static str)],
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    /// Whether its calls wait for their turn, and take no place of those that do not.
    pub(crate) takes_turns: bool,
    /// The sets that it names itself; ours are named by theirs.
    toolsets: Vec<String>,
    origin: Cow<'static, str>,
    pub(super) made: Made,
}

/// What carries out a call, and what its parameters are checked against.
#[derive(Clone)]
pub(super) enum Made {
    /// A type of ours: the schema has its names, the type checks their values.
    Type { schema: fn() -> JsonObject, run: fn(Call, JsonObject) -> RunFuture },
    /// As it describes itself; its schema checks everything.
    Described { tool: Arc<McpTool>, unlisted: Option<Arc<Unlisted>>, run: RunTool },
}

/// Of a tool that a file of ours describes: what clients are not shown.
pub(crate) struct Unlisted {
    /// The whole schema, of which the listed one has what every client takes.
    pub(crate) schema: JsonObject,
    pub(crate) effect: Effect,
    /// What others call it; a call by that name is one of it.
    pub(crate) alias: Option<String>,
    /// A failure with the next step that the file has for it.
    pub(crate) advise: Advise,
}

pub(crate) type Advise = Arc<dyn Fn(Failure) -> Failure + Send + Sync>;

pub(crate) type RunTool = Arc<dyn Fn(Call, JsonObject) -> RunFuture + Send + Sync>;

/// A tool that is no type of ours.
pub(crate) struct Described {
    /// As clients see it, to the last word: whoever described it may count on that.
    pub(crate) tool: McpTool,
    pub(crate) family: Family,
    /// Of ours, those in which it is listed.
    pub(crate) toolsets: Vec<String>,
    /// The file or server that it comes from.
    pub(crate) origin: String,
    /// The deadline when the call does not say.
    pub(crate) timeout: Duration,
    pub(crate) unlisted: Option<Unlisted>,
    pub(crate) run: RunTool,
}

pub(crate) const fn entry<T: Tool>() -> Entry {
    Entry {
        name: Cow::Borrowed(T::NAME),
        about: Cow::Borrowed(T::ABOUT),
        title: Cow::Borrowed(T::TITLE),
        effect: T::EFFECT,
        family: Cow::Borrowed(T::FAMILY),
        form: T::FORM,
        nulls: T::NULLS,
        rare: T::RARE,
        old_names: T::OLD_NAMES,
        timeout: T::TIMEOUT,
        grace: T::GRACE,
        takes_turns: T::TAKES_TURNS,
        toolsets: Vec::new(),
        origin: Cow::Borrowed(OURS),
        made: Made::Type { schema: schema_of::<T>, run: run::<T> },
    }
}

fn run<T: Tool>(call: Call, arguments: JsonObject) -> RunFuture {
    Box::pin(async move {
        let params = params::parse::<T::Params>(T::NAME, arguments)?;
        if T::FAMILY.about_programs {
            call.app.engine.memory().await;
        }
        let scope = <T::Scope as super::Scope>::enter(&call).await?;
        T::run(scope, params, call).await
    })
}

impl From<Described> for Entry {
    fn from(described: Described) -> Entry {
        let Described { tool, family, toolsets, origin, timeout, unlisted, run } = described;
        let reads = tool.annotations.as_ref().and_then(|it| it.read_only_hint);
        let guessed = if reads == Some(true) { Effect::Reads } else { Effect::Runs };
        Entry {
            name: tool.name.clone(),
            about: tool.description.clone().unwrap_or_default(),
            title: tool.title.clone().unwrap_or_default().into(),
            effect: unlisted.as_ref().map_or(guessed, |it| it.effect),
            form: family.form,
            family: Cow::Owned(family),
            nulls: &[],
            rare: &[],
            old_names: &[],
            timeout,
            // Its deadline is ours alone.
            grace: Duration::ZERO,
            takes_turns: true,
            toolsets,
            origin: origin.into(),
            made: Made::Described { tool: Arc::new(tool), unlisted: unlisted.map(Arc::new), run },
        }
    }
}

impl Entry {
    pub(crate) const fn name(&self) -> &str {
        match &self.name {
            Cow::Borrowed(name) => name,
            Cow::Owned(name) => name.as_str(),
        }
    }

    /// The same, to be kept: a name of ours is not copied for it.
    pub(crate) fn key(&self) -> Cow<'static, str> {
        self.name.clone()
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Whether it says itself that it is in this set.
    pub(crate) fn is_in(&self, toolset: &str) -> bool {
        self.family.name == toolset || self.toolsets.iter().any(|it| it == toolset)
    }

    /// Whether a call with these parameters is answered in JSON, failures too.
    pub(super) fn speaks_json_with(&self, arguments: &JsonObject) -> bool {
        self.form.is_json(arguments)
    }

    /// Whether it answers in JSON, whatever the call.
    pub(crate) fn speaks_json(&self) -> bool {
        self.form == AnswerForm::Json
    }

    /// Whether this family answers in JSON to a name that none of it has.
    pub(crate) fn speaks_json_for(&self, unknown: &str) -> bool {
        let rest = unknown.strip_prefix(self.family.name.as_ref());
        self.form == AnswerForm::Json && rest.is_some_and(|rest| rest.starts_with('_'))
    }

    /// Whether it is as somebody else describes it, to the last word.
    pub(crate) fn is_described(&self) -> bool {
        matches!(self.made, Made::Described { .. })
    }

    fn unlisted(&self) -> Option<&Unlisted> {
        match &self.made {
            Made::Described { unlisted, .. } => unlisted.as_deref(),
            Made::Type { .. } => None,
        }
    }

    /// Whether a file of ours describes it, so that its words are ours to change.
    pub(crate) fn is_by_file(&self) -> bool {
        self.unlisted().is_some()
    }

    /// What others call it.
    pub(crate) fn alias(&self) -> Option<&str> {
        self.unlisted()?.alias.as_deref()
    }

    /// The failure with what the tool itself has to say about it.
    pub(super) fn advised(&self, failure: Failure) -> Failure {
        match self.unlisted() {
            Some(unlisted) => (unlisted.advise)(failure),
            None => failure,
        }
    }

    /// The same, in this set as well.
    pub(crate) fn also_in(mut self, toolset: &str) -> Entry {
        self.toolsets.push(toolset.to_owned());
        self
    }

    /// What a call's parameters are checked against.
    pub(crate) fn schema(&self, size: Size) -> JsonObject {
        let mut schema = match &self.made {
            Made::Type { schema, .. } => schema(),
            Made::Described { unlisted: Some(unlisted), .. } => return unlisted.schema.clone(),
            Made::Described { tool, .. } => return tool.input_schema.as_ref().clone(),
        };
        if size == Size::Slim
            && let Some(properties) = schema.get_mut("properties").and_then(|it| it.as_object_mut())
        {
            properties.retain(|name, _| !self.rare.contains(&name.as_str()));
        }
        schema
    }

    /// What it says of itself. One of ours that says which languages there are names those there are.
    pub(crate) fn about(&self) -> Cow<'static, str> {
        match &self.about {
            Cow::Borrowed(about) if about.contains(LANGUAGES) => {
                Cow::Owned(about.replace(LANGUAGES, &adapter::called()))
            }
            about => about.clone(),
        }
    }

    /// The tool as clients see it, for a checked schema of its own.
    pub(crate) fn describe(&self, schema: &JsonObject, size: Size) -> McpTool {
        if let Made::Described { tool, .. } = &self.made {
            return tool.as_ref().clone();
        }
        let about = match (self.about(), size) {
            (about, Size::Whole) => about,
            (Cow::Borrowed(about), Size::Slim) => Cow::Borrowed(first_sentence(about)),
            (Cow::Owned(about), Size::Slim) => Cow::Owned(first_sentence(&about).to_owned()),
        };
        let tool = McpTool::new(self.key(), about, schema::published(schema, size))
            .with_annotations(self.effect.annotations());
        match self.title.as_ref() {
            "" => tool,
            title => tool.with_title(title),
        }
    }

    pub(super) fn run(&self, call: Call, arguments: JsonObject) -> RunFuture {
        match &self.made {
            Made::Type { run, .. } => run(call, arguments),
            Made::Described { run, .. } => run(call, arguments),
        }
    }
}

/// How many words a tool may take to describe itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Whole,
    /// The first sentence, and parameters by their names.
    Slim,
}

/// Up to its full stop, with it.
pub(crate) fn first_sentence(text: &str) -> &str {
    text.split_inclusive(". ").next().unwrap_or(text).trim_end()
}

/// For `const _: () = assert!(unique(TOOLS))`: a duplicate name does not compile.
pub(crate) const fn unique(entries: &[Entry]) -> bool {
    let mut rest = entries;
    while let [first, others @ ..] = rest {
        let mut tail = others;
        while let [second, more @ ..] = tail {
            if same(first.name().as_bytes(), second.name().as_bytes()) {
                return false;
            }
            tail = more;
        }
        rest = others;
    }
    true
}

pub(crate) const fn same(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}
