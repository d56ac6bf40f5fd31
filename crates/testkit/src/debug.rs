//! Line debugging through MCP: one server whose every process carries a mark, programs with marked lines,
//! answers that keep to their budget.
//!
//! When a [`Debug`] is dropped its server ends, and nothing that it started may be left.

use std::{
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    packages::installed,
    process::{self, Process},
    rpc::{Rpc, text},
    until,
};

/// Characters of an answer's text and of its data together when the call asks for no more, as they stand in
/// JSON; beside them the envelope and its `meta`.
const ANSWER_CHARACTERS: usize = 7_500 + 400;
/// How long a process may outlive the server that started it.
const GONE: Duration = Duration::from_secs(5);
/// In the environment of everything that a test starts.
const MARK: &str = "HOLDPOINT_TEST_ID";

pub struct Debug {
    pub rpc: Rpc,
    mark: String,
    /// What every launch names, where the language needs it.
    interpreter: Option<String>,
    _home: tempfile::TempDir,
}

/// What a tool said.
#[derive(Debug, Clone)]
pub struct Said {
    pub text: String,
    pub data: Value,
}

impl Debug {
    /// A server of its own, with a home that has what `provide` puts there.
    pub(crate) fn start(
        bin: &str,
        interpreter: Option<String>,
        provide: impl FnOnce(&Path),
        options: &[&str],
        client: &str,
    ) -> Debug {
        Debug::start_among(bin, interpreter, provide, options, client, &[])
    }

    /// The same with these variables in its environment.
    pub(crate) fn start_among(
        bin: &str,
        interpreter: Option<String>,
        provide: impl FnOnce(&Path),
        options: &[&str],
        client: &str,
        variables: &[(&str, &str)],
    ) -> Debug {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{next}-{}", std::process::id(), started.as_nanos());
        let home = process::home();
        provide(home.path());
        let args = [&["mcp", "--port", "0"], options].concat();
        let mut process = Process::start_at(bin, &args, home.path(), |command| {
            command.env(MARK, &mark).env_remove("VIRTUAL_ENV");
            command.envs(variables.iter().copied());
            // pip reads its configuration there.
            if let Some(home) = std::env::var_os("HOME") {
                command.env("HOME", home);
            }
        });
        let stdin = process.child().stdin.take().expect("a pipe");
        let stdout = process.child().stdout.take().expect("a pipe");
        let mut rpc = Rpc::over(process, Box::new(stdin), Box::new(stdout));
        rpc.initialize_as(client, "2025-11-25");
        Debug { rpc, mark, interpreter, _home: home }
    }

    /// A server that debugs nothing by itself: its programs are an editor's.
    pub fn with_editor(bin: &str, options: &[&str]) -> Debug {
        Debug::start(bin, None, |_| {}, options, "testkit")
    }

    /// A server for programs of any language: it has the debuggers that `cargo xtask` installed for the tests, and
    /// the one for Python that was provided once.
    pub fn for_any(bin: &str, folder: &str) -> Debug {
        let provide = |home: &Path| {
            let adapters =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/xtask/adapters");
            let debugpy = Path::new(folder).join("python/debugpy");
            for (from, name) in [(adapters, "adapters"), (debugpy, "debugpy")] {
                if let Ok(from) = from.canonicalize() {
                    std::os::unix::fs::symlink(from, home.join(name)).unwrap();
                }
            }
        };
        Debug::start(bin, None, provide, &[], "testkit")
    }

    /// The server's own folder.
    pub fn home(&self) -> &Path {
        self._home.path()
    }

    /// Launches a program; `more` is on top of the program and its interpreter.
    #[track_caller]
    pub fn launch(&mut self, program: &Path, more: Value) -> Said {
        self.ok("debug_launch", self.with_program(program, more))
    }

    /// The arguments of a tool that starts a program.
    pub fn with_program(&self, program: &Path, more: Value) -> Value {
        let mut arguments = json!({ "program": program });
        if let Some(interpreter) = &self.interpreter {
            arguments["interpreter"] = json!(interpreter);
        }
        let more = more.as_object().expect("an object").clone();
        arguments.as_object_mut().expect("an object").extend(more);
        arguments
    }

    /// Kills the server and starts another with the same home.
    pub fn restart_server(&mut self, bin: &str) {
        self.replace_server(bin, "KILL");
    }

    /// Ends the server by a signal and starts another with the same home.
    pub fn replace_server(&mut self, bin: &str, signal: &str) {
        self.rpc.process.signal(signal);
        self.rpc.process.end();
        self.nothing_is_left();
        let mark = self.mark.clone();
        let mut process =
            Process::start_at(bin, &["mcp", "--port", "0"], self._home.path(), |command| {
                command.env(MARK, &mark);
                // Where toolchains are kept.
                if let Some(home) = std::env::var_os("HOME") {
                    command.env("HOME", home);
                }
            });
        let stdin = process.child().stdin.take().expect("a pipe");
        let stdout = process.child().stdout.take().expect("a pipe");
        self.rpc = Rpc::over(process, Box::new(stdin), Box::new(stdout));
        self.rpc.initialize("2025-11-25");
    }

    /// Launches a fixture with breakpoints at these marks and runs to the first.
    #[track_caller]
    pub fn run_to(&mut self, name: &str, marks: &[&str]) -> Said {
        self.run_with(name, marks, &[])
    }

    /// The same with arguments.
    #[track_caller]
    pub fn run_with(&mut self, name: &str, marks: &[&str], args: &[&str]) -> Said {
        let file = fixture(name);
        let point = |mark: &&str| json!({ "file": file, "line": line(&file, mark) });
        let points: Vec<Value> = marks.iter().map(point).collect();
        let more = json!({ "breakpoints": points, "stop_on_entry": false, "args": args });
        self.launch(&file, more)
    }

    /// Calls a tool that succeeds, within the default budget.
    #[track_caller]
    pub fn ok(&mut self, tool: &str, arguments: Value) -> Said {
        let said = self.call(tool, arguments);
        assert!(said.1, "{tool}: {}", said.0.text);
        said.0
    }

    /// Calls a tool that fails; its text begins with the code.
    #[track_caller]
    pub fn fails(&mut self, tool: &str, arguments: Value) -> Said {
        let said = self.call(tool, arguments);
        assert!(!said.1, "{tool} did not fail: {}", said.0.text);
        assert!(said.0.text.starts_with("[E_"), "no code: {}", said.0.text);
        said.0
    }

    /// Calls a tool, and says whether it succeeded.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> (Said, bool) {
        let id = self.ask(tool, arguments);
        let answer = self.rpc.answer(id);
        Said::of(tool, &answer)
    }

    /// Sends a call; [`Debug::answer`] waits for it. Signs of life keep a long one from its deadline.
    pub fn ask(&mut self, tool: &str, arguments: Value) -> u64 {
        let meta = json!({ "progressToken": tool });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        self.rpc.ask("tools/call", params)
    }

    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Said {
        let answer = self.rpc.answer(id);
        Said::of("the call", &answer).0
    }

    /// The text of `debug_evaluate`.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> String {
        self.ok("debug_evaluate", json!({ "expression": expression })).text
    }

    /// Continues to the next stop or the end.
    #[track_caller]
    pub fn go(&mut self) -> Said {
        self.ok("debug_continue", json!({}))
    }

    /// Everything the program wrote, once it holds `wanted`.
    #[track_caller]
    pub fn wrote(&mut self, wanted: &str) -> String {
        until(wanted, || {
            let text = self.ok("debug_output", json!({})).text;
            text.contains(wanted).then_some(text)
        })
    }

    /// The processes that carry this server's mark, without the server.
    pub fn children(&self) -> Vec<String> {
        let wanted = format!("{MARK}={}", self.mark);
        let server = self.rpc.process.id().to_string();
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let ours = |pid: &String| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            *pid != server && environment.split(|byte| *byte == 0).any(|it| it == wanted.as_bytes())
        };
        pids.filter(|pid| pid.starts_with(|it: char| it.is_ascii_digit())).filter(ours).collect()
    }

    /// Nothing that the server started may live on.
    #[track_caller]
    pub fn nothing_is_left(&self) {
        let started = Instant::now();
        loop {
            let left = self.children();
            if left.is_empty() {
                return;
            }
            let command = |pid: &String| std::fs::read(format!("/proc/{pid}/cmdline"));
            let commands: Vec<String> = left
                .iter()
                .filter_map(|pid| command(pid).ok())
                .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "))
                .collect();
            assert!(started.elapsed() < GONE, "left behind: {left:?} {commands:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Debug {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.rpc.close_stdin();
        if self.rpc.process.is_running() {
            let (status, stderr) = self.rpc.process.end();
            assert!(status.success() && stderr.is_empty(), "{status}: {stderr}");
        }
        self.nothing_is_left();
    }
}

impl Said {
    /// The answer, and whether it is a success.
    #[track_caller]
    fn of(tool: &str, answer: &Value) -> (Said, bool) {
        let result = answer.get("result").unwrap_or_else(|| panic!("{tool} answered {answer}"));
        let structured = &result["structuredContent"];
        let said = Said { text: text(result), data: structured["data"].clone() };
        let read = structured.to_string().len().max(result["content"].to_string().len());
        assert!(read < ANSWER_CHARACTERS, "{tool}: {read} characters");
        (said, result["isError"] != true)
    }

    /// Asserts that the text holds each of these.
    #[track_caller]
    pub fn has(&self, wanted: &[&str]) -> &Said {
        for wanted in wanted {
            assert!(self.text.contains(wanted), "no `{wanted}` in: {}", self.text);
        }
        self
    }

    /// Asserts that the program stands there, and why.
    #[track_caller]
    pub fn stands(&self, reason: &str, line: usize) -> &Said {
        assert_eq!(self.data["state"], "stopped", "{}", self.text);
        let stop = &self.data["stop"];
        assert_eq!(
            (&stop["reason"], &stop["line"]),
            (&json!(reason), &json!(line)),
            "{}",
            self.text
        );
        self
    }

    /// Asserts that the program has ended so.
    #[track_caller]
    pub fn ended(&self, exit: Value) -> &Said {
        assert_eq!(self.data["state"], "ended", "{}", self.text);
        assert_eq!(self.data["exit"], exit, "{}", self.text);
        self
    }
}

/// Gives a server's home the debuggers that `cargo xtask` installed for the tests.
pub fn link_adapters(home: &Path) {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/xtask/adapters");
    if let Ok(adapters) = adapters.canonicalize() {
        std::os::unix::fs::symlink(adapters, home.join("adapters")).unwrap();
    }
}

/// The line of a file that is marked `# BP: name`.
#[track_caller]
pub fn line(file: &Path, name: &str) -> usize {
    let text = std::fs::read_to_string(file).unwrap();
    let mark = format!("BP: {name}");
    let found = text.lines().position(|line| line.trim_end().ends_with(&mark));
    found.unwrap_or_else(|| panic!("no `{mark}` in {}", file.display())) + 1
}

/// A program for tests; its name says the language.
pub fn fixture(name: &str) -> PathBuf {
    let language = match name.rsplit('.').next() {
        Some("py") => "python",
        Some("java") => "java",
        _ => "node",
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(language);
    folder.canonicalize().unwrap().join(name)
}

/// A program of a few lines, in a folder of its own.
pub fn program(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("program.py");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

/// What Python tests share: the interpreter, and the debugger that Holdpoint provides for it.
pub struct Python {
    bin: String,
    /// `debugpy` of every home.
    pub debuggers: PathBuf,
    /// The interpreter behind `python3`, without a version manager's script in between.
    pub path: String,
}

/// Lets Holdpoint provide its debugger once, whoever comes first, in whichever process.
pub fn python(bin: &str, folder: &str) -> &'static Python {
    static ONCE: OnceLock<Python> = OnceLock::new();
    ONCE.get_or_init(|| {
        let folder = Path::new(folder).join("python");
        let debuggers = folder.join("debugpy");
        std::fs::create_dir_all(&debuggers).unwrap();
        let _held = held(&folder.join("debugpy.lock"));
        let path = ask_python("import sys; print(sys.executable)");
        let python = Python { bin: bin.to_owned(), debuggers, path };
        let mut debug = python.start();
        // A download may take long; the launch keeps telling that it is alive.
        let (_folder, program) = program("print('ready')\n");
        debug.launch(&program, json!({ "timeout_s": 170 })).stands("entry", 1);
        drop(debug);
        python
    })
}

/// What `python3` prints.
pub fn ask_python(code: &str) -> String {
    let output = Command::new("python3").args(["-c", code]).output().expect("python3 on PATH");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Python {
    /// With more options for the server.
    pub fn start_with(&self, options: &[&str]) -> Debug {
        self.start_as("testkit", options)
    }

    /// For a client of that name.
    pub fn start_as(&self, client: &str, options: &[&str]) -> Debug {
        let provide = |home: &Path| {
            std::os::unix::fs::symlink(&self.debuggers, home.join("debugpy")).unwrap();
        };
        Debug::start(&self.bin, Some(self.path.clone()), provide, options, client)
    }

    pub fn start(&self) -> Debug {
        self.start_with(&[])
    }

    /// The same with another interpreter, for which a debugger is provided once.
    pub fn start_in(&self, interpreter: &str) -> Debug {
        let mut debug = self.start();
        debug.interpreter = Some(interpreter.to_owned());
        let _held = held(&self.debuggers.with_file_name("debugpy.lock"));
        let (_folder, program) = program("print('ready')\n");
        let more = json!({ "timeout_s": 170, "stop_on_entry": false });
        debug.launch(&program, more).ended(json!({ "code": 0 }));
        debug
    }

    /// A folder from which Python imports pytest.
    pub fn pytest(&self) -> PathBuf {
        let version = ask_python("import sys; print('python%d.%d' % sys.version_info[:2])");
        installed("packages-python").join("lib").join(version).join("site-packages")
    }
}

/// The interpreters of this machine that have `sys.monitoring`, one of each minor version, oldest first.
pub fn monitoring_pythons() -> Vec<String> {
    let home = || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".pyenv");
    let pyenv = std::env::var_os("PYENV_ROOT").map_or_else(home, PathBuf::from).join("versions");
    let kept: Vec<PathBuf> = std::fs::read_dir(pyenv)
        .map(|all| all.flatten().map(|it| it.path()).collect())
        .unwrap_or_default();
    let found = (12..=14).filter_map(|minor| {
        let named = format!("3.{minor}.");
        let is_named = |it: &&PathBuf| {
            it.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&named))
        };
        let there = kept.iter().filter(is_named).map(|it| it.join("bin/python")).max();
        let says = there.unwrap_or_else(|| format!("python3.{minor}").into());
        let asked = Command::new(says).args(["-c", "import sys; print(sys.executable)"]).output();
        let said = asked.ok().filter(|it| it.status.success())?.stdout;
        Some(String::from_utf8(said).ok()?.trim().to_owned())
    });
    let mut found: Vec<String> = found.collect();
    // What `cargo xtask` fetches where the machine has none.
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/xtask/python-new");
    if let Ok(fetched) = fetched.join("root/usr/bin/python3.14").canonicalize()
        && found.is_empty()
    {
        found.push(fetched.display().to_string());
    }
    // Who loops over none of them has tested nothing.
    let is_ci = std::env::var_os("CI").is_some();
    assert!(
        !found.is_empty() || !is_ci,
        "no Python of 3.12 or later is here, and CI skips nothing"
    );
    found
}

/// A lock between processes, until dropped.
fn held(file: &Path) -> File {
    let held = OpenOptions::new().create(true).truncate(false).write(true).open(file).unwrap();
    held.lock().unwrap();
    held
}
