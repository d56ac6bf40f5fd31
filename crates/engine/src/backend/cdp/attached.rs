//! What is different with a program that we did not start: it runs already, names its files in its own way,
//! and what it writes is to be had only from its console.

use std::path::PathBuf;

use holdpoint_cdp::{
    Limits, Requester, UserFile, file_url, path_of_url,
    types::{
        ScriptParsed,
        runtime::{ConsoleApiCalled, Evaluate},
    },
};

use super::{
    Cdp,
    connect::{self, AtEntry, Setup, Subject},
    refused, value,
};
use crate::{
    attach::Mappings,
    backend::Connected,
    failure::{Code, Failure},
    limits,
    nouns::Stream,
    process::keeper::Keeper,
};

#[derive(Debug, Clone, Default)]
pub struct Attached {
    pub mappings: Mappings,
    /// Our own binary, which keeps the connection when we are killed.
    keeper: PathBuf,
    /// It waited for a debugger before its first line, so that its workers stop there too.
    waited: bool,
}

impl Attached {
    pub fn new(mappings: Mappings, keeper: PathBuf) -> Attached {
        Attached { mappings, keeper, waited: false }
    }
}

/// Connects to the inspector at `url`. The program runs on; one that waits for a debugger stops before its
/// first line. Whether it stands is told beside it.
pub async fn attach(
    url: &str,
    mut setup: Setup,
    pid: Option<u32>,
) -> Result<(Connected, bool), Failure> {
    let connected = Requester::connect_kept(url, Limits::default()).await;
    let (requester, inbox, connection) = connected.map_err(refused)?;
    let keeper = setup.attached.as_ref().map(|it| it.keeper.clone());
    if let Some(keeper) = keeper.and_then(|binary| Keeper::start(&binary, connection)) {
        let requester = requester.clone();
        // Ends with the connection.
        tokio::spawn(async move {
            requester.closed().await;
            drop(keeper);
        });
    }
    let process = process(&requester).await?;
    let waited = process.is_none();
    setup.attached = setup.attached.map(|it| Attached { waited, ..it });
    let subject = Subject {
        name: "main".to_owned(),
        pid: pid.or(process),
        script: None,
        entry: if waited { AtEntry::Told } else { AtEntry::LetIn },
    };
    let taken = connect::over(requester, inbox, setup, subject).await?;
    let stands = waited || taken.cdp.moment().paused.is_some();
    Ok((taken.connected, stands))
}

/// The program's process id, which it does not know before it begins.
async fn process(requester: &Requester) -> Result<Option<u32>, Failure> {
    let expression = "process.pid".to_owned();
    let asked = requester.send(Evaluate { expression, silent: true, ..Evaluate::default() });
    let answer = tokio::time::timeout(limits::ADAPTER_ANSWER, asked).await.map_err(|_| {
        let patience = limits::ADAPTER_ANSWER;
        let text = format!("the program did not answer its inspector within {patience:?}");
        Failure::new(Code::AttachFailed, text).hint(
            "it may be inside of a call that does not return to JavaScript, such as `execSync`",
        )
    })?;
    let value = answer.map_err(refused)?.result.value;
    Ok(value.and_then(|it| it.as_u64()).and_then(|it| u32::try_from(it).ok()))
}

impl Setup {
    /// Where a worker stops first: like its program, or not at all.
    pub(super) fn worker_entry(&self) -> AtEntry {
        match &self.attached {
            Some(Attached { waited: false, .. }) => AtEntry::LetIn,
            Some(_) | None => AtEntry::Silent,
        }
    }
}

impl Cdp {
    fn mappings(&self) -> Option<&Mappings> {
        self.known.attached.as_ref().map(|it| &it.mappings).filter(|it| !it.0.is_empty())
    }

    /// A script as if it were of this machine, where it is mapped.
    pub(super) fn localised(&self, parsed: &ScriptParsed) -> Option<ScriptParsed> {
        let local = self.mappings()?.local(&path_of_url(&parsed.url)?)?;
        Some(ScriptParsed { url: file_url(&local), ..parsed.clone() })
    }

    /// A file of the program as we name it.
    pub(super) fn local(&self, file: PathBuf) -> PathBuf {
        self.mappings().and_then(|it| it.local(&file)).unwrap_or(file)
    }

    /// Matches a file's URL, as we and as the program name it.
    pub(super) fn url_regex(&self, file: &UserFile) -> String {
        let own = file.url_regex();
        match self.mappings().and_then(|it| it.remote(file.real())) {
            Some(remote) => format!("(?:{own})|(?:{})", UserFile::new(&remote).url_regex()),
            None => own,
        }
    }
}

/// What a call of the console wrote, as nearly as V8 tells it.
pub(super) fn console(called: &ConsoleApiCalled) -> (Stream, String) {
    let stream = match called.kind.as_str() {
        "error" | "warning" | "trace" | "assert" => Stream::Stderr,
        _ => Stream::Stdout,
    };
    let plain = |it: &holdpoint_cdp::types::RemoteObject| match &it.value {
        Some(serde_json::Value::String(text)) => text.clone(),
        _ => value::text(it),
    };
    let mut args = called.args.iter();
    let mut line = String::new();
    if let Some(first) = args.next() {
        let first = plain(first);
        let mut pieces = first.split('%');
        line.push_str(pieces.next().unwrap_or_default());
        while let Some(piece) = pieces.next() {
            let mut rest = piece.chars();
            let form = rest.next().filter(|it| "sdifoOjc".contains(*it));
            match (form, piece.is_empty()) {
                (Some('c'), _) if args.len() > 0 => {
                    args.next();
                    line.push_str(rest.as_str());
                }
                (Some(_), _) if args.len() > 0 => {
                    line.push_str(&args.next().map(plain).unwrap_or_default());
                    line.push_str(rest.as_str());
                }
                // `%%` is a percent sign.
                (_, true) => {
                    line.push('%');
                    line.push_str(pieces.next().unwrap_or_default());
                }
                _ => {
                    line.push('%');
                    line.push_str(piece);
                }
            }
        }
    }
    for arg in args {
        line.push(' ');
        line.push_str(&plain(arg));
    }
    line.push('\n');
    (stream, line)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(kind: &str, args: serde_json::Value) -> (Stream, String) {
        console(&serde_json::from_value(json!({ "type": kind, "args": args })).unwrap())
    }

    #[test]
    fn a_line_of_the_console_is_put_together() {
        let text = |it: &str| json!({ "type": "string", "value": it });
        let number = json!({ "type": "number", "value": 3, "description": "3" });
        let plain = said("log", json!([text("tick"), number, text("x y")]));
        assert_eq!(plain, (Stream::Stdout, "tick 3 x y\n".to_owned()));
        let formed = said("error", json!([text("%s is %d%% of it"), text("a"), number, text("b")]));
        assert_eq!(formed, (Stream::Stderr, "a is 3% of it b\n".to_owned()));
        assert_eq!(said("log", json!([text("50% off %s")])).1, "50% off %s\n");
        assert_eq!(said("log", json!([])).1, "\n");
    }
}
