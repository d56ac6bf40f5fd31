//! What a tool costs that asks an editor through the bridge's files.
//!
//! The floor is the other end itself: from the moment when a command is there to the moment when its answer is, as
//! whoever answers it measures that. So what is above it is all ours, and the way back through the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use serde_json::json;

use super::client::{Server, StdioClient};
use super::table::{Goal, Row, Unit};
use super::{Bench, Client, Kind, Samples, give_up_after};
use crate::scratch::Home;
use crate::workspace::Workspace;

pub(super) const BRIDGE: Bench = Bench {
    name: "bridge",
    about: "a tool that asks the editor: its round trip above the other end's own pickup",
    run: Kind::Table { client: Client::Any, rows: measure },
};

const MEASURE_LIMIT: Duration = Duration::from_secs(5 * 60);
const CALLS: usize = 60;
const WARM_UP_CALLS: usize = 5;
/// Milliseconds above the other end's own.
const ABOVE: f64 = 50.0;
/// How often the other end looks for jobs: a watcher's latency.
const LOOK: Duration = Duration::from_millis(2);
/// An agent thinks between calls, and a folder that was made before is then watched.
const BETWEEN: Duration = Duration::from_millis(80);

fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let ours = workspace.optimised("holdpoint")?;
    give_up_after(MEASURE_LIMIT)?;
    let project = Home::new()?;
    let editor = Editor::open(&project.0)?;
    let folder = project.0.to_str().context("a path that is text")?;
    let server = Server::new(&ours, &["mcp", "--port", "0", "--workspace", folder]);
    let mut client = StdioClient::over_pipes(&server)?;
    client.initialize()?;
    client.settle()?;
    let params = json!({ "name": "debug_status", "arguments": {} });
    let mut trips = Samples::default();
    for call in 0..WARM_UP_CALLS + CALLS {
        std::thread::sleep(BETWEEN);
        let took = client.request("tools/call", params.clone())?;
        if call >= WARM_UP_CALLS {
            trips.0.push(took);
        }
    }
    let own = editor.close()?;
    let goal = Goal::NearFloor { times: 1.0, plus: ABOVE };
    let what = "debug_status with an editor, median".to_owned();
    let (ours, floor) = (trips.percentile(50) / 1e3, own.percentile(50) / 1e3);
    Ok(vec![Row { what, unit: Unit::Milliseconds, ours, floor, goal }])
}

/// Whoever answers jobs, with as little as there can be.
struct Editor {
    is_over: Arc<AtomicBool>,
    took: Arc<Mutex<Samples>>,
    thread: JoinHandle<Result<()>>,
}

impl Editor {
    fn open(project: &Path) -> Result<Editor> {
        let folder = project.join(".holdpoint/bridge");
        fs::create_dir_all(folder.join("execute"))?;
        fs::write(folder.join("host.lock"), "")?;
        fs::write(folder.join("events.ndjson"), "")?;
        let host = json!({
            "bridgeId": "bench-1", "version": 1, "platform": "linux", "workspace": project,
            "pid": std::process::id(),
            "holdpoint": { "protocol": 1, "version": "0", "capabilities": ["typed-errors", "events"] },
        });
        fs::write(folder.join("host.json"), host.to_string())?;
        let (is_over, took) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Samples>>::default());
        let (ends, times) = (Arc::clone(&is_over), Arc::clone(&took));
        let thread = std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                answer_all(&folder, &times)?;
                let host = fs::OpenOptions::new().append(true).open(folder.join("host.json"))?;
                host.set_modified(SystemTime::now())?;
                std::thread::sleep(LOOK);
            }
            Ok(())
        });
        Ok(Editor { is_over, took, thread })
    }

    fn close(self) -> Result<Samples> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().ok().context("whoever answers failed")??;
        let mut took = self.took.lock().ok().context("whoever answers failed")?;
        Ok(std::mem::take(&mut *took))
    }
}

fn answer_all(folder: &Path, times: &Mutex<Samples>) -> Result<()> {
    for job in fs::read_dir(folder.join("execute"))?.flatten().map(|it| it.path()) {
        let Ok(command) = fs::metadata(job.join("command.json")) else { continue };
        let claim =
            fs::OpenOptions::new().write(true).create_new(true).open(job.join("claimed.json"));
        if claim.is_err() {
            continue;
        }
        let waited = command.modified()?.elapsed().unwrap_or_default();
        let began = Instant::now();
        fs::write(job.join("claimed.json"), r#"{"bridgeId":"bench-1"}"#)?;
        let data = json!({ "sessions": [], "activeSessionId": null });
        put(
            &job,
            "response.json",
            &json!({ "ok": true, "type": "success", "data": data }).to_string(),
        )?;
        put(&job, "done", "")?;
        if let Ok(mut times) = times.lock() {
            times.0.push(waited + began.elapsed());
        }
    }
    Ok(())
}

fn put(job: &Path, name: &str, text: &str) -> Result<()> {
    let part: PathBuf = job.join(format!(".{name}.tmp"));
    fs::write(&part, text)?;
    fs::rename(part, job.join(name))?;
    Ok(())
}
