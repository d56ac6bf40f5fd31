//! Syntax colours: four and comments, as the style sheet has them. The grammars are loaded when the first source is
//! shown; a long file is not read from its beginning for a window of it.

use std::{borrow::Cow, path::Path, sync::LazyLock};

use maud::{Markup, PreEscaped, Render as _};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::pieces;

/// Lines that are read before the first that is shown: where a text of many lines began before them, it is taken for
/// code.
const BEFORE: usize = 1_000;

/// What is longer is no line that anybody reads: shown without colours.
const LINE: usize = 2_000;

static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(SyntaxSet::load_defaults_newlines);

/// By the beginning of their names, the first that fits.
static HUES: LazyLock<Vec<(Scope, &'static str)>> = LazyLock::new(|| {
    let known = [
        ("comment", "c"),
        ("string", "s"),
        ("constant.numeric", "d"),
        ("constant.language", "k"),
        ("keyword.operator.word", "k"),
        ("keyword.operator.logical.python", "k"),
        ("keyword.operator", ""),
        ("keyword", "k"),
        ("storage", "k"),
        ("entity.name", "f"),
    ];
    known.iter().filter_map(|(name, hue)| Some((Scope::new(name).ok()?, *hue))).collect()
});

/// The lines `first..=last` (from 1) of a text, coloured; as they are where nothing knows the language.
/// `clean` says how a line is shown.
pub(super) fn lines<'t>(
    file: &Path,
    text: &'t str,
    first: usize,
    last: usize,
    clean: impl Fn(&'t str) -> Cow<'t, str>,
) -> Vec<Markup> {
    let plain = || {
        text.lines().take(last).skip(first.saturating_sub(1)).map(|it| cut(&clean(it))).collect()
    };
    let Some(grammar) = grammar(file) else { return plain() };
    let mut state = ParseState::new(grammar);
    let mut stack = ScopeStack::new();
    let mut shown = Vec::new();
    let begin = first.saturating_sub(BEFORE).max(1);
    for (number, line) in
        (1..).zip(text.lines()).skip(begin - 1).take_while(|(number, _)| *number <= last)
    {
        let is_shown = number >= first;
        if line.len() > LINE {
            if is_shown {
                shown.push(cut(&clean(line)));
            }
            continue;
        }
        let cleaned = if is_shown { clean(line) } else { Cow::Borrowed(line) };
        let line = &*cleaned;
        let whole = format!("{line}\n");
        let Ok(marks) = state.parse_line(&whole, &GRAMMARS) else {
            return plain();
        };
        let mut out = String::new();
        let mut at = 0;
        for (to, mark) in marks {
            if is_shown {
                piece(&mut out, line.get(at..to.min(line.len())).unwrap_or_default(), &stack);
            }
            at = to.min(line.len());
            if stack.apply(&mark).is_err() {
                return plain();
            }
        }
        if is_shown {
            piece(&mut out, line.get(at..).unwrap_or_default(), &stack);
            shown.push(PreEscaped(out));
        }
    }
    shown
}

fn grammar(file: &Path) -> Option<&'static SyntaxReference> {
    let ending = file.extension()?.to_str()?;
    // What its grammar does not know, TypeScript has in few places.
    let ending = match ending {
        "ts" | "tsx" | "mts" | "cts" | "jsx" | "mjs" | "cjs" => "js",
        "pyw" | "pyi" => "py",
        other => other,
    };
    GRAMMARS.find_syntax_by_extension(ending)
}

fn piece(out: &mut String, text: &str, stack: &ScopeStack) {
    if text.is_empty() {
        return;
    }
    let hue = stack.as_slice().iter().rev().find_map(|scope| {
        HUES.iter().find(|(known, _)| known.is_prefix_of(*scope)).map(|(_, hue)| *hue)
    });
    match hue.filter(|hue| !hue.is_empty() && !text.trim().is_empty()) {
        Some(hue) => {
            out.push_str("<span class=\"");
            out.push_str(hue);
            out.push_str("\">");
            pieces::block(text).render_to(out);
            out.push_str("</span>");
        }
        None => pieces::block(text).render_to(out),
    }
}

/// A line that is too long is cut, and says so.
fn cut(line: &str) -> Markup {
    let shown = line.get(..line.floor_char_boundary(LINE)).unwrap_or_default();
    let more = match line.len() - shown.len() {
        0 => String::new(),
        more => format!(" … {more} bytes more"),
    };
    let mut out = pieces::block(shown).render().into_string();
    out += &more;
    PreEscaped(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_language_have_their_colours_and_all_text_is_text() {
        let text = "# a <b>\ndef total(x):\n    return x + 1 if x != \"</script>\" else None\n";
        let lines = lines(Path::new("a.py"), text, 1, 3, Cow::Borrowed);
        let html: Vec<&str> = lines.iter().map(|it| it.0.as_str()).collect();
        assert!(html[0].contains("class=\"c\"") && html[0].contains("&lt;b&gt;"), "{html:?}");
        assert!(html[1].contains("<span class=\"k\">def</span>"), "{html:?}");
        assert!(html[1].contains("<span class=\"f\">total</span>"), "{html:?}");
        assert!(
            html[2].contains("<span class=\"d\">1</span>") && !html[2].contains("</script>"),
            "{html:?}"
        );
    }

    #[test]
    fn a_window_of_a_file_is_its_lines() {
        let text = "a = 1\nb = 2\nc = 3\n";
        assert_eq!(lines(Path::new("x.unknown"), text, 2, 2, Cow::Borrowed).len(), 1);
        assert_eq!(lines(Path::new("x.py"), text, 2, 9, Cow::Borrowed).len(), 2);
        let long = format!("x = '{}'\n", "y".repeat(5_000_000));
        assert!(lines(Path::new("x.py"), &long, 1, 1, Cow::Borrowed)[0].0.len() < 3_000);
    }
}
