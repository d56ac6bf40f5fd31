//! .NET itself, by netcoredbg: a debug server that nobody but its makers hands out.
//!
//! It takes hit conditions and log messages and then ignores them, whatever it announces: both are left to us.

use serde_json::json;

use super::Target;
use crate::{
    adapter::{Around, DebugServer, Started, debugger},
    backend::dap::dialect::NETCOREDBG,
    failure::Failure,
    language::{DebuggerProgram, Install},
    launch::Launch,
    process::Spec,
};

const DEBUGGER: DebuggerProgram = DebuggerProgram {
    name: "netcoredbg",
    programs: &["netcoredbg"],
    version: &["--version"],
    install: Install::ByHand(
        "no package has it: unpack a release of netcoredbg (github.com/Samsung/netcoredbg) and put it on PATH; \
         a `.cs` file or a Mono `.exe` runs without it",
    ),
};

pub(super) async fn start(
    launch: &Launch,
    target: &Target,
    around: Around,
) -> Result<Started, Failure> {
    let program = debugger::find("csharp", &DEBUGGER, &around.home)?;
    let runtime = target.runtime.as_deref().unwrap_or("dotnet".as_ref());
    let file = target.file.display().to_string();
    let args: Vec<String> = std::iter::once(file).chain(target.args.iter().cloned()).collect();
    let arguments = json!({
        "program": runtime,
        "args": args,
        "cwd": launch.cwd,
        "env": launch.env,
        "stopAtEntry": launch.stop_on_entry,
        "justMyCode": launch.just_my_code,
    });
    let spec = Spec {
        program,
        args: vec!["--interpreter=vscode".into()],
        cwd: launch.cwd.clone(),
        env: Default::default(),
    };
    let dialect = Box::new(NETCOREDBG);
    let server = DebugServer { spec, adapter_id: "coreclr", dialect, begin: "launch", arguments };
    server.start(launch, around).await
}
