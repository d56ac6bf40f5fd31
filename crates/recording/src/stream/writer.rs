//! The reference writer: streams as the recorders in Python and JavaScript write them. For tests, and to make samples.

use std::collections::HashMap;

use super::{FunctionAt, Known, MAGIC, StreamRecord};
use crate::{bytes::put_number, datum::Datum};

/// Writes one stream; names are given once and known from then on.
#[derive(Debug, Clone, Default)]
pub struct StreamWriter {
    out: Vec<u8>,
    payload: Vec<u8>,
    known: Known,
    strings: HashMap<String, u32>,
    values: HashMap<Vec<u8>, u32>,
}

impl StreamWriter {
    pub fn new() -> Self {
        StreamWriter { out: MAGIC.to_vec(), ..StreamWriter::default() }
    }

    /// A record as it is; nothing is checked, so that wrong ones can be written, too.
    pub fn record(&mut self, record: &StreamRecord<'_>) -> &mut Self {
        record.write(&mut self.payload);
        // Beyond the bounds nothing is counted, and the reader refuses it.
        let noted = self.known.note(record);
        debug_assert!(noted.is_ok(), "{noted:?}");
        if self.payload.len() >= crate::limits::PACK {
            self.flush(0);
        }
        self
    }

    pub fn string(&mut self, text: &str) -> u32 {
        if let Some(number) = self.strings.get(text) {
            return *number;
        }
        let number = self.known.strings;
        self.record(&StreamRecord::String(text.into()));
        self.strings.insert(text.to_owned(), number);
        number
    }

    pub fn file(&mut self, path: &str) -> u32 {
        let number = self.known.files;
        self.record(&StreamRecord::File { path: path.into(), hash: [].as_slice().into() });
        number
    }

    /// `Cart.total` at lines 3 to 9 of a file, with its slots, of which the first are its parameters.
    pub fn function(
        &mut self,
        qualified: &str,
        at: (u32, u32, u32),
        parameters: u32,
        slots: &[&str],
    ) -> u32 {
        let number = self.known.parameters.len() as u32;
        let name = self.string(qualified.rsplit('.').next().unwrap_or(qualified));
        let qualified = self.string(qualified);
        let slots = slots.iter().map(|it| self.string(it)).collect();
        let (file, first_line, last_line) = at;
        self.record(&StreamRecord::Function(FunctionAt {
            name,
            qualified,
            file,
            first_line,
            last_line,
            flags: 0,
            parameters,
            slots,
        }));
        number
    }

    /// Equal ones are written once.
    pub fn value(&mut self, datum: &Datum) -> u32 {
        let mut bytes = Vec::new();
        datum.write(&mut bytes);
        if let Some(number) = self.values.get(&bytes) {
            return *number;
        }
        let number = self.known.values;
        self.record(&StreamRecord::Value(datum.clone()));
        self.values.insert(bytes, number);
        number
    }

    pub fn none(&mut self) -> u32 {
        self.value(&Datum::None)
    }

    pub fn integer(&mut self, number: i64) -> u32 {
        self.value(&Datum::Integer(number))
    }

    pub fn text(&mut self, text: &str) -> u32 {
        let chars = text.chars().count() as u64;
        self.value(&Datum::Text { chars, text: text.to_owned() })
    }

    pub fn call(&mut self, function: u32, arguments: &[u32]) -> u32 {
        let number = self.known.calls;
        let arguments = arguments.to_vec();
        self.record(&StreamRecord::Call { function, ticks: 1, arguments });
        number
    }

    pub fn lines(&mut self, deltas: &[i64]) -> &mut Self {
        for delta in deltas {
            self.record(&StreamRecord::Line(*delta));
        }
        self
    }

    pub fn write(&mut self, slot: u32, value: u32) -> &mut Self {
        self.record(&StreamRecord::Write { slot, value })
    }

    pub fn ret(&mut self, value: u32) -> &mut Self {
        self.record(&StreamRecord::Return { value, ticks: 1 })
    }

    /// Ends a chunk.
    pub fn flush(&mut self, written_ns: u64) -> &mut Self {
        let payload = std::mem::take(&mut self.payload);
        self.out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        self.out.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        self.out.extend_from_slice(&written_ns.to_le_bytes());
        self.out.extend_from_slice(&payload);
        self
    }

    /// What was written so far, in whole chunks; what follows goes on after it.
    pub fn take(&mut self) -> Vec<u8> {
        if !self.payload.is_empty() {
            self.flush(0);
        }
        std::mem::take(&mut self.out)
    }

    /// A raw number, to write what no recorder would.
    pub fn raw(&mut self, code: u8, numbers: &[u64]) -> &mut Self {
        self.payload.push(code);
        numbers.iter().for_each(|it| put_number(&mut self.payload, *it));
        self
    }
}
