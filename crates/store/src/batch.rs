//! What one commit takes. Its texts lie one after the other in one piece of memory.
//!
//! A busy app makes thousands of small texts a second on one thread, and the writer would drop each of
//! them on another. Copied here they are dropped where they were made, which costs a fraction.

use std::ops::Range;

use crate::{
    callpoints::CallpointChange,
    calls::{AppRow, NewCall, SnapshotRow},
    cid::Cid,
    host::Host,
    limits,
    values::NewValue,
};

#[derive(Debug, Default)]
pub struct Batch {
    pub era: i64,
    /// The machine of the apps whose calls and live objects these are.
    pub host: Host,
    /// Values that are kept already and were used again.
    pub used: Vec<Cid>,
    pub snapshots: Vec<SnapshotRow>,
    pub apps: Vec<AppRow>,
    pub changes: Vec<CallpointChange>,
    values: Vec<PackedValue>,
    calls: Vec<PackedCall>,
    text: String,
    data: Vec<u8>,
}

#[derive(Debug)]
struct PackedValue {
    cid: Cid,
    format: &'static str,
    pretty: Option<Range<usize>>,
    data: PackedData,
}

#[derive(Debug)]
enum PackedData {
    Here(Range<usize>),
    /// Too large to be copied.
    Own(Vec<u8>),
}

#[derive(Debug)]
struct PackedCall {
    call_id: Range<usize>,
    process: Range<usize>,
    name: Range<usize>,
    kind: &'static str,
    status: Range<usize>,
    thread: Option<Range<usize>>,
    started_at: f64,
    completed_at: f64,
    line: Range<usize>,
    cids: Range<usize>,
    body: Range<usize>,
}

/// A value of a batch, to be written.
pub(crate) struct ValueRef<'b> {
    pub(crate) cid: Cid,
    pub(crate) format: &'static str,
    pub(crate) pretty: Option<&'b str>,
    pub(crate) data: &'b [u8],
}

/// A call of a batch, to be written.
pub(crate) struct CallRef<'b> {
    pub(crate) call_id: &'b str,
    pub(crate) process: &'b str,
    pub(crate) name: &'b str,
    pub(crate) kind: &'static str,
    pub(crate) status: &'b str,
    pub(crate) thread: Option<&'b str>,
    pub(crate) started_at: f64,
    pub(crate) completed_at: f64,
    pub(crate) line: &'b str,
    /// 64 bytes each.
    pub(crate) cids: &'b [u8],
    pub(crate) body: &'b str,
}

impl Batch {
    /// An empty one with room for as much as this one holds.
    pub fn next(&self) -> Batch {
        Batch {
            values: Vec::with_capacity(self.values.len()),
            calls: Vec::with_capacity(self.calls.len()),
            text: String::with_capacity(self.text.len()),
            data: Vec::with_capacity(self.data.len()),
            host: self.host.clone(),
            ..Batch::default()
        }
    }

    pub fn add_value(&mut self, value: NewValue) {
        let NewValue { cid, format, pretty, data } = value;
        let pretty = pretty.map(|pretty| self.put(&pretty));
        let data = match data.len() <= limits::COPIED_BYTES {
            true => PackedData::Here(self.put_data(&data)),
            false => PackedData::Own(data),
        };
        self.values.push(PackedValue { cid, format, pretty, data });
    }

    pub fn add_call(&mut self, call: &NewCall) {
        let from = self.data.len();
        for cid in &call.cids {
            self.data.extend_from_slice(&cid.0);
        }
        let packed = PackedCall {
            call_id: self.put(&call.call_id),
            process: self.put(&call.process),
            name: self.put(&call.name),
            kind: call.kind,
            status: self.put(&call.status),
            thread: call.thread.as_deref().map(|thread| self.put(thread)),
            started_at: call.started_at,
            completed_at: call.completed_at,
            line: self.put(&call.line),
            cids: from..self.data.len(),
            body: self.put(&call.body),
        };
        self.calls.push(packed);
    }

    /// How many calls it holds.
    pub fn calls_len(&self) -> usize {
        self.calls.len()
    }

    fn put(&mut self, text: &str) -> Range<usize> {
        let from = self.text.len();
        self.text.push_str(text);
        from..self.text.len()
    }

    fn put_data(&mut self, data: &[u8]) -> Range<usize> {
        let from = self.data.len();
        self.data.extend_from_slice(data);
        from..self.data.len()
    }

    fn text(&self, at: &Range<usize>) -> &str {
        self.text.get(at.clone()).unwrap_or_default()
    }

    fn data(&self, at: &Range<usize>) -> &[u8] {
        self.data.get(at.clone()).unwrap_or_default()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = ValueRef<'_>> {
        self.values.iter().map(|it| ValueRef {
            cid: it.cid,
            format: it.format,
            pretty: it.pretty.as_ref().map(|at| self.text(at)),
            data: match &it.data {
                PackedData::Here(at) => self.data(at),
                PackedData::Own(data) => data,
            },
        })
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = CallRef<'_>> {
        self.calls.iter().map(|it| CallRef {
            call_id: self.text(&it.call_id),
            process: self.text(&it.process),
            name: self.text(&it.name),
            kind: it.kind,
            status: self.text(&it.status),
            thread: it.thread.as_ref().map(|at| self.text(at)),
            started_at: it.started_at,
            completed_at: it.completed_at,
            line: self.text(&it.line),
            cids: self.data(&it.cids),
            body: self.text(&it.body),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut batch = Batch::default();
        let large = vec![7; limits::COPIED_BYTES + 1];
        for (number, data) in [(1, b"one".to_vec()), (2, Vec::new()), (3, large)] {
            let pretty = (number != 2).then(|| format!("\"{number}\""));
            batch.add_value(NewValue { cid: Cid([number; 64]), format: "dill", pretty, data });
        }
        let sizes =
            batch.values().map(|it| (it.cid.0[0], it.pretty.map(str::to_owned), it.data.len()));
        let expected = [
            (1, Some("\"1\"".to_owned()), 3),
            (2, None, 0),
            (3, Some("\"3\"".to_owned()), limits::COPIED_BYTES + 1),
        ];
        assert_eq!(sizes.collect::<Vec<_>>(), expected);
        for number in 0..2_u8 {
            batch.add_call(&NewCall {
                call_id: format!("c{number}"),
                process: "p".into(),
                name: "é".into(),
                kind: "call",
                status: String::new(),
                thread: (number == 1).then(|| "7".to_owned()),
                started_at: 1.0,
                completed_at: 2.0,
                line: "f() → 1".into(),
                cids: vec![Cid([number; 64]); usize::from(number)],
                body: "{}".into(),
            });
        }
        let calls: Vec<CallRef<'_>> = batch.calls().collect();
        assert_eq!((calls[0].call_id, calls[0].thread, calls[0].cids.len()), ("c0", None, 0));
        assert_eq!((calls[1].call_id, calls[1].thread), ("c1", Some("7")));
        assert_eq!((calls[1].name, calls[1].line, calls[1].body), ("é", "f() → 1", "{}"));
        assert_eq!(calls[1].cids, [1; 64]);
        assert_eq!(batch.next().calls_len(), 0);
    }
}
