//! Messages of real adapters, recorded. Each must be read into its type, and nothing that has a name in
//! our types may get lost on the way.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on should stop where it stands"
)]

use std::{collections::BTreeMap, fs, path::Path};

use expect_test::expect;
use holdpoint_dap::{
    Event, Incoming, Request, Requester,
    codec::encode,
    request::*,
    types::{Capabilities, Empty},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt as _;

struct Recorded {
    adapter: String,
    message: Value,
}

fn recorded() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let adapter = file.file_stem().unwrap().to_str().unwrap().to_owned();
        for line in fs::read_to_string(&file).unwrap().lines() {
            let message = serde_json::from_str(line).unwrap();
            all.push(Recorded { adapter: adapter.clone(), message });
        }
    }
    all
}

#[test]
fn every_message_is_read_and_only_these_fields_are_not_kept() {
    let all = recorded();
    assert_eq!(all.len(), 825);
    let mut lost = BTreeMap::new();
    for Recorded { adapter, message } in &all {
        let body = message.get("body").unwrap_or(&Value::Null);
        let (name, kept) = match message["type"].as_str().unwrap() {
            "event" => (&message["event"], event(message["event"].as_str().unwrap(), body)),
            "response" if message["success"] == true => {
                (&message["command"], answer(message["command"].as_str().unwrap(), body))
            }
            _ => continue,
        };
        let mut find = |path: &str| {
            let adapters: &mut Vec<String> = lost.entry(path.to_owned()).or_default();
            if !adapters.contains(adapter) {
                adapters.push(adapter.clone());
            }
        };
        compare(name.as_str().unwrap(), body, &kept, &mut find);
    }
    let lost: Vec<String> =
        lost.iter().map(|(path, adapters)| format!("{path}: {}\n", adapters.join(" "))).collect();
    expect![[r#"
        capabilities.capabilities.supportsModuleSymbolsRequest: lldb22
        evaluate.name: perl
        initialize.$__lldb_version: lldb22
        initialize.__lldb: lldb19
        initialize.additionalModuleColumns: jsdebug perl
        initialize.supportedChecksumAlgorithms: jsdebug perl
        initialize.supportsDebuggerProperties: debugpy jsdebug
        initialize.supportsEvaluationOptions: jsdebug
        initialize.supportsModuleSymbolsRequest: lldb22
        initialize.supportsProgressReporting: lldb19
        initialize.supportsRunInTerminalRequest: lldb19
        initialize.supportsSetSymbolOptions: jsdebug
        module.module.debugInfoSize: lldb22
        stackTrace.stackFrames[].frame_ref: perl
        stackTrace.stackFrames[].package: perl
        stopped.threadCausedFocus: lldb19 lldb22
        terminated.$__lldb_statistics: lldb22
        variables.variables[].$__lldb_extensions: lldb19
        variables.variables[].id: lldb19
    "#]]
    .assert_eq(&lost.concat());
}

/// Reads a body as its request's and writes it again.
fn answer(command: &str, body: &Value) -> Value {
    match command {
        "initialize" => read::<Initialize>(body),
        "launch" => read::<Launch>(body),
        "attach" => read::<Attach>(body),
        "configurationDone" => read::<ConfigurationDone>(body),
        "disconnect" => read::<Disconnect>(body),
        "setBreakpoints" => read::<SetBreakpoints>(body),
        "setExceptionBreakpoints" => read::<SetExceptionBreakpoints>(body),
        "continue" => read::<Continue>(body),
        "next" => read::<Next>(body),
        "stackTrace" => read::<StackTrace>(body),
        "scopes" => read::<Scopes>(body),
        "variables" => read::<Variables>(body),
        "evaluate" => read::<Evaluate>(body),
        other => panic!("`{other}` is not checked"),
    }
}

fn read<R: Request<Body: Serialize>>(body: &Value) -> Value {
    let body = if body.is_null() { Value::Object(Map::new()) } else { body.clone() };
    match serde_json::from_value::<R::Body>(body.clone()) {
        Ok(read) => json!(read),
        Err(problem) => panic!("{}: {problem}: {body}", R::COMMAND),
    }
}

fn event(event: &str, body: &Value) -> Value {
    match Event::read(event, body).unwrap() {
        Event::Initialized => json!(Empty),
        Event::Stopped(it) => json!(it),
        Event::Continued(it) => json!(it),
        Event::Exited(it) => json!(it),
        Event::Terminated(it) => json!(it),
        Event::Thread(it) => json!(it),
        Event::Output(it) => json!(it),
        Event::Breakpoint(it) => json!(it),
        Event::Module(it) => json!(it),
        Event::LoadedSource(it) => json!(it),
        Event::Process(it) => json!(it),
        Event::Capabilities(it) => json!({"capabilities": it.apply_to(&Capabilities::default())}),
        Event::Invalidated(it) => json!(it),
        Event::Memory(it) => json!(it),
        Event::Other { event, body } => {
            assert_eq!(event, "debugpySockets", "an event of ours was not known");
            body
        }
    }
}

/// Names every field that was sent and is not the same in what we read.
fn compare(path: &str, sent: &Value, kept: &Value, lost: &mut impl FnMut(&str)) {
    match (sent, kept) {
        (Value::Null, _) => {}
        (Value::Object(sent), Value::Null) if !sent.is_empty() => lost(path),
        (Value::Object(sent), kept) => {
            for (name, sent) in sent {
                let kept = kept.get(name).unwrap_or(&Value::Null);
                compare(&format!("{path}.{name}"), sent, kept, lost);
            }
        }
        (Value::Array(sent), Value::Array(kept)) if sent.len() == kept.len() => {
            for (sent, kept) in sent.iter().zip(kept) {
                compare(&format!("{path}[]"), sent, kept, lost);
            }
        }
        // A module's number is a text with us.
        (Value::Number(number), Value::String(text)) if *text == number.to_string() => {}
        (sent, kept) if sent == kept => {}
        _ => lost(path),
    }
}

#[tokio::test]
async fn all_of_them_in_one_stream_come_through_the_client() {
    let all = recorded();
    let (ours, mut theirs) = tokio::io::duplex(1000);
    let (read, write) = tokio::io::split(ours);
    let (client, mut inbox) = Requester::start(read, write, None);
    let stream: Vec<u8> = all.iter().flat_map(|it| encode(&it.message)).collect();
    let adapter = tokio::spawn(async move {
        theirs.write_all(&stream).await.unwrap();
        theirs
    });
    let count = |kind: &str| all.iter().filter(|it| it.message["type"] == kind).count();
    let (mut events, mut requests) = (0, 0);
    while events + requests < count("event") + count("request") {
        match inbox.next().await.unwrap() {
            Incoming::Event(_) => events += 1,
            Incoming::Request(_) => requests += 1,
            Incoming::Closed(reason) => panic!("{reason}"),
        }
    }
    drop(adapter.await.unwrap());
    let Some(Incoming::Closed(_)) = inbox.next().await else { panic!("not closed") };
    assert_eq!((events, requests), (count("event"), 1));
    let counts = client.counts();
    assert_eq!((counts.malformed, counts.garbage), (0, 0));
    assert_eq!(counts.stray_answers, count("response") as u64);
}
