//! Dates and times. Their pickles are a few bytes; `repr` is what a Python user knows.

use super::{Bytes, Value, known::Call};
use crate::{
    node::{Id, Node},
    pickle::Pickle,
    render::literal,
};

impl Pickle<'_> {
    pub(super) fn clock<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        let text = match (call.name.name, call.args) {
            ("date", [state]) => self.date(*state)?,
            ("datetime", [state, zone @ ..]) => self.datetime(*state, zone.first().copied())?,
            ("time", [state, zone @ ..]) => self.time(*state, zone.first().copied())?,
            ("timedelta", [days, seconds, micros]) => self.timedelta(*days, *seconds, *micros)?,
            ("timezone", [offset, ..]) => self.timezone(*offset)?,
            _ => return None,
        };
        Some(Value::Atom { class: call.name, text })
    }

    /// The bytes of a date or time, also as older protocols and Python 2 write them.
    fn clock_bytes<const N: usize>(&self, id: Id) -> Option<[u8; N]> {
        let bytes = match self.text(id) {
            Some(text) => Bytes::Latin1(text),
            None => self.bytes_like(id)?,
        };
        let (bytes, _) = bytes.ends(N + 1, 0);
        bytes.try_into().ok()
    }

    fn date(&self, state: Id) -> Option<String> {
        let [high, low, month, day] = self.clock_bytes(state)?;
        Some(format!("datetime.date({}, {month}, {day})", u16::from_be_bytes([high, low])))
    }

    fn datetime(&self, state: Id, zone: Option<Id>) -> Option<String> {
        let [high, low, month, day, hour, minute, second, a, b, c] = self.clock_bytes(state)?;
        let year = u16::from_be_bytes([high, low]);
        let micros = u32::from_be_bytes([0, a, b, c]);
        let mut text =
            format!("datetime.datetime({year}, {}, {day}, {hour}, {minute}", month & 0x7f);
        push_seconds(&mut text, second, micros);
        self.push_zone(&mut text, month >= 0x80, zone);
        Some(text)
    }

    fn time(&self, state: Id, zone: Option<Id>) -> Option<String> {
        let [hour, minute, second, a, b, c] = self.clock_bytes(state)?;
        let micros = u32::from_be_bytes([0, a, b, c]);
        let mut text = format!("datetime.time({}, {minute}", hour & 0x7f);
        push_seconds(&mut text, second, micros);
        self.push_zone(&mut text, hour >= 0x80, zone);
        Some(text)
    }

    fn push_zone(&self, text: &mut String, fold: bool, zone: Option<Id>) {
        if fold {
            text.push_str(", fold=1");
        }
        if let Some(zone) = zone.filter(|zone| *self.node(*zone) != Node::None) {
            text.push_str(", tzinfo=");
            // One level: a zone that is not known by its text is named by its class.
            match self.zone(zone) {
                Some(zone) => text.push_str(&zone),
                None => text.push('…'),
            }
        }
        text.push(')');
    }

    fn zone(&self, id: Id) -> Option<String> {
        let object = self.object(id)?;
        let name = self.name(object.callable)?;
        match (name.module, name.name, self.tuple(object.args)) {
            ("datetime", "timezone", [offset, ..]) => self.timezone(*offset),
            ("zoneinfo", "_unpickle", [key, ..]) => {
                let key = self.text(*key).filter(|key| key.len() < 256)?;
                Some(format!("zoneinfo.ZoneInfo(key={})", literal::string(key)))
            }
            _ => Some(format!("<{name}>")),
        }
    }

    fn timezone(&self, offset: Id) -> Option<String> {
        let [days, seconds, micros] = self.tuple(self.object(offset)?.args) else { return None };
        if [days, seconds, micros].map(|part| self.int(*part)) == [Some(0); 3] {
            return Some("datetime.timezone.utc".to_owned());
        }
        Some(format!("datetime.timezone({})", self.timedelta(*days, *seconds, *micros)?))
    }

    fn timedelta(&self, days: Id, seconds: Id, micros: Id) -> Option<String> {
        let parts =
            [("days", days), ("seconds", seconds), ("microseconds", micros)].map(|(name, id)| {
                self.int(id).map(|int| if int == 0 { None } else { Some(format!("{name}={int}")) })
            });
        let mut shown = Vec::new();
        for part in parts {
            shown.extend(part?);
        }
        let text = if shown.is_empty() { "0".to_owned() } else { shown.join(", ") };
        Some(format!("datetime.timedelta({text})"))
    }
}

/// Python leaves out what is zero, from the end.
fn push_seconds(text: &mut String, second: u8, micros: u32) {
    if micros != 0 {
        text.push_str(&format!(", {second}, {micros}"));
    } else if second != 0 {
        text.push_str(&format!(", {second}"));
    }
}
