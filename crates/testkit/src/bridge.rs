//! An editor's bridge, played: the other end of the files in a workspace, with the faults of the real ones.
//!
//! It runs in tasks of whoever starts it, so that with the clock paused a minute takes no time; [`editor`] plays the
//! debugger behind it, and runs in a thread of its own beside a real server.

pub mod editor;
mod files;

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

pub use self::files::{EventFile, folder_of};
use self::files::{claim, write, write_in_halves};

/// How a script ends.
pub type ScriptResult = Result<Value, ScriptFailure>;

/// What a script says when it fails.
#[derive(Debug, Clone)]
pub struct ScriptFailure {
    pub code: &'static str,
    pub message: String,
    pub details: Value,
}

impl ScriptFailure {
    pub fn new(code: &'static str, message: impl Into<String>) -> ScriptFailure {
        ScriptFailure { code, message: message.into(), details: Value::Null }
    }
}

/// What a bridge runs.
pub trait Scripts: Send + Sync + 'static {
    fn run(
        self: Arc<Self>,
        script: String,
        params: Value,
    ) -> Pin<Box<dyn Future<Output = ScriptResult> + Send>>;
}

/// How the other end misbehaves. The default is the public bridge on a good day.
#[derive(Debug, Clone)]
pub struct Faults {
    pub seed: u64,
    /// Whether it is ours: typed errors, cancel that cancels, no second run, no breaker, an events file.
    pub is_ours: bool,
    /// From the file event to the claim, at the most.
    pub pickup: Duration,
    /// File events that are lost, of a hundred.
    pub lost: u64,
    /// How often all jobs are looked through.
    pub scan: Duration,
    /// Jobs at once.
    pub capacity: usize,
    /// Failures in a minute after which it takes none.
    pub breaker: usize,
    /// Jobs that were taken this long ago and are not done are run again.
    pub again: Duration,
    /// How long files are half there.
    pub half: Duration,
    /// Bytes from which data has a file of its own.
    pub large: usize,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            seed: 1,
            is_ours: false,
            pickup: Duration::from_millis(20),
            lost: 0,
            scan: Duration::from_secs(2),
            capacity: 10,
            breaker: 10,
            again: Duration::from_secs(60),
            half: Duration::ZERO,
            large: 2 * 1024 * 1024,
        }
    }
}

impl Faults {
    pub fn ours() -> Faults {
        Faults { is_ours: true, pickup: Duration::from_millis(2), ..Faults::default() }
    }
}

/// How often the played watcher looks.
const TICK: Duration = Duration::from_millis(20);
/// What it says itself, and not a script: none of it counts as a failure.
const OWN: [&str; 3] = ["E_CANCELLED", "E_CAPACITY", "E_CIRCUIT_OPEN"];
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The same numbers for the same seed (splitmix).
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }
}

/// One window's bridge. Its window is closed when it is dropped, without a word.
pub struct FakeBridge {
    pub id: String,
    pub folder: PathBuf,
    state: Arc<State>,
    /// The watcher and the scripts; they end with it.
    life: JoinSet<()>,
}

struct State {
    id: String,
    folder: PathBuf,
    faults: Faults,
    scripts: Arc<dyn Scripts>,
    chance: Mutex<Chance>,
    running: AtomicUsize,
    failures: Mutex<VecDeque<Instant>>,
    /// When each job was taken, by the runtime's clock.
    taken: Mutex<BTreeMap<PathBuf, Instant>>,
}

impl FakeBridge {
    /// Opens a window on a workspace: what was in the bridge's folder is gone.
    pub fn open(workspace: &Path, faults: Faults, scripts: Arc<dyn Scripts>) -> FakeBridge {
        let folder = folder_of(workspace, faults.is_ours);
        let id =
            format!("fake-{:08x}", Chance::new(faults.seed ^ nanos()).below(u64::from(u32::MAX)));
        files::settle_in(&folder, &id, workspace, faults.is_ours);
        let chance = Mutex::new(Chance::new(faults.seed));
        let (running, failures, taken) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
        let state = State {
            id: id.clone(),
            folder: folder.clone(),
            faults,
            scripts,
            chance,
            running,
            failures,
            taken,
        };
        let state = Arc::new(state);
        let mut life = JoinSet::new();
        life.spawn(watch(Arc::clone(&state)));
        life.spawn(beat(folder.clone()));
        FakeBridge { id, folder, state, life }
    }

    /// The window is closed as it should be.
    pub fn close(mut self) {
        self.life.abort_all();
        std::fs::remove_file(self.folder.join("host.lock")).ok();
    }

    /// Failures of somebody else, as the breaker counts them.
    pub fn fails_others(&self, count: usize) {
        let mut failures = self.state.failures.lock().unwrap();
        failures.extend(std::iter::repeat_n(Instant::now(), count));
    }

    /// Until its window is closed.
    pub async fn run(&mut self) {
        while self.life.join_next().await.is_some() {}
    }
}

fn nanos() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(now.as_nanos() % u128::from(u64::MAX)).unwrap()
}

async fn beat(folder: PathBuf) {
    loop {
        sleep(HEARTBEAT).await;
        if let Ok(file) = std::fs::OpenOptions::new().append(true).open(folder.join("host.json")) {
            file.set_modified(SystemTime::now()).ok();
        }
    }
}

/// Takes jobs: at once where their file event is not lost, by the scan where it is.
async fn watch(state: Arc<State>) {
    let mut seen: BTreeMap<PathBuf, SystemTime> = BTreeMap::new();
    let mut jobs = JoinSet::new();
    let (mut scanned, mut swept) = (Instant::now(), Instant::now());
    loop {
        let is_scan = scanned.elapsed() >= state.faults.scan;
        if is_scan {
            scanned = Instant::now();
        }
        for (job, changed) in files::waiting(&state.folder) {
            let is_told = seen.insert(job.clone(), changed) != Some(changed);
            let is_lost = state.below(100) < state.faults.lost;
            if is_scan || is_told && !is_lost {
                let wait = state.below(state.faults.pickup.as_micros() as u64 + 1);
                let state = Arc::clone(&state);
                jobs.spawn(async move {
                    sleep(Duration::from_micros(wait)).await;
                    take(state, job).await;
                });
            }
        }
        if !state.faults.is_ours && swept.elapsed() >= Duration::from_secs(30) {
            swept = Instant::now();
            state.unclaim_old();
        }
        while jobs.try_join_next().is_some() {}
        sleep(TICK).await;
    }
}

async fn take(state: Arc<State>, job: PathBuf) {
    if !claim(&job, &state.id, state.faults.half).await {
        return;
    }
    state.taken.lock().unwrap().insert(job.clone(), Instant::now());
    let Ok(text) = std::fs::read(job.join("command.json")) else { return };
    let command: Value =
        serde_json::from_slice(&text).expect("a command is whole where it is there");
    let outcome = if state.is_closed() {
        let details = json!({ "retryAfter": 7 });
        Err(ScriptFailure { details, ..ScriptFailure::new("E_CIRCUIT_OPEN", "too many failures") })
    } else if state.running.fetch_add(1, Ordering::SeqCst) >= state.faults.capacity {
        state.running.fetch_sub(1, Ordering::SeqCst);
        Err(ScriptFailure::new("E_CAPACITY", "no room"))
    } else {
        let outcome = state.run(&job, &command).await;
        state.running.fetch_sub(1, Ordering::SeqCst);
        outcome
    };
    state.answer(&job, &command, outcome).await;
}

impl State {
    fn below(&self, end: u64) -> u64 {
        self.chance.lock().unwrap().below(end)
    }

    fn unclaim_old(&self) {
        let is_old = |_: &PathBuf, it: &mut Instant| it.elapsed() > self.faults.again;
        let old: Vec<_> = self.taken.lock().unwrap().extract_if(.., is_old).collect();
        old.iter().for_each(|(job, _)| files::unclaim(job));
    }

    fn is_closed(&self) -> bool {
        let mut failures = self.failures.lock().unwrap();
        failures.retain(|it| it.elapsed() < Duration::from_secs(60));
        !self.faults.is_ours && failures.len() >= self.faults.breaker
    }

    /// The script, until it is done or its client wants no more of it.
    async fn run(&self, job: &Path, command: &Value) -> ScriptResult {
        let script = command["scriptName"].as_str().unwrap().to_owned();
        let running = Arc::clone(&self.scripts).run(script, command["params"].clone());
        // The public one lets a cancelled script run to its end; ours drops it.
        let mut running = if self.faults.is_ours {
            running
        } else {
            let going = tokio::spawn(running);
            Box::pin(async move { going.await.unwrap_or_else(|_| Err(gone())) })
        };
        loop {
            tokio::select! {
                outcome = &mut running => return outcome,
                () = sleep(Duration::from_millis(50)) => {
                    if job.join("cancel").exists() {
                        return Err(ScriptFailure::new("E_CANCELLED", "cancelled"));
                    }
                }
            }
        }
    }

    async fn answer(&self, job: &Path, command: &Value, outcome: ScriptResult) {
        let meta = json!({ "requestId": command["id"], "mode": "normal", "duration": 1 });
        let (name, body) = match outcome {
            Ok(data) => ("response.json", self.success(job, data, meta)),
            Err(failure) => {
                if !OWN.contains(&failure.code) {
                    self.failures.lock().unwrap().push_back(Instant::now());
                }
                ("error.json", self.failure(failure, meta))
            }
        };
        let text = body.to_string();
        if self.faults.half > Duration::ZERO {
            // Another machine's disk: what was written last is seen first.
            write(job, "done", b"");
            write_in_halves(job, name, text.as_bytes(), self.faults.half).await;
        } else {
            write(job, name, text.as_bytes());
            write(job, "done", b"");
        }
    }

    fn success(&self, job: &Path, data: Value, meta: Value) -> Value {
        if data.to_string().len() > self.faults.large {
            write(job, "data.json", data.to_string().as_bytes());
            return json!({ "ok": true, "type": "success", "dataRef": "data.json", "meta": meta });
        }
        json!({ "ok": true, "type": "success", "data": data, "meta": meta })
    }

    /// The public one erases what a script said, and adds where in its own code it happened.
    fn failure(&self, failure: ScriptFailure, meta: Value) -> Value {
        let ScriptFailure { code, message, mut details } = failure;
        let is_its_own = OWN.contains(&code);
        if self.faults.is_ours || is_its_own {
            let error = json!({ "code": code, "message": message, "details": details });
            return json!({ "ok": false, "type": "error", "error": error, "meta": meta });
        }
        details =
            json!({ "error": message, "stack": format!("Error\n    at run (/ext/{code}.js:1:2)") });
        let error = json!({ "code": "E_INTERNAL", "message": format!("{code}: {message}"), "details": details });
        json!({ "ok": false, "type": "error", "error": error, "meta": meta })
    }
}

fn gone() -> ScriptFailure {
    ScriptFailure::new("E_INTERNAL", "the window is gone")
}
