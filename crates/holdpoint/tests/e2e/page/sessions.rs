//! Sessions: programs seen, steered, started and ended by a person, beside an agent.

use holdpoint_testkit::{debug::line, node};
use serde_json::json;

use super::{BIN, cart, python, shoot, signed_in, stopped_cart};

#[test]
fn an_empty_server_says_what_it_is_and_shows_an_agent_when_it_comes() {
    let mut debug = python();
    let (mut browser, base) = signed_in(&mut debug);
    // The agent of this test is connected already: the page shows what happened.
    browser.shows("#people", "you");
    browser.open(&format!("{base}/sessions"));
    browser.shows("#programs", "Nothing has been started");
    shoot(&mut browser, "sessions-empty");
    browser.is_well();
}

#[test]
fn what_an_agent_does_shows_as_it_happens() {
    let (mut debug, mut browser, _, _folder, file) = stopped_cart();
    browser.shows("#source .here", "amount += price * count");
    browser.shows("#vars", "amount");
    debug.ok("debug_step", json!({}));
    browser.shows("#source .here", "for price, count in lines");
    browser.shows("#source .vals b", "200");
    browser.shows("#vars .changed", "was 0");
    browser.shows("#control-note", "debug_step");
    debug.ok("breakpoint_set", json!({ "file": file, "line": line(&file, "begin") }));
    browser.shows("#points", "cart.py:5");
    debug.eval("amount + 1");
    browser.shows("#talk", "201");
    browser.is_well();
    shoot(&mut browser, "session");
}

#[test]
fn a_person_steps_sets_points_evaluates_and_writes_to_the_program() {
    let (mut debug, mut browser, _, _folder, file) = stopped_cart();
    // A point by a click in the gutter, and away again.
    let begin = line(&file, "begin");
    browser.click(&format!("#L{begin} .g"));
    browser.shows("#points", &format!("cart.py:{begin}"));
    debug.ok("breakpoint_list", json!({})).has(&[&format!("cart.py:{begin}")]);
    browser.click(&format!("#L{begin} .g"));
    browser.hides("#points", &format!("cart.py:{begin}"));
    // One where no code is lies elsewhere, and says so.
    let empty = line(&file, "add") + 1;
    browser.click(&format!("#L{empty} .g"));
    browser.shows(&format!("#L{empty} .why"), "no code");
    browser.click(&format!("#L{empty} .g"));
    browser.hides(".why", "no code");
    // Evaluate, and what throws.
    browser.type_into("#ev", "amount + 40");
    browser.key("Enter");
    browser.shows("#talk samp", "40");
    browser.type_into("#ev", "nothing_of_that_name");
    browser.key("Enter");
    browser.shows("#talk .fail", "nothing_of_that_name");
    // Steps by button and by key.
    browser.click("[value=over]");
    browser.shows("#source .here", "for price, count in lines");
    browser.key("F10");
    browser.shows("#source .here", "amount += price");
    debug.ok("debug_status", json!({})).has(&["stopped"]);
    // To a line, with the breakpoint off.
    browser.click("#points input[type=checkbox]");
    browser.until(
        "the point is off",
        "!document.querySelector('#points input[type=checkbox]').checked",
    );
    browser.eval("document.querySelector('[data-to-line]').value = ''");
    browser.type_into("[data-to-line]", "9");
    browser.click("#to-line button");
    browser.shows("#source .here", "return amount");
    // On, to its question.
    browser.key("F8");
    browser.shows("#out", "total 300");
    browser.shows("#state", "running");
    browser.type_into("#stdin", "Ada");
    browser.key("Enter");
    browser.shows("#out", "bye");
    browser.shows("#state", "ended");
    browser.shows("#place", "exit code 0");
    browser.is_well();
}

#[test]
fn the_person_in_control_is_obeyed_and_the_agent_is_told() {
    let (mut debug, mut browser, _, _folder, _) = stopped_cart();
    browser.click("[value=over]");
    browser.shows("#control-note", "You are in control");
    let refused = debug.fails("debug_step", json!({}));
    refused.has(&["E_HUMAN_IN_CONTROL", "debug_wait"]);
    for tool in ["debug_continue", "debug_pause", "debug_stop", "debug_restart"] {
        debug.fails(tool, json!({})).has(&["E_HUMAN_IN_CONTROL"]);
    }
    // Reading still works.
    browser.shows("#source .here", "for price, count in lines");
    debug.ok("debug_stack", json!({}));
    debug.ok("debug_variables", json!({}));
    debug.eval("amount");
    // It waits until it is handed back, and hears the note.
    let waiting = debug.ask("debug_wait", json!({}));
    browser.type_into("#note-text", "look at the second line");
    browser.key("Enter");
    browser.until("the note is sent", "document.querySelector('#note-text').value === ''");
    browser.click("[name=control][value=agents]");
    let told = debug.answer(waiting);
    told.has(&["handed back"]);
    let next = debug.ok("debug_step", json!({}));
    assert!(
        told.text.contains("look at the second line")
            || next.text.contains("look at the second line"),
        "{} / {}",
        told.text,
        next.text
    );
    browser.is_well();
}

#[test]
fn hostile_text_is_text_and_a_secret_is_shown_to_the_person_alone() {
    let mut debug = python();
    let (_folder, file) = cart();
    let point = json!({ "file": file, "line": 15 });
    debug.launch(&file, json!({ "breakpoints": [point], "stop_on_entry": false }));
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/sessions/s1"));
    browser.shows("#vars", "</script><img src=x onerror=alert(1)>");
    assert_eq!(browser.eval("document.querySelectorAll('img').length"), json!(0));
    browser.shows("#vars .mark-secret", "‹secret");
    assert!(
        !browser
            .eval("document.body.innerText")
            .as_str()
            .unwrap()
            .contains("ghp_0123456789abcdefghijABC")
    );
    browser.click("#vars .mark-secret");
    browser.shows("#vars .revealed", "ghp_0123456789abcdefghijABC");
    let seen = debug.ok("debug_variables", json!({}));
    assert!(!seen.text.contains("ghp_0123456789"), "{}", seen.text);
    let told = debug.ok("timeline_query", json!({}));
    assert!(!told.text.contains("ghp_0123456789"), "{}", told.text);
    browser.is_well();
}

#[test]
fn a_node_program_is_steered_from_the_page() {
    let mut debug = node::start(BIN);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("cart.js");
    let text = "function total(lines) {\n  let amount = 0;\n  for (const [price, count] of lines) {\n    amount += price * count; // BP: add\n  }\n  return amount;\n}\nconsole.log('total', total([[100, 2], [25, 4]]));\n";
    std::fs::write(&file, text).unwrap();
    let point = json!({ "file": file, "line": line(&file, "add") });
    debug.launch(&file, json!({ "breakpoints": [point], "stop_on_entry": false }));
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/sessions/s1"));
    browser.shows("#source .here", "amount += price * count");
    browser.shows("#vars", "amount");
    browser.type_into("#ev", "price * 3");
    browser.key("Enter");
    browser.shows("#talk samp", "300");
    browser.key("F8");
    browser.shows("#vars", "200");
    debug.ok("debug_status", json!({})).has(&["stopped"]);
    browser.click("#points .btn");
    browser.shows("#points", "None");
    browser.click("[value=continue]");
    browser.shows("#out", "total 300");
    browser.shows("#state", "ended");
    browser.is_well();
}

#[test]
fn a_person_starts_a_program_and_ends_it() {
    let mut debug = python();
    let (_folder, file) = cart();
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/sessions"));
    browser.type_into("[name=command]", &file.display().to_string());
    browser.click(".launch .main-act");
    browser.until(
        "its session is shown",
        "document.readyState === 'complete' && location.pathname === '/sessions/s1'",
    );
    browser.shows("#state", "stopped");
    browser.shows("#control-note", "You are in control");
    debug.fails("debug_continue", json!({})).has(&["E_HUMAN_IN_CONTROL"]);
    browser.click("[value=stop]");
    browser.shows("#state", "ended");
    debug.ok("debug_status", json!({})).has(&["ended"]);
    browser.open(&format!("{base}/sessions"));
    browser.shows("#programs", "ended");
    shoot(&mut browser, "sessions");
    browser.open(&format!("{base}/now"));
    shoot(&mut browser, "now");
    browser.is_well();
}

#[test]
fn a_variable_is_given_another_value_by_a_person_and_by_an_agent() {
    let (mut debug, mut browser, _, _folder, _) = stopped_cart();
    let amount = "#vars li[data-k='v-amount']";
    browser.shows(amount, "0");
    browser.click(&format!("{amount} .setter > summary"));
    browser.type_into(&format!("{amount} .setter [name=value]"), "40 + 2");
    browser.key("Enter");
    browser.shows(&format!("{amount} .val"), "42");
    browser.shows("#talk", "amount = 40 + 2");
    browser.shows("#control-note", "You are in control");
    assert!(debug.eval("amount").starts_with("(int) 42\n"));
    shoot(&mut browser, "session-set");
    // The agent may again once it is handed back, and that shows too.
    browser.key("o");
    browser.hides("#control-note", "You are in control");
    debug.ok("debug_set_variable", json!({ "name": "amount", "value": "7" }));
    browser.shows(&format!("{amount} .val"), "7");
    // So does what an expression changed.
    debug.eval("lines.append((1, 1))");
    browser.shows("#vars li[data-k='v-lines']", "(1, 1)");
    browser.is_well();
}

#[test]
fn the_stack_and_the_values_of_another_thread_are_a_click_away() {
    let mut debug = python();
    debug.run_to("threads.py", &["worker"]);
    let (mut browser, base) = signed_in(&mut debug);
    browser.open(&format!("{base}/sessions/s1"));
    browser.shows("#stack .is-on", "work");
    browser.shows("#vars", "number");
    browser.shows("#threads .is-on", "stopped, here");
    let press = |what: &str| {
        format!(
            "(() => {{ [...document.querySelectorAll('#threads a')].find((it) => it.textContent.includes({})).click(); return 1; }})()",
            json!(what)
        )
    };
    browser.eval(&press("MainThread"));
    browser.until("the other thread", "location.search.includes('thread=')");
    browser.shows("#stack-of", "of thread");
    let thread = browser.eval("new URLSearchParams(location.search).get('thread')");
    let told = debug.ok("debug_stack", json!({ "thread": thread }));
    for frame in told.data["frames"].as_array().unwrap() {
        browser.shows("#stack", frame["function"].as_str().unwrap());
    }
    assert!(!told.text.contains("#0   work"), "{}", told.text);
    browser.hides("#stack .is-on", "work");
    // The console stays where it stopped, and so does what can be set.
    browser.shows("#evaluates", "work");
    assert_eq!(browser.eval("document.querySelectorAll('.setter').length"), json!(0));
    browser.eval(&press("stopped, here"));
    browser.until("back again", "!location.search.includes('thread=')");
    browser.shows("#stack .is-on", "work");
    browser.is_well();
}
