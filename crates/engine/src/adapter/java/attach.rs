//! A Java program that runs already: by the port on which it listens for debuggers, or by its process where that was
//! started so that one can be reached. A virtual machine cannot be made to listen later.

use std::time::Duration;

use tokio::{sync::mpsc, time::timeout};

use super::{About, connect};
use crate::{
    adapter::{Around, Started, ask},
    attach::{At, Attach},
    failure::{Code, Failure},
    limits,
    process::command,
    running::{self, Running},
};

/// How long `jcmd` may take: it starts a virtual machine of its own.
const JCMD: Duration = Duration::from_secs(20);

pub(super) async fn attach(attach: &Attach, around: Around) -> Result<Started, Failure> {
    let (process, host, port) = match &attach.at {
        At::Editor { .. } | At::Core { .. } => {
            return Err(Failure::internal("no process is meant"));
        }
        At::Address { host, port } => {
            let is_here = host == "localhost" || host.starts_with("127.");
            let pid = is_here.then(|| running::listener(*port)).flatten();
            (pid.and_then(|it| Running::find(it).ok()), host.clone(), *port)
        }
        At::Process(pid) => {
            let process = Running::find(*pid)?;
            let (host, port) = listening(&process).await?;
            (Some(process), host, port)
        }
    };
    let stream = ask::connect(&host, port).await?;
    let mut roots = attach.folders(|it| &it.local);
    roots.extend(process.as_ref().and_then(Running::cwd));
    roots.push(attach.cwd.clone());
    let pid = process.as_ref().map(|it| it.pid);
    let about = About {
        roots,
        just_my_code: attach.just_my_code,
        entry: None,
        command: "attach",
        title: attach.at.to_string(),
        pid,
    };
    let (main, _) = connect(stream, about, &around).await.map_err(|failure| {
        Failure::new(Code::AttachFailed, failure.message)
            .hint("a virtual machine takes one debugger at a time; is another one attached?")
    })?;
    let (joining, targets) = mpsc::channel(limits::TARGETS);
    joining.try_send(main).map_err(|_| Failure::internal("no place for the program"))?;
    Ok(Started {
        runtime: None,
        note: None,
        program: None,
        process,
        told: None,
        stands: false,
        targets,
    })
}

/// Where a process listens, by its own words; opened where it was started so that this is possible.
async fn listening(process: &Running) -> Result<(String, u16), Failure> {
    let words = process.words();
    let agent = words.iter().find_map(|it| {
        let (_, options) = it.split_once("jdwp")?;
        it.starts_with("-agentlib:")
            .then_some(options)
            .or_else(|| it.starts_with("-Xrun").then_some(options))
    });
    let pid = process.pid;
    let Some(options) = agent else {
        let text = format!(
            "process {pid} was started without a debugger, and a virtual machine cannot load one later"
        );
        return Err(Failure::new(Code::AttachFailed, text).hint(
            "start it with `java -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:5005 …`, \
             or with `debug_launch`",
        ));
    };
    let is_on_demand = options.contains("onjcmd=y");
    if is_on_demand && let Some(port) = opened(pid).await? {
        return Ok(("127.0.0.1".to_owned(), port));
    }
    let address =
        options.split(',').find_map(|it| it.split_once("address=").map(|(_, address)| address));
    let port = address.and_then(|it| it.rsplit(':').next()).and_then(|it| it.parse::<u16>().ok());
    if let Some(port) = port.filter(|it| *it != 0) {
        return Ok(("127.0.0.1".to_owned(), port));
    }
    let mut sockets = process.sockets().into_iter().filter(|it| it.is_listening);
    let found = sockets.next().filter(|_| sockets.next().is_none()).map(|it| it.reachable());
    found.map(|it| (it.ip().to_string(), it.port())).ok_or_else(|| {
        let text = format!("process {pid} listens for a debugger on a port that is not to be seen");
        Failure::new(Code::AttachFailed, text).hint("pass `host` and `port`, as it printed them")
    })
}

/// Lets a process that was started with `onjcmd=y` listen. The port is not told where it was to choose one itself.
async fn opened(pid: u32) -> Result<Option<u16>, Failure> {
    let failed = |text: String| {
        Failure::new(Code::AttachFailed, text).hint("`jcmd` is of the JDK; is it on the path?")
    };
    let mut jcmd = command("jcmd");
    jcmd.arg(pid.to_string()).arg("VM.start_java_debugging").kill_on_drop(true);
    let done = timeout(JCMD, jcmd.output()).await;
    let done = done
        .map_err(|_| failed(format!("`jcmd {pid}` was not done after {JCMD:?}")))?
        .map_err(|error| failed(format!("`jcmd` cannot be started: {error}")))?;
    let said = String::from_utf8_lossy(&done.stdout);
    let address = said.lines().find_map(|it| it.trim().strip_prefix("Address : "));
    let port = address.and_then(|it| it.rsplit(':').next()).and_then(|it| it.trim().parse().ok());
    let port: u16 = port.ok_or_else(|| {
        failed(format!("`jcmd {pid} VM.start_java_debugging` said: {}", said.trim()))
    })?;
    Ok(Some(port).filter(|it| *it != 0))
}
