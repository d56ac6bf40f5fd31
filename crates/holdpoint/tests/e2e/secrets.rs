//! What is secret reaches no model: not by an answer, a notification, the timeline or a log.

use holdpoint_testkit::{
    calls::Wire,
    debug::{Debug, line, program, python},
    rpc::Rpc,
};
use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// In the programs, in no rule and in nothing of ours.
const SECRET: &str = "swordfish-of-1962";

const LOGIN: &str = "\
import os

class Account:
    def __init__(self, name, password):
        self.name = name
        self.password = password

def login(name, password):
    account = Account(name, password)
    headers = {'Authorization': 'Bearer ' + password, 'Accept': '*/*'}
    token_count = 12
    tokens = ['SELECT', 'FROM']
    print('connecting to postgres://ann:' + password + '@localhost/db')
    if os.environ.get('FAIL'):
        raise ValueError('password=' + repr(password))
    return len(headers) + token_count  # BP: end

print(login('ann', os.environ['DB_PASSWORD']))
";

fn debugged(options: &[&str]) -> (Debug, tempfile::TempDir, std::path::PathBuf) {
    let (folder, file) = program(LOGIN);
    (python(BIN, FOLDER).start_with(options), folder, file)
}

fn with_env(file: &std::path::Path) -> Value {
    json!({
        "env": { "DB_PASSWORD": SECRET, "LANG": "C" }, "stop_on_entry": false,
        "breakpoints": [{ "file": file, "line": line(file, "end") }],
    })
}

/// Every way to a value, and each says that there is one.
#[test]
fn no_answer_has_it() {
    let (mut debug, _folder, file) = debugged(&[]);
    let stopped = debug.launch(&file, with_env(&file)).text;
    assert!(stopped.contains("password = '‹secret str, 17 characters, #"), "{stopped}");
    assert!(stopped.contains("token_count = 12"), "{stopped}");
    let mark = stopped.split_once("characters, #").unwrap().1.split_once('›').unwrap().0.to_owned();
    let mut all = vec![stopped];
    for expression in [
        "password",
        "account.password",
        "account.__dict__",
        "headers",
        "os.environ['DB_PASSWORD']",
        "{'api_key': password}",
    ] {
        let shown = debug.eval(expression);
        assert!(shown.contains(&format!("#{mark}›")), "the same mark for {expression}: {shown}");
        all.push(shown);
    }
    assert!(debug.eval("tokens").contains("'SELECT', 'FROM'"));
    assert!(debug.eval("account.name").contains("'ann'"));
    for (tool, arguments) in [
        ("debug_stack", json!({})),
        ("debug_variables", json!({})),
        ("debug_output", json!({})),
        ("timeline_query", json!({})),
        ("debug_status", json!({})),
    ] {
        all.push(debug.ok(tool, arguments).text);
    }
    let failing = json!({ "env": { "DB_PASSWORD": SECRET, "FAIL": "1" }, "hits": 1 });
    all.push(debug.ok("debug_probe", debug.with_program(&file, failing)).text);
    all.push(debug.go().text);
    let everything = all.join("\n");
    assert!(everything.contains("postgres://ann:‹secret"), "{everything}");
    assert!(everything.contains("ValueError"), "{everything}");
    // What was sent in the meantime, too.
    let told = format!("{everything}{}", json!(debug.rpc.heard));
    assert!(!told.contains(SECRET), "{}", around(&told));
}

fn around(text: &str) -> &str {
    let at = text.find(SECRET).unwrap_or_default();
    text.get(at.saturating_sub(300)..(at + 100).min(text.len())).unwrap_or(text)
}

/// A template may name it or not.
#[test]
fn no_hit_of_a_tracepoint_has_it() {
    let (mut debug, _folder, file) = debugged(&[]);
    let place =
        json!({ "file": file, "line": line(&file, "end"), "log_message": "{password} of {name}" });
    debug.ok("tracepoint_set", place);
    let env = json!({ "env": { "DB_PASSWORD": SECRET }, "stop_on_entry": false });
    debug.launch(&file, env);
    let hits = debug.ok("tracepoint_read", json!({})).text;
    assert!(hits.contains("of ann") || hits.contains("of 'ann'"), "{hits}");
    assert!(hits.contains("‹secret str, 17"), "{hits}");
    let told = format!("{hits}{}", json!(debug.rpc.heard));
    assert!(!told.contains(SECRET), "{}", around(&told));
}

/// Whoever asked for it sees all.
#[test]
fn they_are_shown_where_that_was_asked_for() {
    let (mut debug, _folder, file) = debugged(&["--show-secrets"]);
    let stopped = debug.launch(&file, with_env(&file)).text;
    assert!(stopped.contains(&format!("password = '{SECRET}'")), "{stopped}");
}

/// The file is not to be read for them, and a restart asks.
#[test]
fn a_launch_is_kept_without_them() {
    let (mut debug, _folder, file) = debugged(&[]);
    debug.launch(&file, with_env(&file));
    debug.restart_server(BIN);
    let refused = debug.fails("debug_restart", json!({})).text;
    assert!(refused.contains("DB_PASSWORD") && refused.contains("env"), "{refused}");
    for entry in std::fs::read_dir(debug.home()).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let found = bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
        assert!(!found, "{}", entry.path().display());
    }
    let again = debug.ok("debug_restart", json!({ "env": { "DB_PASSWORD": "another" } })).text;
    assert!(again.contains("‹secret str, 7 characters"), "{again}");
}

/// By the names of its parameters, whichever way they were given; REST has them whole, as the contract says.
#[test]
fn no_record_of_a_call_has_it() {
    let mut rpc = Rpc::connect(BIN, &["mcp", "--port", "0"], "2025-11-25");
    let wire = Wire::new(rpc.process.port());
    let signature = json!({ "signature": "(name, password, *, dry=False)" });
    let body = wire.start_body("login", &[json!("ann"), json!(SECRET)], signature);
    let started = wire.ok("/api/call/start", body);
    wire.complete(&started["call_id"], &json!({ "api_key": SECRET }));
    let whole = wire.get("/api/calls").to_string();
    assert!(whole.contains(SECRET), "{whole}");
    for arguments in [json!({}), json!({ "full": true })] {
        let records = rpc.call("breakpoint_get_call_records", arguments).to_string();
        assert!(
            records.contains("‹secret str, 17 characters") && records.contains("ann"),
            "{records}"
        );
        assert!(!records.contains(SECRET), "{}", around(&records));
    }
}
