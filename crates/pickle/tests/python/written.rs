//! What we write, Python reads back as it was.

use holdpoint_pickle::{write, write_call};
use serde_json::{Map, Value, json};

use super::{python, script};

/// What Python reads, and whether it would have written the same bytes.
fn read_back(pickles: &[Vec<u8>]) -> Vec<(Value, bool)> {
    let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let lines: Vec<String> = pickles.iter().map(hex).collect();
    let output = python().run(&script("readback.py"), (lines.join("\n") + "\n").as_bytes());
    let output = String::from_utf8(output).unwrap();
    let rows = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["value"].clone(), row["same"] == true)).collect()
}

fn values() -> Vec<Value> {
    let many: Map<String, Value> = (0..2_500).map(|i| (format!("k{i}"), json!(i))).collect();
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    vec![
        json!(null),
        json!(true),
        json!([0, 1, 255, 256, 65_535, 65_536, -1, -128, -129, i32::MAX, i32::MIN]),
        json!([i64::MAX, i64::MIN, u64::MAX, 1_u64 << 31, -(1_i64 << 31) - 1, 1_u64 << 63]),
        json!([0.0, -0.0, 1.5, 1e300, -2.5e-7]),
        json!(["", "x", "é € 😀", "a\n\0b", "y".repeat(255), "z".repeat(256), "w".repeat(70_000)]),
        json!([]),
        json!({}),
        json!([[], {}, [[]], { "a": {} }]),
        json!({ "name": "pen", "tags": ["blue", 1, null], "nested": { "deep": [true] } }),
        json!((0..2_500).collect::<Vec<_>>()),
        json!((0..1_001).collect::<Vec<_>>()),
        Value::Object(many),
        deep,
    ]
}

#[test]
fn every_value_comes_back_equal() {
    let values = values();
    let pickles: Vec<Vec<u8>> = values.iter().map(write).collect();
    let read = read_back(&pickles);
    assert_eq!(read.len(), values.len());
    for (value, (read, same)) in values.iter().zip(read) {
        assert_eq!(*value, read);
        // Python cuts what is larger into several frames.
        let size = write(value).len();
        assert!(same || size > 60_000, "other bytes than Python's for {value}");
    }
}

#[test]
fn a_call_is_a_tuple_and_a_dict() {
    let kwargs = json!({ "tax": 0.2 });
    let kwargs = kwargs.as_object().unwrap();
    let all = [json!(1), json!("a"), json!([2]), json!(null)];
    let pickles: Vec<Vec<u8>> = (0..=4).map(|count| write_call(&all[..count], kwargs)).collect();
    let read = read_back(&pickles);
    assert_eq!(read.len(), pickles.len());
    for (count, (read, same)) in read.into_iter().enumerate() {
        assert_eq!(read, json!({ "tuple": [{ "tuple": all[..count] }, kwargs] }));
        assert!(same, "other bytes than Python's for {count} arguments");
    }
}
