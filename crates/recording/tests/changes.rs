//! Containers changed in place, and their items: what is told of them is what was written, under its own name.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use expect_test::{Expect, expect};
use holdpoint_recording::{
    BUDGET, CallId, Datum, FrameAsk, HistoryAsk, Ingest, KeptSource, Recording, pack,
    stream::{StreamRecord, StreamWriter},
};

const SOURCE: &str = "\
def run():
    rows = []
    d = {}
    rows.append(5)
    rows.append(7)
    d['x'] = 'b'
    d['x'] = 'c'
    d.update(y=1)
";

fn list(writer: &mut StreamWriter, items: &[i64]) -> u32 {
    let kind = writer.string("list");
    let items: Vec<u32> = items.iter().map(|it| writer.integer(*it)).collect();
    writer.value(&Datum::List { object: 1, kind, length: items.len() as u64, items })
}

fn dict(writer: &mut StreamWriter, pairs: &[(&str, &str)]) -> u32 {
    let kind = writer.string("dict");
    let pairs: Vec<_> =
        pairs.iter().map(|(key, value)| (writer.text(key), writer.text(value))).collect();
    writer.value(&Datum::Dict { object: 2, kind, length: pairs.len() as u64, pairs })
}

fn opened() -> Recording {
    let mut writer = StreamWriter::new();
    let process = r#"{"pid":7,"ppid":1,"language":"python","runtime":"3.13.0","argv":["x"],"cwd":"/app","unix_ns":0,"ticks_ns":100000,"way":"native","level":"auto"}"#;
    writer.record(&StreamRecord::Process(process.into()));
    writer.record(&StreamRecord::Thread { number: 0, name: "MainThread".into() });
    let file = writer.file("/app/run.py");
    let run = writer.function("run", (file, 1, 8), 0, &["rows", "d", "d['x']"]);
    writer.call(run, &[]);
    let (empty, one, two) =
        (list(&mut writer, &[]), list(&mut writer, &[5]), list(&mut writer, &[5, 7]));
    let (none, all) = (dict(&mut writer, &[]), dict(&mut writer, &[("x", "c"), ("y", "1")]));
    let (b, c) = (writer.text("b"), writer.text("c"));
    writer.lines(&[1]).write(0, empty).lines(&[1]).write(1, none);
    writer.lines(&[1]).write(0, one).lines(&[1]).write(0, two);
    writer.lines(&[1]).write(2, b).lines(&[1]).write(2, c).lines(&[1]).write(1, all);
    let ended = writer.none();
    writer.ret(ended);
    let mut ingest = Ingest::new();
    ingest.push(&writer.take());
    let source = KeptSource { path: "/app/run.py".to_owned(), text: SOURCE.into(), is_same: true };
    Recording::from_bytes(pack([&ingest], &[source], "{}")).unwrap()
}

#[track_caller]
fn check(name: &str, when: Option<&str>, wanted: Expect) {
    let when = when.map(str::to_owned);
    let ask = HistoryAsk { name: name.to_owned(), when, ..HistoryAsk::default() };
    let told = opened().history(&ask).unwrap().tell(&ask, BUDGET);
    let rows: Vec<&str> = told.lines().filter(|it| !it.starts_with("blind")).collect();
    wanted.assert_eq(&rows.join("\n"));
}

#[test]
fn a_container_has_the_life_of_its_content() {
    check(
        "rows",
        None,
        expect![[r#"
        rows: 3 writes
        #1:2       = []   run
        #1:4       [] → [5]
        #1:5       [5] → [5, 7]
        missing the end (it still runs, or was killed)"#]],
    );
    check(
        "rows",
        Some("contains 7"),
        expect![[r#"
        rows: 3 writes, 1 contains 7
        #1:5       [5] → [5, 7]   run
        missing the end (it still runs, or was killed)"#]],
    );
}

#[test]
fn an_item_is_never_told_as_its_container() {
    check(
        "d",
        None,
        expect![[r#"
        d: 4 writes
        #1:3       = {}   run
        #1:6       d['x'] = 'b'
        #1:7       d['x'] 'b' → 'c'
        #1:8       {} → {'x': 'c', 'y': '1'}
        missing the end (it still runs, or was killed)"#]],
    );
}

#[test]
fn an_item_has_a_life_of_its_own_however_it_is_quoted() {
    check(
        "d[\"x\"]",
        None,
        expect![[r#"
        d['x']: 2 writes
        #1:6       = 'b'   run
        #1:7       'b' → 'c'
        missing the end (it still runs, or was killed)"#]],
    );
    check(
        "rows[1]",
        None,
        expect![[r#"
        rows[1]: 1 write
        #1:5       = 7   run
        missing the end (it still runs, or was killed)"#]],
    );
    check(
        "d['y']",
        None,
        expect![[r#"
        d['y']: 1 write
        #1:8       = '1'   run
        missing the end (it still runs, or was killed)"#]],
    );
}

#[test]
fn a_frame_shows_the_content_beside_the_line() {
    let ask = FrameAsk { call: CallId { process: 0, number: 0 }, lines: None };
    let told = opened().frame(&ask).unwrap().tell(BUDGET);
    expect![[r#"
        #1 run()   run.py:1-8
        2   rows = []                                     rows=[]
        3   d = {}                                        d={}
        4   rows.append(5)                                rows []→[5]
        5   rows.append(7)                                rows [5]→[5, 7]
        6   d['x'] = 'b'                                  d['x']='b'
        7   d['x'] = 'c'                                  d['x'] 'b'→'c'
        8   d.update(y=1)                                 d {}→{'x': 'c', 'y': '1'}
            → None
        calls   none in your code
        missing the end (it still runs, or was killed)"#]]
    .assert_eq(&told);
}
