//! Which language a running program is in: by its program file, or by how its debugger answers.

use std::{net::IpAddr, path::Path};

use holdpoint_loopback::Quick;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use super::{Adapter, all, by_name, editor, names};
use crate::{
    attach::{At, Attach},
    failure::{Code, Failure},
    limits,
    running::{self, Running},
};

/// The adapter for a running program: the one that is named, else the one that knows it.
pub async fn choose_running(attach: &Attach) -> Result<&'static dyn Adapter, Failure> {
    match (&attach.language, &attach.at) {
        (_, At::Editor { .. }) => Ok(&editor::Editor),
        (Some(name), _) => by_name(name),
        (None, At::Process(pid)) => by_program(&Running::find(*pid)?),
        (None, At::Core { program, .. }) => by_file(program),
        (None, At::Address { host, port }) => by_answer(host, *port).await,
    }
}

fn by_program(process: &Running) -> Result<&'static dyn Adapter, Failure> {
    let name = process.name();
    let by_name = all().iter().find(|it| it.is_runtime(name));
    let found = by_name.or_else(|| all().iter().find(|it| it.is_program(&process.executable)));
    found.copied().ok_or_else(|| {
        let text = format!("process {} is `{name}`, which no debugger here knows", process.pid);
        Failure::new(Code::AttachFailed, text).hint(format!(
            "languages: {}; for a runtime of another name pass `language`, and the id of the \
             process itself rather than of a shell or script around it",
            names()
        ))
    })
}

/// The program that left a core file.
fn by_file(program: &Path) -> Result<&'static dyn Adapter, Failure> {
    all().iter().find(|it| it.is_program(program)).copied().ok_or_else(|| {
        let text = format!("`{}` is no compiled program that is known here", program.display());
        Failure::new(Code::AttachFailed, text)
            .hint("`program` is the file that ran when the core was written")
    })
}

/// Who listens on a port of this machine is to be seen. Elsewhere: some debuggers greet, others answer a
/// question. Not the question first: who greets would choke on it.
async fn by_answer(host: &str, port: u16) -> Result<&'static dyn Adapter, Failure> {
    if let Some(adapter) = by_listener(host, port) {
        return Ok(adapter);
    }
    let mut stream = connect(host, port).await?;
    let at = At::Address { host: host.to_owned(), port };
    let mut answer = Vec::new();
    let mut known = timeout(limits::GREETING, answered(&mut stream, &mut answer)).await;
    if known.is_ok() {
        leave(&mut stream).await;
    } else {
        let question = all().iter().find_map(|it| it.question(port)).unwrap_or_default();
        let asked = async {
            stream.write_all(question.as_bytes()).await?;
            answered(&mut stream, &mut answer).await
        };
        known = timeout(limits::REACH, asked).await;
    }
    if let Ok(Ok(Some(adapter))) = known {
        return Ok(adapter);
    }
    let what = if answer.starts_with(b"HTTP/") {
        "a web server answers there, not a debugger"
    } else if answer.is_empty() {
        "what listens there does not answer like a debugger"
    } else {
        "what answers there is no debugger that is known here"
    };
    Err(Failure::new(Code::AttachFailed, format!("{at}: {what}")).hint(format!(
        "pass the port on which the program listens for debuggers, and `language` ({}) where it \
         cannot be told",
        names()
    )))
}

fn by_listener(host: &str, port: u16) -> Option<&'static dyn Adapter> {
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
    if !is_here {
        return None;
    }
    let process = Running::find(running::listener(port)?).ok()?;
    let adapter = all().iter().find(|it| it.is_runtime(process.name())).copied()?;
    adapter.listens(&process.words()).then_some(adapter)
}

/// Ends a connection on which nothing was asked as the protocol wants it: debugpy takes no further
/// connections when one is gone while it still greets.
async fn leave(stream: &mut Quick) {
    let goodbye = r#"{"seq":1,"type":"request","command":"disconnect"}"#;
    let left = async {
        let message = format!("Content-Length: {}\r\n\r\n{goodbye}", goodbye.len());
        stream.write_all(message.as_bytes()).await?;
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    if !matches!(timeout(limits::GREETING, left).await, Ok(Ok(()))) {
        tracing::debug!("a debugger that was only asked did not say goodbye");
    }
}

/// Reads until somebody knows what it is, or nobody will.
async fn answered(
    stream: &mut Quick,
    answer: &mut Vec<u8>,
) -> std::io::Result<Option<&'static dyn Adapter>> {
    let mut chunk = [0; 1024];
    loop {
        let count = stream.read(&mut chunk).await?;
        answer.extend(chunk.iter().take(count));
        let known = all().iter().find(|it| it.answers(answer)).copied();
        if known.is_some() || count == 0 || answer.len() > limits::ANSWER_HEAD {
            return Ok(known);
        }
    }
}

/// A connection to a program that is to be debugged, or at once why not.
pub(super) async fn connect(host: &str, port: u16) -> Result<Quick, Failure> {
    let at = At::Address { host: host.to_owned(), port };
    let failed = |text: String| Failure::new(Code::AttachFailed, text);
    match timeout(limits::REACH, Quick::connect((host, port))).await {
        Ok(Ok(stream)) => Ok(stream),
        Err(_) => Err(failed(format!("{at} did not answer within {:?}", limits::REACH))
            .hint("is the address reachable from here?")),
        Ok(Err(error)) => Err(match error.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                let ways = all().iter().filter_map(|it| it.how_to_listen(port));
                let ways: Vec<String> = ways.map(|it| format!("`{it}`")).collect();
                failed(format!("nothing listens at {at}: the connection was refused")).hint(
                    format!("start the program with {}, or pass its `pid`", ways.join(" or ")),
                )
            }
            // What the system says of a name that it does not know has no kind of its own.
            _ if error.to_string().contains("lookup") => {
                failed(format!("no host `{host}`: {error}"))
                    .hint("correct `host`, or pass an address")
            }
            _ => failed(format!("no connection to {at}: {error}")),
        }),
    }
}
