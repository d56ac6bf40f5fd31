//! Answers that led astray: times of what was never resumed, and calls on which nothing had failed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use holdpoint_recording::{
    BUDGET, CallOrder, CallsAsk, CallsForm, Datum, Ingest, KeptSource, Recording, pack,
    stream::{StreamRecord as R, StreamWriter},
};

fn opened(writer: &mut StreamWriter, source: &str) -> Recording {
    let mut ingest = Ingest::new();
    ingest.push(&writer.take());
    let source = KeptSource { path: "/app/a.py".to_owned(), text: source.into(), is_same: true };
    Recording::from_bytes(pack([&ingest], &[source], "{}")).unwrap()
}

fn begun() -> StreamWriter {
    let mut writer = StreamWriter::new();
    let process = r#"{"language":"python","ticks_ns":1000000,"cwd":"/app"}"#;
    writer.record(&R::Process(process.into()));
    writer
}

fn told(recording: &Recording, ask: &CallsAsk) -> String {
    recording.calls(ask).unwrap().tell(ask, BUDGET)
}

/// `main` calls a generator that it leaves, a slow one and a quick one.
fn left() -> Recording {
    let mut writer = begun();
    let file = writer.file("/app/a.py");
    let main = writer.function("main", (file, 1, 9), 0, &[]);
    let items = writer.function("items", (file, 11, 19), 0, &[]);
    let slow = writer.function("slow", (file, 21, 29), 0, &[]);
    let none = writer.none();
    writer.call(main, &[]);
    writer.call(items, &[]);
    writer.record(&R::Yield { value: none, ticks: 1 });
    writer.call(slow, &[]);
    writer.record(&R::Return { value: none, ticks: 20 });
    writer.record(&R::Return { value: none, ticks: 300 }).record(&R::End("{}".into()));
    opened(&mut writer, "")
}

#[test]
fn what_was_never_resumed_has_no_time_and_no_rank() {
    let recording = left();
    let count = CallsAsk { form: Some(CallsForm::Count), ..CallsAsk::default() };
    let counted = told(&recording, &count);
    assert!(counted.contains("\n1  items  suspended\n"), "{counted}");
    assert!(counted.contains("next    record_calls {\"function\": \""), "{counted}");
    let slowest = CallsAsk { order: CallOrder::Slowest, ..CallsAsk::default() };
    let rows = recording.calls(&slowest).unwrap().rows;
    let names: Vec<&str> = rows.iter().map(|it| it.call.function.as_str()).collect();
    assert_eq!(names, ["main", "slow", "items"]);
    let long = CallsAsk { condition: Some("ms > 5".to_owned()), ..CallsAsk::default() };
    let long = told(&recording, &long);
    assert!(long.starts_with("3 calls, 2 with ms > 5"), "{long}");
    let tree = told(&recording, &CallsAsk::default());
    assert!(tree.contains("items() → (suspended, not resumed)\n"), "{tree}");
}

#[test]
fn calls_can_be_had_in_the_order_of_their_ends() {
    let ended = CallsAsk { order: CallOrder::Ended, ..CallsAsk::default() };
    let recording = left();
    let rows = recording.calls(&ended).unwrap().rows;
    let names: Vec<&str> = rows.iter().map(|it| it.call.function.as_str()).collect();
    assert_eq!(names, ["slow", "main", "items"]);
    assert!(told(&recording, &ended).starts_with("3 calls, as they ended\n"));
}

#[test]
fn a_file_names_its_functions() {
    let recording = left();
    for name in ["a.py", "app/a.py", "a.py:*"] {
        let ask = CallsAsk { function: Some(name.to_owned()), ..CallsAsk::default() };
        assert_eq!(recording.calls(&ask).unwrap().matched, 3, "{name}");
    }
    let ask = CallsAsk { condition: Some("file == 'a.py'".to_owned()), ..CallsAsk::default() };
    assert_eq!(recording.calls(&ask).unwrap().matched, 3);
    let ask = CallsAsk { function: Some(".py".to_owned()), ..CallsAsk::default() };
    assert!(recording.calls(&ask).is_err());
}

const TEST: &str = "\
def test():
    first = make()
    other()
    assert first == 3
";

/// A test that calls `make` and `other` and then compares: what it is led to.
fn led(source: &str, made: i64) -> (String, String) {
    let mut writer = begun();
    let file = writer.file("/app/a.py");
    let test = writer.function("test", (file, 1, 4), 0, &["first"]);
    let make = writer.function("make", (file, 11, 19), 0, &[]);
    let other = writer.function("other", (file, 21, 29), 0, &[]);
    let begin = r#"{"name":"a.py::test","phase":"begin"}"#;
    let end = r#"{"name":"a.py::test","phase":"end","outcome":"failed","message":"assert"}"#;
    let kind = writer.string("AssertionError");
    let wrong = Datum::Exception { object: 1, kind, message: "assert".to_owned(), bases: vec![] };
    let (wrong, two, made, five) =
        (writer.value(&wrong), writer.integer(2), writer.integer(made), writer.integer(5));
    writer.record(&R::Test(begin.into()));
    writer.call(test, &[]);
    writer.lines(&[1]);
    writer.call(make, &[]);
    writer.ret(made);
    writer.write(0, two).lines(&[1]);
    writer.call(other, &[]);
    writer.ret(five).lines(&[1]).record(&R::Raise(wrong));
    writer.record(&R::Unwind { value: wrong, ticks: 1 });
    writer.record(&R::Test(end.into())).record(&R::End(r#"{"exit":1}"#.into()));
    let text = opened(&mut writer, source).overview().unwrap().tell("", "", 0, BUDGET);
    let line = |begins: &str| text.lines().find(|it| it.starts_with(begins)).unwrap().to_owned();
    (line("path"), line("next"))
}

#[test]
fn a_failed_comparison_leads_to_the_call_whose_result_it_has() {
    let (path, next) = led(TEST, 2);
    assert_eq!(path, "path    test() #1, answered by make() #2 → 2");
    assert_eq!(next, "next    record_frame {\"call\": \"#2\"}");
}

#[test]
fn a_comparison_of_what_no_call_returned_leads_to_its_own_frame() {
    let (path, next) = led(TEST, 7);
    assert_eq!(path, "path    test() #1");
    assert_eq!(next, "next    record_frame {\"call\": \"#1\"}");
}

/// Who tries, and handles it at once, does so as a matter of course where nothing failed.
#[test]
fn a_run_that_went_well_leads_to_no_miss_of_a_cache() {
    let next = |is_elsewhere: bool| {
        let mut writer = begun();
        let file = writer.file("/app/a.py");
        let main = writer.function("main", (file, 1, 9), 0, &[]);
        let find = writer.function("find", (file, 11, 19), 0, &[]);
        let kind = writer.string("KeyError");
        let miss = Datum::Exception { object: 1, kind, message: "x".to_owned(), bases: vec![] };
        let (miss, none) = (writer.value(&miss), writer.none());
        writer.call(main, &[]);
        writer.lines(&[1]);
        writer.call(find, &[]);
        writer.lines(&[1]).record(&R::Raise(miss));
        if is_elsewhere {
            writer.record(&R::Unwind { value: miss, ticks: 1 }).record(&R::Raise(miss));
            writer.record(&R::Handled(miss)).lines(&[1]);
        } else {
            writer.record(&R::Handled(miss)).lines(&[1]).ret(none);
        }
        writer.ret(none).record(&R::End(r#"{"exit":0}"#.into()));
        opened(&mut writer, "").overview().unwrap().next.unwrap().shown()
    };
    assert_eq!(next(false), "record_calls {}");
    assert_eq!(next(true), "record_frame {\"call\": \"#1\"}");
}
