//! The debuggers of the tables, one row each: every cell was seen in a recording of the debugger
//! (`crates/dap/tests/recordings`).

use super::{
    Filters, InterruptedSteps,
    said::{
        failed, goroutine, never, said_by_delve, said_by_gdb, said_in_words, tried, whole,
        without_global, without_hash,
    },
    table::{Hits, Purpose, Table},
};
use crate::backend::ScopeKind;

/// A debugger that we know, by the name that a configuration has for it.
pub fn by_name(name: &str) -> Option<Table> {
    Some(match name {
        "lldb" => LLDB,
        "codelldb" => CODELLDB,
        "gdb" => GDB,
        "cdt-gdb" => CDT_GDB,
        "delve" => DELVE,
        "rdbg" => RDBG,
        "java" => JAVA,
        "js-debug" => JS_DEBUG,
        "perl" => PERL,
        _ => return None,
    })
}

/// All of them.
pub const NAMES: &[&str] =
    &["lldb", "codelldb", "gdb", "cdt-gdb", "delve", "rdbg", "java", "js-debug", "perl"];

/// What is not said otherwise; a debugger of which nothing is known.
pub const PLAIN: Table = Table {
    name: "this debugger",
    scopes: &[],
    libraries: &[],
    foreign: &[],
    machinery: &[],
    machinery_is_blind: false,
    over: &[],
    halts_to_set: false,
    function: whole,
    thread_name: |name| name,
    filters: Filters {
        uncaught: &["uncaught", "unhandled", "user-unhandled"],
        caught: &["raised", "all", "caught"],
        user_unhandled: &["userUnhandled", "user-unhandled"],
        with_uncaught: &[],
        stops_at_uncaught: false,
        thrown_at: &[],
    },
    hits: Hits::Ours,
    takes_conditions: true,
    pages_lists: false,
    guesses_depth: false,
    finishes_inside: false,
    interrupted_steps: InterruptedSteps::Forgotten,
    told: |stopped| stopped,
    question: |_, _| None,
    failed: |_| None,
    advice: &[],
    assignment: |_, _| None,
    names_hits: false,
    evaluates_for: Purpose::Repl,
    unbound: None,
    interrupts: None,
    chatter: &[],
    exit_code: never,
    ignores: &[],
    fails_with_nothing: false,
};

/// What compiled programs have in common: an exception that nothing catches aborts, where they stop anyway.
const NATIVE: Table = Table {
    libraries: &["/rustc/", "/.rustup/", "/.cargo/registry/", "/usr/include/", "/usr/src/"],
    function: without_hash,
    evaluates_for: Purpose::Watch,
    filters: Filters {
        uncaught: &[],
        caught: &[],
        user_unhandled: &[],
        stops_at_uncaught: true,
        thrown_at: &[],
        with_uncaught: &[],
    },
    names_hits: true,
    ..PLAIN
};

pub const LLDB: Table = Table {
    name: "lldb-dap",
    // A panic runs through this function, whatever becomes of it.
    filters: Filters { caught: &["cpp_throw"], thrown_at: &["rust_panic"], ..NATIVE.filters },
    hits: Hits::From,
    interrupted_steps: InterruptedSteps::CarriedOut,
    ..NATIVE
};

pub const CODELLDB: Table = Table {
    name: "CodeLLDB",
    scopes: &[("static", ScopeKind::Global)],
    filters: Filters { uncaught: &["rust_panic"], caught: &["cpp_throw"], ..NATIVE.filters },
    hits: Hits::Operators,
    unbound: Some("Resolved locations: 0"),
    ..NATIVE
};

pub const GDB: Table =
    Table { name: "gdb", filters: Filters { caught: &["throw"], ..NATIVE.filters }, ..NATIVE };

pub const CDT_GDB: Table =
    Table { name: "cdt-gdb-adapter", names_hits: false, exit_code: said_by_gdb, ..NATIVE };

pub const DELVE: Table = Table {
    name: "delve",
    libraries: &["/src/runtime/", "/pkg/mod/", "/vendor/"],
    foreign: &["runtime.", "???"],
    machinery: &["runtime.", "???"],
    halts_to_set: true,
    function: whole,
    thread_name: goroutine,
    evaluates_for: Purpose::Repl,
    // Before 1.22 it stops at both without being asked; since then who asks for nothing switches them off.
    filters: Filters {
        uncaught: &["unrecovered-panic"],
        with_uncaught: &["runtime-fatal-throw"],
        ..NATIVE.filters
    },
    hits: Hits::Operators,
    pages_lists: true,
    guesses_depth: true,
    interrupted_steps: InterruptedSteps::Kept,
    told: said_in_words,
    advice: &[(
        "without using 'call'",
        "`call f(x)` calls a function; all goroutines run while it does",
    )],
    chatter: &["Type 'dlv help'", "Step interrupted by a breakpoint."],
    exit_code: said_by_delve,
    ..NATIVE
};

/// With what `adapter/ruby/inside.rb` mends: without it, what is thrown is a value, and lists are empty.
pub const RDBG: Table = Table {
    name: "rdbg",
    libraries: &["/gems/", "/lib/ruby/", "<internal:"],
    foreign: &["[C] "],
    machinery: &["[C] "],
    machinery_is_blind: true,
    over: &["postmortem mode"],
    filters: Filters {
        uncaught: &["uncaught"],
        caught: &["any"],
        user_unhandled: &[],
        ..PLAIN.filters
    },
    takes_conditions: false,
    pages_lists: true,
    finishes_inside: true,
    interrupted_steps: InterruptedSteps::CarriedOut,
    question: tried,
    failed,
    assignment: |name, value| Some(format!("{name} = ({value})")),
    ..PLAIN
};

pub const JAVA: Table =
    Table { name: "the Java debugger", foreign: &["java.", "javax.", "jdk.", "sun."], ..PLAIN };

pub const JS_DEBUG: Table = Table {
    name: "js-debug",
    libraries: &["/node_modules/", "<node_internals>"],
    function: without_global,
    hits: Hits::Operators,
    names_hits: true,
    ..PLAIN
};

pub const PERL: Table = Table {
    name: "Perl::LanguageServer",
    scopes: &[("specials", ScopeKind::Global)],
    libraries: &["/perl5/", "/share/perl/", "/lib/perl"],
    filters: Filters { uncaught: &[], caught: &[], user_unhandled: &[], ..PLAIN.filters },
    fails_with_nothing: true,
    ..PLAIN
};

/// Our own server in front of the debugger agent in Mono's runtime.
pub const MONO: Table = Table {
    name: "Mono's debugger",
    filters: Filters {
        uncaught: &["uncaught"],
        caught: &["all"],
        user_unhandled: &[],
        ..PLAIN.filters
    },
    names_hits: true,
    advice: &[(
        "where no step begins",
        "a breakpoint and `debug_continue` stop it behind its wait",
    )],
    interrupts: Some("holdpoint/interrupt"),
    ..PLAIN
};

/// It announces neither hit conditions nor log messages, takes both, and ignores them.
pub const NETCOREDBG: Table = Table {
    name: "netcoredbg",
    libraries: &["/usr/share/dotnet/", "/_/src/"],
    filters: Filters {
        uncaught: &["user-unhandled"],
        caught: &["all"],
        user_unhandled: &["user-unhandled"],
        stops_at_uncaught: true,
        ..PLAIN.filters
    },
    ..PLAIN
};

#[cfg(test)]
mod tests {
    use super::{super::Dialect, *};
    use crate::breakpoints::hits::HitTest;

    #[test]
    fn an_exit_code_that_is_only_written_out_is_read() {
        assert_eq!(DELVE.exit_code("Process 29158 has exited with status 3\n"), Some(3));
        assert_eq!(DELVE.exit_code("Process 1 has exited with status -1\n"), Some(-1));
        assert_eq!(DELVE.exit_code("Detaching\n"), None);
        let gdb =
            |how: &str| CDT_GDB.exit_code(&format!("[Inferior 1 (process 2) exited {how}]\n"));
        assert_eq!((gdb("with code 012"), gdb("normally"), gdb("")), (Some(10), Some(0), None));
    }

    #[test]
    fn a_configuration_names_those_that_are_known() {
        assert!(NAMES.iter().all(|it| by_name(it).is_some()) && by_name("pydevd").is_none());
    }

    #[test]
    fn a_function_is_called_what_its_source_calls_it() {
        for (said, ours) in [
            ("bump(int&, std::vector<int, std::allocator<int>>&)", "bump"),
            ("Graph::link(std::string const&, int) const", "Graph::link"),
            ("(anonymous namespace)::go(void (*)(int))", "(anonymous namespace)::go"),
            ("main::'lambda'(int)::operator()(int) const", "main::'lambda'(int)::operator()"),
            ("r::bump::h0123456789abcdef", "r::bump"),
            ("<(A, B) as r::Add>::add", "<(A, B) as r::Add>::add"),
            ("::loop(char const*, int)", "loop"),
            ("main", "main"),
        ] {
            assert_eq!(LLDB.function(said), ours);
        }
    }

    #[test]
    fn hit_conditions_are_written_as_each_debugger_takes_them() {
        let at_least = HitTest::parse(">= 5").unwrap();
        let third = HitTest::parse("3").unwrap();
        assert_eq!(CODELLDB.hit_condition(third).as_deref(), Some("== 3"));
        assert_eq!(LLDB.hit_condition(at_least).as_deref(), Some("5"));
        assert_eq!(LLDB.hit_condition(third), None);
        assert_eq!(RDBG.hit_condition(at_least), None);
    }
}
