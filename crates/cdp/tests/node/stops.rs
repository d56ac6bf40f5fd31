//! Breakpoints, steps, scopes, exceptions, evaluation.

use std::{os::unix::fs::symlink, path::Path};

use holdpoint_cdp::{
    Event, UserFile,
    types::{
        debugger::{PauseOn, SetAsyncCallStackDepth, SetPauseOnExceptions, StepOver},
        runtime::{Evaluate, TerminateExecution},
    },
};

use crate::harness::{Folder, Node, evaluate, line_of, scopes, set_breakpoint};

#[tokio::test]
async fn the_entry_stop_comes_every_time() {
    let folder = Folder::new();
    let program = folder.write("entry.js", "// A comment first.\nconst a = 1;\n");
    for _ in 0..20 {
        let mut node = Node::start(&program).await;
        node.client.run().await.unwrap();
        let (_, paused) = node.paused().await;
        assert_eq!((line_of(&paused), paused.reason.as_str()), (2, "Break on start"));
    }
}

const LOOP: &str = "\
function total(orders) {
  let sum = 0;
  for (const order of orders) {
    const value = order * 2;
    sum += value;
  }
  return sum;
}
console.log(total([1, 2]));
";

#[tokio::test]
async fn a_stop_shows_frames_scopes_and_values_and_steps() {
    let folder = Folder::new();
    let program = folder.write("loop.js", LOOP);
    let mut node = Node::start_stopped(&program).await;
    let set = set_breakpoint(&node.client, &program, 5).await;
    assert_eq!(set.locations.len(), 1);
    node.resume().await;

    let (_, paused) = node.paused().await;
    assert_eq!(line_of(&paused), 5);
    assert_eq!(paused.hit_breakpoints, [set.breakpoint_id]);
    let frame = &paused.call_frames[0];
    assert_eq!(frame.function_name, "total");
    assert_eq!(evaluate(&node.client, frame, "sum + value").await.value, Some(2.into()));
    let seen = scopes(&node.client, frame).await;
    assert_eq!(seen[..3], ["block: value=2", "block: order=1", "local: orders=Array(2), sum=0"]);

    node.client.send(StepOver {}).await.unwrap();
    let (_, paused) = node.paused().await;
    assert_eq!(line_of(&paused), 3);
    assert!(paused.hit_breakpoints.is_empty());
    node.resume().await;
    let (_, paused) = node.paused().await;
    assert_eq!(line_of(&paused), 5);
    let frame = &paused.call_frames[0];
    evaluate(&node.client, frame, "sum = 100").await;
    assert_eq!(evaluate(&node.client, frame, "sum").await.value, Some(100.into()));
}

#[tokio::test]
async fn paths_that_need_escaping_and_links_are_found_loaded_or_not() {
    let folder = Folder::new();
    // Node 20 itself loses backslashes, tabs and line ends in the URL of a CommonJS file.
    for name in ["a b", "é日本😀", "100%", "%41", "a#b?c", "[x]^{y}|z", "q'\"`<>"] {
        let module =
            folder.write(&format!("{name}/mod.js"), "exports.f = () => {\n  return 1;\n};\n");
        let quoted = serde_json::to_string(module.to_str().unwrap()).unwrap();
        let text = format!("require({quoted}).f();\n");
        let program = folder.write(&format!("{name}/main.js"), &text);
        let link = folder.path().join("link");
        if link.exists() {
            std::fs::remove_file(&link).unwrap();
        }
        symlink(module.parent().unwrap(), &link).unwrap();
        stops_in(&program, &link.join("mod.js"), &module).await;
    }
}

async fn stops_in(program: &Path, named: &Path, real: &Path) {
    let mut node = Node::start_stopped(program).await;
    let set = set_breakpoint(&node.client, named, 2).await;
    assert!(set.locations.is_empty(), "not loaded yet");
    node.resume().await;
    let (_, paused) = node.paused().await;
    let url = real.display();
    assert_eq!(
        (line_of(&paused), &paused.hit_breakpoints[..]),
        (2, &[set.breakpoint_id][..]),
        "{url}"
    );
    let place = node.sources.place(&paused.call_frames[0].location).unwrap();
    assert_eq!(place.file.as_deref(), Some(real), "{url}");
    assert_eq!(node.sources.scripts().of_file(&UserFile::new(named)).len(), 1, "{url}");
    // Set again, now that it is loaded: bound at once.
    let main = set_breakpoint(&node.client, program, 1).await;
    assert_eq!(main.locations.len(), 1, "{url}");
}

#[tokio::test]
async fn a_module_that_is_loaded_again_stops_in_each_generation() {
    let folder = Folder::new();
    let module = folder.write("mod.mjs", "export const at = import.meta.url;\nglobalThis.n = 1;\n");
    let program = folder
        .write("main.mjs", "await import('./mod.mjs?v=1');\nawait import('./mod.mjs?v=2#x');\n");
    let mut node = Node::start_stopped(&program).await;
    set_breakpoint(&node.client, &module, 2).await;
    for _ in 0..2 {
        node.resume().await;
        let (_, paused) = node.paused().await;
        assert_eq!(line_of(&paused), 2);
    }
    let scripts = node.sources.scripts().of_file(&UserFile::new(&module));
    let urls: Vec<&str> = scripts.iter().filter_map(|s| s.url.rsplit('/').next()).collect();
    assert_eq!(urls, ["mod.mjs?v=1", "mod.mjs?v=2#x"]);
}

#[tokio::test]
async fn an_uncaught_exception_stops_with_its_reason() {
    let folder = Folder::new();
    let text = "try { throw 1 } catch {}\nfunction f() {\n  throw new TypeError('bad');\n}\nf();\n";
    let program = folder.write("throws.js", text);
    let mut node = Node::start_stopped(&program).await;
    node.client.send(SetPauseOnExceptions { state: PauseOn::Uncaught }).await.unwrap();
    node.resume().await;
    let (_, paused) = node.paused().await;
    assert_eq!((line_of(&paused), paused.reason.as_str()), (3, "exception"));
    let data = paused.data.unwrap();
    assert_eq!(data["className"], "TypeError");
    assert_eq!(data["uncaught"], true);
    node.resume().await;
    let thrown = node
        .until(|_, event| match event {
            Event::ExceptionThrown(thrown) => Some(thrown.exception_details.clone()),
            _ => None,
        })
        .await;
    assert_eq!(thrown.exception.unwrap().class_name.as_deref(), Some("TypeError"));
}

#[tokio::test]
async fn an_async_stack_names_what_scheduled_it() {
    let folder = Folder::new();
    let text = "async function inner() {\n  await null;\n  return 1;\n}\nasync function outer() {\n  await inner();\n}\nouter();\n";
    let program = folder.write("async.js", text);
    let mut node = Node::start_stopped(&program).await;
    node.client.send(SetAsyncCallStackDepth { max_depth: 8 }).await.unwrap();
    set_breakpoint(&node.client, &program, 3).await;
    node.resume().await;
    let (_, paused) = node.paused().await;
    assert_eq!(paused.call_frames[0].function_name, "inner");
    let parent = paused.async_stack_trace.unwrap();
    assert_eq!(parent.description.as_deref(), Some("await"));
    assert_eq!(parent.call_frames[0].function_name, "outer");
}

#[tokio::test]
async fn an_endless_evaluation_can_be_ended_and_the_stop_stays_usable() {
    let folder = Folder::new();
    let program = folder.write("stay.js", "let a = 1;\na++;\n");
    let mut node = Node::start(&program).await;
    node.client.run().await.unwrap();
    let (_, paused) = node.paused().await;
    let frame = &paused.call_frames[0];
    let client = node.client.clone();
    let mut command = holdpoint_cdp::types::debugger::EvaluateOnCallFrame::new(
        frame.call_frame_id.clone(),
        "for (;;) {}",
    );
    command.timeout = Some(50.0);
    let limited = client.send(command.clone()).await;
    assert!(limited.is_err() || limited.unwrap().exception_details.is_some());

    command.timeout = None;
    let endless = tokio::spawn({
        let client = client.clone();
        async move { client.send(command).await }
    });
    client.send(TerminateExecution {}).await.unwrap();
    drop(endless.await.unwrap());
    let value = evaluate(&client, frame, "1 + 1").await.value;
    assert_eq!(value, Some(2.into()));
}

#[tokio::test]
async fn strings_that_rust_cannot_hold_and_large_ones_arrive() {
    let folder = Folder::new();
    let program = folder.write("strings.js", "let a = 1;\n");
    let node = Node::start_stopped(&program).await;
    let value = async |expression: &str| {
        let command = Evaluate {
            expression: expression.into(),
            return_by_value: true,
            ..Evaluate::default()
        };
        node.client.send(command).await.map(|answer| answer.result.value)
    };
    assert_eq!(value("'a\\ud83d' + 'b'").await.unwrap(), Some("a\u{fffd}b".into()));
    assert_eq!(value("'\\ud83d\\ude00'").await.unwrap(), Some("😀".into()));
    let large = value("'x'.repeat(20e6)").await.unwrap().unwrap();
    assert_eq!(large.as_str().unwrap().len(), 20_000_000);
    let deep =
        value("(() => { let a = 1; for (let i = 0; i < 300; i++) a = [a]; return a; })()").await;
    assert!(matches!(deep, Err(holdpoint_cdp::Error::Malformed { .. })), "{deep:?}");
    assert_eq!(value("1").await.unwrap(), Some(1.into()), "the connection lives on");
}
