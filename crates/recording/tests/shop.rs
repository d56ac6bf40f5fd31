//! A run of a small shop, as a recorder would write it: every question, and its answer to the letter.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use expect_test::{Expect, expect};
use holdpoint_recording::{
    AskError, BUDGET, CallsAsk, CallsForm, FrameAsk, HistoryAsk, Ingest, KeptSource, Recording,
    StreamState, pack,
    stream::{StreamRecord, StreamWriter},
};

#[path = "shop/stream.rs"]
mod written;

use written::{SOURCE, shop};

fn opened(bytes: &[u8]) -> Recording {
    let mut ingest = Ingest::new();
    ingest.push(bytes);
    let source = KeptSource { path: "/app/cart.py".to_owned(), text: SOURCE.into(), is_same: true };
    Recording::from_bytes(pack([&ingest], &[source], "{}")).unwrap()
}

#[track_caller]
fn check(found: &str, wanted: Expect) {
    wanted.assert_eq(found);
}

#[test]
fn the_overview_explains_the_failure() {
    let overview = opened(&shop()).overview().unwrap();
    let title = format!("r7  test_total   {} in {}", overview.verdict(), overview.took());
    check(
        &overview.tell(&title, "", 61 << 10, BUDGET),
        expect![[r##"
        r7  test_total   FAILED in 2.9 ms
        AssertionError assert 41.5 == 45.0   cart.py:16
        path    test_total() #1, answered by Cart.total() #14 → 41.5
                14      for tier in tiers:                        tier='std'
                15          cart.add(rate(tier, table))           rate #12 → 0.5  Cart.add #13 → None
                14      for tier in tiers:
                16      assert cart.total() == 45.0               Cart.total #14 → 41.5  raises AssertionError assert 41.5 == 45.0
        raised  2, swallowed 1: KeyError 'VIP' in rate #8, handled at cart.py:10, rate #8 → None
        odd     rate: None once in 6 calls (#8), else float
        kept    14 calls, 84 lines, 61 KB
        complete
        next    record_frame {"call": "#8"}"##]],
    );
}

#[test]
fn calls_are_listed_by_a_condition() {
    let recording = opened(&shop());
    let ask = CallsAsk {
        function: Some("rate".to_owned()),
        condition: Some("result is None".to_owned()),
        ..CallsAsk::default()
    };
    check(
        &recording.calls(&ask).unwrap().tell(&ask, BUDGET),
        expect![[r##"
        6 calls of rate, 1 with result is None
        #8 rate(tier='VIP', table={'std': 0.5}) → None   0.1 ms  in test_total #1, cart.py:15
            swallowed KeyError 'VIP' at :10
        complete
        next    record_frame {"call": "#8"}"##]],
    );
}

#[test]
fn the_tree_is_condensed() {
    let recording = opened(&shop());
    let ask = CallsAsk::default();
    check(
        &recording.calls(&ask).unwrap().tell(&ask, BUDGET),
        expect![[r#"
        #1 test_total() raised AssertionError assert 41.5 == 45…  2.8 ms
          #2 rate(tier='std', table={'std': 0.5}) → 0.5
          #3 Cart.add(amount=0.5) → None
          #4 rate(tier='std', table={'std': 0.5}) → 0.5
          #5 Cart.add(amount=0.5) → None
          #6 rate(tier='std', table={'std': 0.5}) → 0.5
          #7 Cart.add(amount=0.5) → None
          #8 rate(tier='VIP', table={'std': 0.5}) → None  swallowed KeyError 'VIP' at :10
          #9 Cart.add(amount=0.0) → None
          #10 rate(tier='std', table={'std': 0.5}) → 0.5
          #11 Cart.add(amount=0.5) → None
          #12 rate(tier='std', table={'std': 0.5}) → 0.5
          #13 Cart.add(amount=0.5) → None
          #14 Cart.total() → 41.5
        complete"#]],
    );
}

#[test]
fn calls_are_counted() {
    let recording = opened(&shop());
    let ask = CallsAsk {
        condition: Some("swallowed KeyError or args.tier contains 'st'".to_owned()),
        form: Some(CallsForm::Count),
        ..CallsAsk::default()
    };
    check(
        &recording.calls(&ask).unwrap().tell(&ask, BUDGET),
        expect![[r#"
            14 calls, 6 with swallowed KeyError or args.tier contains 'st'
            6  rate  0.6 ms
            complete
            next    record_calls {"function": "rate"}"#]],
    );
}

/// A line that calls several functions says of each how often.
#[test]
fn the_calls_of_a_loop_are_told_by_function() {
    let recording = opened(&shop());
    let call = recording.call_named("#1").unwrap();
    let told = recording.frame(&FrameAsk { call, lines: None }).unwrap().tell(BUDGET);
    assert!(told.contains("×6  rate ×6 from #2  Cart.add ×6 from #3"), "{told}");
}

#[test]
fn a_frame_shows_what_changed() {
    let recording = opened(&shop());
    let rates = CallsAsk {
        function: Some("rate".to_owned()),
        condition: Some("swallowed".to_owned()),
        ..CallsAsk::default()
    };
    let call = recording.calls(&rates).unwrap().rows[0].call.id;
    let told = recording.frame(&FrameAsk { call, lines: None }).unwrap();
    check(
        &told.tell(BUDGET),
        expect![[r#"
        #8 rate(tier='VIP', table={'std': 0.5})   cart.py:4-11
        5   key = tier.strip()                            key='VIP'
        6   for i in range(3):                            ×4  i=0,1,2
        7       tries += 1                                ×3  tries=1,2,3
        8   try:
        9       return table[key]                         raises KeyError 'VIP'  KeyError 'VIP' caught
        10  except KeyError:
        11      log = None                                log=None
            → None
            swallowed KeyError 'VIP' at :10
        calls   none in your code
        complete"#]],
    );
    let spot = recording.spot_named(&format!("{call}:6/3")).unwrap();
    check(
        &recording.state(spot).unwrap().tell(BUDGET),
        expect![[r#"
        #8:6/3 before cart.py:6 in rate
        tier = 'VIP'
        table = {'std': 0.5}
        key = 'VIP'
        i = 1
        tries = 2
        complete"#]],
    );
}

#[test]
fn a_name_has_a_life() {
    let recording = opened(&shop());
    let ask = HistoryAsk { name: "self.total".to_owned(), ..HistoryAsk::default() };
    check(
        &recording.history(&ask).unwrap().tell(&ask, BUDGET),
        expect![[r#"
        self.total of Cart@3: 6 writes
        #3:2       = 0.0   Cart.add  amount=0.5
        #5:2       0.0 → 1.0   Cart.add  amount=0.5
        #7:2       1.0 → 2.0   Cart.add  amount=0.5
        #9:2       2.0 → 3.0   Cart.add  amount=0.0
        #11:2      3.0 → 4.0   Cart.add  amount=0.5
        #13:2      4.0 → 5.0   Cart.add  amount=0.5
        blind   writes by libraries and C code; in-place changes by methods of other types than builtin containers
        complete"#]],
    );
    let ask = HistoryAsk {
        name: "tries".to_owned(),
        when: Some("> 2".to_owned()),
        ..HistoryAsk::default()
    };
    check(
        &recording.history(&ask).unwrap().tell(&ask, BUDGET),
        expect![[r#"
        tries: 18 writes, 6 > 2
        #2:7       2 → 3   rate  tier='std', table={'std': 0.5}
        #4:7       2 → 3   rate  tier='std', table={'std': 0.5}
        #6:7       2 → 3   rate  tier='std', table={'std': 0.5}
        #8:7       2 → 3   rate  tier='VIP', table={'std': 0.5}
        #10:7      2 → 3   rate  tier='std', table={'std': 0.5}
        #12:7      2 → 3   rate  tier='std', table={'std': 0.5}
        blind   writes by libraries and C code; in-place changes by methods of other types than builtin containers
        complete"#]],
    );
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let recording = opened(&shop());
    let ask = |function: &str, condition: &str| CallsAsk {
        function: Some(function.to_owned()),
        condition: (!condition.is_empty()).then(|| condition.to_owned()),
        ..CallsAsk::default()
    };
    let hint = |ask: &CallsAsk| match recording.calls(ask).unwrap_err() {
        AskError::NotFound { what, hint } | AskError::Invalid { what, hint } => {
            format!("{what} / {hint}")
        }
        AskError::Damaged(damage) => panic!("{damage}"),
    };
    assert!(hint(&ask("rat", "")).contains("did you mean `rate`?"));
    assert!(hint(&ask("rate", "args.teir is None")).contains("did you mean `args.tier`?"));
    assert!(recording.call_named("#9999").is_err());
    let ask = HistoryAsk { name: "nothing".to_owned(), ..HistoryAsk::default() };
    assert!(matches!(recording.history(&ask), Err(AskError::NotFound { .. })));
}

#[test]
fn a_stream_is_read_while_it_is_written() {
    let whole = shop();
    let mut ingest = Ingest::new();
    let (mut last, mut asked) = (0, 0);
    for piece in whole.chunks(200) {
        ingest.push(piece);
        let recording = Recording::from_bytes(pack([&ingest], &[], "{}")).unwrap();
        let overview = recording.overview().unwrap();
        assert!(overview.calls >= last);
        last = overview.calls;
        asked += usize::from(
            overview.calls > 0 && overview.missing.iter().any(|it| it.contains("the end")),
        );
    }
    assert!(asked > 1, "{asked}");
    assert_eq!(ingest.state(), &StreamState::Ended);
    // It is the same as what is read at once.
    let mut at_once = Ingest::new();
    at_once.push(&whole);
    assert_eq!(pack([&ingest], &[], "{}"), pack([&at_once], &[], "{}"));
}

#[test]
fn a_stream_that_is_cut_anywhere_is_read_to_there() {
    let whole = shop();
    for end in (0..whole.len()).step_by(97) {
        let mut ingest = Ingest::new();
        ingest.push(&whole[..end]);
        let recording = Recording::from_bytes(pack([&ingest], &[], "{}")).unwrap();
        let overview = recording.overview().unwrap();
        assert!(!overview.missing.is_empty());
        let ask = CallsAsk::default();
        recording.calls(&ask).unwrap();
    }
}

#[test]
fn a_file_that_is_damaged_is_refused() {
    let mut ingest = Ingest::new();
    ingest.push(&shop());
    let whole = pack([&ingest], &[], "{}");
    for end in 0..whole.len() {
        assert!(Recording::from_bytes(&whole[..end]).is_err());
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.hpr");
    std::fs::write(&file, &whole).unwrap();
    let opened = Recording::open(&file).unwrap();
    assert_eq!(
        opened.overview().unwrap(),
        Recording::from_bytes(whole).unwrap().overview().unwrap()
    );
}

#[test]
fn what_follows_a_damage_is_missing_by_name() {
    let mut writer = StreamWriter::new();
    writer.record(&StreamRecord::Process("{}".into()));
    let file = writer.file("/a.py");
    let function = writer.function("f", (file, 1, 2), 0, &[]);
    writer.call(function, &[]);
    writer.raw(0x3f, &[]);
    let recording = opened(&writer.take());
    let overview = recording.overview().unwrap();
    assert_eq!(overview.calls, 1);
    assert_eq!(overview.missing, ["what follows a damage (there is no record 0x3f)"]);
}

#[test]
fn what_is_not_written_yet_is_known_and_comes_again() {
    let whole = shop();
    // The chunks end before the last; what that holds is the tail of a process that has not written it.
    let (mut at, mut cuts) = (8, Vec::new());
    while let Some(length) = whole.get(at..at + 4) {
        cuts.push(at);
        at += 16 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
    }
    let last = *cuts.last().unwrap();
    let (before, rest) = whole.split_at(last);
    let mut ingest = Ingest::new();
    ingest.push(before);
    let more = ingest.with_tail(rest.get(16..).unwrap()).unwrap();
    let mut all = Ingest::new();
    all.push(&whole);
    assert_eq!((more.calls(), more.events()), (all.calls(), all.events()));
    // It was a look: the stream goes on where it was.
    ingest.push(rest);
    assert_eq!((ingest.calls(), ingest.state()), (all.calls(), all.state()));
    assert!(ingest.with_tail(b"\xff").is_none(), "nothing follows its end");
    let mut ingest = Ingest::new();
    ingest.push(before);
    assert!(ingest.with_tail(b"\x02\xff").is_none(), "no record is half a record");
}
