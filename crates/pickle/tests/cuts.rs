//! What is shown where not all fits, and how one goes on from there.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

use expect_test::{Expect, expect};
use holdpoint_pickle::{CHILDREN_MAX, Limits, NotFound, Pickle, Show, write};
use serde_json::{Map, Value, json};

/// The value in 40, 80 and 200 characters.
#[track_caller]
fn check(value: &Value, expected: Expect) {
    let bytes = write(value);
    let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
    let texts = [40, 80, 200].map(|chars| pickle.render(pickle.root(), Show::chars(chars)));
    expected.assert_eq(&texts.join("\n"));
}

fn rows(count: u32) -> Value {
    json!((0..count).map(|id| json!({ "id": id, "name": "pen", "price": 1.5 })).collect::<Vec<_>>())
}

#[test]
fn a_list_keeps_its_ends_and_says_how_many_are_between() {
    check(
        &json!((0..1_000).collect::<Vec<_>>()),
        expect![[r#"
            [0, 1, 2, 3, 4, … 994 more …, 999]
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … 984 more …, 997, 998, 999]
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, … 955 more …, 991, 992, 993, 994, 995, 996, 997, 998, 999]"#]],
    );
}

#[test]
fn a_few_whole_items_say_more_than_many_pieces() {
    check(
        &rows(1_000),
        expect![[r#"
        [{'id': 0, … 2 more}, … 999 more]
        [{'id': 0, 'name': 'pen', 'price': 1.5}, … 999 more]
        [{'id': 0, 'name': 'pen', 'price': 1.5}, {'id': 1, 'name': 'pen', 'price': 1.5}, {'id': 2, 'name': 'pen', 'price': 1.5}, … 996 more …, {'id': 999, 'name': 'pen', 'price': 1.5}]"#]],
    );
}

#[test]
fn one_long_field_does_not_push_the_others_out() {
    let value = json!({
        "name": "pen",
        "description": "long ".repeat(100),
        "price": 1.5,
        "tags": (0..100).collect::<Vec<_>>(),
    });
    check(
        &value,
        expect![[r#"
        {'name': 'pen', … 3 more}
        {'name': 'pen', 'description': 'long long lon…', 'price': 1.5, … 1 more}
        {'name': 'pen', 'description': 'long long long long long lon… 458 characters …ong long long ', 'price': 1.5, 'tags': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, … 84 more …, 97, 98, 99]}"#]],
    );
}

#[test]
fn a_text_keeps_its_ends() {
    check(
        &json!("abcdefghijklmnopqrstuvwxyz".repeat(100)),
        expect![[r#"
        'abcdefghi… 2587 characters …wxyz'
        'abcdefghijklmnopqrstuvwxyzabcdefghij… 2546 characters …ijklmnopqrstuvwxyz'
        'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl… 2426 characters …uvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'"#]],
    );
    // Characters, not bytes, and escapes are longer than what they stand for.
    check(
        &json!("é€😀".repeat(100)),
        expect![[r#"
        'é€😀é€😀é€😀… 287 characters …😀é€😀'
        'é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀… 246 characters …é€😀é€😀é€😀é€😀é€😀é€😀'
        'é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€… 126 characters …😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀é€😀'"#]],
    );
    check(
        &json!("\0".repeat(100)),
        expect![[r#"
        '\x00\x00… 97 characters …\x00'
        '\x00\x00\x00\x00\x00\x00\x00\x00… 88 characters …\x00\x00\x00\x00'
        '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00… 58 characters …\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'"#]],
    );
}

#[test]
fn a_dict_shows_its_first_keys() {
    let map: Map<String, Value> = (0..50).map(|i| (format!("key {i}"), json!(i))).collect();
    check(
        &Value::Object(map),
        expect![[r#"
        {'key 0': 0, … 49 more}
        {'key 0': 0, 'key 1': 1, 'key 2': 2, 'key 3': 3, 'key 4': 4, … 45 more}
        {'key 0': 0, 'key 1': 1, 'key 2': 2, 'key 3': 3, 'key 4': 4, 'key 5': 5, 'key 6': 6, 'key 7': 7, 'key 8': 8, 'key 9': 9, 'key 10': 10, 'key 11': 11, 'key 12': 12, 'key 13': 13, … 36 more}"#]],
    );
}

#[test]
fn what_is_deep_is_reached_before_what_is_wide() {
    let value = json!([[[[[[["deep", 1, 2, 3, { "a": "b".repeat(300) }]]]]]]]);
    check(
        &value,
        expect![[r#"
        [[[[[[['deep', … 4 more]]]]]]]
        [[[[[[['deep', 1, 2, 3, {'a': 'bbbbbbbbbb… 285 characters …bbbbb'}]]]]]]]
        [[[[[[['deep', 1, 2, 3, {'a': 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb… 165 characters …bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'}]]]]]]]"#]],
    );
}

#[test]
fn what_is_deeper_than_asked_is_counted() {
    let bytes = write(&json!([1, [2, [3, [4]]], {}]));
    let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
    let show = Show { depth_max: 2, ..Show::default() };
    assert_eq!(pickle.render(pickle.root(), show), "[1, [2, [… 2 more]], {}]");
}

#[test]
fn json_says_what_it_leaves_out() {
    let bytes = write(&rows(1_000));
    let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
    let json = pickle.json(pickle.root(), Show::chars(80));
    assert_eq!(
        json,
        json!([
            { "id": 0, "name": "pen", "price": 1.5 },
            { "id": 1, "name": "pen", "price": 1.5 },
            { "id": 2, "name": "pen", "…": "1 more" },
            "… 997 more",
        ])
    );
    let flat = pickle.json(pickle.root(), Show { depth_max: 1, chars_max: 42 });
    assert_eq!(flat, json!(["{'id': 0, 'name': 'pen', 'price': 1.5}", "… 999 more"]));
    let long = write(&json!({ "text": "ab".repeat(100) }));
    let pickle = Pickle::read(&long, &Limits::default()).unwrap();
    let json = pickle.json(pickle.root(), Show::chars(60));
    assert_eq!(json, json!({ "text": "abababababababab… 176 characters …abababab" }));
}

#[test]
fn children_come_a_page_at_a_time() {
    let bytes = write(&rows(3_000));
    let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
    let page = pickle.children(pickle.root(), 2_998, 10);
    let steps: Vec<&str> = page.items.iter().map(|child| child.step.as_str()).collect();
    assert_eq!((page.total, steps), (3_000, vec!["[2998]", "[2999]"]));
    assert_eq!(pickle.children(pickle.root(), 0, usize::MAX).items.len(), CHILDREN_MAX);
    assert_eq!(pickle.children(pickle.root(), 9_999, 10).items, []);
    let row = pickle.find("[7]").unwrap();
    let steps: Vec<String> =
        pickle.children(row, 1, 10).items.into_iter().map(|child| child.step).collect();
    assert_eq!(steps, ["['name']", "['price']"]);
    let name = pickle.find_from(row, "name").unwrap();
    assert_eq!(pickle.children(name, 0, 10).total, 0);
}

#[test]
fn a_path_that_leads_nowhere_says_what_is_there() {
    let bytes = write(&json!({ "cart": { "items": [1, 2], "total": 3 } }));
    let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
    let missing = |path: &str| pickle.find(path).unwrap_err().to_string();
    assert_eq!(missing("cart.prices"), "no `.prices` in .cart; there is ['items'] ['total']");
    assert_eq!(missing("cart.items[2]"), "no `[2]` in .cart.items; there is [0] [1]");
    assert_eq!(missing("cart.total.x"), "no `.x` in .cart.total; there is nothing inside");
    assert_eq!(missing("x"), "no `.x` in the value; there is ['cart']");
    assert!(matches!(pickle.find("cart[").unwrap_err(), NotFound::Syntax(_)));
    let many = write(&json!((0..100).collect::<Vec<_>>()));
    let pickle = Pickle::read(&many, &Limits::default()).unwrap();
    let missing = pickle.find("[100]").unwrap_err().to_string();
    assert!(missing.ends_with("[8] [9] and 90 more"), "{missing}");
}
