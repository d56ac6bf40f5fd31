//! From what was asked to the points that are set: breakpoints where the program is to stop, tracepoints where it is
//! to pass, and marks that tell what ran when a line was not reached.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use holdpoint_engine::{
    adapter,
    breakpoints::{Asked, Breakpoints, Place, Trace, gather::By},
    failure::{Code, Failure},
    ids::BreakpointId,
    inspect,
    language::{Manners, Outlined},
    launch::Launch,
    limits,
};

use super::{
    params::{Group, Hits, Params, Spot},
    trial::Trial,
};
use crate::tools::{
    debug::what::{absolute, not_there},
    ending,
};

/// Passes before the wanted one that are told one by one; more are told in steps.
const COUNTED: u64 = 10_000;

pub(super) struct Plan {
    pub(super) places: Vec<Planned>,
    /// No place is given: the run is looked at where it first fails, with these expressions.
    pub(super) failure: Option<Vec<Expression>>,
    /// How groups are named: `kind`, `pass of a.py:12`.
    pub(super) by: Option<String>,
    /// The expression that makes groups, where the program is stopped for each pass.
    pub(super) by_value: Option<String>,
    /// Lines that tell when they are reached.
    pub(super) marks: BTreeMap<PathBuf, Vec<BreakpointId>>,
    /// The program is let run to its end when everything is there.
    pub(super) runs_on: bool,
}

pub(super) struct Planned {
    pub(super) id: BreakpointId,
    pub(super) place: Place,
    /// `shop.py:12`, `total`.
    pub(super) label: String,
    /// Whether whoever asked named the file, and knows it by less than its path.
    pub(super) is_file_named: bool,
    /// What is to be said of where it lies.
    pub(super) note: Option<String>,
    pub(super) want: Want,
    pub(super) condition: Option<String>,
    pub(super) expressions: Vec<Expression>,
    /// Counts the passes before the wanted one, in steps of so many.
    pub(super) counter: Option<(BreakpointId, u64)>,
    /// What is judged and tried there.
    pub(super) trial: Option<Trial>,
}

impl Planned {
    pub(super) fn has_expressions(&self) -> bool {
        !self.expressions.is_empty()
    }

    /// ` (line 5 has no code)`, where another line than the one asked for is passed.
    pub(super) fn moved_to(&self, passed: u32) -> String {
        let moved = match &self.place {
            Place::Line { line, .. } if *line != passed => Some(format!("line {line} has no code")),
            Place::Line { .. } | Place::Function { .. } => None,
        };
        self.note.clone().or(moved).map(|it| format!(" ({it})")).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    Nth(u64),
    First(u64),
    /// Every pass, without stopping.
    All,
    /// Every pass; the program stops at each, since only so are its callers' variables to be had.
    AllStopping,
}

/// `work: n` is `n` in the nearest frame of `work`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) text: String,
    pub(super) frame: Option<(String, String)>,
}

impl Plan {
    /// Sets everything; nothing is set that is wrong.
    pub(super) fn make(
        params: &Params,
        launch: &Launch,
        manners: Manners,
        own: &Breakpoints,
    ) -> Result<Plan, Failure> {
        if params.names_no_place() {
            let expressions = params.expressions.iter().map(|it| Expression::of(it)).collect();
            let (places, marks) = (Vec::new(), BTreeMap::new());
            return Ok(Plan {
                places,
                failure: Some(expressions),
                by: None,
                by_value: None,
                marks,
                runs_on: false,
            });
        }
        let spots = params.places();
        if spots.len() > limits::PROBE_PLACES {
            let text = format!("{} places, {} at the most", spots.len(), limits::PROBE_PLACES);
            return Err(Failure::new(Code::InvalidParams, text));
        }
        let (by, by_value, gathers) = groups(params, launch, own)?;
        own.gather(gathers);
        let set = Setting { launch, manners, own, by_value: by_value.as_deref() };
        let places = spots.iter().map(|spot| set.place(spot)).collect::<Result<Vec<_>, _>>()?;
        let marks = set.marks(&places)?;
        Ok(Plan { places, failure: None, by, by_value, marks, runs_on: false })
    }

    /// One run with something to judge and to try at each place, at its first pass.
    pub(super) fn of_trials(
        trials: Vec<(Spot, Trial)>,
        launch: &Launch,
        manners: Manners,
        own: &Breakpoints,
    ) -> Result<Plan, Failure> {
        own.gather(None);
        let set = Setting { launch, manners, own, by_value: None };
        let mut places = Vec::new();
        for (number, (spot, trial)) in (1..).zip(trials) {
            places.push(set.trial(&spot, trial).map_err(|failure| of_number(number, failure))?);
        }
        let marks = set.marks(&places)?;
        Ok(Plan { places, failure: None, by: None, by_value: None, marks, runs_on: true })
    }
}

fn of_number(number: usize, failure: Failure) -> Failure {
    Failure { message: format!("experiment {number}: {}", failure.message).into(), ..failure }
}

/// What names the groups, the expression that makes them, and how they are gathered.
type Groups = (Option<String>, Option<String>, Option<By>);

fn groups(params: &Params, launch: &Launch, own: &Breakpoints) -> Result<Groups, Failure> {
    match &params.by {
        None => Ok((None, None, None)),
        Some(Group::Value(text)) => Ok((Some(text.clone()), Some(text.clone()), Some(By::Value))),
        Some(Group::Place(spot)) => {
            let (place, _) = located(spot, launch)?;
            let label = label(&place, launch);
            let counts = Some(Trace::new(None, 0, 0)?);
            let id = own.add(Asked { trace: counts, ..Asked::at(place) })?.id;
            Ok((Some(format!("pass of {label}")), None, Some(By::Place(id))))
        }
    }
}

struct Setting<'a> {
    launch: &'a Launch,
    manners: Manners,
    own: &'a Breakpoints,
    by_value: Option<&'a str>,
}

impl Setting<'_> {
    fn place(&self, spot: &Spot) -> Result<Planned, Failure> {
        let (place, note) = located(spot, self.launch)?;
        let expressions: Vec<Expression> =
            spot.expressions.iter().map(|it| Expression::of(it)).collect();
        if expressions.len() >= limits::TEMPLATE_EXPRESSIONS {
            let text = format!("{} expressions are too many", expressions.len());
            return Err(Failure::new(Code::InvalidParams, text));
        }
        let want = self.want(spot, &expressions)?;
        let condition = spot.condition.clone().filter(|it| !it.trim().is_empty());
        let (hit_condition, trace) = match want {
            Want::Nth(number) => (Some(number.to_string()), None),
            Want::First(_) | Want::AllStopping => (None, None),
            Want::All => (None, Some(self.trace(&expressions, condition.is_some()))),
        };
        let asked =
            Asked { place: place.clone(), condition: condition.clone(), hit_condition, trace };
        let id = self.own.add(asked)?.id;
        let counter = self.counter(&place, condition.as_deref(), want)?;
        let label = label(&place, self.launch);
        let is_file_named = spot.file.is_some();
        // Whoever names a function means its body.
        let note = note.filter(|_| spot.function.is_none());
        let planned = Planned {
            id,
            place,
            label,
            is_file_named,
            note,
            want,
            condition,
            expressions,
            counter,
            trial: None,
        };
        Ok(planned)
    }

    /// Where only some passes count, all are counted, to say which one it was.
    fn trial(&self, spot: &Spot, trial: Trial) -> Result<Planned, Failure> {
        let planned = self.place(spot)?;
        let passes = match planned.condition {
            Some(_) => {
                let counts = Some(Trace::new(None, 0, 0)?);
                let asked = Asked { trace: counts, ..Asked::at(planned.place.clone()) };
                Some(self.own.add(asked)?.id)
            }
            None => None,
        };
        Ok(Planned { trial: Some(Trial { passes, ..trial }), ..planned })
    }

    fn want(&self, spot: &Spot, expressions: &[Expression]) -> Result<Want, Failure> {
        let most = limits::PROBE_HITS;
        match (spot.hit, spot.hits) {
            (Some(_), Some(_)) => {
                Err(Failure::new(Code::InvalidParams, "`hit` and `hits` are both given")
                    .hint("`hit` is only the Nth pass, `hits` the first N or \"all\""))
            }
            (Some(0), None) => {
                Err(Failure::new(Code::InvalidParams, "`hit` is 0").hint("the first pass is 1"))
            }
            (Some(number), None) => Ok(Want::Nth(number)),
            (None, Some(Hits::First(number))) if number > most => Err(Failure::new(
                Code::InvalidParams,
                format!("`hits` is {number}, {most} at the most"),
            )
            .hint(
                "`hits: \"all\"` counts every pass without stopping, `hit` is the Nth pass alone",
            )),
            (None, Some(Hits::First(number))) => Ok(Want::First(number)),
            (None, None) => Ok(Want::First(1)),
            (None, Some(Hits::All))
                if self.manners.sees_no_callers_in_passing
                    && expressions.iter().any(|it| it.frame.is_some()) =>
            {
                Ok(Want::AllStopping)
            }
            (None, Some(Hits::All)) => Ok(Want::All),
        }
    }

    fn trace(&self, expressions: &[Expression], has_condition: bool) -> Trace {
        let mut texts: Vec<String> = expressions.iter().map(Expression::in_passing).collect();
        // A condition that fails is told in the place of values, so there must be one.
        if texts.is_empty() && has_condition {
            texts.push("0".to_owned());
        }
        texts.extend(self.by_value.map(|it| Expression::of(it).in_passing()));
        Trace::of(texts)
    }

    /// How far the program came, when it does not come to the wanted pass.
    fn counter(
        &self,
        place: &Place,
        condition: Option<&str>,
        want: Want,
    ) -> Result<Option<(BreakpointId, u64)>, Failure> {
        let Want::Nth(number) = want else { return Ok(None) };
        if number < 2 {
            return Ok(None);
        }
        let step = number.div_ceil(COUNTED);
        let asked = Asked {
            place: place.clone(),
            condition: condition.map(str::to_owned),
            hit_condition: Some(format!("< {number}")),
            trace: Some(Trace::new(None, if step > 1 { step } else { 0 }, 0)?),
        };
        Ok(Some((self.own.add(asked)?.id, step)))
    }

    /// A marked line tells when it is reached; some runtimes count by themselves.
    fn marks(&self, places: &[Planned]) -> Result<BTreeMap<PathBuf, Vec<BreakpointId>>, Failure> {
        let mut marks: BTreeMap<PathBuf, Vec<BreakpointId>> = BTreeMap::new();
        for file in places.iter().filter_map(|it| it.place.file()) {
            if marks.contains_key(file) {
                continue;
            }
            let ids = marks.entry(file.to_owned()).or_default();
            if self.manners.counts_lines {
                self.own.survey(file.to_owned());
                continue;
            }
            for line in marked_lines(file, places) {
                let place = Place::Line { file: file.to_owned(), line, column: None };
                let asked = Asked { trace: Some(Trace::mark()), ..Asked::at(place) };
                ids.push(self.own.add(asked)?.id);
            }
        }
        Ok(marks)
    }
}

/// The lines of the functions that the places are in, and the first lines of the file's others.
fn marked_lines(file: &Path, places: &[Planned]) -> Vec<u32> {
    let functions = inspect::outline(file);
    let mut lines = Vec::new();
    for planned in places.iter().filter(|it| it.place.file() == Some(file)) {
        let Place::Line { line, .. } = &planned.place else { continue };
        let around = inspect::function_at(&functions, *line);
        lines.push(*line);
        lines.extend(around.iter().flat_map(|it| it.lines.iter().copied()));
    }
    lines.extend(functions.iter().map(|it| it.body));
    // A place tells by itself when it is reached, unless something else must hold too.
    let tells = |line: &u32| {
        let is_it = |it: &Planned| matches!(&it.place, Place::Line { file: of, line: at, .. } if of == file && at == line);
        places.iter().any(|it| is_it(it) && it.condition.is_none() && it.counter.is_none())
    };
    lines.retain(|line| !tells(line));
    let mut seen = std::collections::BTreeSet::new();
    lines.retain(|line| seen.insert(*line));
    lines.truncate(limits::PROBE_MARKS);
    lines
}

/// Where a spot is; the head of a function means its body, and that is said.
fn located(spot: &Spot, launch: &Launch) -> Result<(Place, Option<String>), Failure> {
    if spot.line.is_none() && spot.r#match.is_none() && spot.function.is_none() {
        return Err(Failure::new(Code::InvalidParams, "no place is given")
            .hint(
                "pass `file` with `line` or `match`, or `function`; several of them in `at`; with \
                 none of these and no `hit`, `hits`, `by`, `condition`, it runs to the first failure",
            ));
    }
    let mut given = spot.given();
    if given.text.is_some() || given.line.is_some() {
        // A line is one of the program that runs, unless another file is named.
        let test = launch.test.as_deref().map(|it| Path::new(it.split("::").next().unwrap_or(it)));
        given.file = given.file.or(launch.program.as_deref()).or(test);
    }
    let place = given.place(|file| found(file, launch))?;
    let Place::Line { file, line, column } = &place else {
        return Ok((place, Some("first line of its body".to_owned())));
    };
    let functions = inspect::outline(file);
    let is_head =
        |it: &&Outlined| (it.head..it.body).contains(line) && is_of_head(file, it.head, *line);
    if let Some(function) = functions.iter().filter(is_head).max_by_key(|it| it.head) {
        let note = format!("line {line} is the head of {}: first line of its body", function.name);
        let place = Place::Line { file: file.clone(), line: function.body, column: None };
        return Ok((place, Some(note)));
    }
    // `def f(x): return x` is passed where it is defined, too.
    let is_short = |it: &&Outlined| it.head == *line && it.body == *line;
    if let Some(function) = functions.iter().rfind(is_short).filter(|_| runs_heads(file)) {
        let note = format!("line {line} is the whole of {}: where it is called", function.name);
        let (name, file) = (function.name.clone(), Some(file.clone()));
        return Ok((Place::Function { name, file }, Some(note)));
    }
    let (file, line, column) = (file.clone(), *line, *column);
    Ok((Place::Line { file, line, column }, None))
}

/// Whether a line still belongs to the head that begins above it. A line that is moved in error is never reached,
/// so what may be a statement stays where it is.
fn is_of_head(file: &Path, head: u32, line: u32) -> bool {
    let bytes = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let first = usize::try_from(head).unwrap_or(usize::MAX).saturating_sub(1);
    let count = usize::try_from(line.saturating_sub(head)).unwrap_or(0) + 1;
    runs_heads(file) || !text.lines().skip(first).take(count).any(|it| it.contains(';'))
}

fn runs_heads(file: &Path) -> bool {
    adapter::of_file(file).is_some_and(|it| it.manners().runs_heads)
}

/// Relative to where the program runs, else to where we do; else the one file whose path ends so.
fn found(file: &Path, launch: &Launch) -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let folders = [Some(launch.cwd.as_path()), Some(&here)];
    let whole = folders.iter().flatten().map(|folder| absolute(folder, file));
    if let Some(found) = whole.clone().find(|it| it.is_file()) {
        return Ok(found);
    }
    let missing = || not_there(&absolute(&launch.cwd, file), "a file", &launch.cwd);
    if file.is_absolute() {
        return Err(missing());
    }
    ending::the_one(&launch.cwd, file)?.ok_or_else(missing)
}

fn label(place: &Place, launch: &Launch) -> String {
    match place {
        Place::Line { file, line, .. } => format!("{}:{line}", inspect::place(file, &launch.cwd)),
        Place::Function { name, .. } => name.clone(),
    }
}

impl Expression {
    pub(super) fn of(text: &str) -> Expression {
        Expression { text: text.trim().to_owned(), frame: framed(text.trim()) }
    }

    /// As a tracepoint evaluates it.
    fn in_passing(&self) -> String {
        match &self.frame {
            None => self.text.clone(),
            Some((name, inner)) => {
                let literal = |it: &str| serde_json::Value::from(it).to_string();
                format!("__import__('_holdpoint').of({}, {})", literal(name), literal(inner))
            }
        }
    }
}

/// `work: n`, but neither `lambda: 0`, `x := 1` nor anything else that has a colon inside.
fn framed(text: &str) -> Option<(String, String)> {
    let (name, inner) = text.split_once(':')?;
    let (name, inner) = (name.trim(), inner.trim());
    let is_word = |it: &str| {
        let mut chars = it.chars();
        chars.next().is_some_and(|it| it.is_alphabetic() || it == '_' || it == '$')
            && chars.all(|it| it.is_alphanumeric() || it == '_' || it == '$')
    };
    let is_name = name == "<module>" || name.split('.').all(is_word);
    let is_other = name == "lambda" || inner.is_empty() || inner.starts_with([':', '=']);
    (is_name && !is_other).then(|| (name.to_owned(), inner.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_frame_is_named_before_a_colon() {
        let framed = |text: &str| Expression::of(text).frame;
        let frame = |name: &str, inner: &str| Some((name.to_owned(), inner.to_owned()));
        assert_eq!(framed("work: n"), frame("work", "n"));
        assert_eq!(framed("Cart.total: self.items[1:2]"), frame("Cart.total", "self.items[1:2]"));
        assert_eq!(framed("<module>: x"), frame("<module>", "x"));
        for whole in
            ["x", "items[1:2]", "{'a': 1}", "lambda: 0", "a ? b : c", "x := 1", "a::b", "f(x): 1"]
        {
            assert_eq!(framed(whole), None, "{whole}");
        }
    }
}
