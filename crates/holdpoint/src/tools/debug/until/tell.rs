//! What became of a value that was watched, told: what it was, what it is, which line did it, and where the
//! program is now.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use holdpoint_engine::{
    backend::{SeenValue, UntilAsked, UntilSeen, UntilWay},
    budget,
    failure::Failure,
    ids::TargetId,
    inspect, limits,
    secrets::Secrets,
    session::{Outcome, Session, Shown},
};
use serde_json::{Value, json};

use crate::{
    tool::{Answer, Reply},
    tools::debug::report,
};

/// Bytes of a value in the first line.
const VALUE: usize = 300;
/// Bytes of the line that did it.
const LINE: usize = 160;

pub(super) struct UntilTelling<'a> {
    pub(super) session: &'a Session,
    pub(super) target: TargetId,
    pub(super) asked: &'a UntilAsked,
    pub(super) way: UntilWay,
    pub(super) secrets: &'a Secrets,
    pub(super) begun: Instant,
}

/// How it came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Turned,
    /// The function that it was looked at in is over.
    Left,
    /// It is over, and no line of the user's has run since.
    LeftRunning,
    /// Something else stopped the program first.
    StoppedFirst,
    EndedFirst,
    /// The time is over, and it stands.
    Late,
    /// The time is over, and it runs on.
    RunsOn,
}

impl Came {
    fn word(self) -> &'static str {
        match self {
            Came::Turned => "turned",
            Came::Left => "scope_left",
            Came::LeftRunning => "scope_left_running",
            Came::StoppedFirst => "stopped_first",
            Came::EndedFirst => "ended_first",
            Came::Late => "timed_out_stopped",
            Came::RunsOn => "timed_out_running",
        }
    }
}

impl UntilTelling<'_> {
    pub(super) async fn tell(
        &self,
        found: Outcome,
        seen: UntilSeen,
        cursor: u64,
        patience: Duration,
    ) -> Result<Reply, Failure> {
        let came = came(&found, &seen);
        let head = format!("{}\n{}", self.head(came, &seen, patience).await, self.looked(&seen));
        let told = report::outcome(self.session, found.clone(), cursor, patience);
        let told = match tokio::time::timeout(limits::TELL, told).await {
            Ok(told) => told?,
            Err(_) => report::without_values(self.session, found, cursor, patience).await?,
        };
        Ok(match told {
            Reply::Answer(answer) => Reply::Answer(Answer {
                text: format!("{head}\n{}", self.program(came, &answer.text)),
                ..answer
            }),
            other => other,
        }
        .with_data([("until", self.data(came.word(), &seen))]))
    }

    /// Nothing runs for what is the case.
    pub(super) async fn already(&self, shown: &Shown, seen: &UntilSeen) -> Result<Reply, Failure> {
        let text = format!(
            "`{}` is {} here already; nothing was run\n{}",
            self.name(),
            self.value(&seen.now),
            report::head(self.session, shown).await
        );
        let data = json!({
            "session_id": self.session.id,
            "state": "stopped",
            "stop": report::stop_json(shown),
            "seq": shown.seq,
            "until": self.data("already", seen),
        });
        Ok(Answer::new(text, &data)?.into())
    }

    async fn head(&self, came: Came, seen: &UntilSeen, patience: Duration) -> String {
        let (name, now) = (self.name(), self.value(&seen.now));
        let still = match seen.before == seen.now {
            true => format!("`{name}` is still {now}"),
            false => format!("`{name}` is {now} by now"),
        };
        let last = match &seen.now {
            SeenValue::Text(_) => format!("`{name}` was {now} when it was last looked at"),
            SeenValue::Error(_) => format!("`{name}` raised when it was last looked at: {now}"),
        };
        let wanted = match &self.asked.becomes {
            Some(becomes) => format!("did not become {}", budget::cut(becomes, 80)),
            None => "did not change".to_owned(),
        };
        let seconds = patience.as_secs_f64();
        match came {
            Came::Turned => {
                let before = self.value(&seen.before);
                format!("`{name}`: {before} → {now}{}", self.by(seen).await)
            }
            Came::Left => {
                format!(
                    "Scope left: the function in which `{name}` was looked at is over{}; {last}",
                    self.by(seen).await
                )
            }
            Came::LeftRunning => format!(
                "Scope left: the function in which `{name}` was looked at is over; {last}. No line of your code has \
                 run since: it runs on"
            ),
            Came::StoppedFirst => format!("Stopped by something else first: {still}"),
            Came::EndedFirst => format!("The program ended first: {last}"),
            Came::Late => format!("`{name}` {wanted} within {seconds} s: {still}; it was stopped"),
            Came::RunsOn => format!(
                "`{name}` {wanted} within {seconds} s, and the program came to no further line of your code: it \
                 runs on, and the value is no longer watched"
            ),
        }
    }

    /// `, by shop.py:12 in add: total += n`
    async fn by(&self, seen: &UntilSeen) -> String {
        let Some((file, line, function)) = &seen.by else { return String::new() };
        let place = inspect::place(file, self.session.cwd());
        let text = self.line(file, *line).await.map(|it| format!(": `{it}`")).unwrap_or_default();
        let function = match function.as_str() {
            "" => String::new(),
            function => format!(" in {function}"),
        };
        let threads = match seen.threads {
            0 => String::new(),
            1 => " (or by another thread, which ran meanwhile)".to_owned(),
            many => format!(" (or by one of {many} other threads, which ran meanwhile)"),
        };
        format!(", by {place}:{line}{function}{text}{threads}")
    }

    async fn line(&self, file: &Path, line: u32) -> Option<String> {
        let source = self.session.source(Some(self.target), file).await?;
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let text = source.text.lines().nth(index)?.trim().to_owned();
        Some(budget::cut(&text, LINE)).filter(|it| !it.is_empty())
    }

    /// `looked at 812 lines inside the program in 0.2 s`
    fn looked(&self, seen: &UntilSeen) -> String {
        let (what, how) = match self.way {
            UntilWay::InProcess => ("line", "inside the program"),
            UntilWay::Debugger => ("step", "by the debugger, one by one"),
        };
        let many = if seen.lines == 1 { "" } else { "s" };
        let raised = match seen.raised {
            0 => String::new(),
            raised if raised > seen.lines => {
                ", and it raised each time: is everything in it known in this `frame`?".to_owned()
            }
            1 => ", where it raised once".to_owned(),
            raised => format!(", where it raised {raised} times"),
        };
        let took = self.begun.elapsed().as_secs_f64();
        format!("(looked at {} {what}{many} {how} in {took:.2} s{raised})", seen.lines)
    }

    /// Where the program is, and what to do next.
    fn program(&self, came: Came, told: &str) -> String {
        let next = match came {
            Came::Turned => {
                "`debug_until` goes on to the next change, `debug_stack` says who called"
            }
            Came::Left => "`debug_until` with `frame` or another expression goes on from here",
            Came::StoppedFirst | Came::Late => "`debug_until` goes on watching from here",
            // These say their own.
            Came::EndedFirst | Came::RunsOn | Came::LeftRunning => return told.to_owned(),
        };
        format!("{told}\nhint: {next}")
    }

    fn name(&self) -> String {
        budget::cut(&self.asked.expression, 80)
    }

    fn value(&self, value: &SeenValue) -> String {
        match value {
            SeenValue::Text(text) => {
                let shown = self.secrets.named(&self.asked.expression, text);
                budget::cut(&shown.replace('\n', "⏎"), VALUE)
            }
            SeenValue::Error(error) => format!("<{}>", budget::cut(error, VALUE)),
        }
    }

    fn data(&self, came: &str, seen: &UntilSeen) -> Value {
        let by = seen.by.as_ref().map(|(file, line, function)| {
            json!({ "file": file.display().to_string(), "line": line, "function": function })
        });
        let way = match self.way {
            UntilWay::InProcess => "in_process",
            UntilWay::Debugger => "stepping",
        };
        json!({
            "came": came,
            "before": self.value(&seen.before),
            "now": self.value(&seen.now),
            "by": by,
            "way": way,
            "looked": seen.lines,
            "raised": seen.raised,
            "other_threads": seen.threads,
        })
    }
}

fn came(found: &Outcome, seen: &UntilSeen) -> Came {
    match found {
        Outcome::Ended(_) => Came::EndedFirst,
        Outcome::Running if seen.left => Came::LeftRunning,
        Outcome::Running => Came::RunsOn,
        Outcome::Stopped(_) if seen.turned => Came::Turned,
        Outcome::Stopped(_) if seen.left => Came::Left,
        Outcome::Stopped(shown) if shown.stop.reason.as_str() == "step" => Came::Late,
        Outcome::Stopped(_) => Came::StoppedFirst,
    }
}
