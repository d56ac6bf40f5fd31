//! Programs that run already, debugged end to end: by process and by port, in both languages. Whatever
//! happens to the session or to the server, they run on.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use holdpoint_testkit::{
    debug::{Debug, line, program, python},
    until,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn start() -> Debug {
    python(BIN, FOLDER).start()
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Python,
    Node,
}

use Language::{Node, Python};

impl Language {
    fn file(self) -> &'static str {
        match self {
            Python => "ticks.py",
            Node => "ticks.js",
        }
    }

    fn source(self) -> PathBuf {
        let folder = match self {
            Python => "../../fixtures/python",
            Node => "../../fixtures/node",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(self.file()).canonicalize().unwrap()
    }
}

/// A program of nobody's: it counts into a file, and lives until it is told to end or dropped.
struct Target {
    child: Child,
    source: PathBuf,
    out: PathBuf,
    folder: tempfile::TempDir,
}

impl Target {
    /// One that knows nothing of debuggers.
    fn plain(language: Language) -> Target {
        Target::start(language, &language.source(), &[], &[])
    }

    /// One that listens for debuggers.
    fn listening(language: Language) -> Target {
        match language {
            Python => Target::start(Python, &Python.source(), &[], &["--listen"]),
            Node => Target::start(Node, &Node.source(), &["--inspect=127.0.0.1:0"], &[]),
        }
    }

    fn start(language: Language, source: &Path, flags: &[&str], args: &[&str]) -> Target {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let mut command = match language {
            Python => Command::new(&python(BIN, FOLDER).path),
            // Where SIGUSR1 opens the inspector: the usual port is one for all tests.
            Node => {
                let mut node = Command::new("node");
                node.arg("--inspect-port=127.0.0.1:0");
                node
            }
        };
        command.args(flags).arg(source).arg(&out).args(args).env("PYTHONPATH", debugpy());
        command.env("PYDEVD_DISABLE_FILE_VALIDATION", "1").env("PYTHONDONTWRITEBYTECODE", "1");
        let said = File::create(folder.path().join("said")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let child = command.spawn().unwrap();
        Target { child, source: source.to_owned(), out, folder }
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens for debuggers.
    fn port(&self) -> u16 {
        until("the port", || {
            if let Ok(port) = std::fs::read_to_string(self.out.with_extension("port")) {
                return port.parse().ok();
            }
            let said = std::fs::read_to_string(self.folder.path().join("said")).ok()?;
            let (_, after) = said.split_once("ws://127.0.0.1:")?;
            after.split_once('/')?.0.parse().ok()
        })
    }

    /// How often it has counted.
    fn count(&self) -> usize {
        std::fs::read_to_string(&self.out).map(|text| text.lines().count()).unwrap_or(0)
    }

    /// It has begun to count.
    fn works(&self) -> &Target {
        until("the first tick", || (self.count() > 0).then_some(()));
        self
    }

    /// It lives, and counts again and again.
    #[track_caller]
    fn goes_on(&mut self) {
        let before = self.count();
        let what = format!("more than {before} ticks of {}", self.source.display());
        until(&what, || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{what}: it is gone with {ended:?}");
            (self.count() > before + 3).then_some(())
        });
    }

    /// Ends it by itself.
    fn end(&self) {
        File::create(self.out.with_extension("end")).unwrap();
    }

    fn line(&self, mark: &str) -> usize {
        line(&self.source, mark)
    }

    /// Both ways to it.
    fn ways(&self, listening: bool) -> Value {
        if listening { json!({ "port": self.port() }) } else { json!({ "pid": self.pid() }) }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The folder from which Python imports the debugger that Holdpoint provides.
fn debugpy() -> PathBuf {
    let folders = std::fs::read_dir(&python(BIN, FOLDER).debuggers).unwrap().flatten();
    folders.map(|it| it.path()).find(|it| it.join("debugpy").is_dir()).unwrap()
}

fn set(debug: &mut Debug, file: &Path, line: usize) -> String {
    debug.ok("breakpoint_set", json!({ "file": file, "line": line })).text
}

/// Attaches with one breakpoint set, which may be hit at once.
#[track_caller]
fn attached(debug: &mut Debug, arguments: Value) {
    let said = debug.ok("debug_attach", arguments);
    if said.data["state"] == "running" {
        said.has(&["Attached to", "running", "breakpoints: 1 bound"]);
    } else {
        said.has(&["Stopped (breakpoint 1)"]);
    }
}

/// Hits breakpoints that were set before and after attaching, looks, and lets it go where it stands.
#[track_caller]
fn is_debugged_and_let_go(language: Language, listening: bool) {
    let mut target = if listening { Target::listening(language) } else { Target::plain(language) };
    target.works();
    let mut debug = start();
    set(&mut debug, &target.source, target.line("tick"));
    attached(&mut debug, target.ways(listening));
    debug.ok("debug_wait", json!({})).stands("breakpoint", target.line("tick")).has(&["in tick"]);
    debug.ok("debug_variables", json!({})).has(&["number: "]);
    assert!(set(&mut debug, &target.source, target.line("write")).contains("(verified)"));
    let said = debug.go();
    said.stands("breakpoint", target.line("write")).has(&["doubled = "]);
    let (number, doubled) = (debug.eval("number"), debug.eval("doubled"));
    let of = |text: &str| text.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(of(&number) * 2, of(&doubled), "{number} {doubled}");
    debug.go().stands("breakpoint", target.line("tick"));
    assert!(debug.wrote("tick ").contains("attached: only what its debugger reports"));
    debug.ok("debug_status", json!({})).has(&["attached to", "stopped"]);
    let stopped = debug.ok("debug_stop", json!({}));
    stopped.ended(json!({ "detached": true })).has(&["detached", "it runs on"]);
    target.goes_on();
    debug
        .fails("debug_continue", json!({}))
        .has(&["left running", "`debug_attach` takes it again"]);
}

#[test]
fn a_python_process_is_debugged_and_let_go() {
    is_debugged_and_let_go(Python, false);
}

#[test]
fn a_python_port_is_debugged_and_let_go() {
    is_debugged_and_let_go(Python, true);
}

#[test]
fn a_node_process_is_debugged_and_let_go() {
    is_debugged_and_let_go(Node, false);
}

#[test]
fn a_node_port_is_debugged_and_let_go() {
    is_debugged_and_let_go(Node, true);
}

/// A server that ends, in whatever way, leaves a program that it stopped running.
#[track_caller]
fn outlives_the_server(language: Language, listening: bool) {
    let mut target = if listening { Target::listening(language) } else { Target::plain(language) };
    target.works();
    let mut debug = start();
    set(&mut debug, &target.source, target.line("tick"));
    debug.ok("debug_attach", target.ways(listening));
    debug.ok("debug_wait", json!({})).stands("breakpoint", target.line("tick"));
    debug.rpc.process.signal("KILL");
    debug.nothing_is_left();
    target.goes_on();
    // Another server takes it, and ends as it should.
    let mut debug = start();
    set(&mut debug, &target.source, target.line("write"));
    debug.ok("debug_attach", target.ways(listening));
    debug.ok("debug_wait", json!({})).stands("breakpoint", target.line("write"));
    drop(debug);
    target.goes_on();
}

#[test]
fn a_python_process_outlives_the_server() {
    outlives_the_server(Python, false);
}

#[test]
fn a_python_port_outlives_the_server() {
    outlives_the_server(Python, true);
}

#[test]
fn a_node_process_outlives_the_server() {
    outlives_the_server(Node, false);
}

#[test]
fn a_node_port_outlives_the_server() {
    outlives_the_server(Node, true);
}

/// The program has dialled, and waits to hear what is wanted of it, when the server is killed: it goes on, and nothing of
/// what put the debugger there stays.
#[test]
fn a_program_goes_on_whose_server_is_killed_while_it_attaches() {
    let mut target = Target::plain(Python);
    target.works();
    let mut debug = start();
    debug.ask("debug_attach", json!({ "pid": target.pid() }));
    let is_injector = |pid: &String| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"inject")
    };
    until("the injector", || debug.children().iter().any(is_injector).then_some(()));
    // Whoever dials it now is connected, and not answered.
    debug.rpc.process.signal("STOP");
    let files = format!("/proc/{}/fd", target.pid());
    until("the connection", || {
        let mut files = std::fs::read_dir(&files).unwrap().flatten();
        let is_socket = |it: PathBuf| it.to_string_lossy().starts_with("socket:");
        files.any(|it| std::fs::read_link(it.path()).is_ok_and(is_socket)).then_some(())
    });
    debug.rpc.process.signal("KILL");
    debug.nothing_is_left();
    target.goes_on();
}

#[test]
fn a_session_ends_with_its_program_and_invents_no_exit_code() {
    for (language, listening) in [(Python, false), (Python, true), (Node, false), (Node, true)] {
        let target = if listening { Target::listening(language) } else { Target::plain(language) };
        target.works();
        let mut debug = start();
        debug.ok("debug_attach", target.ways(listening)).has(&["no breakpoints are set"]);
        target.end();
        let ended = debug.ok("debug_wait", json!({}));
        // Only its parent is told; the system shows it to us as long as that one has not asked.
        let is_seen = ended.data["exit"] != json!({});
        if is_seen {
            ended.ended(json!({ "code": 3 }));
        } else {
            ended.ended(json!({})).has(&["Program ended", "its exit code is unknown"]);
        }
        debug.fails("debug_pause", json!({})).has(&["[E_SESSION_ENDED]"]);
        let told = if is_seen { "exit code 3" } else { "an unknown exit code" };
        debug.ok("debug_stop", json!({})).has(&[&format!("had ended with {told}")]);
    }
}

/// The program runs a copy elsewhere; breakpoints are set in, and stops told of, the file here.
#[test]
fn mapped_paths_are_hit_and_shown_as_they_are_here() {
    for (language, listening) in [(Python, false), (Python, true), (Node, false), (Node, true)] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (here, there) = (root.join("here"), root.join("there/deep"));
        for folder in [&here, &there] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::copy(language.source(), folder.join(language.file())).unwrap();
        }
        let remote = there.join(language.file());
        let mut target = match (language, listening) {
            (Python, true) => Target::start(Python, &remote, &[], &["--listen"]),
            (Node, true) => Target::start(Node, &remote, &["--inspect=127.0.0.1:0"], &[]),
            (language, false) => Target::start(language, &remote, &[], &[]),
        };
        target.works();
        let mut debug = start();
        let local = here.join(language.file());
        set(&mut debug, &local, target.line("tick"));
        let mut arguments = target.ways(listening);
        arguments["path_mappings"] = json!([{ "local": here, "remote": there }]);
        attached(&mut debug, arguments);
        let stop = debug.ok("debug_wait", json!({}));
        stop.stands("breakpoint", target.line("tick")).has(&[">>>", "number * 2"]);
        assert_eq!(stop.data["stop"]["file"], json!(local), "{}", stop.text);
        assert!(set(&mut debug, &local, target.line("write")).contains("(verified)"));
        debug.go().stands("breakpoint", target.line("write"));
        debug.ok("debug_stop", json!({}));
        target.goes_on();
    }
}

#[test]
fn a_node_program_that_waits_for_a_debugger_stands_at_its_entry() {
    let mut target = Target::start(Node, &Node.source(), &["--inspect-brk=127.0.0.1:0"], &[]);
    let mut debug = start();
    set(&mut debug, &target.source, target.line("tick"));
    let said = debug.ok("debug_attach", json!({ "port": target.port() }));
    assert_eq!(said.data["stop"]["reason"], "entry", "{}", said.text);
    assert_eq!(target.count(), 0);
    debug.go().stands("breakpoint", target.line("tick")).has(&["number = 1"]);
    debug.ok("debug_stop", json!({}));
    target.goes_on();
}

#[test]
fn a_worker_that_runs_already_is_debugged_and_let_go() {
    let mut target = Target::start(Node, &Node.source(), &[], &["--worker"]);
    target.works();
    let mut debug = start();
    set(&mut debug, &target.source, target.line("tick"));
    debug.ok("debug_attach", json!({ "pid": target.pid() }));
    debug.ok("debug_wait", json!({})).stands("breakpoint", target.line("tick")).has(&["number = "]);
    debug.ok("debug_stop", json!({}));
    target.goes_on();
}

#[test]
fn children_of_a_listening_python_are_part_of_the_session() {
    let mut target = Target::start(Python, &Python.source(), &[], &["--listen", "--child"]);
    let mut debug = start();
    let child = target.source.with_file_name("ticks_child.py");
    set(&mut debug, &child, line(&child, "once"));
    debug.ok("debug_attach", json!({ "port": target.port() }));
    let stop = debug.ok("debug_wait", json!({}));
    stop.stands("breakpoint", line(&child, "once")).has(&["in once", "tripled = "]);
    debug.go().stands("breakpoint", line(&child, "once"));
    debug.ok("debug_stop", json!({}));
    target.goes_on();
}

#[test]
fn children_of_a_python_process_are_part_of_the_session() {
    let mut target = Target::start(Python, &Python.source(), &[], &["--child"]);
    target.works();
    let mut debug = start();
    let child = target.source.with_file_name("ticks_child.py");
    set(&mut debug, &child, line(&child, "once"));
    debug.ok("debug_attach", json!({ "pid": target.pid() }));
    debug.ok("debug_wait", json!({})).stands("breakpoint", line(&child, "once"));
    debug.ok("debug_stop", json!({}));
    // Its children are whole although nobody listens for them any more.
    target.goes_on();
    debug.ok("debug_attach", json!({ "pid": target.pid() }));
    debug.ok("debug_wait", json!({})).stands("breakpoint", line(&child, "once"));
    debug.rpc.process.signal("KILL");
    debug.nothing_is_left();
    target.goes_on();
}

#[test]
fn the_process_of_a_listening_python_is_reached_through_its_own_debugger() {
    let mut target = Target::listening(Python);
    target.port();
    let mut debug = start();
    set(&mut debug, &target.source, target.line("tick"));
    debug.ok("debug_attach", json!({ "pid": target.pid() }));
    debug.ok("debug_wait", json!({})).stands("breakpoint", target.line("tick"));
    // The one debugger it takes is us.
    let mut other = start();
    let refused = other.fails("debug_attach", json!({ "port": target.port() }));
    refused.has(&["[E_BUSY]", "already being debugged"]);
    drop(other);
    debug.ok("debug_stop", json!({}));
    target.goes_on();
}

#[test]
fn a_program_is_debugged_once_and_only_by_its_own_tools() {
    let mut target = Target::plain(Node);
    target.works();
    let mut debug = start();
    debug.ok("debug_attach", json!({ "pid": target.pid() }));
    let twice = debug.fails("debug_attach", json!({ "pid": target.pid() }));
    twice.has(&["[E_BUSY]", "being debugged already"]);
    debug.fails("debug_input", json!({ "text": "x" })).has(&["its stdin is not ours"]);
    let again = debug.fails("debug_restart", json!({}));
    again.has(&["[E_INVALID_PARAMS]", "attached", "`debug_launch`"]);
    debug.ok("debug_pause", json!({})).has(&["Stopped"]);
    debug.ok("debug_stop", json!({}));
    target.goes_on();
    // Nothing of it is a launch to do again.
    debug.restart_server(BIN);
    debug.fails("debug_restart", json!({})).has(&["[E_NO_SESSION]"]);
}

#[test]
fn what_cannot_be_attached_to_is_said_at_once_and_left_alone() {
    let mut debug = start();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let fails = |debug: &mut Debug, arguments: Value, wanted: &[&str]| {
        debug.fails("debug_attach", arguments).has(wanted);
    };
    for language in [json!(null), json!("python"), json!("node")] {
        let refused = json!({ "port": port, "language": language });
        fails(&mut debug, refused, &["[E_ATTACH_FAILED]", "connection was refused", "hint:"]);
    }
    let unknown = json!({ "host": "nowhere.invalid", "port": 5678 });
    fails(&mut debug, unknown, &["[E_ATTACH_FAILED]", "no host `nowhere.invalid`"]);
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    fails(&mut debug, json!({ "pid": gone.id() }), &["[E_NOT_FOUND]", "no process"]);
    fails(&mut debug, json!({}), &["[E_INVALID_PARAMS]", "neither `pid` nor `port`"]);
    fails(
        &mut debug,
        json!({ "pid": 1, "port": 2 }),
        &["[E_INVALID_PARAMS]", "exclude each other"],
    );
    fails(
        &mut debug,
        json!({ "port": port, "language": "cobol" }),
        &["[E_INVALID_PARAMS]", "cobol"],
    );
    let missing =
        json!({ "port": 1, "path_mappings": [{ "local": "/nowhere", "remote": "/app" }] });
    fails(&mut debug, missing, &["[E_NOT_FOUND]", "`/nowhere` does not exist"]);
    let partly = json!({ "port": 1, "path_mappings": [{ "local": "/", "remote": "app" }] });
    fails(&mut debug, partly, &["[E_INVALID_PARAMS]", "not a whole path"]);
}

#[test]
fn a_process_of_another_language_is_refused_and_lives_on() {
    let mut debug = start();
    let mut sleep = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = sleep.id();
    // A signal for Node's inspector would be its end.
    let said = debug.fails("debug_attach", json!({ "pid": pid, "language": "node" }));
    said.has(&["[E_ATTACH_FAILED]", "does not open its inspector"]);
    let said = debug.fails("debug_attach", json!({ "pid": pid, "language": "python" }));
    said.has(&["[E_ATTACH_FAILED]", "not a Python interpreter"]);
    assert!(sleep.try_wait().unwrap().is_none(), "it is gone");
    sleep.kill().unwrap();
    sleep.wait().unwrap();
}

/// Something listens, and is no debugger.
#[test]
fn a_web_server_is_not_taken_for_a_debugger() {
    let mut debug = start();
    let port = debug.rpc.process.port();
    let said = debug.fails("debug_attach", json!({ "port": port }));
    said.has(&["[E_ATTACH_FAILED]", "a web server answers there"]);
    let said = debug.fails("debug_attach", json!({ "port": port, "language": "node" }));
    said.has(&["[E_ATTACH_FAILED]", "no inspector"]);
}

/// Traces a process as a debugger does, without stopping it, until its stdin is closed.
const HOLDS: &str = "import ctypes, sys
PTRACE_SEIZE = 0x4206
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 2 + [ctypes.c_void_p] * 2
if libc.ptrace(PTRACE_SEIZE, int(sys.argv[1]), None, None):
    sys.exit(f'ptrace: errno {ctypes.get_errno()}')
sys.stdin.read()
";

#[test]
fn a_process_that_another_debugger_holds_is_refused() {
    let mut target = Target::plain(Python);
    target.works();
    let mut holder = Command::new("python3");
    holder.args(["-c", HOLDS, &target.pid().to_string()]).stdin(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let status = format!("/proc/{}/status", target.pid());
    let traced = || {
        std::fs::read_to_string(&status).unwrap().contains(&format!("TracerPid:\t{}", holder.id()))
    };
    until("the tracer", || traced().then_some(()));
    let mut debug = start();
    let said = debug.fails("debug_attach", json!({ "pid": target.pid() }));
    said.has(&["[E_BUSY]", "being traced by process"]);
    drop(holder.stdin.take());
    holder.wait().unwrap();
    target.goes_on();
}

/// A program that must not stand still is looked at all the same, and passes on when nobody looks any more.
#[test]
fn tracepoints_report_from_a_program_that_runs_already() {
    for (language, listening) in [(Python, false), (Python, true), (Node, false), (Node, true)] {
        let mut target =
            if listening { Target::listening(language) } else { Target::plain(language) };
        target.works();
        let mut debug = start();
        debug.ok("debug_attach", target.ways(listening));
        let place = json!({
            "file": target.source, "line": target.line("write"), "log_message": "saw {doubled}",
        });
        debug.ok("tracepoint_set", place);
        until("hits", || {
            debug.ok("tracepoint_read", json!({})).text.contains("saw ").then_some(())
        });
        debug.rpc.process.signal("KILL");
        debug.nothing_is_left();
        target.goes_on();
    }
}

/// A program that computes is in the middle of something wherever it is held: it is debugged, and lives.
#[test]
fn a_program_that_never_waits_survives() {
    for _ in 0..3 {
        let (folder, file) = program(
            "import os, sys\n\
             log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n\
             while True:\n    sum(range(2000))\n    os.write(log, b'.\\n')\n",
        );
        let mut target = Target::start(Python, &file, &[], &[]);
        target.works();
        let mut debug = start();
        debug.ok("debug_attach", json!({ "pid": target.pid() }));
        debug.ok("debug_pause", json!({})).has(&["Stopped (pause)"]);
        debug.ok("debug_stop", json!({}));
        target.goes_on();
        drop(folder);
    }
}
