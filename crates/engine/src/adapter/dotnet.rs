//! C# and whatever else .NET runs: Mono by its own debugger agent, .NET itself by netcoredbg where it is there.

mod mono;
mod netcoredbg;

use std::{path::Path, path::PathBuf};

use futures::future::BoxFuture;

use super::{Adapter, Around, Started, has_ending, one_of};
use crate::{
    attach::Attach,
    failure::{Code, Failure},
    language::{DebuggerProgram, Listing, Mode, Modes, Wants},
    launch::Launch,
};

pub(super) struct Dotnet;

/// What is looked for on a machine.
const WANTS: Wants = Wants {
    program: "mono",
    program_on_windows: "mono",
    language: "C#",
    version: &["--version"],
    version_prefix: "Mono JIT compiler version ",
    major_min: None,
    install: "install Mono: `apt-get install mono-runtime mono-mcs libmono-system-core4.0-cil`",
    library: None,
};

impl Adapter for Dotnet {
    fn language(&self) -> &'static str {
        "csharp"
    }

    fn called(&self) -> &'static str {
        "C#"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["c#", "cs", "dotnet", ".net", "mono"]
    }

    fn endings(&self) -> &'static [&'static str] {
        &["cs"]
    }

    fn listing(&self) -> Listing {
        Listing { rest: Some(mono::REST), ..Listing::default() }
    }

    fn wants(&self) -> Option<Wants> {
        Some(WANTS)
    }

    fn debugger(&self) -> Option<DebuggerProgram> {
        Some(mono::RUNTIME)
    }

    fn modes(&self) -> Modes {
        Modes {
            launch: Mode::By(
                "a `.cs` file or an `.exe` of Mono; a `.dll` of .NET where netcoredbg is on PATH",
            ),
            attach: Mode::By("the port at which Mono's debugger agent listens"),
            test: Mode::No("Debian's Mono brings no runner of tests"),
            core: Mode::No("Mono's debugger reads no core file"),
        }
    }

    fn aside(&self) -> &'static [&'static str] {
        &["bin", "obj"]
    }

    fn claims(&self, launch: &Launch) -> bool {
        let by_file =
            launch.program.as_deref().is_some_and(|it| has_ending(it, &["cs", "exe", "dll"]));
        let by_command = launch.command.first().is_some_and(|word| {
            matches!(
                Path::new(word).file_name().and_then(|it| it.to_str()),
                Some("mono" | "dotnet")
            )
        });
        let by_test = launch
            .test
            .as_deref()
            .is_some_and(|it| has_ending(Path::new(it.split("::").next().unwrap_or(it)), &["cs"]));
        by_file || by_command || by_test
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(start(launch, around))
    }

    fn is_runtime(&self, name: &str) -> bool {
        matches!(name, "mono" | "mono-sgen" | "mono-boehm")
    }

    fn listens(&self, words: &[String]) -> bool {
        let agent = words.iter().find(|it| it.starts_with("--debugger-agent="));
        agent.is_some_and(|it| it.contains("server=y"))
    }

    fn how_to_listen(&self, port: u16) -> Option<String> {
        Some(format!(
            "mono --debug --debugger-agent=transport=dt_socket,address=127.0.0.1:{port},server=y,suspend=n …"
        ))
    }

    /// It speaks first.
    fn answers(&self, answer: &[u8]) -> bool {
        answer.starts_with(b"DWP-Handshake")
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(mono::attach(attach, around))
    }
}

/// What is to run, and with which words.
struct Target {
    file: PathBuf,
    args: Vec<String>,
    /// As it was named by `command`.
    runtime: Option<PathBuf>,
}

impl Target {
    fn of(launch: &Launch) -> Result<Target, Failure> {
        if launch.test.is_some() {
            let text = "a test of .NET cannot be run by its name: Mono brings no runner of tests";
            return Err(Failure::new(Code::InvalidParams, text)
                .hint("launch the runner itself: `program`: its `.exe`, `args`: the test"));
        }
        match (&launch.program, launch.command.as_slice(), &launch.module) {
            (Some(file), [], None) => {
                Ok(Target { file: file.clone(), args: launch.args.clone(), runtime: None })
            }
            (None, [runtime, file, args @ ..], None) if !file.starts_with('-') => {
                let args = args.iter().chain(&launch.args).cloned().collect();
                let runtime = Some(PathBuf::from(runtime));
                Ok(Target { file: launch.cwd.join(file), args, runtime })
            }
            (None, [_, ..], None) => {
                let text = "the command must be `mono FILE …` or `dotnet FILE.dll …`";
                Err(Failure::new(Code::InvalidParams, text).hint("pass `program` and `args`"))
            }
            _ => Err(one_of()),
        }
    }

    /// Whether it is for .NET itself: Mono's programs end in `.exe`.
    fn is_core(&self) -> bool {
        let is_dotnet = self.runtime.as_deref().and_then(Path::file_name);
        is_dotnet.is_some_and(|it| it == "dotnet") || has_ending(&self.file, &["dll"])
    }
}

async fn start(launch: &Launch, around: Around) -> Result<Started, Failure> {
    let target = Target::of(launch)?;
    if !target.file.is_file() {
        let text = format!("there is no file `{}`", target.file.display());
        return Err(Failure::new(Code::LaunchFailed, text).hint("pass the whole path of it"));
    }
    if target.is_core() {
        return netcoredbg::start(launch, &target, around).await;
    }
    mono::start(launch, target, around).await
}
