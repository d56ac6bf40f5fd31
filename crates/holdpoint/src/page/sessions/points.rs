//! Breakpoints and tracepoints: what is set, where each lies and why not, and how a person sets and removes them.

use std::{path::Path, sync::Arc};

use holdpoint_engine::{
    breakpoints::{Breakpoint, Place},
    failure::{Code, Failure},
    inspect,
    nouns::Binding,
    session::{Session, Status},
};
use maud::{Markup, html};
use serde_json::json;

use super::{doing, steer};
use crate::{
    app::App,
    page::{
        address::FormFields,
        pieces::{self, icon},
        sheet::{LiveParts, Then},
    },
};

/// A point as it is in the programs that live.
pub(super) struct PointNow {
    pub(super) point: Breakpoint,
    /// Where it lies, if anywhere.
    pub(super) line: Option<u32>,
    /// Why it lies nowhere.
    pub(super) why: Option<String>,
    /// How often it was hit or passed, in the live sessions.
    pub(super) hits: u64,
}

/// All points with what became of them, in `only` or in every live session.
pub(super) fn standing(app: &App, only: Option<&Arc<Session>>) -> Vec<PointNow> {
    let live = app.engine.sessions.all().into_iter().filter(|it| it.view().status != Status::Ended);
    let sessions: Vec<Arc<Session>> = match only {
        Some(one) => vec![Arc::clone(one)],
        None => live.collect(),
    };
    app.engine.sessions.breakpoints.all().into_iter().map(|it| found(it, &sessions)).collect()
}

fn found(point: Breakpoint, sessions: &[Arc<Session>]) -> PointNow {
    let mut standing = PointNow { line: None, why: None, hits: 0, point };
    let id = standing.point.id;
    for session in sessions {
        match session.binding_of(id) {
            Some(Binding::At { line, .. }) => standing.line = Some(line),
            Some(Binding::Functions { places, .. }) => {
                standing.line = places.first().map(|it| it.line).or(standing.line);
            }
            Some(Binding::Not { why }) => standing.why = Some(why),
            None => {}
        }
        let passed = session.passes().into_iter().find(|it| it.point.id == id).map(|it| it.counted);
        standing.hits += passed.unwrap_or_else(|| session.hits_of(id));
    }
    if standing.line.is_some() {
        standing.why = None;
    } else if standing.why.is_none() && standing.point.enabled {
        standing.why = Some(match sessions.is_empty() {
            true => "pending: no program runs".to_owned(),
            false => "pending: no program has loaded it".to_owned(),
        });
    }
    standing
}

impl PointNow {
    pub(super) fn mark(&self) -> Markup {
        let is_trace = self.point.trace.is_some();
        let is_bound = self.line.is_some() && self.point.enabled;
        let shape = match (is_trace, is_bound) {
            (true, true) => "tp",
            (true, false) => "tpoff",
            (false, false) => "bpoff",
            (false, true) if self.condition().is_some() => "bpif",
            (false, true) => "bp",
        };
        let hue = if !self.point.enabled {
            "off"
        } else if is_trace {
            "tp"
        } else {
            "bp"
        };
        pieces::mark(shape, hue)
    }

    pub(super) fn condition(&self) -> Option<String> {
        let point = &self.point;
        let hit = point.hit_condition.as_ref().map(|it| format!("hit {it}"));
        let all: Vec<String> =
            point.condition.clone().map(|it| format!("if {it}")).into_iter().chain(hit).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// What it says, or when it stops.
    pub(super) fn when(&self) -> Option<String> {
        let says = self.point.trace.as_ref().and_then(|it| it.message.clone());
        says.filter(|it| !it.is_empty()).or_else(|| self.condition())
    }

    /// The line that was asked for, where it is one of this file.
    pub(super) fn asked_in(&self, file: &Path) -> Option<u32> {
        match &self.point.place {
            Place::Line { file: of, line, .. } if of == file => Some(*line),
            _ => None,
        }
    }

    /// How it stands, in words.
    pub(super) fn state(&self) -> String {
        let asked = match &self.point.place {
            Place::Line { line, .. } => Some(*line),
            Place::Function { .. } => None,
        };
        match (self.point.enabled, self.point.is_spent, self.line, asked, &self.why) {
            (false, true, ..) => "off: all that it was to report is reported".to_owned(),
            (false, false, ..) => "switched off".to_owned(),
            (true, _, Some(line), Some(asked), _) if line != asked => {
                format!("bound at {line}; {asked} has no code")
            }
            (true, _, Some(_), ..) => "bound".to_owned(),
            (true, _, None, _, Some(why)) => why.clone(),
            (true, _, None, _, None) => "pending".to_owned(),
        }
    }

    pub(super) fn spot(&self, cwd: &Path) -> String {
        match &self.point.place {
            Place::Line { file, line, .. } => {
                format!("{}:{}", inspect::place(file, cwd), self.line.unwrap_or(*line))
            }
            place @ Place::Function { .. } => place.to_string(),
        }
    }
}

/// What is set, in every program.
pub(in crate::page) fn panel(app: &App, parts: &mut LiveParts) -> Markup {
    let all = standing(app, None);
    let here = crate::root::current();
    html! {
        section.panel aria-labelledby="pts-h" {
            header { h2 #pts-h { "Points" } small { "what is set, in every program" } }
            div.scroll #points tabindex="0" role="region" aria-label="Breakpoints and tracepoints, as a table" {
                (parts.put("points", html! {
                    @if all.is_empty() { p.pad.quiet { "No breakpoint or tracepoint is set. A click beside a line sets one." } } @else {
                        table.rows {
                            thead { tr { th scope="col" { "Point" } th scope="col" { "Where" } th scope="col" { "When" }
                                th scope="col" { "State" } th scope="col" .num { "Hits" } } }
                            tbody { @for it in &all { (row(it, &here)) } }
                        }
                    }
                }))
            }
        }
    }
}

fn row(it: &PointNow, cwd: &Path) -> Markup {
    html! {
        tr id={ "point-" (it.point.id) } {
            td { (it.mark()) span.after-mark { (it.point.kind()) " " (it.point.id) } }
            td { code { (pieces::line(&it.spot(cwd))) } }
            td { @match it.when() { Some(when) => code { (pieces::line(&when)) }, None => span.quiet { "always" } } }
            td class=[it.line.is_none().then_some("quiet")] { (pieces::line(&it.state())) }
            td.num.quiet[it.hits == 0] { (it.hits) }
        }
    }
}

/// The points of a session, each to be switched and removed.
pub(super) fn side(all: &[PointNow], cwd: &Path, to: &str) -> Markup {
    html! {
        @if all.is_empty() { li.none { span.quiet { "None. A click beside a line sets one." } } }
        @for it in all {
            li id={ "pt-" (it.point.id) } {
                form.switch method="post" action=(to) {
                    input type="hidden" name="do" value="enable";
                    input type="hidden" name="point" value=(it.point.id);
                    label {
                        input type="checkbox" name="on" value="yes" data-acts checked[it.point.enabled]
                            aria-label={ (it.point.kind()) " " (it.point.id) " on" };
                        (it.mark()) code { (pieces::line(&short(it, cwd))) }
                    }
                }
                span.cut.quiet title=(it.state()) { (pieces::line(&beside(it))) }
                span.tab.quiet[it.hits == 0] { (it.hits) }
                form method="post" action=(to) {
                    input type="hidden" name="do" value="remove";
                    button.btn.bare.icon.small name="point" value=(it.point.id) aria-label={ "Remove " (it.point.kind()) " " (it.point.id) } { (icon("x")) }
                }
            }
        }
    }
}

fn short(it: &PointNow, cwd: &Path) -> String {
    let spot = it.spot(cwd);
    spot.rsplit('/').next().unwrap_or(&spot).to_owned()
}

fn beside(it: &PointNow) -> String {
    let state = it.state();
    match it.when() {
        _ if state != "bound" => state,
        Some(when) => when,
        None => String::new(),
    }
}

/// Setting, switching and removing: setting a point moves nothing, so nobody takes over by it.
pub(super) async fn act(app: &App, form: &FormFields) -> Result<Then, Failure> {
    let done = match form.get("do") {
        "toggle" => toggle(app, form).await?,
        "trace" => {
            let asked = json!({ "file": steer::file(form), "line": line(form)?, "log_message": form.get("message") });
            doing::tool(app, "tracepoint_set", None, asked).await?
        }
        "condition" => {
            let mut asked = json!({ "file": steer::file(form), "line": line(form)? });
            for name in ["condition", "hit_condition"] {
                if let (Some(object), false) =
                    (asked.as_object_mut(), form.get(name).trim().is_empty())
                {
                    object.insert(name.to_owned(), json!(form.get(name).trim()));
                }
            }
            doing::tool(app, "breakpoint_set", None, asked).await?
        }
        "enable" => {
            let asked = json!({ "id": steer::point(form)?, "enabled": form.get("on") == "yes" });
            doing::tool(app, "breakpoint_enable", None, asked).await?
        }
        "remove" => {
            doing::tool(app, "breakpoint_remove", None, json!({ "id": steer::point(form)? }))
                .await?
        }
        _ => return Err(form.unknown()),
    };
    drop(done);
    Ok(Then::Here)
}

fn line(form: &FormFields) -> Result<u32, Failure> {
    form.get("line").parse().map_err(|_| Failure::new(Code::InvalidParams, "no line was named"))
}

/// What lies on the line, or was asked for there, is removed; where there is nothing, a breakpoint is set.
async fn toggle(app: &App, form: &FormFields) -> Result<Option<crate::tool::Reply>, Failure> {
    let (file, line) = (steer::file(form), line(form)?);
    let all = standing(app, None);
    let on_it = all
        .iter()
        .find(|it| it.asked_in(file).is_some_and(|asked| asked == line || it.line == Some(line)));
    match on_it {
        Some(it) => doing::tool(app, "breakpoint_remove", None, json!({ "id": it.point.id })).await,
        None => {
            doing::tool(app, "breakpoint_set", None, json!({ "file": file, "line": line })).await
        }
    }
}
