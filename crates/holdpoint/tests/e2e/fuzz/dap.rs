//! What a debug adapter says: a played one that says anything, from the first message on and without end.

use std::{
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

use holdpoint_dap::codec::{Decoder, encode};
use holdpoint_testkit::rpc::Rpc;
use serde_json::{Value, json};

use super::{
    BIN, LOOK_EVERY, Plan, Seeds, Watch, corpus,
    mutate::{self, Random},
};

#[test]
fn mutated_messages_of_an_adapter_harm_nobody() {
    let plan = Plan::read();
    let mut rpc = Rpc::connect(BIN, &["mcp", "--port", "0"], "2025-11-25");
    let mut watch = Watch::over(&rpc.process, &plan);
    let sound = sound();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seeds = Arc::new(Seeds::of(&plan));
    let mut sessions = 0;
    while !seeds.are_over() {
        sessions += 1;
        let played = Played { sound: Arc::clone(&sound), seeds: Arc::clone(&seeds) };
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, adapter) = (Arc::clone(&stop), listener.try_clone().unwrap());
        let talk = thread::spawn(move || played.talk(&adapter, &stopped));
        let since = watch.since(seeds.now());
        let attach = json!({ "port": port, "language": "python", "timeout_s": 5 });
        let said = rpc.call("debug_attach", attach);
        // Whatever came of it; what it says of a program is what the adapter said.
        if said["isError"] != true {
            while !talk.is_finished() {
                rpc.call("debug_wait", json!({ "timeout_s": 0.5 }));
                look(&mut rpc, &since);
            }
            rpc.call("debug_stop", json!({}));
        }
        stop.store(true, Ordering::Relaxed);
        talk.join().unwrap();
        look(&mut rpc, &since);
        watch.well(seeds.now());
    }
    watch.tell(&plan, "DAP frames");
    println!("in {sessions} sessions");
    rpc.finish();
}

#[track_caller]
fn look(rpc: &mut Rpc, since: &str) {
    let status = rpc.call("server_status", json!({}));
    assert_eq!(status["structuredContent"]["data"]["panics"], 0, "{status}: {since}");
    rpc.heard.clear();
}

/// What eleven debuggers were heard to say.
fn sound() -> Arc<Vec<Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dap/tests/recordings");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    Arc::new(files.iter().flat_map(|file| corpus::recorded(file)).collect())
}

struct Played {
    sound: Arc<Vec<Value>>,
    seeds: Arc<Seeds>,
}

impl Played {
    /// One connection: the handshake as it should be, or nearly; then everything else.
    fn talk(&self, listener: &TcpListener, stop: &AtomicBool) {
        listener.set_nonblocking(true).unwrap();
        let stream = loop {
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(_) if stop.load(Ordering::Relaxed) => return,
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        };
        stream.set_nonblocking(false).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
        self.say(stream, stop);
    }

    fn say(&self, mut stream: TcpStream, stop: &AtomicBool) {
        let mut decoder = Decoder::default();
        let mut begun = false;
        let mut buffer = [0; 16 * 1024];
        while !stop.load(Ordering::Relaxed) {
            match stream.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => decoder.feed(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
            let mut out = Vec::new();
            let before = self.seeds.now();
            while let Some(request) = decoder.next() {
                let request = request.expect("ours are sound");
                begun |= request["command"] == "configurationDone";
                // Whoever cannot begin waits for its deadline, and hears nothing meanwhile.
                self.answer(&request, if begun { 8 } else { 50 }, &mut out);
            }
            if begun {
                out.extend(self.some());
            }
            if stream.write_all(&out).is_err() {
                self.seeds.more_since(before);
                return;
            }
            if self.seeds.are_over() {
                return;
            }
        }
    }

    /// As an adapter answers; one in so many as none should.
    fn answer(&self, request: &Value, odd_one_in: usize, out: &mut Vec<u8>) {
        let command = request["command"].as_str().unwrap_or_default();
        let mut random = Random(self.seeds.now());
        let of = |it: &&Value| it["type"] == "response" && it["command"] == command;
        let known: Vec<&Value> = self.sound.iter().filter(of).collect();
        let mut answer = match known.is_empty() {
            true => json!({ "seq": 0, "type": "response", "success": true, "body": {} }),
            false => (*random.of(&known)).clone(),
        };
        answer["request_seq"] = request["seq"].clone();
        answer["command"] = request["command"].clone();
        if random.one_in(odd_one_in) {
            self.seeds.take();
            out.extend(frame(&mut random, &answer, &self.sound));
        } else {
            answer["success"] = json!(true);
            out.extend(encode(&answer));
        }
        if command == "attach" || command == "launch" {
            out.extend(encode(&json!({ "seq": 0, "type": "event", "event": "initialized" })));
        }
    }

    /// The next of them.
    fn some(&self) -> Vec<u8> {
        let mut all = Vec::new();
        let until = self.seeds.now() + LOOK_EVERY / 20;
        while self.seeds.now() < until && !self.seeds.are_over() {
            let mut random = Random(self.seeds.take());
            let is_end =
                |it: &Value| ["terminated", "exited"].iter().any(|end| it["event"] == *end);
            let mut message = random.of(&self.sound);
            // Each ends the session; most of what is to be read comes before.
            while is_end(message) && !random.one_in(100) {
                message = random.of(&self.sound);
            }
            let message = message.clone();
            all.extend(frame(&mut random, &message, &self.sound));
        }
        all
    }
}

/// A message, changed inside, or with a wrong length, or as bytes.
fn frame(random: &mut Random, message: &Value, sound: &[Value]) -> Vec<u8> {
    let other = random.of(sound).to_string();
    let body = mutate::message(random, message, other.as_bytes());
    let length = match random.below(20) {
        0 => body.len().wrapping_sub(random.below(5)),
        1 => body.len() + random.below(5),
        2 => random.below(3_000),
        _ => body.len(),
    };
    let mut frame = format!("Content-Length: {length}\r\n\r\n").into_bytes();
    frame.extend(body);
    if random.one_in(20) {
        mutate::bytes(random, &mut frame, other.as_bytes());
    }
    frame
}
