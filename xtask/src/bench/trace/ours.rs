//! The program under our server with a tracepoint, and what its client heard.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::super::Samples;
use super::super::client::{Server, StdioClient};
use super::super::line::Target;

/// Longer than any run.
const RUN_S: u32 = 120;
/// For what is still on its way when the program has ended.
const LATE_LIMIT: Duration = Duration::from_secs(30);

pub(super) struct Ours;

impl Ours {
    /// Runs the program to its end, with a server of its own: nothing is kept from run to run.
    pub(super) fn run(server: &Server, target: &Target, message: Option<&str>) -> Result<Heard> {
        let mut client = StdioClient::over_pipes(server)?;
        client.initialize()?;
        client.settle()?;
        if let Some(message) = message {
            let point = json!({ "file": target.file, "line": target.hit, "log_message": message });
            client.call("tracepoint_set", point)?;
        }
        let mut heard = Heard::default();
        let launch = json!({
            "program": target.file, "args": target.args, "interpreter": target.interpreter,
            "stop_on_entry": false, "timeout_s": RUN_S,
        });
        let mut hear = |line: &str| heard.hear(line);
        let result = client.call_hearing("debug_launch", launch, &mut hear)?;
        if result.pointer("/structuredContent/data/exit/code").and_then(Value::as_i64) != Some(0) {
            bail!("the program did not end well: {result}");
        }
        let hits: usize = match message {
            None => 0,
            Some(_) => target.args.first().context("no count")?.parse()?,
        };
        let deadline = Instant::now() + LATE_LIMIT;
        while heard.hits < hits && Instant::now() < deadline {
            // An answer that comes after them, asked for until they are all there.
            client.call_hearing("timeline_query", json!({ "since": u32::MAX }), &mut |line| {
                heard.hear(line)
            })?;
        }
        Ok(heard)
    }
}

/// The hits that reached the client.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) late: Samples,
    hits: usize,
    /// Of the last one; they are to come in order and without a hole.
    count: u64,
    seq: u64,
    disorder: Option<String>,
    first: Option<Duration>,
    last: Option<Duration>,
    rates: Vec<f64>,
}

impl Heard {
    fn hear(&mut self, line: &str) -> Result<()> {
        let now = now();
        let message: Value = serde_json::from_str(line).context("a notification")?;
        if message.get("method").and_then(Value::as_str) != Some("notifications/breakpoint/hit") {
            return Ok(());
        }
        let field = |name: &str| message.get("params").and_then(|it| it.get(name));
        if field("type").and_then(Value::as_str) != Some("tracepoint") {
            bail!("a hit that is none of a tracepoint: {line}");
        }
        let at = field("timestamp").and_then(Value::as_str).and_then(time_of_day);
        let at = at.with_context(|| format!("a hit without time: {line}"))?;
        self.late.0.push(now.saturating_sub(at));
        self.hits += 1;
        let number = |name: &str| field(name).and_then(Value::as_u64).unwrap_or(0);
        let (count, seq) = (number("hit_count"), number("seq"));
        if count != self.count + 1 || seq <= self.seq {
            self.disorder.get_or_insert_with(|| format!("hit {count} after {}", self.count));
        }
        (self.count, self.seq) = (count, seq);
        self.first.get_or_insert(at);
        self.last = Some(now);
        Ok(())
    }

    /// Every hit came, once and in order.
    pub(super) fn is_whole(&self, hits: usize) -> Result<()> {
        if self.hits != hits {
            bail!("the client heard {} of {hits} hits", self.hits);
        }
        match &self.disorder {
            Some(disorder) => bail!("{disorder}"),
            None => Ok(()),
        }
    }

    pub(super) fn add(&mut self, other: Heard) {
        if let (Some(first), Some(last)) = (other.first, other.last) {
            let span = last.saturating_sub(first).as_secs_f64();
            #[expect(clippy::cast_precision_loss, reason = "thousands")]
            self.rates.push(other.hits as f64 / span);
        }
        self.late.0.extend(other.late.0);
    }

    /// Hits per second from the first one to the last one's arrival, the median of the runs.
    pub(super) fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_unstable_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

const DAY_S: u64 = 24 * 60 * 60;

/// The time of day, by the clock that the program and the server read. A run over midnight is no run.
fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Duration::new(now.as_secs() % DAY_S, now.subsec_nanos())
}

/// The same of `2026-11-15T23:09:38.878833913Z`.
fn time_of_day(timestamp: &str) -> Option<Duration> {
    let mut parts = timestamp.split_once('T')?.1.strip_suffix('Z')?.split(':');
    let mut next = || parts.next()?.parse::<f64>().ok();
    let seconds = next()? * 3600.0 + next()? * 60.0 + next()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_is_read() {
        let time = time_of_day("2026-11-15T01:02:03.5Z");
        assert_eq!(time, Some(Duration::from_millis(3_723_500)));
        assert_eq!(time_of_day("yesterday"), None);
    }
}
