//! `review-timeline`: what happened, handed to a model with a question worth asking.

use holdpoint_engine::{
    budget::{Budget, Lines},
    event::EventKind,
    failure::Failure,
    limits,
    timeline::Ask,
};
use rmcp::model::{PromptMessage, Role};

use super::{Argument, FilledIn, Prompt};
use crate::{app::App, tools::timeline::query::label};

pub(super) const REVIEW_TIMELINE: Prompt = Prompt {
    name: "review-timeline",
    about: "Go over what happened and say what stands out",
    arguments: &[Argument {
        name: "kind",
        about: "only events of this kind, such as `note`",
        required: false,
    }],
    render: |app, given| Box::pin(std::future::ready(render(app, given))),
    values: |_, _| EventKind::labels().map(str::to_owned).collect(),
};

fn render(app: &App, given: &FilledIn) -> Result<Vec<PromptMessage>, Failure> {
    let labels = given.get("kind").map(label).transpose()?.into_iter().collect();
    let ask = Ask { labels, limit: limits::PAGE_EVENTS, ..Ask::default() };
    let mut lines = Lines::within(Budget::default());
    lines.always("These are the newest events of the Holdpoint timeline, oldest first:");
    for fact in ask.of_ring(&app.engine.log).facts {
        if !lines.push(&format!("{} {} {}", fact.seq(), fact.kind(), fact.text())) {
            lines.always("… (more with `timeline_query`)");
            break;
        }
    }
    lines.always(
        "Say what stands out, what it implies for the bug at hand, and which tool call would \
         settle the most important open question.",
    );
    Ok(vec![PromptMessage::new_text(Role::User, app.catalogue.mentions.answer(lines.into_text()))])
}
