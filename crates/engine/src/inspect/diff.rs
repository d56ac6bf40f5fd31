//! What differs between two snapshots: paths that are new, gone or changed, and nothing else. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::snapshot::{FrameShot, Parts, Snapshot, ValueNode};

#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The function in whose frame it is; none for the innermost.
    pub frame: Option<String>,
    /// `order.items[3].price`
    pub path: String,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Added { kind: Option<String>, value: String },
    Removed { kind: Option<String>, value: String },
    Changed { kind: Option<String>, old: String, new: String },
}

#[derive(Debug, Default, PartialEq)]
pub struct Diff {
    pub changes: Vec<Change>,
    /// Values that are the same in both.
    pub same: usize,
    /// Functions that were entered and left between the two.
    pub entered: Vec<String>,
    pub left: Vec<String>,
}

/// From `a` to `b`, of what is at or below `path`.
pub fn diff(a: &Snapshot, b: &Snapshot, path: Option<&str>) -> Diff {
    let mut diff = Diff::default();
    let pairs = pairs(&a.frames, &b.frames);
    let innermost = a.frames.first().zip(b.frames.first());
    for (old, new) in &pairs {
        let (Some(olds), Some(news)) = (&old.variables, &new.variables) else { continue };
        let is_innermost =
            innermost.is_some_and(|(a, b)| std::ptr::eq(*old, a) && std::ptr::eq(*new, b));
        let frame = (!is_innermost).then(|| new.function.clone());
        Walk { a, b, frame, wanted: path, diff: &mut diff }.parts("", olds, news);
    }
    let is_paired = |frame: &FrameShot| {
        pairs.iter().any(|(old, new)| std::ptr::eq(*old, frame) || std::ptr::eq(*new, frame))
    };
    let alone = |frames: &[FrameShot]| -> Vec<String> {
        frames.iter().filter(|frame| !is_paired(frame)).map(|it| it.function.clone()).collect()
    };
    (diff.left, diff.entered) = (alone(&a.frames), alone(&b.frames));
    diff
}

/// Frames that are the same call, as far as can be told: both from the top while they agree; where not
/// even the top ones do, those of one function at one height.
fn pairs<'s>(a: &'s [FrameShot], b: &'s [FrameShot]) -> Vec<(&'s FrameShot, &'s FrameShot)> {
    let same = |(a, b): &(&FrameShot, &FrameShot)| (&a.function, &a.file) == (&b.function, &b.file);
    let from_top: Vec<_> = a.iter().zip(b).take_while(same).collect();
    if !from_top.is_empty() {
        return from_top;
    }
    let heights: BTreeMap<usize, &FrameShot> =
        b.iter().map(|frame| (frame.height, frame)).collect();
    let at_height = a.iter().filter_map(|old| heights.get(&old.height).map(|new| (old, *new)));
    at_height.filter(same).collect()
}

struct Walk<'s> {
    a: &'s Snapshot,
    b: &'s Snapshot,
    frame: Option<String>,
    wanted: Option<&'s str>,
    diff: &'s mut Diff,
}

impl Walk<'_> {
    fn parts(&mut self, path: &str, old: &Parts, new: &Parts) {
        let olds = named(self.a, old);
        let news = named(self.b, new);
        let names: BTreeSet<Key<'_>> = olds.keys().chain(news.keys()).copied().collect();
        for Key(order, name) in names {
            let path = join(path, name);
            match (olds.get(&Key(order, name)), news.get(&Key(order, name))) {
                (Some(old), Some(new)) => self.both(&path, old, new),
                (Some(it), None) if new.is_whole => {
                    let (kind, value) = (it.kind.clone(), it.text.clone());
                    self.note(path, What::Removed { kind, value });
                }
                (None, Some(it)) if old.is_whole => {
                    let (kind, value) = (it.kind.clone(), it.text.clone());
                    self.note(path, What::Added { kind, value });
                }
                // The other side was not looked at so far.
                (Some(_), None) | (None, Some(_)) | (None, None) => {}
            }
        }
    }

    fn both(&mut self, path: &str, old: &ValueNode, new: &ValueNode) {
        let before = self.diff.changes.len();
        if let (Some(olds), Some(news), true) = (&old.parts, &new.parts, old.kind == new.kind) {
            self.parts(path, olds, news);
        }
        if self.diff.changes.len() > before {
            return;
        }
        // Its parts say nothing: it has none, or what changed lies deeper than anybody looked.
        if old.hash == new.hash && old.kind == new.kind {
            self.diff.same += usize::from(self.is_wanted(path));
            return;
        }
        let typed = |node: &ValueNode| match (&node.kind, old.kind == new.kind) {
            (Some(kind), false) => format!("{kind} {}", node.text),
            _ => node.text.clone(),
        };
        let (old_text, new_text) = (typed(old), typed(new));
        let kind = new.kind.clone();
        self.note(path.to_owned(), What::Changed { kind, old: old_text, new: new_text });
    }

    fn note(&mut self, path: String, what: What) {
        if self.is_wanted(&path) {
            self.diff.changes.push(Change { frame: self.frame.clone(), path, what });
        }
    }

    fn is_wanted(&self, path: &str) -> bool {
        self.wanted.is_none_or(|wanted| {
            path.strip_prefix(wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }
}

/// Numbers in the order of numbers, before names.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
struct Key<'s>(Option<usize>, &'s str);

fn named<'s>(snapshot: &'s Snapshot, parts: &Parts) -> BTreeMap<Key<'s>, &'s ValueNode> {
    let nodes = parts.nodes.iter().filter_map(|index| snapshot.node(*index));
    nodes.map(|node| (Key(node.name.parse().ok(), &node.name), node)).collect()
}

/// `a` and `b` → `a.b`; `3` → `a[3]`; `'x y'` → `a['x y']`.
fn join(path: &str, name: &str) -> String {
    let number = name.parse::<usize>().ok();
    let is_plain = name.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '$' | '#'));
    match (path.is_empty(), number) {
        (true, _) => name.to_owned(),
        // Long lists name their parts with leading zeros.
        (false, Some(number)) => format!("{path}[{number}]"),
        (false, None) if is_plain => format!("{path}.{name}"),
        (false, None) => format!("{path}[{name}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::snapshot::tests::written, *};

    /// `~ path: old → new`, `+ path = value`, `- path = value`, one a line.
    #[track_caller]
    fn check(a: &str, b: &str, path: Option<&str>, expected: &[&str]) -> Diff {
        let diff = diff(&written(a), &written(b), path);
        let lines: Vec<String> = diff
            .changes
            .iter()
            .map(|it| {
                let frame = it.frame.as_deref().map(|it| format!("{it}: ")).unwrap_or_default();
                match &it.what {
                    What::Added { value, .. } => format!("+ {frame}{} = {value}", it.path),
                    What::Removed { value, .. } => format!("- {frame}{} = {value}", it.path),
                    What::Changed { old, new, .. } => {
                        format!("~ {frame}{}: {old} → {new}", it.path)
                    }
                }
            })
            .collect();
        assert_eq!(lines, expected);
        diff
    }

    const A: &str = "\
add
  total = 3
  order = Order
    items = [1, 2]
      0 = 1
      1 = 2
    'a b' = x
  gone = 1
main
  n = 1
";

    #[test]
    fn only_paths_that_differ_are_named() {
        let b =
            A.replace("total = 3", "total = 5").replace("1 = 2", "1 = 7").replace("gone", "new");
        let b = b.replace("'a b' = x", "'a b' = y").replace("n = 1", "n = 2");
        let expected = [
            "- gone = 1",
            "+ new = 1",
            "~ order['a b']: x → y",
            "~ order.items[1]: 2 → 7",
            "~ total: 3 → 5",
            "~ main: n: 1 → 2",
        ];
        check(A, &b, None, &expected);
        check(A, &b, Some("order.items"), &["~ order.items[1]: 2 → 7"]);
        check(A, &b, Some("order.item"), &[]);
        assert_eq!(check(A, A, None, &[]).same, 8);
    }

    #[test]
    fn what_was_not_looked_into_is_neither_new_nor_gone() {
        let shallow = "add\n  total = 3\n  order = Order\n  gone = 1\n";
        check(A, shallow, None, &[]);
        check(shallow, A, None, &[]);
        let changed = shallow.replace("Order", "Order()");
        check(A, &changed, None, &["~ order: Order → Order()"]);
    }

    #[test]
    fn lists_are_compared_by_number() {
        let a = "f\n  l = list\n    9 = i\n    10 = j\n";
        let b = "f\n  l = list\n    9 = i\n    10 = j\n    11 = k\n    100 = z\n";
        check(a, b, None, &["+ l[11] = k", "+ l[100] = z"]);
    }

    #[test]
    fn what_a_bound_left_out_is_neither_new_nor_gone() {
        let a = "f\n  l = list\n    0 = i\n    1 = j\n    … = more\n";
        let b = "f\n  l = list\n    0 = x\n    … = more\n";
        check(a, b, None, &["~ l[0]: i → x"]);
        check(b, a, None, &["~ l[0]: x → i"]);
    }

    #[test]
    fn a_function_that_returned_is_left_and_its_caller_compared() {
        let b = "main\n  n = 2\n";
        let diff = check(A, b, None, &["~ main: n: 1 → 2"]);
        assert_eq!((diff.left, diff.entered), (vec!["add".to_owned()], vec![]));
    }

    #[test]
    fn one_function_called_from_two_places_is_compared() {
        let b = "add\n  total = 4\n  order = Order\n  gone = 1\nother\n  x = 1\nmain\n  n = 1\n";
        let diff = check(A, b, None, &["~ total: 3 → 4"]);
        assert_eq!(diff.left, ["main"]);
        assert_eq!(diff.entered, ["other", "main"]);
    }
}
