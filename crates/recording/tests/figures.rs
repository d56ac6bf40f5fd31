//! What storage and questions cost: bytes an event, the time until a run can be asked, the time of a question.
//!
//! `HOLDPOINT_FIGURES=5000000` makes a run of that many events, as `cargo xtask bench record` does.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on should stop where it stands"
)]

use std::time::{Duration, Instant};

use holdpoint_recording::{
    CallId, CallOrder, CallsAsk, DiffAsk, FlameAsk, FrameAsk, HistoryAsk, Ingest, LookAsk,
    Recording, pack,
    stream::{StreamRecord, StreamWriter},
};

/// A lexer, a parser and a stock, in their proportions: 11 lines and 6 writes to a call.
fn workload(events: u64) -> Vec<u8> {
    let mut writer = StreamWriter::new();
    let process = r#"{"pid":1,"language":"python","cwd":"/app","ticks_ns":100}"#;
    writer.record(&StreamRecord::Process(process.into()));
    let file = writer.file("/app/work.py");
    let main = writer.function("main", (file, 1, 9), 0, &["n"]);
    let tokens = writer.function("tokens", (file, 10, 30), 1, &["text", "kind", "at", "self.rest"]);
    let value = writer.function("value", (file, 40, 60), 2, &["kind", "at", "total", "top"]);
    writer.call(main, &[]);
    let (none, mut written, mut n) = (writer.none(), 2_u64, 0_i64);
    while written < events {
        let text = writer.text(&format!("line {}", n % 5_000));
        writer.lines(&[1]).write(0, text).lines(&[1]);
        writer.call(tokens, &[text]);
        for pass in 0..6 {
            let (kind, at) = (writer.integer(pass % 3), writer.integer(n % 90_000 + pass));
            writer.lines(&[if pass == 0 { 1 } else { -3 }]).write(1, kind).lines(&[1]).write(2, at);
            writer.lines(&[1]);
            if pass % 2 == 0 {
                writer.call(value, &[kind, at]);
                let total = writer.integer((n * 7 + pass) % 50_000);
                writer.lines(&[1, 1]).write(2, total).lines(&[1, 2]).write(3, total);
                writer.ret(if n % 4_000 == 0 { none } else { total });
            }
            writer.lines(&[1]);
            written += 6 + if pass % 2 == 0 { 8 } else { 0 };
        }
        writer.ret(none).lines(&[-2]);
        written += 6;
        n += 1;
    }
    writer.ret(none);
    writer.record(&StreamRecord::End(r#"{"exit":0}"#.into()));
    writer.take()
}

/// What this thread has had of a processor, where the system tells it; else the time of day. Others may use the machine.
fn used(since: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|it| it.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// The first time, when everything has to be unpacked, and then the slowest of four.
fn timed<T>(what: &str, all: &mut Vec<Duration>, work: impl Fn() -> T) -> T {
    let (mut last, start) = (None, Instant::now());
    let times: Vec<Duration> = (0..5)
        .map(|_| {
            let before = used(start);
            last = Some(work());
            used(start) - before
        })
        .collect();
    let (first, rest) = times.split_first().unwrap();
    println!("  {what}: {first:?}, then {:?}", rest.iter().max().unwrap());
    all.extend(times);
    last.unwrap()
}

/// What a page asks for its first view of a run, and of a call.
fn for_a_page(recording: &Recording, call: CallId) {
    let mut all = Vec::new();
    timed("page: a line of the list", &mut all, || recording.brief());
    timed("page: the outermost calls", &mut all, || recording.inside(None, None, 100).unwrap());
    let main = CallId { process: 0, number: 0 };
    timed("page: what one made", &mut all, || recording.inside(Some(main), None, 100).unwrap());
    let ask = FlameAsk { process: 0, under: None, bars: 200, rows: 24 };
    timed("page: over time", &mut all, || recording.flame(&ask).unwrap());
    timed("page: a frame", &mut all, || recording.look(&LookAsk { call, pass: None }).unwrap());
    let ask = HistoryAsk { name: "top".into(), ..HistoryAsk::default() };
    timed("page: a life", &mut all, || recording.series(&ask, 400).unwrap());
}

#[test]
fn a_run_is_small_and_answers_at_once() {
    let wanted = std::env::var("HOLDPOINT_FIGURES").map_or(60_000, |it| it.parse().unwrap());
    let stream = workload(wanted);
    let began = Instant::now();
    let mut ingest = Ingest::new();
    stream.chunks(1 << 20).for_each(|it| ingest.push(it));
    let file = pack([&ingest], &[], "{}");
    let ready = began.elapsed();
    let events = ingest.events();
    let each = file.len() as f64 / events as f64;
    println!(
        "{events} events, {} calls: stream {} bytes, file {} bytes, {each:.2} an event, ready in {ready:?}",
        ingest.calls(),
        stream.len(),
        file.len()
    );
    let recording = Recording::from_bytes(file.clone()).unwrap();
    let mut all = Vec::new();
    timed("overview", &mut all, || recording.overview().unwrap());
    let none = CallsAsk {
        function: Some("value".into()),
        condition: Some("result is None".into()),
        limit: Some(3),
        ..CallsAsk::default()
    };
    let found = timed("first None", &mut all, || recording.calls(&none).unwrap());
    let slowest = CallsAsk { order: CallOrder::Slowest, ..CallsAsk::default() };
    timed("slowest of all", &mut all, || recording.calls(&slowest).unwrap());
    timed("tree", &mut all, || recording.calls(&CallsAsk::default()).unwrap());
    let call = found.rows.last().unwrap().call.id;
    timed("a frame", &mut all, || recording.frame(&FrameAsk { call, lines: None }).unwrap());
    let last = HistoryAsk { name: "top".into(), ..HistoryAsk::default() };
    timed("every write of a name", &mut all, || recording.history(&last).unwrap());
    let passed = HistoryAsk { name: "kind".into(), ..HistoryAsk::default() };
    timed("of two functions, one is given it", &mut all, || recording.history(&passed).unwrap());
    for name in ["top", "kind", "at", "text", "n"] {
        // What is asked of each value has to read them all, and says the same.
        let ends = HistoryAsk { name: name.into(), ..HistoryAsk::default() };
        let each = HistoryAsk { when: Some("not value == 'no such'".into()), ..ends.clone() };
        let (ends, each) = (recording.history(&ends).unwrap(), recording.history(&each).unwrap());
        assert_eq!((ends.total, ends.matched, ends.rows), (each.total, each.matched, each.rows));
    }
    let both =
        CallsAsk { condition: Some("args.at > 80000 and not result is None".into()), ..none };
    timed("a condition over two values", &mut all, || recording.calls(&both).unwrap());
    let other = Recording::from_bytes(file).unwrap();
    timed("the same run", &mut all, || recording.diff(&other, &DiffAsk::default()).unwrap());
    all.sort();
    let at = |part: usize| all[(all.len() * part / 100).min(all.len() - 1)];
    for_a_page(&recording, call);
    println!("  CPU time: median {:?}, p95 {:?}, slowest {:?}", at(50), at(95), at(100));
    // Whatever else the machine does: the bytes are the same everywhere.
    assert!(each <= 3.0, "{each:.2} bytes an event");
}
