//! Two runs of the shop: equal ones differ in nothing, another input at its first consequence.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use expect_test::expect;
use holdpoint_recording::{
    BUDGET, Datum, DiffAsk, Ingest, KeptSource, Recording, pack,
    stream::{StreamRecord, StreamWriter},
};

/// What differs from run to run, and what is to differ.
#[derive(Clone, Copy)]
struct Run {
    seed: u64,
    planted: Option<usize>,
    order: [u64; 2],
}

const SOURCE: &str = "def rate(tier):\n    key = tier.strip()\n    return table[key]\n";

fn recorded(run: Run) -> Recording {
    let mut ingest = Ingest::new();
    ingest.push(&stream(run));
    let source = KeptSource { path: "/app/a.py".to_owned(), text: SOURCE.into(), is_same: true };
    Recording::from_bytes(pack([&ingest], &[source], "{}")).unwrap()
}

fn stream(run: Run) -> Vec<u8> {
    let mut writer = StreamWriter::new();
    let process = r#"{"pid":7,"language":"python","cwd":"/app","ticks_ns":1000}"#;
    writer.record(&StreamRecord::Process(process.into()));
    let file = writer.file("/app/a.py");
    let main = writer.function("main", (file, 10, 20), 1, &["stamp"]);
    let work = writer.function("work", (file, 30, 40), 2, &["n", "token"]);
    let rate = writer.function("rate", (file, 1, 3), 1, &["tier", "key"]);
    let stamp = writer.value(&Datum::Float(1.7e9 + run.seed as f64));
    writer.call(main, &[stamp]);
    writer.lines(&[1]);
    for thread in run.order {
        writer.record(&StreamRecord::Thread {
            number: thread,
            name: format!("work-{}", thread + run.seed).into(),
        });
        writer.record(&StreamRecord::Switch(thread));
        for n in 0..20 {
            let number = writer.integer(n);
            let token =
                writer.text(&format!("3f2504e0-4f89-41d3-9a0c-{:012x}", run.seed * 31 + n as u64));
            writer.call(work, &[number, token]);
            let is_planted = thread == 1 && run.planted == Some(n as usize);
            let tier = writer.text("vip");
            writer.call(rate, &[tier]);
            let key = writer.text(if is_planted { "VIP" } else { "vip" });
            writer.lines(&[1]).write(1, key).lines(&[1]);
            let found = if is_planted { writer.none() } else { writer.value(&Datum::Float(0.2)) };
            writer.ret(found);
            let (kind, object) = (writer.string("set"), run.seed * 100 + n as u64);
            let mut items = vec![writer.integer(1), writer.integer(2)];
            if run.seed % 2 == 1 {
                items.reverse();
            }
            let set = writer.value(&Datum::List { object, kind, length: 2, items });
            writer.ret(set);
        }
    }
    writer.record(&StreamRecord::Switch(0));
    let where_from = writer
        .text(&format!("<Item at 0x7f00aa{:06x}> in /tmp/pytest-{}/a.db", run.seed, run.seed));
    writer.ret(where_from);
    writer.record(&StreamRecord::End(r#"{"exit":0}"#.into()));
    writer.take()
}

#[test]
fn equal_runs_have_no_difference() {
    let first = recorded(Run { seed: 1, planted: None, order: [1, 2] });
    for seed in 2..22 {
        let order = if seed % 3 == 0 { [2, 1] } else { [1, 2] };
        let second = recorded(Run { seed, planted: None, order });
        let found = first.diff(&second, &DiffAsk::default()).unwrap();
        assert_eq!(found.differences, [], "seed {seed}");
        assert_eq!(found.alone, (0, 0), "seed {seed}");
    }
}

#[test]
fn the_planted_difference_is_the_first() {
    let good = recorded(Run { seed: 1, planted: None, order: [1, 2] });
    for seed in 2..22 {
        let order = if seed % 3 == 0 { [2, 1] } else { [1, 2] };
        let bad = recorded(Run { seed, planted: Some(seed as usize - 2), order });
        let found = bad.diff(&good, &DiffAsk::default()).unwrap();
        let first = found.differences.first().unwrap();
        assert_eq!(first.one.as_ref().unwrap().function, "rate", "seed {seed}");
        assert_eq!(found.first_line.unwrap().lines, (Some(2), Some(2)));
        assert_eq!(found.total, 1);
    }
}

#[test]
fn the_answer_names_call_line_and_values() {
    let good = recorded(Run { seed: 1, planted: None, order: [1, 2] });
    let bad = recorded(Run { seed: 2, planted: Some(7), order: [1, 2] });
    let found = bad.diff(&good, &DiffAsk::default()).unwrap();
    expect![[r##"
        r7 (FAILED) against r6 (passed): same up to call 16 of 81 and 81
        first difference  rate(tier='vip') #17 / #17   → None / → 0.2
          a.py:2   key='VIP' / key='vip'
          key = tier.strip()
        complete
        next    record_frame {"call": "#17"}"##]]
    .assert_eq(&found.tell(("r7 (FAILED)", "r6 (passed)"), BUDGET));
}

/// An asynchronous program: its main function is left before its module ends, and calls all else after that.
fn waited(rates: [f64; 2], is_ended: bool) -> Recording {
    let mut writer = StreamWriter::new();
    let process = r#"{"pid":7,"language":"node","cwd":"/app","ticks_ns":1000}"#;
    writer.record(&StreamRecord::Process(process.into()));
    let file = writer.file("/app/a.js");
    let module = writer.function("<module>", (file, 1, 30), 0, &[]);
    let main = writer.function("main", (file, 2, 20), 0, &[]);
    let rate = writer.function("rate", (file, 21, 23), 1, &["tier"]);
    let none = writer.none();
    writer.call(module, &[]);
    writer.call(main, &[]);
    writer.record(&StreamRecord::Yield { value: none, ticks: 1 });
    writer.ret(none);
    writer.record(&StreamRecord::Resume { ago: 1, ticks: 1 });
    for number in rates {
        let (tier, found) = (writer.text("vip"), writer.value(&Datum::Float(number)));
        writer.call(rate, &[tier]);
        writer.ret(found);
    }
    if is_ended {
        writer.ret(none);
    }
    writer.record(&StreamRecord::End(r#"{"exit":0}"#.into()));
    let mut ingest = Ingest::new();
    ingest.push(&writer.take());
    Recording::from_bytes(pack([&ingest], &[], "{}")).unwrap()
}

#[test]
fn what_is_called_after_the_caller_has_ended_is_compared() {
    for is_ended in [true, false] {
        let good = waited([0.5, 0.2], is_ended);
        let same = good.diff(&waited([0.5, 0.2], is_ended), &DiffAsk::default()).unwrap();
        assert_eq!((same.differences, same.total), (Vec::new(), 0), "ended: {is_ended}");
        let found = good.diff(&waited([0.5, 0.3], is_ended), &DiffAsk::default()).unwrap();
        let first = found.differences.first().unwrap();
        assert_eq!(first.one.as_ref().unwrap().id.to_string(), "#4", "ended: {is_ended}");
    }
}
