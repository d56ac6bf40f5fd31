//! Paths, URLs and the regular expression that finds one by the other.

use proptest::prelude::*;
use regex::Regex;

use super::*;

fn regex_of(path: &str) -> Regex {
    Regex::new(&UserFile::new(Path::new(path)).url_regex()).unwrap()
}

fn script(id: &str, url: &str) -> Script {
    let parsed = serde_json::json!({"scriptId": id, "url": url});
    Script::new(&serde_json::from_value(parsed).unwrap())
}

#[track_caller]
fn check_url(url: &str, path: Option<&str>) {
    assert_eq!(path_of_url(url).as_deref(), path.map(Path::new), "{url}");
}

#[test]
fn urls_become_paths() {
    check_url("file:///srv/a%20b/%C3%A9%23.js", Some("/srv/a b/é#.js"));
    check_url("file:///srv/a.mjs?t=1#x", Some("/srv/a.mjs"));
    check_url("file://localhost/srv/a.js", Some("/srv/a.js"));
    check_url("/srv/100%25.js", Some("/srv/100%25.js"));
    check_url("file:///srv/100%zz.js", Some("/srv/100%zz.js"));
    check_url("file://server/share/a.js", None);
    check_url("node:internal/main/run_main_module", None);
    check_url("https://example.com/a.js", None);
    check_url("evalmachine.<anonymous>", None);
    check_url("", None);
}

#[test]
fn the_regex_matches_every_spelling_and_nothing_else() {
    let regex = regex_of("/nowhere/a b/[x] (1).js");
    for url in [
        "file:///nowhere/a%20b/[x]%20(1).js",
        "file:///nowhere/a%20b/%5bx%5D%20(1).js",
        "file:///nowhere/a%20b/[x]%20(1).js?update=3",
        "/nowhere/a b/[x] (1).js",
    ] {
        assert!(regex.is_match(url), "{url}");
    }
    for url in [
        "file:///nowhere/a%20b/[x]%20(1)xjs",
        "file:///other/nowhere/a%20b/[x]%20(1).js",
        "file:///nowhere/a%20b/[x]%20(1).json",
        "/nowhere/a b/[x] (1).js?update=3",
    ] {
        assert!(!regex.is_match(url), "{url}");
    }
}

#[test]
fn kinds_of_origin() {
    assert_eq!(script("1", "node:fs").origin, ScriptOrigin::Internal);
    assert_eq!(script("1", "").origin, ScriptOrigin::Anonymous);
    assert_eq!(script("1", "wasm://wasm/1").origin, ScriptOrigin::Other);
    assert_eq!(script("1", "file:///nowhere/x.js").file(), Some(Path::new("/nowhere/x.js")));
}

#[test]
fn a_file_has_all_its_generations_and_links_lead_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap().join("real file.mjs");
    std::fs::write(&real, "").unwrap();
    let link = real.with_file_name("link.mjs");
    std::os::unix::fs::symlink(&real, &link).unwrap();

    let mut scripts = Scripts::default();
    scripts.add(script("1", &file_url(&real)));
    scripts.add(script("2", &format!("{}?t=2", file_url(&real))));
    scripts.add(script("3", "file:///nowhere/else.mjs"));
    scripts.add(script("4", &file_url(&link)));
    let ids = |path: &Path| -> Vec<String> {
        let file = UserFile::new(path);
        scripts.of_file(&file).iter().map(|script| script.id.to_string()).collect()
    };
    assert_eq!(ids(&link), ["1", "2", "4"]);
    assert_eq!(ids(&real), ["1", "2", "4"]);
    assert_eq!(ids(&real.with_file_name("none.mjs")), [""; 0]);
    let regex = Regex::new(&UserFile::new(&link).url_regex()).unwrap();
    assert!(regex.is_match(&file_url(&real)) && regex.is_match(&file_url(&link)));
}

#[test]
fn evals_without_end_are_forgotten_and_files_are_not() {
    let mut scripts = Scripts::default();
    scripts.add(script("file", "file:///nowhere/x.js"));
    for n in 0..=limits::ANONYMOUS_SCRIPTS {
        scripts.add(script(&n.to_string(), ""));
    }
    assert!(scripts.get(&ScriptId("file".into())).is_some());
    assert!(scripts.get(&ScriptId("0".into())).is_none());
    assert_eq!(scripts.iter().count(), limits::ANONYMOUS_SCRIPTS + 1);
}

proptest! {
    #[test]
    fn a_path_survives_its_url(bytes in prop::collection::vec(1..=255u8, 0..40)) {
        let mut path = b"/".to_vec();
        path.extend(bytes);
        let path = PathBuf::from(OsString::from_vec(path));
        prop_assert_eq!(path_of_url(&file_url(&path)), Some(path));
    }

    #[test]
    fn a_path_is_found_by_its_regex(
        names in prop::collection::vec("[^/\0\r\n]{1,12}", 1..4),
        query in prop::option::of("[a-z0-9=]{0,5}"),
    ) {
        prop_assume!(names.iter().all(|name| name != "." && name != ".."));
        let path = format!("/no-such-folder/{}", names.join("/"));
        let regex = regex_of(&path);
        let url = file_url(Path::new(&path));
        prop_assert!(regex.is_match(&url), "{} {}", regex, url);
        prop_assert!(regex.is_match(&path), "{} {}", regex, path);
        if let Some(query) = query {
            let url = format!("{url}?{query}");
            prop_assert!(regex.is_match(&url), "{} {}", regex, url);
        }
        let longer = format!("{url}x");
        prop_assert!(!regex.is_match(&longer), "{} {}", regex, longer);
    }

    #[test]
    fn no_url_panics(url in ".*", tail in ".*") {
        path_of_url(&url);
        path_of_url(&format!("file:///{tail}"));
        UserFile::new(Path::new(&url)).url_regex();
    }
}
