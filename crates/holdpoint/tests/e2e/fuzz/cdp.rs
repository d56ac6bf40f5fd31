//! What an inspector says: a played one behind a real websocket that says anything, also in its frames.

use std::{
    collections::HashMap,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use holdpoint_testkit::rpc::Rpc;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, accept};

use super::{
    BIN, LOOK_EVERY, Plan, Seeds, Watch, corpus,
    mutate::{self, Random},
};

/// Requests before a session hears of anything.
const HANDSHAKE: usize = 6;

#[test]
fn mutated_messages_of_an_inspector_harm_nobody() {
    let plan = Plan::read();
    let mut rpc = Rpc::connect(BIN, &["mcp", "--port", "0"], "2025-11-25");
    let mut watch = Watch::over(&rpc.process, &plan);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let played = Arc::new(Played::new(port, &plan));
    let over = Arc::new(AtomicBool::new(false));
    let (inspector, ended) = (Arc::clone(&played), Arc::clone(&over));
    // Ends with the test.
    let serving = thread::spawn(move || inspector.serve(&listener, &ended));
    let mut sessions = 0;
    while !played.seeds.are_over() {
        sessions += 1;
        let since = watch.since(played.seeds.now());
        let attach = json!({ "port": port, "language": "node", "timeout_s": 5 });
        let said = rpc.call("debug_attach", attach);
        if said["isError"] != true {
            // Whatever came of it: until the connection has ended, or nothing is left to say.
            while played.talks() && !played.seeds.are_over() {
                rpc.call("debug_wait", json!({ "timeout_s": 0.5 }));
                rpc.call("debug_stack", json!({}));
                look(&mut rpc, &since);
            }
            rpc.call("debug_stop", json!({}));
        }
        look(&mut rpc, &since);
        watch.well(played.seeds.now());
    }
    over.store(true, Ordering::Relaxed);
    serving.join().unwrap();
    watch.tell(&plan, "CDP messages");
    println!("in {sessions} sessions");
    rpc.finish();
}

#[track_caller]
fn look(rpc: &mut Rpc, since: &str) {
    let status = rpc.call("server_status", json!({}));
    assert_eq!(status["structuredContent"]["data"]["panics"], 0, "{status}: {since}");
    rpc.heard.clear();
}

struct Played {
    port: u16,
    /// Events as a real one sent them.
    events: Vec<Value>,
    /// Answers, by the command that was answered.
    answers: HashMap<String, Vec<Value>>,
    seeds: Seeds,
    talking: AtomicBool,
}

impl Played {
    fn new(port: u16, plan: &Plan) -> Played {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cdp/tests/recordings/node.jsonl");
        let (mut events, mut answers) = (Vec::new(), HashMap::<String, Vec<Value>>::new());
        for mut line in corpus::recorded(&file) {
            match line["command"].as_str() {
                Some(command) => {
                    answers.entry(command.to_owned()).or_default().push(line["msg"].clone());
                }
                None => events.push(line["msg"].take()),
            }
        }
        Played { port, events, answers, seeds: Seeds::of(plan), talking: AtomicBool::new(false) }
    }

    fn talks(&self) -> bool {
        self.talking.load(Ordering::Relaxed)
    }

    /// As Node does: a list of what there is to debug, and a websocket.
    fn serve(&self, listener: &TcpListener, over: &AtomicBool) {
        listener.set_nonblocking(true).unwrap();
        while !over.load(Ordering::Relaxed) {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(Duration::from_millis(1));
                continue;
            };
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
            let mut head = [0; 2048];
            let count = stream.peek(&mut head).unwrap_or_default();
            if String::from_utf8_lossy(&head[..count]).to_ascii_lowercase().contains("upgrade") {
                if let Ok(socket) = accept(stream) {
                    self.talking.store(true, Ordering::Relaxed);
                    self.say(socket, over);
                    self.talking.store(false, Ordering::Relaxed);
                }
            } else if count > 0 {
                self.list(stream);
            }
        }
    }

    fn list(&self, mut stream: TcpStream) {
        let target = json!([{ "id": "1", "title": "shop.js", "type": "node", "url": "file:///srv/shop/shop.js",
            "webSocketDebuggerUrl": format!("ws://127.0.0.1:{}/1", self.port) }]);
        let body = target.to_string();
        let mut request = [0; 2048];
        // What was asked is known; whoever went without waiting is gone.
        stream.read(&mut request).map(drop).unwrap_or_default();
        let answer = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).unwrap_or_default();
    }

    fn say(&self, mut socket: WebSocket<TcpStream>, over: &AtomicBool) {
        socket.get_ref().set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        socket.get_ref().set_write_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut asked = 0;
        while !over.load(Ordering::Relaxed) && !self.seeds.are_over() {
            match socket.read() {
                Ok(Message::Text(text)) => {
                    asked += 1;
                    let request = serde_json::from_str(text.as_str()).expect("ours are sound");
                    // Whoever cannot begin waits for its deadline, and hears nothing meanwhile.
                    let odd_one_in = if asked < HANDSHAKE { 200 } else { 8 };
                    if self.answer(&mut socket, &request, odd_one_in).is_err() {
                        return;
                    }
                    continue;
                }
                Ok(Message::Close(_)) => return,
                Ok(_) => continue,
                Err(tungstenite::Error::Io(error))
                    if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
            let before = self.seeds.now();
            if asked >= HANDSHAKE && self.some(&mut socket).is_err() {
                self.seeds.more_since(before);
                return;
            }
        }
    }

    /// As an inspector answers; one in so many as none should.
    fn answer(
        &self,
        socket: &mut WebSocket<TcpStream>,
        request: &Value,
        odd_one_in: usize,
    ) -> Result<(), tungstenite::Error> {
        let mut random = Random(self.seeds.now());
        let command = request["method"].as_str().unwrap_or_default();
        let mut answer = match self.answers.get(command) {
            Some(known) => random.of(known).clone(),
            None => json!({ "result": {} }),
        };
        answer["id"] = request["id"].clone();
        if random.one_in(odd_one_in) {
            self.seeds.take();
            mutate::value(&mut random, &mut answer);
        }
        socket.send(Message::text(answer.to_string()))
    }

    /// The next of them.
    fn some(&self, socket: &mut WebSocket<TcpStream>) -> Result<(), tungstenite::Error> {
        let until = self.seeds.now() + LOOK_EVERY / 20;
        while self.seeds.now() < until && !self.seeds.are_over() {
            let mut random = Random(self.seeds.take());
            let other = random.of(&self.events).to_string();
            let event = random.of(&self.events).clone();
            let text = mutate::message(&mut random, &event, other.as_bytes());
            match random.below(20_000) {
                // Frames that are none end the connection, as they should.
                0 => socket.get_mut().write_all(&text)?,
                1 => socket.write(Message::binary(text))?,
                2 => socket.write(Message::Ping(text.into_iter().take(100).collect()))?,
                _ => socket.write(Message::text(String::from_utf8_lossy(&text).into_owned()))?,
            }
        }
        socket.flush()
    }
}
