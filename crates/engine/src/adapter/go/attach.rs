//! A Go program that runs already, by its process. Delve stops it to look at it, and lets it go when we do: also when
//! we end in whatever way, for its connection ends with us. And what one left behind when it crashed.

use std::path::PathBuf;

use serde_json::json;

use super::{common, delve::Delve, toolchain::Toolchain};
use crate::{
    adapter::{
        Around, Started,
        dialled::{Asked, Door},
    },
    attach::{At, Attach},
    backend::dap::dialect::{DELVE, Launched},
    failure::{Code, Failure},
    launch::Launch,
    process::{Program, Spec},
    running::Running,
};

pub(super) async fn attach(attach: &Attach, around: Around) -> Result<Started, Failure> {
    let (process, begin, mut arguments) = match &attach.at {
        At::Process(pid) => {
            let process = Running::find(*pid)?;
            if let Some(tracer) = process.tracer() {
                let text = format!("process {pid} is traced by process {tracer} already");
                return Err(Failure::new(Code::AttachFailed, text).hint("end that debugger first"));
            }
            let local = json!({ "mode": "local", "processId": pid, "stopOnEntry": false });
            (Some(process), "attach", local)
        }
        At::Core { file, program } => {
            let left = json!({ "mode": "core", "program": program, "coreFilePath": file, "stopOnEntry": true });
            (None, "launch", left)
        }
        At::Address { .. } | At::Editor { .. } => {
            let text = format!("{}: delve takes processes and core files", attach.at);
            return Err(Failure::new(Code::AttachFailed, text)
                .hint("pass its `pid`, or `core` and `program`"));
        }
    };
    // Who has no Go here has its programs.
    let here = Launch { cwd: PathBuf::from("/"), ..Launch::default() };
    let toolchain = Toolchain::find(&here).await.ok();
    let delve = Delve::find(&around, None).await?;
    let door = Door::open().await?;
    let spec = Spec {
        program: delve.path.clone(),
        args: delve.words(door.port),
        cwd: attach.cwd.clone(),
        env: Default::default(),
    };
    let mut server = Program::visit_aside(&around.guard, &spec)?;
    common(&mut arguments);
    let mappings: Vec<_> = attach.mappings.0.iter().collect();
    if let (false, Some(all)) = (mappings.is_empty(), arguments.as_object_mut()) {
        let each = mappings.iter().map(|it| json!({ "from": it.local, "to": it.remote }));
        all.insert("substitutePath".to_owned(), each.collect());
    }
    let title = process.as_ref().map_or_else(|| attach.at.to_string(), |it| it.name().to_owned());
    let asked = Asked {
        title: title.clone(),
        adapter_id: "go",
        dialect: Box::new(Launched {
            table: DELVE,
            entry: None,
            libraries: toolchain.map(|it| it.libraries()).unwrap_or_default(),
            just_my_code: attach.just_my_code,
            prelude: None,
        }),
        begin,
        arguments,
    };
    let targets = door.greet(&mut server, &spec, asked, &around).await.map_err(attached)?;
    Ok(Started {
        runtime: None,
        program: Some(server),
        told: process.is_none().then_some(("go", title)),
        stands: process.is_none(),
        process,
        note: None,
        targets,
    })
}

fn attached(failure: Failure) -> Failure {
    let told = Failure::new(Code::AttachFailed, failure.message);
    match failure.hint {
        Some(hint) => told.hint(hint),
        None => {
            told.hint("it must be this user's; `/proc/sys/kernel/yama/ptrace_scope` may forbid it")
        }
    }
}
