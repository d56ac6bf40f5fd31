//! The functions of a source file: where each begins, its first line of code, its last. Told by the text alone.

use std::path::Path;

use crate::{adapter, language::Outlined, limits};

/// The functions of a file, in the order of the text; none for one that cannot be read.
pub fn outline(file: &Path) -> Vec<Outlined> {
    let size = std::fs::metadata(file).map_or(u64::MAX, |it| it.len());
    if size > limits::FUNCTION_BYTES {
        return Vec::new();
    }
    let bytes = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    adapter::of_file(file).map(|it| it.outline(&text)).unwrap_or_default()
}

/// The innermost function around a line.
pub fn function_at(functions: &[Outlined], line: u32) -> Option<&Outlined> {
    functions.iter().filter(|it| it.has(line)).max_by_key(|it| it.head)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::backend::cdp;

    #[track_caller]
    fn check(functions: &[Outlined], expected: Expect) {
        let told = |it: &Outlined| {
            let Outlined { name, head, body, last, lines } = it;
            format!("{name} {head} body {body} to {last} {lines:?}")
        };
        expected.assert_eq(&functions.iter().map(told).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn javascript_functions_have_a_head_a_body_and_an_end() {
        check(
            &cdp::outline(
                "function total(a) {\n  return a\n}\n\
                 const add = (a) => {\n  return a\n};\n\
                 class Cart {\n  sum(x) {\n    return x\n  }\n}\nconst one = x => x + 1;\n",
            ),
            expect![[r#"
                total 1 body 2 to 3 []
                add 4 body 5 to 6 []
                Cart.sum 8 body 9 to 10 []
                one 12 body 12 to 12 []"#]],
        );
    }

    #[test]
    fn the_innermost_function_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.py");
        std::fs::write(&file, "def f():\n    def g():\n        return 1\n    return g\n").unwrap();
        let all = outline(&file);
        assert_eq!(function_at(&all, 3).unwrap().name, "f.g");
        assert_eq!(function_at(&all, 4).unwrap().name, "f");
        assert_eq!(function_at(&all, 5), None);
    }
}
