//! Calls: a real instrumented app whose calls a person sees, changes and lets go on; callpoints, records, the tree, one call.

use std::path::Path;

use holdpoint_testkit::{
    browser::Browser,
    calls::{Shop, Wire},
    debug::Debug,
    http::{get, post},
    process::command,
    until,
};
use serde_json::{Value, json};

use super::{BIN, cookie, python, shoot, signed_in};

/// A shop as its user wrote it.
pub(super) const SHOP: &str = r#"
class Declined(Exception):
    pass


class Stock:
    def __init__(self):
        self.levels = {"pen": 10, "ink": 5}
        self.sold = 0


def authorize(customer, cents):
    if cents > 60000:
        raise Declined("%s: %d is too much" % (customer, cents))
    return "auth-%s" % customer


def charge(customer, cents, currency="EUR"):
    authorize(customer, cents)
    return "%s pays %.2f %s" % (customer, cents / 100, currency)


def charge_later(customer, cents, currency="EUR"):
    return "%s pays later" % customer


def place(customer, cents, *rest, **more):
    basket = ["pen", customer]
    return charge(customer, cents, **more)


def reserve(stock, what, count):
    stock.levels[what] -= count
    stock.sold += count
    return stock.levels[what]


def login(user, password):
    return len(password)


def echo(value):
    return value
"#;

const APP: &str = r#"
import sys
import shop

stock = shop.Stock()
print("ready", flush=True)
for line in sys.stdin:
    try:
        print("=", repr(eval(line)), flush=True)
    except Exception as error:
        print("raised", type(error).__name__, error, flush=True)
"#;

/// A server, a browser at its page, and an app that is watched.
pub(super) struct CallsStage {
    pub(super) debug: Debug,
    pub(super) browser: Browser,
    pub(super) base: String,
    pub(super) shop: Shop,
    _folder: tempfile::TempDir,
}

pub(super) fn app(home: &Path) -> (Shop, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("shop.py"), SHOP).unwrap();
    std::fs::write(path.join("app.py"), APP).unwrap();
    let mut run = command(BIN, &["run", "--watch", "shop", "--", "python3", "app.py"], home);
    run.current_dir(&path);
    (Shop::of(run), folder)
}

impl CallsStage {
    pub(super) fn new() -> CallsStage {
        let mut debug = python();
        let (browser, base) = signed_in(&mut debug);
        let (shop, folder) = app(debug.home());
        debug.ok("breakpoint_set_default_behavior", json!({ "behavior": "go" }));
        CallsStage { debug, browser, base, shop, _folder: folder }
    }

    pub(super) fn open(&mut self, path: &str) {
        self.browser.open(&format!("{}{path}", self.base));
        self.browser.shows("#live", "Live");
    }

    /// Holds a function before its calls.
    fn hold(&mut self, name: &str) {
        self.debug.ok("breakpoint_add", json!({ "function_name": name, "behavior": "stop" }));
        // Its app hears of it a moment later.
        let knows = format!(
            "__import__('holdpoint._runtime', fromlist=['runtime']).runtime.points['{name}'].asks"
        );
        until("the app knows of the callpoint", || {
            (self.shop.run(&knows) == "= True").then_some(())
        });
    }

    /// What a tool about calls answers.
    pub(super) fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let said = self.debug.ok(tool, arguments);
        serde_json::from_str(&said.text).unwrap_or_else(|_| panic!("{tool}: {}", said.text))
    }

    pub(super) fn records(&mut self, name: &str) -> Vec<Value> {
        let wire = Wire::new(self.debug.rpc.process.port());
        wire.get(&format!("/api/calls?function_name={name}"))["calls"].as_array().cloned().unwrap()
    }

    /// The id of the call that is paused.
    fn paused(&mut self) -> Value {
        self.ask("breakpoint_list_paused", json!({}))["paused"][0].clone()
    }
}

#[test]
fn a_person_decides_in_every_way_that_there_is() {
    let mut stage = CallsStage::new();
    stage.hold("shop:charge");
    stage.open("/calls");
    // What is paused shows within 300 ms of the pause.
    stage.shop.begin("shop.place('fay', 71200)");
    stage.browser.shows("#decide h2", "shop:charge('fay', 71200)");
    stage.browser.shows("#called", "place");
    stage.browser.shows("#source .here", "return charge(customer, cents");
    stage.browser.shows("#sentence", "One call is paused");
    stage.browser.shows("#holds", "shop:charge");
    // Changed: one argument, as JSON; the other stays the app's own.
    stage.browser.click("[name=act][value=modify]");
    stage.browser.eval("document.querySelector('[name=\"new/pretty_args/1\"]').value = ''");
    stage.browser.type_into("[name='new/pretty_args/1']", "450");
    shoot(&mut stage.browser, "calls");
    stage.browser.click("[value=decide]");
    assert_eq!(stage.shop.line(), "= 'fay pays 4.50 EUR'");
    stage.browser.shows("#decide", "Nothing waits");
    let record = &stage.records("shop:charge")[0];
    assert_eq!(record["decision"]["action"], "modify", "{record}");
    // Changed: an expression of the app's own language, and one more argument.
    stage.shop.begin("shop.place('gus', 100)");
    stage.browser.shows("#decide h2", "shop:charge('gus', 100)");
    stage.browser.click("[name=act][value=modify]");
    stage.browser.click("[name=as][value=code]");
    stage.browser.eval("document.querySelector('[name=\"new/pretty_args/1\"]').value = ''");
    stage.browser.type_into("[name='new/pretty_args/1']", "cents * 3");
    stage.browser.type_into("[name=more-name]", "currency");
    stage.browser.type_into("[name=more]", "'US' + 'D'");
    stage.browser.click("[value=decide]");
    assert_eq!(stage.shop.line(), "= 'gus pays 3.00 USD'");
    // What is no JSON is said, and the call waits on.
    stage.shop.begin("shop.place('hal', 100)");
    stage.browser.shows("#decide h2", "shop:charge('hal', 100)");
    stage.browser.click("[name=act][value=skip]");
    stage.browser.eval("document.querySelector('[name=result]').value = ''");
    stage.browser.type_into("[name=result]", "{not json");
    stage.browser.click("[value=decide]");
    stage.browser.shows("#said", "the result is not JSON");
    stage.browser.eval("document.querySelector('[name=result]').value = ''");
    stage.browser.type_into("[name=result]", "{\"paid\": [1, null]}");
    stage.browser.click("[value=decide]");
    assert_eq!(stage.shop.line(), "= {'paid': [1, None]}");
    // Raised.
    stage.shop.begin("shop.place('ida', 100)");
    stage.browser.shows("#decide h2", "shop:charge('ida', 100)");
    stage.browser.click("[name=act][value=raise]");
    stage.browser.eval("document.querySelector('[name=exception_type]').value = ''");
    stage.browser.type_into("[name=exception_type]", "KeyError");
    stage.browser.type_into("[name=exception_message]", "no such card");
    stage.browser.click("[value=decide]");
    assert_eq!(stage.shop.line(), "raised KeyError 'no such card'");
    // Another function in its place: the one with the same parameters is offered.
    stage.shop.begin("shop.place('joe', 100)");
    stage.browser.shows("#decide h2", "shop:charge('joe', 100)");
    stage.browser.click("[name=act][value=replace]");
    let offered = stage.browser.eval("document.querySelector('#decide [name=function]').value");
    assert_eq!(offered, "shop:charge_later");
    stage.browser.click("[value=decide]");
    assert_eq!(stage.shop.line(), "= 'joe pays later'");
    // As it is, by a key.
    stage.shop.begin("shop.place('kim', 100)");
    stage.browser.shows("#decide h2", "shop:charge('kim', 100)");
    stage.browser.key("F8");
    assert_eq!(stage.shop.line(), "= 'kim pays 1.00 EUR'");
    // And no more of these.
    stage.shop.begin("shop.place('lea', 100)");
    stage.browser.shows("#decide h2", "shop:charge('lea', 100)");
    stage.browser.click("[value=release]");
    assert_eq!(stage.shop.line(), "= 'lea pays 1.00 EUR'");
    assert_eq!(stage.shop.run("shop.place('max', 100)"), "= 'max pays 1.00 EUR'");
    let points = stage.ask("breakpoint_list_breakpoints", json!({}));
    assert_eq!(points["behaviors"]["shop:charge"], "go", "{points}");
    stage.browser.is_well();
}

#[test]
fn what_pauses_and_goes_on_shows_as_it_happens() {
    let mut stage = CallsStage::new();
    stage.hold("shop:charge");
    stage.open("/calls");
    // The first source of all loads the grammars of the languages.
    stage.shop.begin("shop.place('eve', 100)");
    stage.browser.shows("#source .here", "return charge");
    stage.browser.key("F8");
    stage.shop.line();
    stage.browser.shows("#decide", "Nothing waits");
    stage.shop.begin("shop.place('fay', 100)");
    stage.debug.ok("breakpoint_wait", json!({}));
    stage.browser.shows("#decide h2", "shop:charge('fay', 100)");
    let id = stage.paused()["id"].as_str().unwrap().to_owned();
    // An agent decides; the person who looks at it sees by whom, where it was.
    stage.open(&format!("/calls/paused/{id}"));
    stage.debug.ok("breakpoint_continue", json!({ "pause_id": id }));
    stage.browser.shows("#decide", "not paused any more");
    stage.browser.shows("#decide", "continue, decided by");
    stage.shop.line();
    stage.browser.click("#decide .btn");
    stage.browser.until("the call", "location.pathname.startsWith('/calls/call/')");
    stage.browser.shows(".story", "Paused");
    stage.browser.shows(".story", "let it go on");
    stage.browser.is_well();
}

#[test]
fn a_paused_call_is_looked_into_and_every_frame_has_its_source() {
    let mut stage = CallsStage::new();
    stage.hold("shop:authorize");
    stage.shop.begin("shop.place('fay', 100)");
    stage.open("/now");
    stage.browser.shows("#held", "shop:authorize('fay', 100)");
    // The bar is laid out in a frame of its own.
    stage.browser.until("the pause in the bar", "!!document.querySelector('#holds a')");
    stage.browser.key("h");
    stage.browser.until("the pause", "location.pathname.startsWith('/calls/paused/')");
    stage.browser.type_into("#re", "customer.upper()");
    stage.browser.key("Enter");
    stage.browser.shows("#talk", "'FAY'");
    stage.browser.type_into("#re", "nothing_of_that_name");
    stage.browser.key("Enter");
    stage.browser.shows("#talk .fail", "nothing_of_that_name");
    // An agent's expressions show here too.
    let pause = stage.paused();
    let (id, session) = (pause["id"].clone(), pause["repl_sessions"][0].clone());
    stage.debug.ok(
        "breakpoint_repl_eval",
        json!({ "pause_id": id, "session_id": session, "expression": "cents + 1" }),
    );
    stage.browser.shows("#talk", "101");
    // The frames: the second is the caller's caller.
    stage.browser.click("#called li:nth-child(2) a");
    stage.browser.until("the frame", "location.search.includes('frame=1')");
    stage.browser.shows("#source .here", "return charge(customer, cents");
    stage.browser.click("#called p a");
    stage.browser.shows("#source", "class Declined");
    // The addresses of the call protocol lead to the same.
    let id = id.as_str().unwrap().to_owned();
    for path in [format!("/callstack/{id}"), format!("/frame/{id}/1")] {
        stage.open(&path);
        stage.browser.shows("#decide h2", "shop:authorize('fay', 100)");
    }
    stage.browser.shows("#source .here", "return charge(customer, cents");
    stage.debug.ok("breakpoint_continue", json!({ "pause_id": id }));
    stage.shop.line();
    stage.browser.is_well();
}

#[test]
fn callpoints_are_added_changed_and_removed_by_a_person() {
    let mut stage = CallsStage::new();
    stage.open("/calls/points");
    stage.browser.shows("#functions", "shop:charge_later");
    // Held by a press beside the function.
    stage.browser.click("[aria-label='Hold shop:charge']");
    stage.browser.shows("#points", "shop:charge");
    let set = |browser: &mut Browser, label: &str, value: &str| {
        let script = format!(
            "(() => {{ const it = document.querySelector('[aria-label=\"{label}\"]'); it.value = '{value}'; it.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
        );
        browser.eval(&script);
    };
    set(&mut stage.browser, "Before shop:charge", "go");
    set(&mut stage.browser, "After shop:charge", "exception");
    set(&mut stage.browser, "Runs instead of shop:charge", "shop:charge_later");
    set(&mut stage.browser, "Default behavior", "exception");
    stage.browser.until("all is set", "document.querySelectorAll('[aria-busy]').length === 0");
    let wanted = json!({ "breakpoints": ["shop:charge"], "behaviors": { "shop:charge": "go" },
        "after_behaviors": { "shop:charge": "exception" }, "replacements": { "shop:charge": "shop:charge_later" } });
    until("the callpoint as it was set", || {
        let mut data = stage.ask("breakpoint_list_breakpoints", json!({}));
        data.as_object_mut()?.retain(|name, _| wanted.get(name).is_some());
        (data == wanted).then_some(())
    });
    assert_eq!(stage.ask("breakpoint_get_default_behavior", json!({}))["behavior"], "exception");
    assert_eq!(stage.shop.run("shop.place('fay', 100)"), "= 'fay pays later'");
    // What an agent adds is there at once; named before any app has it, that is said.
    stage.debug.ok("breakpoint_add", json!({ "function_name": "shop:place" }));
    stage.browser.shows("#points", "shop:place");
    stage.browser.type_into("#fn", "shop:no_such");
    stage.browser.key("Enter");
    stage.browser.shows("#points", "shop:no_such");
    stage.browser.shows("#said", "no app has registered");
    shoot(&mut stage.browser, "callpoints");
    for name in ["shop:no_such", "shop:place", "shop:charge"] {
        stage.browser.click(&format!("[aria-label='Remove {name}']"));
        stage.browser.hides("#points", name);
    }
    stage.browser.shows("#points", "No function is held");
    stage.browser.is_well();
}

/// The function's cells of all rows.
const NAMES: &str = "[...document.querySelectorAll('#records a.row')].map((it) => it.textContent)";

#[test]
fn records_are_searched_filtered_and_paged() {
    let mut stage = CallsStage::new();
    let many = "[shop.echo(n) for n in range(240)] and shop.place('ann', 100)";
    assert_eq!(stage.shop.run(many), "= 'ann pays 1.00 EUR'");
    assert!(stage.shop.run("shop.place('rich', 99900)").starts_with("raised Declined"));
    stage.open("/calls/records");
    stage.browser.shows("#records", "99900");
    stage.browser.shows("#foot", "1 to 100 of 246");
    // Live: a call shows at the top.
    stage.shop.run("shop.echo('brand new')");
    stage.browser.shows("#records tr:first-child", "brand new");
    // Older and newer.
    stage.browser.click("#foot [rel=next]");
    stage.browser.until("the second page", "location.search.includes('before=')");
    stage.browser.shows("#foot", "101 to 200 of 247");
    stage.browser.click("#foot [rel=next]");
    stage.browser.shows("#foot", "201 to 247 of 247");
    stage.browser.click("#foot [rel=prev]");
    stage.browser.shows("#foot", "101 to 200 of 247");
    stage.browser.click("#holds-list a");
    stage.browser.shows("#foot", "1 to 100 of 247");
    // By words, outcome, function.
    stage.browser.key("/");
    stage.browser.ask("Input.insertText", json!({ "text": "rich 99900" }));
    stage.browser.key("Enter");
    stage.browser.until("the search", "location.search.includes('rich')");
    stage.browser.shows("#foot", "1 to 3 of 3");
    stage.browser.click("[name=outcome][value=raised]");
    stage.browser.until("the outcome", "location.search.includes('outcome=raised')");
    stage.browser.shows("#foot", "1 to 3 of 3");
    stage.browser.shows("#records .fail-t", "Declined: rich: 99900 is too much");
    stage.open("/breakpoint/shop:authorize/history");
    stage.browser.shows("#foot", "1 to 2 of 2");
    assert_eq!(stage.browser.eval(NAMES), json!(["shop:authorize", "shop:authorize"]));
    stage.open("/calls/records?outcome=changed");
    stage.browser.shows("#none", "No call is like that");
    stage.open("/calls/records?took=10");
    stage.browser.shows("#none", "No call is like that");
    stage.open("/calls/records?app=1.0%2B1");
    stage.browser.shows("#none", "No call is like that");
    stage.open("/calls/records");
    shoot(&mut stage.browser, "calls-records");
    stage.browser.key("j");
    stage.browser.key("Enter");
    stage.browser.until("one call", "location.pathname.startsWith('/calls/call/')");
    stage.browser.is_well();
}

#[test]
fn one_call_has_everything_and_the_tree_shows_who_called_whom() {
    let mut stage = CallsStage::new();
    stage.shop.run("shop.place('ann', 100, currency='USD')");
    assert!(stage.shop.run("shop.place('rich', 99900)").starts_with("raised Declined"));
    stage.open("/calls/tree");
    stage.browser.shows("#tree", "authorize");
    let levels = stage.browser.eval(
        "[...document.querySelectorAll('#tree tbody tr')].map((it) => it.dataset.level + it.querySelector('b').textContent)",
    );
    assert_eq!(
        levels,
        json!(["1place", "2charge", "3authorize", "1place", "2charge", "3authorize"])
    );
    assert_eq!(stage.browser.eval("document.querySelectorAll('#flame a').length"), json!(6));
    stage.browser.shows("#tree .fail-t", "Declined");
    shoot(&mut stage.browser, "calls-tree");
    // Back in its life by the slider: nothing had been called at its beginning, and at its end everything was.
    let slide = |to: u32| {
        format!(
            "(() => {{ const it = document.querySelector('#share'); it.value = {to}; it.dispatchEvent(new Event('change', {{ bubbles: true }})); return 1; }})()"
        )
    };
    stage.browser.eval(&slide(0));
    stage.browser.until("its beginning", "location.search.includes('share=0')");
    stage.browser.shows("#tree-n", "0 of 13");
    stage.browser.eval(&slide(1000));
    stage.browser.until("its end", "location.search.includes('share=1000')");
    stage.browser.shows("#tree-n", "6 of 13");
    // A search keeps those around what it finds.
    stage.browser.key("/");
    stage.browser.ask("Input.insertText", json!({ "text": "AUTH rich" }));
    stage.browser.key("Enter");
    stage.browser.until("the search", "location.search.includes('rich')");
    stage.browser.shows("#tree-n", "3 of 13");
    // One call: its story, values, traceback, sources, the others of its function.
    stage.browser.click("#tree tr:nth-child(3) a");
    stage.browser.until("one call", "location.pathname.startsWith('/calls/call/')");
    stage.browser.shows(".story", "Declined: rich: 99900 is too much");
    stage.browser.shows("table", "cents");
    stage.browser.shows("#others", "('ann', 100)");
    stage.browser.click(".trace-back a");
    stage.browser.until("the place", "location.search.includes('trace=0')");
    stage.browser.shows(".source .here", "authorize(");
    shoot(&mut stage.browser, "call");
    stage.browser.click(".bar a.btn");
    stage.browser.until("its place in the tree", "location.search.includes('of=')");
    stage.browser.shows("#tree-n", "1 of 13");
    // The addresses of the call protocol.
    let record = stage.records("shop:charge").last().unwrap().clone();
    let (id, process) =
        (record["call_id"].as_str().unwrap(), record["process_key"].as_str().unwrap());
    stage.open("/call-tree");
    stage.browser.shows("#apps", "pid");
    stage.open(&format!("/call-tree/{process}?filter=rich"));
    stage.browser.shows("#tree-n", "3 of 13");
    stage.open(&format!("/breakpoint/shop:charge/history/{id}?frame=0"));
    stage.browser.shows("h1", "shop:charge('ann', 100, currency='USD')");
    stage.open(&format!("/frame/call/{process}/{id}/0"));
    stage.browser.shows("#source .here", "return charge(customer, cents, **more)");
    stage.browser.click("[value='shop:charge']");
    stage.browser.until("it is held", "document.querySelectorAll('[aria-busy]').length === 0");
    until("the callpoint", || {
        let points = stage.debug.ok("breakpoint_list_breakpoints", json!({}));
        points.text.contains("shop:charge").then_some(())
    });
    stage.browser.is_well();
}

#[test]
fn what_apps_report_of_their_trouble_is_listed_as_text() {
    let mut stage = CallsStage::new();
    let port = stage.debug.rpc.process.port();
    for (summary, path) in [("{{7*7}}</script>", "/api/call/start"), ("timed out", "/api/poll/1")] {
        let body = json!({ "summary": summary, "path": path, "method": "POST", "process_pid": 7 })
            .to_string();
        let sent = post(port, "/api/report-com-error", &body)
            .header("Content-Type", "application/json")
            .send();
        assert_eq!(sent.status, 200, "{}", sent.body);
    }
    stage.open("/com-errors");
    stage.browser.shows("#errors", "{{7*7}}</script>");
    stage.browser.shows("#errors", "timed out");
    stage.browser.click("#errors summary");
    stage.browser.shows("#errors pre", "\"path\": \"/api/poll/1\"");
    stage.browser.key("/");
    stage.browser.ask("Input.insertText", json!({ "text": "script start" }));
    stage.browser.key("Enter");
    stage.browser.until("the search", "location.search.includes('script')");
    stage.browser.shows("#e-n", "1 of 2");
    shoot(&mut stage.browser, "calls-trouble");
    stage.browser.is_well();
}

#[test]
fn secrets_of_calls_are_marks_that_only_the_person_opens() {
    let mut stage = CallsStage::new();
    let secret = "hunter2hunter2hunter2";
    stage.shop.run(&format!("shop.login('ann', '{secret}')"));
    stage.hold("shop:login");
    stage.shop.begin(&format!("shop.login('bob', password='{secret}')"));
    stage.open("/calls");
    stage.browser.shows("#decide h2", "shop:login('bob', password=");
    for path in ["/calls", "/calls/records", "/calls/tree", "/now"] {
        stage.open(path);
        stage.browser.shows("main", "login");
        let text = stage.browser.eval("document.documentElement.outerHTML");
        assert!(!text.as_str().unwrap().contains(secret), "{path}");
    }
    stage.open("/calls");
    stage.browser.click("#decide .mark-secret");
    stage.browser.shows("#decide .revealed", secret);
    let id = stage.records("shop:login")[0]["call_id"].as_str().unwrap().to_owned();
    stage.open(&format!("/calls/call/{id}"));
    let text = stage.browser.eval("document.documentElement.outerHTML");
    assert!(!text.as_str().unwrap().contains(secret));
    stage.browser.click("table .mark-secret");
    stage.browser.shows("table .revealed", secret);
    let seen = stage.debug.ok("breakpoint_list_paused", json!({ "full": true }));
    assert!(!seen.text.contains(secret), "{}", seen.text);
    let told = stage.debug.ok("timeline_query", json!({}));
    assert!(!told.text.contains(secret), "{}", told.text);
    stage.browser.is_well();
}

#[test]
fn calls_are_seen_and_decided_without_a_script() {
    let mut stage = CallsStage::new();
    stage.hold("shop:charge");
    stage.shop.begin("shop.place('fay', 71200)");
    stage.debug.ok("breakpoint_wait", json!({}));
    let (port, cookie) = cookie(&mut stage.debug);
    let see = |path: &str| {
        let answer = get(port, path).header("Accept", "text/html").header("Cookie", &cookie).send();
        (answer.status, answer.body)
    };
    let (status, body) = see("/calls");
    assert!(status == 200 && body.contains("shop:charge") && body.contains("71200"), "{body}");
    assert!(see("/calls/points").1.contains("shop:charge_later"));
    assert_eq!(see("/calls/records").0, 200);
    assert_eq!(see("/values").0, 200);
    for path in [
        "/calls/nothing",
        "/calls/call/none",
        "/breakpoint/f",
        "/frame/source?file=/etc/passwd&line=1",
    ] {
        let (status, body) = see(path);
        assert!(status == 404 && !body.contains("root:"), "{path}: {status}");
    }
    let id = body.split("/calls/paused/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let ours = format!("http://127.0.0.1:{port}");
    let press = |origin: &str, cookie: &str| {
        post(port, &format!("/calls/paused/{id}"), "do=decide&act=skip&result=7")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Accept", "text/html")
            .header("Host", &format!("127.0.0.1:{port}"))
            .header("Origin", origin)
            .header("Cookie", cookie)
            .send()
            .status
    };
    // Nobody else can press.
    assert_eq!((press("https://evil.example", &cookie), press(&ours, "a=b")), (403, 403));
    assert_eq!(press(&ours, &cookie), 303);
    assert_eq!(stage.shop.line(), "= 7");
    // What was refused is in its log, which is no fault here.
    stage.debug.rpc.process.signal("KILL");
    stage.debug.rpc.process.end();
}
