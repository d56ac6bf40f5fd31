//! The debug ports of programs that we launched: whoever is not that program gets nothing there.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
};

use holdpoint_testkit::{debug, rpc::Rpc, user::Second};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

/// The loopback ports at which a process listens.
fn listens(pid: u32) -> BTreeSet<u16> {
    let held: BTreeSet<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .flatten()
        .filter_map(|it| Some(fs::read_link(it.path()).ok()?.to_string_lossy().into_owned()))
        .collect();
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let port = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_its = held.contains(&format!("socket:[{}]", words.get(9)?)) && words[3] == "0A";
        let (_, port) = words[1].split_once(':')?;
        is_its.then(|| u16::from_str_radix(port, 16).ok())?
    };
    table.lines().filter_map(port).collect()
}

/// What comes from a port without a word.
fn hears(port: u16) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(holdpoint_testkit::DEADLINE)).unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).map(drop).unwrap_or_default();
    heard
}

#[test]
fn only_the_program_reaches_the_debug_port_of_its_launch() {
    let mut debug =
        debug::python(BIN, env!("CARGO_TARGET_TMPDIR")).start_with(&["--log-level", "error"]);
    let http = debug.rpc.process.port();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program.py");
    fs::write(&program, "value = 41\nvalue += 1\nprint(value)\n").unwrap();
    debug.launch(&program, json!({}));
    let ports: Vec<u16> =
        listens(debug.rpc.process.id()).into_iter().filter(|port| *port != http).collect();
    assert_eq!(ports.len(), 1, "{ports:?}");
    // Neither another program of the same user nor another user is greeted.
    assert_eq!(hears(ports[0]), b"");
    if let Some(second) = Second::find() {
        assert_eq!(second.run(|| hears(ports[0])), b"");
    }
    assert!(debug.go().text.contains("exit code 0"));
}

/// The first that an inspector says; it does not close its connections.
fn asked(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(holdpoint_testkit::DEADLINE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut answer = vec![0; 64 * 1024];
    let count = stream.read(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

/// A program of Node's, stopped at its first line.
fn node(rpc: &mut Rpc, folder: &Path, text: &str, more: Value) -> PathBuf {
    let program = folder.join("program.js");
    fs::write(&program, text).unwrap();
    let mut arguments = json!({ "program": program });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let params = json!({ "name": "debug_launch", "arguments": arguments });
    let answer = rpc.request("tools/call", params);
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    program
}

#[test]
fn an_inspector_tells_nobody_its_address() {
    let mut rpc = Rpc::connect(BIN, &["mcp", "--port", "0"], "2025-11-25");
    let folder = tempfile::tempdir().unwrap();
    let program = node(&mut rpc, folder.path(), "let a = 1;\na += 1;\n", json!({}));
    let program = program.to_str().unwrap().to_owned();
    let pid = holdpoint_testkit::until("the program", || {
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let mut pids = pids.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
        pids.find(|pid| {
            let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<&str> = line.split('\0').collect();
            words.contains(&program.as_str()) && !words.contains(&"guard")
        })
    });
    let ports = listens(pid);
    assert_eq!(ports.len(), 1, "{ports:?}");
    for port in ports {
        for path in ["/json", "/json/list"] {
            let told = asked(port, path);
            assert!(told.starts_with("HTTP/1.0 4"), "{told}");
            assert!(!told.contains("webSocketDebuggerUrl"), "{told}");
        }
    }
}

/// Neither the program nor what it starts gets what lets its bearer in.
#[test]
fn a_token_is_not_handed_to_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "from-a-file").unwrap();
    for (name, value) in
        [("HOLDPOINT_TOKEN", "very-secret"), ("HOLDPOINT_TOKEN_FILE", file.to_str().unwrap())]
    {
        let mut rpc = Rpc::start_with(BIN, &["mcp", "--port", "0"], |command| {
            command.env(name, value);
        });
        rpc.initialize("2025-11-25");
        let text = "console.log('token:', process.env.HOLDPOINT_TOKEN, process.env.HOLDPOINT_TOKEN_FILE);\n";
        node(&mut rpc, folder.path(), text, json!({ "stop_on_entry": false }));
        let told = holdpoint_testkit::until("the output", || {
            let params = json!({ "name": "debug_output", "arguments": {} });
            let answer = rpc.request("tools/call", params).to_string();
            answer.contains("token:").then_some(answer)
        });
        assert!(told.contains("token: undefined undefined"), "{told}");
    }
}
