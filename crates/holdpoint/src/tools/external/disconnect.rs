//! `external_disconnect`.

use std::time::Duration;

use holdpoint_engine::failure::Failure;

use super::{Gateway, OneServer, said};
use crate::{
    tool::{Call, Effect, Family, Reply, Tool},
    view,
};

pub(crate) struct Disconnect;

impl Tool for Disconnect {
    const NAME: &'static str = "external_disconnect";
    const FAMILY: &'static Family = &super::ADMIN;
    const ABOUT: &'static str = "Disconnect another MCP server; its configuration is kept.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Disconnect a server";
    const TIMEOUT: Duration = Duration::from_secs(60);
    type Scope = Gateway;
    type Params = OneServer;

    async fn run(at: Gateway, which: OneServer, _: Call) -> Result<Reply, Failure> {
        Ok(said(view::external::disconnect(&at.manager, &which.name).await))
    }
}
