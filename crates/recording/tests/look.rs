//! The same run of a small shop, as a page looks at it: level by level, over time, pass by pass.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use holdpoint_recording::{
    CallEnd, CallId, FlameAsk, HistoryAsk, Ingest, KeptSource, LineNote, LookAsk, Recording, pack,
};

#[path = "shop/stream.rs"]
mod written;

use written::{SOURCE, shop};

fn opened() -> Recording {
    let mut ingest = Ingest::new();
    ingest.push(&shop());
    let source = KeptSource { path: "/app/cart.py".to_owned(), text: SOURCE.into(), is_same: true };
    Recording::from_bytes(pack([&ingest], &[source], "{}")).unwrap()
}

fn call(number: u32) -> CallId {
    CallId { process: 0, number: number - 1 }
}

#[test]
fn a_run_in_one_line_says_the_same_as_its_overview() {
    let recording = opened();
    let (brief, overview) = (recording.brief(), recording.overview().unwrap());
    assert_eq!((brief.verdict, brief.calls), (overview.verdict(), overview.calls));
    assert_eq!((brief.lines, brief.missing), (overview.lines, overview.missing));
}

#[test]
fn calls_are_opened_level_by_level_and_some_at_a_time() {
    let recording = opened();
    let top = recording.inside(None, None, 10).unwrap();
    let held = |it: &holdpoint_recording::CallsInside| {
        it.rows.iter().map(|it| (it.call.id, it.hidden)).collect::<Vec<_>>()
    };
    assert_eq!((held(&top), top.further), (vec![(call(1), 13)], None));
    let first = recording.inside(Some(call(1)), None, 5).unwrap();
    assert_eq!(first.rows.len(), 5);
    assert_eq!(first.further, Some(call(6)));
    let mut all = held(&first);
    let mut further = first.further;
    while let Some(last) = further {
        let next = recording.inside(Some(call(1)), Some(last), 5).unwrap();
        all.extend(held(&next));
        further = next.further;
    }
    let wanted: Vec<_> = (2..=14).map(|it| (call(it), 0)).collect();
    assert_eq!(all, wanted);
    assert!(recording.inside(Some(call(14)), None, 5).unwrap().rows.is_empty());
}

#[test]
fn the_longest_calls_are_drawn_and_the_others_counted() {
    let recording = opened();
    let ask = FlameAsk { process: 0, under: None, bars: 100, rows: 10 };
    let all = recording.flame(&ask).unwrap();
    assert_eq!((all.bars.len(), all.rows, all.left_out, all.is_cut), (14, 2, 0, false));
    let top = all.bars.first().unwrap();
    assert!(top.call == call(1) && top.row == 0 && top.is_raised, "{top:?}");
    let end = top.began_ms + top.took_ms;
    assert!(
        all.bars.iter().all(|it| it.began_ms >= top.began_ms && it.began_ms + it.took_ms <= end)
    );
    let few = recording.flame(&FlameAsk { bars: 4, ..ask }).unwrap();
    assert_eq!((few.bars.len(), few.left_out), (4, 10));
    let flat = recording.flame(&FlameAsk { rows: 1, ..ask }).unwrap();
    assert_eq!((flat.bars.len(), flat.left_out), (1, 13));
    let one = recording.flame(&FlameAsk { under: Some(call(8)), ..ask }).unwrap();
    assert_eq!((one.bars.len(), one.bars.first().unwrap().call), (1, call(8)));
}

/// What was written at a line: name, what it was, what it became.
fn written(look: &holdpoint_recording::FrameLook, line: u32) -> Vec<String> {
    let seen = look.lines.iter().find(|it| it.line == line).unwrap();
    let told = seen.notes.iter().map(|it| match it {
        LineNote::Wrote { name, was, now, .. } => format!("{name} {was:?} {now}"),
        LineNote::Series { name, first, last, left } => format!("{name} {first:?} {last:?} {left}"),
        other => format!("{other:?}"),
    });
    told.collect()
}

#[test]
fn a_frame_is_looked_at_whole_and_pass_by_pass() {
    let recording = opened();
    let look = |pass| recording.look(&LookAsk { call: call(8), pass });
    let whole = look(None).unwrap();
    assert!(matches!(whole.call.end, CallEnd::Returned(ref it) if it == "None"));
    assert_eq!(whole.callers.first().map(|it| it.call), Some(call(1)));
    assert!(whole.source.as_ref().is_some_and(|it| it.is_same && it.text == SOURCE));
    assert_eq!(whole.loops, [(6, 4)]);
    assert_eq!(written(&whole, 7), ["tries [\"1\", \"2\", \"3\"] [] 0"]);
    assert_eq!(whole.notes, ["swallowed KeyError 'VIP' at :10"]);
    let second = look(Some((6, 2))).unwrap();
    let pass = second.pass.as_ref().unwrap();
    assert_eq!((pass.nth, pass.times), (2, 4));
    assert!(pass.state.contains(&("tries".to_owned(), "1".to_owned())), "{pass:?}");
    assert_eq!(written(&second, 7), ["tries Some(\"1\") 2"]);
    let reached: Vec<u32> =
        second.lines.iter().filter(|it| it.is_reached).map(|it| it.line).collect();
    assert_eq!(reached, [6, 7]);
    assert!(look(Some((6, 9))).is_err() && look(Some((999, 1))).is_err());
}

#[test]
fn a_life_is_numbers_in_their_order() {
    let recording = opened();
    let ask = HistoryAsk { name: "tries".to_owned(), ..HistoryAsk::default() };
    let series = recording.series(&ask, 400).unwrap();
    assert_eq!((series.writes, series.stride), (18, 1));
    let values: Vec<f64> = series.points.iter().take(4).map(|it| it.value).collect();
    assert_eq!(values, [1.0, 2.0, 3.0, 1.0]);
    let few = recording.series(&ask, 6).unwrap();
    let nth: Vec<u64> = few.points.iter().map(|it| it.nth).collect();
    assert_eq!((few.stride, nth), (3, vec![1, 4, 7, 10, 13, 16, 18]));
    let names = HistoryAsk { name: "tier".to_owned(), ..HistoryAsk::default() };
    assert!(recording.series(&names, 400).unwrap().points.is_empty());
}
