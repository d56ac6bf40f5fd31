//! Go by delve, which dials us. What runs is built by the Go toolchain first, into a folder of ours: delve itself would
//! leave its file beside the user's, and say nothing of what it builds.

mod attach;
mod build;
mod delve;
mod outline;
mod runners;
mod testing;
mod toolchain;

use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use self::{build::Built, delve::Delve, toolchain::Toolchain};
use super::{
    Adapter, Around, Runtime, Started,
    dialled::{Asked, Door},
    has_ending, one_of,
};
use crate::{
    attach::Attach,
    backend::dap::dialect::{DELVE, Launched},
    failure::{Code, Failure},
    language::{DebuggerProgram, Manners, Mode, Modes, Outlined, Runners, Wants},
    launch::Launch,
    nouns::Variable,
    process::{Program, Spec},
};

pub(super) struct Go;

const WANTS: Wants = Wants {
    program: "go",
    program_on_windows: "go",
    language: "Go",
    version: &["version"],
    version_prefix: "go version go",
    major_min: None,
    install: "install Go, from https://go.dev or as a package",
    library: None,
};

impl Adapter for Go {
    fn language(&self) -> &'static str {
        "go"
    }

    fn called(&self) -> &'static str {
        "Go"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["golang"]
    }

    fn endings(&self) -> &'static [&'static str] {
        &["go"]
    }

    fn outline(&self, text: &str) -> Vec<Outlined> {
        outline::outline(text)
    }

    fn manners(&self) -> Manners {
        Manners::default()
    }

    fn runners(&self) -> Runners {
        runners::RUNNERS
    }

    /// Results that have no name: what they hold before the function returns is nobody's value.
    fn is_noise(&self, variable: &Variable) -> bool {
        variable.name.strip_prefix("~r").is_some_and(|it| it.parse::<u32>().is_ok())
    }

    fn wants(&self) -> Option<Wants> {
        Some(WANTS)
    }

    fn debugger(&self) -> Option<DebuggerProgram> {
        Some(delve::PROGRAM)
    }

    fn modes(&self) -> Modes {
        Modes {
            launch: Mode::Yes,
            attach: Mode::By("by pid; it stands still for a moment while delve takes it"),
            test: Mode::By("`folder::TestName/subtest`, by `go test -c` and `-test.run`"),
            core: Mode::By("`core` and `program`"),
        }
    }

    fn aside(&self) -> &'static [&'static str] {
        &["vendor"]
    }

    fn roots(&self) -> &'static [&'static str] {
        &["go.mod", "go.work"]
    }

    fn takes_folder(&self, folder: &Path) -> bool {
        sources(folder).next().is_some()
    }

    fn claims(&self, launch: &Launch) -> bool {
        let by_program = launch.program.as_deref().is_some_and(|it| {
            has_ending(it, &["go"]) || self.takes_folder(it) || build::is_go_binary(it)
        });
        let by_command = launch.command.first().is_some_and(|it| it == "go");
        let by_test = launch.test.as_deref().is_some_and(|it| {
            let file = launch.cwd.join(it.split("::").next().unwrap_or(it));
            has_ending(&file, &["go"]) || self.takes_folder(&file)
        });
        by_program || by_command || by_test
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start(launch, around))
    }

    fn is_runtime(&self, _: &str) -> bool {
        false
    }

    fn is_program(&self, executable: &Path) -> bool {
        build::is_go_binary(executable)
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(attach::attach(attach, around))
    }
}

/// The Go files of a folder, tests among them.
fn sources(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| it.path()).filter(|it| has_ending(it, &["go"]))
}

async fn start(launch: &Launch, around: Around) -> Result<Started, Failure> {
    let toolchain = Toolchain::find(launch).await?;
    let delve = Delve::find(&around, Some(&toolchain)).await?;
    let built = Built::of(launch, &toolchain, &around).await?;
    let door = Door::open().await?;
    let spec = delve.spec(launch, door.port);
    let mut server = Program::beside_its_program(&around.guard, &spec)?;
    let asked = Asked {
        title: launch.title(),
        adapter_id: "go",
        dialect: Box::new(Launched {
            table: DELVE,
            entry: built.entry.clone().filter(|_| launch.stop_on_entry),
            libraries: toolchain.libraries(),
            just_my_code: launch.just_my_code,
            prelude: None,
        }),
        begin: "launch",
        arguments: arguments(launch, &built),
    };
    let targets = door.greet(&mut server, &spec, asked, &around).await?;
    let why = format!("with delve {}: {}", delve.version, delve.path.display());
    let version = Some(toolchain.version.trim_start_matches("go").to_owned());
    Ok(Started {
        runtime: Some(Runtime { path: toolchain.go, version, why, installed: None }),
        program: Some(server),
        process: None,
        told: None,
        stands: launch.stop_on_entry,
        note: built.note,
        targets,
    })
}

fn arguments(launch: &Launch, built: &Built) -> Value {
    let mut arguments = json!({
        "mode": "exec",
        "program": built.file,
        "args": built.args,
        "cwd": built.cwd.as_ref().unwrap_or(&launch.cwd),
        "stopOnEntry": built.entry.is_none() && launch.stop_on_entry,
    });
    common(&mut arguments);
    arguments
}

/// What holds for every program.
fn common(arguments: &mut Value) {
    if let Some(all) = arguments.as_object_mut() {
        all.insert("hideSystemGoroutines".to_owned(), json!(true));
        all.insert("stackTraceDepth".to_owned(), json!(crate::limits::STACK_FRAMES));
    }
}

/// The failure of a launch that asks for what Go has not.
fn not_for_go(what: &str) -> Failure {
    Failure::new(Code::InvalidParams, format!("`{what}` is nothing that Go runs")).hint(
        "pass `program`: a folder of a package, a `.go` file or a binary; or `test`: \
         `folder::TestName`; or `command`: `go run …`",
    )
}

/// The same where too much is said.
fn too_much() -> Failure {
    one_of()
}

impl Delve {
    fn spec(&self, launch: &Launch, port: u16) -> Spec {
        let env = launch.env.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        Spec {
            program: self.path.clone(),
            args: self.words(port),
            cwd: launch.cwd.clone(),
            env: env.collect(),
        }
    }
}
