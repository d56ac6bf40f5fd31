//! A Go program that runs already, by its process. Delve stops it to look at it, and lets it go when we do: also when
//! we end in whatever way, for its connection ends with us.

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
    let At::Process(pid) = attach.at else {
        let text = format!("{}: a Go program is attached to by its process", attach.at);
        return Err(Failure::new(Code::AttachFailed, text).hint("pass its `pid`"));
    };
    let process = Running::find(pid)?;
    if let Some(tracer) = process.tracer() {
        let text = format!("process {pid} is traced by process {tracer} already");
        return Err(Failure::new(Code::AttachFailed, text).hint("end that debugger first"));
    }
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
    let mut arguments = json!({ "mode": "local", "processId": pid, "stopOnEntry": false });
    common(&mut arguments);
    let mappings: Vec<_> = attach.mappings.0.iter().collect();
    if let (false, Some(all)) = (mappings.is_empty(), arguments.as_object_mut()) {
        let each = mappings.iter().map(|it| json!({ "from": it.local, "to": it.remote }));
        all.insert("substitutePath".to_owned(), each.collect());
    }
    let asked = Asked {
        title: process.name().to_owned(),
        adapter_id: "go",
        dialect: Box::new(Launched {
            table: DELVE,
            entry: None,
            libraries: toolchain.map(|it| it.libraries()).unwrap_or_default(),
            just_my_code: attach.just_my_code,
            prelude: None,
        }),
        begin: "attach",
        arguments,
    };
    let targets = door.greet(&mut server, &spec, asked, &around).await.map_err(attached)?;
    Ok(Started {
        runtime: None,
        program: Some(server),
        process: Some(process),
        told: None,
        stands: false,
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
