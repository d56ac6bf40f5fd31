//! How a connection begins, how fast it is, and how it ends.

use std::time::{Duration, Instant};

use holdpoint_cdp::{
    Closing, Error, Event, Incoming, Limits, Requester, Target,
    discover::targets,
    types::{debugger::Enable, runtime::Evaluate},
};

use crate::harness::{DEADLINE, Folder, Node, Process, evaluate};

#[tokio::test]
async fn a_thousand_evaluations_are_not_delayed() {
    let folder = Folder::new();
    let program = folder.write("stay.js", "let a = 1;\na++;\n");
    let mut node = Node::start(&program).await;
    node.client.run().await.unwrap();
    let (_, paused) = node.paused().await;
    let mut times = Vec::new();
    for _ in 0..1000 {
        let started = Instant::now();
        evaluate(&node.client, &paused.call_frames[0], "a").await;
        times.push(started.elapsed());
    }
    times.sort();
    println!("evaluate: median {:?}, p99 {:?}, worst {:?}", times[500], times[990], times[999]);
    assert!(times[500] < Duration::from_millis(20), "{:?}", times[500]);
}

#[tokio::test]
async fn a_port_tells_what_it_offers() {
    let folder = Folder::new();
    let program = folder.write("stay.js", "let a = 1;\n");
    let (_process, url) = Process::start(&program, &[]);
    let port: u16 = url.split([':', '/']).nth(4).unwrap().parse().unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let offered = targets(host, port, DEADLINE).await.unwrap();
        assert_eq!(offered.len(), 1);
        assert_eq!(offered[0].kind, "node");
        let (client, _inbox) =
            Requester::connect(&offered[0].web_socket_debugger_url, Limits::default())
                .await
                .unwrap();
        client.send(Enable::default()).await.unwrap();
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_said_so() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let error = targets("127.0.0.1", port, DEADLINE).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    let url = format!("ws://127.0.0.1:{port}/x");
    let error = Requester::connect(&url, Limits::default()).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    for url in ["http://127.0.0.1:1/x", "ws://", "nonsense", "ws://127.0.0.1/x"] {
        let error = Requester::connect(url, Limits::default()).await.unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{url}: {error}");
    }
}

#[tokio::test]
async fn a_port_that_says_nothing_is_given_up_in_time() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let soon = Duration::from_millis(50);
    let error = targets("127.0.0.1", port, soon).await.unwrap_err();
    assert!(error.to_string().contains("in time"), "{error}");
    let limits = Limits { connect: soon, ..Limits::default() };
    let error = Requester::connect(&format!("ws://127.0.0.1:{port}/x"), limits).await.unwrap_err();
    assert!(error.to_string().contains("in time"), "{error}");
}

#[tokio::test]
async fn the_end_of_a_context_is_not_the_end_and_the_end_is_told() {
    let folder = Folder::new();
    let text = "\
const vm = require('node:vm');
for (let i = 0; i < 50; i++) vm.runInNewContext('1 + 1');
globalThis.gc();
setImmediate(() => { globalThis.gc(); console.log('still here'); });
process.exitCode = 7;
";
    let program = folder.write("contexts.js", text);
    let mut node = Node::start_with(&program, &["--expose-gc"], Limits::default()).await;
    node.client.run().await.unwrap();
    node.paused().await;
    node.resume().await;
    let console = node
        .until(|_, event| match event {
            Event::ConsoleApiCalled(console) => console.args[0].value.clone(),
            _ => None,
        })
        .await;
    assert_eq!(console, "still here");
    let over =
        |_: &Target, event: &Event| matches!(event, Event::WaitingForDisconnect).then_some(());
    node.until(over).await;
    node.client.close().await;
    assert_eq!(node.process.exit().await.code(), Some(7));
    assert!(matches!(node.next().await, Incoming::Closed(Closing::Ours)));
    assert!(node.inbox.next().await.is_none());
}

#[tokio::test]
async fn a_killed_program_closes_everything_once() {
    let folder = Folder::new();
    let program = folder.write("stay.js", "let a = 1;\n");
    let mut node = Node::start_stopped(&program).await;
    let client = node.client.clone();
    let endless = tokio::spawn(async move {
        client.call("Runtime.evaluate", serde_json::json!({"expression": "for(;;);"})).await
    });
    node.client.send(Evaluate::default()).await.map(drop).unwrap_or_default();
    node.process.0.kill().unwrap();
    let error = endless.await.unwrap();
    assert!(matches!(error, Err(Error::Closed { .. })), "{error:?}");
    loop {
        if let Incoming::Closed(reason) = node.next().await {
            assert_ne!(reason, Closing::Ours);
            break;
        }
    }
    assert!(node.inbox.next().await.is_none());
    let error = node.client.run().await.unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
}

#[tokio::test]
async fn a_flood_of_console_events_is_accounted_for() {
    let folder = Folder::new();
    let text = "for (let i = 0; i < 3000; i++) console.log(i);\ndebugger;\n";
    let program = folder.write("flood.js", text);
    let limits = Limits { inbox_kilobytes: 1024, ..Limits::default() };
    let mut node = Node::start_with(&program, &[], limits).await;
    node.client.run().await.unwrap();
    node.paused().await;
    node.resume().await;
    // Nobody takes events, and calls are answered all the same.
    let evaluated = node.client.call("Runtime.evaluate", serde_json::json!({"expression": "1"}));
    assert_eq!(evaluated.await.unwrap()["result"]["value"], 1);
    let (mut seen, mut dropped) = (0, 0);
    loop {
        match node.next().await {
            Incoming::Event { event: Event::ConsoleApiCalled(_), .. } => seen += 1,
            Incoming::Event { event: Event::Paused(_), .. } => break,
            Incoming::Event { .. } => {}
            Incoming::Dropped { console_events } => dropped += console_events,
            Incoming::Closed(reason) => panic!("{reason}"),
        }
    }
    assert_eq!(seen + dropped, 3000);
    assert!(seen > 0 && dropped > 0, "the inbox was never full: {seen} seen, {dropped} dropped");
    println!("console flood: {seen} seen, {dropped} dropped");
}
