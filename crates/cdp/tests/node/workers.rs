//! Worker threads, through the same connection.

use holdpoint_cdp::{
    Closing, Error, Event, Target,
    types::{debugger::Resume, worker::Attached},
};

use crate::harness::{Folder, Node, evaluate, line_of, set_breakpoint};

const MAIN: &str = "\
const { Worker } = require('node:worker_threads');
new Worker(__dirname + '/work er.js', { workerData: 20 });
setInterval(() => {}, 1000);
";

async fn attached(node: &mut Node) -> Attached {
    node.until(|_, event| match event {
        Event::WorkerAttached(attached) => Some((**attached).clone()),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn a_breakpoint_in_a_worker_stops_the_worker() {
    let folder = Folder::new();
    let worker_file = folder.write(
        "work er.js",
        "const { workerData } = require('node:worker_threads');\nconst n = workerData + 1;\nconsole.log('sum', n);\n",
    );
    let program = folder.write("main.js", MAIN);
    let mut node = Node::start_stopped(&program).await;
    node.resume().await;
    let attached = attached(&mut node).await;
    assert!(attached.waiting_for_debugger);
    assert!(attached.worker_info.url.ends_with("er.js"), "{attached:?}");

    let worker = node.client.worker(attached.session_id.clone());
    worker.enable().await.unwrap();
    set_breakpoint(&worker, &worker_file, 3).await;
    worker.run().await.unwrap();
    let (target, mut paused) = node.paused().await;
    assert_eq!(target, Target::Worker(attached.session_id.clone()));
    if paused.reason == "Break on start" {
        worker.send(Resume::default()).await.unwrap();
        (_, paused) = node.paused().await;
    }
    assert_eq!((line_of(&paused), paused.hit_breakpoints.len()), (3, 1));
    let value = evaluate(&worker, &paused.call_frames[0], "n").await;
    assert_eq!(value.value, Some(21.into()));
    // The main thread answers meanwhile, and answers of both find their callers.
    let (of_main, of_worker) = tokio::join!(
        node.client.call("Runtime.evaluate", serde_json::json!({"expression": "'main'"})),
        worker.call("Runtime.evaluate", serde_json::json!({"expression": "'worker'"})),
    );
    assert_eq!(of_main.unwrap()["result"]["value"], "main");
    assert_eq!(of_worker.unwrap()["result"]["value"], "worker");
    // Node reads what goes on to a worker letter by letter, not as the bytes of UTF-8.
    for letters in ["µ", "é…", "…", "😀 µ"] {
        let expression = format!("'{letters}'");
        let call = worker.call("Runtime.evaluate", serde_json::json!({"expression": expression}));
        let answer = tokio::time::timeout(std::time::Duration::from_secs(10), call).await;
        assert_eq!(answer.expect(letters).unwrap()["result"]["value"], *letters);
    }

    worker.send(Resume::default()).await.unwrap();
    let console = node
        .until(|target, event| match event {
            Event::ConsoleApiCalled(console) => Some((target.clone(), console.args.clone())),
            _ => None,
        })
        .await;
    assert_eq!(console.0, target);
    assert_eq!(console.1[1].value, Some(21.into()));
    let ended = node
        .until(|_, event| match event {
            Event::WorkerDetached(detached) => Some(detached.session_id.clone()),
            _ => None,
        })
        .await;
    assert_eq!(ended, attached.session_id);
    let error = worker.run().await.unwrap_err();
    let gone =
        matches!(error, Error::Refused { .. } | Error::Closed { reason: Closing::WorkerEnded });
    assert!(gone, "{error}");
}

#[tokio::test]
async fn workers_of_workers_are_reported_to_the_main_thread() {
    let folder = Folder::new();
    folder.write("work er.js", "const { Worker } = require('node:worker_threads');\nnew Worker(__dirname + '/inner.js');\n");
    folder.write("inner.js", "console.log('inner');\n");
    let program = folder.write("main.js", MAIN);
    let mut node = Node::start_stopped(&program).await;
    node.resume().await;
    for _ in 0..2 {
        let attached = attached(&mut node).await;
        let worker = node.client.worker(attached.session_id);
        worker.enable().await.unwrap();
        worker.run().await.unwrap();
        if attached.waiting_for_debugger {
            let (_, paused) = node.paused().await;
            assert_eq!(paused.reason, "Break on start");
            worker.send(Resume::default()).await.unwrap();
        }
    }
    let text = node
        .until(|_, event| match event {
            Event::ConsoleApiCalled(console) => console.args[0].value.clone(),
            _ => None,
        })
        .await;
    assert_eq!(text, "inner");
}
