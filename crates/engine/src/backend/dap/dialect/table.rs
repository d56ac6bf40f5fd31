//! Debuggers that need no code of their own here: what they say is told by tables, each row seen in a
//! recording of the debugger (`crates/dap/tests/recordings`).

use std::path::Path;

use holdpoint_dap::types as t;

use super::{Dialect, Filters, scope_kind};
use crate::{
    backend::ScopeKind,
    breakpoints::hits::{HitTest, How},
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
    pub function: fn(&str) -> &str,
    pub filters: Filters,
    pub hits: Hits,
    pub names_hits: bool,
    pub evaluates_for: Purpose,
    /// What a debugger says of a breakpoint that it calls verified and that lies nowhere.
    pub unbound: Option<&'static str>,
    /// The program's exit code, where it is only written out.
    pub exit_code: fn(&str) -> Option<i64>,
}

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
    function: whole,
    filters: Filters {
        uncaught: &["uncaught", "unhandled", "user-unhandled"],
        caught: &["raised", "all", "caught"],
        user_unhandled: &["userUnhandled", "user-unhandled"],
        stops_at_uncaught: false,
    },
    hits: Hits::Ours,
    names_hits: false,
    evaluates_for: Purpose::Repl,
    unbound: None,
    exit_code: never,
};

/// What compiled programs have in common: an exception that nothing catches aborts, where they stop anyway.
const NATIVE: Table = Table {
    libraries: &["/rustc/", "/.rustup/", "/.cargo/registry/", "/usr/include/", "/usr/src/"],
    function: without_hash,
    evaluates_for: Purpose::Watch,
    filters: Filters { uncaught: &[], caught: &[], user_unhandled: &[], stops_at_uncaught: true },
    names_hits: true,
    ..PLAIN
};

pub const LLDB: Table = Table {
    name: "lldb-dap",
    filters: Filters { caught: &["cpp_throw"], ..NATIVE.filters },
    hits: Hits::From,
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
    function: whole,
    evaluates_for: Purpose::Repl,
    hits: Hits::Operators,
    exit_code: said_by_delve,
    ..NATIVE
};

pub const RDBG: Table = Table {
    name: "rdbg",
    libraries: &["/gems/", "/lib/ruby/"],
    foreign: &["[C] "],
    filters: Filters { uncaught: &[], caught: &["any"], user_unhandled: &[], ..PLAIN.filters },
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

    fn exit_code(&self, output: &str) -> Option<i64> {
        (self.exit_code)(output)
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

fn whole(name: &str) -> &str {
    name
}

/// `a::work::hc2062bcd62ce07e2` is `a::work`: the compiler tells generations apart by the last part.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => {
            path
        }
        _ => name,
    }
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
    fn hit_conditions_are_written_as_each_debugger_takes_them() {
        let at_least = HitTest::parse(">= 5").unwrap();
        let third = HitTest::parse("3").unwrap();
        assert_eq!(CODELLDB.hit_condition(third).as_deref(), Some("== 3"));
        assert_eq!(LLDB.hit_condition(at_least).as_deref(), Some("5"));
        assert_eq!(LLDB.hit_condition(third), None);
        assert_eq!(RDBG.hit_condition(at_least), None);
    }
}
