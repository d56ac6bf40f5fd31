//! Any debugger that speaks DAP, by itself, as `[bench]` describes it.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::dap::{Dap, Manners};
use super::{First, Target};

/// A debugger that is asked for its program by these arguments of `launch`.
pub(super) struct Described(pub(super) Value);

impl Manners for Described {
    const CONTEXT: &str = "watch";

    /// Some answer `launch` before `initialized`, some only after `configurationDone`.
    fn configure(&self, dap: &mut Dap, target: &Target, first: First) -> Result<()> {
        let client = json!({
            "clientID": "xtask", "adapterID": "xtask", "pathFormat": "path",
            "linesStartAt1": true, "columnsStartAt1": true,
        });
        dap.request("initialize", &client)?;
        let (mut launch, mut points) = (self.0.clone(), vec![json!({ "line": target.hit })]);
        match (first, target.entry) {
            (First::Hit, _) => {}
            (First::Entry, Some(line)) => points.push(json!({ "line": line })),
            (First::Entry, None) => {
                let all = launch.as_object_mut().context("`raw_launch` is no object")?;
                all.insert("stopOnEntry".to_owned(), json!(true));
            }
        }
        dap.send("launch", &launch)?;
        dap.event("initialized")?;
        let points = json!({ "source": { "path": target.file }, "breakpoints": points });
        dap.request("setBreakpoints", &points)?;
        dap.request("configurationDone", &json!({}))?;
        Ok(())
    }

    /// The program is the debugger's child: killed by us, the one would leave the other behind.
    fn end(&self, mut dap: Dap) -> Result<()> {
        let asked = dap.send("disconnect", &json!({ "terminateDebuggee": true }))?;
        while !dap.is_closed()? {
            if dap.next()?.get("request_seq").and_then(Value::as_u64) == Some(asked) {
                break;
            }
        }
        Ok(())
    }
}
