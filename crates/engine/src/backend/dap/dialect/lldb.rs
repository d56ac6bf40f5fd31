//! lldb-dap, and CodeLLDB, which is made of the same: what its stops mean, which of its frames are nobody's, and how
//! compiled values are written.
//!
//! An exception's stop is shown at the user's own frame: what raises it is the runtime's, ten frames of it. A step
//! that ended in such code goes on until it is back.

mod heard;

use std::path::Path;

use futures::future::BoxFuture;
use holdpoint_dap::types as t;

pub use self::heard::Heard;
use super::{Dialect, Filters, InterruptedSteps, Table};
use crate::{
    backend::{Frame, ScopeKind, Slice, Step, StopReason, Stopped, Value, Variable, dap::Dap},
    breakpoints::hits::HitTest,
    budget,
    failure::{Code, Failure},
    limits,
};

/// One program under lldb.
pub struct Lldb {
    table: Table,
    heard: Heard,
    /// Steps end in the user's own code alone.
    just_my_code: bool,
    is_rust: bool,
    /// The program is to stop where its own code begins, and has not yet.
    entry: std::sync::atomic::AtomicBool,
}

/// Of a stack, what is looked at to find the user's own frame.
const LOOKED_AT: usize = 48;

/// Rust's numbers have the names of C's in what lldb shows.
const NUMBERS: &[(&str, &str)] = &[
    ("int", "i32"),
    ("unsigned int", "u32"),
    ("long", "i64/isize"),
    ("unsigned long", "u64/usize"),
    ("short", "i16"),
    ("unsigned short", "u16"),
    ("char", "i8"),
    ("signed char", "i8"),
    ("unsigned char", "u8"),
    ("__int128", "i128"),
    ("unsigned __int128", "u128"),
    ("float", "f32"),
    ("double", "f64"),
    ("char32_t", "char"),
];

impl Lldb {
    pub fn new(heard: Heard, just_my_code: bool, is_rust: bool) -> Lldb {
        Lldb { table: super::LLDB, heard, just_my_code, is_rust, entry: false.into() }
    }

    /// It was told to stop where the user's own code begins.
    #[must_use]
    pub fn stopping_at_entry(self, entry: bool) -> Lldb {
        Lldb { entry: entry.into(), ..self }
    }

    fn stands_at_entry(&self) -> bool {
        self.entry.load(std::sync::atomic::Ordering::Relaxed)
    }

    async fn look(&self, dap: &Dap, mut stopped: Stopped) -> Option<Stopped> {
        // Most steps end in the user's own code: its frame is enough to know.
        if stopped.reason == StopReason::Step
            && dap.top(stopped.thread).await.is_ok_and(|it| it.is_user)
        {
            return Some(stopped);
        }
        let slice = Slice { start: 0, count: LOOKED_AT };
        let Ok(stack) = dap.stack(stopped.thread, slice).await else { return Some(stopped) };
        let own = stack.frames.iter().position(|it| it.is_user);
        // A breakpoint that was set while the program ran may be hit before lldb knows of it itself.
        let is_trap = stopped.reason == StopReason::Exception
            && stopped.text.as_deref().is_some_and(|it| it.starts_with("signal SIGTRAP"));
        if is_trap && let Some(top) = stack.frames.first() {
            let hits = dap.known.at(top);
            if !hits.is_empty() {
                return Some(Stopped {
                    reason: StopReason::Breakpoint,
                    text: None,
                    hits,
                    ..stopped
                });
            }
        }
        match stopped.reason {
            StopReason::Exception => {
                stopped.text = self.raised(&stack.frames, stopped.text.take()).await;
                dap.known.raised().extend(stopped.text.clone().map(|it| (stopped.thread, it)));
                if let Some(above) = own.filter(|it| *it > 0) {
                    dap.known.hidden().insert(stopped.thread, above);
                }
                Some(stopped)
            }
            StopReason::Step => self.stepped(dap, stopped, own).await,
            // The one that lldb takes out as it is hit: nobody else's has no name.
            StopReason::Breakpoint => {
                if own != Some(0) {
                    return self.goes_on(dap, stopped).await;
                }
                self.entry.store(false, std::sync::atomic::Ordering::Relaxed);
                Some(Stopped { reason: StopReason::Entry, text: None, ..stopped })
            }
            _ => Some(stopped),
        }
    }

    /// What an exception's stop is about.
    async fn raised(&self, frames: &[Frame], said: Option<String>) -> Option<String> {
        let has = |name: &str| frames.iter().any(|it| it.function.contains(name));
        let is_panic = has("rust_panic");
        let is_thrown = has("std::terminate") || has("__cxxabiv1::__terminate");
        if !is_panic && !is_thrown {
            return said;
        }
        let message = self.heard.message().await;
        self.heard.forget();
        let what = if is_panic { "panic" } else { "uncaught exception" };
        Some(match message {
            Some(message) => format!("{what}: {message}"),
            None => format!("{what}; the program wrote no message"),
        })
    }

    /// A step that ended outside of the user's own code goes back to it, or to the program's end.
    async fn stepped(&self, dap: &Dap, stopped: Stopped, own: Option<usize>) -> Option<Stopped> {
        match own {
            Some(0) => Some(stopped),
            _ if !self.just_my_code => Some(stopped),
            Some(_) => match dap.take_step(stopped.thread, Step::Out).await {
                Ok(()) => None,
                Err(_) => Some(stopped),
            },
            None => self.goes_on(dap, stopped).await,
        }
    }

    async fn goes_on(&self, dap: &Dap, stopped: Stopped) -> Option<Stopped> {
        match dap.resume(stopped.thread).await {
            Ok(_) => None,
            Err(_) => Some(stopped),
        }
    }

    /// Whether what has this type, in lldb's words, stands for something else.
    fn is_reference(&self, kind: &str) -> bool {
        kind.ends_with('&') || self.is_rust && kind.ends_with('*')
    }

    /// `alloc::vec::Vec<i32, alloc::alloc::Global>` is a `Vec<i32>`.
    fn kind(&self, kind: &str) -> String {
        if !self.is_rust {
            return kind.to_owned();
        }
        // A reference has no name of its own there.
        if let Some(of) = kind.strip_suffix('*') {
            return format!("&{}", self.kind(of.trim_end()));
        }
        let number = NUMBERS.iter().find(|(it, _)| *it == kind).map(|(_, ours)| (*ours).to_owned());
        number.unwrap_or_else(|| {
            let mut text = kind.replace(", alloc::alloc::Global", "");
            for path in ["alloc::vec::", "alloc::string::", "core::option::", "core::result::"] {
                text = text.replace(path, "");
            }
            text
        })
    }
}

impl Dialect for Lldb {
    fn name(&self) -> &'static str {
        self.table.name
    }

    fn scope_kind(&self, scope: &t::Scope) -> ScopeKind {
        self.table.scope_kind(scope)
    }

    fn is_users(&self, frame: &t::StackFrame, file: &Path) -> bool {
        self.table.is_users(frame, file) && file.exists()
    }

    fn function<'a>(&self, name: &'a str) -> &'a str {
        self.table.function(name)
    }

    /// In C++ it calls a function of the program for each, which it compiles first.
    fn keeps_stacks(&self) -> bool {
        true
    }

    /// Its own server was gone first.
    fn makes_up(&self, exit_code: i64) -> bool {
        exit_code == -1
    }

    fn interrupted_steps(&self) -> InterruptedSteps {
        self.table.interrupted_steps()
    }

    /// Whoever pauses a program stops it by this signal; so does whoever attaches.
    fn reason(&self, stopped: &t::StoppedEvent) -> Option<StopReason> {
        (signal_of(stopped) == Some("SIGSTOP")).then_some(StopReason::Pause)
    }

    fn signal(&self, stopped: &t::StoppedEvent) -> Option<i32> {
        let name = signal_of(stopped)?;
        (1..32).find(|it| crate::process::signal_name(*it).trim_matches([' ', '(', ')']) == name)
    }

    fn killed_by(&self, output: &str) -> Option<i32> {
        if let Some((_, number)) = output.split_once("Terminated due to signal ") {
            return number.split_whitespace().next()?.parse().ok();
        }
        // `exited with status = 9 (0x00000009) killed`, of a signal; of a code there is no word behind it.
        let (number, word) = output.split_once("exited with status = ")?.1.split_once(" (0x")?;
        let (_, word) = word.split_once(')')?;
        number.parse().ok().filter(|it| (1..=64).contains(it) && !word.trim().is_empty())
    }

    /// It repeats what it was told to do, and what everybody is told by events.
    fn is_news(&self, output: &str) -> bool {
        let text = output.trim_start();
        let is_echo =
            ["Running ", "Process ", "(lldb) ", "Executing "].iter().any(|it| text.starts_with(it));
        !is_echo && !text.is_empty() && !text.starts_with("To get started with the debug console")
    }

    /// Older ones take what begins so for a command of their own, whatever it is said to be for.
    fn check_text(&self, text: &str) -> Result<(), Failure> {
        if !text.trim_start().starts_with('`') {
            return Ok(());
        }
        Err(Failure::new(Code::EvaluateFailed, "commands of lldb are not run, only expressions")
            .hint("pass an expression of the program's language, without the backtick"))
    }

    /// `error: <user expression 4>:1:1: use of undeclared identifier 'nosuch'`, with the line and a mark below it.
    fn problem(&self, message: &str) -> String {
        let line = message.trim().lines().next().unwrap_or("no reason was given");
        let line = line.trim_start_matches("error: ");
        let said = match line.strip_prefix("<user expression ") {
            Some(rest) => rest.split_once(": ").map_or(rest, |(_, said)| said),
            None => line,
        };
        if said.starts_with("Execution was interrupted") {
            return format!(
                "the call was broken off ({}); the program stands as it stood",
                said.trim_start_matches("Execution was interrupted, ").trim_end_matches('.')
            );
        }
        budget::cut(said, limits::NAME_BYTES * 4)
    }

    fn shown(&self, mut value: Value) -> Value {
        let text = value.text.trim();
        let is_gone = text.contains("variable not available")
            || text.contains("DW_OP_entry_value")
            || text.contains("<optimized out>");
        if is_gone {
            value.text = "<optimized away: the compiler kept no value here>".to_owned();
        }
        if self.is_rust
            && value.kind.as_deref().is_some_and(|it| it.trim_end_matches([' ', '*']) == "char32_t")
            && let Some((_, letter)) = value.text.rsplit_once("U'")
        {
            value.text = format!("'{letter}");
        }
        if value.kind.as_deref().is_some_and(|it| self.is_reference(it))
            && let Some(referred) = behind_address(&value.text)
        {
            value.text = referred.to_owned();
            if !value.text.contains(['{', '[', '(']) {
                value.children = None;
            }
        }
        value.kind = value.kind.as_deref().map(|it| self.kind(it));
        // A text is shown whole: its letters one by one, or what it is made of, tell nobody more.
        if value.kind.as_deref().is_some_and(is_text) && value.text.contains('"') {
            value.children = None;
        }
        value
    }

    /// One line of Rust with a macro in it has several places, one for each scope.
    fn tidies(&self) -> Option<&'static str> {
        self.is_rust.then_some("`script holdpoint_points.tidy(lldb.debugger)")
    }

    fn doubts_conditions(&self) -> bool {
        true
    }

    fn has_references(&self) -> bool {
        true
    }

    /// Its request gives a reference another address, and the program crashes.
    fn writes_through(&self, variable: &Variable, value: &str) -> Option<String> {
        let kind = variable.value.kind.as_deref()?;
        let name = variable.expression.as_deref().unwrap_or(&variable.name);
        if self.is_rust {
            let is_address = value.trim_start().starts_with('&');
            let is_whole =
                kind.starts_with('&') && !kind.starts_with("&str") && !kind.starts_with("&[");
            return (is_whole && !is_address).then(|| format!("*({name}) = ({value})"));
        }
        kind.ends_with('&').then(|| format!("{name} = ({value})"))
    }

    fn looks_into(&self, stopped: &Stopped) -> bool {
        match stopped.reason {
            StopReason::Exception | StopReason::Step => true,
            StopReason::Breakpoint => stopped.hits.is_empty() && self.stands_at_entry(),
            _ => false,
        }
    }

    fn complete<'a>(&'a self, dap: &'a Dap, stopped: Stopped) -> BoxFuture<'a, Option<Stopped>> {
        Box::pin(self.look(dap, stopped))
    }

    fn stop_text(&self, stopped: &t::StoppedEvent) -> Option<String> {
        if signal_of(stopped) == Some("SIGSTOP") {
            return None;
        }
        self.table.stop_text(stopped)
    }

    fn is_bound(&self, answer: &t::Breakpoint) -> bool {
        self.table.is_bound(answer)
    }

    fn why_unbound(&self, message: &str) -> Option<String> {
        self.table.why_unbound(message)
    }

    fn filters(&self) -> &Filters {
        self.table.filters()
    }

    fn hit_condition(&self, test: HitTest) -> Option<String> {
        self.table.hit_condition(test)
    }

    fn names_hits(&self) -> bool {
        true
    }

    fn evaluates_for(&self) -> t::EvaluateContext {
        self.table.evaluates_for()
    }
}

/// `const char *`, `String`, `const std::string &`.
fn is_text(kind: &str) -> bool {
    let plain = kind.trim_start_matches("const ").trim_end_matches([' ', '&']);
    matches!(plain, "char *" | "String" | "str" | "std::string" | "std::basic_string<char>")
        || kind == "&str"
}

/// What is shown behind an address: `0x00007fffffffe438 {x:1, y:2}`.
fn behind_address(text: &str) -> Option<&str> {
    let (address, rest) = text.split_once(' ')?;
    let digits = address.strip_prefix("0x")?;
    digits.bytes().all(|it| it.is_ascii_hexdigit()).then_some(rest)
}

/// `signal SIGSEGV: address not mapped to object (fault address: 0x8)`.
fn signal_of(stopped: &t::StoppedEvent) -> Option<&str> {
    let said = stopped.description.as_deref().or(stopped.text.as_deref())?;
    let name = said.strip_prefix("signal ")?;
    Some(name.split([':', ' ']).next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lldb() -> Lldb {
        Lldb::new(Heard::default(), true, true)
    }

    #[test]
    fn what_is_wrong_with_an_expression_is_said_in_one_line() {
        let told = "error: <user expression 4>:1:1: use of undeclared identifier 'nosuch'\n    1 | nosuch\n";
        assert_eq!(lldb().problem(told), "use of undeclared identifier 'nosuch'");
        let endless = "error: Execution was interrupted, reason: signal SIGSTOP.\nThe process has been returned";
        let said =
            "the call was broken off (reason: signal SIGSTOP); the program stands as it stood";
        assert_eq!(lldb().problem(endless), said);
        assert!(lldb().check_text(" `platform shell ls").is_err());
    }

    #[test]
    fn a_reference_is_what_it_refers_to() {
        let shown = |is_rust, kind: &str, text: &str| {
            let lldb = Lldb::new(Heard::default(), true, is_rust);
            let value = Value {
                text: text.to_owned(),
                kind: Some(kind.to_owned()),
                children: Some(crate::backend::Handle::number(1)),
                indexed: None,
                named: None,
            };
            let shown = lldb.shown(value);
            (shown.text, shown.kind.unwrap_or_default(), shown.children.is_some())
        };
        let is = |text: &str, kind: &str, parts| (text.to_owned(), kind.to_owned(), parts);
        assert_eq!(shown(false, "int &", "0x00007ffe 5"), is("5", "int &", false));
        assert_eq!(shown(false, "P &", "0x00007ffe {x:1}"), is("{x:1}", "P &", true));
        assert_eq!(shown(false, "P *", "0x00007ffe {x:1}"), is("0x00007ffe {x:1}", "P *", true));
        assert_eq!(shown(false, "int *", "0x00007ffe"), is("0x00007ffe", "int *", true));
        assert_eq!(shown(true, "int *", "0x00007ffe 5"), is("5", "&i32", false));
        assert_eq!(shown(true, "double **", "0x00007ffe 2.5"), is("2.5", "&&f64", false));
    }

    #[test]
    fn a_signal_is_known_by_its_number() {
        let stopped = |said: &str| t::StoppedEvent {
            description: Some(said.to_owned()),
            ..Default::default()
        };
        assert_eq!(lldb().signal(&stopped("signal SIGSEGV: address not mapped")), Some(11));
        assert_eq!(lldb().signal(&stopped("breakpoint 1.1")), None);
        assert_eq!(lldb().reason(&stopped("signal SIGSTOP")), Some(StopReason::Pause));
        assert_eq!(
            lldb().killed_by(
                "Process 3 exited with status = 9 (0x00000009) Terminated due to signal 9"
            ),
            Some(9)
        );
    }
}
