//! What an agent wants of ten thousand hits: per expression how many, how different, from where to where.
//! Kept as the hits come, so that it is exact whatever the log has forgotten since. Pure.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
};

use crate::{budget, limits};

/// One tracepoint's, since its count began.
#[derive(Debug, Clone, Default)]
pub struct Aggregate {
    /// Hits that were reported.
    pub hits: u64,
    pub expressions: Vec<Column>,
}

/// One expression's.
#[derive(Debug, Clone)]
pub struct Column {
    pub expression: String,
    pub count: u64,
    pub errors: u64,
    /// The type of what was thrown last.
    pub last_error: Option<String>,
    pub first: Option<String>,
    pub last: Option<String>,
    /// The first hit whose value was not the first value.
    pub changed_at: Option<LastChange>,
    /// Only of values that are numbers.
    pub min: Option<Number>,
    pub max: Option<Number>,
    /// Values that were no numbers.
    pub others: u64,
    distinct: Distinct,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LastChange {
    pub hit: u64,
    pub value: String,
}

/// As the program wrote it, and where it stands among others.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    pub text: String,
    value: f64,
}

/// Counts different values by their hashes, up to a bound.
#[derive(Debug, Clone, Default)]
struct Distinct {
    hasher: RandomState,
    seen: HashSet<u64>,
}

impl Aggregate {
    /// Takes a hit's values, in the order of the expressions; an `Err` is the type of what was thrown.
    pub fn add<'a>(
        &mut self,
        hit: u64,
        values: impl Iterator<Item = (&'a str, Result<&'a str, &'a str>)>,
    ) {
        self.hits += 1;
        for (at, (expression, value)) in values.enumerate() {
            if self.expressions.len() <= at {
                self.expressions.push(Column::new(expression));
            }
            if let Some(column) = self.expressions.get_mut(at) {
                column.add(hit, value);
            }
        }
    }
}

impl Column {
    fn new(expression: &str) -> Column {
        Column {
            expression: expression.to_owned(),
            count: 0,
            errors: 0,
            last_error: None,
            first: None,
            last: None,
            changed_at: None,
            min: None,
            max: None,
            others: 0,
            distinct: Distinct::default(),
        }
    }

    fn add(&mut self, hit: u64, value: Result<&str, &str>) {
        self.count += 1;
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                self.errors += 1;
                if self.last_error.as_deref() != Some(error) {
                    self.last_error = Some(error.to_owned());
                }
                return;
            }
        };
        if self.last.as_deref() != Some(value) {
            let kept = budget::cut(value, limits::VALUE_BYTES);
            match &self.first {
                None => self.first = Some(kept.clone()),
                Some(_) if self.changed_at.is_none() => {
                    self.changed_at = Some(LastChange { hit, value: kept.clone() });
                }
                Some(_) => {}
            }
            self.last = Some(kept);
            self.distinct.add(value);
        }
        self.compare(value);
    }

    fn compare(&mut self, text: &str) {
        let Some(value) = text.trim().parse::<f64>().ok().filter(|it| !it.is_nan()) else {
            self.others += 1;
            return;
        };
        let number = || Number { text: text.trim().to_owned(), value };
        if self.min.as_ref().is_none_or(|it| value < it.value) {
            self.min = Some(number());
        }
        if self.max.as_ref().is_none_or(|it| value > it.value) {
            self.max = Some(number());
        }
    }

    /// How many different values; the second is false when there were at least that many.
    pub fn distinct(&self) -> (usize, bool) {
        let count = self.distinct.seen.len();
        (count, count < limits::TRACE_DISTINCT)
    }
}

impl Distinct {
    fn add(&mut self, value: &str) {
        if self.seen.len() < limits::TRACE_DISTINCT {
            self.seen.insert(self.hasher.hash_one(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[Result<&str, &str>]) -> Column {
        let mut aggregate = Aggregate::default();
        for (at, value) in values.iter().enumerate() {
            aggregate.add(at as u64 + 1, std::iter::once(("x", *value)));
        }
        assert_eq!(aggregate.hits, values.len() as u64);
        aggregate.expressions.remove(0)
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        let column = of(&[Ok("9"), Ok("10"), Ok("-2.5"), Ok("10")]);
        assert_eq!((column.count, column.distinct()), (4, (3, true)));
        assert_eq!(column.min.unwrap().text, "-2.5");
        assert_eq!(column.max.unwrap().text, "10");
        assert_eq!(column.changed_at, Some(LastChange { hit: 2, value: "10".to_owned() }));
        assert_eq!((column.first.as_deref(), column.last.as_deref()), (Some("9"), Some("10")));
    }

    #[test]
    fn errors_are_counted_and_are_no_values() {
        let column = of(&[Ok("a"), Err("KeyError"), Ok("a"), Ok("b"), Ok("a")]);
        assert_eq!((column.count, column.errors, column.others), (5, 1, 4));
        assert_eq!(column.last_error.as_deref(), Some("KeyError"));
        assert_eq!(column.distinct(), (2, true));
        assert_eq!(column.changed_at.unwrap().hit, 4);
        assert_eq!((column.min, column.max), (None, None));
    }

    #[test]
    fn what_never_changes_says_so() {
        let column = of(&[Ok("7"), Ok("7"), Ok("7")]);
        assert_eq!((column.changed_at, column.distinct.seen.len()), (None, 1));
    }
}
