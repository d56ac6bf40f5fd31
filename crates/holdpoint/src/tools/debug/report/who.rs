//! Threads and processes by the names that their programs give them.

use holdpoint_engine::{
    ids::{TargetId, ThreadKey},
    session::Session,
};

/// `thread 4/2 "worker" of ForkPoolWorker-1 (pid 4711)`: the process only where there are several.
pub(crate) fn of(session: &Session, thread: ThreadKey, name: Option<&str>) -> String {
    let process = match session.processes() {
        0 | 1 => None,
        _ => Some(process(session, thread.target)),
    };
    // A process of one thread is called what its thread is.
    let is_same = name.is_some_and(|name| process.as_ref().is_some_and(|it| it.starts_with(name)));
    let name = name.filter(|_| !is_same).map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let process = process.map(|it| format!(" of {it}")).unwrap_or_default();
    format!("thread {thread}{name}{process}")
}

/// `ForkPoolWorker-1 (pid 4711)`
pub(crate) fn process(session: &Session, target: TargetId) -> String {
    let known = session.process(target);
    let title = known.as_ref().and_then(|it| it.title.clone());
    let title = title.unwrap_or_else(|| match target {
        TargetId::MAIN => session.name.clone(),
        TargetId(number) => format!("process {number}"),
    });
    match known.and_then(|it| it.pid) {
        Some(pid) => format!("{title} (pid {pid})"),
        None => title,
    }
}
