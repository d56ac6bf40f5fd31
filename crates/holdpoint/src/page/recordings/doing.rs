//! What a person does to recordings, by the same tools as agents: makes one, makes it again, ends it, deletes it.

use holdpoint_engine::failure::Failure;
use serde_json::{Map, Value, json};

use crate::{
    app::App,
    page::{address::FormFields, sessions::doing, sheet::Then},
};

/// Records a program; the list shows it as it comes.
pub(super) async fn record(app: &App, form: &FormFields) -> Result<Then, Failure> {
    if form.get("do") != "record" {
        return Err(form.unknown());
    }
    let (command, cwd) = (form.get("command").trim(), form.get("cwd").trim());
    let folder = crate::root::current().join(cwd);
    let mut asked = Map::new();
    // A file alone is run by its language; with words behind it, it is a command.
    let what = if folder.join(command).is_file() { "program" } else { "command" };
    asked.insert(what.to_owned(), json!(command));
    if !cwd.is_empty() {
        asked.insert("cwd".to_owned(), json!(cwd));
    }
    let focus: Vec<&str> =
        form.get("focus").split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    if !focus.is_empty() {
        asked.insert("focus".to_owned(), json!(focus));
    }
    run(app, Value::Object(asked)).await?;
    Ok(Then::Here)
}

/// Until it is in the list, or cannot be started; it is recorded on beside.
async fn run(app: &App, asked: Value) -> Result<(), Failure> {
    let mut changes = app.engine.recordings.changes();
    tokio::select! {
        done = doing::start(app, "record_run", None, asked) => done.map(drop),
        _ = changes.changed() => Ok(()),
    }
}

pub(super) async fn act(app: &App, id: &str, form: &FormFields) -> Result<Then, Failure> {
    match form.get("do") {
        "again" => {
            run(app, json!({ "again": id })).await?;
            Ok(Then::To("/recordings".to_owned()))
        }
        "end" => {
            doing::tool(app, "record_run", None, json!({ "stop": id })).await?;
            Ok(Then::Here)
        }
        "delete" => {
            app.engine.recordings.delete(id)?;
            Ok(Then::To("/recordings".to_owned()))
        }
        _ => Err(form.unknown()),
    }
}
