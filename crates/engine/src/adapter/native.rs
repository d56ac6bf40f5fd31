//! C, C++ and Rust by lldb-dap: a program that is built, or one that is built first.
//!
//! The debugger runs the program. It has pipes of ours all the same, and what is left of either when somebody is
//! killed is ended by the guard over both.

mod attach;
mod build;
mod cargo;
mod debugger;
mod kind;
mod lldb;
mod pipes;

use std::path::Path;

use futures::future::BoxFuture;

pub(super) use self::kind::NativeLanguage;
use self::{build::Built, pipes::NamedPipes};
use super::{Adapter, Around, DebugServer, Runtime, Started, has_ending, server::ServedProgram};
use crate::{
    attach::Attach,
    backend::dap::dialect::{Heard, Lldb},
    failure::Failure,
    language::{DebuggerProgram, Mode, Modes, Reading, Runners},
    launch::Launch,
    process::Spec,
};

/// One of the three languages.
pub(super) struct Native(pub(super) NativeLanguage);

impl Adapter for Native {
    fn language(&self) -> &'static str {
        self.0.language()
    }

    fn called(&self) -> &'static str {
        match self.0 {
            NativeLanguage::C => "C",
            NativeLanguage::Cpp => "C++",
            NativeLanguage::Rust => "Rust",
        }
    }

    fn aliases(&self) -> &'static [&'static str] {
        match self.0 {
            NativeLanguage::C => &["native"],
            NativeLanguage::Cpp => &["c++", "cxx"],
            NativeLanguage::Rust => &["rs"],
        }
    }

    fn endings(&self) -> &'static [&'static str] {
        self.0.endings()
    }

    fn reading(&self) -> Reading {
        Reading::default()
    }

    fn runners(&self) -> Runners {
        let names: &[&str] = if self.0 == NativeLanguage::Rust { &["cargo"] } else { &[] };
        Runners { names, ..Runners::default() }
    }

    fn debugger(&self) -> Option<DebuggerProgram> {
        Some(debugger::LLDB_DAP)
    }

    fn modes(&self) -> Modes {
        let test = match self.0 {
            NativeLanguage::Rust => Mode::By("`test`: `src/lib.rs::tests::name`, by Cargo"),
            NativeLanguage::C | NativeLanguage::Cpp => {
                Mode::No("it has no runner of its own: launch the test's program")
            }
        };
        let attach = Mode::By("`pid`, where the system lets a process be traced");
        Modes { launch: Mode::Yes, attach, test, core: Mode::By("`core` and `program`") }
    }

    fn aside(&self) -> &'static [&'static str] {
        if self.0 == NativeLanguage::Rust { &["target"] } else { &[] }
    }

    fn roots(&self) -> &'static [&'static str] {
        match self.0 {
            NativeLanguage::Rust => &["Cargo.toml"],
            NativeLanguage::C => &["Makefile", "configure"],
            NativeLanguage::Cpp => &["CMakeLists.txt"],
        }
    }

    fn claims(&self, launch: &Launch) -> bool {
        let is_manifest = |it: &Path| it.file_name().is_some_and(|it| it == "Cargo.toml");
        let is_rusts =
            |it: &Path| has_ending(it, NativeLanguage::Rust.endings()) || is_manifest(it);
        if let Some(program) = launch.program.as_deref() {
            let by_name = has_ending(program, self.endings());
            return by_name
                || (self.0 == NativeLanguage::Rust && is_manifest(program))
                || NativeLanguage::of_program(program) == Some(self.0);
        }
        if let Some(test) = launch.test.as_deref() {
            let file = Path::new(test.split("::").next().unwrap_or(test));
            // A test of C is refused with the reason.
            return has_ending(file, self.endings())
                || (self.0 == NativeLanguage::Rust && is_rusts(file));
        }
        let Some(first) = launch.command.first() else { return false };
        let name = Path::new(first).file_name().and_then(|it| it.to_str()).unwrap_or_default();
        match name {
            "cargo" => self.0 == NativeLanguage::Rust,
            // Which language its program is of is known when it is built.
            "make" | "gmake" | "cmake" | "ninja" => self.0 == NativeLanguage::C,
            _ => {
                build::on_path(first, launch).and_then(|it| NativeLanguage::of_program(&it))
                    == Some(self.0)
            }
        }
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start(self.0, launch, around))
    }

    /// Whatever nobody else is the runtime of is a program of its own.
    fn is_program(&self, program: &Path) -> bool {
        NativeLanguage::of_program(program) == Some(self.0)
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(attach::attach(self.0, attach, around))
    }
}

async fn start(kind: NativeLanguage, launch: &Launch, around: Around) -> Result<Started, Failure> {
    // Nothing is built for a debugger that is not there.
    let program = debugger::find(kind, &around)?;
    let built = build::prepare(kind, launch, &around).await?;
    let pipes = NamedPipes::make(&around.home)?;
    let values = lldb::values(&around.home);
    let arguments = lldb::launch(&built, launch, &pipes, values.as_deref());
    let heard = Heard::default();
    let is_rust = built.kind == NativeLanguage::Rust;
    let dialect = Lldb::new(heard.clone(), launch.just_my_code, is_rust)
        .stopping_at_entry(launch.stop_on_entry);
    let spec = Spec {
        program: program.clone(),
        args: Vec::new(),
        cwd: launch.cwd.clone(),
        env: Default::default(),
    };
    let server = DebugServer {
        spec,
        adapter_id: "lldb",
        dialect: Box::new(dialect),
        begin: "launch",
        arguments,
    };
    let Built { program: debuggee, note, kind, .. } = built;
    let why = match note {
        Some(note) => format!("{note}; debugged by {}", program.display()),
        None => format!("debugged by {}", program.display()),
    };
    let runtime = Runtime { path: debuggee, version: None, why, installed: None };
    let about = ServedProgram {
        runtime: Some(runtime),
        stands: launch.stop_on_entry,
        told: Some((kind.language(), launch.title())),
        tells_output: false,
        ..ServedProgram::called(launch.title())
    };
    let mut started = server.run(about, around).await?;
    let own = pipes.take(heard).map_err(|error| {
        Failure::internal(format!("the program's pipes cannot be read: {error}"))
    })?;
    if let Some(server) = &mut started.program {
        server.pipes.stdin = own.stdin;
        server.pipes.stdout = own.stdout;
        server.pipes.stderr = own.stderr;
    }
    Ok(started)
}
