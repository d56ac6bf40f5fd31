//! Recordings of program runs: the streams that recorders inside of programs write, what is made of them, and what
//! can be asked: calls, one frame line by line, a value's history, where two runs part.
//!
//! It knows files and nothing of processes, languages' runtimes or who asks. Streams are other programs' bytes:
//! reading them is bounded, never panics, and ends at the first damage with everything before it.

mod ask;
mod bytes;
mod columns;
mod condition;
mod damage;
mod datum;
mod diff;
mod hash;
mod head;
mod ingest;
mod limits;
mod normal;
mod pack;
mod recording;
mod show;
mod steps;
pub mod stream;
mod tell;

pub use self::{
    ask::{
        NextAsk, StandingFrame,
        brief::RunBrief,
        calls::{CallOrder, CallsAsk, CallsForm, CallsFound, FunctionTally, ListedCall},
        flame::{FlameAsk, FlameBar, FlameFound},
        frame::{FrameAsk, FrameRow, FrameTold, StateAt},
        history::{HistoryAsk, HistoryFound, WriteRow},
        inside::CallsInside,
        look::{CallerSeen, FrameLook, LineNote, LineSeen, LookAsk, PassSeen, RecordedText},
        overview::{FailureShown, OddResult, Overview, SwallowedShown},
        series::{SeriesPoint, ValueSeries},
    },
    bytes::Cursor,
    damage::Damage,
    datum::Datum,
    diff::{DiffAsk, DiffFound, Difference, DifferenceKind, LineDifference},
    head::StreamState,
    ingest::Ingest,
    pack::{KeptSource, pack},
    recording::{AskError, CallId, ProcessFacts, Recording, SpotId, TestFacts},
    show::{CallEnd, CallShown},
    tell::BUDGET,
};
