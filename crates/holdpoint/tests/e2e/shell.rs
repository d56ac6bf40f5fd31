//! `holdpoint tool` where no server runs: an agent with nothing but a shell.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use holdpoint_testkit::{
    process::{Process, command},
    until,
};
use serde_json::Value;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

const PROGRAM: &str = "\
let total = 0;
for (const price of [3, 4, 5]) {
  total += price;
}
console.log(total);
setInterval(() => {}, 1000);
";

/// A home and a project of its own. What `holdpoint tool` started in it ends with it.
struct Shell {
    root: tempfile::TempDir,
    idle: &'static str,
}

impl Shell {
    fn new() -> Shell {
        Shell::with_idle("60")
    }

    fn with_idle(idle: &'static str) -> Shell {
        let shell = Shell { root: tempfile::tempdir().unwrap(), idle };
        std::fs::create_dir_all(shell.project().join("src")).unwrap();
        std::fs::create_dir(shell.project().join(".git")).unwrap();
        std::fs::write(shell.project().join("src/app.js"), PROGRAM).unwrap();
        shell
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("shop")
    }

    fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = command(BIN, args, &self.home());
        command.current_dir(folder).env("HOLDPOINT_PORT", "0");
        command.env("HOLDPOINT_END_IDLE", self.idle).stdin(Stdio::null());
        // An agent's shell may stand in another folder than its project.
        command.env("CLAUDE_PROJECT_DIR", "/");
        command
    }

    /// Runs to the end, which is when nobody holds the output any more.
    fn run_in(&self, folder: &Path, args: &[&str]) -> (i32, String, String) {
        let output = self.command(folder, args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        self.run_in(&self.project(), args)
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let (code, text, stderr) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {text}{stderr}");
        text
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(&self.project(), args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The process ids of the servers that entered themselves.
    fn servers(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(self.home().join("servers")).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect()
    }

    #[track_caller]
    fn server(&self) -> u32 {
        let servers = self.servers();
        assert_eq!(servers.len(), 1, "{servers:?}");
        servers.first().copied().unwrap()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        for pid in self.servers() {
            kill("KILL", pid);
        }
    }
}

fn kill(signal: &str, pid: u32) {
    Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap();
}

/// A zombie has ended, too: who started it is gone, and in a container nobody may reap it.
fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn a_program_lives_on_between_commands() {
    let shell = Shell::new();
    let text = shell.ok(&["tool", "debug_launch", r#"{"program": "src/app.js"}"#]);
    assert!(text.contains("s1"), "{text}");
    let server = shell.server();
    let text =
        shell.ok(&["tool", "breakpoint_set", "file=src/app.js", "line=3", "condition=price > 4"]);
    assert!(text.contains("app.js:3"), "{text}");
    shell.ok(&["tool", "debug_continue"]);
    let text = shell.ok(&["tool", "debug_evaluate", r#"{"expression": "total + price"}"#]);
    assert!(text.contains("12"), "{text}");
    assert_eq!(shell.server(), server, "all of it was one server");

    let text = shell.ok(&["stop"]);
    let folder = shell.project();
    assert_eq!(
        text,
        format!(
            "ended the server for {} (pid {server}) and the program under it\n",
            folder.display()
        )
    );
    assert_eq!(shell.servers(), [0; 0]);
    until("the end of the server", || (!is_running(server)).then_some(()));
    assert!(!shell.home().join("port").exists());
}

#[test]
fn stop_tells_the_truth_when_there_is_nothing_to_stop() {
    let shell = Shell::new();
    let nothing = format!(
        "nothing to stop: `holdpoint tool` started no server for {} that still runs\n",
        shell.project().display()
    );
    assert_eq!(shell.ok(&["stop"]), nothing);

    let mut person = Process::start_at(BIN, &["serve", "--port", "0"], &shell.home(), |command| {
        command.current_dir(shell.root.path());
    });
    person.port();
    let pid = until("its entry", || shell.servers().first().copied());
    let text = shell.ok(&["stop"]);
    assert!(text.starts_with(&nothing), "{text}");
    assert!(text.contains("left running: `holdpoint serve` of "), "{text}");
    assert!(is_running(pid));
}

#[test]
fn a_persons_server_is_used_and_none_is_started() {
    let shell = Shell::new();
    let mut person = Process::start_at(BIN, &["serve", "--port", "0"], &shell.home(), |command| {
        command.current_dir(shell.root.path());
    });
    person.port();
    let pid = until("its entry", || shell.servers().first().copied());
    shell.ok(&["tool", "server_status"]);
    assert_eq!(shell.server(), pid);
}

#[test]
fn a_shell_has_every_tool_also_of_a_server_that_lists_few() {
    let shell = Shell::new();
    let args = ["mcp", "--port", "0", "--toolset", "agent"];
    let mut agent = Process::start_at(BIN, &args, &shell.home(), |command| {
        command.current_dir(shell.project());
    });
    agent.port();
    let pid = until("its entry", || shell.servers().first().copied());
    let text = shell.ok(&["tool", "timeline_note", "text=not among its twenty"]);
    assert!(text.starts_with("noted as seq "), "{text}");
    assert_eq!(shell.server(), pid, "it was the agent's");
    // Of either way to answer that the family has.
    let text = shell.ok(&["tool", "breakpoint_set_exception", "filters=[]"]);
    assert!(!text.contains("no tool"), "{text}");
    let text = shell.ok(&["tool", "breakpoint_list_paused"]);
    assert!(text.starts_with("{\"paused\""), "{text}");
    let (code, text, _) = shell.run(&["tool", "timeline_notes"]);
    assert_eq!(code, 1);
    assert!(text.starts_with("[E_UNKNOWN_TOOL] no tool `timeline_notes`"), "{text}");
}

#[test]
fn two_shells_at_once_start_one_server() {
    let shell = Shell::new();
    let children: Vec<Child> =
        (0..4).map(|_| shell.start(&["tool", "timeline_note", "text=here"])).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    shell.server();
    let (_, json, _) = shell.run(&["tool", "timeline_query", "kinds=note", "--json"]);
    let notes: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(notes["data"]["events"].as_array().unwrap().len(), 4);
}

#[test]
fn every_project_has_its_own_and_a_folder_in_it_shares_it() {
    let shell = Shell::new();
    shell.ok(&["tool", "server_status"]);
    let first = shell.server();
    // A path means what it means to whoever wrote it, wherever the server runs.
    let below = shell.project().join("src");
    let (code, text, stderr) = shell.run_in(&below, &["tool", "debug_launch", "program=app.js"]);
    assert_eq!(code, 0, "{text}{stderr}");
    assert_eq!(shell.server(), first);

    let other = shell.root.path().join("mill");
    std::fs::create_dir(&other).unwrap();
    let (code, text, _) = shell.run_in(&other, &["tool", "debug_status"]);
    assert_eq!((code, shell.servers().len()), (0, 2), "{text}");
    assert!(text.starts_with("no sessions"), "{text}");
    let (_, text, _) = shell.run_in(&other, &["stop", "--all"]);
    assert_eq!(text.matches("ended the server for ").count(), 2, "{text}");
}

#[test]
fn an_idle_server_ends_and_the_next_call_starts_another() {
    let shell = Shell::with_idle("0.3");
    shell.ok(&["tool", "server_status"]);
    until("its end", || shell.servers().is_empty().then_some(()));
    shell.ok(&["tool", "server_status"]);
}

#[test]
fn a_server_with_a_program_is_not_idle() {
    let shell = Shell::with_idle("0.3");
    shell.ok(&["tool", "debug_launch", r#"{"program": "src/app.js"}"#]);
    let server = shell.server();
    // Much longer than its patience; nobody asks for anything meanwhile.
    let since = std::time::Instant::now();
    until("a second", || (since.elapsed().as_secs() >= 1).then_some(()));
    assert_eq!(shell.server(), server);
    shell.ok(&["tool", "debug_stop"]);
    until("its end", || shell.servers().is_empty().then_some(()));
}

#[test]
fn what_a_killed_server_left_is_noticed() {
    let shell = Shell::new();
    shell.ok(&["tool", "debug_launch", r#"{"program": "src/app.js"}"#]);
    let killed = shell.server();
    kill("KILL", killed);
    until("its end", || (!is_running(killed)).then_some(()));
    let text = shell.ok(&["tool", "debug_status"]);
    assert_ne!(shell.server(), killed, "{text}");
}

#[test]
fn a_server_leads_a_session_of_its_own() {
    let shell = Shell::new();
    shell.ok(&["tool", "server_status"]);
    let server = shell.server();
    // `pid (name) state parent group session terminal …`: no terminal can hang up on it.
    let stat = std::fs::read_to_string(format!("/proc/{server}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = rest.split(' ').skip(2).take(3).collect();
    assert_eq!(fields, [&*server.to_string(), &*server.to_string(), "0"], "{stat}");
}

#[test]
fn ctrl_c_cancels_the_call_and_not_the_server() {
    let shell = Shell::with_idle("0.3");
    let waiting = r#"{"since": 1000, "kinds": ["stopped"], "timeout_s": 40}"#;
    let child = shell.start(&["tool", "timeline_query", waiting]);
    until("a server", || shell.servers().first().copied());
    // It would be gone by now if nobody asked for anything.
    let since = std::time::Instant::now();
    until("a second", || (since.elapsed().as_secs() >= 1).then_some(()));
    shell.server();
    kill("INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: interrupted; the call was cancelled\n"
    );
    until("the end of the server, which has nothing more to do", || {
        shell.servers().is_empty().then_some(())
    });
}

#[test]
fn parameters_come_as_json_from_stdin_or_as_pairs() {
    let shell = Shell::new();
    let mut command = shell.command(&shell.project(), &["tool", "timeline_note", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"text": "from stdin"}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("noted as seq "));

    assert!(shell.ok(&["tool", "timeline_query", "kinds=note", "limit=1"]).contains("from stdin"));
    let (code, stdout, stderr) = shell.run(&["tool", "timeline_query", "kinds: note"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(
        stderr.contains("hint: quote them, as in '{\"limit\": 5}', or write limit=5"),
        "{stderr}"
    );
}

#[test]
fn the_list_of_tools_begins_with_how_to_call_one() {
    let shell = Shell::new();
    let text = shell.ok(&["tools"]);
    let first = text.lines().next().unwrap();
    for part in ["holdpoint tool NAME '{json}'", "no set-up", "ten idle minutes", "holdpoint stop"]
    {
        assert!(first.contains(part), "{part}: {first}");
    }
}

/// What each parameter means is to be had without MCP, and what another list names is known.
#[test]
fn a_tool_says_what_it_takes() {
    let shell = Shell::new();
    let folder = shell.project();
    let said = |args: &[&str]| {
        let out = shell.command(&folder, args).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    for args in [&["tools", "record_calls"][..], &["tool", "record_calls", "--help"]] {
        let (code, text) = said(args);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.starts_with("record_calls: Which calls"), "{text}");
        assert!(text.contains("first|last|slowest|ended"), "{text}");
        assert!(text.contains("`cart.py:total`, `cart.py`"), "{text}");
    }
    let (code, text) = said(&["tool", "--help"]);
    assert!(code == Some(0) && text.contains("holdpoint tool") && text.contains("--url"), "{text}");
    assert_eq!(said(&["tools", "recrod_calls"]).0, Some(2));
    let (code, text) = said(&["tool", "more_tools"]);
    assert_eq!(
        (code, text.as_str()),
        (Some(0), "every tool is in the list here; call it by its own name\n")
    );
    let (code, text) = said(&["tool", "more_tools", r#"{"name": "server_status"}"#]);
    assert_eq!(code, Some(0), "{text}");
    let (_, text) = said(&["tool", "timeline_query"]);
    assert!(!text.contains("client_"), "{text}");
}
