//! Recorded pickles of what is too large to install for a test, and of the cideldill client.

use holdpoint_pickle::{Kind, Limits, Pickle, Show, Value};
use serde_json::json;

use super::look::{corpus, look};

#[track_caller]
fn recorded<T>(name: &str, with: impl FnOnce(&Pickle<'_>) -> T) -> T {
    let corpus = corpus();
    let found = corpus.iter().find(|(entry, _)| *entry == format!("recorded-{name}"));
    let (_, bytes) = found.unwrap_or_else(|| panic!("no {name}"));
    with(&Pickle::read(bytes, &Limits::default()).unwrap())
}

#[track_caller]
fn check(name: &str, path: &str, expected: &str) {
    recorded(name, |pickle| {
        let at = pickle.find(path).unwrap_or_else(|missing| panic!("{missing}"));
        assert_eq!(pickle.render(at, Show::default()), expected);
    });
}

#[test]
fn all_of_them_are_read_and_can_be_looked_at() {
    for (name, bytes) in corpus() {
        let pickle = Pickle::read(&bytes, &Limits::default());
        let pickle = pickle.unwrap_or_else(|fault| panic!("{name}: {fault}"));
        for chars in [5, 20, 60, 500] {
            look(&pickle, chars);
        }
    }
}

#[test]
fn pandas_is_told_by_its_class() {
    check("frame", "", "<pandas DataFrame>");
    check("frame", "_typ", "'dataframe'");
    check("series", "", "<pandas Series>");
    check("series", "_name", "'s'");
    recorded("frame", |pickle| {
        assert_eq!(pickle.class_of(pickle.root()).to_string(), "pandas.DataFrame");
    });
}

#[test]
fn values_that_the_client_could_not_pickle_are_described() {
    check(
        "placeholder",
        "",
        "<Unpicklable shop.lock _thread.lock attrs=1 failed=0 \
         error=\"TypeError: cannot pickle '_thread.lock' object\">",
    );
    check("placeholder", "attributes.a", "1");
    check("placeholder", "repr_text", "'<unlocked _thread.lock>'");
}

#[test]
fn types_that_the_client_registered_look_like_themselves() {
    check("from_dict", "", "Item(name='pen', price=1.5)");
    check("from_dict", "price", "1.5");
    check("from_slots", "", "Slots(a=1)");
    check("with_setstate", "", "Item(name='ink')");
}

/// Written by Python 2.7, in protocols 0 and 2.
#[test]
fn python_2_is_read_too() {
    for (bytes, text) in [
        (&b"(i__main__\nOld\np0\n(dp1\nS'a'\np2\nI1\nsb."[..], "Old(a=1)"),
        (b"(c__main__\nOld\nq\x01oq\x02}q\x03U\x01aq\x04K\x01sb.", "Old(a=1)"),
        (b"ccollections\ndeque\np0\n((lp1\nI1\naI2\ntp2\nRp3\n.", "deque([1], maxlen=2)"),
        (b"c__builtin__\nset\np0\n((lp1\nI1\natp2\nRp3\n.", "{1}"),
        (b"S'\\xff\\x00a'\np0\n.", r"b'\xff\x00a'"),
        (b"\x80\x02U\x03abcq\x01.", "'abc'"),
        (b"L1000000000000000000000000000000L\n.", "1000000000000000000000000000000"),
    ] {
        let pickle = Pickle::read(bytes, &Limits::default()).unwrap();
        assert_eq!(pickle.render(pickle.root(), Show::default()), text);
    }
}

#[test]
fn an_exception_is_known_for_one() {
    for (name, is_exception) in [
        ("value_error-dill-4", true),
        ("failed-pickle-4", false),
        ("local_failed-dill-4", true),
        ("local_failed-cloudpickle-5", true),
        ("item-pickle-4", false),
    ] {
        let corpus = corpus();
        let (_, bytes) = corpus.iter().find(|(entry, _)| *entry == name).unwrap();
        let pickle = Pickle::read(bytes, &Limits::default()).unwrap();
        let Value::Group(group) = pickle.value(pickle.root()) else { panic!("{name} is a leaf") };
        assert_eq!(group.kind == Kind::Exception, is_exception, "{name}");
    }
}

#[test]
fn json_keeps_what_json_can_say() {
    let corpus = corpus();
    let json_of = |name: &str| {
        let (_, bytes) = corpus.iter().find(|(entry, _)| *entry == name).unwrap();
        let pickle = Pickle::read(bytes, &Limits::default()).unwrap();
        pickle.json(pickle.root(), Show::default())
    };
    assert_eq!(
        json_of("item-pickle-4"),
        json!({ "__class__": "shop.Item", "name": "pen", "price": 1.5 })
    );
    assert_eq!(json_of("dict-pickle-4"), json!({ "a": 1, "2": null, "(1, 2)": [3] }));
    assert_eq!(json_of("big-pickle-4"), json!("1180591620717411303424"));
    assert_eq!(json_of("nan-pickle-4"), json!("nan"));
    assert_eq!(json_of("bytes-pickle-4"), json!("b\"a\\xff'\""));
    assert_eq!(json_of("date-pickle-4"), json!("datetime.date(2024, 1, 2)"));
    assert_eq!(
        json_of("stack-pickle-4"),
        json!({ "__class__": "shop.Stack", "[0]": 1, "[1]": 2, "label": "s" })
    );
    assert_eq!(json_of("cycle-pickle-4"), json!([1, "<cycle>"]));
}
