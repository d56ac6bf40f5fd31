//! The only list of tools. The MCP faces, the command line and the reference derive from it.
//!
//! The path names the tool: `timeline_query` is `tools/timeline/query.rs`.
//! Adding one is its file, its `mod` line and its line in [`TOOLS`].

pub(crate) mod breakpoint;
pub(crate) mod callpoint;
pub(crate) mod debug;
mod ending;
pub(crate) mod external;
mod more;
pub(crate) mod record;
pub(crate) mod server;
mod session;
pub(crate) mod shared;
pub(crate) mod timeline;
pub(crate) mod tracepoint;

use crate::tool::{Entry, entry, same, unique};

/// The most wanted first: where a client cuts its list, those stay.
pub(crate) const TOOLS: &[Entry] = &[
    entry::<record::run::Run>(),
    entry::<record::calls::Calls>(),
    entry::<record::frame::Frame>(),
    entry::<record::history::History>(),
    entry::<record::diff::Diff>(),
    entry::<debug::probe::Probe>(),
    entry::<debug::experiment::Experiment>(),
    entry::<debug::launch::Launch>(),
    entry::<breakpoint::set::Short>(),
    entry::<debug::r#continue::Continue>(),
    entry::<debug::step::Step>(),
    entry::<debug::until::Until>(),
    entry::<debug::evaluate::Evaluate>(),
    entry::<debug::stack::Stack>(),
    entry::<debug::variables::Variables>(),
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
    entry::<debug::start::Start>(),
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

/// The way to all the others, mounted where there are others.
pub(crate) const MORE: &Entry = &entry::<more::tools::Tools>();

/// What `--toolset` names beside families and single tools.
pub(crate) struct Toolset {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) tools: &'static [&'static str],
}

pub(crate) const TOOLSETS: &[Toolset] = &[
    Toolset { name: "slim", about: "a program from launch to stop, in few tokens", tools: SLIM },
    Toolset { name: "agent", about: "what an agent needs, and the way to the rest", tools: AGENT },
    Toolset { name: "app", about: "calls of instrumented apps", tools: APP },
    Toolset {
        name: "vscode",
        about: "the editor's debugger, and what only an editor can",
        tools: VSCODE,
    },
];

const SLIM: &[&str] = &[
    "debug_probe",
    "debug_launch",
    "breakpoint_set",
    "debug_continue",
    "debug_step",
    "debug_evaluate",
    "debug_wait",
    "debug_output",
    "debug_stop",
];

/// A run is recorded and asked first, and stopped where that does not tell. Of twins one; what is about instrumented
/// apps is `app`.
const AGENT: &[&str] = &[
    "record_run",
    "record_calls",
    "record_frame",
    "record_history",
    "record_diff",
    "debug_probe",
    "debug_launch",
    "debug_continue",
    "debug_step",
    "debug_evaluate",
    "debug_stack",
    "debug_variables",
    "debug_stop",
    "debug_wait",
    "debug_output",
    "breakpoint_set",
    "tracepoint_set",
    "tracepoint_read",
    "timeline_query",
    "more_tools",
];

const APP: &[&str] = &[
    "breakpoint_add",
    "breakpoint_continue",
    "breakpoint_wait",
    "breakpoint_list_paused",
    "breakpoint_get_call_records",
    "breakpoint_inspect_object",
    "breakpoint_repl_eval",
    "breakpoint_list_functions",
    "breakpoint_list_breakpoints",
    "breakpoint_remove",
    "breakpoint_set_behavior",
    "breakpoint_set_after_behavior",
    "breakpoint_set_replacement",
    "breakpoint_get_default_behavior",
    "breakpoint_set_default_behavior",
];

/// What drives the editor's debugger; the tools of the editor itself are `tools/` of the repository.
const VSCODE: &[&str] = &[
    "debug_start",
    "debug_launch",
    "debug_continue",
    "debug_step",
    "debug_evaluate",
    "debug_stack",
    "debug_variables",
    "debug_stop",
    "debug_pause",
    "debug_wait",
    "debug_threads",
    "debug_output",
    "debug_set_variable",
    "debug_restart",
    "debug_status",
    "breakpoint_set",
    "breakpoint_list",
    "breakpoint_remove",
    "server_status",
];

/// Loaded at a client's start, where it loads the others when it searches for them.
pub(crate) const CORE: &[&str] =
    &["debug_probe", "debug_launch", "breakpoint_set", "debug_continue", "debug_evaluate"];

const _: () = assert!(unique(TOOLS), "two tools share a name");
const _: () = assert!(all_exist(SLIM), "`SLIM` names a tool that does not exist");
const _: () = assert!(all_exist(AGENT), "`AGENT` names a tool that does not exist");
const _: () = assert!(all_exist(APP), "`APP` names a tool that does not exist");
const _: () = assert!(all_exist(VSCODE), "`VSCODE` names a tool that does not exist");
const _: () = assert!(all_exist(CORE), "`CORE` names a tool that does not exist");

const fn all_exist(names: &[&str]) -> bool {
    let mut names = names;
    while let [name, others @ ..] = names {
        let mut tools = TOOLS;
        let mut found = same(MORE.name().as_bytes(), name.as_bytes());
        while let [tool, more @ ..] = tools {
            found |= same(tool.name().as_bytes(), name.as_bytes());
            tools = more;
        }
        if !found {
            return false;
        }
        names = others;
    }
    true
}
