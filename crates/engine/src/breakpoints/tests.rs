use jiff::Timestamp;

use super::*;

fn place(line: u32) -> Place {
    Place::Line { file: "/a.py".into(), line, column: None }
}

fn trace(message: &str, max: u64) -> Asked {
    let trace = Trace::new(Some(message.to_owned()), 0, max).unwrap();
    Asked { trace: Some(trace), ..Asked::at(place(3)) }
}

/// Hits as a process would report them, with the generation that it has.
fn hits(points: &Breakpoints, count: u64) -> Vec<Passed> {
    let wanted = points.wanted(Path::new("/a.py"));
    let traced = wanted.iter().find_map(|it| Some((it.id, it.trace.clone()?)));
    let (id, tracing) = traced.unwrap();
    let hit = |hit_count| Passed {
        id,
        tracing: Arc::clone(&tracing),
        hit_count,
        at: Timestamp::UNIX_EPOCH,
        thread: 1,
        thread_name: None,
        file: "/a.py".into(),
        line: 3,
        column: None,
        function: None,
        values: vec![Ok(hit_count.to_string())],
    };
    (1..=count).map(hit).collect()
}

#[test]
fn a_breakpoint_and_a_tracepoint_on_one_line_are_two() {
    let points = Breakpoints::default();
    let first = points.set(Asked::at(place(3))).unwrap();
    let second = points.set(trace("{x}", 0)).unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!(points.set(trace("{y}", 0)).unwrap().id, second.id);
    assert_eq!(points.wanted(Path::new("/a.py")).len(), 2);
    assert_eq!(points.at(&place(3)).unwrap().id, first.id);
}

#[test]
fn a_limit_is_kept_exactly_and_disables() {
    let points = Breakpoints::default();
    let id = points.set(trace("{x}", 3)).unwrap().id;
    let many = hits(&points, 5);
    assert_eq!(points.count(TargetId::MAIN, &many), [true, true, true, false, false]);
    let spent = points.get(id).unwrap();
    assert_eq!((spent.enabled, spent.is_spent), (false, true));
    assert!(points.wanted(Path::new("/a.py")).is_empty());
    assert_eq!(points.aggregate(id).unwrap().hits, 3);
}

#[test]
fn enabling_begins_a_new_count_and_hits_of_the_old_one_are_late() {
    let points = Breakpoints::default();
    let id = points.set(trace("{x}", 2)).unwrap().id;
    let old = hits(&points, 2);
    points.count(TargetId::MAIN, &old);
    assert!(!points.enable(id, true).unwrap().is_spent);
    assert_eq!(points.count(TargetId::MAIN, &old), [false, false]);
    assert_eq!(points.count(TargetId::MAIN, &hits(&points, 2)), [true, true]);
}

#[test]
fn one_can_become_the_other_and_back_on_its_id() {
    let points = Breakpoints::default();
    let id = points.set(Asked::at(place(3))).unwrap().id;
    assert_eq!(points.change(id, trace("{x}", 0)).unwrap().kind(), "tracepoint");
    assert!(points.aggregate(id).is_some());
    assert_eq!(points.change(id, Asked::at(place(3))).unwrap().kind(), "breakpoint");
    assert!(points.aggregate(id).is_none());
    let other = points.set(trace("{x}", 0)).unwrap();
    let failure = points.change(other.id, Asked::at(place(3))).unwrap_err();
    assert!(failure.message.contains("breakpoint 1 is there already"), "{}", failure.message);
    assert_eq!(points.change(BreakpointId(9), trace("{x}", 0)).unwrap_err().code, Code::NotFound);
}
