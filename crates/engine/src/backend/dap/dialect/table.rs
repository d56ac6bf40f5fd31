//! Debuggers that need no code of their own here: what they say is told by tables, each row seen in a
//! recording of the debugger (`crates/dap/tests/recordings`).

use std::{path::Path, time::Duration};

use holdpoint_dap::types as t;

use super::{Dialect, Filters, InterruptedSteps, scope_kind};
use crate::{
    backend::{ScopeKind, StopReason, Stopped, Value},
    breakpoints::hits::{HitTest, How},
    failure::{Code, Failure},
};

/// A debugger in a table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    pub name: &'static str,
    /// Scopes whose names the protocol does not know, in lower case.
    pub scopes: &'static [(&'static str, ScopeKind)],
    /// Parts of the paths of files that are not the user's.
    pub libraries: &'static [&'static str],
    /// How the names of functions begin that are not the user's, whatever file they are said to be in.
    pub foreign: &'static [&'static str],
    /// How the names of functions begin by which the runtime carries a panic, or waits.
    pub machinery: &'static [&'static str],
    /// Nothing can be seen or evaluated in such a frame.
    pub machinery_is_blind: bool,
    /// How a step is refused where the program has only its end before it.
    pub over: &'static [&'static str],
    /// It halts a program to set breakpoints, and now and then leaves it so.
    pub halts_to_set: bool,
    pub function: fn(&str) -> &str,
    pub thread_name: fn(String) -> String,
    pub filters: Filters,
    pub hits: Hits,
    pub takes_conditions: bool,
    pub pages_lists: bool,
    /// The size of a stack that is not shown whole is made up.
    pub guesses_depth: bool,
    /// A step out ends at the end of the function that is left.
    pub finishes_inside: bool,
    pub interrupted_steps: InterruptedSteps,
    pub told: fn(Stopped) -> Stopped,
    pub question: fn(&str, Duration) -> Option<String>,
    pub failed: fn(&Value) -> Option<Failure>,
    /// Pieces of its refusals, and what to do about them.
    pub advice: &'static [(&'static str, &'static str)],
    pub assignment: fn(&str, &str) -> Option<String>,
    pub names_hits: bool,
    pub evaluates_for: Purpose,
    /// What a debugger says of a breakpoint that it calls verified and that lies nowhere.
    pub unbound: Option<&'static str>,
    /// The request by which it breaks off what the program computes for us.
    pub interrupts: Option<&'static str>,
    /// How what it says to everybody begins.
    pub chatter: &'static [&'static str],
    /// The program's exit code, where it is only written out.
    pub exit_code: fn(&str) -> Option<i64>,
    /// What it announces and cannot, as the protocol names it.
    pub ignores: &'static [&'static str],
    /// An evaluation that failed is answered with nothing.
    pub fails_with_nothing: bool,
}

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

/// How hit conditions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hits {
    /// `>= 5`, as we write them.
    Operators,
    /// A number, and all hits from it on.
    From,
    /// Not at all, whatever is announced.
    Ours,
}

/// What an evaluation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Repl,
    /// To these a `repl` is their own command line.
    Watch,
}

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

impl Dialect for Table {
    fn name(&self) -> &'static str {
        self.name
    }

    fn scope_kind(&self, scope: &t::Scope) -> ScopeKind {
        let name = scope.name.to_ascii_lowercase();
        let own = self.scopes.iter().find(|(it, _)| *it == name);
        own.map_or_else(|| scope_kind(scope), |(_, kind)| *kind)
    }

    fn is_users(&self, frame: &t::StackFrame, file: &Path) -> bool {
        let path = file.to_string_lossy();
        let is_library = self.libraries.iter().any(|it| path.contains(it));
        !is_library && !self.foreign.iter().any(|it| frame.name.starts_with(it))
    }

    fn function<'a>(&self, name: &'a str) -> &'a str {
        (self.function)(name)
    }

    fn is_machinery(&self, function: &str) -> bool {
        self.machinery.iter().any(|it| function.starts_with(it))
    }

    fn halts_to_set(&self) -> bool {
        self.halts_to_set
    }

    fn is_over(&self, refusal: &str) -> bool {
        self.over.iter().any(|it| refusal.contains(it))
    }

    fn hides_machinery(&self) -> bool {
        !self.machinery.is_empty()
    }

    fn guesses_depth(&self) -> bool {
        self.guesses_depth
    }

    fn finishes_inside(&self) -> bool {
        self.finishes_inside
    }

    fn interrupted_steps(&self) -> InterruptedSteps {
        self.interrupted_steps
    }

    fn told(&self, stopped: Stopped) -> Stopped {
        (self.told)(stopped)
    }

    fn thread_name(&self, name: String) -> String {
        (self.thread_name)(name)
    }

    fn is_idle(&self, name: &str) -> bool {
        let function = name.rsplit(' ').next().unwrap_or(name);
        self.is_machinery(function)
    }

    fn takes_conditions(&self) -> bool {
        self.takes_conditions
    }

    fn pages_lists(&self) -> bool {
        self.pages_lists
    }

    fn question(&self, expression: &str, patience: Duration) -> Option<String> {
        (self.question)(expression, patience)
    }

    fn failed(&self, value: &Value) -> Option<Failure> {
        (self.failed)(value)
    }

    fn advice(&self, message: &str) -> Option<&'static str> {
        self.advice.iter().find(|(piece, _)| message.contains(piece)).map(|(_, what)| *what)
    }

    fn assignment(&self, name: &str, value: &str) -> Option<String> {
        (self.assignment)(name, value)
    }

    /// `Paused on breakpoint`, `step over`, `breakpoint 1.1`: nothing that the reason does not say.
    fn stop_text(&self, stopped: &t::StoppedEvent) -> Option<String> {
        use t::StopReason as R;
        if matches!(
            stopped.reason,
            R::Breakpoint | R::FunctionBreakpoint | R::Step | R::Pause | R::Entry
        ) {
            return None;
        }
        let (text, description) = (stopped.text.as_deref(), stopped.description.as_deref());
        let said = match (text.map(str::trim), description.map(str::trim)) {
            (Some(text), Some(more)) if text != more && !more.is_empty() => {
                format!("{text}: {more}")
            }
            (text, description) => text.or(description)?.to_owned(),
        };
        Some(said).filter(|it| !it.is_empty())
    }

    fn is_bound(&self, answer: &t::Breakpoint) -> bool {
        let message = answer.message.as_deref();
        answer.verified && (self.unbound.is_none() || message != self.unbound)
    }

    fn why_unbound(&self, message: &str) -> Option<String> {
        let is_provisional = self.unbound == Some(message) || message.starts_with("breakpoint.");
        is_provisional.then(|| "its file is not loaded yet".to_owned())
    }

    fn filters(&self) -> &Filters {
        &self.filters
    }

    fn hit_condition(&self, test: HitTest) -> Option<String> {
        match (self.hits, test.how) {
            (Hits::Operators, how) => Some(format!("{} {}", how.as_str(), test.number)),
            (Hits::From, How::AtLeast) => Some(test.number.to_string()),
            (Hits::From | Hits::Ours, _) => None,
        }
    }

    fn names_hits(&self) -> bool {
        self.names_hits
    }

    fn evaluates_for(&self) -> t::EvaluateContext {
        match self.evaluates_for {
            Purpose::Repl => t::EvaluateContext::Repl,
            Purpose::Watch => t::EvaluateContext::Watch,
        }
    }

    fn interrupts(&self) -> Option<&'static str> {
        self.interrupts
    }

    fn is_chatter(&self, output: &str) -> bool {
        self.chatter.iter().any(|it| output.starts_with(it))
    }

    fn exit_code(&self, output: &str) -> Option<i64> {
        (self.exit_code)(output)
    }

    fn fails_with_nothing(&self) -> bool {
        self.fails_with_nothing
    }

    fn ignores(&self) -> &'static [&'static str] {
        self.ignores
    }
}

fn never(_: &str) -> Option<i64> {
    None
}

fn said_by_delve(output: &str) -> Option<i64> {
    output.trim().split_once("has exited with status ")?.1.parse().ok()
}

/// Which writes the code in octal.
fn said_by_gdb(output: &str) -> Option<i64> {
    let (_, after) = output.split_once(") exited ")?;
    match after.split_once(']')?.0 {
        "normally" => Some(0),
        other => i64::from_str_radix(other.strip_prefix("with code ")?, 8).ok(),
    }
}

/// `* [Go 7] main.work (Thread 123)` is `goroutine 7 main.work`.
fn goroutine(name: String) -> String {
    let plain = name.trim_start_matches("* ").split(" (Thread ").next().unwrap_or_default();
    match plain.strip_prefix("[Go ").and_then(|it| it.split_once("] ")) {
        Some((number, function)) => format!("goroutine {number} {function}"),
        None => plain.to_owned(),
    }
}

/// `"boom": panic` is `panic: boom`; a step that a breakpoint interrupted is no exception.
fn said_in_words(mut stopped: Stopped) -> Stopped {
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
fn tried(expression: &str, patience: Duration) -> Option<String> {
    let seconds = patience.as_secs_f64();
    Some(format!("::HoldpointInside.try({seconds:.3}) {{\n{expression}\n}}"))
}

const NO_FRAME: &str = "Error: Can not evaluate on this frame";

fn failed(value: &Value) -> Option<Failure> {
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

fn whole(name: &str) -> &str {
    name
}

/// `a::work::hc2062bcd62ce07e2` is `a::work`: the compiler tells generations apart by the last part.
fn without_hash(name: &str) -> &str {
    let name = without_parameters(name);
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => {
            path
        }
        _ => name,
    }
}

/// `Graph::link(std::string const&, int) const` is `Graph::link`, `::loop()` of a namespace without a name is `loop`.
fn without_parameters(name: &str) -> &str {
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
fn without_global(name: &str) -> &str {
    name.strip_prefix("global.").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
