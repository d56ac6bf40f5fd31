//! A compiled program that runs already, by its process, and what one left behind when it crashed.

use serde_json::json;

use super::{debugger, kind::NativeLanguage, lldb};
use crate::{
    adapter::{Around, DebugServer, Started, server::ServedProgram},
    attach::{At, Attach},
    backend::dap::dialect::{Heard, Lldb},
    failure::{Code, Failure},
    process::Spec,
    running::Running,
};

pub(super) async fn attach(
    kind: NativeLanguage,
    attach: &Attach,
    around: Around,
) -> Result<Started, Failure> {
    let values = lldb::values(&around.home);
    let mappings: Vec<[String; 2]> = attach
        .mappings
        .0
        .iter()
        .map(|it| [it.remote.display().to_string(), it.local.display().to_string()])
        .collect();
    let mut arguments = json!({
        "initCommands": lldb::settings(kind, attach.just_my_code, values.as_deref()),
        "enableAutoVariableSummaries": true,
    });
    // An empty one is a mistake to it.
    if let (false, Some(all)) = (mappings.is_empty(), arguments.as_object_mut()) {
        all.insert("sourceMap".to_owned(), json!(mappings));
    }
    let mut process = None;
    let (more, title) = match &attach.at {
        At::Process(pid) => {
            let running = Running::find(*pid)?;
            may_be_traced(&running)?;
            let more = json!({ "pid": pid, "program": running.executable, "stopOnEntry": false });
            let title = running.name().to_owned();
            process = Some(running);
            (more, title)
        }
        At::Core { file, program } => {
            let more = json!({ "coreFile": file, "program": program, "stopOnEntry": true });
            (more, attach.at.to_string())
        }
        At::Address { .. } | At::Editor { .. } => {
            return Err(Failure::new(Code::AttachFailed, "lldb takes processes and core files")
                .hint("pass `pid`, or `core` and `program`"));
        }
    };
    if let (Some(all), serde_json::Value::Object(more)) = (arguments.as_object_mut(), more) {
        all.extend(more);
    }
    let is_rust = kind == NativeLanguage::Rust;
    let dialect = Box::new(Lldb::new(Heard::default(), attach.just_my_code, is_rust));
    let spec = Spec {
        program: debugger::find(kind, &around)?,
        args: Vec::new(),
        cwd: attach.cwd.clone(),
        env: Default::default(),
    };
    let server = DebugServer { spec, adapter_id: "lldb", dialect, begin: "attach", arguments };
    let stands = process.is_none();
    let told = Some((kind.language(), title.clone()));
    let about =
        ServedProgram { process, told, stands, visits: true, ..ServedProgram::called(title) };
    server.run(about, around).await.map_err(refused)
}

/// Why the system would not let us: said before a debugger stumbles over it.
fn may_be_traced(process: &Running) -> Result<(), Failure> {
    let pid = process.pid;
    if let Some(other) = process.tracer() {
        let text = format!("process {pid} is traced already, by process {other}");
        return Err(Failure::new(Code::AttachFailed, text)
            .hint("end that debugger or tracer first: a process has one at a time"));
    }
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let scope: u32 = scope.ok().and_then(|it| it.trim().parse().ok()).unwrap_or(0);
    let is_root = rustix::process::geteuid().is_root();
    let why = match scope {
        0 => return Ok(()),
        1 | 2 if is_root => return Ok(()),
        1 => "1: only programs that a debugger started itself",
        2 => "2: root alone",
        _ => "3: nobody",
    };
    let text =
        format!("process {pid} must not be traced: `/proc/sys/kernel/yama/ptrace_scope` is {why}");
    Err(Failure::new(Code::AttachFailed, text).hint(
        "start the program by `debug_launch`; or `sudo sysctl kernel.yama.ptrace_scope=0` until the next boot",
    ))
}

fn refused(failure: Failure) -> Failure {
    let is_denied = failure.message.contains("not permitted") || failure.message.contains("denied");
    let failure = Failure { code: Code::AttachFailed, ..failure };
    match is_denied {
        true => {
            failure.hint("run Holdpoint as the user of that process, with the right to trace it")
        }
        false => failure,
    }
}
