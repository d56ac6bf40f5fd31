//! One test by its name: `spec/cart_spec.rb::Cart adds up` with RSpec, `test/cart_test.rb::test_total` with minitest
//! or test-unit, which are started by the file itself.

use std::{ffi::OsString, path::Path};

use super::What;
use crate::failure::{Code, Failure};

pub(super) fn what(test: &str, cwd: &Path) -> Result<What, Failure> {
    let (file, name) = test.split_once("::").map_or((test, None), |(file, it)| (file, Some(it)));
    let whole = cwd.join(file);
    let path = whole.canonicalize().unwrap_or(whole);
    if !path.is_file() {
        let text = format!("`{}` is no file of tests", path.display());
        return Err(Failure::new(Code::NotFound, text).hint("pass `file.rb::name of the test`"));
    }
    let is_spec =
        path.file_stem().and_then(|it| it.to_str()).is_some_and(|it| it.ends_with("_spec"));
    let mut words: Vec<OsString> = Vec::new();
    if is_spec {
        words.extend(["-S".into(), "rspec".into(), path.clone().into()]);
        // Groups and their examples are one sentence to RSpec.
        words.extend(name.into_iter().flat_map(|it| ["-e".into(), it.replace("::", " ").into()]));
    } else {
        let folders = ["lib", "test"].iter().map(|it| cwd.join(it)).filter(|it| it.is_dir());
        words.extend(folders.flat_map(|it| ["-I".into(), it.into()]));
        words.push(path.clone().into());
        let last = name.and_then(|it| it.rsplit("::").next());
        let own = last.map(|it| it.rsplit('#').next().unwrap_or(it));
        words.extend(own.into_iter().flat_map(|it| ["-n".into(), it.into()]));
    }
    Ok(What { ruby: None, words, entry: Some(path) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_named_as_its_runner_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["cart_spec.rb", "cart_test.rb"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let last = |test: &str| {
            let words = what(test, &root).unwrap().words;
            words.iter().rev().take(2).rev().map(|it| it.to_string_lossy().into_owned()).collect()
        };
        let told: Vec<String> = last("cart_spec.rb::Cart::adds up");
        assert_eq!(told, ["-e", "Cart adds up"]);
        let told: Vec<String> = last("cart_test.rb::CartTest#test_total");
        assert_eq!(told, ["-n", "test_total"]);
        assert!(what("none_test.rb::a", &root).is_err());
    }
}
