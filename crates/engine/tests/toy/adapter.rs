//! The whole of a new language: this file, and one line where it is mounted.

use std::path::Path;

use futures::future::BoxFuture;
use holdpoint_engine::{
    adapter::{Adapter, Around, DebugServer, Started, has_ending},
    backend::dap::dialect::{PLAIN, Table},
    failure::Failure,
    language::Reading,
    launch::Launch,
    process::Spec,
};
use serde_json::json;

pub(crate) struct Toy;

impl Adapter for Toy {
    fn language(&self) -> &'static str {
        "toy"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["plaything"]
    }

    fn endings(&self) -> &'static [&'static str] {
        &["toy"]
    }

    fn reading(&self) -> Reading {
        Reading { comment: ";", ..Reading::default() }
    }

    fn claims(&self, launch: &Launch) -> bool {
        launch.program.as_deref().is_some_and(|it| has_ending(it, self.endings()))
    }

    fn start<'a>(
        &'a self,
        launch: &'a Launch,
        around: Around,
    ) -> BoxFuture<'a, Result<Started, Failure>> {
        Box::pin(async move {
            let program = launch.program.clone().unwrap_or_default();
            let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/toy/server.py");
            let spec = Spec {
                program: "python3".into(),
                args: vec![server.into(), program.clone().into()],
                cwd: launch.cwd.clone(),
                env: Default::default(),
            };
            let arguments = json!({ "program": program, "stopOnEntry": launch.stop_on_entry });
            let dialect = Box::new(Table { name: "the toy's debugger", ..PLAIN });
            let server =
                DebugServer { spec, adapter_id: "toy", dialect, begin: "launch", arguments };
            server.start(launch, around).await
        })
    }
}
