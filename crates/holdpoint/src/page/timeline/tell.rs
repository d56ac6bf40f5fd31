//! From an event to its marks: which lane it belongs to, and what it looks like there. An event is read from its JSON
//! form, which is the same from the log and from the store.

use holdpoint_engine::{budget, event::EventKind, limits, timeline::Fact};
use serde_json::Value;

use super::{
    drawn::{DrawnTimeline, MarkShape, PlottedValues},
    lanes::{LaneGroup, SpanKind},
};

/// The lane of what nobody in particular did.
const OURSELVES: &str = "server";

/// Who is at this page, among the lanes.
pub(super) const YOU: &str = "you";

/// An event, and when it was told and happened.
pub(super) struct Telling<'a> {
    pub(super) kind: EventKind,
    pub(super) seq: u64,
    pub(super) told: i64,
    pub(super) at: i64,
    pub(super) data: &'a Value,
    pub(super) fact: &'a Fact,
}

impl Telling<'_> {
    fn word(&self, name: &str) -> &str {
        self.data.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, name: &str) -> u64 {
        self.data.get(name).and_then(Value::as_u64).unwrap_or_default()
    }

    /// As the list has it, short enough to hover over.
    fn text(&self) -> String {
        budget::cut(&self.fact.text(), limits::EVALUATION_TEXT / 5)
    }
}

/// Who did it, as a lane is called: a client by its name, the person, or we ourselves.
pub(super) fn doer(data: &Value) -> Option<&str> {
    match data.get("by")? {
        Value::String(name) if name == "a person" => Some(YOU),
        Value::String(name) => Some(name),
        by => match by.get("kind")?.as_str()? {
            "client" => by.get("name")?.as_str(),
            "person" => Some(YOU),
            _ => None,
        },
    }
}

impl DrawnTimeline {
    pub(super) fn tell(&mut self, of: &Telling<'_>) {
        match of.kind {
            EventKind::ServerStarted | EventKind::ServerStopping => {
                self.mark(of, LaneGroup::People, OURSELVES, MarkShape::Tick);
            }
            EventKind::CallsLost => {
                self.mark(of, LaneGroup::People, OURSELVES, MarkShape::Failed);
            }
            EventKind::FunctionRegistered
            | EventKind::BreakpointChanged
            | EventKind::CallpointChanged => self.done(of),
            EventKind::ClientConnected | EventKind::ClientLeft => self.client(of),
            EventKind::Note => {
                self.notes.insert(of.seq, of.text());
                self.mark(
                    of,
                    LaneGroup::People,
                    doer(of.data).unwrap_or(OURSELVES),
                    MarkShape::Note,
                );
            }
            EventKind::SessionStarted
            | EventKind::Stopped
            | EventKind::Resumed
            | EventKind::SessionEnded => self.program(of),
            EventKind::ControlChanged | EventKind::EditorSession | EventKind::Evaluated => {
                self.done(of);
            }
            EventKind::ProcessStarted
            | EventKind::ProcessEnded
            | EventKind::ThreadStarted
            | EventKind::ThreadEnded
            | EventKind::Output
            | EventKind::BreakpointBound
            | EventKind::BreakpointUnbound => {
                self.mark(of, LaneGroup::Sessions, of.word("session"), MarkShape::Tick);
            }
            EventKind::TracepointHit => {
                self.mark(of, LaneGroup::Sessions, of.word("session"), MarkShape::Hit);
                self.plot(of);
            }
            EventKind::ReplChanged => {
                let lane = self.caller("", of.word("function_name"));
                self.push(of, lane, MarkShape::Tick, 1);
            }
            EventKind::CallPaused | EventKind::CallResumed | EventKind::CallLost => self.pause(of),
            EventKind::CallCompleted => {
                let has_failed = matches!(of.word("status"), "exception" | "failed" | "error");
                let shape = if has_failed { MarkShape::Failed } else { MarkShape::Call };
                let lane = self.caller(of.word("process"), of.word("method_name"));
                self.push(of, lane, shape, 1);
            }
            EventKind::CallsCompleted => {
                let lane = self.caller("", of.word("last"));
                self.push(of, lane, MarkShape::Call, of.number("calls"));
            }
            EventKind::CallsDropped => {
                let lane = self.caller(of.word("process"), "");
                self.push(of, lane, MarkShape::Failed, of.number("calls"));
            }
            EventKind::ExternalServer | EventKind::ExternalLog => self.other(of),
        }
    }

    fn mark(&mut self, of: &Telling<'_>, group: LaneGroup, key: &str, shape: MarkShape) -> usize {
        let lane = self.lane(group, key);
        self.push(of, lane, shape, 1);
        lane
    }

    /// What somebody did.
    fn done(&mut self, of: &Telling<'_>) {
        let who = doer(of.data).unwrap_or(OURSELVES);
        self.mark(of, LaneGroup::People, who, MarkShape::Tick);
    }

    fn client(&mut self, of: &Telling<'_>) {
        let is_gone = of.kind == EventKind::ClientLeft;
        let shape = if is_gone { MarkShape::Ended } else { MarkShape::Tick };
        let lane = self.mark(of, LaneGroup::People, of.word("name"), shape);
        if let Some(lane) = self.at_lane(lane) {
            lane.small = of.word("transport").to_owned();
        }
    }

    fn program(&mut self, of: &Telling<'_>) {
        let session = of.word("session").to_owned();
        let shape = match of.kind {
            EventKind::SessionEnded => MarkShape::Ended,
            _ => MarkShape::Span,
        };
        let lane = self.mark(of, LaneGroup::Sessions, &session, shape);
        let text = of.text();
        if let Some(lane) = self.at_lane(lane) {
            match of.kind {
                EventKind::SessionStarted => {
                    lane.name = of.word("name").to_owned();
                    lane.small = session;
                    lane.begin(SpanKind::Runs, "", of.at, text);
                }
                EventKind::Stopped => lane.begin(SpanKind::Stopped, "", of.at, text),
                EventKind::Resumed => lane.end(SpanKind::Stopped, "", of.at),
                _ => {
                    lane.end(SpanKind::Stopped, "", of.at);
                    lane.end(SpanKind::Runs, "", of.at);
                }
            }
        }
        if let (EventKind::Resumed, Some(who)) = (of.kind, doer(of.data)) {
            self.mark(of, LaneGroup::People, who, MarkShape::Tick);
        }
    }

    fn pause(&mut self, of: &Telling<'_>) {
        let id = of.word("pause_id");
        if of.kind == EventKind::CallPaused {
            let lane = self.caller(of.word("process"), of.word("method_name"));
            self.push(of, lane, MarkShape::Span, 1);
            let text = of.text();
            if let Some(lane) = self.at_lane(lane) {
                lane.begin(SpanKind::Paused, id, of.at, text);
            }
            return;
        }
        for lane in &mut self.lanes {
            lane.end(SpanKind::Paused, id, of.at);
        }
        if of.kind == EventKind::CallLost {
            let lane = self.caller("", of.word("method_name"));
            self.push(of, lane, MarkShape::Failed, 1);
        } else {
            self.done(of);
        }
    }

    fn other(&mut self, of: &Telling<'_>) {
        let status = of.word("status");
        let shape = match status {
            "error" | "failed" => MarkShape::Failed,
            "disconnected" | "removed" => MarkShape::Ended,
            _ => MarkShape::Tick,
        };
        let lane = self.mark(of, LaneGroup::Servers, of.word("server"), shape);
        let text = of.text();
        let is_told = of.kind == EventKind::ExternalServer && status != "connecting";
        if let Some(lane) = self.at_lane(lane).filter(|_| is_told) {
            lane.end(SpanKind::Runs, "", of.at);
            if status == "connected" {
                lane.begin(SpanKind::Runs, "", of.at, text);
            }
        }
    }

    /// Whose call it is: an app's by its process, another server's by the tool's name. Where no process is said, the
    /// lane that had that function last.
    fn caller(&mut self, process: &str, function: &str) -> usize {
        if let Some((server, _)) = function.split_once('/').filter(|_| !process.contains('+')) {
            return self.lane(LaneGroup::Servers, server);
        }
        if process.is_empty() {
            let mut apps = self.lanes.iter().enumerate().rev();
            let of_name =
                apps.find(|(_, it)| it.group == LaneGroup::Apps && it.name == program(function));
            if let Some((lane, _)) = of_name {
                return lane;
            }
        }
        let lane = self.lane(LaneGroup::Apps, process);
        let name = program(function);
        if let Some(lane) = self.at_lane(lane) {
            if lane.small.is_empty() {
                lane.small = process.rsplit('+').next().unwrap_or_default().to_owned();
                lane.name = name.to_owned();
            } else if lane.name == SOME_APP {
                lane.name = name.to_owned();
            }
        }
        lane
    }

    /// Each expression of a tracepoint that is a number.
    fn plot(&mut self, of: &Telling<'_>) {
        let values = of.data.get("values").and_then(Value::as_array);
        for traced in values.into_iter().flatten() {
            let field = |name: &str| traced.get(name).and_then(Value::as_str);
            let Some((expression, value)) = field("expression").zip(field("value")) else {
                continue;
            };
            let Some(value) = value.parse::<f64>().ok().filter(|it| it.is_finite()) else {
                continue;
            };
            if let Some(plot) = self.plot_of(of, expression) {
                plot.values.push_back((of.at, value));
            }
        }
    }

    fn plot_of(&mut self, of: &Telling<'_>, expression: &str) -> Option<&mut PlottedValues> {
        let (session, point) = (of.word("session"), of.number("breakpoint"));
        let is_it = |it: &PlottedValues| {
            it.point == point && it.session == session && it.expression == expression
        };
        if let Some(at) = self.plots.iter().position(is_it) {
            return self.plots.get_mut(at);
        }
        if self.plots.len() >= limits::PAGE_PLOTS {
            return None;
        }
        let file = of.word("file").rsplit('/').next().unwrap_or_default();
        self.plots.push(PlottedValues {
            session: session.to_owned(),
            point,
            expression: expression.to_owned(),
            place: format!("{file}:{}", of.number("line")),
            values: std::collections::VecDeque::new(),
        });
        self.plots.last_mut()
    }
}

/// What an app is called of whose functions none says more.
const SOME_APP: &str = "app";

/// `shop` of `shop.till:charge`: what people call the app. A function without a module says nothing of it, and nor does
/// what a client tells of itself.
fn program(function: &str) -> &str {
    let module = function.split_once([':', '.']).map(|(module, _)| module);
    let is_its = |it: &&str| !it.is_empty() && *it != "with_debug" && !it.starts_with("__");
    module.filter(is_its).unwrap_or(SOME_APP)
}
