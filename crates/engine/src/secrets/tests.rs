use serde_json::json;

use super::*;

fn rules() -> Secrets {
    Secrets::new(OwnRules::default(), [7; 16])
}

#[test]
fn what_is_secret_vanishes_and_what_is_not_stays() {
    let secrets = rules();
    let (mut hidden, mut plain, mut wrong) = (0, 0, Vec::new());
    let lines =
        include_str!("corpus.txt").lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    for line in lines {
        let (kind, line) = line.split_at(2);
        let line = line.replace("\\n", "\n");
        let shown = line.replace(['«', '»'], "");
        let clean = secrets.text(&shown);
        let is_right = if kind == "! " {
            hidden += 1;
            // Everything around them stays, and each is a mark.
            let around: Vec<&str> = line.split(['«', '»']).step_by(2).collect();
            let marks: Vec<&str> = clean.split(['‹', '›']).step_by(2).collect();
            around == marks
        } else {
            plain += 1;
            clean == shown
        };
        if !is_right {
            wrong.push(format!("{kind}{line}\n  {clean}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), hidden + plain, wrong.join("\n"));
    assert!(hidden >= 150 && plain >= 150, "{hidden} secrets, {plain} plain lines");
}

#[test]
fn the_same_value_has_the_same_mark_however_it_is_written() {
    let secrets = rules();
    let mark = |text: &str| {
        let clean = secrets.text(text).into_owned();
        clean.split_once('#').map(|(_, rest)| rest.chars().take(4).collect::<String>()).unwrap()
    };
    let first = mark("password = 'hunter2'");
    for text in [r#"{"password": "hunter2"}"#, "DB_PASSWORD=hunter2", "redis://:hunter2@x/0"] {
        assert_eq!(mark(text), first, "{text}");
    }
    assert_ne!(mark("password = 'hunter3'"), first);
    let other =
        Secrets::new(OwnRules::default(), [8; 16]).text("password = 'hunter2'").into_owned();
    assert!(!other.contains(&first), "another key, another mark: {other}");
}

#[test]
fn a_mark_says_what_it_stands_for() {
    let mark = |text: &str| rules().text(text).into_owned();
    assert!(mark("password = 'hunter2'").starts_with("password = '‹secret str, 7 characters, #"));
    assert!(mark("secret = b'x'").starts_with("secret = b'‹secret bytes, 1 character, #"));
    assert!(mark("secret = 12345").starts_with("secret = ‹secret number, 5 characters, #"));
    // What was clean once stays as it is.
    let once = mark("password = 'hunter2' · token = 'a8Fz0q3LmN9xY2kPqR7s'");
    assert_eq!(mark(&once), once);
}

#[test]
fn a_value_is_known_by_what_was_asked_for() {
    let secrets = rules();
    let hides = |name: &str, value: &str| secrets.named(name, value).contains("‹secret");
    assert!(hides("password", "'hunter2'"));
    assert!(hides("user.password", "'hunter2'"));
    assert!(hides("os.environ['API_KEY']", "'hunter2'"));
    assert!(hides("password", "hunter2"));
    assert!(hides("user", "{'password': 'hunter2'}"));
    assert!(!hides("len(password)", "7"));
    assert!(!hides("password", "None"));
    assert!(!hides("password", "<function password>"));
    assert!(!hides("name", "'hunter2'"));
}

#[test]
fn json_is_walked_by_its_names() {
    let mut json = json!({
        "password": "hunter2", "name": "ann", "count": 3, "tokens": ["a", "b"],
        "variables": [{ "name": "api_key", "value": "'hunter2'", "type": "str" },
                      { "name": "total", "value": "3" }],
        "args": { "secret": { "deep": ["hunter2"] } },
        "pretty_args": ["{'password': 'hunter2'}"],
        "token": "IDENT", "pin": 1234, "secret_number": 99, "secret": 123_456,
    });
    rules().json(&mut json);
    let text = json.to_string();
    assert!(!text.contains("hunter2") && !text.contains("123456"), "{text}");
    for kept in
        [r#""name":"ann""#, r#""count":3"#, r#"["a","b"]"#, r#""value":"3""#, "IDENT", "1234", "99"]
    {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    assert_eq!(json["variables"][0]["type"], "str");
}

#[test]
fn a_user_has_rules_of_their_own() {
    let own = OwnRules {
        shown: false,
        names: vec!["kennwort".to_owned()],
        plain: vec!["api_key".to_owned()],
    };
    let secrets = Secrets::new(own, [7; 16]);
    assert!(secrets.text("kennwort = 'hunter2'").contains("‹secret"));
    assert_eq!(secrets.text("apiKey = 'hunter2'"), "apiKey = 'hunter2'");
    let shown = Secrets::new(OwnRules { shown: true, ..OwnRules::default() }, [7; 16]);
    assert_eq!(shown.text("password = 'hunter2'"), "password = 'hunter2'");
}

#[test]
fn no_text_is_too_odd() {
    let secrets = rules();
    let parts = [
        "password",
        "=",
        ":",
        "'",
        "\"",
        "\\",
        "‹",
        "ü",
        "\n",
        " ",
        "{",
        "[",
        "://",
        "@",
        "Bearer ",
        "-----BEGIN",
    ];
    let mut seed = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text += parts[usize::try_from(seed >> 33).unwrap() % parts.len()];
        }
        let once = secrets.text(&text).into_owned();
        assert_eq!(secrets.text(&once), once, "{text}");
    }
}
