//! `tracepoint_set`: report each time the program passes a place, without stopping it.

use holdpoint_engine::{
    breakpoints::{Asked, Breakpoint, Place, Trace, hits::HitTest},
    failure::{Code, Failure},
    ids::BreakpointId,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
    tools::{
        breakpoint::{
            bind::{self, Fate},
            place::{self, GivenPlace},
        },
        shared::params,
    },
};

pub(crate) struct Set;

params! {
    #[derive(Deserialize, JsonSchema)]
    pub(crate) struct Params: place {
        column: Option<u32>,
        /// `x is {x}, {len(items)} left`
        log_message: Option<String>,
        /// `3`, `>= 5`, `% 10`
        hit_condition: Option<String>,
        #[serde(default)]
        hit_count_multiple: i64,
        #[serde(default)]
        max_notifications: i64,
        /// Change this one.
        id: Option<i64>,
    }
}

impl Tool for Set {
    const NAME: &'static str = "tracepoint_set";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "See values each time a line or function is passed, without \
        stopping it. `tracepoint_read` reads them.";
    const EFFECT: Effect = Effect::Arms;
    const TITLE: &'static str = "Set tracepoint";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, call: Call) -> Result<Reply, Failure> {
        let asked = params.asked(&app)?;
        check(&app, &asked).await?;
        let breakpoints = &app.engine.sessions.breakpoints;
        let known = params.id.map(BreakpointId);
        let before = match known {
            Some(id) => breakpoints.get(id),
            None => breakpoints.all().into_iter().find(|it| is_same(it, &asked)),
        };
        let point = match known {
            Some(id) => breakpoints.change(id, asked)?,
            None => breakpoints.set(asked)?,
        };
        let fate = bind::set(&app, &point).await?;
        if let Some(failure) = no_code(&point, &fate) {
            match before {
                Some(before) => breakpoints.restore(before)?,
                None => breakpoints.remove(point.id)?,
            };
            bind::sync(&app, &point).await?;
            return Err(failure);
        }
        app.engine.breakpoint_changed(&point, "set", call.actor());
        app.engine.memory().await.keep(&point).await;
        Ok(Answer::new(bind::text(&app, &point, &fate), &bind::data(&app, &point, &fate))?.into())
    }
}

impl Params {
    fn asked(&self, app: &App) -> Result<Asked, Failure> {
        let multiple = count("hit_count_multiple", self.hit_count_multiple)?;
        let max = count("max_notifications", self.max_notifications)?;
        let trace = Trace::new(self.log_message.clone(), multiple, max)?;
        let at = place::of(app, self.id)?;
        let given = GivenPlace { column: self.column, at, ..self.given() };
        let place = given.place(|file| place::find(app, file))?;
        if let Place::Line { file, line, .. } = &place {
            place::has_code(file, *line)?;
        }
        if let Some(hits) = &self.hit_condition {
            HitTest::parse(hits)?;
        }
        let (condition, hit_condition) = (self.condition.clone(), self.hit_condition.clone());
        Ok(Asked { place, condition, hit_condition, trace: Some(trace) })
    }
}

fn is_same(it: &Breakpoint, asked: &Asked) -> bool {
    it.place == asked.place && it.trace.is_some()
}

/// Counts may be written negative; none is meant.
fn count(name: &'static str, value: i64) -> Result<u64, Failure> {
    u64::try_from(value).map_err(|_| {
        Failure::new(Code::InvalidParams, format!("`{name}` is {value}"))
            .hint("0 for no bound, or a number above it")
            .details(json!({ "parameter": name }))
    })
}

/// What does not parse is refused by whoever could run it.
async fn check(app: &App, asked: &Asked) -> Result<(), Failure> {
    let expressions: Vec<&str> = asked.trace.iter().flat_map(Trace::expressions).collect();
    for session in app.engine.sessions.all() {
        session.check_expressions(asked.place.file(), &expressions).await?;
        if let Some(condition) = &asked.condition {
            session.check_condition(asked.place.file(), condition).await?;
        }
    }
    Ok(())
}

/// A breakpoint may stop a line further; a tracepoint would report another line's values.
fn no_code(point: &Breakpoint, fate: &Fate) -> Option<Failure> {
    let Place::Line { file, line, .. } = &point.place else { return None };
    let hint = match fate {
        Fate::Bound { line: bound } if bound != line => {
            format!("the nearest line with code is {bound}")
        }
        Fate::Not { why } if why.contains("no code") => why.clone(),
        _ => return None,
    };
    let text = format!("line {line} of `{}` has no code of its own", file.display());
    let details = json!({ "parameter": "line", "line": line });
    Some(Failure::new(Code::InvalidParams, text).hint(hint).details(details))
}
