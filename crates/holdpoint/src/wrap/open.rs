//! The calls that are under way through the proxy: held ones wait in tasks of their own, so that nothing else does.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex as Lock, MutexGuard, PoisonError},
};

use futures::FutureExt as _;
use holdpoint_engine::{
    callpoints::{
        ask::{Answered, Asking, Ending},
        decision::Action,
    },
    calls::call::CallKind,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    process::ChildStdin,
    sync::Mutex,
    task::JoinHandle,
};

use super::line::Piece;
use crate::{app::App, external::call};

/// How a line is known that is worth parsing.
const CALL: &[u8] = b"\"tools/call\"";
const CANCELLED: &[u8] = b"\"notifications/cancelled\"";

pub(super) struct Calls<W>(Arc<Shared<W>>);

struct Shared<W> {
    app: App,
    name: String,
    client: Arc<Mutex<W>>,
    server: Arc<Mutex<Option<ChildStdin>>>,
    /// By the id of their request, as it is written.
    open: Lock<HashMap<String, Answered>>,
    /// Held before they were sent; aborted when they are cancelled.
    held: Lock<HashMap<String, JoinHandle<()>>>,
}

/// As much of an answer as is needed to know whose it is.
#[derive(Deserialize)]
struct Head<'l> {
    #[serde(borrow)]
    id: Option<&'l RawValue>,
    #[serde(borrow)]
    result: Option<&'l RawValue>,
    #[serde(borrow)]
    error: Option<&'l RawValue>,
    #[serde(borrow)]
    method: Option<&'l RawValue>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Calls<W> {
    pub(super) fn new(
        app: App,
        name: String,
        client: Arc<Mutex<W>>,
        server: Arc<Mutex<Option<ChildStdin>>>,
    ) -> Calls<W> {
        let (open, held) = (Lock::default(), Lock::default());
        Calls(Arc::new(Shared { app, name, client, server, open, held }))
    }

    /// What the client says.
    pub(super) async fn asked(&self, piece: Piece) -> io::Result<()> {
        let line = match piece {
            Piece::Line(line) => line,
            Piece::Part(part) => return self.0.to_server(&part).await,
        };
        if has(&line, CANCELLED) && self.0.was_held(&line) {
            return Ok(());
        }
        let call =
            if has(&line, CALL) { serde_json::from_slice::<Value>(&line).ok() } else { None };
        let call = call.filter(|it| it["method"] == "tools/call" && !it["id"].is_null());
        let Some(call) = call else { return self.0.to_server(&line).await };
        let shared = Arc::clone(&self.0);
        let id = call.get("id").map(Value::to_string).unwrap_or_default();
        let mut decided = Box::pin(shared.carry_out(call, line));
        // Most calls are held by nothing, and keep their place in the order.
        if let Some(done) = decided.as_mut().now_or_never() {
            return done;
        }
        let key = id.clone();
        let shared = Arc::clone(&self.0);
        // Ends with the decision; aborted when the client cancels the call, or with the proxy.
        let task = tokio::spawn(async move {
            if let Err(error) = decided.await {
                tracing::debug!(%error, "a held call could not be sent on");
            }
            lock(&shared.held).remove(&key);
        });
        lock(&self.0.held).insert(id, task);
        Ok(())
    }

    /// What the server says.
    pub(super) async fn answered(&self, piece: Piece) -> io::Result<()> {
        let line = match piece {
            Piece::Line(line) => line,
            Piece::Part(part) => return self.0.to_client(&part).await,
        };
        let Some((call, ending)) = self.0.ends(&line) else {
            return self.0.to_client(&line).await;
        };
        let shared = Arc::clone(&self.0);
        let mut told = Box::pin(async move {
            call.complete(ending).await;
            shared.to_client(&line).await
        });
        if let Some(done) = told.as_mut().now_or_never() {
            return done;
        }
        // Ends when somebody lets the call go on, or with the proxy.
        tokio::spawn(async move {
            if let Err(error) = told.await {
                tracing::debug!(%error, "a held answer could not be handed on");
            }
        });
        Ok(())
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Shared<W> {
    async fn carry_out(self: Arc<Self>, mut call: Value, line: Vec<u8>) -> io::Result<()> {
        let tool = call.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
        let arguments = call.pointer("/params/arguments").and_then(Value::as_object).cloned();
        let asking = Asking {
            name: format!("{}/{tool}", self.name),
            kind: CallKind::Tool,
            source: "mcp_client".to_owned(),
            server: Some(self.name.clone()),
            kwargs: arguments.unwrap_or_default(),
            ..Asking::default()
        };
        let answered = self.app.engine.callpoints().await.ask(asking).await;
        let id = call.get("id").cloned().unwrap_or_default();
        let line = match &answered.action {
            Action::Continue => line,
            Action::Modify { args, kwargs } => {
                set(&mut call, "arguments", call::handed(args, kwargs).into());
                written(&call)
            }
            Action::Replace { function } => {
                let own = function.strip_prefix(&format!("{}/", self.name)).unwrap_or(function);
                set(&mut call, "name", own.into());
                written(&call)
            }
            Action::Skip(fake) => {
                let result = call::faked(fake);
                return self.answer(answered, id, result).await;
            }
            Action::Raise { exception, exception_type, message } => {
                let (kind, message) = (exception_type.as_deref(), message.as_deref());
                let result = call::raised(exception.as_ref(), kind, message);
                return self.answer(answered, id, result).await;
            }
        };
        lock(&self.open).insert(id.to_string(), answered);
        self.to_server(&line).await
    }

    /// Answers in the server's place.
    async fn answer(&self, answered: Answered, id: Value, result: Value) -> io::Result<()> {
        answered.complete(call::ending(&Ok(Arc::new(result.clone())))).await;
        self.to_client(&written(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))).await
    }

    /// The call that a line of the server answers, and how it ended.
    fn ends(&self, line: &[u8]) -> Option<(Answered, Ending)> {
        if lock(&self.open).is_empty() {
            return None;
        }
        let head: Head<'_> = serde_json::from_slice(line).ok()?;
        if head.method.is_some() {
            return None;
        }
        let call = lock(&self.open).remove(head.id?.get())?;
        let parsed = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).unwrap_or_default();
        let ending = match (head.result, head.error) {
            (Some(result), _) => call::ending(&Ok(Arc::new(parsed(result)))),
            (None, error) => {
                let error = error.map(parsed).unwrap_or_default();
                let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
                let message = message.to_owned();
                Ending::Raised { exception_type: "call_failed".to_owned(), message }
            }
        };
        Some((call, ending))
    }

    /// Whether what is cancelled was held: then the server never heard of it.
    fn was_held(&self, line: &[u8]) -> bool {
        let said: Value = serde_json::from_slice(line).unwrap_or_default();
        let id = said.pointer("/params/requestId").map(Value::to_string).unwrap_or_default();
        match lock(&self.held).remove(&id) {
            Some(task) => {
                task.abort();
                true
            }
            // The server was told, and as a rule it does not answer then: the call is given up.
            None => {
                lock(&self.open).remove(&id);
                false
            }
        }
    }

    async fn to_server(&self, line: &[u8]) -> io::Result<()> {
        let mut server = self.server.lock().await;
        let server = server.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        server.write_all(line).await?;
        server.flush().await
    }

    async fn to_client(&self, line: &[u8]) -> io::Result<()> {
        let mut client = self.client.lock().await;
        client.write_all(line).await?;
        client.flush().await
    }
}

fn set(call: &mut Value, name: &str, value: Value) {
    if let Some(params) = call.get_mut("params").and_then(Value::as_object_mut) {
        params.insert(name.to_owned(), value);
    }
}

fn written(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

fn has(line: &[u8], text: &[u8]) -> bool {
    line.windows(text.len()).any(|it| it == text)
}

fn lock<T>(it: &Lock<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
