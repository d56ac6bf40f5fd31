//! What debuggers of the tables say in a way of their own, in the words that all share.

use std::time::Duration;

use crate::{
    backend::{StopReason, Stopped, Value},
    failure::{Code, Failure},
};

pub(super) fn never(_: &str) -> Option<i64> {
    None
}

pub(super) fn said_by_delve(output: &str) -> Option<i64> {
    output.trim().split_once("has exited with status ")?.1.parse().ok()
}

/// Which writes the code in octal.
pub(super) fn said_by_gdb(output: &str) -> Option<i64> {
    let (_, after) = output.split_once(") exited ")?;
    match after.split_once(']')?.0 {
        "normally" => Some(0),
        other => i64::from_str_radix(other.strip_prefix("with code ")?, 8).ok(),
    }
}

/// `* [Go 7] main.work (Thread 123)` is `goroutine 7 main.work`.
pub(super) fn goroutine(name: String) -> String {
    let plain = name.trim_start_matches("* ").split(" (Thread ").next().unwrap_or_default();
    match plain.strip_prefix("[Go ").and_then(|it| it.split_once("] ")) {
        Some((number, function)) => format!("goroutine {number} {function}"),
        None => plain.to_owned(),
    }
}

/// `"boom": panic` is `panic: boom`; a step that a breakpoint interrupted is no exception.
pub(super) fn said_in_words(mut stopped: Stopped) -> Stopped {
    let said = stopped.text.as_deref().and_then(|it| it.rsplit_once(": "));
    if stopped.reason != StopReason::Exception {
        return stopped;
    }
    if let Some((text, kind @ ("panic" | "fatal error" | "runtime error"))) = said {
        let plain = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        stopped.text = Some(format!("{kind}: {}", plain.unwrap_or(text)));
    } else if let Some((_, "invalid command")) = said {
        stopped.reason = StopReason::Other("step interrupted".to_owned());
        stopped.text = Some(
            "a breakpoint interrupted the step before this one: `debug_continue` ends that first"
                .to_owned(),
        );
    }
    stopped
}

/// What is thrown and what does not end is told by what works for us inside the program.
pub(super) fn tried(expression: &str, patience: Duration) -> Option<String> {
    let seconds = patience.as_secs_f64();
    Some(format!("::HoldpointInside.try({seconds:.3}) {{\n{expression}\n}}"))
}

pub(super) const NO_FRAME: &str = "Error: Can not evaluate on this frame";

pub(super) fn failed(value: &Value) -> Option<Failure> {
    match value.kind.as_deref()? {
        "HoldpointInside::Failed" => Some(Failure::new(Code::EvaluateFailed, value.text.clone())),
        "HoldpointInside::Late" => Some(
            Failure::new(Code::Timeout, value.text.clone())
                .hint("pass a larger `timeout_s`, or a cheaper expression"),
        ),
        // Said as if it were the value.
        "String" if value.text.contains(NO_FRAME) => Some(
            Failure::new(Code::EvaluateFailed, "this frame is of compiled code and has no names")
                .hint("`debug_stack` shows the frames; `frame` chooses one of Ruby's"),
        ),
        // It never came to be run.
        "SyntaxError" => {
            let plain = value.text.trim_start_matches("#<SyntaxError:").trim_end_matches('>');
            let first = plain.trim().lines().next().unwrap_or_default();
            Some(Failure::new(Code::EvaluateFailed, format!("SyntaxError: {first}")))
        }
        _ => None,
    }
}

pub(super) fn whole(name: &str) -> &str {
    name
}

/// `a::work::hc2062bcd62ce07e2` is `a::work`: the compiler tells generations apart by the last part.
pub(super) fn without_hash(name: &str) -> &str {
    let name = without_parameters(name);
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => {
            path
        }
        _ => name,
    }
}

/// `Graph::link(std::string const&, int) const` is `Graph::link`, `::loop()` of a namespace without a name is `loop`.
pub(super) fn without_parameters(name: &str) -> &str {
    let name = name.strip_prefix("::").unwrap_or(name);
    let whole = name.strip_suffix(" const").unwrap_or(name);
    let mut open = 0_u32;
    if !whole.ends_with(')') {
        return name;
    }
    for (at, one) in whole.char_indices().rev() {
        match one {
            ')' => open += 1,
            '(' if open == 1 && at > 0 => return whole.get(..at).unwrap_or(name),
            '(' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    name
}

/// What belongs to nothing belongs to `global`, says V8.
pub(super) fn without_global(name: &str) -> &str {
    name.strip_prefix("global.").unwrap_or(name)
}
