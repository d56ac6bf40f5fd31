//! Which bridge is meant, and what is said where it is none.

use std::{path::Path, sync::Arc};

use holdpoint_bridge::{Bridge, BridgeError, Flavour};
use holdpoint_testkit::{
    bridge::{FakeBridge, Faults},
    user::Second,
};

use crate::stage::Counted;

fn open(folder: &Path, faults: Faults) -> FakeBridge {
    FakeBridge::open(folder, faults, Arc::new(Counted::default()))
}

#[tokio::test]
async fn the_nearest_that_lives_is_found_and_ours_first() {
    let top = tempfile::tempdir().unwrap();
    let inner = top.path().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let error = Bridge::find(&inner).err().unwrap();
    assert_eq!(error.code(), "E_BRIDGE_NOT_FOUND");
    let public = open(top.path(), Faults::default());
    let found = Bridge::find(&inner).unwrap();
    assert_eq!((found.flavour(), found.folder()), (Flavour::Public, real(&public).as_path()));
    let ours = open(top.path(), Faults::ours());
    let found = Bridge::find(&inner).unwrap();
    assert_eq!((found.flavour(), found.folder()), (Flavour::Ours, real(&ours).as_path()));
    assert_eq!(found.workspace(), top.path().canonicalize().unwrap());
    assert!(found.status().capabilities.has("events"));
    // A stale one in between hides nothing.
    let nearer = open(&top.path().join("a"), Faults::ours());
    assert_eq!(Bridge::find(&inner).unwrap().folder(), real(&nearer));
    nearer.close();
    assert_eq!(Bridge::find(&inner).unwrap().folder(), real(&ours));
    ours.close();
    public.close();
    let error = Bridge::find(&inner).err().unwrap();
    assert_eq!(error.to_string().matches("is stale: its window was closed").count(), 3, "{error}");
}

fn real(fake: &FakeBridge) -> std::path::PathBuf {
    fake.folder.canonicalize().unwrap()
}

#[tokio::test]
async fn several_roots_below_a_folder_have_to_be_told_apart() {
    let top = tempfile::tempdir().unwrap();
    let folders = ["one", "two"].map(|it| top.path().join(it));
    folders.iter().for_each(|it| std::fs::create_dir(it).unwrap());
    let _one = open(&folders[0], Faults::ours());
    assert!(Bridge::find(top.path()).is_ok(), "the only one");
    let _two = open(&folders[1], Faults::ours());
    let error = Bridge::find(top.path()).err().unwrap();
    let BridgeError::Several(all) = &error else { panic!("{error}") };
    assert_eq!(all.len(), 2);
    assert!(error.hint().unwrap().contains("--workspace"));
    assert!(Bridge::find(&folders[1]).is_ok());
}

#[test]
fn a_workspace_that_is_not_there_is_said_to_be_missing() {
    let error = Bridge::find(Path::new("/nowhere/at/all")).err().unwrap();
    assert!(matches!(error, BridgeError::NoWorkspace(_)), "{error}");
}

#[tokio::test]
async fn what_another_user_owns_is_refused() {
    let Some(second) = Second::find() else { return };
    let others = second.run(|| tempfile::tempdir().unwrap());
    let error = Bridge::find(others.path()).err().unwrap();
    assert!(matches!(error, BridgeError::OtherUser(_)), "{error}");
    let ours = tempfile::tempdir().unwrap();
    let fake = open(ours.path(), Faults::default());
    std::os::unix::fs::chown(&fake.folder, Some(65_534), Some(65_534)).unwrap();
    let error = Bridge::find(ours.path()).err().unwrap();
    assert!(error.to_string().contains("belongs to another user"), "{error}");
    second.run(|| drop(others));
}
