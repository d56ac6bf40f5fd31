//! Recordings of runs: all of them, one with what it came to and its calls, one of its calls line by line and pass by
//! pass, a value's life, and two runs where they part.
//!
//! A recording is asked aside, and once for all pages: whatever it has said stands until more of it is written.

mod compare;
mod doing;
mod flame;
mod frame;
mod history;
mod list;
mod one;
mod overview;
mod plot;
mod search;
mod source;
mod tree;
mod words;

use std::{hash::BuildHasher as _, sync::Arc};

use holdpoint_engine::{
    failure::{Code, Failure},
    recordings::{CallId, RecordingKnown},
};
use maud::Markup;

use super::{
    address::{self, FormFields, PageAddress},
    sheet::{Count, PageView, Sheet, Then},
    slow::SlowAnswers,
};
use crate::app::App;

pub(super) struct RecordingsView;

/// What recordings said, as it is shown.
#[derive(Default)]
pub(crate) struct RecordingAnswers(SlowAnswers<Markup>);

/// What an address of this view names.
#[derive(Debug, PartialEq)]
enum RecordingsPlace<'a> {
    All,
    Two,
    One(&'a str),
    Frame { id: &'a str, call: &'a str },
    History(&'a str),
}

fn place(at: &PageAddress) -> Option<RecordingsPlace<'_>> {
    Some(match (at.word(0), at.word(1), at.word(2)) {
        (None, ..) => RecordingsPlace::All,
        (Some("diff"), None, _) => RecordingsPlace::Two,
        (Some(id), None, _) => RecordingsPlace::One(id),
        (Some(id), Some("call"), Some(call)) => RecordingsPlace::Frame { id, call },
        (Some(id), Some("history"), None) => RecordingsPlace::History(id),
        _ => return None,
    })
}

impl PageView for RecordingsView {
    const NAME: &'static str = "recordings";
    const TITLE: &'static str = "Recordings";
    const ICON: &'static str = "recordings";
    const KEY: char = 'p';

    fn count(app: &App) -> Count {
        Count::Some(app.engine.recordings.running())
    }

    async fn show(app: App, at: PageAddress) -> Result<Sheet, Failure> {
        let nowhere = || Failure::new(Code::NotFound, "no page of recordings is here");
        match place(&at).ok_or_else(nowhere)? {
            RecordingsPlace::All => list::sheet(&app).await,
            RecordingsPlace::Two => compare::sheet(&app, &at).await,
            RecordingsPlace::One(id) => one::sheet(&app, &at, id).await,
            RecordingsPlace::Frame { id, call } => frame::sheet(&app, &at, id, call).await,
            RecordingsPlace::History(id) => history::sheet(&app, &at, id).await,
        }
    }

    /// The calls that one call made.
    async fn piece(app: App, at: PageAddress) -> Option<Result<Markup, Failure>> {
        let (id, "inside", None) = (at.word(0)?, at.word(1)?, at.word(2)) else { return None };
        Some(tree::piece(&app, &at, id).await)
    }

    async fn act(app: App, at: PageAddress, form: FormFields) -> Result<Then, Failure> {
        match place(&at) {
            Some(RecordingsPlace::All) => doing::record(&app, &form).await,
            Some(RecordingsPlace::One(id)) => doing::act(&app, id, &form).await,
            _ => Err(form.unknown()),
        }
    }
}

/// What a recording says to a question, as markup; and whether that is of before.
async fn answered(
    app: &App,
    of: &RecordingKnown,
    question: &str,
    ask: impl Future<Output = Result<Markup, Failure>>,
) -> Result<(Arc<Markup>, bool), Failure> {
    // A name comes again when the last of them was deleted.
    let began = of.about.started_at.map(|it| it.as_nanosecond()).unwrap_or_default();
    let whole = format!("{} {began} {question}", of.about.id);
    app.desk.recordings.0.answered(whole, version(of), ask).await
}

/// What it says stands until more of it is written.
fn version(of: &RecordingKnown) -> u64 {
    let state = (of.bytes, of.is_written, &of.about.ended);
    foldhash::quality::FixedState::with_seed(7).hash_one(state)
}

/// Where a recording is shown.
fn to(id: &str) -> String {
    format!("/recordings/{}", address::word(id))
}

/// Where a call of it is: `#2.813` is `…/call/2.813`.
fn to_call(id: &str, call: CallId) -> String {
    format!("{}/call/{}", to(id), call.to_string().trim_start_matches('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_calls_and_comparisons_have_addresses() {
        let of = |path: &str| format!("{:?}", place(&PageAddress::read(path).unwrap()));
        assert_eq!(
            (of("/recordings"), of("/recordings/diff?a=r1")),
            ("Some(All)".into(), "Some(Two)".into())
        );
        assert_eq!(of("/recordings/r7"), "Some(One(\"r7\"))");
        assert_eq!(
            of("/recordings/r7/call/2.813?line=3"),
            "Some(Frame { id: \"r7\", call: \"2.813\" })"
        );
        assert_eq!(of("/recordings/r7/history?name=x"), "Some(History(\"r7\"))");
        assert_eq!(
            (of("/recordings/r7/x"), of("/recordings/r7/call")),
            ("None".into(), "None".into())
        );
        assert_eq!(to_call("r7", CallId { process: 1, number: 812 }), "/recordings/r7/call/2.813");
    }
}
