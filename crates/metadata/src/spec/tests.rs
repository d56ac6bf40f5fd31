use super::*;

const GOOD: &str = "\
name: symbol_calls
alias: symbol.calls
title: Call hierarchy
description: Who calls it.
when_to_use: Before you change it.
response: query
timeout_ms: 30000
parameters:
  nodeId: {type: string, description: Its id., pattern: '[a-z:]+'}
  path: {type: string, description: Its file., resolve: path}
  symbol: {type: string, description: Its name.}
  direction: {type: enum, values: [incoming, outgoing], default: incoming, description: Which way.}
  limit: {type: integer, min: 1, max: 9, description: How many.}
  tags: {type: array, items: {type: string}, description: Of what kind.}
  filters:
    type: object
    description: Which.
    properties:
      low: {type: number, required: true}
parameter_hints:
  nodeId: {examples: ['method:a']}
  path: {examples: [src/a.ts]}
  symbol: {examples: [add], note: Without its class.}
  direction: {examples: [incoming, outgoing]}
  limit: {examples: [1, 9]}
  tags: {examples: [[a, b]]}
  filters: {examples: [{low: 1}]}
rules:
  - one_of: [[nodeId], [path, symbol]]
  - when: {direction: outgoing}
    need: [limit]
examples:
  - {path: src/a.ts, symbol: add}
  - {nodeId: 'method:a', direction: outgoing, limit: 2}
safety: {idempotent: true, read_only: true, destructive: false}
prerequisites:
  requires: [debug_launch]
  recommended: [{tool: symbol_search, note: It has ids.}]
errors:
  E_NOT_FOUND: {summary: None., retryable: false, hint: Look for it.}
run:
  bridge: {script: symbol.calls, zero_based: ['calls[].line']}
";

#[test]
fn a_good_file_is_read_whole() {
    let spec = ToolSpec::read(GOOD).unwrap();
    assert_eq!((spec.name.as_str(), spec.timeout_ms), ("symbol_calls", 30_000));
    assert_eq!(spec.params.len(), 7);
    assert_eq!(spec.param("symbol").unwrap().note.as_deref(), Some("Without its class."));
    assert_eq!(spec.known_failure("E_NOT_FOUND").unwrap().hint, "Look for it.");
    assert_eq!(spec.rules[0].to_string(), "`nodeId`, or `path` with `symbol`");
    assert!(spec.enabled && spec.safety.read_only);
    let mut arguments = vec![("nodeId".to_owned(), Literal::Text("a".to_owned()))];
    spec.complete(&mut arguments);
    assert_eq!(arguments.len(), 2, "{arguments:?}");
}

/// What `GOOD` becomes by this change is refused where it was made, in words with this part. What is missing of the
/// tool itself is missed at its beginning.
#[track_caller]
fn refused(from: &str, to: &str, part: &str) {
    let (before, _) = GOOD.split_once(from).expect("it is in the good one");
    let line = before.lines().count().max(1) + usize::from(before.ends_with('\n'));
    let complaints = ToolSpec::read(&GOOD.replacen(from, to, 1)).unwrap_err();
    let is_there = |it: &Complaint| [1, line, line + 1].contains(&it.line);
    let found = complaints.iter().any(|it| is_there(it) && it.text.contains(part));
    assert!(found, "{complaints:#?}");
}

#[test]
fn unknown_keys_are_refused_with_the_one_that_was_meant() {
    refused("alias:", "alais:", "has no key `alais`; did you mean `alias`?");
    refused("resolve: path", "reslove: path", "did you mean `resolve`?");
    refused("read_only: true", "readonly: true", "did you mean `read_only`?");
    refused("{script: symbol.calls", "{skript: symbol.calls", "did you mean `script`?");
    refused("note: Without its class.", "notes: x", "did you mean `note`?");
    refused("retryable: false", "retriable: false", "did you mean `retryable`?");
    refused("  bridge:", "  brigde:", "did you mean `bridge`?");
    refused("  limit: {examples", "  limits: {examples", "did you mean `limit`?");
}

#[test]
fn what_must_be_there_is_missed() {
    refused("title: Call hierarchy\n", "", "needs `title`");
    refused("  limit: {examples: [1, 9]}\n", "", "`limit` has no hint");
    refused("{examples: [add], note", "{note", "needs `examples`");
    refused(", description: How many.", "", "needs `description`");
    refused("idempotent: true, ", "", "needs `idempotent`");
    refused(", hint: Look for it.", "", "needs `hint`");
    refused("timeout_ms: 30000\n", "", "needs `timeout_ms`");
    refused("run:\n  bridge: {script: symbol.calls, zero_based: ['calls[].line']}\n", "", "`run`");
}

#[test]
fn an_example_that_its_own_parameter_refuses_is_refused() {
    refused("examples: [1, 9]", "examples: [0]", "0 is less than 1");
    refused("examples: [1, 9]", "examples: [1.5]", "1.5 is not of type integer");
    refused("examples: [incoming, outgoing]", "examples: [inside]", "none of incoming, outgoing");
    refused("examples: ['method:a']", "examples: ['METHOD']", "does not match `[a-z:]+`");
    refused("examples: [[a, b]]", "examples: [[1]]", "tags[0]");
    refused("examples: [{low: 1}]", "examples: [{}]", "`low` is missing");
    refused("examples: [{low: 1}]", "examples: [{low: 1, hgih: 2}]", "there is no `hgih`");
    refused("default: incoming", "default: inside", "the default of `direction`");
    refused("{path: src/a.ts, symbol: add}", "{path: src/a.ts}", "one must be given whole");
    refused("direction: outgoing, limit: 2}", "direction: outgoing}", "which needs `limit`");
    refused("{path: src/a.ts, symbol: add}", "{nodeId: a, path: b, symbol: c}", "only one");
}

#[test]
fn what_cannot_be_is_refused() {
    refused("min: 1, max: 9", "min: 9, max: 1", "no number is from 9 to 1");
    refused("min: 1, max: 9", "min: 0.5", "of integers");
    refused("type: integer", "type: int", "did you mean `integer`?");
    refused("pattern: '[a-z:]+'", "pattern: '['", "no expression");
    refused(
        "type: string, description: Its name.",
        "type: string, min: 1, description: x",
        "`min` is",
    );
    refused("resolve: path", "resolve: cwd", "`resolve` is `path`");
    refused("response: query", "response: querry", "did you mean `query`?");
    refused("read_only: true", "read_only: false", "a `query` is `read_only`");
    refused("destructive: false", "destructive: true", "destroys nothing");
    refused("name: symbol_calls", "name: Symbol_calls", "is no name");
    refused("name: symbol_calls", "name: calls", "is no name");
    refused("alias: symbol.calls", "alias: symbol.call", "is no alias");
    refused("timeout_ms: 30000", "timeout_ms: 0", "from 1 to");
    refused("E_NOT_FOUND:", "NOT_FOUND:", "no code of a failure");
    refused("script: symbol.calls", "script: '@dynamic'", "no name of a script");
    refused("one_of: [[nodeId]", "one_of: [[nodeID]", "did you mean `nodeId`?");
    refused("required: true}", "required: maybe}", "true or false");
    refused("  limit: {type", "  timeout_s: {type", "taken by every tool");
}

#[track_caller]
fn run(run: &str) -> Result<Carrier, Vec<Complaint>> {
    let (begin, _) = GOOD.split_once("run:").unwrap();
    ToolSpec::read(&format!("{begin}run: {run}\n")).map(|spec| spec.run)
}

#[track_caller]
fn no_run(text: &str, part: &str) {
    let complaints = run(text).unwrap_err();
    assert!(complaints.iter().any(|it| it.text.contains(part)), "{text}: {complaints:#?}");
}

#[test]
fn a_command_is_a_list_whose_first_is_plain() {
    let Ok(Carrier::Shell(shell)) = run(
        "{shell: {command: [grep, -r, '{symbol}', {when: limit, add: ['-m', '{limit}']}, '{tags}'], \
         success: [0, 1]}}",
    ) else {
        panic!("it is a command")
    };
    assert_eq!((shell.program.as_str(), shell.success.as_slice()), ("grep", [0, 1].as_slice()));
    assert_eq!(shell.arguments.len(), 4);
    no_run("{shell: {command: ['{symbol}']}}", "no parameter chooses what is run");
    no_run("{shell: {command: []}}", "the program, then its arguments");
    no_run("{shell: {command: grep -r}}", "`command` is a list");
    no_run("{shell: {command: [grep, '{symbl}']}}", "did you mean `symbol`?");
    no_run("{shell: {command: [grep, 'x{tags}']}}", "it stands alone");
    no_run("{shell: {command: [grep, '{filters}']}}", "no text can be made of it");
    no_run("{shell: {command: [grep, {when: limit, ad: [x]}]}}", "did you mean `add`?");
    no_run("{shell: {command: [grep], success: [256]}}", "from 0 to 255");
}

#[test]
fn a_request_stays_on_this_machine() {
    let good = "{http: {method: POST, url: 'http://127.0.0.1:8080/a/{symbol}', query: {n: '{limit}'}, \
                json: {all: '{filters}', text: 'x {path}'}}}";
    let Ok(Carrier::Http(http)) = run(good) else { panic!("it is a request") };
    assert_eq!((http.url.authority.as_str(), http.url.segments.len()), ("127.0.0.1:8080", 2));
    no_run("{http: {method: GET, url: 'http://example.org/'}}", "the host of `url`");
    no_run("{http: {method: GET, url: 'http://{symbol}/'}}", "the host of `url`");
    no_run("{http: {method: FETCH, url: 'http://localhost/'}}", "`method` is not `FETCH`");
    no_run("{http: {method: GET, url: 'http://localhost/', json: {a: b}}}", "a GET has no body");
    no_run("{http: {method: POST, url: 'http://localhost/', json: {a: 'x{filters}'}}}", "no text");
    no_run("{http: {method: POST, url: 'http://localhost/', headers: {a: b}}}", "no key `headers`");
}

#[test]
fn a_script_waits_no_longer_than_the_bridge_allows() {
    let long = GOOD.replace("  limit:", "  timeoutMs:").replace("[limit]", "[timeoutMs]");
    let long = long.replace("limit: 2", "timeoutMs: 2").replace("max: 9", "max: 90000");
    let complaints = ToolSpec::read(&long).unwrap_err();
    assert!(complaints[0].text.contains("50000 ms at the most"), "{complaints:?}");
    no_run("{bridge: {script: symbol.calls, wait: limit}}", "with `max` and `default`");
    no_run("{bridge: {status: false}}", "`status: true`");
    no_run("{bridge: {script: a.b}, shell: {command: [x]}}", "has one of");
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let complaints = ToolSpec::read(&" ".repeat(FILE_BYTES + 1)).unwrap_err();
    assert!(complaints[0].text.contains("more than"), "{complaints:?}");
}
