//! A run in a dozen lines.

use super::{Page, plural, thousands, time};
use crate::{
    ask::overview::{FailureShown, Overview},
    head::StreamState,
    recording::ProcessFacts,
    show::{CallShown, cut, one_line},
};

/// Characters of an assertion's text.
const MESSAGE: usize = 300;

/// Functions of which less than their lines was kept.
const LEVELS: usize = 2;

/// Lines of what a failed program wrote, and characters of each.
const SAID_LINES: usize = 5;
const SAID_CHARS: usize = 160;

impl Overview {
    /// `title`: what ran, by whoever ran it, and how it went; `output`: what it wrote, if that is to be told.
    pub fn tell(&self, title: &str, output: &str, stored_bytes: u64, tokens: usize) -> String {
        let mut page = Page::new(tokens);
        page.must(title);
        self.tell_failure(&mut page);
        for (at, line) in said(output, self.tests.2 > 0).iter().enumerate() {
            page.line(&format!("{}{line}", if at == 0 { "output  " } else { "        " }));
        }
        self.tell_exceptions(&mut page);
        for odd in &self.odd {
            let times =
                if odd.times == 1 { "once".to_owned() } else { format!("{} times", odd.times) };
            page.line(&format!(
                "odd     {}: {} {times} in {} calls ({}), else {}",
                odd.function, odd.what, odd.calls, odd.first, odd.usual
            ));
        }
        for level in self.levels.iter().take(LEVELS) {
            page.line(&format!("less    {level}"));
        }
        let processes = self.processes.len() as u64;
        let of = if processes > 1 { format!(" of {processes} processes") } else { String::new() };
        let kept = format!(
            "kept    {}, {} lines{of}, {}",
            plural(self.calls, "call"),
            thousands(self.lines),
            size(stored_bytes)
        );
        page.must(&kept);
        page.end(&self.missing, self.next.as_ref().filter(|_| self.calls > 0))
    }

    /// `FAILED`, `passed`, `exit 1`, as far as the recording knows.
    pub fn verdict(&self) -> String {
        verdict(self.tests, &self.processes)
    }

    /// How long it took by its own clock.
    pub fn took(&self) -> String {
        let longest = self.processes.iter().map(|it| it.took_ms).fold(0.0, f64::max);
        time(longest)
    }

    fn tell_failure(&self, page: &mut Page) {
        let message = self.failed_test.as_ref().and_then(|it| it.message.as_deref());
        match (&self.failure, message) {
            (Some(failure), message) => {
                // A runner's text says more of an assertion than its exception does.
                let is_bare = !failure.exception.contains(' ');
                let text = match message {
                    Some(message) if is_bare => cut(one_line(message), MESSAGE),
                    _ => one_line(&failure.exception),
                };
                page.must(&format!("{text}   {}:{}", failure.file, failure.line));
                page.line(&format!("path    {}", path(failure)));
                for row in &failure.last_lines {
                    page.line(&format!("        {}", row.shown()));
                }
            }
            (None, Some(message)) => page.must(&cut(one_line(message), MESSAGE)),
            (None, None) => {}
        }
    }

    fn tell_exceptions(&self, page: &mut Page) {
        if self.raised == 0 {
            return;
        }
        let shown = self.swallowed_shown.iter().map(|it| {
            let raised = if it.raised_in.id == it.handled_by.id {
                format!("in {} {}", it.raised_in.function, it.raised_in.id)
            } else {
                format!("from {} {}", it.raised_in.function, it.raised_in.id)
            };
            let times = if it.times > 1 { format!("×{} ", it.times) } else { String::new() };
            format!(
                "{} {times}{raised}, handled at {}:{}, {} {} {}",
                it.exception,
                it.file,
                it.line,
                it.handled_by.function,
                it.handled_by.id,
                it.handled_by.end.shown()
            )
        });
        let shown: Vec<String> = shown.collect();
        let first = shown.first().map(|it| format!(": {it}")).unwrap_or_default();
        page.line(&format!("raised  {}, swallowed {}{first}", self.raised, self.swallowed));
        for other in shown.iter().skip(1) {
            page.line(&format!("        {other}"));
        }
    }
}

/// How it ended: by its tests (passed, failed, of all), else by its exit.
pub(crate) fn verdict(tests: (usize, usize, usize), processes: &[ProcessFacts]) -> String {
    let (passed, failed, total) = tests;
    if total > 0 {
        let counts =
            if total > 1 { format!(" ({failed} of {total} tests)") } else { String::new() };
        return match (failed, passed) {
            (0, 0) => "no test ended".to_owned(),
            (0, _) => format!(
                "passed{}",
                if total > 1 { format!(" ({total} tests)") } else { String::new() }
            ),
            _ => format!("FAILED{counts}"),
        };
    }
    match processes.first() {
        Some(first) => match (first.exit, &first.state) {
            (Some(0), _) => "ended with exit code 0".to_owned(),
            (Some(code), _) => format!("FAILED with exit code {code}"),
            (None, StreamState::Ended) => "ended".to_owned(),
            (None, _) => "its end is not recorded".to_owned(),
        },
        None => "nothing was recorded".to_owned(),
    }
}

/// The last lines that a failed program wrote. Of a runner of tests only what the test itself wrote: the rest of its
/// output tells the failure once more.
fn said(output: &str, is_runner: bool) -> Vec<String> {
    let lines = output.lines().map(str::trim_end).filter(|it| !it.is_empty());
    let lines: Vec<&str> = match is_runner {
        true => {
            let is_rule = |it: &str| it.starts_with("----") || it.starts_with("====");
            let captured = lines.skip_while(|it| !(is_rule(it) && it.contains("Captured std")));
            captured.skip(1).take_while(|it| !is_rule(it)).collect()
        }
        false => lines.collect(),
    };
    let last = lines.get(lines.len().saturating_sub(SAID_LINES)..).unwrap_or_default();
    last.iter().map(|it| cut((*it).to_owned(), SAID_CHARS)).collect()
}

/// The outermost calls and the innermost with what they were given, then who had answered, and what.
fn path(failure: &FailureShown) -> String {
    let one = |it: &CallShown| format!("{} {}", it.signature(48), it.id);
    let all = failure.path.get(..failure.depth).unwrap_or(&failure.path);
    let shown: Vec<String> = match all {
        [first, second, middle @ .., _, _, _] if middle.len() > 1 => {
            let last = all.get(all.len() - 3..).unwrap_or_default();
            let left = format!("… {} calls …", middle.len());
            let begin = [one(first), one(second), left];
            begin.into_iter().chain(last.iter().map(one)).collect()
        }
        all => all.iter().map(one).collect(),
    };
    let answers = failure.path.get(failure.depth..).unwrap_or_default();
    let told: Vec<String> = answers.iter().map(one).collect();
    match answers.last() {
        Some(last) => {
            let (way, told) = (shown.join(" > "), told.join(" > "));
            format!("{way}, answered by {told} {}", last.end.shown())
        }
        None => shown.join(" > "),
    }
}

pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        it if it >= 10 << 20 => format!("{} MB", it >> 20),
        it if it >= 1 << 20 => format!("{:.1} MB", it as f64 / f64::from(1 << 20)),
        it => format!("{} KB", it.div_ceil(1 << 10)),
    }
}
