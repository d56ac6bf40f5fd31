//! Lines of stdin, and what each of them says.
//!
//! Nearly every line of a session is a `tools/call` of the plain shape, which is read straight into its type:
//! the SDK's general parser tries every kind of request on a message, half of what a call costs. What is no
//! message is answered, with the request's id wherever that can be read: whoever sent it waits.

use std::io;

use holdpoint_engine::limits;
use rmcp::{
    RoleServer,
    model::{
        CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientRequest, ErrorCode,
        JsonRpcError, JsonRpcMessage, JsonRpcRequest, JsonRpcVersion2_0, RequestId,
    },
    service::RxJsonRpcMessage,
};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::bytes::BytesMut;

use crate::mcp::{exact, unread};

pub(super) type Message = RxJsonRpcMessage<RoleServer>;

/// What is read at once: several calls of the usual size.
const READ_BYTES: usize = 8 * 1024;
/// RFC 8259 lets a parser pass over a byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// A client that frames its messages begins each with this.
const FRAME: &[u8] = b"content-length:";

/// What a line says.
#[derive(Debug)]
pub(super) enum Said {
    Message(Box<Message>),
    /// Nothing that is to be answered.
    Nothing,
    Wrong(JsonRpcError),
}

pub(super) struct Reader<R> {
    read: R,
    unread: BytesMut,
    /// So far into `unread` there is no end of a line.
    searched: usize,
    expects: Expects,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Expects {
    Line,
    /// The rest of a line that was too long.
    Rest,
    /// The headers of a frame, of whose body the length is known.
    Headers(usize),
    Body(usize),
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(super) fn new(read: R) -> Reader<R> {
        Reader { read, unread: BytesMut::new(), searched: 0, expects: Expects::Line }
    }

    /// What the next line says; `None` at the end. Whoever stops waiting loses nothing.
    pub(super) async fn next(&mut self) -> io::Result<Option<Said>> {
        loop {
            if let Some(said) = self.take() {
                return Ok(Some(said));
            }
            self.unread.reserve(READ_BYTES);
            if self.read.read_buf(&mut self.unread).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// What is there already.
    fn take(&mut self) -> Option<Said> {
        loop {
            if let Expects::Body(length) = self.expects {
                return self.body(length);
            }
            let Some(end) = self.line() else {
                return (self.unread.len() > limits::LINE_BYTES).then(|| self.too_long());
            };
            let line = self.unread.split_to(end);
            self.searched = 0;
            let is_empty = line.trim_ascii().is_empty();
            self.expects = match self.expects {
                Expects::Headers(length) if is_empty => Expects::Body(length),
                Expects::Headers(length) => Expects::Headers(length),
                Expects::Line if !is_empty => match frame(&line) {
                    Some(length) => Expects::Headers(length),
                    None => return Some(said(&line)),
                },
                Expects::Line | Expects::Rest | Expects::Body(_) => Expects::Line,
            };
        }
    }

    /// Where the next line ends, if it does yet.
    fn line(&mut self) -> Option<usize> {
        let rest = self.unread.get(self.searched..).unwrap_or_default();
        let found = rest.iter().position(|byte| *byte == b'\n');
        let end = found.map(|at| self.searched + at + 1);
        self.searched = self.unread.len();
        end
    }

    /// A client that frames its messages learns so from the answer to its first.
    fn body(&mut self, length: usize) -> Option<Said> {
        if self.unread.len() < length {
            return None;
        }
        let body = self.unread.split_to(length);
        (self.searched, self.expects) = (0, Expects::Line);
        let text = "this server reads one JSON message a line, without `Content-Length` headers";
        Some(Said::Wrong(unread::of(&body).refused(ErrorCode::INVALID_REQUEST, text)))
    }

    fn too_long(&mut self) -> Said {
        let line = std::mem::take(&mut self.unread);
        self.searched = 0;
        match std::mem::replace(&mut self.expects, Expects::Rest) {
            Expects::Rest => Said::Nothing,
            Expects::Line | Expects::Headers(_) | Expects::Body(_) => {
                let text = format!("a message may have {} bytes", limits::LINE_BYTES);
                Said::Wrong(unread::of(&line).refused(ErrorCode::INVALID_REQUEST, text))
            }
        }
    }
}

/// How long the body is that a line announces.
fn frame(line: &[u8]) -> Option<usize> {
    let (name, length) = line.split_at_checked(FRAME.len())?;
    let length = std::str::from_utf8(length).ok().filter(|_| name.eq_ignore_ascii_case(FRAME))?;
    length.trim().parse().ok().filter(|length| *length <= limits::LINE_BYTES)
}

fn said(line: &[u8]) -> Said {
    let line = line.strip_prefix(MARK).unwrap_or(line).trim_ascii_end();
    if let Some(message) = call(line) {
        return Said::Message(Box::new(message));
    }
    match serde_json::from_slice::<Message>(line) {
        Ok(message) => Said::Message(Box::new(message)),
        Err(error) => unread::problem(line, &error).map_or(Said::Nothing, Said::Wrong),
    }
}

/// A line as the plain call that it may be.
fn call(line: &[u8]) -> Option<Message> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Plain {
        jsonrpc: JsonRpcVersion2_0,
        id: RequestId,
        #[expect(dead_code, reason = "its type is the check")]
        method: CallToolRequestMethod,
        params: CallToolRequestParams,
    }
    let Plain { jsonrpc, id, params, .. } = serde_json::from_slice(&exact::call(line)).ok()?;
    let mut request = CallToolRequest::new(params);
    // Where the SDK puts it.
    if let Some(meta) = request.params.meta.take() {
        request.extensions.insert(meta);
    }
    let request = ClientRequest::CallToolRequest(request);
    Some(JsonRpcMessage::Request(JsonRpcRequest { jsonrpc, id, request }))
}

#[cfg(test)]
mod tests {
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
            let member =
                (names, inner.clone()).prop_map(|(name, it)| format!("{}:{it}", json!(name)));
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|it| format!("[{}]", it.join(","))),
                prop::collection::vec(member, 0..4)
                    .prop_map(|it| format!("{{{}}}", it.join(" , "))),
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
        let usual = prop_oneof![8 => usual, 1 => json()];
        let said = usual.prop_map(move |value| format!("\"{name}\": {value}"));
        prop_oneof![12 => said.clone(), 1 => (said.clone(), said).prop_map(|(a, b)| format!("{a},{b}")), 1 => Just(String::new())]
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
        assert!(taken.len() > 60 && with_meta > 40, "{} taken, {with_meta}", taken.len());
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
}
