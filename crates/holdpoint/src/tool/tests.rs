//! The boundary, with tools made to try it. Real tools are tried from the outside, in `tests/`.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use expect_test::{Expect, expect};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::catalogue::Catalogue;

/// Does as it is told.
struct Puppet;

#[derive(Deserialize, JsonSchema)]
struct Strings {
    /// What to do.
    act: String,
    #[serde(default)]
    count: u32,
    who: Option<Who>,
    #[expect(dead_code, reason = "for its schema")]
    mood: Option<Mood>,
    #[expect(dead_code, reason = "for its schema")]
    any: Option<Value>,
    #[expect(dead_code, reason = "for its schema")]
    list: Option<Vec<Value>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mood {
    Glad,
    Sad,
}

#[derive(Deserialize, JsonSchema)]
struct Who {
    #[serde(default)]
    age: u8,
}

const PUPPET: Family =
    Family { name: Cow::Borrowed("puppet"), form: AnswerForm::Words, about_programs: false };
const PUPPET_IN_JSON: Family =
    Family { name: Cow::Borrowed("puppet"), form: AnswerForm::Json, about_programs: false };

static DROPPED: AtomicBool = AtomicBool::new(false);

impl Tool for Puppet {
    const NAME: &'static str = "puppet_act";
    const FAMILY: &'static Family = &PUPPET;
    const ABOUT: &'static str = "Does as it is told. Nothing else.";
    const EFFECT: Effect = Effect::Destroys;
    const TITLE: &'static str = "Puppet";
    const LONG: bool = true;
    const RARE: &'static [&'static str] = &["who"];
    const OLD_NAMES: &'static [(&'static str, &'static str)] = &[("number", "count")];
    type Scope = App;
    type Params = Strings;

    async fn run(_: App, params: Strings, call: Call) -> Result<Reply, Failure> {
        struct Work;
        impl Drop for Work {
            fn drop(&mut self) {
                DROPPED.store(true, Ordering::SeqCst);
            }
        }
        match params.act.as_str() {
            "panic" => panic!("as told"),
            "wait" => {
                let _work = Work;
                std::future::pending().await
            }
            "fail" => Err(Failure::new(Code::NotFound, "nothing here").hint("look elsewhere")),
            act => {
                let age = params.who.map(|who| who.age);
                let data = json!({ "count": params.count, "age": age });
                let text = format!("{act} by {} within {}", call.by, call.budget.bytes());
                Ok(Answer::new(text, &data)?.into())
            }
        }
    }
}

/// Never lets anybody in.
struct Closed;

struct Shut;

impl Scope for Shut {
    async fn enter(_: &Call) -> Result<Self, Failure> {
        Err(Failure::new(Code::NotFound, "no session is live").hint("start one"))
    }
}

impl Tool for Closed {
    const NAME: &'static str = "puppet_closed";
    const FAMILY: &'static Family = &PUPPET;
    const ABOUT: &'static str = "Cannot be reached.";
    const EFFECT: Effect = Effect::Sets;
    type Scope = Shut;
    type Params = Nothing;

    async fn run(_: Shut, _: Nothing, _: Call) -> Result<Reply, Failure> {
        Err(Failure::internal("it was not shut"))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// One that speaks JSON, and what it is told cannot be taken back.
struct Json;

impl Tool for Json {
    const NAME: &'static str = "puppet_json";
    const FAMILY: &'static Family = &PUPPET_IN_JSON;
    const ABOUT: &'static str = "Says what it was given.";
    const EFFECT: Effect = Effect::Writes;
    type Scope = App;
    type Params = Given;

    async fn run(_: App, given: Given, _: Call) -> Result<Reply, Failure> {
        Ok(Reply::Json(json!({ "modified_args": given.modified_args })))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Given {
    modified_args: Option<Vec<u8>>,
}

/// The same, but it only reads.
struct Reader;

impl Tool for Reader {
    const NAME: &'static str = "puppet_reader";
    const FAMILY: &'static Family = &PUPPET_IN_JSON;
    const ABOUT: &'static str = "Says what it was given.";
    const EFFECT: Effect = Effect::Reads;
    type Scope = App;
    type Params = Given;

    async fn run(app: App, given: Given, call: Call) -> Result<Reply, Failure> {
        Json::run(app, given, call).await
    }
}

const PUPPETS: &[Entry] =
    &[entry::<Puppet>(), entry::<Closed>(), entry::<Json>(), entry::<Reader>()];

struct Stage {
    app: App,
    cancel: CancellationToken,
}

impl Stage {
    fn new() -> Stage {
        let catalogue = Catalogue::of(PUPPETS.to_vec(), &[], &[], "").unwrap();
        Stage {
            app: App::new(
                catalogue,
                None,
                crate::mcp::Structured::Auto,
                Some(std::path::Path::new(":memory:")),
                holdpoint_engine::secrets::Secrets::default(),
            ),
            cancel: CancellationToken::new(),
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Reply, Failure> {
        let mounted = self.app.catalogue.tool(tool)?;
        let caller = Caller {
            app: self.app.clone(),
            by: "tester".into(),
            client: None,
            request_id: "1".into(),
            shape: Shape::Text,
            cancel: self.cancel.clone(),
            gone: CancellationToken::new(),
            turns: Arc::new(tokio::sync::Semaphore::new(1)),
            progress: None,
            #[cfg(feature = "conformance")]
            received: crate::conformance::Received::absent(),
        };
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        call(&mounted.entry, mounted.schema(), caller, arguments).await
    }
}

/// What the client reads: text, or the failure's text.
async fn check(tool: &str, arguments: Value, expect: Expect) {
    let text = match Stage::new().call(tool, arguments).await {
        Ok(Reply::Answer(answer)) => format!("{}\n{}", answer.text, answer.data),
        Ok(Reply::Json(json)) => json.to_string(),
        Ok(Reply::Refused(json)) => format!("refused: {json}"),
        Ok(Reply::Raw(raw)) => format!("{raw:?}"),
        Err(failure) => failure.to_string(),
    };
    expect.assert_eq(&text);
}

#[tokio::test]
async fn an_answer_has_text_and_data() {
    check(
        "puppet_act",
        json!({ "act": "dance", "count": 2, "who": { "age": 7 } }),
        expect![[r#"
            dance by tester within 6000
            {"count":2,"age":7}"#]],
    )
    .await;
}

#[tokio::test]
async fn null_means_not_given() {
    check(
        "puppet_act",
        json!({ "act": "dance", "count": null, "who": null, "timeout_s": null }),
        expect![[r#"
            dance by tester within 6000
            {"count":0,"age":null}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_failure_has_its_hint() {
    check(
        "puppet_act",
        json!({ "act": "fail" }),
        expect![[r#"
            [E_NOT_FOUND] nothing here
            hint: look elsewhere"#]],
    )
    .await;
}

#[tokio::test]
async fn a_precondition_is_told_before_the_tool_runs() {
    check(
        "puppet_closed",
        json!({}),
        expect![[r#"
            [E_NOT_FOUND] no session is live
            hint: start one"#]],
    )
    .await;
}

#[tokio::test]
async fn an_unknown_tool_has_a_neighbour() {
    check(
        "pupet_act",
        json!({}),
        expect![[r#"
            [E_UNKNOWN_TOOL] no tool `pupet_act`
            hint: did you mean `puppet_act`?"#]],
    )
    .await;
    check(
        "xyz",
        json!({}),
        expect![[r#"
            [E_UNKNOWN_TOOL] no tool `xyz`
            hint: tools: puppet_act, puppet_closed, puppet_json, puppet_reader"#]],
    )
    .await;
}

#[tokio::test]
async fn an_unknown_parameter_has_a_neighbour() {
    check(
        "puppet_act",
        json!({ "act": "dance", "cuont": 2 }),
        expect![[r#"
            [E_INVALID_PARAMS] unknown parameter `cuont`
            hint: did you mean `count`? `puppet_act` takes `act`, `count`, `who`, `mood`, `any`, `list`, `budget_tokens`"#]],
    )
    .await;
}

/// A name of 4 MB took the search for its neighbour 26 s.
#[tokio::test]
async fn what_no_name_of_ours_is_as_long_as_is_refused_unread() {
    let long = "debug_".repeat(700_000);
    let told = Stage::new().call(&long, json!({})).await.unwrap_err().to_string();
    assert!(told.starts_with("[E_UNKNOWN_TOOL] no tool `debug_") && told.len() < 250, "{told}");
    for tool in ["puppet_act", "puppet_json"] {
        let arguments = json!({ "act": "dance", long.as_str(): 1 });
        let told = match Stage::new().call(tool, arguments).await {
            Ok(Reply::Refused(json)) => json.to_string(),
            other => other.unwrap_err().to_string(),
        };
        assert!(told.contains("unknown parameter `debug_") && told.len() < 300, "{told}");
    }
    for arguments in [
        json!({ "act": "dance", "timeout_s": long }),
        json!({ "act": "dance", "count": long }),
        json!({ "act": "dance", "mood": long }),
    ] {
        let told = Stage::new().call("puppet_act", arguments).await.unwrap_err().to_string();
        assert!(told.len() < 400, "{}", told.len());
    }
}

#[tokio::test]
async fn a_parameter_is_taken_by_its_old_name() {
    check(
        "puppet_act",
        json!({ "act": "dance", "number": 3 }),
        expect![[r#"
            dance by tester within 6000
            {"count":3,"age":null}"#]],
    )
    .await;
    check(
        "puppet_act",
        json!({ "act": "dance", "number": 3, "count": 4 }),
        expect![[r#"
            [E_INVALID_PARAMS] `number` is the old name of `count`, and both are given
            hint: pass `count` alone"#]],
    )
    .await;
}

#[tokio::test]
async fn what_a_json_tool_does_not_know_is_noted() {
    check(
        "puppet_json",
        json!({ "modified_args": [1], "verbose": true, "timeout_s": 3 }),
        expect![[r#"{"modified_args":[1],"note":"ignored unknown `verbose`"}"#]],
    )
    .await;
    check(
        "puppet_reader",
        json!({ "modifed_args": [1], "args": [1], "verbose": null }),
        expect![[
            r#"{"modified_args":null,"note":"ignored unknown `modifed_args` (did you mean `modified_args`?), `args` (did you mean `modified_args`?)"}"#
        ]],
    )
    .await;
}

/// It would be carried out as it was not meant.
#[tokio::test]
async fn a_slip_in_what_cannot_be_taken_back_is_refused() {
    for slip in ["modifed_args", "modifiedArgs", "modified-args", "args", "modified_arg"] {
        let said = Stage::new().call("puppet_json", json!({ slip: [1] })).await;
        let Ok(Reply::Refused(error)) = said else { panic!("{slip}: {said:?}") };
        assert_eq!(
            (&error["error"], &error["parameter"]),
            (&json!("invalid_parameter"), &json!(slip))
        );
        assert!(
            error["hint"].as_str().unwrap().contains("did you mean `modified_args`?"),
            "{error}"
        );
    }
    for far in ["verbose", "extra", "x", "unknown_parameter"] {
        let said = Stage::new().call("puppet_json", json!({ far: [1] })).await;
        assert!(matches!(said, Ok(Reply::Json(_))), "{far}");
    }
}

#[tokio::test]
async fn a_missing_parameter_says_what_it_is() {
    check(
        "puppet_act",
        json!({ "count": 2 }),
        expect![[r#"
            [E_INVALID_PARAMS] missing parameter `act` of `puppet_act`
            hint: pass `act` (string): What to do."#]],
    )
    .await;
}

#[tokio::test]
async fn a_wrong_type_names_the_parameter_and_what_was_expected() {
    check(
        "puppet_act",
        json!({ "act": "dance", "count": "two" }),
        expect![[r#"
            [E_INVALID_PARAMS] parameter `count` of `puppet_act`: invalid type: string "two", expected an integer
            hint: `count` is an integer, 0 or more"#]],
    )
    .await;
    check(
        "puppet_act",
        json!({ "act": "dance", "who": { "age": 300 } }),
        expect![[r#"
            [E_INVALID_PARAMS] parameter `who.age` of `puppet_act`: invalid value: integer `300`, expected an integer
            hint: `who.age` is an integer from 0 to 255"#]],
    )
    .await;
}

#[tokio::test]
async fn common_parameters_are_checked() {
    check(
        "puppet_act",
        json!({ "act": "dance", "timeout_s": -1 }),
        expect![[r#"
            [E_INVALID_PARAMS] parameter `timeout_s` is `-1`
            hint: `timeout_s` is a number of seconds from 0 to 3600"#]],
    )
    .await;
    check(
        "puppet_act",
        json!({ "act": "dance", "budget_tokens": "many" }),
        expect![[r#"
            [E_INVALID_PARAMS] parameter `budget_tokens` is `"many"`
            hint: `budget_tokens` is an integer from 1 to 50000"#]],
    )
    .await;
    check(
        "puppet_act",
        json!({ "act": "dance", "budget_tokens": 10 }),
        expect![[r#"
            dance by tester within 36
            {"count":0,"age":null}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_panic_is_an_answer() {
    check(
        "puppet_act",
        json!({ "act": "panic" }),
        expect![[r#"
            [E_INTERNAL] `puppet_act` panicked
            hint: this is a bug of Holdpoint; the server goes on, its log says more"#]],
    )
    .await;
}

/// A deadline is told, and the work is really gone.
#[tokio::test]
async fn a_deadline_ends_the_work() {
    let stage = Stage::new();
    DROPPED.store(false, Ordering::SeqCst);
    let late = stage.call("puppet_act", json!({ "act": "wait", "timeout_s": 0.02 })).await;
    expect![[r#"
        [E_TIMEOUT] `puppet_act` was not done after 0.02 s
        hint: pass a larger `timeout_s`, up to 3600"#]]
    .assert_eq(&late.unwrap_err().to_string());
    assert!(DROPPED.load(Ordering::SeqCst), "the work goes on behind the caller's back");
    let stage = Arc::new(stage);
    let other = Arc::clone(&stage);
    let waiting =
        tokio::spawn(async move { other.call("puppet_act", json!({ "act": "wait" })).await });
    stage.cancel.cancel();
    assert_eq!(waiting.await.unwrap().unwrap_err().code, Code::Cancelled);
}

#[tokio::test]
async fn a_stopping_server_ends_the_wait() {
    let stage = Stage::new();
    stage.app.shutdown.cancel();
    let ended = stage.call("puppet_act", json!({ "act": "wait" })).await;
    assert_eq!(ended.unwrap_err().code, Code::ShuttingDown);
}

#[test]
fn a_tool_is_described_in_few_words() {
    let describe = |size| {
        let tool = PUPPETS[0].describe(&PUPPETS[0].schema(size), size);
        serde_json::to_string(&tool).unwrap()
    };
    expect![[r#"{"name":"puppet_act","title":"Puppet","description":"Does as it is told. Nothing else.","inputSchema":{"type":"object","properties":{"act":{"type":"string","description":"What to do."},"count":{"type":"integer"},"who":{"type":"object","properties":{"age":{"type":"integer"}}},"mood":{"type":"string","enum":["glad","sad"]},"any":{"type":"string"},"list":{"type":"array","items":{"type":"string"}},"budget_tokens":{"type":"integer"}},"required":["act"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}"#]]
    .assert_eq(&describe(Size::Whole));
    expect![[r#"{"name":"puppet_act","title":"Puppet","description":"Does as it is told.","inputSchema":{"type":"object","properties":{"act":{"type":"string"},"count":{"type":"integer"},"mood":{"type":"string","enum":["glad","sad"]},"any":{"type":"string"},"list":{"type":"array","items":{"type":"string"}},"budget_tokens":{"type":"integer"}},"required":["act"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}"#]]
    .assert_eq(&describe(Size::Slim));
}

#[test]
fn duplicates_are_found() {
    assert!(unique(PUPPETS));
    assert!(!unique(&[entry::<Puppet>(), entry::<Closed>(), entry::<Puppet>()]));
}

/// Arguments of any shape.
fn anything() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    let names = prop_oneof![
        Just("act".to_owned()),
        Just("count".to_owned()),
        Just("who".to_owned()),
        Just("timeout_s".to_owned()),
        Just("budget_tokens".to_owned()),
        ".{0,8}",
    ];
    let nested = leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(names, nested, 0..5)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

proptest::proptest! {
    /// Whatever a client sends is answered, and a refusal says what to do next.
    #[test]
    fn any_arguments_are_answered(arguments in anything()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let is_told_to_wait = arguments["act"] == "wait";
        let answer = runtime.block_on(async { Stage::new().call("puppet_act", arguments).await });
        if let Err(failure) = answer
            && !is_told_to_wait
        {
            proptest::prop_assert!(failure.code != Code::Internal, "{}", failure);
        }
    }
}
