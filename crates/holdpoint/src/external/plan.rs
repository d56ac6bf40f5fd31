//! Which other servers a start asks for: those of a file, and those of the command line, which win.

use std::{collections::BTreeMap, path::PathBuf};

use super::config::{self, ServerConfig};
use crate::config::Settings;

/// That there is to be a manager, and with what.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The file that is watched for edits.
    pub(crate) file: Option<PathBuf>,
    pub(crate) inline: BTreeMap<String, ServerConfig>,
    pub(crate) servers: BTreeMap<String, ServerConfig>,
}

impl Plan {
    /// None where nothing asks for one: then nothing of it is touched.
    pub(crate) fn of(settings: &Settings) -> anyhow::Result<Option<Plan>> {
        let named = settings.mcp_clients_config.clone();
        if !settings.mcp_clients && named.is_none() && settings.mcp_client.is_empty() {
            return match settings.expose.is_empty() {
                true => Ok(None),
                false => anyhow::bail!(
                    "--expose: no other servers are named\nhint: --mcp-client NAME:COMMAND names one"
                ),
            };
        }
        let mut inline = BTreeMap::new();
        for text in &settings.mcp_client {
            let server = ServerConfig::inline(text);
            let (name, config) =
                server.map_err(|problem| anyhow::anyhow!("--mcp-client: {problem}"))?;
            inline.insert(name, config);
        }
        // The usual one may be missing; one that was named must be there.
        let file = match (named, settings.mcp_clients) {
            (Some(named), _) => Some(named),
            (None, true) => config::usual(),
            (None, false) => None,
        };
        let mut servers = match &file {
            Some(file) => config::read(file)?,
            None => BTreeMap::new(),
        };
        servers.extend(inline.clone());
        Ok(Some(Plan { file, inline, servers }))
    }
}
