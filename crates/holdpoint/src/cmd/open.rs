//! `holdpoint open`: the page, in a browser that may use it.
//!
//! The address holds a key that works once, within a minute: the browser changes it for a cookie of its own.

use std::{
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use holdpoint_engine::limits;
use serde_json::Value;

use crate::{
    config::{Config, Settings},
    out,
    serve::runtime,
    servers::{find, trust},
    web,
};

/// A server on this machine answers at once or not at all.
const PATIENCE: Duration = Duration::from_secs(10);

/// Open the page of this folder's server in a browser
///
/// Where no server runs for this folder, one is started as by `holdpoint tool`.
#[derive(clap::Parser)]
pub(crate) struct Open {
    /// Print the address instead of opening it; it works once, for a minute
    #[arg(long)]
    print: bool,
}

impl super::Command for Open {
    const NAME: &'static str = "open";
    const TAKES: &'static [&'static str] = &["url", "token", "token-file", "end-idle"];

    fn run(self, config: Config) -> anyhow::Result<ExitCode> {
        let url = runtime()?.block_on(address(&config.settings.with_token()?))?;
        if self.print {
            out::line(url);
        } else if browse(&url) {
            out::line("the page is opening in your browser");
        } else {
            out::line(format_args!(
                "no browser could be started; open this within a minute:\n{url}"
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn address(settings: &Settings) -> anyhow::Result<String> {
    let here = std::env::current_dir().context("the current folder is gone")?;
    let idle = settings.end_idle.unwrap_or(limits::DETACHED_IDLE);
    let found = find::find(settings.url.as_deref(), &here, idle).await?;
    let pass = trust::pass(&found, settings.token.as_deref())?;
    let client = web::client(&found.url).map_err(anyhow::Error::msg)?;
    let mut request = client.post(format!("{}/api/open", found.url));
    if let Some(pass) = pass {
        request = request.bearer_auth(pass);
    }
    let answer = async { request.send().await?.text().await };
    let answer = tokio::time::timeout(PATIENCE, answer).await.context("the server does not answer");
    let answer = answer?.with_context(|| format!("no Holdpoint answers at {}", found.url))?;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    match (answer.get("url").and_then(Value::as_str), answer.get("error").and_then(Value::as_str)) {
        (Some(url), _) => Ok(url.to_owned()),
        (None, Some(error)) => bail!("{} refuses: {error}", found.url),
        (None, None) => bail!("no Holdpoint answers at {}", found.url),
    }
}

/// Whether somebody took the address.
pub(super) fn browse(url: &str) -> bool {
    let set = std::env::var("BROWSER").ok().filter(|it| !it.is_empty());
    // A list of them, by convention; the first that starts.
    let chosen: Vec<String> = set.iter().flat_map(|it| it.split(':')).map(str::to_owned).collect();
    let usual = ["xdg-open", "wslview", "open"].map(str::to_owned);
    chosen.iter().chain(&usual).any(|program| {
        let mut command = Command::new(program);
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    })
}
