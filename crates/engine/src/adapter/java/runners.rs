//! What runners of Java tests are called, whose code is theirs, and what they say of how it went.

use crate::language::Runners;

pub(super) const RUNNERS: Runners = Runners {
    names: &["mvn", "mvnw"],
    code: &["org.junit.", "org.apache.maven.surefire", "jdk.internal.reflect", "java.lang.reflect"],
    callers: &["invoke", "invoke0", "invokeMethod"],
    notes: &[],
    verdict,
    reason,
};

/// `Tests run: 2, Failures: 1, Errors: 0, Skipped: 0`; the last line of that kind is the sum.
fn verdict(last: &[&str]) -> Option<String> {
    let line = last.iter().find_map(|it| Some(it.split_once("Tests run: ")?.1))?;
    let counts = line.split(", Time").next().unwrap_or(line);
    Some(format!("tests run: {}", counts.trim().trim_end_matches(" <<< FAILURE!").to_lowercase()))
}

/// `[ERROR]   CartTest.total:12 expected: <3> but was: <4>`, below `[ERROR] Failures:`
fn reason(lines: &[&str]) -> Option<String> {
    let is_head = |it: &&str| it.contains("[ERROR] Failures:") || it.contains("[ERROR] Errors:");
    let at = lines.iter().position(is_head)?;
    let line = lines.get(at + 1)?;
    Some(line.replace("[ERROR]", "").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_maven_says_is_read() {
        let output = "[ERROR] Failures: \n[ERROR]   CartTest.total:12 expected: <3> but was: <4>\n[INFO] \n\
                      [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE";
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(reason(&lines).as_deref(), Some("CartTest.total:12 expected: <3> but was: <4>"));
        let last: Vec<&str> = output.lines().rev().collect();
        assert_eq!(
            verdict(&last).as_deref(),
            Some("tests run: 2, failures: 1, errors: 0, skipped: 0")
        );
    }
}
