//! The stream itself: a test that fails because a tier is not in a table, which nobody was told.

use holdpoint_recording::{
    Datum,
    stream::{StreamRecord, StreamWriter},
};

pub(crate) const SOURCE: &str = "\
class Cart:
    def total(self):
        return self.total
def rate(tier, table):
    key = tier.strip()
    for i in range(3):
        tries += 1
    try:
        return table[key]
    except KeyError:
        log = None
def test_total():
    cart = Cart()
    for tier in tiers:
        cart.add(rate(tier, table))
    assert cart.total() == 45.0
";

fn dict(writer: &mut StreamWriter, object: u64) -> u32 {
    let kind = writer.string("dict");
    let (key, value) = (writer.text("std"), writer.value(&Datum::Float(0.5)));
    writer.value(&Datum::Dict { object, kind, length: 1, pairs: vec![(key, value)] })
}

fn item(writer: &mut StreamWriter, kind: &str, object: u64) -> u32 {
    let kind = writer.string(kind);
    writer.value(&Datum::Object { object, kind, fields: 0, own: Vec::new() })
}

fn raised(writer: &mut StreamWriter, kind: &str, object: u64, message: &str) -> u32 {
    let (kind, base) = (writer.string(kind), writer.string("Exception"));
    let message = message.to_owned();
    writer.value(&Datum::Exception { object, kind, message, bases: vec![base] })
}

/// One call of `rate`, which finds the tier or swallows that it does not.
fn rate(writer: &mut StreamWriter, function: u32, tier: &str, object: u64) {
    let (text, table) = (writer.text(tier), dict(writer, 3));
    writer.call(function, &[text, table]);
    writer.lines(&[1]).write(2, text);
    for pass in 0..3 {
        let (i, tries) = (writer.integer(pass), writer.integer(pass + 1));
        writer.lines(&[if pass == 0 { 1 } else { -1 }]).write(3, i);
        writer.lines(&[1]).write(4, tries);
    }
    writer.lines(&[-1, 2, 1]);
    if tier == "std" {
        let found = writer.value(&Datum::Float(0.5));
        writer.ret(found);
        return;
    }
    let missing = raised(writer, "KeyError", object, "'VIP'");
    writer.record(&StreamRecord::Raise(missing)).record(&StreamRecord::Handled(missing));
    let none = writer.none();
    writer.lines(&[1, 1]).write(5, none).ret(none);
}

/// What a recorder of Python writes of one failing test, in chunks.
pub(crate) fn shop() -> Vec<u8> {
    let mut writer = StreamWriter::new();
    let process = r#"{"pid":7,"ppid":1,"language":"python","runtime":"3.13.0","argv":["pytest"],"cwd":"/app","unix_ns":0,"ticks_ns":100000,"way":"native","level":"auto"}"#;
    writer.record(&StreamRecord::Process(process.into()));
    let file = writer.file("/app/cart.py");
    let slots = ["tier", "table", "key", "i", "tries", "log"];
    let rate_of = writer.function("rate", (file, 4, 11), 2, &slots);
    let add =
        writer.function("Cart.add", (file, 1, 2), 2, &["self", "amount", "self.total", "@py_1"]);
    let total = writer.function("Cart.total", (file, 2, 3), 1, &["self"]);
    let test = writer.function("test_total", (file, 12, 16), 0, &["cart", "tier"]);
    let begin = r#"{"name":"cart.py::test_total","phase":"begin"}"#;
    writer.record(&StreamRecord::Test(begin.into()));
    writer.call(test, &[]);
    let cart = item(&mut writer, "Cart", 3);
    writer.lines(&[1]).write(0, cart);
    for (at, tier) in ["std", "std", "std", "VIP", "std", "std"].into_iter().enumerate() {
        let text = writer.text(tier);
        writer.lines(&[if at == 0 { 1 } else { -1 }]).write(1, text).lines(&[1]);
        rate(&mut writer, rate_of, tier, 100 + at as u64);
        let amount = writer.value(&Datum::Float(if tier == "std" { 0.5 } else { 0.0 }));
        writer.call(add, &[cart, amount]);
        let now = writer.value(&Datum::Float(at as f64));
        writer.lines(&[1]).write(2, now);
        let none = writer.none();
        writer.ret(none);
        writer.flush(at as u64);
    }
    writer.lines(&[-1, 2]);
    writer.call(total, &[cart]);
    let sum = writer.value(&Datum::Float(41.5));
    writer.lines(&[1]).ret(sum);
    let wrong = raised(&mut writer, "AssertionError", 9, "assert 41.5 == 45.0");
    writer.record(&StreamRecord::Raise(wrong));
    writer.record(&StreamRecord::Unwind { value: wrong, ticks: 2 });
    let end = r#"{"name":"cart.py::test_total","phase":"end","outcome":"failed","message":"assert 41.5 == 45.0"}"#;
    writer.record(&StreamRecord::Test(end.into()));
    writer.record(&StreamRecord::End(r#"{"exit":1}"#.into()));
    writer.take()
}
