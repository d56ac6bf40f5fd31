//! Where exceptions end: caught, seen by another name, gone further, told to a log.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use holdpoint_recording::{
    Datum, Ingest, Recording, pack,
    stream::{StreamRecord as R, StreamWriter},
};

/// `outer` calls `inner`, which raises; `then` says what comes of it.
fn told(then: impl Fn(&mut StreamWriter, u32, u32)) -> (u64, u64, usize) {
    let mut writer = StreamWriter::new();
    writer.record(&R::Process(r#"{"language":"python"}"#.into()));
    let file = writer.file("/a.py");
    let outer = writer.function("outer", (file, 1, 9), 0, &[]);
    let inner = writer.function("inner", (file, 11, 19), 0, &[]);
    let kind = writer.string("KeyError");
    let one = |object| Datum::Exception { object, kind, message: "x".to_owned(), bases: vec![] };
    let (first, second) = (writer.value(&one(1)), writer.value(&one(2)));
    writer.call(outer, &[]);
    writer.lines(&[1]);
    writer.call(inner, &[]);
    writer.lines(&[1]).record(&R::Raise(first));
    then(&mut writer, first, second);
    writer.record(&R::End("{}".into()));
    let mut ingest = Ingest::new();
    ingest.push(&writer.take());
    let overview = Recording::from_bytes(pack([&ingest], &[], "{}")).unwrap().overview().unwrap();
    (overview.raised, overview.swallowed, overview.swallowed_shown.len())
}

fn unwind(value: u32) -> R<'static> {
    R::Unwind { value, ticks: 1 }
}

#[test]
fn an_exception_ends_where_it_is_caught() {
    // By its own frame, told and untold; by the caller.
    assert_eq!(
        told(|it, e, _| {
            it.record(&R::Handled(e)).lines(&[2]);
        }),
        (1, 1, 1)
    );
    assert_eq!(
        told(|it, _, _| {
            it.lines(&[2]);
        }),
        (1, 1, 1)
    );
    assert_eq!(
        told(|it, e, _| {
            it.record(&unwind(e)).record(&R::Raise(e)).record(&R::Handled(e)).lines(&[2]);
        }),
        (1, 1, 1)
    );
    assert_eq!(
        told(|it, e, _| {
            it.record(&unwind(e)).record(&R::Raise(e)).lines(&[2]);
        }),
        (1, 1, 1)
    );
    // By code that is not recorded.
    assert_eq!(
        told(|it, e, _| {
            it.record(&unwind(e)).lines(&[2]);
        }),
        (1, 0, 0)
    );
    // By nobody.
    assert_eq!(
        told(|it, e, _| {
            it.record(&unwind(e)).record(&unwind(e));
        }),
        (1, 0, 0)
    );
}

#[test]
fn what_goes_on_is_not_swallowed() {
    // `finally`, and `raise`.
    assert_eq!(
        told(|it, e, _| {
            it.record(&R::Handled(e)).lines(&[2]).record(&unwind(e)).record(&unwind(e));
        }),
        (1, 0, 0)
    );
    assert_eq!(
        told(|it, e, _| {
            it.record(&R::Handled(e))
                .lines(&[2])
                .record(&R::Raise(e))
                .record(&unwind(e))
                .record(&unwind(e));
        }),
        (1, 0, 0)
    );
    // `raise Other from error`.
    assert_eq!(
        told(|it, e, other| {
            it.record(&R::Handled(e))
                .lines(&[2])
                .record(&R::Raise(other))
                .record(&unwind(other))
                .record(&unwind(other));
        }),
        (2, 0, 0)
    );
}

#[test]
fn what_is_told_to_a_log_is_not_swallowed() {
    let log = |it: &mut StreamWriter, e, _| {
        it.record(&R::Handled(e)).lines(&[2]);
        let (name, result) = (it.string("logging.Logger.warning"), it.none());
        it.record(&R::Leaf { name, arguments: vec![], result }).lines(&[1]);
    };
    assert_eq!(told(log), (1, 0, 0));
}

/// A recorder that keeps calls alone has kept what it could, and that is not all.
#[test]
fn calls_alone_are_not_said_to_be_complete() {
    let text = |process: &'static str| {
        let mut writer = StreamWriter::new();
        writer.record(&R::Process(process.into()));
        let file = writer.file("/a.py");
        let rate = writer.function("rate", (file, 1, 9), 0, &[]);
        let kind = writer.string("KeyError");
        let raised = Datum::Exception { object: 1, kind, message: "x".to_owned(), bases: vec![] };
        let (raised, none) = (writer.value(&raised), writer.value(&Datum::None));
        writer.call(rate, &[]);
        writer.record(&R::Raise(raised));
        writer.record(&R::Return { value: none, ticks: 1 }).record(&R::End("{}".into()));
        let mut ingest = Ingest::new();
        ingest.push(&writer.take());
        let recording = Recording::from_bytes(pack([&ingest], &[], "{}")).unwrap();
        recording.overview().unwrap().tell("", "", 0, 600)
    };
    let calls = text(r#"{"language":"python","way":"pure","level":"calls"}"#);
    assert!(calls.contains("`focus`") && !calls.contains("\ncomplete"), "{calls}");
    assert!(calls.contains("swallowed 1"), "{calls}");
    let native = text(r#"{"language":"python","way":"native"}"#);
    assert!(native.contains("\ncomplete"), "{native}");
}
