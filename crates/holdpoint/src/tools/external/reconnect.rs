//! `external_reconnect`.

use std::time::Duration;

use holdpoint_engine::failure::Failure;

use super::{Gateway, OneServer, said};
use crate::{
    tool::{Call, Effect, Family, Reply, Tool},
    view,
};

pub(crate) struct Reconnect;

impl Tool for Reconnect {
    const NAME: &'static str = "external_reconnect";
    const FAMILY: &'static Family = &super::ADMIN;
    const ABOUT: &'static str =
        "Connect another MCP server anew, by the configuration that it has.";
    const EFFECT: Effect = Effect::Sets;
    const TITLE: &'static str = "Connect a server anew";
    const TIMEOUT: Duration = Duration::from_secs(60);
    type Scope = Gateway;
    type Params = OneServer;

    async fn run(at: Gateway, which: OneServer, _: Call) -> Result<Reply, Failure> {
        Ok(said(view::external::reconnect(&at.manager, &which.name).await))
    }
}
