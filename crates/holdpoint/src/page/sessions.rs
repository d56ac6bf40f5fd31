//! Programs under the debugger: all of them, and one of them with its source, stack, values, points, console and output.

mod card;
pub(super) mod doing;
mod list;
mod one;
pub(super) mod points;
pub(super) mod steer;

use holdpoint_engine::{failure::Failure, session::Status};
use maud::Markup;

pub(super) use self::card::card;
use super::{
    address::{FormFields, PageAddress},
    sheet::{Count, PageView, Sheet, Then},
};
use crate::app::App;

pub(super) struct SessionsView;

impl PageView for SessionsView {
    const NAME: &'static str = "sessions";
    const TITLE: &'static str = "Sessions";
    const ICON: &'static str = "sessions";
    const KEY: char = 's';

    fn count(app: &App) -> Count {
        let live =
            app.engine.sessions.all().into_iter().filter(|it| it.view().status != Status::Ended);
        Count::Some(live.count())
    }

    async fn show(app: App, at: PageAddress) -> Result<Sheet, Failure> {
        match at.word(0) {
            None => Ok(list::sheet(&app)),
            Some(id) => {
                let session = app.engine.sessions.find(Some(id))?;
                one::sheet(&app, &session, &at).await
            }
        }
    }

    async fn piece(app: App, at: PageAddress) -> Option<Result<Markup, Failure>> {
        let (id, "values" | "line") = (at.word(0)?, at.word(1)?) else { return None };
        match app.engine.sessions.find(Some(id)) {
            Ok(session) => Some(one::piece(&app, &session, &at).await),
            Err(failure) => Some(Err(failure)),
        }
    }

    async fn act(app: App, at: PageAddress, form: FormFields) -> Result<Then, Failure> {
        match at.word(0) {
            None => steer::start(&app, &form).await,
            Some(id) => steer::act(&app, id, &form).await,
        }
    }
}
