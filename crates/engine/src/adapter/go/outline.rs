//! The functions of a Go file, as gofmt lays them out: a head at the line's begin, and a brace alone at its end.

use crate::language::Outlined;

pub(super) fn outline(text: &str) -> Vec<Outlined> {
    let mut all = Vec::new();
    let mut open: Option<(String, u32)> = None;
    for (number, line) in (1_u32..).zip(text.lines()) {
        if let Some((name, head)) = &open {
            if line == "}" {
                let (head, body) = (*head, (*head + 1).min(number));
                all.push(Outlined {
                    name: name.clone(),
                    head,
                    body,
                    last: number,
                    lines: Vec::new(),
                });
                open = None;
            }
        } else if let Some(name) = line.strip_prefix("func ").and_then(named) {
            // On one line with all of its body.
            if line.trim_end().ends_with('}') && line.contains('{') {
                let (head, body, last) = (number, number, number);
                all.push(Outlined { name, head, body, last, lines: Vec::new() });
            } else {
                open = Some((name, number));
            }
        }
    }
    all
}

/// `(c *Cart[T]) Total(…` is `Cart.Total`.
fn named(head: &str) -> Option<String> {
    let until = |text: &str| {
        let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
        text.get(..end).filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let Some(inside) = head.strip_prefix('(') else { return until(head) };
    let (receiver, rest) = inside.split_once(')')?;
    let kind = receiver.split_whitespace().next_back()?.trim_start_matches('*');
    let method = until(rest.trim_start())?;
    Some(format!("{}.{method}", until(kind)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_methods_are_found() {
        let text = "package a\n\nfunc one() int { return 1 }\n\nfunc (c *Cart[T]) Total(\n\tx int,\n) int {\n\treturn x\n}\n";
        let found = outline(text);
        let told: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.head, it.last)).collect();
        assert_eq!(told, [("one", 3, 3), ("Cart.Total", 5, 9)]);
    }
}
