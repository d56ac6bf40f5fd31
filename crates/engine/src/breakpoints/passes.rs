//! Every pass of a place, counted exactly whatever their number: the first and the last ones as they were, and per
//! expression and per group what became of the values. Pure.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
};

use crate::{budget, limits};

/// One pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// From 1.
    pub number: u64,
    /// Among the passes of all places, in the order of time.
    pub order: u64,
    /// The thread or process, where it is not the program's main one.
    pub who: Option<String>,
    /// Of each expression: its value, or what it threw.
    pub values: Vec<Result<String, String>>,
}

/// The passes of one place.
#[derive(Debug, Clone, Default)]
pub struct Passes {
    pub total: u64,
    /// The first ones, up to [`limits::PASSES_KEPT`].
    pub first: Vec<Pass>,
    /// The last ones after those.
    pub last: VecDeque<Pass>,
    pub columns: Vec<Spread>,
    pub groups: Groups,
    /// Where it was passed first: file, line, function.
    pub site: Option<(String, u32, Option<String>)>,
}

/// What became of one expression's values.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    pub count: u64,
    pub errors: u64,
    /// What was thrown last, and at which pass.
    pub last_error: Option<(String, u64)>,
    pub numbers: Numbers,
    /// The first pass whose value was not that of the pass before it: its number, and both values.
    pub turned: Option<(u64, String, String)>,
    before: Option<String>,
    /// Each value with how often and where first; empty once there were too many.
    values: HashMap<String, (u64, u64)>,
    has_many: bool,
}

/// Count, sum, least and greatest of what were numbers.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    pub count: u64,
    whole: i128,
    real: f64,
    is_real: bool,
    pub min: Option<Extreme>,
    pub max: Option<Extreme>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Extreme {
    pub text: String,
    pub number: u64,
    value: f64,
}

/// Passes by a key, in the order in which the keys came.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    pub all: Vec<PassGroup>,
    at: BTreeMap<String, usize>,
    /// Passes of keys past [`limits::PASS_GROUPS`].
    pub others: u64,
}

#[derive(Debug, Clone, Default)]
pub struct PassGroup {
    pub key: String,
    pub count: u64,
    pub columns: Vec<Numbers>,
}

impl Passes {
    /// Takes a pass; `key` names its group, where there are groups.
    pub fn add(
        &mut self,
        order: u64,
        who: Option<String>,
        values: Vec<Result<String, String>>,
        key: Option<&str>,
    ) {
        self.total += 1;
        let number = self.total;
        for (at, value) in values.iter().enumerate() {
            if self.columns.len() <= at {
                self.columns.push(Spread::default());
            }
            if let Some(column) = self.columns.get_mut(at) {
                column.add(number, value.as_deref().map_err(String::as_str));
            }
        }
        if let Some(key) = key {
            self.groups.add(key, number, &values);
        }
        let pass = Pass { number, order, who, values };
        if self.first.len() < limits::PASSES_KEPT {
            self.first.push(pass);
            return;
        }
        if self.last.len() >= limits::PASSES_LAST {
            self.last.pop_front();
        }
        self.last.push_back(pass);
    }
}

impl Spread {
    fn add(&mut self, number: u64, value: Result<&str, &str>) {
        self.count += 1;
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                self.errors += 1;
                self.last_error = Some((error.to_owned(), number));
                return;
            }
        };
        self.numbers.add(number, value);
        if self.before.as_deref() != Some(value) {
            let kept = budget::cut(value, limits::VALUE_BYTES);
            if let Some(before) = self.before.replace(value.to_owned())
                && self.turned.is_none()
            {
                self.turned = Some((number, budget::cut(&before, limits::VALUE_BYTES), kept));
            }
        }
        if self.has_many {
            return;
        }
        if let Some((count, _)) = self.values.get_mut(value) {
            *count += 1;
        } else if self.values.len() < limits::PASS_VALUES {
            self.values.insert(value.to_owned(), (1, number));
        } else {
            self.has_many = true;
            self.values = HashMap::new();
        }
    }

    /// The different values, each with how often it came and where first; `None` when there were too many.
    pub fn values(&self) -> Option<Vec<(&str, u64, u64)>> {
        let mut all: Vec<(&str, u64, u64)> =
            self.values.iter().map(|(it, (count, first))| (it.as_str(), *count, *first)).collect();
        all.sort_by_key(|(_, count, first)| (std::cmp::Reverse(*count), *first));
        (!self.has_many).then_some(all)
    }

    /// Whether all its values were numbers.
    pub fn is_numeric(&self) -> bool {
        self.numbers.count > 0 && self.numbers.count + self.errors == self.count
    }
}

impl Numbers {
    fn add(&mut self, number: u64, text: &str) {
        let text = text.trim();
        let text = text.strip_suffix('n').unwrap_or(text);
        let Some(value) = text.parse::<f64>().ok().filter(|it| !it.is_nan()) else { return };
        self.count += 1;
        self.real += value;
        match text.parse::<i128>().ok().and_then(|it| self.whole.checked_add(it)) {
            Some(sum) => self.whole = sum,
            None => self.is_real = true,
        }
        let extreme = || Some(Extreme { text: text.to_owned(), number, value });
        if self.min.as_ref().is_none_or(|it| value < it.value) {
            self.min = extreme();
        }
        if self.max.as_ref().is_none_or(|it| value > it.value) {
            self.max = extreme();
        }
    }

    pub fn sum(&self) -> Sum {
        if self.is_real { Sum::Real(self.real) } else { Sum::Whole(self.whole) }
    }
}

/// Exact for whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sum {
    Whole(i128),
    Real(f64),
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sum::Whole(sum) => sum.fmt(f),
            Sum::Real(sum) => sum.fmt(f),
        }
    }
}

impl Groups {
    fn add(&mut self, key: &str, number: u64, values: &[Result<String, String>]) {
        let known = self.at.get(key).copied();
        let at = match known {
            Some(at) => at,
            None if self.all.len() >= limits::PASS_GROUPS => {
                self.others += 1;
                return;
            }
            None => {
                self.all.push(PassGroup { key: key.to_owned(), ..PassGroup::default() });
                self.at.insert(key.to_owned(), self.all.len() - 1);
                self.all.len() - 1
            }
        };
        let Some(group) = self.all.get_mut(at) else { return };
        group.count += 1;
        group.columns.resize_with(values.len().max(group.columns.len()), Numbers::default);
        for (column, value) in group.columns.iter_mut().zip(values) {
            if let Ok(value) = value {
                column.add(number, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(values: impl IntoIterator<Item = String>) -> Passes {
        let mut passes = Passes::default();
        for value in values {
            passes.add(0, None, vec![Ok(value)], None);
        }
        passes
    }

    #[test]
    fn every_pass_counts_however_many_there_are() {
        let many = limits::LOG_EVENTS as u64 + 100;
        let seen = passes((1..=many).map(|it| it.to_string()));
        assert_eq!((seen.total, seen.first.len()), (many, limits::PASSES_KEPT));
        assert_eq!(seen.last.back().unwrap().number, many);
        let column = &seen.columns[0];
        assert_eq!(column.numbers.sum(), Sum::Whole(i128::from(many * (many + 1) / 2)));
        assert_eq!(column.numbers.max.as_ref().unwrap().number, many);
        assert!(column.values().is_none() && column.is_numeric());
    }

    #[test]
    fn rare_values_are_told_with_where_they_came_first() {
        let seen = passes((1..=50).map(|it| if it == 17 { "None" } else { "3" }.to_owned()));
        let column = &seen.columns[0];
        assert_eq!(column.values().unwrap(), [("3", 49, 1), ("None", 1, 17)]);
        assert_eq!(column.turned, Some((17, "3".to_owned(), "None".to_owned())));
        assert!(!column.is_numeric());
    }

    #[test]
    fn groups_come_in_the_order_of_their_first_pass() {
        let mut seen = Passes::default();
        for (key, value) in [("b", "1"), ("a", "2.5"), ("b", "x"), ("b", "3")] {
            seen.add(0, None, vec![Ok(value.to_owned())], Some(key));
        }
        let told: Vec<_> = seen
            .groups
            .all
            .iter()
            .map(|it| (it.key.as_str(), it.count, it.columns[0].count, it.columns[0].sum()))
            .collect();
        assert_eq!(told, [("b", 3, 2, Sum::Whole(4)), ("a", 1, 1, Sum::Real(2.5))]);
    }

    #[test]
    fn errors_are_no_values() {
        let mut seen = Passes::default();
        seen.add(0, None, vec![Ok("1".to_owned())], None);
        seen.add(0, None, vec![Err("KeyError".to_owned())], None);
        let column = &seen.columns[0];
        assert_eq!((column.count, column.errors, column.is_numeric()), (2, 1, true));
        assert_eq!(column.last_error, Some(("KeyError".to_owned(), 2)));
    }
}
