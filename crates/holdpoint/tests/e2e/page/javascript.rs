//! Calls of an app of JavaScript: what a person writes for an argument is evaluated by the app itself.

use std::{path::Path, process::Command};

use holdpoint_testkit::{calls::Shop, node::Folder};
use serde_json::json;

use super::{python, signed_in};

const APP: &str = r#"
import { createInterface } from "node:readline";
const client = await import(process.argv[2]);
client.configure({ serverUrl: process.argv[3] });
client.withDebug("ON");
const charge = (customer, cents) => `${customer} pays ${(cents / 100).toFixed(2)}`;
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  await client.flush({ timeoutMs: 30_000 });
  try { console.log("=", await eval(line)); } catch (error) { console.log("raised", error.name, error.message); }
}
"#;

#[test]
fn expressions_of_javascript_become_arguments() {
    let mut debug = python();
    debug.ok("breakpoint_set_default_behavior", json!({ "behavior": "go" }));
    debug.ok("breakpoint_add", json!({ "function_name": "charge", "behavior": "stop" }));
    let (mut browser, base) = signed_in(&mut debug);
    let folder = Folder::default();
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/js/debug-client.js");
    let mut run = Command::new("node");
    run.arg(folder.write("app.mjs", APP)).arg(client.canonicalize().unwrap()).arg(&base);
    let mut shop = Shop::of(run);
    browser.open(&format!("{base}/calls"));
    shop.begin("client.debugCall('charge', charge, 'fay', 71200)");
    browser.shows("#decide h2", "charge(");
    browser.click("[name=act][value=modify]");
    browser.shows("#decide", "JavaScript, evaluated by the app");
    browser.click("[name=as][value=code]");
    // What throws is said, and the call waits on.
    let amount = "[name='new/pretty_args/1']";
    let empty = format!("document.querySelector({}).value = ''", json!(amount));
    browser.eval(&empty);
    browser.type_into(amount, "cents.nothing.there");
    browser.click("[value=decide]");
    browser.shows("#said", "TypeError");
    browser.eval(&empty);
    browser.type_into(amount, "cents / 2 + customer.length");
    browser.click("[value=decide]");
    assert_eq!(shop.line(), "= fay pays 356.03");
    browser.shows("#decide", "Nothing waits");
    let told = debug.ok("breakpoint_get_call_records", json!({ "function_name": "charge" }));
    told.has(&["35603"]);
    browser.is_well();
}
