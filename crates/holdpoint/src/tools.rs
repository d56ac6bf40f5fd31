//! The only list of tools. The MCP faces, the command line and the reference derive from it.
//!
//! The path names the tool: `timeline_query` is `tools/timeline/query.rs`.
//! Adding one is its file, its `mod` line and its line in [`TOOLS`].

pub(crate) mod breakpoint;
pub(crate) mod callpoint;
pub(crate) mod debug;
pub(crate) mod server;
mod session;
pub(crate) mod shared;
pub(crate) mod timeline;
pub(crate) mod tracepoint;

use crate::tool::{Entry, entry, same, unique};

pub(crate) const TOOLS: &[Entry] = &[
    entry::<debug::launch::Launch>(),
    entry::<breakpoint::set::Short>(),
    entry::<debug::r#continue::Continue>(),
    entry::<debug::step::Step>(),
    entry::<debug::evaluate::Evaluate>(),
    entry::<debug::stack::Stack>(),
    entry::<debug::variables::Variables>(),
    entry::<debug::probe::Probe>(),
    entry::<debug::stop::Stop>(),
    entry::<debug::pause::Pause>(),
    entry::<debug::wait::Wait>(),
    entry::<debug::threads::Threads>(),
    entry::<debug::output::Output>(),
    entry::<debug::input::Input>(),
    entry::<debug::source::Source>(),
    entry::<debug::set_variable::SetVariable>(),
    entry::<debug::exception::Exception>(),
    entry::<debug::snapshot::Snapshot>(),
    entry::<debug::diff::Diff>(),
    entry::<debug::attach::Attach>(),
    entry::<debug::restart::Restart>(),
    entry::<debug::status::Status>(),
    entry::<breakpoint::set::Set>(),
    entry::<breakpoint::list::List>(),
    entry::<breakpoint::enable::Enable>(),
    entry::<breakpoint::remove::Remove>(),
    entry::<breakpoint::set_exception::SetException>(),
    entry::<tracepoint::set::Set>(),
    entry::<tracepoint::read::Read>(),
    entry::<breakpoint::wait::Wait>(),
    entry::<callpoint::list_breakpoints::ListBreakpoints>(),
    entry::<callpoint::add::Add>(),
    entry::<callpoint::set_behavior::SetBehavior>(),
    entry::<callpoint::set_after_behavior::SetAfterBehavior>(),
    entry::<callpoint::set_replacement::SetReplacement>(),
    entry::<callpoint::get_default_behavior::GetDefaultBehavior>(),
    entry::<callpoint::set_default_behavior::SetDefaultBehavior>(),
    entry::<callpoint::list_paused::ListPaused>(),
    entry::<callpoint::r#continue::Continue>(),
    entry::<callpoint::list_functions::ListFunctions>(),
    entry::<callpoint::get_call_records::GetCallRecords>(),
    entry::<callpoint::repl_eval::ReplEval>(),
    entry::<callpoint::inspect_object::InspectObject>(),
    entry::<server::status::Status>(),
    entry::<timeline::query::Query>(),
    entry::<timeline::note::Note>(),
];

/// What `--toolset slim` shows: the few verbs an agent needs most.
pub(crate) const SLIM: &[&str] =
    &["debug_launch", "debug_breakpoint", "debug_continue", "debug_step", "debug_evaluate"];

const _: () = assert!(unique(TOOLS), "two tools share a name");
const _: () = assert!(all_exist(SLIM), "`SLIM` names a tool that does not exist");

const fn all_exist(names: &[&str]) -> bool {
    let mut names = names;
    while let [name, others @ ..] = names {
        let mut tools = TOOLS;
        let mut found = false;
        while let [tool, more @ ..] = tools {
            found |= same(tool.name.as_bytes(), name.as_bytes());
            tools = more;
        }
        if !found {
            return false;
        }
        names = others;
    }
    true
}
