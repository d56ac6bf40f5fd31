//! `holdpoint conformance-client URL`: what the official suite has a client do, done by the gateway.
//!
//! The suite starts a server, runs this with its address, and judges what it saw. Everything on the way is the
//! gateway's own: configuration, connection, catalogue, calls, logins. Only the person before the browser is played.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc};

use anyhow::{Context as _, bail};
use holdpoint_engine::{callpoints::Callpoints, secrets::Secrets};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::{INSTRUCTIONS, prompts, resources};
use crate::{
    app::App,
    catalogue::Catalogue,
    cmd::Command,
    config::Config,
    external::{
        call,
        config::{Remote, ServerConfig, Way},
        failure::Unserved,
        login::{self, LoginTerms},
        manager::{Manager, NotAdded},
        plan::Plan,
        server::{ExternalTool, LinkState},
    },
    serve, web,
};

/// Where the suite says that our document is.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// Nobody listens there: the suite's answer is read, not followed.
const BACK: &str = "http://127.0.0.1:9/callback";
/// How often somebody would log in for one thing before they give up.
const LOGINS: usize = 3;

/// Do what the official conformance suite asks of a client
#[derive(clap::Parser)]
#[command(hide = true)]
pub(crate) struct ConformanceClient {
    url: String,
}

impl Command for ConformanceClient {
    const NAME: &'static str = "conformance-client";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        let catalogue =
            Catalogue::of(Vec::new(), resources::RESOURCES, prompts::PROMPTS, INSTRUCTIONS)?;
        let structured = crate::mcp::Structured::Auto;
        let store = Some(Path::new(":memory:"));
        let app = App::new(catalogue, None, structured, store, Secrets::default());
        let walked = serve::runtime()?.block_on(ClientWalk::begin(app, self.url));
        walked.map(|()| ExitCode::SUCCESS)
    }
}

/// One scenario.
struct ClientWalk {
    manager: Arc<Manager>,
    callpoints: Arc<Callpoints>,
    name: String,
    remote: Remote,
    /// What the suite says beside the address.
    context: Value,
    logins: usize,
}

impl ClientWalk {
    async fn begin(app: App, url: String) -> anyhow::Result<()> {
        let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
        let plan = Plan { file: None, inline: BTreeMap::new(), servers: BTreeMap::new() };
        let mut walk = ClientWalk {
            manager: Manager::start(plan, Arc::clone(&app.engine.log)),
            callpoints: Arc::clone(app.engine.callpoints().await),
            // Several scenarios run at once, in one home.
            name: format!("suite-{}", std::process::id()),
            remote: Remote { url, headers: BTreeMap::new() },
            context: serde_json::from_str(&context).unwrap_or_default(),
            logins: 0,
        };
        let walked = walk.walk().await;
        walk.manager.stop().await;
        if let Some(file) = login::file(&walk.name).filter(|it| it.exists()) {
            std::fs::remove_file(file)?;
        }
        walked
    }

    async fn walk(&mut self) -> anyhow::Result<()> {
        let state = self.connect().await?;
        for (tool, arguments) in self.calls(&state) {
            self.call(&tool, arguments).await?;
        }
        for resource in state.resources.iter() {
            let uri = resource.get("uri").and_then(Value::as_str).unwrap_or_default();
            let read = call::read(&self.manager, &self.callpoints, &self.name, uri, &|_| {}).await;
            read.map_err(|refused| anyhow::anyhow!(refused.message()))?;
        }
        Ok(())
    }

    async fn connect(&mut self) -> anyhow::Result<LinkState> {
        let mut config = ServerConfig::new(Way::Http(self.remote.clone()));
        config.auto_reconnect = false;
        let mut state = match self.manager.add(&self.name, config).await {
            Ok(state) => return Ok(state),
            Err(NotAdded::Failed(state)) => state,
            Err(NotAdded::Duplicate) => bail!("this process has another of its name"),
        };
        while let Some(challenge) = state.challenge.take() {
            self.log_in(challenge).await?;
            state = match self.manager.reconnect(&self.name).await {
                Ok(Ok(state)) => return Ok(state),
                Ok(Err(state)) => state,
                Err(refused) => bail!(refused.message()),
            };
        }
        bail!(state.error.unwrap_or_default())
    }

    /// Every tool once, with what the suite says or with anything that its schema takes.
    fn calls(&self, state: &LinkState) -> Vec<(String, JsonObject)> {
        if let Some(told) = self.context.get("toolCalls").and_then(Value::as_array) {
            return told.iter().filter_map(|it| self.told(it)).collect();
        }
        let tools = state.tools.values();
        tools.map(|tool| (tool.name.clone(), arguments(tool, state))).collect()
    }

    fn told(&self, told: &Value) -> Option<(String, JsonObject)> {
        let name = format!("{}/{}", self.name, told.get("name")?.as_str()?);
        let arguments = told.get("arguments").and_then(Value::as_object).cloned();
        Some((name, arguments.unwrap_or_default()))
    }

    /// A result that is an error is one: what the tool does with the call is the suite's business.
    async fn call(&mut self, tool: &str, arguments: JsonObject) -> anyhow::Result<()> {
        loop {
            let arguments = arguments.clone();
            let came = call::call(&self.manager, &self.callpoints, tool, arguments, &|_| {}).await;
            match came {
                Ok(_) => return Ok(()),
                // What is not in the schema cannot be guessed.
                Err(Unserved::Arguments(_)) if self.context.get("toolCalls").is_none() => {
                    return Ok(());
                }
                Err(Unserved::Login { challenge, .. }) => self.log_in(challenge).await?,
                Err(refused) => bail!("{tool}: {}", refused.message()),
            }
        }
    }

    async fn log_in(&mut self, challenge: String) -> anyhow::Result<()> {
        self.logins += 1;
        if self.logins > LOGINS {
            bail!("{LOGINS} logins were not enough");
        }
        let word = |name: &str| {
            let said = self.context.get(name).and_then(Value::as_str);
            said.map(str::to_owned)
        };
        let more = challenge.contains("insufficient_scope");
        let scopes = login::scope(&challenge).filter(|_| more).unwrap_or_default();
        let wanted = LoginTerms {
            client_id: Some(word("client_id").unwrap_or_else(|| DOCUMENT.to_owned())),
            client_secret: word("client_secret"),
            scopes: scopes.split_whitespace().map(str::to_owned).collect(),
            challenge: Some(challenge),
        };
        let attempt = login::begin(&self.name, &self.remote, BACK, wanted).await;
        let attempt = attempt.map_err(anyhow::Error::msg)?;
        let came = yes(attempt.url()).await?;
        if !attempt.is_mine(&came) {
            bail!("the browser was sent elsewhere");
        }
        attempt.finish(&came).await.map_err(anyhow::Error::msg)
    }
}

/// Where a browser is sent by whom a person says yes to.
async fn yes(url: &str) -> anyhow::Result<String> {
    let client = web::builder(url).redirect(reqwest::redirect::Policy::none());
    let client = web::build(client).map_err(anyhow::Error::msg)?;
    let answer = client.get(url).send().await?;
    let location = answer.headers().get(reqwest::header::LOCATION);
    let location = location.and_then(|it| it.to_str().ok()).context("the login leads nowhere")?;
    Ok(location.to_owned())
}

/// The least that a schema takes. One that asks for a schema is given that of the other tool.
fn arguments(tool: &ExternalTool, state: &LinkState) -> JsonObject {
    let schema = tool.schema();
    let properties = schema.get("properties").and_then(Value::as_object).cloned();
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut given = Map::new();
    for (name, property) in properties.unwrap_or_default() {
        if name == "schema" {
            let other = state.tools.values().find(|it| it.name != tool.name);
            given.insert(name, other.map(|it| it.schema()).unwrap_or_default());
        } else if required.contains(&json!(name)) {
            let value = match property.get("type").and_then(Value::as_str) {
                Some("number" | "integer") => json!(if given.is_empty() { 5 } else { 3 }),
                Some("boolean") => json!(true),
                Some("array") => json!([]),
                Some("object") => json!({}),
                _ => json!("text"),
            };
            given.insert(name, value);
        }
    }
    given
}
