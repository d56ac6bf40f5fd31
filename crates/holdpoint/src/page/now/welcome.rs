//! The first view of all, while nothing has happened yet: what Holdpoint is, and the one command per agent.

use maud::{Markup, PreEscaped, html};

use crate::{
    cmd::setup::agents::AGENTS,
    page::{
        pieces,
        sheet::{LiveParts, Sheet},
    },
};

/// Those that fit beside each other; Setup has all of them.
const SHOWN: [&str; 6] = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini"];

/// A line that runs, a point, and a line that has not happened yet.
const PICTURE: &str = include_str!("../assets/flow.svg");

pub(super) fn sheet() -> Sheet {
    let main = html! {
        header.bar { h1 { "Now" } p #sentence aria-live="polite" { "Nothing is held, nothing runs, nobody is connected." } }
        div.body.welcome {
            section.lead {
                h2 { "The place where work may not go on until someone has looked." }
                p { "Holdpoint holds running programs for an AI agent and for you beside it. This page shows what the agent sees, as it happens." }
                (PreEscaped(PICTURE))
                div.steps {
                    div { h3 { "Your agent sets a point" } p { "On a line, or on a function of a running app. By tools it finds over MCP; you can click one too." } }
                    div { h3 { "The program is held" } p { "It stands still there, with its stack, its values, its source. You and the agent see the same thing in the same moment." } }
                    div { h3 { "Somebody decides" } p { "Step, change a value, skip the call, or let it go on. You can take over from the agent, and hand back." } }
                }
            }
            div.two {
                (agents())
                div.col {
                    (panel("Or see it work first", html! {
                        p { "A minute, with real programs: a cent that vanishes, one odd value in ten thousand, a payment that is put right." }
                        (pieces::copy_line("holdpoint demo"))
                    }))
                    (panel("Hold the calls of your own app", html! {
                        p { "No edit is needed in Python:" }
                        (pieces::copy_line("holdpoint run --watch 'shop.*' -- python app.py"))
                        p.quiet { "JavaScript loads " code { "/api/debug-client.js" } " from here." }
                    }))
                }
            }
        }
    };
    Sheet {
        title: "Now".to_owned(),
        is_fill: false,
        shape: "welcome",
        main,
        parts: LiveParts::default(),
    }
}

fn panel(title: &str, inside: Markup) -> Markup {
    html! { section.panel { header { h2 { (title) } } div.pad.choose { (inside) } } }
}

fn agents() -> Markup {
    let shown: Vec<_> =
        SHOWN.iter().filter_map(|name| AGENTS.iter().find(|it| it.name == *name)).collect();
    html! {
        section.panel.agents aria-labelledby="give-h" {
            header { h2 #give-h { "Give it to your agent" } }
            div.pad.choose {
                fieldset.seg.wrap {
                    legend.hush { "Agent" }
                    @for (at, agent) in shown.iter().enumerate() {
                        label { input type="radio" name="agent" value=(agent.name) checked[at == 0]; span { (agent.title) } }
                    }
                }
                @for agent in &shown {
                    div.agent.short data-agent=(agent.name) {
                        p { "In the folder of your project:" }
                        (pieces::copy_line(&format!("holdpoint setup {} --write", agent.name)))
                        p.quiet { "Then " (agent.next_step) "." }
                    }
                }
                p.quiet { code { "holdpoint setup --help" } " names the other agents, and what is written." }
                p.waiting { span.beat aria-hidden="true" {} "Waiting for an agent. It shows up here when it connects." }
            }
        }
    }
}
