//! Pickles that Python reads back: JSON-like values, protocol 4.
//!
//! That is all a server sends to a Python client: changed arguments, one pickle each, and the
//! result of a skipped call. An exception to raise travels as its type and message, in JSON.
//! The bytes are those of Python's own `pickle.dumps(value, protocol=4)` for values of less than
//! 64 KiB in which no text is there twice.

use serde_json::{Map, Number, Value as Json};

/// A text that begins with it is an integer in decimal digits, of any size: a JSON value holds 64 bits.
/// No text of anybody's begins so: the character is set aside for the inside of programs.
pub const INTEGER: char = '\u{fdd0}';

/// Values that Python puts between one mark and the next.
const BATCH: usize = 1_000;

/// The pickle of a value.
pub fn write(value: &Json) -> Vec<u8> {
    frame(|out| put(out, vec![Work::Value(value)]))
}

/// The pickle of what a function is called with: `(args, kwargs)`, a tuple and a dict.
pub fn write_call(args: &[Json], kwargs: &Map<String, Json>) -> Vec<u8> {
    frame(|out| {
        tuple(out, args);
        put_dict(out, kwargs);
        out.extend([0x86, 0x94]);
    })
}

fn frame(body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![0x80, 4];
    let mut inner = Vec::new();
    body(&mut inner);
    inner.push(b'.');
    // Python frames nothing that is smaller than a frame's header is worth.
    if inner.len() >= 4 {
        out.push(0x95);
        out.extend((inner.len() as u64).to_le_bytes());
    }
    out.append(&mut inner);
    out
}

/// What is still to be written. A list of it instead of recursion: no depth overflows a stack.
enum Work<'j> {
    Value(&'j Json),
    Text(&'j str),
    /// Opcodes that close what was opened.
    Op(u8),
    Items(&'j [Json]),
    Entries(serde_json::map::Iter<'j>),
}

fn put(out: &mut Vec<u8>, work: Vec<Work<'_>>) {
    let mut work = work;
    while let Some(next) = work.pop() {
        match next {
            Work::Value(Json::Null) => out.push(b'N'),
            Work::Value(Json::Bool(true)) => out.push(0x88),
            Work::Value(Json::Bool(false)) => out.push(0x89),
            Work::Value(Json::Number(number)) => put_number(out, number),
            Work::Value(Json::String(text)) => {
                match text.strip_prefix(INTEGER).and_then(bytes_of) {
                    Some(bytes) => put_long(out, &bytes),
                    None => put_text(out, text),
                }
            }
            Work::Text(text) => put_text(out, text),
            Work::Value(Json::Array(items)) => {
                out.extend([b']', 0x94]);
                match items.as_slice() {
                    [one] => work.extend([Work::Op(b'a'), Work::Value(one)]),
                    items => work.push(Work::Items(items)),
                }
            }
            Work::Value(Json::Object(entries)) => open_dict(out, &mut work, entries),
            Work::Op(op) => out.push(op),
            Work::Items(items) => put_items(out, &mut work, items),
            Work::Entries(entries) => put_entries(out, &mut work, entries),
        }
    }
}

/// The next batch of a list's items, and then the rest.
fn put_items<'j>(out: &mut Vec<u8>, work: &mut Vec<Work<'j>>, items: &'j [Json]) {
    let (batch, rest) = items.split_at(items.len().min(BATCH));
    if !batch.is_empty() {
        out.push(b'(');
        work.extend([Work::Items(rest), Work::Op(b'e')]);
        work.extend(batch.iter().rev().map(Work::Value));
    }
}

fn put_entries<'j>(
    out: &mut Vec<u8>,
    work: &mut Vec<Work<'j>>,
    mut entries: serde_json::map::Iter<'j>,
) {
    let batch: Vec<(&String, &Json)> = entries.by_ref().take(BATCH).collect();
    if !batch.is_empty() {
        out.push(b'(');
        work.extend([Work::Entries(entries), Work::Op(b'u')]);
        let last_first = batch.into_iter().rev();
        work.extend(last_first.flat_map(|(key, value)| [Work::Value(value), Work::Text(key)]));
    }
}

fn open_dict<'j>(out: &mut Vec<u8>, work: &mut Vec<Work<'j>>, entries: &'j Map<String, Json>) {
    out.extend([b'}', 0x94]);
    let mut all = entries.iter();
    if let (1, Some((key, value))) = (entries.len(), all.next()) {
        work.extend([Work::Op(b's'), Work::Value(value), Work::Text(key)]);
    } else {
        work.push(Work::Entries(entries.iter()));
    }
}

fn put_dict(out: &mut Vec<u8>, entries: &Map<String, Json>) {
    let mut work = Vec::new();
    open_dict(out, &mut work, entries);
    put(out, work);
}

fn tuple(out: &mut Vec<u8>, items: &[Json]) {
    let close = match items.len() {
        0 => return out.push(b')'),
        1 => 0x85,
        2 => 0x86,
        3 => 0x87,
        _ => {
            out.push(b'(');
            b't'
        }
    };
    put(out, items.iter().rev().map(Work::Value).collect());
    out.extend([close, 0x94]);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    let length = text.len();
    if let Ok(length) = u8::try_from(length) {
        out.extend([0x8c, length]);
    } else if let Ok(length) = u32::try_from(length) {
        out.push(b'X');
        out.extend(length.to_le_bytes());
    } else {
        out.push(0x8d);
        out.extend((length as u64).to_le_bytes());
    }
    out.extend_from_slice(text.as_bytes());
    out.push(0x94);
}

fn put_number(out: &mut Vec<u8>, number: &Number) {
    if let Some(int) = number.as_i128() {
        put_int(out, int);
    } else {
        // Neither is there for a number beyond a float's range, which JSON values cannot hold.
        out.push(b'G');
        out.extend(number.as_f64().unwrap_or(f64::NAN).to_be_bytes());
    }
}

fn put_int(out: &mut Vec<u8>, int: i128) {
    if let Ok(int) = u8::try_from(int) {
        out.extend([b'K', int]);
    } else if let Ok(int) = u16::try_from(int) {
        out.push(b'M');
        out.extend(int.to_le_bytes());
    } else if let Ok(int) = i32::try_from(int) {
        out.push(b'J');
        out.extend(int.to_le_bytes());
    } else {
        let bytes = int.to_le_bytes();
        // The fewest bytes whose highest bit is still the sign.
        let sign = if int < 0 { 0xff } else { 0 };
        let mut length = bytes.len();
        while let Some([.., below, last]) = bytes.get(..length)
            && *last == sign
            && (below ^ sign) < 0x80
        {
            length -= 1;
        }
        put_long(out, bytes.get(..length).unwrap_or(&bytes));
    }
}

/// An integer by its bytes in two's complement, the lowest first.
fn put_long(out: &mut Vec<u8>, bytes: &[u8]) {
    if let Ok(length) = u8::try_from(bytes.len()) {
        out.extend([0x8a, length]);
    } else {
        out.push(0x8b);
        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    }
    out.extend_from_slice(bytes);
}

/// The fewest bytes of a decimal number in two's complement; none where it is no number.
fn bytes_of(number: &str) -> Option<Vec<u8>> {
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let mut bytes: Vec<u8> = Vec::new();
    for digit in digits.bytes() {
        let mut carry = u16::from(digit - b'0');
        for byte in &mut bytes {
            carry += u16::from(*byte) * 10;
            *byte = carry.to_le_bytes()[0];
            carry >>= 8;
        }
        if carry > 0 {
            bytes.push(carry.to_le_bytes()[0]);
        }
    }
    if bytes.last().is_none_or(|last| *last >= 0x80) {
        bytes.push(0);
    }
    if negative {
        negate(&mut bytes);
    }
    Some(bytes)
}

/// The highest byte is there only for the sign, or is less than 0x80.
fn negate(bytes: &mut Vec<u8>) {
    let mut carry = true;
    for byte in bytes.iter_mut() {
        (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
    }
    // -2^(8n-1) needs no byte for its sign.
    if let [.., below, 0xff] = bytes.as_slice()
        && *below >= 0x80
    {
        bytes.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: Json, hex: &str) {
        let bytes: String = write(&value).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(bytes, hex, "{value}");
    }

    /// As Python writes them, from the reference of the call protocol.
    #[test]
    fn the_bytes_are_those_of_python() {
        check(json!(5), "80044b052e");
        check(json!(null), "80044e2e");
        check(
            json!({ "fake": [1, 2.5, null, true, "x"] }),
            "80049520000000000000007d948c0466616b65945d94284b01474004000000000000\
             4e888c01789465732e",
        );
    }

    #[test]
    fn integers_take_the_fewest_bytes() {
        check(json!(256), "80049504000000000000004d00012e");
        check(json!(-1), "80049506000000000000004affffffff2e");
        check(json!(1u64 << 31), "80049508000000000000008a0500000080002e");
        check(json!(u64::MAX), "8004950c000000000000008a09ffffffffffffffff002e");
        check(json!(i64::MIN), "8004950b000000000000008a0800000000000000802e");
    }

    /// As `pickle.dumps(2**70, 4)` and so on; the texts are those of Python.
    #[test]
    fn marked_texts_are_integers_of_any_size() {
        let marked = |number: &str| json!(format!("{INTEGER}{number}"));
        check(marked("1180591620717411303424"), "8004950c000000000000008a090000000000000000402e");
        check(marked("-1180591620717411303424"), "8004950c000000000000008a090000000000000000c02e");
        check(marked("18446744073709551616"), "8004950c000000000000008a090000000000000000012e");
        check(marked("-9223372036854775809"), "8004950c000000000000008a09ffffffffffffff7fff2e");
        check(marked("-9223372036854775808"), "8004950b000000000000008a0800000000000000802e");
        check(json!(format!("{INTEGER}x")), "80049508000000000000008c04efb79078942e");
    }
}
