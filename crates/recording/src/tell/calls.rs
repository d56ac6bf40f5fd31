//! Calls as a tree, a list or numbers.

use super::{Page, plural, time};
use crate::{
    ask::calls::{CallOrder, CallsAsk, CallsForm, CallsFound, FunctionTally, ListedCall},
    show::CallEnd,
};

impl CallsFound {
    pub fn tell(&self, ask: &CallsAsk, tokens: usize) -> String {
        let mut page = Page::new(tokens);
        match self.form {
            CallsForm::Tree => self.rows.iter().for_each(|it| {
                page.line(&tree_row(it));
            }),
            CallsForm::List => {
                page.must(&self.headline(ask));
                for row in &self.rows {
                    page.line(&list_row(row));
                    row.notes.iter().for_each(|it| {
                        page.line(&format!("    {it}"));
                    });
                }
            }
            CallsForm::Count => {
                page.must(&self.headline(ask));
                self.counts.iter().filter(|it| it.matched > 0).for_each(|it| {
                    page.line(&count_row(it));
                });
            }
        }
        let mut missing = self.missing.clone();
        let left = self.matched.saturating_sub(self.rows.len() as u64);
        if self.form == CallsForm::List && left > 0 {
            missing.insert(
                0,
                format!("{left} further calls: ask with a larger `n`, or another `order`"),
            );
        }
        if self.counted_only > 0 {
            missing.insert(0, format!("{} calls that were only counted", self.counted_only));
        }
        if self.unsure > 0 {
            missing.insert(
                0,
                format!(
                    "{} values were kept in part, so the condition is not sure of them",
                    self.unsure
                ),
            );
        }
        page.end(&missing, self.next.as_ref())
    }

    fn headline(&self, ask: &CallsAsk) -> String {
        let of = ask.function.as_ref().map(|it| format!(" of {it}")).unwrap_or_default();
        let under = ask.under.map(|it| format!(" under {it}")).unwrap_or_default();
        let all = format!("{}{of}{under}", plural(self.considered, "call"));
        let order = match ask.order {
            CallOrder::First => "",
            CallOrder::Last => ", the last",
            CallOrder::Slowest => ", the slowest by the clock, waiting included",
            CallOrder::Ended => ", as they ended",
        };
        match &ask.condition {
            Some(condition) => format!("{all}, {} with {condition}{order}", self.matched),
            None => format!("{all}{order}"),
        }
    }
}

/// `3 of 5  Cart.total  1.2 ms, 1 suspended`.
fn count_row(count: &FunctionTally) -> String {
    let FunctionTally { function, calls, matched, suspended, milliseconds } = count;
    let of = if calls == matched { String::new() } else { format!(" of {calls}") };
    let took = match suspended {
        0 => time(*milliseconds),
        all if all == matched => "suspended".to_owned(),
        some => format!("{}, {some} suspended", time(*milliseconds)),
    };
    format!("{matched}{of}  {function}  {took}")
}

fn tree_row(row: &ListedCall) -> String {
    let indent = "  ".repeat(row.depth as usize);
    let call = &row.call;
    let notes = row.notes.iter().map(|it| format!("  {it}")).collect::<String>();
    let hidden = match row.hidden {
        0 => String::new(),
        hidden => format!("  +{}", plural(hidden, "call")),
    };
    let alike = match row.alike {
        0 => String::new(),
        alike => format!("\n{indent}… {alike} more of {}", call.function),
    };
    let took = if call.milliseconds >= 1.0 {
        format!("  {}", time(call.milliseconds))
    } else {
        String::new()
    };
    format!(
        "{indent}{} {} {}{took}{notes}{hidden}{alike}",
        call.id,
        call.signature(60),
        call.end.shown()
    )
}

fn list_row(row: &ListedCall) -> String {
    let call = &row.call;
    let by = match (&call.parent, &call.site) {
        (Some((id, name)), Some((file, line))) if *line > 0 => {
            format!("  in {name} {id}, {file}:{line}")
        }
        (Some((id, name)), _) => format!("  in {name} {id}"),
        _ => format!("  {}:{}", call.file, call.line),
    };
    let took = match call.end {
        CallEnd::Open | CallEnd::Suspended => String::new(),
        // What it promised comes later.
        _ if call.end.is_promise() => format!("   {} to its promise", time(call.milliseconds)),
        _ => format!("   {}", time(call.milliseconds)),
    };
    format!("{} {} {}{took}{by}", call.id, call.signature(80), call.end.shown())
}
