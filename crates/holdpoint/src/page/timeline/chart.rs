//! What of a timeline falls into a range, counted: at most one mark of a kind per part of a lane, however many events
//! there are.

use holdpoint_engine::limits;

use super::{
    asked::{AskedTimeline, TimeWindow},
    drawn::{DrawnTimeline, MarkShape, PlottedValues, TimeMark},
    groups::EventGroup,
    lanes::{LaneGroup, LaneSpan, SpanKind, TimeLane},
};

const BINS: usize = limits::PAGE_BINS;

/// Parts of a lane that one point of the rates stands for.
const RATE_BINS: usize = 3;

pub(super) struct TimeChart {
    pub(super) window: TimeWindow,
    /// By the place of their group.
    pub(super) counts: [usize; EventGroup::ALL.len()],
    pub(super) lanes: Vec<LaneChart>,
    /// Lanes that have nothing in this range, and those for which there is no room.
    pub(super) silent: usize,
    pub(super) calls: RateCurve,
    pub(super) hits: RateCurve,
    pub(super) plots: Vec<PlotChart>,
    pub(super) plots_more: usize,
    /// Numbers of the first event in the range, and of the last.
    pub(super) seqs: Option<(u64, u64)>,
}

/// How many a second.
pub(super) struct RateCurve {
    pub(super) each: Vec<f64>,
    pub(super) most: f64,
}

pub(super) struct LaneChart {
    pub(super) group: LaneGroup,
    pub(super) key: String,
    pub(super) name: String,
    pub(super) small: String,
    pub(super) events: usize,
    pub(super) calls: Vec<u32>,
    pub(super) hits: Vec<u32>,
    pub(super) ticks: Vec<bool>,
    pub(super) failed: Vec<bool>,
    pub(super) ended: Vec<bool>,
    pub(super) notes: Vec<(usize, String)>,
    pub(super) spans: Vec<SpanChart>,
}

/// What lasted, by the parts it covers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpanChart {
    pub(super) kind: SpanKind,
    pub(super) first: usize,
    pub(super) last: usize,
    /// It lasts still.
    pub(super) is_on: bool,
    pub(super) text: String,
}

/// A value over time: per part its least, its most and its last.
pub(super) struct PlotChart {
    pub(super) expression: String,
    pub(super) place: String,
    pub(super) session: String,
    pub(super) hits: usize,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) first: f64,
    pub(super) last: f64,
    pub(super) parts: Vec<Option<ValuePart>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ValuePart {
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) last: f64,
}

impl DrawnTimeline {
    pub(super) fn chart(&self, asked: &AskedTimeline) -> TimeChart {
        let (first, newest) = self.ends();
        let window = asked.window(first, newest);
        let is_over = self.run.is_some();
        let mut lanes: Vec<LaneChart> =
            self.lanes.iter().map(|it| LaneChart::of(it, window, is_over, asked)).collect();
        let mut counts = [0; EventGroup::ALL.len()];
        let (mut calls, mut hits) = (vec![0_u32; BINS], vec![0_u32; BINS]);
        let (mut seqs, mut before) = (None, 0);
        for mark in self.within(window) {
            let Some(part) = window.part(mark.at) else { continue };
            if !self.holds(&asked.text, mark.seq) {
                continue;
            }
            if mark.seq != before {
                if let Some(count) = counts.get_mut(mark.group.place()) {
                    *count += 1;
                }
                before = mark.seq;
            }
            let (low, high) = seqs.unwrap_or((mark.seq, mark.seq));
            seqs = Some((low.min(mark.seq), high.max(mark.seq)));
            match mark.shape {
                MarkShape::Hit => add(&mut hits, part, mark.count),
                _ if mark.group == EventGroup::Calls => add(&mut calls, part, mark.count),
                _ => {}
            }
            if asked.shows(mark.group)
                && let Some(lane) = lanes.get_mut(mark.lane)
            {
                lane.put(mark, part, self);
            }
        }
        let all = lanes.len();
        lanes.retain(|it| it.events > 0 || !it.spans.is_empty());
        lanes.sort_by_key(|it| it.group);
        lanes.truncate(limits::PAGE_LANES);
        let mut plots: Vec<PlotChart> = match asked.shows(EventGroup::Hits) {
            true => {
                let said = self
                    .plots
                    .iter()
                    .filter(|it| asked.says(&it.expression) || asked.says(&it.place));
                said.filter_map(|it| PlotChart::of(it, window)).collect()
            }
            false => Vec::new(),
        };
        let plots_more = plots.len().saturating_sub(limits::PAGE_PLOTS_SHOWN);
        // The newest are those that somebody just asked for.
        plots.drain(..plots_more);
        let silent = all - lanes.len();
        let rate = |each: &[u32]| RateCurve::of(each, window);
        let (calls, hits) = (rate(&calls), rate(&hits));
        TimeChart { window, counts, lanes, silent, calls, hits, plots, plots_more, seqs }
    }

    /// The marks that were told in a range, and a little after it: a program tells its hits later.
    fn within(&self, window: TimeWindow) -> impl Iterator<Item = &TimeMark> {
        const LATER: i64 = 5_000;
        let begin = self.marks.partition_point(|it| it.told < window.from);
        let end = window.to.saturating_add(LATER);
        self.marks.range(begin..).take_while(move |it| it.told < end)
    }
}

fn add(to: &mut [u32], part: usize, count: u32) {
    if let Some(there) = to.get_mut(part) {
        *there = there.saturating_add(count);
    }
}

fn set(to: &mut [bool], part: usize) {
    if let Some(there) = to.get_mut(part) {
        *there = true;
    }
}

impl LaneChart {
    fn of(lane: &TimeLane, window: TimeWindow, is_over: bool, asked: &AskedTimeline) -> LaneChart {
        LaneChart {
            group: lane.group,
            key: lane.key.clone(),
            name: lane.name.clone(),
            small: lane.small.clone(),
            events: 0,
            calls: vec![0; BINS],
            hits: vec![0; BINS],
            ticks: vec![false; BINS],
            failed: vec![false; BINS],
            ended: vec![false; BINS],
            notes: Vec::new(),
            spans: spans(lane, window, is_over, asked),
        }
    }

    fn put(&mut self, mark: &TimeMark, part: usize, of: &DrawnTimeline) {
        self.events += 1;
        match mark.shape {
            MarkShape::Tick => set(&mut self.ticks, part),
            MarkShape::Call => add(&mut self.calls, part, mark.count),
            MarkShape::Hit => add(&mut self.hits, part, mark.count),
            MarkShape::Failed => set(&mut self.failed, part),
            MarkShape::Ended => set(&mut self.ended, part),
            MarkShape::Note => {
                let text = of.notes.get(&mark.seq).cloned().unwrap_or_default();
                match self.notes.last_mut().filter(|(at, _)| *at == part) {
                    // Two in one place: both are said.
                    Some((_, there)) => *there = format!("{there}\n{text}"),
                    None => self.notes.push((part, text)),
                }
            }
            MarkShape::Span => {}
        }
    }
}

/// What lasted within a range: what shares its part with the one before it is drawn as one.
fn spans(
    lane: &TimeLane,
    window: TimeWindow,
    is_over: bool,
    asked: &AskedTimeline,
) -> Vec<SpanChart> {
    let mut drawn: Vec<SpanChart> = Vec::new();
    let seen = lane
        .spans
        .iter()
        .filter(|it| it.from < window.to && it.until.is_none_or(|until| until >= window.from));
    let is_asked = |it: &&LaneSpan| match it.kind {
        // That it ran says nothing of words.
        SpanKind::Runs => asked.text.is_empty(),
        kind => asked.shows(group(kind)) && asked.says(&it.text),
    };
    for span in seen.filter(is_asked) {
        let is_on = span.until.is_none() && !is_over;
        let (first, last) = (window.edge(span.from), window.edge(span.until.unwrap_or(window.to)));
        let before = drawn.iter_mut().rev().find(|it| it.kind == span.kind);
        match before.filter(|it| it.last >= first && !is_on && !it.is_on) {
            Some(before) => before.last = before.last.max(last),
            None => {
                let (kind, text) = (span.kind, span.text.clone());
                drawn.push(SpanChart { kind, first, last, is_on, text });
            }
        }
    }
    drawn
}

fn group(kind: SpanKind) -> EventGroup {
    match kind {
        SpanKind::Runs | SpanKind::Stopped => EventGroup::Stops,
        SpanKind::Paused => EventGroup::Pauses,
    }
}

impl RateCurve {
    fn of(each: &[u32], window: TimeWindow) -> RateCurve {
        let bins = f64::from(u32::try_from(BINS / RATE_BINS).unwrap_or(1));
        #[expect(
            clippy::cast_precision_loss,
            reason = "a range is far shorter than 2^53 milliseconds"
        )]
        let seconds = window.span() as f64 / 1_000.0 / bins;
        let rate = |bins: &[u32]| bins.iter().map(|it| f64::from(*it)).sum::<f64>() / seconds;
        let each: Vec<f64> = each.chunks(RATE_BINS).map(rate).collect();
        let most = each.iter().copied().fold(0.0, f64::max);
        RateCurve { each, most }
    }
}

impl PlotChart {
    fn of(plot: &PlottedValues, window: TimeWindow) -> Option<PlotChart> {
        let mut parts: Vec<Option<ValuePart>> = vec![None; BINS];
        let (mut hits, mut first, mut last) = (0, None, None);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for (at, value) in &plot.values {
            let Some(part) = window.part(*at).and_then(|it| parts.get_mut(it)) else { continue };
            hits += 1;
            (least, most) = (least.min(*value), most.max(*value));
            first = first.or(Some(*value));
            last = Some(*value);
            *part = Some(match *part {
                None => ValuePart { least: *value, most: *value, last: *value },
                Some(it) => ValuePart {
                    least: it.least.min(*value),
                    most: it.most.max(*value),
                    last: *value,
                },
            });
        }
        let (first, last) = (first?, last?);
        let PlottedValues { expression, place, session, .. } = plot;
        let (expression, place, session) = (expression.clone(), place.clone(), session.clone());
        Some(PlotChart { expression, place, session, hits, least, most, first, last, parts })
    }
}
