//! The real runtime: everything here is asked of a `mono` that runs a program compiled by `mcs`.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it stands"
)]

use std::{net::Ipv4Addr, path::Path, process::Stdio, time::Duration};

use holdpoint_sdb::{
    AssemblyRef, MethodRef, MonoInbox, MonoRequester, ObjectRef,
    command::{ExceptionFilter, FrameSlot, Invocation, Invoked, MethodLines, Modifier, StepDepth},
    event::{EventKind, Moment, SuspendPolicy, What},
    value::WireValue,
};
use tokio::{net::TcpListener, process::Child};

/// A program that stands where its assembly was loaded.
struct Stage {
    _folder: tempfile::TempDir,
    program: Child,
    mono: MonoRequester,
    inbox: MonoInbox,
    assembly: AssemblyRef,
    main: ObjectRef,
}

impl Stage {
    async fn new(arguments: &[&str]) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/Zoo.cs");
        let exe = folder.path().join("Zoo.exe");
        let compiled = tokio::process::Command::new("mcs")
            .arg("-debug")
            .arg(format!("-out:{}", exe.display()))
            .arg(source)
            .output();
        let compiled = compiled.await.expect("mcs, as `cargo xtask install` brings it");
        assert!(compiled.status.success(), "{compiled:?}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let program = tokio::process::Command::new("mono")
            .arg("--debug")
            .arg(format!(
                "--debugger-agent=transport=dt_socket,address=127.0.0.1:{port},server=n,suspend=y"
            ))
            .arg(exe)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (stream, _) = within(listener.accept()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (read, write) = stream.into_split();
        let (mono, mut inbox) = within(MonoRequester::greet(read, write)).await.unwrap();
        let version = mono.version().await.unwrap();
        assert!(version.runtime.starts_with("mono"), "{version:?}");
        mono.set_version(2, version.minor.min(54)).await.unwrap();
        let begun = within(inbox.next()).await.unwrap();
        assert_eq!(begun.events[0].what, What::Started);
        let loads = mono.request(EventKind::AssemblyLoad, SuspendPolicy::All, &[]).await.unwrap();
        mono.resume().await.unwrap();
        let loaded = within(inbox.next()).await.unwrap();
        let What::AssemblyLoaded(assembly) = loaded.events[0].what else { panic!("{loaded:?}") };
        mono.forget(EventKind::AssemblyLoad, loads).await.unwrap();
        let main = loaded.events[0].thread;
        Stage { _folder: folder, program, mono, inbox, assembly, main }
    }

    /// The method of that name, by the rows of the assembly.
    async fn method(&self, name: &str) -> (MethodRef, MethodLines) {
        for row in 1.. {
            let method = self.mono.method_in(self.assembly, row).await.unwrap();
            let Some(method) = method else { panic!("no `{name}`") };
            if self.mono.method_name(method).await.unwrap() == name {
                return (method, self.mono.lines(method).await.unwrap());
            }
        }
        unreachable!()
    }

    async fn stop_at(&self, name: &str, text: &str) {
        let (method, lines) = self.method(name).await;
        let line = line_of(text);
        let point = lines.points.iter().find(|it| it.line == line).unwrap();
        let place = Modifier::Place { method, offset: point.offset };
        self.mono.request(EventKind::Breakpoint, SuspendPolicy::All, &[place]).await.unwrap();
    }

    async fn next(&mut self) -> Moment {
        within(self.inbox.next()).await.unwrap()
    }

    async fn line(&self) -> u32 {
        let top = self.mono.frames(self.main).await.unwrap()[0];
        let lines = self.mono.lines(top.method).await.unwrap();
        lines.points.iter().rfind(|it| it.offset <= top.offset).unwrap().line
    }

    async fn local(&self, name: &str) -> (FrameSlot, WireValue) {
        let top = self.mono.frames(self.main).await.unwrap()[0];
        let locals = self.mono.locals(top.method).await.unwrap();
        let slot = FrameSlot::Local(locals.names.iter().position(|it| it == name).unwrap());
        let value = self.mono.frame_values(self.main, top.id, &[slot]).await.unwrap().remove(0);
        (slot, value)
    }
}

fn line_of(text: &str) -> u32 {
    let all = include_str!("programs/Zoo.cs").lines().position(|it| it.contains(text)).unwrap();
    u32::try_from(all).unwrap() + 1
}

async fn within<F: Future>(work: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), work).await.expect("nothing came in 20 s")
}

#[tokio::test]
async fn a_breakpoint_shows_frames_arguments_and_steps() {
    let mut stage = Stage::new(&[]).await;
    assert!(stage.mono.has_debug_info(stage.assembly).await.unwrap());
    assert!(stage.mono.location(stage.assembly).await.unwrap().ends_with("Zoo.exe"));
    stage.stop_at("Add", "int sum").await;
    stage.mono.resume().await.unwrap();
    let stopped = stage.next().await;
    assert_eq!(stopped.suspends, SuspendPolicy::All);
    assert!(matches!(stopped.events[0].what, What::Breakpoint(_)), "{stopped:?}");
    assert_eq!(stage.line().await, line_of("int sum"));
    let frames = stage.mono.frames(stage.main).await.unwrap();
    assert_eq!(frames.len(), 2);
    let names = stage.mono.parameters(frames[0].method).await.unwrap().names;
    assert_eq!(names, ["a", "b"]);
    let slots = [FrameSlot::Parameter(0), FrameSlot::Parameter(1)];
    let values = stage.mono.frame_values(stage.main, frames[0].id, &slots).await.unwrap();
    assert_eq!(values, [WireValue::I4(0), WireValue::I4(0)]);
    let thread = stage.main;
    for (depth, to) in [
        (StepDepth::Over, "counter++"),
        (StepDepth::Out, "total = Add"),
        (StepDepth::Over, "        }"),
        (StepDepth::Over, "for (int i"),
        (StepDepth::Over, "total = Add"),
    ] {
        let modifiers =
            [Modifier::Step { thread, depth }, Modifier::Assemblies(vec![stage.assembly])];
        let step =
            stage.mono.request(EventKind::Step, SuspendPolicy::All, &modifiers).await.unwrap();
        stage.mono.resume().await.unwrap();
        let stepped = stage.next().await;
        assert!(matches!(stepped.events[0].what, What::Stepped(_)), "{stepped:?}");
        stage.mono.forget(EventKind::Step, step).await.unwrap();
        let line = stage.line().await;
        let expected = if to == "        }" { line_of("total = Add") + 1 } else { line_of(to) };
        assert_eq!(line, expected, "{depth:?}");
    }
}

#[tokio::test]
async fn values_are_read_and_set_and_calls_can_be_broken_off() {
    let mut stage = Stage::new(&[]).await;
    stage.stop_at("Main", "Console.WriteLine").await;
    stage.mono.resume().await.unwrap();
    stage.next().await;
    let rex = stage.local("rex").await.1.object().unwrap();
    let kind = stage.mono.type_of(rex).await.unwrap();
    assert_eq!(stage.mono.type_facts(kind).await.unwrap().full, "Animal");
    let fields = stage.mono.fields(kind).await.unwrap();
    let name = fields.iter().find(|it| it.name.contains("Name")).unwrap();
    let value = stage.mono.field_values(rex, &[name.id]).await.unwrap().remove(0);
    let WireValue::Text(text) = value else { panic!("{value:?}") };
    assert_eq!(stage.mono.text(text).await.unwrap(), "Rex");
    assert_eq!(stage.mono.text_length(text).await.unwrap(), 3);
    assert_eq!(stage.mono.text_part(text, 1, 2).await.unwrap(), "ex");
    let WireValue::Structure { fields: parts, .. } = stage.local("place").await.1 else { panic!() };
    assert_eq!(parts, [WireValue::I4(3), WireValue::I4(4)]);
    let WireValue::Structure { fields: inside, .. } = stage.local("boxed").await.1 else {
        panic!()
    };
    assert_eq!(inside, [WireValue::I4(42)]);
    let WireValue::Structure { is_enum: true, .. } = stage.local("color").await.1 else { panic!() };
    let row = stage.local("row").await.1.object().unwrap();
    assert_eq!(stage.mono.lengths(row).await.unwrap(), [3]);
    stage.mono.set_element(row, 1, &WireValue::I4(9)).await.unwrap();
    let all = stage.mono.elements(row, 0, 3).await.unwrap();
    assert_eq!(all, [1, 9, 3].map(WireValue::I4));
    let top = stage.mono.frames(stage.main).await.unwrap()[0];
    let (slot, total) = stage.local("total").await;
    assert_eq!(total, WireValue::I4(3));
    stage.mono.set_frame_value(stage.main, top.id, slot, &WireValue::I4(50)).await.unwrap();
    let call = async |method: &str| Invocation {
        thread: stage.main,
        method: stage.method(method).await.0,
        this: WireValue::Object(rex),
        arguments: Vec::new(),
        is_virtual: false,
    };
    let twice = within(stage.mono.invoke(&call("get_Twice").await).1).await.unwrap();
    assert_eq!(twice, Invoked::Returned(WireValue::I4(6)));
    let bad = within(stage.mono.invoke(&call("Bad").await).1).await.unwrap();
    assert!(matches!(bad, Invoked::Thrown(WireValue::Object(_))), "{bad:?}");
    let (number, spinning) = stage.mono.invoke(&call("Spin").await);
    let spinning = tokio::spawn(spinning);
    tokio::time::sleep(Duration::from_millis(100)).await;
    stage.mono.abort(stage.main, number).await.unwrap();
    assert_eq!(within(spinning).await.unwrap().unwrap(), Invoked::BrokenOff);
    stage.mono.resume().await.unwrap();
    let died = stage.next().await;
    assert_eq!(died.events[0].what, What::Died { code: 50 });
    assert_eq!(within(stage.program.wait()).await.unwrap().code(), Some(50));
    assert!(within(stage.inbox.next()).await.is_none());
    assert!(stage.mono.version().await.is_err());
}

#[tokio::test]
async fn an_exception_is_told_where_it_is_thrown() {
    let mut stage = Stage::new(&["more"]).await;
    let filter = ExceptionFilter { kind: None, caught: false, uncaught: true };
    let modifiers = [Modifier::Exception(filter)];
    stage.mono.request(EventKind::Exception, SuspendPolicy::All, &modifiers).await.unwrap();
    stage.mono.resume().await.unwrap();
    let thrown = stage.next().await;
    let What::Thrown(exception) = thrown.events[0].what else { panic!("{thrown:?}") };
    let kind = stage.mono.type_of(exception).await.unwrap();
    let facts = stage.mono.type_facts(kind).await.unwrap();
    assert_eq!(facts.full, "System.InvalidOperationException");
    assert_eq!(stage.line().await, line_of("too many"));
    stage.mono.exit(7).await.unwrap_or_default();
    assert_eq!(within(stage.program.wait()).await.unwrap().code(), Some(7));
}

/// Whoever is let go runs to its end by itself.
#[tokio::test]
async fn a_program_that_is_let_go_runs_on() {
    let mut stage = Stage::new(&[]).await;
    stage.stop_at("Add", "int sum").await;
    stage.mono.resume().await.unwrap();
    stage.next().await;
    stage.mono.dispose().await.unwrap();
    assert_eq!(within(stage.program.wait()).await.unwrap().code(), Some(3));
}
