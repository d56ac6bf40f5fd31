//! Other MCP servers, used from here: how each stands and what it wrote to stderr, its tools with a form made from their
//! schemas, and what was called. Calling, holding, connecting and letting go are the tools that agents use.

mod doing;
mod form;
mod recent;
mod server;

use std::sync::Arc;

use holdpoint_engine::failure::{Code, Failure};
use maud::{Markup, html};

use super::{
    address::{self, FormFields, PageAddress},
    pieces::{self, icon, line},
    sheet::{Count, LiveParts, PageView, Sheet, Then},
};
use crate::{
    app::App,
    external::{
        manager::Manager,
        server::{ExternalServer, ExternalTool, LinkStatus},
    },
};

pub(super) struct ExternalView;

impl PageView for ExternalView {
    const NAME: &'static str = "external";
    const TITLE: &'static str = "External";
    const ICON: &'static str = "external";
    const KEY: char = 'e';

    fn count(app: &App) -> Count {
        match app.external.get() {
            Some(manager) => Count::Some(connected(manager)),
            None => Count::None,
        }
    }

    /// `/external/<server>/<tool>`
    async fn show(app: App, at: PageAddress) -> Result<Sheet, Failure> {
        let Some(manager) = app.external.get().map(Arc::clone) else { return Ok(none()) };
        let all = manager.all();
        let server = chosen_server(&all, at.word(0))?;
        let tool = match &server {
            Some(server) => chosen_tool(server, at.word(1))?,
            None => None,
        };
        full(&app, &manager, &all, server.as_ref(), tool.as_ref()).await
    }

    async fn act(app: App, at: PageAddress, form: FormFields) -> Result<Then, Failure> {
        doing::act(&app, &at, &form).await
    }
}

fn connected(manager: &Manager) -> usize {
    let is_up = |it: &Arc<ExternalServer>| it.state().status == LinkStatus::Connected;
    manager.all().iter().filter(|it| is_up(it)).count()
}

/// The server that the address names; the first where it names none.
fn chosen_server(
    all: &[Arc<ExternalServer>],
    name: Option<&str>,
) -> Result<Option<Arc<ExternalServer>>, Failure> {
    let Some(name) = name else { return Ok(all.first().map(Arc::clone)) };
    let found = all.iter().find(|it| it.name == name).map(Arc::clone);
    let no = || {
        Failure::new(Code::NotFound, format!("no server `{name}` is used from here"))
            .hint("its entry may have been taken out of the file")
    };
    found.map(Some).ok_or_else(no)
}

/// The same for its tool.
fn chosen_tool(
    server: &ExternalServer,
    name: Option<&str>,
) -> Result<Option<Arc<ExternalTool>>, Failure> {
    let tools = server.state().tools;
    let Some(name) = name else { return Ok(tools.values().next().map(Arc::clone)) };
    let found = tools.values().find(|it| it.original == name).map(Arc::clone);
    // One that is not connected now has none, and may have it again.
    if found.is_none() && server.state().status == LinkStatus::Connected {
        let text = format!("`{}` has no tool `{name}`", server.name);
        return Err(Failure::new(Code::NotFound, text));
    }
    Ok(found)
}

/// Where a tool is shown.
fn to(server: &str, tool: &str) -> String {
    format!("/external/{}/{}", address::word(server), address::word(tool))
}

async fn full(
    app: &App,
    manager: &Manager,
    all: &[Arc<ExternalServer>],
    server: Option<&Arc<ExternalServer>>,
    tool: Option<&Arc<ExternalTool>>,
) -> Result<Sheet, Failure> {
    let mut parts = LiveParts::default();
    let result = match tool {
        Some(tool) => recent::last(app, tool, &mut parts).await?,
        None => html! {},
    };
    let recent = recent::table(app, &mut parts).await?;
    let main = html! {
        header.bar {
            h1 { "External" }
            p #sentence aria-live="polite" { (parts.put("sentence", sentence(manager, all.len()))) }
        }
        div.body.ext {
            div.col {
                section.panel aria-labelledby="s-h" {
                    header { h2 #s-h { "Servers" } small #servers-n { (parts.put("servers-n", html! { (all.len()) })) } }
                    ul.pick #servers { (parts.put("servers", server::list(all, server))) }
                }
                @if let Some(server) = server {
                    section.panel aria-labelledby="tools-h" {
                        header { h2 #tools-h { "Tools of " (line(&server.name)) } }
                        ul.toollist #tools { (parts.put("tools", server::tools(server, tool))) }
                    }
                }
            }
            div.col {
                @if let (Some(server), Some(tool)) = (server, tool) {
                    (form::panel(app, server, tool, result, &mut parts).await)
                }
                @if let Some(server) = server {
                    section.panel #server-panel aria-labelledby="one-h" { (parts.put("server-panel", server::one(server))) }
                }
                section.panel aria-labelledby="rc-h" {
                    header { h2 #rc-h { "Recent calls" } small { "of every server" } div.end { a.btn.small.bare href="/calls/records" { "All" (icon("right")) } } }
                    div.scroll #recent tabindex="0" role="region" aria-label="Recent calls, as a table" { (parts.put("recent", recent)) }
                }
                (server::connect_form())
            }
        }
    };
    let shape = if tool.is_some() { "tool" } else { "servers" };
    Ok(Sheet { title: "External".to_owned(), is_fill: false, shape, main, parts })
}

fn sentence(manager: &Manager, all: usize) -> Markup {
    let up = connected(manager);
    html! {
        (up) " of " (all) @if all == 1 { " server is connected. " } @else { " servers are connected. " }
        "Every call is recorded, and can be held."
    }
}

/// Where the start named none.
fn none() -> Sheet {
    let main = html! {
        header.bar { h1 { "External" } p { "Other MCP servers, used from here." } }
        div.body {
            section.panel {
                div.empty {
                    b { "This server was started without other MCP servers." }
                    "Name them at the start, and their calls are recorded here and can be held:"
                }
                div.pad.choose {
                    (pieces::copy_line("holdpoint serve --mcp-client 'files:npx -y @modelcontextprotocol/server-filesystem .'"))
                    p.quiet { (icon("info")) " " (crate::tools::external::NONE) }
                }
            }
        }
    };
    Sheet {
        title: "External".to_owned(),
        is_fill: false,
        shape: "none",
        main,
        parts: LiveParts::default(),
    }
}
