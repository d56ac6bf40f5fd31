//! Tools that a workspace brings along: none runs before its user trusts it, one that is wrong says where, and one of
//! each kind is added while nothing is built.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    thread::JoinHandle,
};

use holdpoint_testkit::{
    bridge::Faults,
    process::{command, home},
    rpc::{Rpc, text},
    until,
};
use serde_json::{Value, json};

use crate::described::Window;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// A workspace with a home of its own.
struct Desk {
    workspace: PathBuf,
    home: tempfile::TempDir,
    _folder: Option<tempfile::TempDir>,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().canonicalize().unwrap();
        Desk { workspace, home: home(), _folder: Some(folder) }
    }

    fn at(workspace: &Path) -> Desk {
        Desk { workspace: workspace.to_owned(), home: home(), _folder: None }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.workspace.join(".holdpoint/tools");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
        folder.join(name)
    }

    /// A command in the workspace: exit code and what it said.
    fn run(&self, args: &[&str]) -> (i32, String) {
        let mut command = command(BIN, args, self.home.path());
        let output = command.current_dir(&self.workspace).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    #[track_caller]
    fn trust(&self) -> String {
        let (code, said) = self.run(&["tools", "trust"]);
        assert_eq!(code, 0, "{said}");
        said
    }

    fn server(&self) -> Rpc {
        let (home, workspace) = (self.home.path().to_owned(), self.workspace.clone());
        let mut rpc = Rpc::start_with(BIN, &["mcp", "--port", "0", "--toolset", "agent"], |it| {
            it.env("HOLDPOINT_HOME", &home).env("HOME", &home).current_dir(&workspace);
        });
        rpc.initialize("2025-06-18");
        rpc
    }
}

/// A tool with one text, as a file.
fn file(name: &str, run: &str) -> String {
    format!(
        "name: {name}\ntitle: Own\ndescription: One of the workspace's own.\nwhen_to_use: In this test.\n\
         response: action\ntimeout_ms: 20000\nparameters:\n  \
         text: {{type: string, required: true, description: What to say.}}\n  \
         times: {{type: integer, min: 1, max: 3, default: 1, description: How often.}}\n\
         parameter_hints:\n  text: {{examples: [hello]}}\n  times: {{examples: [2]}}\n\
         examples: [{{text: hello}}]\n\
         safety: {{idempotent: false, read_only: false, destructive: true}}\n\
         errors:\n  E_TOOL_FAILED: {{summary: It failed., retryable: false, hint: Mend the tool.}}\n\
         run: {run}\n"
    )
}

fn tool(rpc: &mut Rpc, name: &str) -> Option<Value> {
    let answer = rpc.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap().clone();
    tools.into_iter().find(|it| it["name"] == name)
}

/// Criterion 6, by a command: its parameters are what the file says, and each value is one argument.
#[test]
fn a_command_is_a_tool_once_it_is_trusted() {
    let desk = Desk::new();
    let run = r#"{shell: {command: [printf, "%s|", "{text}", "n={times}"]}}"#;
    let path = desk.put("text_say.yaml", &file("text_say", run));
    // A cloned repository opens no door.
    let mut rpc = desk.server();
    assert!(tool(&mut rpc, "text_say").is_none());
    let call = json!({ "name": "text_say", "arguments": { "text": "x" } });
    let result = rpc.call("more_tools", call);
    assert!(text(&result).starts_with("[E_UNKNOWN_TOOL]"), "{result}");
    let status = rpc.text("more_tools", json!({ "name": "server_status" }));
    assert!(status.contains("untrusted: `text_say` runs: printf %s| {text} n={times}"), "{status}");
    assert!(status.contains("holdpoint tools trust"), "{status}");
    let (_, stderr) = rpc.finish();
    assert!(stderr.contains("text_say.yaml: untrusted"), "{stderr}");
    let (_, doctor) = desk.run(&["doctor"]);
    assert!(
        doctor.contains("is not trusted") && doctor.contains("fix: holdpoint tools trust"),
        "{doctor}"
    );
    // The user's word.
    assert!(desk.trust().contains("`text_say` runs: printf"));
    assert!(desk.run(&["tools", "list"]).1.contains("trusted"));
    let mut rpc = desk.server();
    let listed = tool(&mut rpc, "text_say").expect("it is listed");
    assert_eq!(listed["inputSchema"]["required"], json!(["text"]));
    assert_eq!(listed["inputSchema"]["properties"]["times"]["type"], "integer");
    assert_eq!(listed["annotations"]["openWorldHint"], true);
    let odd = "a b; $(touch gone) `id` '\"";
    assert_eq!(rpc.text("text_say", json!({ "text": odd, "times": 2 })), format!("{odd}|n=2|"));
    assert!(!desk.workspace.join("gone").exists());
    let result = rpc.call("text_say", json!({ "text": "--version" }));
    assert!(text(&result).contains("would be an option of the command"), "{result}");
    let result = rpc.call("text_say", json!({ "text": "x", "times": 4 }));
    assert!(text(&result).contains("more than 3"), "{result}");
    // What was changed is asked about again.
    fs::write(&path, file("text_say", "{shell: {command: [touch, gone]}}")).unwrap();
    let mut rpc = desk.server();
    assert!(tool(&mut rpc, "text_say").is_none());
    assert!(!desk.workspace.join("gone").exists());
}

#[test]
fn a_command_that_fails_says_how() {
    let desk = Desk::new();
    desk.put(
        "text_fail.yaml",
        &file("text_fail", r#"{shell: {command: [sh, "-c", "echo bad >&2; exit 3"]}}"#),
    );
    desk.put(
        "text_many.yaml",
        &file("text_many", r#"{shell: {command: [sh, "-c", "yes | head -c 3000000; echo end"]}}"#),
    );
    desk.put("text_gone.yaml", &file("text_gone", "{shell: {command: [no-such-program-here]}}"));
    desk.put(
        "text_soft.yaml",
        &file(
            "text_soft",
            r#"{shell: {command: [sh, "-c", "echo '{{\"n\": 1}}'; exit 1"], success: [0, 1]}}"#,
        ),
    );
    desk.trust();
    let mut rpc = desk.server();
    let call = json!({ "text": "x" });
    let result = rpc.call("text_fail", call.clone());
    let told = text(&result);
    assert!(told.starts_with("[E_TOOL_FAILED] `sh` ended with exit code 3: bad"), "{told}");
    assert!(told.ends_with("hint: Mend the tool."), "{told}");
    assert_eq!(result["structuredContent"]["error"]["details"]["exit_code"], 3);
    let told = rpc.text("text_many", call.clone());
    assert!(told.len() < 9_000 && told.contains("end"), "{} bytes", told.len());
    let told = rpc.text("text_gone", call.clone());
    assert!(told.contains("no program `no-such-program-here`"), "{told}");
    let result = rpc.call("text_soft", call);
    assert_eq!(result["structuredContent"]["data"], json!({ "n": 1 }), "{result}");
}

/// The whole tree ends, however it was started.
#[test]
fn the_timeout_of_a_command_ends_all_that_it_started() {
    let desk = Desk::new();
    let script = "setsid sleep 600 & echo $! > child; sleep 600";
    let run = format!("{{shell: {{command: [sh, '-c', '{script}']}}}}");
    desk.put("text_hang.yaml", &file("text_hang", &run).replace("20000", "3000"));
    desk.trust();
    let mut rpc = desk.server();
    let result = rpc.call("text_hang", json!({ "text": "x" }));
    assert!(text(&result).starts_with("[E_TIMEOUT]"), "{result}");
    let child = fs::read_to_string(desk.workspace.join("child")).expect("it began");
    let child = PathBuf::from("/proc").join(child.trim());
    until("the end of the child", || (!child.exists()).then_some(()));
}

/// Answers each connection with the same, and says what it was asked.
fn service(answers: Vec<&'static str>) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(count) = line.to_lowercase().strip_prefix("content-length:") {
                    length = count.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
                head += &line;
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            asked.push(format!(
                "{} {}",
                head.lines().next().unwrap(),
                String::from_utf8(body).unwrap()
            ));
            stream.write_all(answer.as_bytes()).unwrap();
        }
        asked
    });
    (port, thread)
}

#[test]
fn a_request_to_this_machine_is_a_tool() {
    let (port, service) = service(vec![
        "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{\"said\": 7}  ",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone",
        "HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ]);
    let desk = Desk::new();
    let run = format!(
        "{{http: {{method: POST, url: 'http://127.0.0.1:{port}/say/{{text}}', query: {{n: '{{times}}'}}, \
         json: {{text: '{{text}}', times: '{{times}}'}}}}}}"
    );
    desk.put("text_post.yaml", &file("text_post", &run));
    desk.trust();
    let mut rpc = desk.server();
    let result = rpc.call("text_post", json!({ "text": "a/b", "times": 2 }));
    assert_eq!(result["structuredContent"]["data"], json!({ "said": 7 }), "{result}");
    let told = rpc.text("text_post", json!({ "text": "x" }));
    assert!(told.starts_with("[E_TOOL_FAILED] the service answered 404: none"), "{told}");
    let told = rpc.text("text_post", json!({ "text": "x" }));
    assert!(told.contains("answered 302"), "{told}");
    let asked = service.join().unwrap();
    assert_eq!(asked[0], "POST /say/a%2Fb?n=2 HTTP/1.1 {\"text\":\"a/b\",\"times\":2}");
    let told = rpc.text("text_post", json!({ "text": "x" }));
    assert!(told.contains("does not answer"), "{told}");
}

#[test]
fn a_script_of_the_editor_is_a_tool() {
    let window = Window::open(Faults::ours());
    let desk = Desk::at(&window.workspace);
    desk.put("own_script.yaml", &file("own_script", "{bridge: {script: own.script}}"));
    desk.trust();
    let mut rpc = desk.server();
    let result = rpc.call("own_script", json!({ "text": "hello" }));
    let got = &result["structuredContent"]["data"]["got"];
    assert_eq!(*got, json!({ "text": "hello", "times": 1 }), "{result}");
    assert_eq!(window.asked().len(), 1);
}

/// It does not stop the start; three places say what is wrong, and where.
#[test]
fn a_file_that_is_wrong_is_told_of_and_stops_nothing() {
    let desk = Desk::new();
    desk.put("text_good.yaml", &file("text_good", "{shell: {command: [echo, '{text}']}}"));
    let bad = file("text_bad", "{shell: {command: [echo, '{txet}']}}").replace("title:", "titel:");
    let bad = desk.put("text_bad.yaml", &bad);
    desk.put(
        "text_code.yaml",
        &file("text_code", "{bridge: {script: a.b}}").replace("E_TOOL_FAILED", "E_TOL_FAILED"),
    );
    desk.put("debug_launch.yaml", &file("debug_launch", "{shell: {command: [echo]}}"));
    desk.put("text_twin.yaml", &file("text_good", "{shell: {command: [echo]}}"));
    let (code, said) = desk.run(&["tools", "trust"]);
    assert_eq!(code, 1, "{said}");
    let mut rpc = desk.server();
    assert_eq!(rpc.text("text_good", json!({ "text": "x" })), "x");
    let status = rpc.text("more_tools", json!({ "name": "server_status" }));
    let (_, stderr) = rpc.finish();
    let (_, doctor) = desk.run(&["doctor"]);
    for said in [&status, &stderr, &doctor] {
        assert!(
            said.contains("text_bad.yaml") && said.contains("line 2: a tool has no key `titel`"),
            "{said}"
        );
        assert!(said.contains("there is no parameter `txet`; did you mean `text`?"), "{said}");
        assert!(
            said.contains("no failure has the code `E_TOL_FAILED`; did you mean `E_TOOL_FAILED`?"),
            "{said}"
        );
        assert!(said.contains("there is a tool `debug_launch` already"), "{said}");
        assert!(said.contains("there is a tool `text_good` already"), "{said}");
    }
    let bad = bad.display().to_string();
    let (code, said) = desk.run(&["tools", "check", &bad]);
    assert!(code == 1 && said.contains(&format!("{bad}:2: a tool has no key `titel`")), "{said}");
    let good = desk.workspace.join(".holdpoint/tools/text_good.yaml").display().to_string();
    assert_eq!(desk.run(&["tools", "check", &good]), (0, format!("{good}: ok\n")));
}
