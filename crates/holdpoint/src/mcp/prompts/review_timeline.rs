//! `review-timeline`: what happened, handed to a model with a question worth asking.

use holdpoint_engine::{
    budget::{Budget, Lines},
    event::Kind,
    failure::Failure,
};
use rmcp::model::{PromptMessage, Role};

use super::{Argument, Given, Prompt};
use crate::{
    app::App,
    tools::timeline::query::{Wanted, kind},
};

pub(super) const REVIEW_TIMELINE: Prompt = Prompt {
    name: "review-timeline",
    about: "Go over what happened and say what stands out",
    arguments: &[Argument {
        name: "kind",
        about: "only events of this kind, such as `note`",
        required: false,
    }],
    render,
    values: |_, _| Kind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect(),
};

fn render(app: &App, given: &Given) -> Result<Vec<PromptMessage>, Failure> {
    let kinds = given.get("kind").map(kind).transpose()?.into_iter().collect();
    let log = &app.engine.log;
    let wanted = Wanted::kinds(kinds);
    let mut lines = Lines::within(Budget::default());
    lines.always("These are the newest events of the Holdpoint timeline, oldest first:");
    for record in wanted.page(log, wanted.newest(log)).records {
        let kind = record.event.kind().as_str();
        if !lines.push(&format!("{} {kind} {}", record.seq, record.event.line())) {
            lines.always("… (more with `timeline_query`)");
            break;
        }
    }
    lines.always(
        "Say what stands out, what it implies for the bug at hand, and which tool call would \
         settle the most important open question.",
    );
    Ok(vec![PromptMessage::new_text(Role::User, lines.into_text())])
}
