//! The requests of an app, written out: values that were never sent before, each under its hash.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha512};

/// Where the calls come from: three frames, as a small program has them.
const STACK: &str = r#"[{"filename":"/srv/shop/prices.py","lineno":41,"function":"total","code_context":"return sum(prices)"},{"filename":"/srv/shop/basket.py","lineno":17,"function":"pay","code_context":"amount = total(basket)"},{"filename":"/srv/shop/app.py","lineno":88,"function":"main","code_context":"pay(basket)"}]"#;

/// An app, as the server tells them apart.
#[derive(Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) start: f64,
}

impl Process {
    /// Of this very process, so that it is alive; `number` tells several apart.
    pub(super) fn number(number: u32) -> Self {
        Self { pid: std::process::id(), start: 1_700_000_000.0 + f64::from(number) }
    }

    pub(super) fn key(self) -> String {
        format!("{:.6}+{}", self.start, self.pid)
    }

    /// `value` is the only argument.
    pub(super) fn start_body(self, value: &Value) -> String {
        let Self { pid, start } = self;
        format!(
            r#"{{"method_name":"shop.price","args":[{}],"kwargs":{{}},"call_site":{{"timestamp":{:.6},"stack_trace":{STACK}}},"signature":"(order)","call_type":"inline","process_pid":{pid},"process_start_time":{start:.6},"preferred_format":"dill"}}"#,
            value.item(""),
            now(),
        )
    }

    pub(super) fn complete_body(self, call_id: &str, value: &Value) -> String {
        let Self { pid, start } = self;
        let item = value.item("result_");
        let item = item.trim_start_matches('{').trim_end_matches('}');
        format!(
            r#"{{"call_id":"{call_id}","status":"success","timestamp":{:.6},"process_pid":{pid},"process_start_time":{start:.6},{item}}}"#,
            now(),
        )
    }

    /// Calls that have ended, as one request.
    pub(super) fn batch_body(self, calls: &[Ended]) -> String {
        let Self { pid, start } = self;
        let mut values = String::new();
        let mut records = String::new();
        for Ended { argument, result, from, until } in calls {
            let comma = if records.is_empty() { "" } else { "," };
            // Writing to a string cannot fail.
            write!(values, "{comma}{},{}", argument.item(""), result.item("")).ok();
            write!(
                records,
                r#"{comma}{{"method_name":"shop.price","args":["{}"],"kwargs":{{}},"status":"success","result_cid":"{}","signature":"(order)","started_at":{from:.6},"completed_at":{until:.6},"thread_id":1,"thread_name":"MainThread","call_site":{{"timestamp":{from:.6},"stack_trace":{STACK}}}}}"#,
                argument.cid, result.cid,
            )
            .ok();
        }
        format!(
            r#"{{"process_pid":{pid},"process_start_time":{start:.6},"values":[{values}],"calls":[{records}]}}"#
        )
    }
}

/// A call that has ended, and when.
pub(super) struct Ended {
    pub(super) argument: Value,
    pub(super) result: Value,
    pub(super) from: f64,
    pub(super) until: f64,
}

/// A text as Python pickles it.
pub(super) struct Value {
    cid: String,
    data: String,
}

impl Value {
    pub(super) fn of(text: &str) -> Self {
        let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
        let text = text.as_bytes().get(..usize::from(length)).unwrap_or_default();
        let pickle = [b"\x80\x04\x8c".as_slice(), &[length], text, b"\x94."].concat();
        let mut cid = String::with_capacity(128);
        for byte in Sha512::digest(&pickle) {
            write!(cid, "{byte:02x}").ok();
        }
        Self { cid, data: base64(&pickle) }
    }

    fn item(&self, prefix: &str) -> String {
        let Self { cid, data } = self;
        format!(
            r#"{{"{prefix}cid":"{cid}","{prefix}data":"{data}","{prefix}serialization_format":"dill"}}"#
        )
    }
}

pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_usize, |word, at| {
            word << 8 | usize::from(chunk.get(at).copied().unwrap_or_default())
        });
        for at in 0..4 {
            let letter = LETTERS.get(word >> (18 - 6 * at) & 63).copied().unwrap_or(b'=');
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_python_sends() {
        // base64.b64encode(b"\x80\x04\x8c\x02hi\x94."), and the SHA-512 of those bytes.
        let value = Value::of("hi");
        assert_eq!(value.data, "gASMAmhplC4=");
        assert!(
            value.cid.starts_with("eef803e90df324e8") && value.cid.len() == 128,
            "{}",
            value.cid
        );
        assert_eq!((base64(b"a"), base64(b"ab")), ("YQ==".into(), "YWI=".into()));
    }

    #[test]
    fn bodies_are_json() {
        let process = Process::number(1);
        let value = Value::of("a");
        let ended =
            Ended { argument: Value::of("b"), result: Value::of("c"), from: 1.0, until: 2.0 };
        let again =
            Ended { argument: Value::of("d"), result: Value::of("e"), from: 1.0, until: 2.0 };
        let bodies = [
            process.start_body(&value),
            process.complete_body("7-001", &value),
            process.batch_body(&[ended, again]),
        ];
        for body in bodies {
            serde_json::from_str::<serde_json::Value>(&body).expect(&body);
        }
    }
}
