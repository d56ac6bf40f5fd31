//! Lines as clients write them, and as they should not.

use expect_test::{Expect, expect};
use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::*;

/// The same message as the SDK reads.
#[track_caller]
fn same(line: &str) {
    let ours = call(line.as_bytes()).unwrap();
    let theirs: Message = serde_json::from_str(line).unwrap();
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
}

#[test]
fn a_plain_call_is_read_as_the_sdk_reads_it() {
    same(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#);
    same(
        r#"{"method":"tools/call","params":{"arguments":{},"name":"x"},"id":"a","jsonrpc":"2.0"}"#,
    );
    same(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\"ü","arguments":{"n":1.5,"deep":[{"k":null}]},"_meta":{"progressToken":"t","other":[1]}}}"#,
    );
    same(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","requestState":"s","unknown":{"a":1}}}"#,
    );
}

#[test]
fn anything_else_is_the_sdks() {
    for line in [
        "tools/call",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"x"}}"#,
    ] {
        assert!(call(line.as_bytes()).is_none(), "{line}");
    }
}

/// The text of a value, as JSON libraries of any kind write it.
fn json() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|it| it.to_string()),
        any::<u64>().prop_map(|it| it.to_string()),
        any::<f64>().prop_map(|it| json!(it).to_string()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
    ];
    let text = prop_oneof![
        ".{0,12}".prop_map(|it| json!(it).to_string()),
        Just(r#""\u00fc\ud83d\ude00\/\b\f""#.to_owned()),
        Just("\"\u{fdd0}7\"".to_owned()),
    ];
    let leaf = prop_oneof![3 => number, 3 => text, 1 => "null|true|false|\\[\\]|\\{\\}"];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let names = prop_oneof!["[a-c]", Just("progressToken".to_owned()), ".{0,4}"];
        let member = (names, inner.clone()).prop_map(|(name, it)| format!("{}:{it}", json!(name)));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|it| format!("[{}]", it.join(","))),
            prop::collection::vec(member, 0..4).prop_map(|it| format!("{{{}}}", it.join(" , "))),
        ]
    })
}

/// The same of an object, in which a name may come twice.
fn json_object() -> impl Strategy<Value = String> {
    let names = prop_oneof!["[a-c]", Just("progressToken".to_owned()), ".{0,4}"];
    let member = (names, json()).prop_map(|(name, it)| format!("{}:{it}", json!(name)));
    prop::collection::vec(member, 0..4).prop_map(|it| format!("{{{}}}", it.join(" , ")))
}

/// A member, most often as it should be; now and then something else, twice, or not at all.
fn member(
    name: &'static str,
    usual: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    let usual = prop_oneof![30 => usual, 1 => json()];
    let said = usual.prop_map(move |value| format!("\"{name}\": {value}"));
    prop_oneof![30 => said.clone(), 1 => (said.clone(), said).prop_map(|(a, b)| format!("{a},{b}")), 1 => Just(String::new())]
}

/// In any order.
fn object(members: Vec<BoxedStrategy<String>>) -> impl Strategy<Value = String> {
    members.prop_shuffle().prop_map(|members| {
        let members: Vec<String> = members.into_iter().filter(|it| !it.is_empty()).collect();
        format!("{{{}}}", members.join(","))
    })
}

/// A line that is a call, or nearly one.
fn line() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just(r#""server_status""#.to_owned()),
        Just(r#""breakpoint_continue""#.to_owned()),
        ".{0,8}".prop_map(|it| json!(it).to_string()),
    ];
    let meta = prop_oneof![
        Just(r#"{"progressToken": 7, "holdpoint/structured": true}"#.to_owned()),
        Just(r#"{"progressToken": "t", "x": [1.50, {"y": null}]}"#.to_owned()),
        json_object(),
    ];
    let params = object(vec![
        member("name", name).boxed(),
        member("arguments", json_object()).boxed(),
        member("_meta", meta).boxed(),
        member("requestState", Just(r#""s""#.to_owned())).boxed(),
        prop_oneof![6 => Just(String::new()), 1 => member("task", json())].boxed(),
        prop_oneof![6 => Just(String::new()), 1 => member("inputResponses", json())].boxed(),
    ]);
    let id = prop_oneof![
        any::<i64>().prop_map(|it| it.to_string()),
        ".{0,6}".prop_map(|it| json!(it).to_string()),
    ];
    let call = || Just(r#""tools/call""#.to_owned());
    object(vec![
        member("jsonrpc", Just(r#""2.0""#.to_owned())).boxed(),
        member("id", id).boxed(),
        member("method", prop_oneof![20 => call(), 1 => Just(r#""tools/list""#.to_owned())])
            .boxed(),
        member("params", params).boxed(),
        prop_oneof![20 => Just(String::new()), 1 => member("more", json())].boxed(),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// What is read past the SDK is what the SDK would have read, `_meta` included: written again it is
    /// the same text, and nothing else is in it.
    #[test]
    fn what_is_taken_is_what_the_sdk_takes(line in line()) {
        let marked = exact::call(line.as_bytes());
        if let Some(ours) = call(line.as_bytes()) {
            let theirs = serde_json::from_slice::<Message>(&marked);
            prop_assert!(theirs.is_ok(), "the SDK does not take {}: {:?}", line, theirs);
            let theirs = theirs.unwrap();
            let text = |it: &Message| serde_json::to_string(it).unwrap();
            prop_assert_eq!(text(&ours), text(&theirs), "{}", line);
            prop_assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{}", line);
        }
    }
}

/// The property above is about something: calls are taken, with their `_meta`.
#[test]
fn many_of_those_lines_are_calls() {
    let mut runner = TestRunner::deterministic();
    let mut lines = Vec::new();
    for _ in 0..300 {
        lines.push(line().new_tree(&mut runner).unwrap().current());
    }
    let taken: Vec<String> = lines
        .iter()
        .filter_map(|line| call(line.as_bytes()))
        .map(|it| serde_json::to_string(&it).unwrap())
        .collect();
    let with_meta = taken.iter().filter(|it| it.contains("_meta")).count();
    assert!(taken.len() > 90 && with_meta > 80, "{} taken, {with_meta}", taken.len());
}

/// What a stream says, read in pieces of any size.
async fn read(stream: &[u8], piece: usize) -> Vec<Said> {
    let (near, mut far) = tokio::io::duplex(piece);
    let stream = stream.to_vec();
    let writer = tokio::spawn(async move { far.write_all(&stream).await.unwrap() });
    let mut reader = Reader::new(near);
    let mut all = Vec::new();
    while let Some(said) = reader.next().await.unwrap() {
        all.push(said);
    }
    writer.await.unwrap();
    all
}

#[track_caller]
fn check(stream: &str, expected: Expect) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut shown = Vec::new();
    for piece in [1, 7, 64, 4096] {
        let all = runtime.block_on(read(stream.as_bytes(), piece));
        let lines = all.iter().map(|said| match said {
            Said::Message(message) => serde_json::to_string(message).unwrap(),
            Said::Nothing => "nothing".to_owned(),
            Said::Wrong(error) => serde_json::to_string(error).unwrap(),
        });
        shown.push(lines.collect::<Vec<_>>().join("\n"));
    }
    assert!(shown.iter().all(|it| *it == shown[0]), "{shown:#?}");
    expected.assert_eq(&shown[0]);
}

#[test]
fn lines_are_read_whatever_the_pieces() {
    check(
        "\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\
         \u{feff}{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}\n  \n\
         {\"jsonrpc\":\"2.0\",\"method\":\"$/lsp\",\"params\":3}\nunended",
        expect![[r#"
            {"jsonrpc":"2.0","id":1,"method":"ping"}
            {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}
            nothing"#]],
    );
}

#[test]
fn what_is_no_message_is_answered_with_the_id_that_it_has() {
    let deep = format!("{}1{}", "[".repeat(130), "]".repeat(130));
    check(
        &format!(
            "garbage\n\
             {{\"jsonrpc\":\"2.0\",\"id\":\"deep\",\"method\":\"tools/call\",\"params\":{deep}}}\n\
             {{\"jsonrpc\":\"2.0\",\"params\":{{\"id\":1}},\"method\":\"ping\",\"id\":8\n\
             {{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"ping\"}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":{{}},\"method\":7}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":}}\n\
             [{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}]\n"
        ),
        expect![[r#"
            {"jsonrpc":"2.0","error":{"code":-32700,"message":"this is not JSON from column 1 on"}}
            {"jsonrpc":"2.0","id":"deep","error":{"code":-32700,"message":"this message is nested deeper than 127 levels"}}
            {"jsonrpc":"2.0","error":{"code":-32700,"message":"this is not JSON from column 57 on"}}
            {"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"this is not a message of MCP: one JSON-RPC 2.0 object, with an `id` that is a string or an integer"}}
            {"jsonrpc":"2.0","error":{"code":-32600,"message":"this is not a message of MCP: one JSON-RPC 2.0 object, with an `id` that is a string or an integer"}}
            {"jsonrpc":"2.0","error":{"code":-32700,"message":"this is not JSON from column 34 on"}}
            {"jsonrpc":"2.0","error":{"code":-32600,"message":"this is not a message of MCP: one JSON-RPC 2.0 object, with an `id` that is a string or an integer"}}"#]],
    );
}

#[test]
fn frames_are_refused_one_by_one() {
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
    let frame = format!("Content-Length: {}\r\nContent-Type: x\r\n\r\n{body}", body.len());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    check(
        &format!("{frame}{frame}\n{ping}\n"),
        expect![[r#"
        {"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"this server reads one JSON message a line, without `Content-Length` headers"}}
        {"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"this server reads one JSON message a line, without `Content-Length` headers"}}
        {"jsonrpc":"2.0","id":1,"method":"ping"}"#]],
    );
}

#[tokio::test]
async fn a_line_that_is_too_long_is_answered_and_skipped() {
    let begin = br#"{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":""#;
    let ping = b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let stream = [&begin[..], &vec![b'x'; limits::LINE_BYTES * 2], ping].concat();
    let all = read(&stream, 1 << 20).await;
    let Some(Said::Wrong(error)) = all.first() else { panic!("{all:?}") };
    assert_eq!(error.id, Some(RequestId::String("long".into())));
    assert!(matches!(all.last(), Some(Said::Message(_))));
}
