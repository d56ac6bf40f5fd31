//! The heads of blocks that no line event tells: an `else:` above a line says under which condition it ran.

use std::collections::HashSet;

use super::frame::FrameRow;

/// What begins such a head, behind a closing brace or not.
const HEADS: &[&str] = &["else", "elif", "except", "finally", "case", "default", "catch"];

/// The rows of a frame, each below the heads that lead to it; those that ran themselves stand there already.
pub(super) fn with_heads(rows: Vec<FrameRow>, source: &[String], first: u32) -> Vec<FrameRow> {
    let ran: HashSet<u32> = rows.iter().map(|it| it.line).collect();
    let (mut out, mut above) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        if row.line > 0 {
            let heads = heads(source, row.line, first);
            let new = heads.iter().filter(|it| !ran.contains(it) && !above.contains(*it));
            out.extend(new.map(|line| head(source, *line)));
            above = heads;
        }
        out.push(row);
    }
    out
}

fn head(source: &[String], line: u32) -> FrameRow {
    let source = source.get(line as usize - 1).cloned();
    FrameRow { line, source, ..FrameRow::default() }
}

/// The heads around a line, the outermost first.
fn heads(source: &[String], line: u32, first: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let Some(mut inner) = source.get((line as usize).wrapping_sub(1)).and_then(|it| depth(it))
    else {
        return found;
    };
    for at in (first.max(1)..line).rev() {
        let Some(text) = source.get(at as usize - 1) else { continue };
        let Some(depth) = depth(text).filter(|it| *it < inner) else { continue };
        inner = depth;
        if is_head(text) {
            found.push(at);
        }
    }
    found.reverse();
    found
}

/// How far a line is indented, unless it is empty or a comment.
fn depth(text: &str) -> Option<usize> {
    let trimmed = text.trim_start();
    let is_nothing = trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with("//");
    (!is_nothing).then_some(text.len() - trimmed.len())
}

fn is_head(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches('}').trim_start();
    let rest = HEADS.iter().find_map(|it| text.strip_prefix(it));
    rest.is_some_and(|it| it.starts_with([' ', ':', '(', '{']) || it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str, ran: &[u32]) -> Vec<u32> {
        let source: Vec<String> = source.lines().map(str::to_owned).collect();
        let rows = ran.iter().map(|line| FrameRow { line: *line, ..FrameRow::default() });
        with_heads(rows.collect(), &source, 1).iter().map(|it| it.line).collect()
    }

    #[test]
    fn a_line_stands_below_the_else_that_leads_to_it() {
        let python = "def f(a):\n    if a:\n        b = 1\n    else:\n        # why\n\n        b = 2\n        c = 3\n    return b\n";
        assert_eq!(shown(python, &[2, 7, 8, 9]), [2, 4, 7, 8, 9]);
        assert_eq!(shown(python, &[2, 3, 9]), [2, 3, 9]);
        let script = "function f(a) {\n  if (a) {\n    b = 1;\n  } else {\n    b = 2;\n  }\n  try {\n    g();\n  } catch {\n    h();\n  }\n}\n";
        assert_eq!(shown(script, &[2, 5, 8, 10]), [2, 4, 5, 8, 9, 10]);
    }

    #[test]
    fn heads_inside_of_others_come_in_their_order_and_once() {
        let text =
            "try:\n    g()\nexcept E:\n    if a:\n        b\n    else:\n        c\n        d\n";
        assert_eq!(shown(text, &[1, 2, 4, 7, 8]), [1, 2, 3, 4, 6, 7, 8]);
        assert_eq!(shown(text, &[1, 2, 3, 4, 7]), [1, 2, 3, 4, 6, 7]);
    }

    #[test]
    fn names_that_begin_like_a_head_are_none() {
        assert_eq!(shown("elsewhere = (\n  1)\ncases(\n  2)\n", &[2, 4]), [2, 4]);
    }
}
