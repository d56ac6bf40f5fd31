//! A workspace, a bridge in it, and scripts that count how often they are run.

use std::{
    collections::BTreeMap,
    future::Future,
    path::Path,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use holdpoint_bridge::{Bridge, BridgeAnswer, BridgeError, candidates};
use holdpoint_testkit::bridge::{FakeBridge, Faults, ScriptFailure, ScriptResult, Scripts};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// What was run, by the token that each call has.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) runs: Mutex<BTreeMap<u64, u32>>,
    /// How long each `wait` was asked to, in milliseconds.
    pub(crate) waits: Mutex<Vec<u64>>,
    /// What waits wait for: how often it has happened, and after which of them it does, in the moment when nobody waits.
    pub(crate) happened: AtomicU64,
    pub(crate) happens_after: AtomicU64,
}

impl Counted {
    pub(crate) fn runs(&self, token: u64) -> u32 {
        self.runs.lock().unwrap().get(&token).copied().unwrap_or_default()
    }
}

impl Counted {
    /// As our own extension waits: one that saw nothing says where the next is to begin.
    async fn wait(&self, params: Value, is_public: bool) -> ScriptResult {
        let ms = params["timeoutMs"].as_u64().unwrap();
        let asked = {
            let mut waits = self.waits.lock().unwrap();
            waits.push(ms);
            waits.len() as u64
        };
        let happened = || self.happened.load(Ordering::SeqCst);
        let after = params["after"].as_u64().unwrap_or_else(happened);
        if happened() > after {
            return Ok(json!({ "event": "hit", "number": happened() }));
        }
        tokio::time::sleep(Duration::from_millis(ms)).await;
        if asked == self.happens_after.load(Ordering::SeqCst) {
            self.happened.fetch_add(1, Ordering::SeqCst);
        }
        if is_public {
            return Ok(json!({ "event": "timeout" }));
        }
        let details = json!({ "state": "running", "again": { "after": after } });
        Err(ScriptFailure { details, ..ScriptFailure::new("E_TIMEOUT", "nothing happened") })
    }
}

impl Scripts for Counted {
    /// `work {token, ms, bytes}` takes that long; `fail {code}` fails; `wait {timeoutMs}` waits.
    fn run(
        self: Arc<Self>,
        script: String,
        params: Value,
    ) -> Pin<Box<dyn Future<Output = ScriptResult> + Send>> {
        let token = params["token"].as_u64().unwrap_or_default();
        *self.runs.lock().unwrap().entry(token).or_default() += 1;
        Box::pin(async move {
            if script.starts_with("wait") {
                return self.wait(params, script == "wait-public").await;
            }
            tokio::time::sleep(Duration::from_millis(params["ms"].as_u64().unwrap_or(1))).await;
            if script == "fail" {
                return Err(ScriptFailure::new("E_NO_SESSION", "nothing runs"));
            }
            let padding = "x".repeat(params["bytes"].as_u64().unwrap_or(0) as usize);
            Ok(json!({ "token": token, "padding": padding, "params": params }))
        })
    }
}

pub(crate) struct Stage {
    pub(crate) workspace: tempfile::TempDir,
    pub(crate) scripts: Arc<Counted>,
    pub(crate) fake: FakeBridge,
    pub(crate) bridge: Bridge,
}

impl Stage {
    pub(crate) fn new(faults: Faults) -> Stage {
        let workspace = in_memory();
        let scripts = Arc::new(Counted::default());
        let fake = FakeBridge::open(workspace.path(), faults, scripts.clone());
        let bridge = polled(workspace.path());
        Stage { workspace, scripts, fake, bridge }
    }

    pub(crate) async fn call(
        &self,
        script: &str,
        params: Value,
    ) -> Result<BridgeAnswer, BridgeError> {
        self.call_within(script, params, 30).await
    }

    pub(crate) async fn call_within(
        &self,
        script: &str,
        params: Value,
        seconds: u64,
    ) -> Result<BridgeAnswer, BridgeError> {
        let timeout = Duration::from_secs(seconds);
        self.bridge.call(script, params, timeout, &CancellationToken::new()).await
    }

    /// Another window on the same folder, which wipes it; the one before lives on.
    pub(crate) fn second(&self, faults: Faults) -> FakeBridge {
        FakeBridge::open(self.workspace.path(), faults, self.scripts.clone())
    }

    /// The job folders that are left, beside the one that was made for the next call.
    pub(crate) fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.fake.folder.join("execute")).unwrap();
        let jobs = entries.flatten().map(|it| it.path());
        let used = jobs.filter(|it| std::fs::read_dir(it).is_ok_and(|mut it| it.next().is_some()));
        used.map(|it| it.display().to_string()).collect()
    }
}

/// A folder that no disk has to sync, where there is such a thing.
fn in_memory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap()
}

/// The clock is paused, and the kernel's events know nothing of that.
pub(crate) fn polled(workspace: &Path) -> Bridge {
    let found = candidates(workspace).unwrap();
    Bridge::polled(found.into_iter().find(|it| it.dead.is_none()).expect("one that lives"))
}
