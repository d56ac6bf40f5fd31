//! One test by its name, `cart::TestTotal/empty basket`: the package's tests are built, and only that one is run.

use std::path::{Path, PathBuf};

use super::{
    build::{Wish, flags},
    not_for_go, sources,
};
use crate::{
    adapter::has_ending,
    budget,
    failure::{Code, Failure},
    launch::Launch,
};

/// Flags of `go test` that are the test's, with their value behind them.
const VALUED: [&str; 8] =
    ["-run", "-skip", "-bench", "-count", "-timeout", "-parallel", "-cpu", "-shuffle"];

pub(super) fn wish(test: &str, launch: &Launch) -> Result<Wish, Failure> {
    let (place, name) = test.split_once("::").map_or((test, None), |(it, name)| (it, Some(name)));
    let whole = launch.cwd.join(place);
    let folder: PathBuf = match has_ending(&whole, &["go"]) {
        true => whole.parent().unwrap_or(Path::new("/")).to_owned(),
        false => whole,
    };
    if sources(&folder).next().is_none() {
        return Err(not_for_go(test));
    }
    if let Some(name) = name {
        is_there(name, &folder)?;
    }
    let mut args = name.map(selected).unwrap_or_default();
    args.push("-test.v".to_owned());
    args.extend(launch.args.iter().cloned());
    let entry = name.and_then(|it| it.split('/').next()).unwrap_or("main.main").to_owned();
    let (what, flags) = (vec![".".to_owned()], Vec::new());
    Ok(Wish { is_test: true, folder, what, flags, args, entry })
}

/// One that is not there is no failure to Go: it runs none, and says `PASS`.
fn is_there(name: &str, folder: &Path) -> Result<(), Failure> {
    let top = name.split('/').next().unwrap_or(name).trim();
    let mut all = Vec::new();
    for file in sources(folder).filter(|it| it.to_string_lossy().ends_with("_test.go")) {
        all.extend(tests_of(&std::fs::read_to_string(file).unwrap_or_default()));
    }
    if all.iter().any(|it| it == top) {
        return Ok(());
    }
    let text = format!("no test `{top}` is in `{}`", folder.display());
    let known = budget::cut(&all.join(", "), 400);
    Err(Failure::new(Code::NotFound, text).hint(match known.as_str() {
        "" => "its folder has no tests".to_owned(),
        known => format!("tests here: {known}"),
    }))
}

fn tests_of(text: &str) -> impl Iterator<Item = String> {
    let heads = text.lines().filter_map(|it| it.strip_prefix("func ")?.split('(').next());
    let kinds = ["Test", "Benchmark", "Fuzz", "Example"];
    let tests = heads.filter(move |it| kinds.iter().any(|kind| it.starts_with(kind)));
    tests.map(str::to_owned)
}

/// The words that run this one and no other. Go writes an underscore where a name has a space.
fn selected(name: &str) -> Vec<String> {
    let exactly = |it: &str| format!("^{}$", escaped(&it.trim().replace(' ', "_")));
    let pattern = name.split('/').map(exactly).collect::<Vec<_>>().join("/");
    match name.starts_with("Benchmark") {
        true => ["-test.run", "^$", "-test.bench", &pattern].map(str::to_owned).into(),
        false => ["-test.run", &pattern].map(str::to_owned).into(),
    }
}

fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// `go test -run TestTotal ./cart`
pub(super) fn command(words: &[String], launch: &Launch) -> Wish {
    let (mut build, mut args) = (Vec::new(), Vec::new());
    let mut what = None;
    let mut rest = words;
    while let [first, more @ ..] = rest {
        rest = more;
        let bare = first.split('=').next().unwrap_or(first);
        let is_tests = VALUED.contains(&bare) || ["-v", "-short", "-failfast"].contains(&bare);
        if is_tests {
            args.push(first.replacen('-', "-test.", 1));
            if let [value, more @ ..] = rest
                && VALUED.contains(&first.as_str())
            {
                args.push(value.clone());
                rest = more;
            }
        } else if first.starts_with('-') {
            let (mut own, more) = flags(std::slice::from_ref(first));
            debug_assert!(more.is_empty());
            build.append(&mut own);
        } else {
            what.get_or_insert_with(|| first.clone());
        }
    }
    args.extend(launch.args.iter().cloned());
    let package = what.unwrap_or_else(|| ".".to_owned());
    let inside = launch.cwd.join(&package);
    // A test runs in the folder of its package.
    let (folder, what) = match inside.is_dir() {
        true => (inside, ".".to_owned()),
        false => (launch.cwd.clone(), package),
    };
    let entry = "main.main".to_owned();
    Wish { is_test: true, folder, what: vec![what], flags: build, args, entry }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_selects_one_test_and_its_subtest() {
        let check = |name: &str, expected: &[&str]| assert_eq!(selected(name), expected);
        check("TestTotal", &["-test.run", "^TestTotal$"]);
        check("TestTotal/empty basket", &["-test.run", "^TestTotal$/^empty_basket$"]);
        check("TestTotal/a+b", &["-test.run", "^TestTotal$/^a\\+b$"]);
        check("BenchmarkAdd", &["-test.run", "^$", "-test.bench", "^BenchmarkAdd$"]);
    }

    #[test]
    fn what_go_test_is_given_goes_to_the_build_or_to_the_test() {
        let launch = Launch { cwd: "/nowhere".into(), ..Launch::default() };
        let words = ["-race", "-run", "TestA", "-v", "./cart"].map(str::to_owned);
        let wish = command(&words, &launch);
        assert_eq!(wish.flags, ["-race"]);
        assert_eq!(wish.args, ["-test.run", "TestA", "-test.v"]);
        assert_eq!(wish.what, ["./cart"]);
    }
}
