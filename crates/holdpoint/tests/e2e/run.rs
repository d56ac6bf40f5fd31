//! `holdpoint run`: an app started by us is the app, and the client is where it can be imported.
//!
//! What the client does then is tested beside it, in `clients/python/tests`.

use std::{io::Write as _, path::Path};

use holdpoint_testkit::{
    process::{Process, run},
    until,
};

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");

fn serve() -> Process {
    let mut server = Process::start(BIN, &["serve", "--port", "0"]);
    server.port();
    server
}

fn python(home: &Path, watch: &[&str], code: &str) -> (i32, String, String) {
    run(BIN, &[&["run"], watch, &["--", "python3", "-c", code]].concat(), home)
}

#[test]
fn without_a_server_the_app_does_not_start() {
    let home = tempfile::tempdir().unwrap();
    let (code, stdout, stderr) = python(home.path(), &[], "print('started')");
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.starts_with("error: no server is running (no port in "), "{stderr}");
    assert!(stderr.contains("hint: start one with `holdpoint serve`"), "{stderr}");
    // A port that a killed server left behind is no server.
    std::fs::write(home.path().join("port"), "9").unwrap();
    let (code, _, stderr) = python(home.path(), &[], "print('started')");
    assert_eq!(code, 1);
    assert!(stderr.starts_with("error: no server is running on port 9"), "{stderr}");
    let url = ["--url", "http://127.0.0.1:9"];
    let (code, _, stderr) = python(home.path(), &url, "print('started')");
    assert_eq!(code, 1);
    assert!(stderr.starts_with("error: no server is running at http://127.0.0.1:9"), "{stderr}");
}

#[test]
fn the_exit_code_and_the_output_are_the_apps() {
    let server = serve();
    let code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)";
    let (code, stdout, stderr) = python(&server.home, &[], code);
    assert_eq!((code, stdout.trim(), stderr.trim()), (7, "out", "err"));
    let (code, _, stderr) = run(BIN, &["run", "--", "no-such-program"], &server.home);
    assert_eq!(code, 1);
    assert!(stderr.starts_with("error: cannot start `no-such-program`"), "{stderr}");
}

/// A server on its way out is entered until its last moment, and is nearer than the one that stays.
#[test]
fn an_app_is_not_led_to_a_server_that_is_ending() {
    let mut server = serve();
    let port = server.port();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let ending = closed.local_addr().unwrap().port();
    drop(closed);
    let folder = server.home.join("servers");
    let file = folder.join(format!("{}.json", server.id()));
    // It is entered a moment after its port is written.
    let text = until("the entry", || std::fs::read_to_string(&file).ok());
    let mut entry: serde_json::Value = serde_json::from_str(&text).unwrap();
    (entry["pid"], entry["port"]) = (1.into(), ending.into());
    entry["started_ms"] = (entry["started_ms"].as_i64().unwrap() + 1).into();
    let mut file = std::fs::File::create(folder.join("1.json")).unwrap();
    file.lock().unwrap();
    file.write_all(entry.to_string().as_bytes()).unwrap();
    let code = "import os; print(os.environ['HOLDPOINT_FOUND'])";
    let (code, stdout, stderr) = python(&server.home, &[], code);
    let expected = format!("http://127.0.0.1:{port}");
    assert_eq!((code, stdout.trim()), (0, expected.as_str()), "{stderr}");
}

#[test]
fn the_client_can_be_imported_also_by_children() {
    let server = serve();
    let code = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', \
                'import os, holdpoint; print(holdpoint.__version__, os.environ[\"HOLDPOINT_WATCH\"])']))";
    let (code, stdout, stderr) =
        python(&server.home, &["--watch", "shop.*", "--watch=app:main,os.path:join"], code);
    let expected = concat!(env!("CARGO_PKG_VERSION"), " shop.*,app:main,os.path:join");
    assert_eq!((code, stdout.trim()), (0, expected), "{stderr}");
    let client = server.home.join("clients").join(concat!("python-", env!("CARGO_PKG_VERSION")));
    assert!(client.join("holdpoint/_boot/sitecustomize.py").is_file());
}

#[test]
fn a_changed_client_is_put_right() {
    let server = serve();
    let file = server.home.join(concat!(
        "clients/python-",
        env!("CARGO_PKG_VERSION"),
        "/holdpoint/_version.py"
    ));
    python(&server.home, &[], "");
    std::fs::write(&file, "VERSION = 'other'").unwrap();
    let (_, stdout, _) =
        python(&server.home, &[], "import holdpoint; print(holdpoint.__version__)");
    assert_eq!(stdout.trim(), env!("CARGO_PKG_VERSION"));
}
