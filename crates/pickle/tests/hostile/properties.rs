//! What holds for every value that can be written.

use holdpoint_pickle::{Children, Limits, Pickle, Show, write};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no infinity", |float| float.is_finite())
            .prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        "[a'\"\\\\\n\u{2028}😀]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(".{0,12}", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in json()) {
        let bytes = write(&value);
        let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
        let read = pickle.json(pickle.root(), Show::chars(1_000_000));
        prop_assert_eq!(read, value);
    }

    #[test]
    fn no_text_is_longer_than_asked(value in json(), chars in 0usize..300) {
        let bytes = write(&value);
        let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
        let text = pickle.render(pickle.root(), Show::chars(chars));
        prop_assert!(text.chars().count() <= chars, "{}", text);
        let whole = pickle.render(pickle.root(), Show::chars(100_000));
        if whole.chars().count() <= chars {
            prop_assert_eq!(text, whole);
        }
    }

    #[test]
    fn every_child_is_found_by_its_path(value in json()) {
        let bytes = write(&value);
        let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
        let mut open = vec![(String::new(), pickle.root())];
        while let Some((path, at)) = open.pop() {
            prop_assert_eq!(pickle.find(&path), Ok(at), "{}", path);
            let Children { total, items } = pickle.children(at, 0, 100);
            prop_assert_eq!(total, items.len());
            open.extend(items.into_iter().map(|child| (format!("{path}{}", child.step), child.value)));
        }
    }

    #[test]
    fn bytes_of_any_kind_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(pickle) = Pickle::read(&bytes, &Limits::default()) {
            super::look::look(&pickle, 100);
        }
    }
}
