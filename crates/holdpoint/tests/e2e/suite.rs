//! One suite for every language: the transcripts of `scenarios/*.md`, run against the programs of
//! `fixtures/<language>/suite` through the binary as it ships.
//!
//! A language is its folder, with a table of its own words (`suite.toml`), and its line below. What a debugger cannot
//! do is a row of that table with the reason that the tool gives: what passes unexpectedly fails too. So
//! `docs/adapter-health.md`, which is written from the tables, is what these tests have seen.

mod checks;
mod health;
mod play;
mod script;
mod table;

use self::{play::play, script::Scenario};
pub(crate) use self::{
    script::filled,
    table::{Outcome, Table},
};

/// The tests of one language, named after the scenarios.
macro_rules! language {
    ($($language:ident),+ $(,)?) => {
        /// Those that run the suite, in the order of the page.
        const LANGUAGES: &[&str] = &[$(stringify!($language)),+];
        $(scenarios!($language);)+
    };
}

macro_rules! scenarios {
    ($language:ident) => {
        each! { $language:
            launch, entry, breakpoint, condition, hit_count, tracepoint, exception, steps, steps_past_points, stack, locals, nested,
            set_variable, evaluate, threads, output, stdin, exit_code, attach, restart, never_reached,
            edit_and_rerun, test_by_name
        }
    };
}

macro_rules! each {
    ($language:ident: $($scenario:ident),+) => {
        mod $language {
            $(#[test]
            fn $scenario() {
                super::run(stringify!($language), stringify!($scenario));
            })+

            #[test]
            fn every_scenario_is_among_them() {
                super::are_all(&[$(stringify!($scenario)),+]);
            }
        }
    };
}

language! {
    python,
    node,
    java,
    mono,
    perl,
    c,
    cpp,
    rust,
    go,
    ruby,
}

/// Runs one, and holds what came of it against the language's table.
#[track_caller]
fn run(language: &str, scenario: &str) {
    let name = scenario.replace('_', "-");
    let table = Table::of(language);
    if let Some(missing) = table.missing() {
        let is_ci = std::env::var_os("CI").is_some();
        assert!(!is_ci, "`{missing}` is missing, and CI skips nothing");
        println!("skipped: `{missing}` is missing");
        return;
    }
    let mut seen = play(&table, &Scenario::named(&name));
    let wanted = table.expected(&name);
    // Debuggers that are not ours fail to start now and then; what is wrong with us is so twice.
    if !wanted.is_met_by(&seen) && !["python", "node"].contains(&language) {
        println!("{language}, {name}: {seen:?}; once more");
        seen = play(&table, &Scenario::named(&name));
    }
    assert!(
        wanted.is_met_by(&seen),
        "{language}, {name}: expected {wanted:?}, and it was {seen:?}\n\
         hint: `fixtures/{language}/suite/suite.toml` says what is expected"
    );
}

fn are_all(names: &[&str]) {
    let mut names: Vec<String> = names.iter().map(|it| it.replace('_', "-")).collect();
    names.sort();
    let mut files: Vec<String> = Scenario::all().into_iter().map(|it| it.name).collect();
    files.sort();
    assert_eq!(names, files, "the list in `suite.rs` and the files of `scenarios`");
}
