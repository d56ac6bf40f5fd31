//! What is saved comes back; what is not there is said.

use holdpoint_store::{
    BreakpointKey, KeptBreakpoint, KeptLaunch, LaunchId, Location, Store, limits,
};
use serde_json::json;

use crate::{at, open};

fn memory() -> Store {
    Store::open(&Location::from(std::path::PathBuf::from(":memory:"))).unwrap()
}

fn launch(name: &str) -> KeptLaunch {
    KeptLaunch {
        name: name.into(),
        language: "python".into(),
        cwd: "src".into(),
        ..KeptLaunch::default()
    }
}

#[tokio::test]
async fn saving_the_same_breakpoint_again_changes_it() {
    let store = memory();
    let first = store.save_breakpoint(at("app.py", 41)).await.unwrap();
    let other = store.save_breakpoint(at("app.py", 42)).await.unwrap();
    let changed = KeptBreakpoint {
        condition: Some("x > 1".into()),
        hit_condition: Some("3".into()),
        log_message: Some("x is {x}".into()),
        hit_count_multiple: 100,
        max_notifications: 10,
        enabled: false,
        ..at("app.py", 41)
    };
    assert_eq!(store.save_breakpoint(changed.clone()).await.unwrap(), first);
    let rows = store.breakpoints().await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.id, row.breakpoint.clone())).collect();
    assert_eq!(found, [(first, changed), (other, at("app.py", 42))]);
}

#[tokio::test]
async fn the_newest_choice_of_exceptions_counts() {
    let store = memory();
    assert_eq!(store.exceptions().await.unwrap(), None);
    for choice in ["all", "none"] {
        store.save_exceptions(choice.to_owned()).await.unwrap();
    }
    assert_eq!(store.exceptions().await.unwrap().as_deref(), Some("none"));
}

#[tokio::test]
async fn kind_column_and_function_make_another_breakpoint() {
    let store = memory();
    let points = [
        at("app.py", 1),
        KeptBreakpoint { kind: "trace".into(), ..at("app.py", 1) },
        KeptBreakpoint { column: Some(4), ..at("app.py", 1) },
        KeptBreakpoint { file: None, line: None, function: Some("main".into()), ..at("", 0) },
    ];
    for point in points.iter().chain(&points) {
        store.save_breakpoint(point.clone()).await.unwrap();
    }
    assert_eq!(store.breakpoints().await.unwrap().len(), points.len());
}

#[tokio::test]
async fn enabling_and_removing_say_whether_there_was_one_and_ids_are_not_given_twice() {
    let store = memory();
    let id = store.save_breakpoint(at("app.py", 1)).await.unwrap();
    assert!(store.set_enabled(id, false).await.unwrap());
    assert!(!store.breakpoints().await.unwrap()[0].breakpoint.enabled);
    assert!(store.remove_breakpoint(id).await.unwrap());
    assert!(!store.remove_breakpoint(id).await.unwrap());
    assert!(!store.set_enabled(BreakpointKey(99), true).await.unwrap());
    assert!(store.save_breakpoint(at("app.py", 1)).await.unwrap() > id);
}

#[tokio::test]
async fn breakpoints_are_bounded() {
    let store = memory();
    let most = u32::try_from(limits::BREAKPOINTS).unwrap();
    futures::future::join_all((1..=most).map(|line| store.save_breakpoint(at("loop.py", line))))
        .await;
    let error = store.save_breakpoint(at("loop.py", most + 1)).await.unwrap_err();
    assert_eq!(error.to_string(), "the store holds 4096 breakpoints and takes no more");
    let known = store.save_breakpoint(at("loop.py", most)).await.unwrap();
    assert!(store.remove_breakpoint(known).await.unwrap());
    store.save_breakpoint(at("loop.py", most + 1)).await.unwrap();
    assert_eq!(store.breakpoints().await.unwrap().len(), 4096);
}

#[tokio::test]
async fn a_launch_is_open_until_it_ends_and_the_first_end_counts() {
    let store = memory();
    assert_eq!(store.last_launch().await.unwrap(), None);
    let spec = json!({ "program": "a b.py", "args": ["\u{1f980}", null], "env": { "K": "1" } });
    let asked = KeptLaunch { spec, owner: Some("server 7".into()), ..launch("one") };
    let one = store.begin_launch(asked.clone()).await.unwrap();
    let two = store.begin_launch(launch("two")).await.unwrap();
    assert!(store.end_launch(two, "code 0").await.unwrap());
    assert!(!store.end_launch(two, "signal 9").await.unwrap());
    assert!(!store.end_launch(LaunchId(99), "code 0").await.unwrap());

    let last = store.last_launch().await.unwrap().unwrap();
    assert_eq!((last.id, last.exit.as_deref()), (two, Some("code 0")));
    assert!(last.ended_at.unwrap() >= last.started_at);
    let open = store.left_open().await.unwrap();
    assert_eq!(open.iter().map(|row| (row.id, &row.launch)).collect::<Vec<_>>(), [(one, &asked)]);
    assert_eq!((open[0].ended_at, open[0].exit.clone()), (None, None));
}

#[tokio::test]
async fn the_newest_launches_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("db"));
    for number in 1..=limits::LAUNCHES + 5 {
        store.begin_launch(launch(&number.to_string())).await.unwrap();
    }
    let rows = store.launches(usize::MAX).await.unwrap();
    assert_eq!(rows.len(), limits::LAUNCHES);
    let names: Vec<_> = rows.iter().map(|row| row.launch.name.as_str()).collect();
    assert_eq!((names[0], names[limits::LAUNCHES - 1]), ("205", "6"));
    assert_eq!(store.launches(2).await.unwrap().len(), 2);
}

#[tokio::test]
async fn memory_forgets_and_has_no_file() {
    let store = memory();
    store.save_breakpoint(at("app.py", 1)).await.unwrap();
    store.flush().await.unwrap();
    assert_eq!((store.path(), store.stats().file_bytes), (None, None));
    assert_eq!(store.stats().written, 1);
    drop(store);
    assert_eq!(memory().breakpoints().await.unwrap(), []);
}
