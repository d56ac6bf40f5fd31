//! The methods of a Ruby file, by their indentation: a `def` ends at the `end` that stands below it.

use crate::language::Outlined;

/// A class, a module or a method that is not over yet.
struct Open {
    name: String,
    indent: usize,
    /// The line of a method.
    head: Option<u32>,
}

pub(super) fn outline(text: &str) -> Vec<Outlined> {
    let (mut all, mut open) = (Vec::new(), Vec::<Open>::new());
    for (number, line) in (1_u32..).zip(text.lines()) {
        let plain = line.trim_start();
        let indent = line.len() - plain.len();
        let is_end = plain == "end" || plain.starts_with("end ") || plain.starts_with("end#");
        if is_end && open.last().is_some_and(|it| it.indent == indent) {
            if let Some(Open { name, head: Some(head), .. }) = open.pop() {
                let body = (head + 1).min(number);
                all.push(Outlined { name, head, body, last: number, lines: Vec::new() });
            }
            continue;
        }
        let (word, rest) = plain.split_once(' ').unwrap_or((plain, ""));
        match word {
            "class" | "module" if !rest.starts_with("<<") => {
                let name = named(&open, rest, "<;( ");
                open.push(Open { name, indent, head: None });
            }
            "def" => {
                let name = named(&open, rest.trim_start_matches("self."), "(;= ");
                // On one line: `def total = 3`, `def total; 3; end`.
                if rest.contains(" = ") || rest.ends_with("end") {
                    let (head, body, last) = (number, number, number);
                    all.push(Outlined { name, head, body, last, lines: Vec::new() });
                } else {
                    open.push(Open { name, indent, head: Some(number) });
                }
            }
            _ => {}
        }
    }
    all.sort_by_key(|it| it.head);
    all
}

fn named(open: &[Open], rest: &str, ends: &str) -> String {
    let own = rest.split(|it| ends.contains(it)).next().unwrap_or(rest);
    match open.last() {
        Some(around) => format!("{}.{own}", around.name),
        None => own.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_named_after_what_they_are_in() {
        let text = "class Cart < Base\n  def total(x)\n    if x\n      1\n    end\n  end\n\n  def self.empty = new\nend\n\ndef work\n  2\nend\n";
        let found = outline(text);
        let told: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.head, it.last)).collect();
        assert_eq!(told, [("Cart.total", 2, 6), ("Cart.empty", 8, 8), ("work", 11, 13)]);
    }
}
