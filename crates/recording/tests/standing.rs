//! A frame that a debugger holds, found among the calls that have not ended; and its life so far.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use holdpoint_recording::{
    FrameAsk, Ingest, Recording, StandingFrame, pack,
    stream::{StreamRecord as R, StreamWriter},
};

/// `outer` calls `inner`, which calls itself; in a thread `inner` runs as well.
fn recording() -> Recording {
    let mut writer = StreamWriter::new();
    writer.record(&R::Process(r#"{"language":"python","pid":7}"#.into()));
    let file = writer.file("/a.py");
    let outer = writer.function("outer", (file, 1, 9), 0, &[]);
    let inner = writer.function("inner", (file, 3, 6), 0, &[]);
    let none = writer.value(&holdpoint_recording::Datum::None);
    writer.call(outer, &[]);
    writer.lines(&[1, 1]);
    writer.call(inner, &[]);
    writer.lines(&[1]).record(&R::Return { value: none, ticks: 1 });
    writer.call(inner, &[]);
    writer.lines(&[1]);
    writer.call(inner, &[]);
    writer.lines(&[1, 1]);
    writer.record(&R::Thread { number: 1, name: "worker".into() });
    writer.record(&R::Switch(1));
    writer.call(inner, &[]);
    writer.lines(&[1]);
    writer.flush(1);
    let mut ingest = Ingest::new();
    ingest.push(&writer.take());
    Recording::from_bytes(pack([&ingest], &[], "{}")).unwrap()
}

fn frame(function: &str, line: u32, thread: &str) -> StandingFrame {
    let (file, function, thread) =
        ("/a.py".to_owned(), function.to_owned(), Some(thread.to_owned()));
    StandingFrame { pid: Some(7), file, function, line, thread }
}

#[test]
fn it_is_the_innermost_of_its_thread() {
    let recording = recording();
    let found = |frame| recording.standing(&frame).unwrap().map(|it| it.to_string());
    assert_eq!(found(frame("inner", 4, "main")).as_deref(), Some("#4"));
    assert_eq!(found(frame("inner", 4, "worker")).as_deref(), Some("#5"));
    // Its lines are also those of the function around it.
    assert_eq!(found(frame("outer", 4, "main")).as_deref(), Some("#1"));
    assert_eq!(found(frame("outer", 12, "main")), None);
    assert_eq!(found(StandingFrame { pid: Some(8), ..frame("inner", 4, "main") }), None);
    assert_eq!(
        found(StandingFrame { file: "/b.py".to_owned(), ..frame("inner", 4, "main") }),
        None
    );
}

#[test]
fn its_life_ends_with_where_it_stands() {
    let recording = recording();
    let call = recording.standing(&frame("inner", 5, "main")).unwrap().unwrap();
    let told = recording.frame(&FrameAsk { call, lines: None }).unwrap();
    let lines = told.tell_so_far(200);
    assert!(lines.lines().last().unwrap().starts_with('5'), "{lines}");
}
