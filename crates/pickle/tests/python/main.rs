//! Against the real Python: what its picklers write, we read; what we write, it reads.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on should stop where it stands"
)]

mod shown;
mod written;

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use holdpoint_testkit::packages::Environment;
use serde_json::Value;

fn python() -> &'static Environment {
    static ONCE: OnceLock<Environment> = OnceLock::new();
    ONCE.get_or_init(|| Environment::of("packages-picklers"))
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}

/// One pickle that a pickler wrote.
struct Row {
    name: String,
    maker: String,
    protocol: u64,
    bytes: Vec<u8>,
}

/// Everything that `values.py` pickles.
fn rows() -> &'static [Row] {
    static ONCE: OnceLock<Vec<Row>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let output = String::from_utf8(python().run(&script("values.py"), b"")).unwrap();
        let rows = output.lines().map(|line| serde_json::from_str(line).unwrap());
        rows.filter_map(|row: Value| row_of(&row)).collect()
    })
}

/// A value that a pickler refuses, in a protocol that is too old for it, is no row.
fn row_of(row: &Value) -> Option<Row> {
    let text = |field: &str| row.get(field).and_then(Value::as_str).map(str::to_owned);
    let protocol = row.get("protocol").and_then(Value::as_u64).unwrap();
    let (name, maker) = (text("name").unwrap(), text("maker").unwrap());
    match text("hex") {
        Some(hex) => Some(Row { name, maker, protocol, bytes: unhex(&hex) }),
        None if protocol < 2 => None,
        None => panic!("{maker} refuses {name}: {}", text("error").unwrap()),
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap()).unwrap();
    let (pairs, _) = hex.as_bytes().as_chunks::<2>();
    pairs.iter().map(|[high, low]| digit(*high) * 16 + digit(*low)).collect()
}
