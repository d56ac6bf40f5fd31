//! The newest events as messages, written once for all clients: in a burst every client is told the same.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use holdpoint_engine::{ids::Seq, limits, log::Record};

use super::message::{self, Text};

#[derive(Default)]
pub(crate) struct Written(Mutex<VecDeque<(Seq, Arc<[Text]>)>>);

impl Written {
    pub(super) fn of(&self, record: &Record) -> Arc<[Text]> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Their numbers are consecutive.
        let first = all.front().map_or(record.seq, |(seq, _)| *seq);
        let at = record.seq.0.checked_sub(first.0).and_then(|at| usize::try_from(at).ok());
        if let Some((_, texts)) = at.and_then(|at| all.get(at)) {
            return Arc::clone(texts);
        }
        let texts: Arc<[Text]> = message::of(record).into();
        // A client that is behind is told what it missed, and the others' messages stay.
        let Some(at) = at else { return texts };
        if at != all.len() {
            all.clear();
        }
        all.push_back((record.seq, Arc::clone(&texts)));
        if all.len() > limits::WRITTEN {
            all.pop_front();
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_engine::{event::Event, log::Log};

    use super::*;

    #[test]
    fn each_event_is_written_once_and_a_late_client_disturbs_nobody() {
        let log = Log::default();
        for number in 0..10 {
            log.append(Event::Note { text: number.to_string(), by: "test".into() });
        }
        let records = log.page(Seq::START, 10, |_| true).records;
        let written = Written::default();
        let once: Vec<_> = records[5..].iter().map(|record| written.of(record)).collect();
        let late = written.of(&records[0]);
        assert!(late[0].json.contains(r#""seq":1"#));
        for (record, once) in records[5..].iter().zip(&once) {
            assert!(Arc::ptr_eq(&written.of(record), once));
        }
        // After a gap it begins anew.
        let skipped = Written::default();
        skipped.of(&records[0]);
        let after = skipped.of(&records[7]);
        assert!(Arc::ptr_eq(&skipped.of(&records[7]), &after));
    }
}
