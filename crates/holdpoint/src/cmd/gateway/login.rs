//! `holdpoint gateway login` and `logout`: a person says yes in a browser, and the tokens are kept in the home.

use std::{fs, io, process::ExitCode};

use anyhow::{Context as _, bail};
use holdpoint_engine::limits;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

use super::landing;
use crate::{
    cmd::open::browse,
    config::Settings,
    external::{
        config::{Remote, Way, bare, check_name},
        login::{self, LoginAttempt, LoginTerms},
        plan::Plan,
    },
    out,
    serve::runtime,
    tool::nearest,
};

/// Holds the secret of a client that was registered by hand: a command line would show it to others.
const SECRET: &str = "HOLDPOINT_CLIENT_SECRET";

#[derive(clap::Args)]
pub(super) struct LogIn {
    /// The server, as its configuration calls it
    name: String,
    /// Print the address instead of opening it; the address where the browser ends may be pasted here
    #[arg(long)]
    print: bool,
    /// The server's address, where no configuration names it
    #[arg(long, value_name = "URL")]
    at: Option<String>,
    /// What to ask for, beside what was granted before; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// A client that was registered by hand, its secret in $HOLDPOINT_CLIENT_SECRET; or the https:// address of a
    /// document that says who the client is
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Where the browser comes back to, for a client that was registered with it
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[derive(clap::Args)]
pub(super) struct LogOut {
    /// The server, as its configuration calls it
    name: String,
}

impl LogIn {
    pub(super) fn run(self, settings: Settings) -> anyhow::Result<ExitCode> {
        check_name(&self.name).map_err(anyhow::Error::msg)?;
        let remote = self.remote(settings)?;
        runtime()?.block_on(self.log_in(&remote))?;
        out::line(format_args!("logged in at {} ({})", self.name, bare(&remote.url)));
        Ok(ExitCode::SUCCESS)
    }

    fn remote(&self, mut settings: Settings) -> anyhow::Result<Remote> {
        if let Some(url) = &self.at {
            return Ok(Remote { url: url.clone(), headers: Default::default() });
        }
        settings.mcp_clients = true;
        settings.expose.clear();
        let servers = Plan::of(&settings)?.map(|it| it.servers).unwrap_or_default();
        let Some(config) = servers.get(&self.name) else {
            let near = nearest(&self.name, servers.keys().map(String::as_str));
            let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
            bail!("no configuration names `{}`{near}\nhint: --at URL says where it is", self.name);
        };
        match &config.way {
            Way::Sse(it) | Way::Http(it) | Way::Either(it) => Ok(it.clone()),
            Way::Stdio { .. } => bail!("`{}` is a command, and has no login here", self.name),
        }
    }

    async fn log_in(&self, remote: &Remote) -> anyhow::Result<()> {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await;
        let listener = listener.context("no port for the browser to come back to")?;
        let back = format!("http://127.0.0.1:{}{}", listener.local_addr()?.port(), landing::PATH);
        let wanted = LoginTerms {
            client_id: self.client_id.clone(),
            client_secret: std::env::var(SECRET).ok().filter(|it| !it.is_empty()),
            scopes: self.scope.clone(),
            challenge: None,
        };
        let told = |why: String| anyhow::anyhow!("`{}`: {why}", self.name);
        let attempt = login::begin(&self.name, remote, &back, wanted).await.map_err(told)?;
        self.show(attempt.url());
        let came = self.came(&attempt, listener, &back);
        let came = tokio::time::timeout(limits::EXTERNAL_LOGIN, came).await;
        let came = came.with_context(|| {
            format!("nobody logged in within {} minutes", limits::EXTERNAL_LOGIN.as_secs() / 60)
        })?;
        let (came, browser) = came?;
        let finished = attempt.finish(&came).await;
        if let Some(browser) = browser {
            landing::tell(browser, finished.is_ok()).await;
        }
        finished.map_err(told)
    }

    fn show(&self, url: &str) {
        if !self.print && browse(url) {
            out::line("your browser opens; say yes there");
            return;
        }
        out::line(format_args!(
            "open this in a browser:\n{url}\nif it cannot come back here, paste the address where it ends:"
        ));
    }

    /// Where the browser was sent, by itself or by whoever pastes it.
    async fn came(
        &self,
        attempt: &LoginAttempt,
        listener: TcpListener,
        back: &str,
    ) -> anyhow::Result<(String, Option<TcpStream>)> {
        tokio::select! {
            landed = landing::land(listener, back, |url| attempt.is_mine(url)) => {
                let (url, browser) = landed?;
                Ok((url, Some(browser)))
            }
            Some(url) = pasted(self.print) => match attempt.is_mine(&url) {
                true => Ok((url, None)),
                false => bail!("that is not the address where this login ends"),
            },
        }
    }
}

/// The first line of stdin. Never, where nobody is asked for it.
async fn pasted(is_asked: bool) -> Option<String> {
    if !is_asked {
        return std::future::pending().await;
    }
    let (tell, told) = oneshot::channel();
    // Ends with a line, or with this process: nothing can interrupt who reads.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line).is_ok_and(|bytes| bytes > 0);
        if read && tell.send(line.trim().to_owned()).is_err() {
            tracing::debug!("the browser came back by itself");
        }
    });
    match told.await {
        Ok(line) => Some(line),
        // Nobody is there to paste anything.
        Err(_closed) => std::future::pending().await,
    }
}

impl LogOut {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        check_name(&self.name).map_err(anyhow::Error::msg)?;
        let file = login::file(&self.name).context("there is no home")?;
        match fs::remove_file(&file) {
            Ok(()) => out::line(format_args!("the login at {} is forgotten", self.name)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                out::line(format_args!("nobody is logged in at {}", self.name));
            }
            Err(error) => return Err(error).context("the login cannot be removed"),
        }
        Ok(ExitCode::SUCCESS)
    }
}
