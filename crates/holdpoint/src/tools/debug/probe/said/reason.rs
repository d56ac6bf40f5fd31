//! Why the first test failed, out of its runner's report: the place and the first line of what was wrong.

use std::path::Path;

use holdpoint_engine::budget;

/// Bytes of a reason.
const BYTES: usize = 240;

pub(super) fn of(lines: &[&str], cwd: &Path) -> Option<String> {
    let found = pytest(lines).or_else(|| node(lines)).or_else(|| unittest(lines));
    let here = format!("{}/", cwd.display());
    found.map(|it| budget::cut(&it.replace(&here, ""), BYTES))
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

/// The first test that is `not ok`, or stands with a cross below `failing tests:`.
fn node(lines: &[&str]) -> Option<String> {
    let tap = lines.iter().position(|it| it.trim_start().starts_with("not ok "));
    let tap = tap.and_then(|at| {
        let name = lines.get(at)?.split_once(" - ")?.1;
        let error = value(lines, at, "error:");
        Some(told(lines, at, name, error))
    });
    tap.or_else(|| {
        let at = lines.iter().position(|it| it.contains("failing tests:"))?;
        let rest = lines.get(at + 1..)?;
        let cross = rest.iter().position(|it| it.trim_start().starts_with('✖'))?;
        let name = rest.get(cross)?.trim_start().trim_start_matches('✖').trim();
        let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
        let error = rest.get(cross + 1).map(|it| it.trim().to_owned());
        Some(told(rest, cross, name, error))
    })
}

fn told(lines: &[&str], at: usize, name: &str, error: Option<String>) -> String {
    let place = lines.iter().skip(at).take(60).find_map(|it| place(it));
    let place = place.map(|it| format!(" ({it})")).unwrap_or_default();
    let error = error.map(|it| format!(" {}", it.trim_matches('\''))).unwrap_or_default();
    format!("{name}{place}{error}")
}

/// What stands behind a word, or in the first line of the block below it.
fn value(lines: &[&str], from: usize, word: &str) -> Option<String> {
    let at = (from..lines.len().min(from + 12))
        .find(|at| lines.get(*at).is_some_and(|it| it.trim_start().starts_with(word)))?;
    let own = lines.get(at)?.trim_start().strip_prefix(word)?.trim();
    if own.starts_with('|') {
        return lines.get(at + 1).map(|it| it.trim().to_owned());
    }
    Some(own.to_owned())
}

/// `TestContext.<anonymous> (/home/me/a.test.js:24:10)` of the user's own code.
fn place(line: &str) -> Option<String> {
    let inside = line
        .rsplit_once('(')
        .map_or_else(|| line.trim().strip_prefix("at "), |(_, it)| it.strip_suffix(')'))?;
    let inside = inside.trim_start_matches("file://");
    let mut parts = inside.rsplitn(3, ':');
    let (column, number, file) = (parts.next()?, parts.next()?, parts.next()?);
    let is_place = column.parse::<u32>().is_ok() && number.parse::<u32>().is_ok();
    (is_place && file.starts_with('/')).then(|| format!("{file}:{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<&str>) {
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(of(&lines, Path::new("/home/me")).as_deref(), expected);
    }

    #[test]
    fn the_first_failure_is_told_with_its_place() {
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
            Some("tests/test_a.py:5 AssertionError: 3 != 4"),
        );
        check(
            "ok 1 - other\nnot ok 2 - the list is kept\n  ---\n  location: '/home/me/q.test.js:13:1'\n  \
             error: |-\n    Expected values to be equal:\n  stack: |-\n    \
             new AssertionError (node:internal/assert:1:1)\n    \
             TestContext.<anonymous> (/home/me/q.test.js:24:10)\n# pass 1\n# fail 1",
            Some("the list is kept (q.test.js:24) Expected values to be equal:"),
        );
        check(
            "✖ failing tests:\n\ntest at q.test.js:13:1\n✖ adds up (1.2ms)\n  AssertionError: 3 !== 4\n      \
             at TestContext.<anonymous> (file:///home/me/q.test.js:24:10)\n",
            Some("adds up (q.test.js:24) AssertionError: 3 !== 4"),
        );
        check("all is well", None);
    }
}
