//! A launch says what runs the program and why, and finds it as the project's own tools do; relative paths
//! begin at the project.

use std::path::{Path, PathBuf};

use holdpoint_testkit::{
    debug::{Debug, Said, ask_python, python},
    rpc::{Rpc, text},
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

struct Project {
    debug: Debug,
    root: PathBuf,
    _folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/main.py"), "import sys\nprint(sys.prefix)\n").unwrap();
        Project { debug: python(BIN, FOLDER).start(), root, _folder: folder }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root.join(name), text).unwrap();
    }

    /// An environment in which the tests' own Python runs.
    fn environment(&self, name: &str) -> PathBuf {
        let folder = self.root.join(name);
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        let interpreter = Path::new(&python(BIN, FOLDER).path);
        std::os::unix::fs::symlink(interpreter, folder.join("bin/python")).unwrap();
        let home = interpreter.parent().unwrap().display();
        std::fs::write(folder.join("pyvenv.cfg"), format!("home = {home}\n")).unwrap();
        folder
    }

    /// Launches the program without naming an interpreter.
    #[track_caller]
    fn launch(&mut self, env: Value) -> Said {
        let program = self.root.join("src/main.py");
        let arguments = json!({ "program": program, "env": env, "stop_on_entry": false });
        let said = self.debug.ok("debug_launch", arguments);
        said.ended(json!({ "code": 0 }));
        said
    }

    /// It runs in this environment, and the answer says so.
    #[track_caller]
    fn runs_in(&mut self, environment: &Path, env: Value, why: &str) {
        let said = self.launch(env);
        let path = environment.join("bin/python");
        said.has(&[&format!("{}, {why}", path.display()), &environment.display().to_string()]);
        assert_eq!(said.data["runtime"]["path"], json!(path), "{}", said.text);
    }
}

#[test]
fn an_environment_in_the_project_is_found_and_named() {
    let mut project = Project::new();
    let environment = project.environment(".venv");
    let why = format!(".venv in {}", project.root.display());
    project.runs_in(&environment, json!({}), &why);
    project.write("uv.lock", "");
    project.runs_in(&environment, json!({}), &format!("{why}, uv's"));
    // What the call says comes first.
    let other = project.environment("other");
    project.runs_in(&other, json!({ "VIRTUAL_ENV": other }), "VIRTUAL_ENV of this call");
    project.write("pyproject.toml", "[project]\nname = \"shop\"\n");
    let uv = json!({ "UV_PROJECT_ENVIRONMENT": "other" });
    project.runs_in(&other, uv, "uv, by UV_PROJECT_ENVIRONMENT");
    let program = project.root.join("src/main.py");
    let arguments = json!({ "program": program, "interpreter": python(BIN, FOLDER).path });
    project.debug.ok("debug_launch", arguments).has(&["(python 3.", ", as given)"]);
}

/// A path is meant as whoever calls sees it; the program's folder comes second.
#[test]
fn a_relative_interpreter_is_looked_for_and_its_places_are_named() {
    let mut project = Project::new();
    project.environment("src/own");
    let program = project.root.join("src/main.py");
    let arguments = json!({ "program": program, "interpreter": "own/bin/python" });
    project.debug.ok("debug_launch", arguments).has(&[", as given)"]);
    let arguments = json!({ "program": program, "interpreter": "gone/bin/python" });
    let said = project.debug.fails("debug_launch", arguments);
    let place = project.root.join("src/gone/bin/python");
    said.has(&["[E_LAUNCH_FAILED] no interpreter at `/", &format!("`{}`", place.display())]);
}

#[test]
fn points_that_were_set_earlier_are_named_at_the_next_launch() {
    let mut project = Project::new();
    let program = project.root.join("src/main.py");
    let point = json!({ "file": program, "line": 1 });
    project.debug.ok("breakpoint_set", point);
    let launch = json!({ "program": program, "stop_on_entry": false });
    let said = project.debug.ok("debug_launch", launch.clone());
    assert!(!said.text.contains("set earlier"), "{}", said.text);
    project.debug.ok("debug_stop", json!({}));
    project.debug.ok("debug_wait", json!({})).has(&["Program was stopped on request · s1"]);
    let said = project.debug.ok("debug_launch", launch);
    said.has(&["1 point set earlier is active: breakpoint_list"]);
}

#[test]
fn environments_that_tools_keep_elsewhere_are_found() {
    let mut project = Project::new();
    let root = project.root.clone();
    let version = ask_python("import sys; print('%d.%d' % sys.version_info[:2])");
    project.write("pyproject.toml", "[tool.poetry]\nname = \"My Shop\"\n");
    let hash = ask_python(&format!(
        "import base64, hashlib; print(base64.urlsafe_b64encode(hashlib.sha256({:?}.encode()).digest()).decode()[:8])",
        root.to_str().unwrap()
    ));
    let poetry = project.environment(&format!("cache/virtualenvs/my_shop-{hash}-py{version}"));
    let env = json!({ "POETRY_CACHE_DIR": root.join("cache") });
    let why = format!("poetry's environment of {}", root.display());
    project.runs_in(&poetry, env, &why);

    std::fs::remove_file(root.join("pyproject.toml")).unwrap();
    project.write("environment.yml", "name: shop\ndependencies: []\n");
    let conda = project.environment("conda/shop");
    let why = format!("conda environment `shop` of {}", root.join("environment.yml").display());
    project.runs_in(&conda, json!({ "CONDA_ENVS_PATH": root.join("conda") }), &why);

    std::fs::remove_file(root.join("environment.yml")).unwrap();
    project.write(".python-version", "3.11\n");
    project.environment("pyenv/versions/3.11.2");
    let newest = project.environment("pyenv/versions/3.11.12");
    let why = format!("pyenv, by {}", root.join(".python-version").display());
    project.runs_in(&newest, json!({ "PYENV_ROOT": root.join("pyenv") }), &why);
    let said = project.launch(json!({ "PYENV_ROOT": root.join("nowhere") }));
    said.has(&["PATH: no environment in", "names 3.11, which pyenv does not have"]);
}

#[test]
fn a_launch_that_installs_the_debugger_says_so_once() {
    let mut project = Project::new();
    let environment = project.environment(".venv");
    // Nothing is provided: the first launch has to.
    std::fs::remove_file(project.debug.home().join("debugpy")).unwrap();
    let program = project.root.join("src/main.py");
    let arguments = json!({ "program": program, "stop_on_entry": false, "timeout_s": 170 });
    let said = project.debug.ok("debug_launch", arguments);
    said.ended(json!({ "code": 0 })).has(&["debugpy 1.", " was installed into ", "this once"]);
    let said = project.launch(json!({}));
    assert!(!said.text.contains("installed"), "{}", said.text);
    said.has(&[&environment.display().to_string()]);
}

/// A client that says where it works, when it is asked.
fn client(roots: Value) -> Rpc {
    client_with(roots, &[])
}

fn client_with(roots: Value, options: &[&str]) -> Rpc {
    let mut rpc = Rpc::start(BIN, &[&["mcp", "--port", "0"], options].concat());
    let hello = json!({
        "protocolVersion": "2025-11-25", "clientInfo": { "name": "testkit", "version": "0" },
        "capabilities": roots,
    });
    rpc.request("initialize", hello);
    rpc.notify("notifications/initialized", json!({}));
    rpc
}

fn launch() -> Value {
    json!({ "name": "debug_launch", "arguments": { "program": "my app/main.js" } })
}

#[test]
fn relative_paths_begin_at_the_clients_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("a b");
    std::fs::create_dir_all(root.join("my app")).unwrap();
    std::fs::write(root.join("my app/main.js"), "console.log(1);\n").unwrap();
    let mut rpc = client(json!({ "roots": {} }));
    // What names no file does not ask.
    rpc.call("server_status", json!({}));
    let id = rpc.ask("tools/call", launch());
    let asked = rpc.wait_for("the question", |it| it["method"] == "roots/list");
    let uri = format!("file://{}", root.display()).replace(' ', "%20");
    let answer =
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [{ "uri": uri }] } });
    rpc.send_line(&answer.to_string());
    let said = rpc.answer(id);
    assert!(text(&said["result"]).contains("main.js:1"), "{said}");
    // Asked once.
    let point = json!({ "file": "my app/main.js", "line": 1 });
    rpc.text("breakpoint_set", point);
    assert!(rpc.heard.iter().all(|it| it["method"] != "roots/list"), "{:?}", rpc.heard);
    rpc.finish();
}

/// What is about programs is so whichever way it is called.
#[test]
fn a_tool_that_is_not_listed_begins_at_the_clients_root_too() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("main.js"), "console.log(1);\n").unwrap();
    let mut rpc = client_with(json!({ "roots": {} }), &["--toolset", "agent"]);
    let point = json!({ "file": "main.js", "line": 1 });
    let call = json!({ "name": "debug_breakpoint", "arguments": point });
    let id = rpc.ask("tools/call", json!({ "name": "more_tools", "arguments": call }));
    let asked = rpc.wait_for("the question", |it| it["method"] == "roots/list");
    let roots = json!({ "roots": [{ "uri": format!("file://{}", root.display()) }] });
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": roots });
    rpc.send_line(&answer.to_string());
    let said = rpc.answer(id);
    let file = root.join("main.js").display().to_string();
    assert!(said.to_string().contains(&file), "{said}");
    rpc.finish();
}

#[test]
fn a_client_that_does_not_tell_its_roots_holds_nothing_up() {
    let mut rpc = client(json!({ "roots": {} }));
    let said = rpc.text("debug_launch", json!({ "program": "nowhere/main.js" }));
    let here = std::env::current_dir().unwrap();
    assert!(said.contains(&format!("relative to {}", here.display())), "{said}");
    rpc.finish();
}

#[test]
fn the_project_of_claude_code_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("main.js"), "console.log(1);\n").unwrap();
    let mut rpc = Rpc::start_with(BIN, &["mcp", "--port", "0"], |command| {
        command.env("CLAUDE_PROJECT_DIR", &root);
    });
    rpc.initialize("2025-11-25");
    let said = rpc.text("debug_launch", json!({ "program": "main.js" }));
    assert!(said.contains("main.js:1"), "{said}");
    assert!(said.contains("(node: ") && said.contains(", PATH)"), "{said}");
    rpc.finish();
}
