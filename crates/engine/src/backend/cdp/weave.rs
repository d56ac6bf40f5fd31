//! Tracepoints in the program's own text, of which V8 knows nothing: those that were set before it began, at statements
//! that a call can stand in (`holdpoint_instrument`). A hit costs a microsecond where a condition costs hundreds.
//!
//! V8 has such a point first, as it has every other, and it is taken out when its file is known to be loaded with the call
//! in it. A pass that V8's condition has counted is not counted by the call behind it, so none is lost and none comes twice.
//! The text that is shown, and columns, stay those of the file; what was put in is passed by steps.

use std::{path::PathBuf, sync::Arc};

use holdpoint_cdp::{
    Inserted, Position, UserFile,
    types::{
        ScriptId,
        debugger::{ScriptPosition, SetBlackboxedRanges},
        runtime::Evaluate,
    },
};
use holdpoint_instrument::WovenPoint;
use serde_json::Value;

use super::{
    Cdp, breakpoints,
    points::Point,
    traces,
    watch::{Unheard, Watch},
};
use crate::{
    backend::{Binding, Signal, TraceWay, Wanted},
    breakpoints::{Breakpoint, hits::HitTest},
    failure::Failure,
    ids::BreakpointId,
    limits,
    nouns::Stream,
    template::Template,
};

/// The texts of a program that have tracepoints in them.
#[derive(Default)]
pub struct WovenTexts(pub Vec<WovenText>);

pub struct WovenText {
    /// By its real path.
    pub file: PathBuf,
    pub source: String,
    pub inserted: Arc<Inserted>,
    /// What is in it, and of which count each was when the program began: what is set again while it runs is V8's.
    pub points: Vec<(WovenPoint, u64)>,
}

impl WovenTexts {
    fn of(&self, file: &UserFile) -> Option<&WovenText> {
        self.0.iter().find(|it| it.file == file.real())
    }
}

/// What a breakpoint would be in a text: none where it is no tracepoint, or one that may not end, which only a stop tells.
fn as_woven(wanted: &Wanted) -> Option<WovenPoint> {
    let tracing = wanted.trace.as_ref()?;
    let condition = wanted.condition.clone();
    let is_sure = traces::risks(condition.as_deref(), tracing) == 0;
    if !is_sure || tracing.is_mark || wanted.column.is_some() {
        return None;
    }
    let expressions = tracing.template.iter().flat_map(Template::expressions);
    Some(WovenPoint {
        id: u64::try_from(wanted.id.0).ok()?,
        line: wanted.line,
        condition,
        expressions: expressions.map(str::to_owned).collect(),
    })
}

/// The same with its count.
pub fn counted(wanted: &Wanted) -> Option<(WovenPoint, u64)> {
    Some((as_woven(wanted)?, wanted.trace.as_ref()?.generation))
}

impl Cdp {
    /// How a tracepoint works in this thread.
    pub fn trace_way(&self, breakpoint: &Breakpoint) -> TraceWay {
        match self.points().is_woven(breakpoint.id) {
            true => TraceWay::Woven,
            false => traces::trace_way(breakpoint),
        }
    }

    /// Whether the program's text has a tracepoint that V8 has not.
    pub(super) fn has_woven(&self) -> bool {
        !self.known.woven.0.is_empty()
            && self.points().files.values().flatten().any(|it| it.is_woven)
    }

    /// The text of a script as its file has it, where something of ours was put into it.
    pub(super) fn unwoven(&self, script: &ScriptId) -> Option<String> {
        let sources = self.known.sources.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sources.inserted(script)?;
        let file = UserFile::new(sources.scripts().get(script)?.file()?);
        self.known.woven.of(&file).map(|it| it.source.clone())
    }

    /// Where a place of a file is in what is or will be loaded of it.
    pub(super) fn in_woven(&self, file: &UserFile, at: Position) -> Position {
        let Some(text) = self.known.woven.of(file).filter(|_| at.column().is_some()) else {
            return at;
        };
        let sources = self.known.sources.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let loaded = sources.scripts().of_file(file);
        let is_woven = loaded.iter().all(|it| sources.inserted(&it.id).is_some());
        if is_woven { text.inserted.generated(at) } else { at }
    }
}

/// Takes V8's part out of the tracepoints that the program's own text has by now.
pub(super) async fn release(cdp: &Cdp) -> Result<(), Failure> {
    if cdp.known.woven.0.is_empty() {
        return Ok(());
    }
    let _order = cdp.known.order.lock().await;
    release_in_order(cdp).await
}

/// The same for whom it is no matter.
pub(super) async fn released(cdp: &Cdp) {
    if let Err(failure) = release(cdp).await {
        tracing::debug!(%failure, "a tracepoint stays with V8");
    }
}

/// The same for who changes breakpoints already.
pub(super) async fn release_in_order(cdp: &Cdp) -> Result<(), Failure> {
    if cdp.known.woven.0.is_empty() || !cdp.traces().has_helper {
        return Ok(());
    }
    for (file, mut point) in breakpoints::every(cdp) {
        let user_file = UserFile::new(&file);
        // What stops on its line is to find the pass counted, so V8 does both there.
        let has_stop = cdp.points().stops_on(&file, point.wanted.line);
        if point.is_woven && has_stop {
            let again = breakpoints::place(cdp, &user_file, &point.wanted).await?;
            breakpoints::change(cdp, &file, Vec::new(), &again).await?;
            continue;
        }
        if has_stop || !is_carried(cdp, &user_file, &point) || !begin(cdp, &point.wanted).await {
            continue;
        }
        let parts = std::mem::take(&mut point.parts);
        point.is_woven = true;
        breakpoints::change(cdp, &file, parts, &point).await?;
    }
    Ok(())
}

/// Whether all that is loaded of its file has the point in it.
fn is_carried(cdp: &Cdp, file: &UserFile, point: &Point) -> bool {
    let Some(text) = cdp.known.woven.of(file).filter(|_| !point.is_woven && !point.is_function)
    else {
        return false;
    };
    let is_there = counted(&point.wanted).is_some_and(|it| text.points.contains(&it));
    let is_bound = matches!(point.binding, Binding::At { line, .. } if line == point.wanted.line);
    let is_own = point.parts.iter().all(|it| it.through.is_none());
    if !is_there || !is_bound || !is_own {
        return false;
    }
    let sources = cdp.known.sources.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let loaded = sources.scripts().of_file(file);
    !loaded.is_empty() && loaded.iter().all(|it| sources.inserted(&it.id).is_some())
}

/// From here on the call in the text counts and tells; `false` where it cannot.
async fn begin(cdp: &Cdp, wanted: &Wanted) -> bool {
    let Some(tracing) = &wanted.trace else { return false };
    let test = match wanted.hit_condition.as_deref().map(HitTest::parse).transpose() {
        Ok(test) => test.map_or_else(|| "null".to_owned(), |it| format!("n => {}", it.as_test())),
        Err(_) => return false,
    };
    let (id, line, generation) = (wanted.id, wanted.line, tracing.generation);
    let (multiple, max, is_literal) = (tracing.multiple, tracing.max, tracing.is_literal);
    let expression = format!(
        "globalThis[Symbol.for('holdpoint')]?.weave?.\
             ({id}, {generation}, {line}, {multiple}, {max}, {test}, {is_literal})"
    );
    let command =
        Evaluate { expression, silent: true, return_by_value: true, ..Evaluate::default() };
    let answer = cdp.ask(command).await;
    answer.is_ok_and(|it| it.result.value == Some(Value::Bool(true)))
}

/// A point is gone, or is another: what is in the text says nothing any more.
pub(super) async fn end(cdp: &Cdp, id: BreakpointId) -> Result<(), Failure> {
    let expression = format!("globalThis[Symbol.for('holdpoint')]?.unweave?.({id})");
    cdp.ask(Evaluate { expression, silent: true, ..Evaluate::default() }).await.map(drop)
}

impl Watch {
    /// A script of a file that has tracepoints in it was loaded: with them, or as it is.
    pub(super) async fn woven(&self, script: &ScriptId) -> Result<(), Unheard> {
        if self.cdp.known.woven.0.is_empty() {
            return Ok(());
        }
        let (inserted, file) = {
            let sources = self.cdp.known.sources.lock();
            let sources = sources.unwrap_or_else(std::sync::PoisonError::into_inner);
            let file = sources.scripts().get(script).and_then(|it| it.file().map(PathBuf::from));
            (sources.inserted(script).cloned(), file)
        };
        match (inserted, file) {
            (Some(inserted), _) => {
                self.cdp.traces().unpassed.push((script.clone(), inserted));
                Ok(())
            }
            (None, Some(file)) => self.reloaded(&UserFile::new(&file)).await,
            (None, None) => Ok(()),
        }
    }

    /// Before anything comes of a stop: steps that begin at it pass what was put into scripts. Not sooner: V8 ends the
    /// program where it takes a command on the way into a function that it is to stop in.
    pub(super) async fn pass_by(&self) {
        let unpassed = std::mem::take(&mut self.cdp.traces().unpassed);
        for (script, inserted) in unpassed {
            pass_by(&self.cdp, &script, &inserted).await;
        }
    }

    /// The program stands before the first statement of a text that may have tracepoints in it.
    pub(super) async fn begun(&self) {
        if self.cdp.known.woven.0.is_empty() {
            return;
        }
        // Whoever changes breakpoints at this time may need longer; then V8's part goes when it can.
        let it = self.cdp.clone();
        let (done, is_done) = tokio::sync::oneshot::channel::<()>();
        self.cdp.known.tasks.spawn(async move {
            released(&it).await;
            drop(done);
        });
        if tokio::time::timeout(limits::WOVEN_RELEASE, is_done).await.is_err() {
            tracing::debug!("tracepoints are V8's for a while");
        }
    }

    /// A text without the tracepoints came after one with them: V8 has them again.
    async fn reloaded(&self, file: &UserFile) -> Result<(), Unheard> {
        let order = self.cdp.known.order.lock().await;
        let mut ids = Vec::new();
        for (path, point) in breakpoints::every(&self.cdp) {
            if !point.is_woven || !file.is(&path, &path) {
                continue;
            }
            match breakpoints::place(&self.cdp, file, &point.wanted).await {
                Ok(again) => {
                    if let Err(failure) =
                        breakpoints::change(&self.cdp, &path, Vec::new(), &again).await
                    {
                        tracing::debug!(%failure, "a tracepoint is not as it is said to be");
                    }
                }
                Err(failure) => tracing::debug!(%failure, "a tracepoint is not set again"),
            }
            ids.push(point.wanted.id.to_string());
        }
        drop(order);
        if ids.is_empty() {
            return Ok(());
        }
        let text = format!(
            "tracepoint {}: `{}` was loaded again, as another text; what it did in its first moment may not have been \
             counted\n",
            ids.join(", "),
            file.real().display()
        );
        self.tell(Signal::Output { stream: Stream::Debugger, text }).await
    }
}

/// Steps pass what was put into a script, and what is thrown in there is nobody's.
async fn pass_by(cdp: &Cdp, script: &ScriptId, inserted: &Inserted) {
    let place = |line_number, column_number| ScriptPosition { line_number, column_number };
    let ranges = inserted.ranges().into_iter();
    let positions = ranges.flat_map(|(line, from, to)| [place(line, from), place(line, to)]);
    let command = SetBlackboxedRanges { script_id: script.clone(), positions: positions.collect() };
    if let Err(failure) = cdp.ask(command).await {
        tracing::debug!(%failure, "a step may stop at a tracepoint");
    }
}

/// Says now and then how far we are: a program that is faster waits.
pub(super) fn took(cdp: &Cdp) {
    let taken = {
        let mut traces = cdp.traces();
        traces.taken += 1;
        traces.taken
    };
    if cdp.known.woven.0.is_empty() || !taken.is_multiple_of(limits::TRACE_TAKEN) {
        return;
    }
    let expression = format!("globalThis[Symbol.for('holdpoint')]?.taken?.({taken})");
    let command = Evaluate { expression, silent: true, ..Evaluate::default() };
    let requester = cdp.requester.clone();
    // Ends with the answer.
    cdp.known.tasks.spawn(async move {
        let sent = tokio::time::timeout(limits::ADAPTER_ANSWER, requester.send(command)).await;
        if let Ok(Err(error)) = sent {
            tracing::debug!(%error, "the program does not learn what was taken");
        }
    });
}
