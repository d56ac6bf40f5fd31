//! The table: what, ours, floor, ratio, goal, met or not.

/// One measured thing; both numbers are in the row's unit.
pub(super) struct Row {
    pub(super) what: String,
    pub(super) unit: Unit,
    pub(super) ours: f64,
    pub(super) floor: f64,
    pub(super) goal: Goal,
}

#[derive(Clone, Copy)]
pub(super) enum Unit {
    Milliseconds,
    /// For times around one millisecond.
    FineMilliseconds,
    Microseconds,
    PerSecond,
    Megabytes,
    /// Of things that are counted one by one.
    Pieces,
    /// Of a core.
    Percent,
}

impl Unit {
    /// A number that does not exist, such as the floor of what only we do, is a dash.
    fn show(self, value: f64) -> String {
        if value.is_nan() {
            return "–".into();
        }
        match self {
            Self::Milliseconds => format!("{value:.1} ms"),
            Self::FineMilliseconds => format!("{value:.2} ms"),
            Self::Microseconds => format!("{value:.0} µs"),
            Self::PerSecond => format!("{value:.0} /s"),
            Self::Megabytes => format!("{value:.1} MB"),
            Self::Pieces => format!("{value:.0}"),
            Self::Percent => format!("{value:.1} %"),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// At least this, and at least this share of the floor.
    AtLeastOfFloor {
        limit: f64,
        share: f64,
    },
    /// At least this share of the floor.
    ShareOfFloor(f64),
    TimesFloor(f64),
    /// The floor's multiple and a little more, in the row's unit.
    NearFloor {
        times: f64,
        plus: f64,
    },
    /// The same, and never more than this.
    NearFloorAtMost {
        times: f64,
        plus: f64,
        limit: f64,
    },
    /// Shown for the curious; tails of a shared machine are no goal.
    None,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.ours / self.floor
    }

    fn goal_words(&self) -> (String, &'static str) {
        let (words, met) = match self.goal {
            Goal::AtMost(limit) => (format!("≤ {}", self.unit.show(limit)), self.ours <= limit),
            Goal::AtLeast(limit) => (format!("≥ {}", self.unit.show(limit)), self.ours >= limit),
            Goal::AtLeastOfFloor { limit, share } => (
                format!("≥ {}, ≥ {share} × floor", self.unit.show(limit)),
                self.ours >= limit && self.ratio() >= share,
            ),
            Goal::ShareOfFloor(share) => (format!("≥ {share} × floor"), self.ratio() >= share),
            Goal::TimesFloor(limit) => (format!("≤ {limit} × floor"), self.ratio() <= limit),
            Goal::NearFloor { times, plus } => self.near_floor(times, plus),
            Goal::NearFloorAtMost { times, plus, limit } => {
                let (words, near) = self.near_floor(times, plus);
                (format!("{words}, ≤ {}", self.unit.show(limit)), near && self.ours <= limit)
            }
            Goal::None => return ("–".into(), ""),
        };
        (words, if met { "met" } else { "MISSED" })
    }

    fn near_floor(&self, times: f64, plus: f64) -> (String, bool) {
        let words = format!("≤ {times} × floor + {}", self.unit.show(plus));
        (words, self.ours <= times * self.floor + plus)
    }
}

pub(super) fn render(rows: &[Row]) -> String {
    let mut lines = vec![["what", "ours", "floor", "ratio", "goal", ""].map(str::to_owned)];
    for row in rows {
        let (goal, met) = row.goal_words();
        lines.push([
            row.what.clone(),
            row.unit.show(row.ours),
            row.unit.show(row.floor),
            if row.ratio().is_nan() { "–".into() } else { format!("{:.2}", row.ratio()) },
            goal,
            met.to_owned(),
        ]);
    }
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let is_number = (1..=3).contains(&column);
            if is_number { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_judged_by_value_or_by_ratio() {
        let row = |what: &str, unit, ours, floor, goal| Row {
            what: what.to_owned(),
            unit,
            ours,
            floor,
            goal,
        };
        let text = render(&[
            row("start, p50", Unit::Milliseconds, 4.0, 2.0, Goal::AtMost(10.0)),
            row("pipes, p50", Unit::Microseconds, 200.0, 100.0, Goal::TimesFloor(1.5)),
            row("pipes, p99", Unit::Microseconds, 300.0, 100.0, Goal::None),
            row(
                "pairs",
                Unit::PerSecond,
                600.0,
                1500.0,
                Goal::AtLeastOfFloor { limit: 500.0, share: 0.5 },
            ),
            row("idle RSS", Unit::Megabytes, 12.5, 5.0, Goal::AtMost(12.0)),
            row(
                "stack",
                Unit::FineMilliseconds,
                2.5,
                1.0,
                Goal::NearFloor { times: 1.5, plus: 1.0 },
            ),
            row(
                "step",
                Unit::FineMilliseconds,
                5.5,
                4.0,
                Goal::NearFloorAtMost { times: 1.5, plus: 1.0, limit: 5.0 },
            ),
        ]);
        let expected = "\
what          ours   floor  ratio  goal
start, p50  4.0 ms  2.0 ms   2.00  ≤ 10.0 ms    met
pipes, p50  200 µs  100 µs   2.00  ≤ 1.5 × floor  MISSED
pipes, p99  300 µs  100 µs   3.00  –
pairs      600 /s  1500 /s  0.40  ≥ 500 /s, ≥ 0.5 × floor  MISSED
idle RSS   12.5 MB  5.0 MB   2.50  ≤ 12.0 MB    MISSED
stack      2.50 ms  1.00 ms  2.50  ≤ 1.5 × floor + 1.00 ms  met
step       5.50 ms  4.00 ms  1.38  ≤ 1.5 × floor + 1.00 ms, ≤ 5.00 ms  MISSED
";
        let squeezed = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        assert_eq!(squeezed(&text), squeezed(expected));
    }
}
