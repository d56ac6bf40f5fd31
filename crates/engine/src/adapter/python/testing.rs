//! One test by its id, `tests/test_a.py::TestCart::test_total`: with pytest where the interpreter has it, else with
//! unittest.

use std::{
    ffi::OsString,
    path::{Component, Path},
};

use super::{PROBE, interpreter::Interpreter};
use crate::{
    failure::{Code, Failure},
    launch::Launch,
    process::command,
};

const HAS_PYTEST: &str = "
import importlib.util, sys
sys.exit(0 if importlib.util.find_spec('pytest') else 3)
";

/// What to run, and what is to be said about it.
pub(super) async fn words(
    test: &str,
    launch: &Launch,
    interpreter: &Interpreter,
) -> Result<(Vec<OsString>, Option<String>), Failure> {
    if has_pytest(launch, interpreter).await {
        return Ok((vec!["-m".into(), "pytest".into(), test.into()], None));
    }
    let path = interpreter.path.display();
    let Some(name) = unittest_name(test, &launch.cwd) else {
        let text = format!("`{path}` has no pytest, and unittest has no test `{test}`");
        return Err(Failure::new(Code::LaunchFailed, text)
            .hint("install pytest there, or pass the `interpreter` that has it"));
    };
    let note = format!("`{path}` has no pytest: run as `python -m unittest {name}`");
    Ok((vec!["-m".into(), "unittest".into(), name.into()], Some(note)))
}

async fn has_pytest(launch: &Launch, interpreter: &Interpreter) -> bool {
    let mut command = command(&interpreter.path);
    command.args(["-c", HAS_PYTEST]).envs(&launch.env).current_dir(&launch.cwd);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null()).kill_on_drop(true);
    let asked = tokio::time::timeout(PROBE, command.status()).await;
    matches!(asked, Ok(Ok(status)) if status.success())
}

/// `tests/test_a.py::TestCart::test_total` is `tests.test_a.TestCart.test_total`; functions outside of classes are
/// none of unittest's.
fn unittest_name(test: &str, cwd: &Path) -> Option<String> {
    let (file, inside) = test.split_once("::").map_or((test, ""), |(file, rest)| (file, rest));
    let names: Vec<&str> = inside.split("::").filter(|it| !it.is_empty()).collect();
    if names.len() == 1 && names.first().is_some_and(|it| it.starts_with("test")) {
        return None;
    }
    let whole = cwd.join(file);
    let within = whole.strip_prefix(cwd).ok()?.with_extension("");
    let mut parts = Vec::new();
    for part in within.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?.to_owned()),
            Component::CurDir => {}
            _ => return None,
        }
    }
    parts.extend(names.into_iter().map(str::to_owned));
    Some(parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_id_has_a_name_for_unittest_where_it_can() {
        let name = |test: &str| unittest_name(test, Path::new("/app"));
        assert_eq!(
            name("tests/test_a.py::Cart::test_x").as_deref(),
            Some("tests.test_a.Cart.test_x")
        );
        assert_eq!(name("/app/test_a.py").as_deref(), Some("test_a"));
        assert_eq!(name("./test_a.py::Cart").as_deref(), Some("test_a.Cart"));
        assert_eq!(name("test_a.py::test_x"), None);
        assert_eq!(name("/elsewhere/test_a.py::Cart"), None);
    }
}
