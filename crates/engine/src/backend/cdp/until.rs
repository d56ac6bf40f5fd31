//! A value that is watched by stepping: V8 stops at each step, and nobody is told of a stop at which the value
//! has not turned.
//!
//! A call is known by how deep it lies and where its function is written, since V8 names frames anew at each stop.
//! An `async` function that waits has no frame meanwhile, so it counts as left there.

use std::{
    sync::{MutexGuard, PoisonError},
    time::Instant,
};

use holdpoint_cdp::types::{CallFrame, Location, Paused, debugger::StepInto};

use super::{
    Asked, Cdp, breakpoints, evaluate, inspect,
    onward::Onward,
    watch::{Unheard, Watch},
};
use crate::{
    backend::{FrameId, SeenValue, Step, UntilAsked, UntilEnd, UntilSeen},
    budget,
    failure::{Code, Failure},
    limits,
};

/// One value, in one call.
#[derive(Clone)]
pub(super) struct WatchedValue {
    expression: String,
    /// Whether it is what it is to become; `None` where any change counts.
    test: Option<String>,
    /// How many frames there were up to this one, it included.
    depth: usize,
    function: Option<Location>,
    until: Instant,
    goes: Goes,
    /// Where it stood last, by the names of V8.
    last: Option<(Location, String)>,
    is_so: bool,
    seen: UntilSeen,
}

/// What becomes of the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    Watched,
    /// The program runs on as if nobody had asked.
    Free,
    /// It ended at a stop that is told.
    Over,
}

impl Cdp {
    pub(in crate::backend) async fn until(&self, asked: &UntilAsked) -> Result<UntilSeen, Failure> {
        for text in std::iter::once(&asked.expression).chain(&asked.becomes) {
            breakpoints::parses(self, text).await.map_err(|why| unparsed(text, &why))?;
        }
        let (paused, frame) = (self.paused()?, self.frame(&asked.frame)?);
        let above =
            paused.call_frames.iter().position(|it| it.call_frame_id == frame.call_frame_id);
        let none = SeenValue::Text(String::new());
        let mut watched = WatchedValue {
            expression: asked.expression.clone(),
            test: asked.becomes.as_deref().map(|it| test(&asked.expression, it)),
            depth: paused.call_frames.len().saturating_sub(above.unwrap_or(0)),
            function: frame.function_location.clone(),
            until: Instant::now() + asked.patience,
            goes: Goes::Watched,
            last: paused.call_frames.first().map(standing),
            is_so: false,
            seen: UntilSeen {
                lines: 0,
                raised: 0,
                before: none.clone(),
                now: none,
                turned: false,
                already: false,
                left: false,
                over: false,
                by: None,
                threads: 0,
            },
        };
        let is_so = self.look(&mut watched, &frame).await && watched.test.is_some();
        watched.seen.before = watched.seen.now.clone();
        watched.seen.already = is_so;
        let seen = watched.seen.clone();
        *self.watched() = Some(watched);
        Ok(seen)
    }

    pub(in crate::backend) async fn until_ends(&self, end: UntilEnd) -> Option<UntilSeen> {
        if end == UntilEnd::Run {
            let mut place = self.watched();
            let watched = place.as_mut()?;
            let seen = watched.seen.clone();
            match watched.goes {
                Goes::Watched | Goes::Free => watched.goes = Goes::Free,
                Goes::Over => *place = None,
            }
            return Some(seen);
        }
        let mut watched = self.watched().take()?;
        // It stopped for another reason; what turned just now is told all the same.
        if watched.goes == Goes::Watched
            && let Ok(paused) = self.paused()
            && let Some(frame) = watched.frame(&paused)
            && self.look(&mut watched, frame).await
        {
            self.blame(&mut watched).await;
            watched.seen.turned = true;
        }
        Some(watched.seen)
    }

    /// Whether it has turned since the last look.
    async fn look(&self, watched: &mut WatchedValue, frame: &CallFrame) -> bool {
        let frame = FrameId::text(frame.call_frame_id.0.clone());
        if let Some(test) = watched.test.clone() {
            let was = watched.is_so;
            let found = self.value_of(&frame, &test).await;
            watched.is_so = matches!(&found, SeenValue::Text(text) if text == "true");
            let turned = watched.is_so && !was;
            // What it is matters at the beginning and at the end alone.
            if turned || watched.seen.lines == 0 {
                watched.seen.now = self.value_of(&frame, &watched.expression).await;
            } else if let SeenValue::Error(_) = found {
                watched.seen.now = found;
            }
            watched.count();
            return turned;
        }
        let now = self.value_of(&frame, &watched.expression).await;
        let is_other = match (&watched.seen.now, &now) {
            (SeenValue::Error(_), SeenValue::Error(_)) => false,
            (was, now) => was != now,
        };
        watched.seen.now = now;
        watched.count();
        is_other
    }

    async fn value_of(&self, frame: &FrameId, expression: &str) -> SeenValue {
        let patience = limits::TRACE_EVALUATE;
        let answer = self.evaluated(Some(frame), expression, patience).await;
        match answer.and_then(|it| evaluate::finished(it, expression, patience)) {
            Ok(value) => SeenValue::Text(budget::cut(&value.text, limits::UNTIL_VALUE)),
            Err(failure) => SeenValue::Error(budget::cut(&failure.message, limits::TRACE_VALUE)),
        }
    }

    /// What ran last did it.
    async fn blame(&self, watched: &mut WatchedValue) {
        let Some((location, function)) = watched.last.clone() else { return };
        let place = self.sources(move |sources| sources.place(&location)).await.ok().flatten();
        let place = place.map(|it| {
            let file = it.file.unwrap_or_else(|| it.name.into());
            (file, it.position.line(), function)
        });
        watched.seen.by = place;
    }

    /// Whether a value that was watched is why it stops.
    pub(super) fn is_watch_over(&self) -> bool {
        self.watched().as_ref().is_some_and(|it| it.goes == Goes::Over)
    }

    fn watched(&self) -> MutexGuard<'_, Option<WatchedValue>> {
        self.known.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchedValue {
    /// The call in which it is looked at, if it is still under way.
    fn frame<'a>(&self, paused: &'a Paused) -> Option<&'a CallFrame> {
        let above = paused.call_frames.len().checked_sub(self.depth)?;
        let frame = paused.call_frames.get(above)?;
        (frame.function_location == self.function).then_some(frame)
    }

    fn count(&mut self) {
        self.seen.raised += u64::from(matches!(self.seen.now, SeenValue::Error(_)));
    }
}

impl Watch {
    /// Whether a step goes on because the value that is watched has not turned.
    pub(super) async fn is_watched_on(
        &self,
        paused: &Paused,
        onward: Option<Onward>,
    ) -> Result<bool, Unheard> {
        let is_step = self.cdp.moment().asked == Asked::Step(Step::In)
            && !inspect::is_exception(paused)
            && self.cdp.points().hits(&paused.hit_breakpoints).is_empty();
        // In Node's own code nothing turns, unless nothing else is left.
        if !is_step || onward == Some(Onward::Out) {
            return Ok(false);
        }
        let Some(mut watched) = self.cdp.watched().clone() else { return Ok(false) };
        // Nobody's line is one to stop at: what is shown there would be whoever has set a timer, long ago.
        let is_nowhere = onward == Some(Onward::Resume);
        let goes_on = match watched.goes {
            Goes::Over => return Ok(false),
            Goes::Free => false,
            Goes::Watched => self.goes_on(&mut watched, paused, is_nowhere).await,
        };
        let is_late = is_nowhere && goes_on && Instant::now() >= watched.until;
        if is_late {
            watched.goes = Goes::Over;
        }
        // Whoever asked may have gone while V8 was asked.
        let is_free = self.cdp.watched().as_ref().is_none_or(|it| it.goes == Goes::Free) || is_late;
        *self.cdp.watched() = (!is_free || is_late).then_some(watched);
        if is_free {
            self.cdp.moment().asked = Asked::Nothing;
            self.go_on().await?;
        } else if goes_on {
            self.cdp.moment().step_depth = paused.call_frames.len();
            if let Err(failure) = self.cdp.ask(StepInto::default()).await {
                tracing::debug!(%failure, "a step that is watched ended on its way");
            }
        }
        Ok(is_free || goes_on)
    }

    async fn goes_on(&self, watched: &mut WatchedValue, paused: &Paused, is_nowhere: bool) -> bool {
        let was_left = watched.seen.left;
        watched.seen.lines += u64::from(!is_nowhere);
        match watched.frame(paused).filter(|_| !watched.seen.left) {
            None => watched.seen.left = true,
            Some(frame) => watched.seen.turned = self.cdp.look(watched, frame).await,
        }
        if is_nowhere {
            return true;
        }
        let is_over = watched.seen.turned || watched.seen.left;
        if !is_over && Instant::now() < watched.until {
            watched.last = coming(paused).map(standing);
            return true;
        }
        // Whoever is called next by Node has left nothing.
        if is_over && !was_left {
            self.cdp.blame(watched).await;
        }
        (watched.goes, watched.seen.over) = (Goes::Over, true);
        false
    }
}

/// The frame whose code runs next: of one that returns, its caller's.
fn coming(paused: &Paused) -> Option<&CallFrame> {
    let mut frames = paused.call_frames.iter();
    let top = frames.next()?;
    match top.return_value {
        Some(_) => frames.next().or(Some(top)),
        None => Some(top),
    }
}

fn standing(frame: &CallFrame) -> (Location, String) {
    (frame.location.clone(), frame.function_name.clone())
}

/// Whether the value is what it is to become. `NaN` is itself here.
fn test(expression: &str, becomes: &str) -> String {
    match becomes.trim() {
        "true" | "True" => format!("!!(\n{expression}\n)"),
        "false" | "False" => format!("!(\n{expression}\n)"),
        other => format!(
            "((a, b) => a === b || (a !== a && b !== b))((\n{expression}\n), (\n{other}\n))"
        ),
    }
}

fn unparsed(expression: &str, why: &str) -> Failure {
    let text = format!("the expression `{}` does not parse: {why}", budget::cut(expression, 80));
    Failure::new(Code::InvalidParams, text)
        .hint("`expression` and `becomes` are expressions of the program's own language")
}
