//! What the two sides took, as a table, and which goals that meets.

use super::{Asked, AskedKind, Side, Way};

/// As the tools' sizes are counted.
const CHARS_PER_TOKEN: f64 = 3.6;

pub(super) fn tokens(chars: usize) -> f64 {
    count(chars) / CHARS_PER_TOKEN
}

/// One line for each question, then the medians and the totals.
pub(super) fn table(asked: &[Asked]) -> String {
    let width = asked.iter().map(|it| it.name.chars().count()).max().unwrap_or(0).max(10);
    let mut text = format!(
        "{:width$}  {:>11}  {:>13}  {:>15}  {:>13}  {:>9}  {:>5}\n",
        "ours/shell", "calls", "written", "read", "tokens", "right", "lies"
    );
    for it in asked {
        let (ours, shell) = (&it.ours, &it.shell);
        let pair = |of: fn(&Way) -> usize| format!("{}/{}", of(ours), of(shell));
        let right = |way: &Way| if way.is_right() { "yes" } else { "NO" };
        text += &format!(
            "{:width$}  {:>11}  {:>13}  {:>15}  {:>13}  {:>9}  {:>5}\n",
            it.name,
            pair(Way::calls),
            pair(Way::written),
            pair(Way::read),
            format!("{:.0}/{:.0}", ours.tokens(), shell.tokens()),
            format!("{}/{}", right(ours), right(shell)),
            pair(|way| way.lies.len()),
        );
    }
    text += "\n";
    for (name, of) in MEASURES {
        let all: Vec<&Asked> = asked.iter().collect();
        let [ours, shell] = Side::BOTH.map(|side| values_of(&all, side, *of));
        text += &format!(
            "{name:8} median {:>7} ours {:>7} shell   total {:>8} ours {:>8} shell\n",
            shown(median(&ours)),
            shown(median(&shell)),
            shown(ours.iter().sum()),
            shown(shell.iter().sum()),
        );
    }
    text
}

type Measure = (&'static str, fn(&Way) -> f64);

const MEASURES: &[Measure] = &[("calls", |way| count(way.calls())), ("tokens", Way::tokens)];

/// What a question to a recording may cost, and a hunt in calls.
const TOKENS: f64 = 600.0;
const HUNT_CALLS: usize = 4;

/// The goals, each with whether it is met.
pub(super) fn goals(asked: &[Asked]) -> Vec<(String, bool)> {
    let wrong: Vec<&str> =
        asked.iter().filter(|it| !it.ours.is_right()).map(|it| it.name.as_str()).collect();
    let lies: usize = asked.iter().map(|it| it.ours.lies.len()).sum();
    let broken: Vec<&str> =
        asked.iter().filter(|it| !it.shell.is_sound()).map(|it| it.name.as_str()).collect();
    let mut goals = vec![
        (format!("every answer of ours right {}", listed(&wrong)), wrong.is_empty()),
        (format!("no lies of ours ({lies})"), lies == 0),
        (format!("the shell's way finds it too {}", listed(&broken)), broken.is_empty()),
    ];
    for (kind, name) in [
        (AskedKind::Run, "a run"),
        (AskedKind::Recorded, "a recording"),
        (AskedKind::Hunt, "a failing test"),
    ] {
        let of: Vec<&Asked> = asked.iter().filter(|it| it.kind == kind).collect();
        if !of.is_empty() {
            goals.extend(beside(&of, name));
            goals.extend(of_its_own(&of, kind));
        }
    }
    goals
}

/// Medians beside the shell's.
fn beside<'a>(asked: &'a [&Asked], name: &'a str) -> impl Iterator<Item = (String, bool)> + 'a {
    MEASURES.iter().map(move |(measure, of)| {
        let [ours, shell] = Side::BOTH.map(|side| median(&values_of(asked, side, *of)));
        let text = format!(
            "{} questions to {name}: median {measure} {} ≤ the shell's {}",
            asked.len(),
            shown(ours),
            shown(shell)
        );
        (text, ours <= shell)
    })
}

/// What is asked of one kind alone.
fn of_its_own(asked: &[&Asked], kind: AskedKind) -> Vec<(String, bool)> {
    let of = |measure: fn(&Way) -> f64| median(&values_of(asked, Side::Ours, measure));
    match kind {
        AskedKind::Run => Vec::new(),
        AskedKind::Recorded => {
            let (calls, tokens) = (of(|way| count(way.calls())), of(Way::tokens));
            // Each recording's own answer is read once, by whoever asks first.
            let mut made: Vec<&str> = Vec::new();
            for turn in asked.iter().filter_map(|it| it.ours.made.as_ref()) {
                if !made.contains(&turn.read.as_str()) {
                    made.push(&turn.read);
                }
            }
            let read = made.iter().map(|it| it.chars().count()).sum();
            let share = self::tokens(read) / count(asked.len());
            vec![
                (format!("of a recording: median {} ≤ 1 call", shown(calls)), calls <= 1.0),
                (format!("of a recording: median {tokens:.0} ≤ {TOKENS} tokens"), tokens <= TOKENS),
                (
                    format!(
                        "… and with its share ({share:.0}) of the {} recordings' own answers {:.0}",
                        made.len(),
                        tokens + share
                    ),
                    tokens + share <= TOKENS,
                ),
            ]
        }
        AskedKind::Hunt => {
            let long = asked.iter().filter(|it| it.ours.calls() > HUNT_CALLS);
            let long: Vec<&str> = long.map(|it| it.name.as_str()).collect();
            let text =
                format!("each of {} causes in ≤ {HUNT_CALLS} calls {}", asked.len(), listed(&long));
            vec![(text, long.is_empty())]
        }
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!("(not: {})", names.join(", ")) }
}

fn values_of(asked: &[&Asked], side: Side, of: fn(&Way) -> f64) -> Vec<f64> {
    asked.iter().map(|it| of(it.way(side))).collect()
}

/// Exact for any number that occurs.
fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Of an even number, between the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN);
    let lower = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN);
    f64::midpoint(lower, upper)
}

fn shown(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_between_two() {
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!(median(&[]).is_nan());
    }
}
