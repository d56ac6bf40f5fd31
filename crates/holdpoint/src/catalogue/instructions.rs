//! What the server says of itself at the start: when to reach for it, then the shortest way. Made from what
//! is mounted, and short: every session pays for it, and one client cuts at 1,000 bytes.

use std::collections::BTreeSet;

/// Each sentence, with the tools it speaks of; it is said where they are all mounted.
const SENTENCES: &[(&[&str], &str)] = &[
    (
        &["debug_launch"],
        "Holdpoint runs programs under a debugger. Reach for it when you would add a print or guess: a \
         failing test, a wrong value, a crash, a hang, which call or child did it.",
    ),
    (
        &["record_run", "record_frame"],
        "Why is it wrong? `record_run` records the run once; then ask: `record_frame`, `record_calls`, `record_history`.",
    ),
    (
        &["debug_probe"],
        "Shortest: `debug_probe`, one call that runs a program or test and shows stack, locals and \
         expressions at a line.",
    ),
    (
        &["debug_launch", "breakpoint_set", "debug_continue", "debug_evaluate", "debug_stop"],
        "To look around: `debug_launch`, `breakpoint_set`, `debug_continue`, then `debug_evaluate`; \
         `debug_stop` ends it.",
    ),
    (
        &["tracepoint_set", "tracepoint_read"],
        "`tracepoint_set` logs values at a line without stopping, `tracepoint_read` reads them.",
    ),
    (
        &["breakpoint_add", "breakpoint_continue"],
        "Calls of apps under `holdpoint run` are recorded; `breakpoint_add` pauses a function's, \
         `breakpoint_continue` decides.",
    ),
    (&["timeline_query"], "`timeline_query` says what happened, also to other clients and before."),
    (
        &["symbol_navigate", "editor_get_context"],
        "`symbol_*`, `editor_*`, `dap_*` and their like act in the VS Code window on this folder.",
    ),
    (
        &["more_tools"],
        "`more_tools` reaches the rest: attach, pause, restart, stdin, threads, source, snapshots.",
    ),
    (
        &[],
        "An answer ends with what else happened since your last call, a failure with `hint:`, the next step.",
    ),
];

pub(super) fn of(mounted: &BTreeSet<&str>) -> String {
    let said = SENTENCES.iter().filter(|(tools, _)| tools.iter().all(|it| mounted.contains(it)));
    said.map(|(_, sentence)| *sentence).collect::<Vec<_>>().join(" ")
}
