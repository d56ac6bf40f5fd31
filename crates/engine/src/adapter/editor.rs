//! Programs that an editor debugs, in whichever language: not one of [`super::ADAPTERS`], for nothing is known of a
//! language here. A launch that names a configuration is its own.

use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::{Adapter, Around, Started, all};
use crate::{
    attach::{At, Attach},
    backend::vscode::{self, EditorProgram},
    failure::Failure,
    launch::Launch,
    limits,
};

pub(super) struct Editor;

impl Adapter for Editor {
    fn language(&self) -> &'static str {
        "vscode"
    }

    fn called(&self) -> &'static str {
        "VS Code"
    }

    fn endings(&self) -> &'static [&'static str] {
        &[]
    }

    fn claims(&self, launch: &Launch) -> bool {
        launch.configuration.is_some()
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(async move {
            let configuration = launch.configuration.as_deref().filter(|it| !it.is_empty());
            let points = &around.breakpoints;
            let stop = launch.stop_on_entry;
            vscode::launch(&launch.cwd, configuration, stop, points).await.map(started)
        })
    }

    fn attach<'a>(
        &'a self,
        attach: &'a Attach,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(async move {
            let wanted = match &attach.at {
                At::Editor { session } => session.as_deref(),
                At::Process(_) | At::Address { .. } | At::Core { .. } => None,
            };
            vscode::join(&attach.cwd, wanted, &around.breakpoints).await.map(started)
        })
    }
}

fn started(program: EditorProgram) -> Started {
    let EditorProgram { connected, name, kind, stands, note } = program;
    let (sender, targets) = mpsc::channel(limits::MAILBOX);
    // The first of an empty queue; the channel closes behind it.
    if sender.try_send(connected).is_err() {
        tracing::debug!("a program of the editor was not taken");
    }
    let told = Some((language(&kind), name));
    Started { runtime: None, program: None, process: None, told, stands, note, targets }
}

/// What the editor's debuggers are called, for the languages that are known here.
fn language(kind: &str) -> &'static str {
    let kind = match kind.strip_prefix("pwa-").unwrap_or(kind) {
        "debugpy" => "python",
        kind => kind,
    };
    let is_it = |it: &&&dyn Adapter| it.language() == kind || it.aliases().contains(&kind);
    all().iter().find(is_it).map_or("vscode", |it| it.language())
}
