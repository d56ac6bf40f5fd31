//! What runners of Python tests are called, whose code is theirs, and what they say of how it went.

use crate::language::Runners;

pub(super) const RUNNERS: Runners = Runners {
    names: &["pytest", "py.test", "unittest"],
    code: &["/_pytest/", "/pluggy/", "/unittest/", "/multiprocessing/", "/nose"],
    callers: &[
        "pytest_pyfunc_call",
        "call_fixture_func",
        "_call_with_optional_argument",
        "exec_module",
        "importtestmodule",
        "_importtestmodule",
        "_callTestMethod",
        "_callSetUp",
        "_callTearDown",
        "_callCleanup",
        "_handleClassSetUp",
        "_handleModuleFixture",
    ],
    notes: &["has no pytest"],
    verdict,
    reason: |lines| pytest(lines).or_else(|| unittest(lines)),
};

/// `1 failed, 2 passed`, or `FAILED (failures=1), ran 3 tests`.
fn verdict(last: &[&str]) -> Option<String> {
    let pytest = last.iter().find_map(|line| {
        let plain = line.trim_matches('=').trim();
        let words = ["passed", "failed", "error", "skipped", "deselected", "no tests ran"];
        let is_it = words.iter().any(|it| plain.contains(it)) && plain.contains(" in ");
        let counts = plain.rsplit_once(" in ").map_or(plain, |(counts, _)| counts);
        (is_it && plain.ends_with(['s', ')'])).then(|| counts.to_owned())
    });
    pytest.or_else(|| {
        let ran = last.iter().find(|it| it.starts_with("Ran ") && it.contains(" test"))?;
        let how = last.iter().find(|it| it.starts_with("OK") || it.starts_with("FAILED"))?;
        let ran = ran.split(" in ").next().unwrap_or(ran);
        Some(format!("{how}, {}", ran.to_lowercase()))
    })
}

/// `E   AssertionError: 1 != 2`, and below it `tests/test_a.py:7: AssertionError`
fn pytest(lines: &[&str]) -> Option<String> {
    let at = lines.iter().position(|it| it.starts_with("E  "))?;
    let rest = lines.get(at..)?;
    let said = rest.first()?.strip_prefix('E')?.trim();
    let difference = difference(rest).filter(|_| said.contains("..."));
    let said = difference.unwrap_or(said);
    let place = rest.iter().find_map(|line| {
        let (place, kind) = line.split_once(": ")?;
        let (file, number) = place.rsplit_once(':')?;
        let is_place = !file.contains(' ') && number.parse::<u32>().is_ok();
        is_place.then_some((place, kind.trim()))
    });
    match place {
        Some((place, kind)) if said.contains(kind) => Some(format!("{place} {said}")),
        Some((place, kind)) => Some(format!("{place} {kind}: {said}")),
        None => Some(said.to_owned()),
    }
}

/// Where both sides are cut they often look alike; what differs is said below.
fn difference<'a>(report: &[&'a str]) -> Option<&'a str> {
    let mut said = report.iter().map_while(|it| it.strip_prefix('E')).map(str::trim);
    let begins = ["At index ", "Left contains ", "Right contains "];
    let heads = ["Differing items:", "Extra items in the "];
    said.clone().find(|it| begins.iter().any(|begin| it.starts_with(begin))).or_else(|| {
        said.find(|it| heads.iter().any(|head| it.starts_with(head)))?;
        said.next()
    })
}

/// `File "/home/me/test_a.py", line 8, in test_total`, and below it `AssertionError: 3 != 4`
fn unittest(lines: &[&str]) -> Option<String> {
    let at = lines.iter().position(|it| it.starts_with("Traceback (most recent"))?;
    let rest = lines.get(at + 1..)?;
    let end = rest.iter().position(|it| !it.starts_with(' '))?;
    let place = rest.iter().take(end).rev().find_map(|it| {
        let (file, rest) = it.trim().strip_prefix("File \"")?.split_once("\", line ")?;
        let number = rest.split(',').next()?;
        Some(format!("{file}:{number} "))
    });
    Some(format!("{}{}", place.unwrap_or_default(), rest.get(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_told_with_its_place() {
        let check = |output: &str, expected: Option<&str>| {
            let lines: Vec<&str> = output.lines().collect();
            assert_eq!((RUNNERS.reason)(&lines).as_deref(), expected);
        };
        check(
            ">       self.assertNotIn(1, cache)\nE       AssertionError: 1 found in [1]\n\n\
             tests/test_a.py:27: AssertionError\n=== short test summary info ===",
            Some("tests/test_a.py:27 AssertionError: 1 found in [1]"),
        );
        check(
            "E       assert 3 == 4\nE        +  where 3 = total([1, 2])\n\ntests/test_cart.py:7: AssertionError",
            Some("tests/test_cart.py:7 AssertionError: assert 3 == 4"),
        );
        check(
            "E       assert [(1, 'a...(9, 'b')] == [(1, 'a...(9, 'b')]\nE         \n\
             E         At index 3 diff: 'c' != 'd'\n\ntests/test_cart.py:7: AssertionError",
            Some("tests/test_cart.py:7 AssertionError: At index 3 diff: 'c' != 'd'"),
        );
        check(
            "E       AssertionError: assert {'a': 1,...} == {'a': 2,...}\nE         Differing items:\n\
             E         {'a': 1} != {'a': 2}\n\ntests/test_cart.py:7: AssertionError",
            Some("tests/test_cart.py:7 AssertionError: {'a': 1} != {'a': 2}"),
        );
        check(
            "FAIL: test_total\nTraceback (most recent call last):\n  File \"/home/me/tests/test_a.py\", line 5, in \
             test_total\n    self.assertEqual(3, 4)\nAssertionError: 3 != 4\n\nRan 1 test in 0.1s",
            Some("/home/me/tests/test_a.py:5 AssertionError: 3 != 4"),
        );
        check("all is well", None);
    }

    #[test]
    fn a_verdict_is_read_from_the_end() {
        let check = |output: &str, expected: Option<&str>| {
            let lines: Vec<&str> = output.lines().rev().map(str::trim).collect();
            assert_eq!(verdict(&lines).as_deref(), expected);
        };
        check("x\n=== 1 failed, 2 passed in 0.12s ===", Some("1 failed, 2 passed"));
        check(
            "Ran 3 tests in 0.001s\n\nFAILED (failures=1)",
            Some("FAILED (failures=1), ran 3 tests"),
        );
        check("all is well", None);
    }
}
