//! What makes an agent know Holdpoint, to be copied; what was found on this machine, with the command that mends each
//! thing; and how an app's calls come here. All of it is what `setup` and `doctor` say, from the same code.
//! `/docs` is the API's reference.

mod docs;

use std::sync::Arc;

use holdpoint_engine::failure::{Code, Failure};
use maud::{Markup, html};

use super::{
    address::{FormFields, PageAddress},
    pieces::{self, icon, line},
    sheet::{LiveParts, PageView, Sheet, Then},
};
use crate::{
    app::App,
    cmd::{
        doctor::{self, Diagnosis, Finding, FindingKind},
        setup::{
            self,
            agents::{AGENTS, Agent},
        },
    },
};

pub(super) struct SetupView;

/// What was found, until somebody asks to look again.
#[derive(Default)]
pub(crate) struct LastLook(tokio::sync::Mutex<Option<Arc<Diagnosis>>>);

impl PageView for SetupView {
    const NAME: &'static str = "setup";
    const ALSO: &'static [&'static str] = &["docs"];
    const TITLE: &'static str = "Setup";
    const ICON: &'static str = "setup";
    const KEY: char = 'u';

    /// `/setup/<agent>`
    async fn show(app: App, at: PageAddress) -> Result<Sheet, Failure> {
        if at.first == "docs" {
            return Ok(docs::sheet(&at));
        }
        let agent = match at.word(0) {
            None => AGENTS.first(),
            Some(name) => AGENTS.iter().find(|it| it.name == name),
        };
        let agent = agent.ok_or_else(|| Failure::new(Code::NotFound, "no such agent is known"))?;
        let found = app.desk.last_look.get().await?;
        Ok(sheet(&app, agent, &found))
    }

    async fn act(app: App, _: PageAddress, form: FormFields) -> Result<Then, Failure> {
        match form.get("do") {
            "look" => app.desk.last_look.again().await?,
            _ => return Err(form.unknown()),
        };
        Ok(Then::To("/setup".to_owned()))
    }
}

impl LastLook {
    async fn get(&self) -> Result<Arc<Diagnosis>, Failure> {
        let mut found = self.0.lock().await;
        match &*found {
            Some(found) => Ok(Arc::clone(found)),
            None => Ok(Arc::clone(found.insert(look().await?))),
        }
    }

    async fn again(&self) -> Result<Arc<Diagnosis>, Failure> {
        let mut found = self.0.lock().await;
        Ok(Arc::clone(found.insert(look().await?)))
    }
}

/// Aside: it waits for other programs.
async fn look() -> Result<Arc<Diagnosis>, Failure> {
    let went = tokio::task::spawn_blocking(doctor::diagnose).await;
    match went {
        Ok(Ok(found)) => Ok(Arc::new(found)),
        Ok(Err(error)) => Err(Failure::internal(format!("nothing could be looked at: {error:#}"))),
        Err(error) => Err(Failure::internal(format!("looking ended: {error}"))),
    }
}

fn sheet(app: &App, agent: &'static Agent, found: &Diagnosis) -> Sheet {
    let main = html! {
        header.bar {
            h1 { "Setup" } p #sentence { (capital(&found.verdict)) "." }
            form.end method="post" action="/setup" { button.btn name="do" value="look" { (icon("restart")) "Look again" } }
        }
        div.body.two.setup {
            (agents(agent))
            div.col {
                section.panel aria-labelledby="dr-h" {
                    header { h2 #dr-h { "What was found here" } small { code { "holdpoint doctor" } } }
                    ul.doctor { @for finding in &found.findings { (finding_row(finding)) } }
                }
                (own_app(app))
                section.panel aria-labelledby="api-h" {
                    header { h2 #api-h { "The API" } }
                    div.pad.choose { p { a href="/docs" { "Every HTTP endpoint" } ", made from " a href="/openapi.json" { code { "/openapi.json" } } "." } }
                }
            }
        }
    };
    let parts = LiveParts::default();
    Sheet { title: "Setup".to_owned(), is_fill: false, shape: "setup", main, parts }
}

fn capital(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

fn agents(chosen: &'static Agent) -> Markup {
    let command = format!("holdpoint setup {} --write", chosen.name);
    html! {
        section.panel aria-labelledby="ag-h" {
            header { h2 #ag-h { "Give it to your agent" } }
            div.pad.choose {
                nav.seg.wrap.ranges aria-label="Agents" {
                    @for agent in AGENTS {
                        a href={ "/setup/" (agent.name) } aria-current=[(agent.name == chosen.name).then_some("true")] { (agent.title) }
                    }
                }
                p { "One command, which merges and keeps a backup:" }
                (pieces::copy_line(&command))
                @match setup::by_hand(chosen) {
                    Ok(hand) => {
                        p.soft { "Or by hand, into " code.path { (line(&hand.file.display().to_string())) } ":" }
                        (pieces::copy_block(&hand.snippet))
                        @if let Some(own) = &hand.command { p.soft { "Or by its own command:" } (pieces::copy_line(own)) }
                        @if let Some(link) = &hand.link { p.soft { "Or by a click: " a href=(link) { "add it to " (chosen.title) } "." } }
                    },
                    Err(error) => p.soft { "Its file is not known here: " (line(&format!("{error:#}"))) },
                }
                p.note { (icon("right")) span { "Then " (ticked(chosen.next_step)) "." } }
            }
        }
    }
}

fn finding_row(finding: &Finding) -> Markup {
    let (class, symbol) = match finding.status {
        FindingKind::Ok => ("ok", "check"),
        FindingKind::Info => ("info", "info"),
        FindingKind::Warning | FindingKind::Missing => ("missing", "alert"),
    };
    html! {
        li class=(class) {
            (icon(symbol))
            div.grow {
                b { (line(&finding.what)) } " " span.soft { (line(&finding.detail)) }
                @if let Some(fix) = &finding.fix { (pieces::copy_line(fix)) }
            }
            span.hush { (finding.status.word()) }
        }
    }
}

/// What stands between backticks is code.
fn ticked(text: &str) -> Markup {
    html! {
        @for (at, piece) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (line(piece)) } } @else { (line(piece)) }
        }
    }
}

fn own_app(app: &App) -> Markup {
    let base = app.base_url().unwrap_or_else(|| "http://localhost:5174".to_owned());
    let module = format!(
        "import {{ withDebug }} from \"{base}/api/debug-client.js\";\n\nwithDebug(\"ON\");\nconst shop = withDebug([\"shop\", new Shop()]);"
    );
    html! {
        section.panel aria-labelledby="ap-h" {
            header { h2 #ap-h { "Hold the calls of your own app" } }
            div.pad.choose {
                p { "Python, without an edit:" }
                (pieces::copy_line("holdpoint run --watch 'shop.*' -- python app.py"))
                p { "JavaScript, in a page or in Node:" }
                (pieces::copy_block(&module))
            }
        }
    }
}
