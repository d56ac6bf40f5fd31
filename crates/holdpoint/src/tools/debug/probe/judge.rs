//! The answer about trials: each hypothesis with its verdict and the values that it rests on; how many came out how, and how the
//! program ended; then what to do with that.

use holdpoint_engine::{
    breakpoints::Breakpoints,
    budget::{self, Budget},
    failure::Failure,
    session::Session,
};
use serde_json::{Value, json};

use super::{
    hits::Hit,
    missed,
    plan::{Plan, Planned},
    rows::pair,
    said, tell,
    watch::{End, Seen},
};
use crate::{
    tool::{Answer, Reply},
    tools::debug::report,
};

/// Bytes of a hypothesis, of one value, and of what was expected.
const TEXT: usize = 200;
const VALUE: usize = 120;
/// Values of one hypothesis where the locals stand for them.
const VALUES: usize = 8;

/// What is to be said of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judgement {
    Confirmed,
    Refuted,
    NotReached,
    /// It was reached, and what was expected raised.
    NotJudged,
}

impl Judgement {
    const ALL: [Judgement; 4] =
        [Judgement::Confirmed, Judgement::Refuted, Judgement::NotReached, Judgement::NotJudged];

    fn word(self) -> &'static str {
        match self {
            Judgement::Confirmed => "confirmed",
            Judgement::Refuted => "refuted",
            Judgement::NotReached => "not reached",
            Judgement::NotJudged => "not judged",
        }
    }
}

/// One of them, as it came out.
struct Finding {
    judgement: Judgement,
    text: String,
    data: Value,
}

pub(super) fn answer(
    session: &Session,
    own: &Breakpoints,
    plan: &Plan,
    hypotheses: &[String],
    seen: &Seen,
    budget: Budget,
) -> Result<Reply, Failure> {
    let about = About { session, own, plan, seen };
    let findings: Vec<Finding> = plan
        .places
        .iter()
        .enumerate()
        .zip(hypotheses)
        .map(|((at, planned), hypothesis)| about.finding(at, planned, hypothesis))
        .collect();
    let of = |judgement: Judgement| findings.iter().filter(|it| it.judgement == judgement).count();
    let counts = Judgement::ALL.map(|it| (it, of(it)));
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(judgement, count)| format!("{count} {}", judgement.word()))
        .collect();
    let thrown = seen.thrown.as_ref().map(|it| format!(" · {it}")).unwrap_or_default();
    let last = format!("{}{}{thrown}", counts.join(", "), tell::over(session, &seen.end));
    let tail: Vec<String> = said::note(session).into_iter().chain(said::line(session)).collect();
    let next = next_step(&findings);
    let text = within(&findings, &tail, &format!("{last}\n{next}"), budget);
    let data = json!({
        "experiments": findings.into_iter().map(|it| it.data).collect::<Vec<_>>(),
        "exception": seen.thrown,
        "exit": match &seen.end { End::Exit(exit) => Some(report::exit_json(*exit)), _ => None },
        "timed_out": matches!(seen.end, End::Late(_)),
        "ended": last,
        "next": next,
        "session_id": session.id,
    });
    Ok(Answer::new(text, &data)?.into())
}

/// What brings the most from here: first what was not answered, then what was not as it was thought.
fn next_step(findings: &[Finding]) -> String {
    let all = |wanted: Judgement| {
        let found = findings.iter().enumerate().filter(|(_, it)| it.judgement == wanted);
        let numbers: Vec<String> = found.map(|(at, _)| (at + 1).to_string()).collect();
        (!numbers.is_empty()).then(|| numbers.join(", "))
    };
    if let Some(which) = all(Judgement::NotJudged) {
        return format!("next: correct `expect` of {which}, which raised, and run them again");
    }
    if let Some(which) = all(Judgement::NotReached) {
        return format!(
            "next: `debug_probe` at the lines before {which}, with `hits: all`, shows how far the run came"
        );
    }
    match all(Judgement::Refuted) {
        Some(which) => format!(
            "next: `debug_probe` at {which} with `hits: all` shows every pass, or `record_run` who wrote the value"
        ),
        None => "next: correct the cause, and run this again: what was confirmed of the bug must be refuted then"
            .to_owned(),
    }
}

/// As many values as fit; every verdict is told, whatever the budget.
fn within(findings: &[Finding], tail: &[String], last: &str, budget: Budget) -> String {
    let rest: usize = tail.iter().map(|it| it.len() + 1).sum::<usize>() + last.len();
    let each = budget.bytes().saturating_sub(rest) / findings.len().max(1);
    let shown = findings.iter().map(|it| budget::cut(&it.text, each.max(TEXT)));
    let lines = shown.chain(tail.iter().cloned()).chain([last.to_owned()]);
    lines.collect::<Vec<_>>().join("\n")
}

struct About<'a> {
    session: &'a Session,
    own: &'a Breakpoints,
    plan: &'a Plan,
    seen: &'a Seen,
}

impl About<'_> {
    fn finding(&self, at: usize, planned: &Planned, hypothesis: &str) -> Finding {
        let expect = planned.trial.as_ref().map(|it| it.expect.as_str()).unwrap_or_default();
        let hit = self.seen.hits.iter().find(|it| it.at == at);
        let (judgement, evidence) = match hit {
            Some(hit) => (judged(hit), self.evidence(planned, hit, expect)),
            None => (Judgement::NotReached, self.missed(at, planned)),
        };
        let what = if hypothesis.is_empty() { expect } else { hypothesis };
        let head = format!("{} {}: {}", at + 1, judgement.word(), budget::cut(what, TEXT));
        let data = json!({
            "experiment": at + 1,
            "hypothesis": hypothesis,
            "expect": expect,
            "at": planned.label,
            "verdict": judgement.word().replace(' ', "_"),
            "evidence": hit.map(evidence_json),
            "why": hit.is_none().then_some(&evidence),
        });
        Finding { judgement, text: format!("{head}\n  {evidence}"), data }
    }

    /// `shop.py:12 in work, pass 3 · n = 4 · expected n > 3 · then rate = 0.2`
    fn evidence(&self, planned: &Planned, hit: &Hit, expect: &str) -> String {
        let pass = hit.tried.as_ref().map(|it| format!(", pass {}", it.pass)).unwrap_or_default();
        let who = hit.who.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
        let moved = planned.moved_to(hit.line);
        let mut parts = vec![format!("{} in {}{moved}{pass}{who}", hit.spot, hit.function)];
        let many = if planned.has_expressions() { usize::MAX } else { VALUES };
        parts.extend(hit.values.iter().take(many).map(|(name, value)| {
            pair(name, value.as_ref().map(|it| it.text.as_str()).map_err(String::as_str), VALUE)
        }));
        if let Some(more) = hit.values.len().checked_sub(many).filter(|it| *it > 0) {
            parts.push(format!("{more} more locals: `capture` names some"));
        }
        let tried = hit.tried.as_ref();
        let raised = tried.and_then(|it| it.held.as_ref().err());
        let raised = raised.map(|it| format!(", which raised {}", budget::cut(it, VALUE)));
        parts.push(format!("expected {}{}", budget::cut(expect, TEXT), raised.unwrap_or_default()));
        for (text, done) in tried.map(|it| it.set.as_slice()).unwrap_or_default() {
            let text = budget::cut(text, TEXT);
            parts.push(match done {
                Ok(()) => format!("then {text}"),
                Err(error) => format!("`{text}` failed: {}", budget::cut(error, VALUE)),
            });
        }
        parts.join(" · ")
    }

    fn missed(&self, at: usize, planned: &Planned) -> String {
        match self.seen.failed.get(&at) {
            Some(text) => {
                let condition = planned.condition.as_deref().unwrap_or_default();
                format!("its condition `{condition}` failed: {}", budget::cut(text, TEXT))
            }
            None => missed::why(self.session, self.own, self.plan, planned, self.seen),
        }
    }
}

fn judged(hit: &Hit) -> Judgement {
    match hit.tried.as_ref().map(|it| &it.held) {
        Some(Ok(true)) => Judgement::Confirmed,
        Some(Ok(false)) => Judgement::Refuted,
        Some(Err(_)) | None => Judgement::NotJudged,
    }
}

fn evidence_json(hit: &Hit) -> Value {
    let tried = hit.tried.as_ref();
    json!({
        "place": hit.spot,
        "function": hit.function,
        "line": hit.line,
        "thread": hit.who,
        "pass": tried.map(|it| it.pass),
        "values": tell::values_json(&hit.values),
        "error": tried.and_then(|it| it.held.as_ref().err()),
        "set": tried.map(|it| {
            let one = |(text, done): &(String, Result<(), String>)| {
                json!({ "statement": text, "error": done.as_ref().err() })
            };
            it.set.iter().map(one).collect::<Vec<_>>()
        }),
    })
}
