//! HTTP+SSE: the two-endpoint transport, by hand. The SDKs drive it in `tests/sdk`.

use holdpoint_testkit::{
    http::{Events, get, post},
    process::Process,
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> (Process, u16) {
    let mut process = Process::start(BIN, &["serve", "--port", "0", "--mcp-sse"]);
    let port = process.port();
    (process, port)
}

struct Client {
    port: u16,
    events: Events,
    endpoint: String,
}

impl Client {
    fn open(port: u16) -> Client {
        let mut events = get(port, "/mcp/sse").stream();
        let first = events.next_data().unwrap();
        assert_eq!(first.event, "endpoint");
        assert!(first.data.starts_with("/mcp/messages?session_id="), "{}", first.data);
        Client { port, events, endpoint: first.data }
    }

    fn connect(port: u16, name: &str) -> Client {
        let mut client = Client::open(port);
        let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": { "name": name, "version": "0" } });
        let answer = client.request(1, "initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn post(&self, message: &Value) {
        let sent = post(self.port, &self.endpoint, &message.to_string()).send();
        assert_eq!(sent.status, 202);
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait_for(|message| message["id"] == id)
    }

    fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = self.events.next_data().expect("the stream goes on");
            assert_eq!(event.event, "message");
            let message: Value = serde_json::from_str(&event.data).unwrap();
            if wanted(&message) {
                return message;
            }
        }
    }
}

#[test]
fn statuses_say_what_is_wrong() {
    let (_process, port) = serve();
    let client = Client::open(port);
    assert_eq!(post(port, "/mcp/messages", "{}").send().status, 400, "no session_id");
    assert_eq!(post(port, "/mcp/messages?session_id=nobody", "{}").send().status, 404);
    assert_eq!(post(port, &client.endpoint, "not json").send().status, 400);
    assert_eq!(post(port, &client.endpoint, r#"{"jsonrpc":"2.0"}"#).send().status, 400);
    assert_eq!(get(port, &client.endpoint).send().status, 405);
}

#[test]
fn it_is_off_unless_asked_for() {
    let mut process = Process::start(BIN, &["serve", "--port", "0"]);
    let port = process.port();
    assert_eq!(get(port, "/mcp/sse").send().status, 404);
}

#[test]
fn many_clients_at_once_hear_each_other() {
    let (_process, port) = serve();
    let mut clients: Vec<Client> =
        (0..20).map(|n| Client::connect(port, &format!("client-{n}"))).collect();
    let note = json!({ "name": "timeline_note", "arguments": { "text": "hello all" } });
    // Whoever is asked after its `initialized` was accepted hears what follows.
    for client in &mut clients {
        client.request(2, "ping", &json!({}));
    }
    clients[0].request(3, "tools/call", &note);
    for client in &mut clients[1..] {
        let heard = client.wait_for(|it| it["method"] == "notifications/timeline/note");
        assert_eq!(heard["params"]["data"], json!({ "text": "hello all", "by": "client-0" }));
    }
}

#[test]
fn a_client_that_goes_leaves() {
    let (_process, port) = serve();
    let mut stays = Client::connect(port, "stays");
    let goes = Client::connect(port, "goes");
    let endpoint = goes.endpoint.clone();
    let wait = json!({ "name": "timeline_query", "arguments": { "since": 999, "timeout_s": 600 } });
    goes.post(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": wait }));
    drop(goes);
    let query = json!({ "name": "timeline_query",
        "arguments": { "since": 0, "kinds": ["client_left"], "timeout_s": 10 } });
    let answer = stays.request(5, "tools/call", &query);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("client_left c2 goes over sse"), "{text}");
    until("the session to be forgotten", || {
        (post(port, &endpoint, "{}").send().status == 404).then_some(())
    });
}

#[test]
fn an_idle_stream_shows_that_it_is_alive() {
    let (_process, port) = serve();
    let mut client = Client::open(port);
    let sign = client.events.next_event().unwrap();
    assert_eq!(sign.comment, "keep-alive");
}
