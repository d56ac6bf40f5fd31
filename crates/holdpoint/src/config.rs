//! What holds for this process: defaults, then the user's file, then the workspace's, then the environment, then
//! the arguments; each before gives way to the next.
//!
//! [`OPTIONS`] is the only list: the command line, the environment, the files and `holdpoint config` derive
//! from it. The user's file is `$HOLDPOINT_HOME/config.toml`, the workspace's `.holdpoint/config.toml` in the
//! project's folder. That one comes with a repository that somebody cloned, so what would open a door
//! (a token, an origin, an address, a path) is refused there: see [`Opt::from_workspace`]. What is wrong in a
//! file is an error: an option that silently does not hold is worse than a start that fails.

mod adapters;
mod files;
mod options;

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::{Arg, ArgAction, ArgMatches, builder::BoolishValueParser, parser::ValueSource};
use holdpoint_engine::secrets::OwnRules;

use self::files::Files;
pub(crate) use self::{files::workspace, options::OPTIONS};
use crate::{mcp::Structured, wrap::Wrapped};

/// What every command may ask for. A field is set by its option's line in [`OPTIONS`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) port: u16,
    pub(crate) host: IpAddr,
    pub(crate) mcp_sse: bool,
    pub(crate) keep_alive: bool,
    pub(crate) db: Option<PathBuf>,
    pub(crate) dap_log: Option<PathBuf>,
    pub(crate) end_idle: Option<Duration>,
    pub(crate) toolset: Vec<String>,
    pub(crate) structured: Structured,
    pub(crate) tool_timeout: Option<Duration>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) allow_origin: Vec<String>,
    pub(crate) allow_user: Vec<String>,
    pub(crate) share_with_users: bool,
    /// As given, or what `token_file` holds.
    pub(crate) token: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) log_level: Option<String>,
    pub(crate) secrets: OwnRules,
    pub(crate) url: Option<String>,
    pub(crate) mcp_clients: bool,
    pub(crate) mcp_clients_config: Option<PathBuf>,
    pub(crate) mcp_client: Vec<String>,
    pub(crate) expose: Vec<String>,
    /// The server that `wrap` stands before; no option.
    pub(crate) wrapped: Option<Wrapped>,
}

/// One option, wherever it is written.
pub(crate) struct Opt {
    /// As an argument; in files with `_` in place of `-`.
    pub(crate) name: &'static str,
    pub(crate) env: &'static str,
    pub(crate) about: &'static str,
    pub(crate) default: Option<&'static str>,
    pub(crate) kind: OptionKind,
    /// Never shown.
    pub(crate) is_secret: bool,
    /// Whether the file of a workspace may set it: whoever wrote the repository must not open a door by it.
    pub(crate) from_workspace: bool,
    pub(crate) set: fn(&mut Settings, &[String]) -> Result<(), String>,
}

/// What it takes, and what its value is called in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionKind {
    Flag,
    Number(&'static str),
    Text(&'static str),
    /// In a file relative to that file.
    Path(&'static str),
    /// Several, on one line with commas between.
    List(&'static str),
    Choice(&'static [&'static str]),
    /// Several, each of which may hold a comma.
    Many(&'static str),
}

/// Which layer a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layer {
    Default,
    File { path: PathBuf, line: usize },
    Environment(&'static str),
    Argument(&'static str),
}

/// One option as it holds.
pub(crate) struct Setting {
    pub(crate) option: &'static Opt,
    /// None where it is not set and has no default.
    pub(crate) values: Option<Vec<String>>,
    pub(crate) source: Layer,
}

/// What holds, and where it comes from.
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) held: Vec<Setting>,
    /// The files that were looked for, and whether they were there.
    pub(crate) files: Vec<(PathBuf, bool)>,
}

impl Opt {
    /// Its name in a file.
    pub(crate) fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    pub(crate) fn find(name: &str) -> Option<&'static Opt> {
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// The same option on the command line and in the environment.
    pub(crate) fn arg(&'static self) -> Arg {
        let check = |text: &str| -> Result<String, String> {
            let mut settings = Settings::default();
            (self.set)(&mut settings, &[text.to_owned()]).map(|()| text.to_owned())
        };
        let arg = Arg::new(self.name)
            .long(self.name)
            .env(self.env)
            .help(self.about)
            .hide_env_values(self.is_secret);
        let arg = match self.kind {
            OptionKind::Flag => {
                arg.action(ArgAction::SetTrue).value_parser(BoolishValueParser::new())
            }
            OptionKind::Choice(words) => arg.value_name("WORD").value_parser(words.to_vec()),
            OptionKind::List(name) => arg
                .value_name(name)
                .action(ArgAction::Append)
                .value_delimiter(',')
                .value_parser(check),
            OptionKind::Many(name) => {
                arg.value_name(name).action(ArgAction::Append).value_parser(check)
            }
            OptionKind::Number(name) | OptionKind::Text(name) | OptionKind::Path(name) => {
                arg.value_name(name).value_parser(check)
            }
        };
        match self.default {
            Some(text) => arg.default_value(text),
            None => arg,
        }
    }

    /// What the command line or the environment says.
    fn given(&'static self, matches: &ArgMatches) -> Option<(Vec<String>, Layer)> {
        let source = match matches.value_source(self.name)? {
            ValueSource::CommandLine => Layer::Argument(self.name),
            ValueSource::EnvVariable => Layer::Environment(self.env),
            _ => return None,
        };
        let values = match self.kind {
            OptionKind::Flag => vec![matches.get_flag(self.name).to_string()],
            _ => {
                let raw = matches.get_raw(self.name).into_iter().flatten();
                raw.map(|text| text.to_string_lossy().into_owned()).collect()
            }
        };
        Some((values, source))
    }
}

impl Config {
    /// For a command that takes these options.
    pub(crate) fn load(takes: &[&'static str], matches: &ArgMatches) -> anyhow::Result<Config> {
        // What needs no option needs no file: the guard of each program comes by here too.
        if takes.is_empty() {
            let settings = Settings::default();
            return Ok(Config { settings, held: Vec::new(), files: Vec::new() });
        }
        let mut files = Files::read()?;
        adapters::mount(std::mem::take(&mut files.adapters));
        let mut settings = Settings::default();
        let mut held = Vec::new();
        for option in OPTIONS.iter().filter(|option| takes.contains(&option.name)) {
            let default = || option.default.map(|text| vec![text.to_owned()]);
            let (values, source) = match option.given(matches).or_else(|| files.get(option)) {
                Some((values, source)) => (Some(values), source),
                None => (default(), Layer::Default),
            };
            if let Some(values) = &values {
                // Checked where it was read; and a value of the environment may be empty.
                (option.set)(&mut settings, values)
                    .map_err(|problem| anyhow::anyhow!("`{}`: {problem}", option.key()))?;
            }
            held.push(Setting { option, values, source });
        }
        Ok(Config { settings, held, files: files.paths })
    }
}

/// Makes the languages known that the user's file configures, for a command that takes no option.
pub(crate) fn mount_languages() -> anyhow::Result<()> {
    adapters::mount(Files::read()?.adapters);
    Ok(())
}

/// Only those that we ship: what is written about ourselves is the same everywhere.
pub(crate) fn mount_our_languages() {
    adapters::mount(Vec::new());
}

impl Settings {
    /// With the token, wherever it lies; for who sends it or asks for it.
    pub(crate) fn with_token(mut self) -> anyhow::Result<Settings> {
        files::take_token(&mut self)?;
        Ok(self)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        let mut settings = Settings {
            port: 0,
            host: IpAddr::from([127, 0, 0, 1]),
            mcp_sse: false,
            keep_alive: false,
            db: None,
            dap_log: None,
            end_idle: None,
            toolset: Vec::new(),
            structured: Structured::default(),
            tool_timeout: None,
            workspace: None,
            allow_origin: Vec::new(),
            allow_user: Vec::new(),
            share_with_users: false,
            token: None,
            token_file: None,
            log_level: None,
            secrets: OwnRules::default(),
            url: None,
            mcp_clients: false,
            mcp_clients_config: None,
            mcp_client: Vec::new(),
            expose: Vec::new(),
            wrapped: None,
        };
        for option in OPTIONS {
            if let Some(text) = option.default {
                let set = (option.set)(&mut settings, &[text.to_owned()]);
                debug_assert!(set.is_ok(), "the default of `{}`", option.name);
            }
        }
        settings
    }
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Layer::Default => f.write_str("default"),
            Layer::File { path, line } => write!(f, "{}:{line}", path.display()),
            Layer::Environment(name) => f.write_str(name),
            Layer::Argument(name) => write!(f, "--{name}"),
        }
    }
}
