//! The ordered list of everything that happened, and the way everyone reads it.
//!
//! A bounded ring of numbered records plus a `watch` of its head, not a broadcast channel:
//! a late reader loses nothing that is still kept, and a slow one is told which numbers it lost.
//! A wake-up only says "look again", so a reader is at worst late, never wrong.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{event::Event, ids::Seq, limits, secrets::Secrets};

/// One event with its place and time. Cloning is cheap: readers share it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub seq: Seq,
    pub at: Timestamp,
    pub event: Arc<Event>,
}

impl Record {
    /// `{seq, at, kind, data}`: the one form of an event on every wire.
    pub fn to_json(&self) -> Value {
        let mut json = json!({ "seq": self.seq, "at": self.at.to_string() });
        // An event is an object of plain fields, so this cannot fail; if it ever did, seq and time stand.
        if let (Some(json), Ok(Value::Object(event))) =
            (json.as_object_mut(), serde_json::to_value(&*self.event))
        {
            json.extend(event);
        }
        json
    }
}

impl Record {
    /// The same as text, without building it first.
    pub fn to_text(&self) -> String {
        let Record { seq, at, event } = self;
        let (kind, data) = (event.kind().as_str(), self.data_text());
        format!(r#"{{"seq":{seq},"at":"{at}","kind":"{kind}","data":{data}}}"#)
    }

    /// What the event carries, as JSON text.
    pub fn data_text(&self) -> String {
        let event = serde_json::to_string(&*self.event).unwrap_or_default();
        // `{"kind":"…","data":…}`: an event is always an object, and no kind has such a name.
        let data = event.split_once(r#","data":"#).and_then(|(_, rest)| rest.strip_suffix('}'));
        data.unwrap_or("{}").to_owned()
    }
}

/// What a reader finds next.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    Record(Record),
    /// The numbers `first..=last` left the ring before this reader came to them.
    Gap {
        first: Seq,
        last: Seq,
    },
}

pub struct Log {
    ring: Mutex<Ring>,
    /// The number of the newest record. Changed only under the ring's lock, so it never goes back.
    head: watch::Sender<Seq>,
    bounds: Bounds,
    /// What is secret never enters: whoever reads the log may show all of it.
    secrets: Secrets,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    events: usize,
    bytes: usize,
}

#[derive(Default)]
struct Ring {
    /// Numbers are consecutive: record `i` has the number of the first plus `i`.
    records: VecDeque<Record>,
    bytes: usize,
    last: Seq,
}

/// A page of the past, oldest first.
#[derive(Debug, PartialEq)]
pub struct LogPage {
    pub records: Vec<Record>,
    /// Numbers asked for that are no longer kept.
    pub gap: Option<(Seq, Seq)>,
    /// How many more records match behind this page.
    pub more: usize,
    /// The newest number at the time of reading.
    pub head: Seq,
}

impl Default for Log {
    fn default() -> Self {
        Log::bounded(limits::LOG_EVENTS, limits::LOG_BYTES)
    }
}

impl Log {
    pub(crate) fn bounded(events: usize, bytes: usize) -> Self {
        Log {
            ring: Mutex::default(),
            head: watch::Sender::new(Seq::START),
            bounds: Bounds { events: events.max(1), bytes },
            secrets: Secrets::default(),
        }
    }

    pub fn keeping(secrets: Secrets) -> Self {
        Log { secrets, ..Log::default() }
    }

    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub fn append(&self, mut event: Event) -> Seq {
        event.conceal(&self.secrets);
        let mut ring = self.ring();
        let seq = ring.last.next();
        ring.push(Record { seq, at: Timestamp::now(), event: Arc::new(event) });
        ring.trim(self.bounds);
        self.head.send_replace(seq);
        seq
    }

    /// Appends several at once, next to each other; readers are woken once.
    pub fn append_all(&self, events: impl IntoIterator<Item = Event>) {
        let conceal = |mut event: Event| {
            event.conceal(&self.secrets);
            event
        };
        let events: Vec<Event> = events.into_iter().map(conceal).collect();
        let mut ring = self.ring();
        let before = ring.last;
        for event in events {
            let seq = ring.last.next();
            ring.push(Record { seq, at: Timestamp::now(), event: Arc::new(event) });
            ring.trim(self.bounds);
        }
        if ring.last != before {
            self.head.send_replace(ring.last);
        }
    }

    /// The number of the newest record; 0 when nothing has happened.
    pub fn head(&self) -> Seq {
        *self.head.borrow()
    }

    /// The same, to be waited for: readers that look at what is true now, not at each record.
    pub fn watch(&self) -> watch::Receiver<Seq> {
        self.head.subscribe()
    }

    /// The oldest number that is kept; the next one when nothing is.
    pub fn first(&self) -> Seq {
        self.ring().first()
    }

    /// Up to `limit` records after `since` that `wanted` accepts.
    pub fn page(&self, since: Seq, limit: usize, wanted: impl Fn(&Record) -> bool) -> LogPage {
        let ring = self.ring();
        let gap = ring.gap_after(since);
        let mut matching = ring.after(since).filter(|record| wanted(record));
        let records: Vec<Record> = matching.by_ref().take(limit).cloned().collect();
        let more = matching.count();
        LogPage { records, gap, more, head: ring.last }
    }

    /// The place from which the newest `limit` matching records are one page.
    pub fn before_newest(&self, limit: usize, wanted: impl Fn(&Record) -> bool) -> Seq {
        let ring = self.ring();
        let mut matching = ring.records.iter().rev().filter(|record| wanted(record));
        matching.nth(limit).map_or(Seq::START, |record| record.seq)
    }

    /// Reads on from the record after `since`.
    pub fn reader(self: &Arc<Self>, since: Seq) -> Reader {
        Reader { log: Arc::clone(self), since, head: self.head.subscribe() }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // The ring is consistent between statements; a panic elsewhere does not spoil it.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, record: Record) {
        self.bytes += record.event.weight();
        self.last = record.seq;
        self.records.push_back(record);
    }

    /// The newest record always stays, however large.
    fn trim(&mut self, bounds: Bounds) {
        while self.records.len() > 1
            && (self.records.len() > bounds.events || self.bytes > bounds.bytes)
        {
            if let Some(old) = self.records.pop_front() {
                self.bytes -= old.event.weight();
            }
        }
    }

    fn first(&self) -> Seq {
        self.records.front().map_or(self.last.next(), |record| record.seq)
    }

    fn gap_after(&self, since: Seq) -> Option<(Seq, Seq)> {
        let first = self.first();
        (since.next() < first).then(|| (since.next(), Seq(first.0 - 1)))
    }

    fn after(&self, since: Seq) -> impl Iterator<Item = &Record> {
        let skip = since.next().0.saturating_sub(self.first().0);
        self.records.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX))
    }
}

pub struct Reader {
    log: Arc<Log>,
    since: Seq,
    head: watch::Receiver<Seq>,
}

impl Reader {
    /// Waits for something new, then takes up to `limit` reads. Never empty.
    /// Dropping the future loses nothing.
    pub async fn batch(&mut self, limit: usize) -> Vec<Read> {
        loop {
            self.ready().await;
            let reads = self.take(limit);
            if !reads.is_empty() {
                return reads;
            }
        }
    }

    /// Returns when there is something to take.
    pub async fn ready(&mut self) {
        let since = self.since;
        // Cannot fail: the sender lives in the log, which this reader keeps alive.
        if self.head.wait_for(|head| since < *head).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The last number this reader has read or named.
    pub fn place(&self) -> Seq {
        self.since
    }

    /// What is there now, without waiting.
    pub fn take(&mut self, limit: usize) -> Vec<Read> {
        let page = self.log.page(self.since, limit, |_| true);
        let gap = page.gap.map(|(first, last)| Read::Gap { first, last });
        if let Some((_, last)) = page.gap {
            self.since = last;
        }
        if let Some(record) = page.records.last() {
            self.since = record.seq;
        }
        gap.into_iter().chain(page.records.into_iter().map(Read::Record)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::event::EventKind;

    fn note(text: &str) -> Event {
        Event::Note { text: text.into(), by: "test".into() }
    }

    fn numbers(reads: &[Read]) -> Vec<String> {
        let text = |read: &Read| match read {
            Read::Record(record) => record.seq.to_string(),
            Read::Gap { first, last } => format!("gap {first}-{last}"),
        };
        reads.iter().map(text).collect()
    }

    #[test]
    fn a_record_on_the_wire() {
        let log = Arc::new(Log::default());
        log.append(note("x"));
        let json = log.page(Seq::START, 1, |_| true).records[0].to_json();
        assert_eq!((&json["seq"], &json["kind"]), (&json!(1), &json!("note")));
        assert_eq!(json["data"], json!({ "text": "x", "by": "test" }));
        assert!(json["at"].as_str().unwrap().ends_with('Z'));
        let text = log.page(Seq::START, 1, |_| true).records[0].to_text();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json);
    }

    #[test]
    fn a_late_reader_loses_nothing_within_the_ring() {
        let log = Arc::new(Log::bounded(8, usize::MAX));
        for _ in 0..5 {
            log.append(note("x"));
        }
        assert_eq!(numbers(&log.reader(Seq(2)).take(10)), ["3", "4", "5"]);
        assert_eq!(numbers(&log.reader(Seq(5)).take(10)), [""; 0]);
    }

    #[test]
    fn an_overrun_is_named_not_hidden() {
        let log = Arc::new(Log::bounded(4, usize::MAX));
        for _ in 0..10 {
            log.append(note("x"));
        }
        let mut reader = log.reader(Seq(2));
        assert_eq!(numbers(&reader.take(3)), ["gap 3-6", "7", "8", "9"]);
        assert_eq!(numbers(&reader.take(3)), ["10"]);
    }

    #[test]
    fn a_large_event_pushes_old_ones_out() {
        let log = Arc::new(Log::bounded(100, 1_000));
        for _ in 0..4 {
            log.append(note("small"));
        }
        log.append(note(&"x".repeat(5_000)));
        assert_eq!(numbers(&log.reader(Seq::START).take(10)), ["gap 1-4", "5"]);
    }

    /// Its weight leaves with it: else every later event would push out the one before.
    #[test]
    fn after_a_large_event_small_ones_are_kept_again() {
        let log = Arc::new(Log::bounded(100, 1_000));
        log.append(note(&"x".repeat(5_000)));
        for _ in 0..3 {
            log.append(note("small"));
        }
        assert_eq!(numbers(&log.reader(Seq::START).take(10)), ["gap 1-1", "2", "3", "4"]);
    }

    #[tokio::test]
    async fn several_at_once_are_bounded_and_wake_who_waits() {
        let log = Arc::new(Log::bounded(4, usize::MAX));
        let mut reader = log.reader(Seq::START);
        log.append_all([]);
        assert_eq!(log.head(), Seq::START);
        log.append_all((0..6).map(|_| note("x")));
        let seen = tokio::time::timeout(Duration::from_secs(5), reader.batch(9)).await.unwrap();
        assert_eq!(numbers(&seen), ["gap 1-2", "3", "4", "5", "6"]);
    }

    /// Ready means that there is something: else who waits would never rest.
    #[tokio::test]
    async fn nothing_new_is_not_ready() {
        let log = Arc::new(Log::bounded(4, usize::MAX));
        log.append(note("x"));
        for (since, expected) in [(Seq::START, true), (Seq(1), false), (Seq(9), false)] {
            let mut reader = log.reader(since);
            let is_ready = tokio::select! {
                biased;
                () = reader.ready() => true,
                () = std::future::ready(()) => false,
            };
            assert_eq!(is_ready, expected, "since {since}");
        }
    }

    #[test]
    fn a_reader_from_the_future_waits_for_it() {
        let log = Arc::new(Log::bounded(4, usize::MAX));
        log.append(note("x"));
        let page = log.page(Seq(99), 10, |_| true);
        assert_eq!((page.records.len(), page.gap, page.head), (0, None, Seq(1)));
    }

    #[test]
    fn a_page_counts_what_is_behind_it() {
        let log = Arc::new(Log::bounded(100, usize::MAX));
        log.append(Event::ServerStopping { reason: "test".into() });
        for _ in 0..5 {
            log.append(note("x"));
        }
        let page = log.page(Seq::START, 2, |it| it.event.kind() == EventKind::Note);
        assert_eq!((page.records.len(), page.more), (2, 3));
        assert_eq!(log.before_newest(2, |it| it.event.kind() == EventKind::Note), Seq(4));
        assert_eq!(log.before_newest(9, |_| true), Seq::START);
    }

    /// The classic lost wake-up: take the cursor, act, then wait.
    #[tokio::test]
    async fn an_event_between_act_and_wait_is_seen() {
        let log = Arc::new(Log::bounded(64, usize::MAX));
        for _ in 0..500 {
            let since = log.head();
            let writer = Arc::clone(&log);
            let other = std::thread::spawn(move || writer.append(note("stopped")));
            let mut reader = log.reader(since);
            let seen = tokio::time::timeout(Duration::from_secs(5), reader.batch(1)).await.unwrap();
            assert_eq!(numbers(&seen), [since.next().to_string()]);
            other.join().unwrap();
        }
    }

    proptest! {
        /// Whatever the sizes and the pace, a reader accounts for every number once, in order.
        #[test]
        fn every_number_is_read_or_named(
            cap in 1usize..20, steps in prop::collection::vec((0usize..30, 1usize..10), 1..30),
        ) {
            let log = Arc::new(Log::bounded(cap, usize::MAX));
            let mut reader = log.reader(Seq::START);
            let mut expected = 1;
            for (appends, takes) in steps {
                for _ in 0..appends { log.append(note("x")); }
                for read in reader.take(takes) {
                    match read {
                        Read::Record(record) => {
                            prop_assert_eq!(record.seq.0, expected);
                            expected += 1;
                        }
                        Read::Gap { first, last } => {
                            prop_assert_eq!(first.0, expected);
                            prop_assert!(first <= last);
                            expected = last.0 + 1;
                        }
                    }
                }
            }
            reader.take(usize::MAX).iter().for_each(|read| match read {
                Read::Record(_) => expected += 1,
                Read::Gap { last, .. } => expected = last.0 + 1,
            });
            prop_assert_eq!(expected, log.head().0 + 1);
        }
    }
}
