//! `breakpoint_set_exception`: which exceptions stop the program.

use holdpoint_engine::{
    backend::Exceptions,
    failure::{Code, Failure},
    limits,
    session::Status,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    app::App,
    tool::{Answer, Call, Effect, Family, Reply, Tool},
};

pub(crate) struct SetException;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Params {
    #[schemars(extend("items" = {"type": "string", "enum": ["uncaught", "caught", "user_unhandled"]}))]
    filters: Option<Vec<String>>,
    /// `["KeyError"]`
    #[serde(default)]
    types: Vec<String>,
    uncaught: Option<bool>,
    caught: Option<bool>,
}

impl Tool for SetException {
    const NAME: &'static str = "breakpoint_set_exception";
    const FAMILY: &'static Family = &super::FAMILY;
    const ABOUT: &'static str = "Find a swallowed exception: choose which ones stop the program. \
        Default: uncaught; `[]` for none.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Stop at exceptions";
    type Scope = App;
    type Params = Params;

    async fn run(app: App, params: Params, _: Call) -> Result<Reply, Failure> {
        let exceptions = params.exceptions()?;
        let sessions = &app.engine.sessions;
        sessions.breakpoints.set_exceptions(exceptions.clone());
        app.engine.memory().await.keep_exceptions(&exceptions).await;
        let mut told = Vec::new();
        for session in sessions.all() {
            session.set_exceptions(&exceptions).await?;
            if session.view().status != Status::Ended {
                told.push(format!("{}, ", session.id));
            }
        }
        let what = describe(&exceptions);
        let text = format!("{what}, in {}later launches", told.concat());
        let data = json!({
            "uncaught": exceptions.uncaught,
            "caught": exceptions.caught,
            "user_unhandled": exceptions.user_unhandled,
            "types": exceptions.types,
        });
        Ok(Answer::new(text, &data)?.into())
    }
}

impl Params {
    fn exceptions(&self) -> Result<Exceptions, Failure> {
        let types = self.types.iter().map(|it| it.trim().to_owned()).collect::<Vec<_>>();
        if types.iter().any(String::is_empty) || types.len() > limits::EXCEPTION_TYPES {
            let text = format!("`types` takes up to {} names", limits::EXCEPTION_TYPES);
            return Err(Failure::new(Code::InvalidParams, text));
        }
        let Some(filters) = &self.filters else {
            // Whoever names a type wants to see it, caught or not.
            let any = self.uncaught.is_none() && self.caught.is_none() && !types.is_empty();
            let (uncaught, caught) = (self.uncaught.unwrap_or(true), self.caught.unwrap_or(any));
            return Ok(Exceptions { uncaught, caught, user_unhandled: false, types });
        };
        let mut chosen = Exceptions {
            uncaught: self.uncaught.unwrap_or(false),
            caught: self.caught.unwrap_or(false),
            user_unhandled: false,
            types,
        };
        for filter in filters {
            match filter.as_str() {
                "uncaught" | "unhandled" => chosen.uncaught = true,
                "caught" | "raised" | "all" => chosen.caught = true,
                "user_unhandled" | "userUnhandled" => chosen.user_unhandled = true,
                "none" | "never" => {}
                other => {
                    return Err(Failure::new(
                        Code::InvalidParams,
                        format!("no exception filter `{other}`"),
                    )
                    .hint("filters: `uncaught`, `caught`, `user_unhandled`"));
                }
            }
        }
        Ok(chosen)
    }
}

/// `every exception stops where nothing catches it`
pub(crate) fn describe(exceptions: &Exceptions) -> String {
    let mut places = Vec::new();
    if exceptions.caught {
        places.push("where it is raised, caught or not");
    }
    if exceptions.user_unhandled {
        places.push("where it leaves your code uncaught");
    }
    if exceptions.uncaught {
        places.push("where nothing catches it");
    }
    if places.is_empty() {
        return "no exception stops".to_owned();
    }
    let who = match exceptions.types.as_slice() {
        [] => "every exception stops".to_owned(),
        types => format!("only {} stops", types.join(" or ")),
    };
    format!("{who} {}", places.join(", and "))
}
