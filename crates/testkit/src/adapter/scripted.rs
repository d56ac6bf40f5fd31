//! An adapter that does what it is told, and where it is told nothing, what most adapters do.
//!
//! Its program is one file, `/app/main.toy`, with one thread that always stands in `main`, on line 3.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use holdpoint_dap::codec::encode;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncWriteExt as _, DuplexStream},
    sync::mpsc,
    task::JoinHandle,
};

use super::{Adapter, answer_to};

/// The program's only file.
pub const PROGRAM: &str = "/app/main.toy";
/// Events of a flood that nothing ends: the other side does nothing but hear them.
const FLOOD: usize = 20_000;

/// What the adapter does with requests of one name.
#[derive(Debug, Clone)]
pub enum Way {
    Answer(Value),
    Refuse(String),
    /// It says nothing until it is told to.
    Hold,
}

/// Plays an adapter for as long as it is kept.
pub struct Scripted {
    orders: mpsc::UnboundedSender<Order>,
    heard: Arc<Mutex<Vec<Value>>>,
    playing: JoinHandle<()>,
}

enum Order {
    Way { command: String, way: Way },
    Release { command: String, body: Option<Value> },
    Event { event: String, body: Value },
    Request { command: String, arguments: Value },
    Flood { event: String, body: Value, until: String },
    Close,
}

impl Scripted {
    pub fn over(stream: DuplexStream) -> Scripted {
        let (orders, inbox) = mpsc::unbounded_channel();
        let heard = Arc::<Mutex<Vec<Value>>>::default();
        let play = Play {
            adapter: Some(Adapter::over(stream)),
            heard: Arc::clone(&heard),
            ways: BTreeMap::new(),
            held: VecDeque::new(),
            breakpoints: 0,
        };
        // Ended by the drop of this handle.
        let playing = tokio::spawn(play.run(inbox));
        Scripted { orders, heard, playing }
    }

    /// From now on it does this with such requests.
    pub fn way(&self, command: &str, way: Way) {
        self.order(Order::Way { command: command.to_owned(), way });
    }

    /// Answers the oldest request of this name that it held back: with this, or as it does by now.
    pub fn release(&self, command: &str, body: Option<Value>) {
        self.order(Order::Release { command: command.to_owned(), body });
    }

    pub fn event(&self, event: &str, body: Value) {
        self.order(Order::Event { event: event.to_owned(), body });
    }

    /// Wants something of the other side.
    pub fn request(&self, command: &str, arguments: Value) {
        self.order(Order::Request { command: command.to_owned(), arguments });
    }

    /// Sends an event again and again until it hears this command; without end it would be a hang.
    pub fn flood(&self, event: &str, body: Value, until: &str) {
        let (event, until) = (event.to_owned(), until.to_owned());
        self.order(Order::Flood { event, body, until });
    }

    /// Ends the connection.
    pub fn close(&self) {
        self.order(Order::Close);
    }

    /// What came since the last time: requests, answers, and a word of our own where a flood had no end.
    pub fn heard(&self) -> Vec<Value> {
        std::mem::take(&mut self.heard.lock().unwrap())
    }

    fn order(&self, order: Order) {
        self.orders.send(order).expect("the adapter has gone");
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.playing.abort();
    }
}

struct Play {
    /// `None` when the connection has ended, by either side.
    adapter: Option<Adapter>,
    heard: Arc<Mutex<Vec<Value>>>,
    ways: BTreeMap<String, Way>,
    held: VecDeque<Value>,
    /// The number of the last breakpoint.
    breakpoints: i64,
}

impl Play {
    async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        loop {
            tokio::select! {
                biased;
                request = hear(&mut self.adapter) => match request {
                    Some(request) => self.take(request).await,
                    None => self.adapter = None,
                },
                order = orders.recv() => match order {
                    Some(order) => self.follow(order).await,
                    None => return,
                },
            }
        }
    }

    async fn follow(&mut self, order: Order) {
        match order {
            Order::Way { command, way } => drop(self.ways.insert(command, way)),
            Order::Release { command, body } => {
                let at = self.held.iter().position(|it| it["command"] == command.as_str());
                let request = at.and_then(|at| self.held.remove(at)).expect("nothing is held");
                let way = self.ways.get(&command).cloned();
                match (body, way) {
                    (Some(body), _) => self.send(answer_to(&request, body)).await,
                    (None, None | Some(Way::Hold)) => self.answer(&request).await,
                    (None, Some(_)) => self.act(request).await,
                }
            }
            Order::Event { event, body } => self.event(&event, body).await,
            Order::Request { command, arguments } => {
                self.send(json!({
                    "seq": 1, "type": "request", "command": command, "arguments": arguments,
                }))
                .await;
            }
            Order::Flood { event, body, until } => self.flood(&event, &body, &until).await,
            Order::Close => self.adapter = None,
        }
    }

    async fn take(&mut self, request: Value) {
        self.heard.lock().unwrap().push(request.clone());
        if request["type"] == "request" {
            self.act(request).await;
        }
    }

    async fn act(&mut self, request: Value) {
        match self.ways.get(request["command"].as_str().unwrap_or_default()).cloned() {
            Some(Way::Answer(body)) => self.send(answer_to(&request, body)).await,
            Some(Way::Refuse(message)) => self.send(refusal_of(&request, &message)).await,
            Some(Way::Hold) => self.held.push_back(request),
            None => self.answer(&request).await,
        }
    }

    /// What most adapters do.
    async fn answer(&mut self, request: &Value) {
        let body = match request["command"].as_str().unwrap_or_default() {
            "launch" | "attach" => {
                self.event("initialized", json!({})).await;
                json!({})
            }
            "setBreakpoints" => self.set(&request["arguments"]["breakpoints"]),
            "initialize" => json!({ "supportsConfigurationDoneRequest": true }),
            "threads" => json!({ "threads": [{ "id": 1, "name": "main" }] }),
            "stackTrace" => {
                let source = json!({ "path": PROGRAM });
                let frame = json!({ "id": 1000, "name": "main", "line": 3, "source": source });
                json!({ "stackFrames": [frame], "totalFrames": 1 })
            }
            "continue" => json!({ "allThreadsContinued": true }),
            "evaluate" => json!({ "result": "42", "variablesReference": 0 }),
            "setExceptionBreakpoints"
            | "configurationDone"
            | "next"
            | "stepIn"
            | "stepOut"
            | "pause"
            | "disconnect" => json!({}),
            other => return self.send(refusal_of(request, &format!("no `{other}` here"))).await,
        };
        self.send(answer_to(request, body)).await;
    }

    /// Each lies where it was asked for.
    fn set(&mut self, asked: &Value) -> Value {
        let mut bound = |it: &Value| {
            self.breakpoints += 1;
            json!({ "id": self.breakpoints, "verified": true, "line": it["line"] })
        };
        let all = asked.as_array().map(Vec::as_slice).unwrap_or_default();
        json!({ "breakpoints": all.iter().map(&mut bound).collect::<Vec<_>>() })
    }

    async fn flood(&mut self, event: &str, body: &Value, until: &str) {
        for _ in 0..FLOOD {
            tokio::select! {
                biased;
                Some(request) = hear(&mut self.adapter) => {
                    let is_end = request["command"] == until;
                    self.take(request).await;
                    if is_end {
                        return;
                    }
                }
                () = std::future::ready(()) => {}
            }
            self.event(event, body.clone()).await;
        }
        let given_up = json!({ "command": format!("no {until} in {FLOOD} events") });
        self.heard.lock().unwrap().push(given_up);
    }

    async fn event(&mut self, event: &str, body: Value) {
        self.send(json!({ "seq": 0, "type": "event", "event": event, "body": body })).await;
    }

    async fn send(&mut self, message: Value) {
        let Some(adapter) = &mut self.adapter else { return };
        if adapter.stream.write_all(&encode(&message)).await.is_err() {
            // The other side has ended the connection.
            self.adapter = None;
        }
    }
}

/// The next request; never where the connection has ended.
async fn hear(adapter: &mut Option<Adapter>) -> Option<Value> {
    match adapter {
        Some(adapter) => adapter.read().await,
        None => std::future::pending().await,
    }
}

fn refusal_of(request: &Value, message: &str) -> Value {
    json!({
        "seq": 0, "type": "response", "request_seq": request["seq"], "success": false,
        "command": request["command"], "message": message,
    })
}
