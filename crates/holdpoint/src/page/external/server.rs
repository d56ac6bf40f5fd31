//! The servers as a list, one of them with how it stands, and a form that connects another.

use std::sync::Arc;

use maud::{Markup, html};

use crate::{
    external::{
        login,
        server::{ExternalServer, ExternalTool, LinkState, LinkStatus},
    },
    page::{
        address,
        pieces::{self, block, icon, line},
    },
};

pub(super) fn list(all: &[Arc<ExternalServer>], chosen: Option<&Arc<ExternalServer>>) -> Markup {
    html! {
        @if all.is_empty() { li.none { span.quiet.pad { "None yet." } } }
        @for server in all {
            @let state = server.state();
            @let is_on = chosen.is_some_and(|it| it.name == server.name);
            li.is-on[is_on].blue[is_on] id={ "server-" (address::word(&server.name)) } {
                a.row-link href={ "/external/" (address::word(&server.name)) } aria-current=[is_on.then_some("true")] {
                    span class={ "state " (hue(state.status)) } aria-hidden="true" {}
                    span.grow { b.cut { (line(&server.name)) } small.cut { (aside(&state)) } }
                    span class={ "st-w " (hue(state.status)) } { (state.status.as_str()) }
                }
            }
        }
    }
}

/// Nothing here waits for the person, so nothing is amber.
fn hue(status: LinkStatus) -> &'static str {
    match status {
        LinkStatus::Connected => "run",
        LinkStatus::Error | LinkStatus::Failed => "fail",
        LinkStatus::Connecting | LinkStatus::Disconnected => "",
    }
}

fn aside(state: &LinkState) -> Markup {
    html! {
        (state.transport)
        @if state.status == LinkStatus::Connected { ", " (state.tools.len()) " tools" }
        @if state.attempts > 0 { ", tried " (state.attempts) " times again" }
    }
}

pub(super) fn tools(server: &ExternalServer, chosen: Option<&Arc<ExternalTool>>) -> Markup {
    let state = server.state();
    html! {
        @if state.tools.is_empty() { li { span.quiet.pad { "None are known: it is " (state.status.as_str()) "." } } }
        @for tool in state.tools.values() {
            @let is_on = chosen.is_some_and(|it| it.name == tool.name);
            li.is-on[is_on] {
                a href=(super::to(&server.name, &tool.original)) aria-current=[is_on.then_some("true")] { (line(&tool.original)) }
            }
        }
    }
}

/// How one stands, what it wrote to stderr, and what can be done about it.
pub(super) fn one(server: &ExternalServer) -> Markup {
    let state = server.state();
    let stderr = state.connection.as_ref().and_then(|it| it.last_said());
    let advice = state.challenge.as_deref().map(|it| login::advice(&server.name, it));
    html! {
        header {
            h2 #one-h { (line(&server.name)) }
            small { (state.transport) ", " (state.status.as_str())
                @if let Some(at) = state.connected_at { " since " (pieces::age(pieces::seconds_ms(at))) } }
            form.end.btns-row method="post" action={ "/external/" (address::word(&server.name)) } {
                button.btn.small name="do" value="reconnect" { (icon("restart")) "Reconnect" }
                @if state.status != LinkStatus::Disconnected {
                    button.btn.small name="do" value="disconnect" { "Disconnect" }
                }
            }
        }
        @if let Some(error) = &state.error {
            div.failure { (icon("fail")) b { (line(error)) } p { @if let Some(advice) = &advice { (line(advice)) } } }
        }
        @if let Some(stderr) = &stderr {
            details.pad-s.stderr open { summary.quiet { "What it wrote to stderr last" }
                pre.out.boxed tabindex="0" aria-label="Stderr" { (block(stderr)) } }
        }
    }
}

pub(super) fn connect_form() -> Markup {
    html! {
        section.panel aria-labelledby="c-h" {
            header { h2 #c-h { "Connect another" } small { "for as long as this server runs" } }
            form.pad.launch method="post" action="/external" {
                input type="hidden" name="do" value="connect";
                label.field { span { "Name" } input.in.mono name="name" required autocomplete="off" spellcheck="false"; }
                label.field.grow { span { "Command, or address" } input.in.mono name="way" placeholder="npx -y @modelcontextprotocol/server-everything" required autocomplete="off" spellcheck="false"; }
                button.btn { (icon("plus")) "Connect" }
            }
        }
    }
}
