//! Tools that are no types of ours, from the outside: a client lists them and calls them over MCP.

use std::{path::Path, sync::Arc, time::Duration};

use expect_test::{Expect, expect};
use holdpoint_engine::secrets::Secrets;
use rmcp::{
    RoleClient, RoleServer, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResult, ClientConfig, ContentBlock, JsonObject,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as McpTool,
    },
    service::{RequestContext, RunningService},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::{
    app::App,
    clients::Transport,
    mcp::{Handler, Structured},
    tool::{Answer, AnswerForm, Family, Reply, entry::Described},
};

/// A tool as a file may describe it: what clients see, and what it answers.
const FILE: &str = r#"{
    "toolsets": ["slim"],
    "answer": "greeted {who}",
    "tool": {
        "name": "greet_person", "title": "Greet", "description": "Say hello. At once.",
        "inputSchema": {
            "type": "object", "additionalProperties": false, "required": ["who"],
            "properties": {
                "who": { "type": "string", "description": "The person." },
                "times": { "type": "integer", "minimum": 1, "maximum": 3 },
                "timeout_s": { "type": "string" }
            }
        },
        "annotations": { "readOnlyHint": true }
    }
}"#;

#[derive(Deserialize)]
struct File {
    toolsets: Vec<String>,
    answer: String,
    tool: McpTool,
}

fn family(name: &str) -> Family {
    Family { name: Cow::Owned(name.to_owned()), form: AnswerForm::Words, about_programs: false }
}

fn from_file(text: &str) -> Entry {
    let File { toolsets, answer, tool } = serde_json::from_str(text).unwrap();
    let run = move |_, arguments: JsonObject| {
        let text = answer.replace("{who}", arguments["who"].as_str().unwrap());
        let answer = Answer::json(text, Value::Object(arguments));
        let done: Result<Reply, Failure> = Ok(answer.into());
        Box::pin(std::future::ready(done)) as _
    };
    Entry::from(Described {
        tool,
        family: family("greet"),
        toolsets,
        origin: "greet.json".into(),
        timeout: Duration::from_secs(5),
        unlisted: None,
        run: Arc::new(run),
    })
}

/// Somebody else's server, and what reaches it.
struct Elsewhere;

/// As its author wrote it, with what our own lists never have.
fn theirs() -> McpTool {
    let tool = json!({
        "name": "paint", "description": "Paint. Twice.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "session_id": { "type": "integer" },
                "colour": { "type": ["string", "null"], "enum": ["red", null] },
            },
            "anyOf": [{ "required": ["session_id"] }, { "required": ["colour"] }],
        },
        "outputSchema": { "type": "object" },
        "annotations": { "title": "Paint it", "openWorldHint": true },
        "_meta": { "theirs": [1] },
    });
    serde_json::from_value(tool).unwrap()
}

impl rmcp::ServerHandler for Elsewhere {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![theirs()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, rmcp::ErrorData> {
        let given = Value::Object(request.arguments.unwrap_or_default());
        let mut result = CallToolResult::success(vec![
            ContentBlock::text(format!("`debug_threads` {} {given}", request.name)),
            ContentBlock::image("AA==", "image/png"),
        ]);
        result.structured_content = Some(json!({ "theirs": true }));
        Ok(result.into())
    }
}

type Client = RunningService<RoleClient, ClientConfig>;

async fn connect(server: impl rmcp::Service<RoleServer>) -> Arc<Client> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(async move { server.serve(far).await.unwrap().waiting().await });
    let client = ClientConfig::default().serve(near).await.unwrap();
    // It ends with its client.
    drop(serving);
    Arc::new(client)
}

/// A tool of another server, under a name of ours; calls go there as they come.
async fn proxied() -> Entry {
    let upstream = connect(Elsewhere).await;
    let mut tool = upstream.list_all_tools().await.unwrap().remove(0);
    let name = std::mem::replace(&mut tool.name, "studio_paint".into());
    let run = move |_, arguments: JsonObject| {
        let (upstream, name) = (Arc::clone(&upstream), name.clone());
        Box::pin(async move {
            let request = CallToolRequestParams::new(name).with_arguments(arguments);
            let answer = upstream.call_tool(request).await;
            let answer = answer.map_err(|error| Failure::internal(error.to_string()))?;
            Ok(Reply::Raw(Box::new(answer.into())))
        }) as _
    };
    Entry::from(Described {
        tool,
        family: family("studio"),
        toolsets: Vec::new(),
        origin: "the server `studio`".into(),
        timeout: Duration::from_secs(5),
        unlisted: None,
        run: Arc::new(run),
    })
}

async fn client(toolset: &[&str]) -> Arc<Client> {
    let mounted = vec![from_file(FILE), proxied().await];
    let toolset: Vec<String> = toolset.iter().map(|it| (*it).to_owned()).collect();
    let catalogue = Catalogue::with(mounted, &toolset).unwrap();
    let app = App::new(
        catalogue,
        None,
        Structured::Never,
        Some(Path::new(":memory:")),
        Secrets::default(),
    );
    connect(Handler::new(app, Transport::Stdio)).await
}

async fn names(toolset: &[&str]) -> Vec<String> {
    let tools = client(toolset).await.list_all_tools().await.unwrap();
    tools.into_iter().map(|tool| tool.name.into_owned()).collect()
}

async fn call(client: &Client, name: &'static str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    let request = CallToolRequestParams::new(name).with_arguments(arguments);
    serde_json::to_value(client.call_tool(request).await.unwrap()).unwrap()
}

/// What a model reads.
async fn check(name: &'static str, arguments: Value, expect: Expect) {
    let answer = call(&*client(&[]).await, name, arguments).await;
    let text = answer["content"][0]["text"].as_str().unwrap().to_owned();
    let failed = if answer["isError"] == true { "refused: " } else { "" };
    expect.assert_eq(&format!("{failed}{text}"));
}

#[tokio::test]
async fn they_are_listed_behind_ours_as_they_describe_themselves() {
    let tools = client(&[]).await.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), TOOLS.len() + 2);
    let [.., file, proxied] = tools.as_slice() else { panic!("{tools:?}") };
    let described: File = serde_json::from_str(FILE).unwrap();
    assert_eq!(file, &described.tool);
    let mut theirs = theirs();
    theirs.name = "studio_paint".into();
    assert_eq!(proxied, &theirs);
}

#[tokio::test]
async fn toolsets_know_them() {
    assert_eq!(names(&["slim"]).await.last().unwrap(), "greet_person");
    assert_eq!(names(&["studio"]).await, ["studio_paint"]);
    assert_eq!(names(&["greet_person"]).await, ["greet_person"]);
    let agent = names(&["agent"]).await;
    assert!(!agent.iter().any(|it| it == "greet_person" || it == "studio_paint"), "{agent:?}");
    let unknown = Catalogue::with(vec![from_file(FILE)], &["greets".to_owned()]).err().unwrap();
    assert!(unknown.to_string().contains("debug, greet, record, server"), "{unknown}");
}

#[tokio::test]
async fn what_is_not_listed_is_reached_as_ours_are() {
    let client = client(&["agent"]).await;
    let arguments = json!({ "name": "greet_person", "arguments": { "who": "ann" } });
    let answer = call(&client, "more_tools", arguments).await;
    assert_eq!(answer["content"][0]["text"], "greeted ann");
    let list = call(&client, "more_tools", json!({ "budget_tokens": 4000 })).await;
    let list = list["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(list.contains("greet_person {who, times, timeout_s}: Say hello."), "{list}");
    assert!(list.contains("studio_paint {session_id, colour}: Paint."), "{list}");
    let direct = call(&client, "studio_paint", json!({})).await;
    let direct = direct["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(direct.contains("`more_tools {\"name\": \"studio_paint\""), "{direct}");
}

#[tokio::test]
async fn a_call_is_answered() {
    check("greet_person", json!({ "who": "ann", "times": 2 }), expect!["greeted ann"]).await;
    // Ours are taken where the tool has none of that name.
    check("greet_person", json!({ "who": "ann", "budget_tokens": 100 }), expect!["greeted ann"])
        .await;
}

#[tokio::test]
async fn bad_parameters_are_refused_by_the_schema() {
    check(
        "greet_person",
        json!({}),
        expect![[r#"
            refused: [E_INVALID_PARAMS] missing parameter `who` of `greet_person`
            hint: pass `who` (string): The person."#]],
    )
    .await;
    check(
        "greet_person",
        json!({ "who": "ann", "tmies": 2 }),
        expect![[r#"
            refused: [E_INVALID_PARAMS] unknown parameter `tmies`
            hint: did you mean `times`? `greet_person` takes `who`, `times`, `timeout_s`"#]],
    )
    .await;
    check(
        "greet_person",
        json!({ "who": "ann", "times": 4 }),
        expect![[r#"
            refused: [E_INVALID_PARAMS] parameter `times` of `greet_person`: `4` is more than 3
            hint: `times` is an integer from 1 to 3"#]],
    )
    .await;
    check(
        "studio_paint",
        json!({ "colour": "blue" }),
        expect![[r#"
            refused: [E_INVALID_PARAMS] parameter `colour` of `studio_paint`: `"blue"` is none of "red", null
            hint: `colour` is one of "red", null"#]],
    )
    .await;
}

/// What we mean by a name is nothing to a tool that declares it itself.
#[tokio::test]
async fn its_own_parameters_reach_a_proxied_tool_as_they_were_given() {
    check(
        "studio_paint",
        json!({ "session_id": 7, "colour": null, "new": null, "more": 1.5 }),
        expect![[r#"`debug_threads` paint {"session_id":7,"colour":null,"more":1.5}"#]],
    )
    .await;
    check("greet_person", json!({ "who": "ann", "timeout_s": "soon" }), expect!["greeted ann"])
        .await;
}

/// Blocks, data and words: also those that would name a tool of ours that is not there.
#[tokio::test]
async fn a_proxied_answer_is_as_it_came() {
    let client = client(&["studio"]).await;
    let answer = call(&client, "studio_paint", json!({ "session_id": 7 })).await;
    let mut expected = json!({
        "content": [
            { "type": "text", "text": "`debug_threads` paint {\"session_id\":7}" },
            { "type": "image", "data": "AA==", "mimeType": "image/png" },
        ],
        "structuredContent": { "theirs": true },
        "isError": false,
    });
    // The revision's own mark of a result that is whole.
    if let Some(kind) = answer.get("resultType") {
        expected["resultType"] = kind.clone();
    }
    assert_eq!(answer, expected);
}

#[test]
fn a_name_that_is_taken_is_refused_at_the_start() {
    let twice = Catalogue::with(vec![from_file(FILE), from_file(FILE)], &[]).err().unwrap();
    expect![[r#"
        [E_INVALID_PARAMS] two tools are called `greet_person`
        hint: one is of greet.json, the other of greet.json; rename one of them"#]]
    .assert_eq(&twice.to_string());
    for ours in ["debug_launch", "more_tools"] {
        let taken = FILE.replace("greet_person", ours);
        let taken = Catalogue::with(vec![from_file(&taken)], &["agent".to_owned()]);
        let told = taken.err().unwrap().to_string();
        assert!(told.contains("one is of Holdpoint itself, the other of greet.json"), "{told}");
    }
    let long = "x".repeat(65);
    for bad in ["", "greet person", "grüße", &long] {
        let named = FILE.replace("greet_person", bad);
        let told = Catalogue::with(vec![from_file(&named)], &[]).err().unwrap().to_string();
        assert!(told.contains("of greet.json is no name of a tool"), "{told}");
    }
}
