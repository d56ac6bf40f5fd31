//! debugpy by itself: we listen, the program's debugger dials us, plain DAP from there.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::dap::{Dap, DapFloor, Manners};
use super::raw::Raw;
use super::{First, Target};
use crate::process::Group;

/// How long a traced program stays after its loop; it is ended as soon as all has come.
const STAY_S: &str = "60";

pub(super) const SOURCE: &str = r#"def price(index, names, discounts):
    label = names[index % len(names)]
    base = index * 3 + len(label)  # hit
    total = base - discounts.get(label, 0)  # next
    return total


def main():
    names = ["apple", "pear", "plum", "fig"]
    discounts = {"apple": 1, "fig": 2}
    paid = 0
    for index in range(100_000):
        paid += price(index, names, discounts)
    print(paid)


main()
"#;

/// The floor for Python.
pub(super) fn floor(target: &Target) -> Result<DapFloor<'_, Debugpy>> {
    DapFloor::new(target, raw(target)?, Debugpy)
}

pub(super) struct Debugpy;

impl Manners for Debugpy {
    const CONTEXT: &str = "repl";

    fn configure(&self, dap: &mut Dap, target: &Target, first: First) -> Result<()> {
        configure(dap, target, first, &[json!({ "line": target.hit })])
    }

    /// Its process is the program.
    fn end(&self, dap: Dap) -> Result<()> {
        drop(dap);
        Ok(())
    }
}

/// Runs the program to its end with a log point, or with nothing. Says how many messages came.
pub(in crate::bench) fn trace(
    target: &Target,
    group: &Group,
    message: Option<&str>,
) -> Result<usize> {
    // pydevd drops what it has not sent when its program ends: the program stays until all has come.
    let mut target = target.clone();
    target.args.extend(message.map(|_| STAY_S.to_owned()));
    let target = &target;
    let hits: usize = target.args.first().context("no count")?.parse()?;
    let mut dap = Dap::over(raw(target)?.start(group)?);
    let point = |text| json!({ "line": target.hit, "logMessage": text });
    let points: Vec<Value> = message.map(point).into_iter().collect();
    configure(&mut dap, target, First::Hit, &points)?;
    let mut outputs = 0;
    while message.is_none() || outputs <= hits {
        // The program has ended, and pydevd does not always say so before it goes.
        if dap.is_closed()? {
            break;
        }
        match dap.next()?.get("event").and_then(Value::as_str) {
            Some("output") => outputs += 1,
            Some("terminated") => break,
            _ => {}
        }
    }
    Ok(outputs)
}

fn raw(target: &Target) -> Result<Raw> {
    let word = |path: &std::path::Path| path.to_str().map(str::to_owned).context("not UTF-8");
    let mut words = vec![word(&target.interpreter)?];
    let debugpy = ["-X", "frozen_modules=off", "-m", "debugpy", "--connect", "{door}"];
    words.extend(debugpy.map(str::to_owned));
    words.extend(["--wait-for-client".to_owned(), word(&target.file)?]);
    words.extend(target.args.iter().cloned());
    let set = |name: &str| (name.into(), "1".into());
    let env = ["PYDEVD_DISABLE_FILE_VALIDATION", "PYTHONUNBUFFERED"].map(set).into();
    Ok(Raw { words, folder: None, env })
}

fn configure(dap: &mut Dap, target: &Target, first: First, points: &[Value]) -> Result<()> {
    dap.request("pydevdAuthorize", &json!({ "debugServerAccessToken": null }))?;
    let client = json!({ "clientID": "xtask", "adapterID": "python", "pathFormat": "path" });
    dap.request("initialize", &client)?;
    // `launch`, not `attach`: only then does pydevd stop at the entry.
    let launch = json!({
        "justMyCode": true,
        "stopOnEntry": matches!(first, First::Entry),
        "subProcess": true,
        "breakOnSystemExit": [],
        "showReturnValue": true,
        "redirectOutput": false,
    });
    dap.request("launch", &launch)?;
    let points = json!({
        "source": { "path": target.file },
        "breakpoints": points,
    });
    dap.request("setBreakpoints", &points)?;
    dap.request("setExceptionBreakpoints", &json!({ "filters": ["uncaught"] }))?;
    dap.request("configurationDone", &json!({}))?;
    Ok(())
}
