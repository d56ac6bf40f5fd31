//! The only list of options. A new one is a line here and a field of [`super::Settings`].

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::ValueEnum as _;

use super::{Opt, OptionKind};
use crate::{external::config::ServerConfig, mcp::Structured};

/// What most options are.
const PLAIN: Opt = Opt {
    name: "",
    env: "",
    about: "",
    default: None,
    kind: OptionKind::Flag,
    is_secret: false,
    from_workspace: true,
    set: |_, _| Ok(()),
};

pub(crate) const OPTIONS: &[Opt] = &[
    Opt {
        name: "port",
        env: "HOLDPOINT_PORT",
        about: "The port to listen on, or the next free one; 0 takes any",
        default: Some("5174"),
        kind: OptionKind::Number("PORT"),
        set: |to, given| put(&mut to.port, one(given).and_then(port)),
        ..PLAIN
    },
    // Other people's machines would reach this one.
    Opt {
        name: "host",
        env: "HOLDPOINT_HOST",
        about: "The address to listen on; other than loopback needs --token",
        default: Some("127.0.0.1"),
        kind: OptionKind::Text("ADDRESS"),
        from_workspace: false,
        set: |to, given| put(&mut to.host, one(given).and_then(host)),
        ..PLAIN
    },
    Opt {
        name: "mcp-sse",
        env: "HOLDPOINT_MCP_SSE",
        about: "Also serve MCP over HTTP+SSE at /mcp/sse, for clients that know only that",
        set: |to, given| put(&mut to.mcp_sse, one(given).and_then(flag)),
        ..PLAIN
    },
    Opt {
        name: "keep-alive",
        env: "HOLDPOINT_KEEP_ALIVE",
        about: "Go on serving HTTP when stdin ends",
        set: |to, given| put(&mut to.keep_alive, one(given).and_then(flag)),
        ..PLAIN
    },
    // What is recorded would go where the repository says, and what it brought along would be taken for ours.
    Opt {
        name: "db",
        env: "HOLDPOINT_DB",
        about: "Where to keep what outlives the process: a file, or `:memory:`",
        kind: OptionKind::Path("PATH|:memory:"),
        from_workspace: false,
        set: |to, given| put(&mut to.db, one(given).map(PathBuf::from).map(Some)),
        ..PLAIN
    },
    // Any file could be written over.
    Opt {
        name: "dap-log",
        env: "HOLDPOINT_DAP_LOG",
        about: "Record what is said to and by debug adapters in this file, one JSON per line",
        kind: OptionKind::Path("FILE"),
        from_workspace: false,
        set: |to, given| put(&mut to.dap_log, one(given).map(PathBuf::from).map(Some)),
        ..PLAIN
    },
    Opt {
        name: "end-idle",
        env: "HOLDPOINT_END_IDLE",
        about: "End after this many seconds without a call, a program or an app's call",
        kind: OptionKind::Number("SECONDS"),
        set: |to, given| put(&mut to.end_idle, one(given).and_then(seconds).map(Some)),
        ..PLAIN
    },
    Opt {
        name: "toolset",
        env: "HOLDPOINT_TOOLSET",
        about: "Offer only these tools: `agent`, `slim`, `app` or `vscode`, families (`server,timeline`), or names",
        kind: OptionKind::List("NAMES"),
        set: |to, given| put(&mut to.toolset, Ok(given.to_vec())),
        ..PLAIN
    },
    Opt {
        name: "structured",
        env: "HOLDPOINT_STRUCTURED",
        about: "Whether answers carry JSON beside their text; auto: not to clients that are known to show it \
                to a model in place of the text",
        default: Some("auto"),
        kind: OptionKind::Choice(&["auto", "always", "never"]),
        set: |to, given| put(&mut to.structured, one(given).and_then(structured)),
        ..PLAIN
    },
    Opt {
        name: "tool-timeout",
        env: "HOLDPOINT_TOOL_TIMEOUT",
        about: "Seconds a tool may take when the call does not say",
        kind: OptionKind::Number("SECONDS"),
        set: |to, given| put(&mut to.tool_timeout, one(given).and_then(seconds).map(Some)),
        ..PLAIN
    },
    Opt {
        name: "timeout",
        env: "HOLDPOINT_TIMEOUT",
        about: "The same in milliseconds",
        kind: OptionKind::Number("MS"),
        set: |to, given| put(&mut to.tool_timeout, one(given).and_then(milliseconds).map(Some)),
        ..PLAIN
    },
    // What runs there, and which editor is driven, would be the repository's choice.
    Opt {
        name: "workspace",
        env: "HOLDPOINT_WORKSPACE",
        about: "The project's folder: where relative paths begin, and whose editor is driven",
        kind: OptionKind::Path("DIR"),
        from_workspace: false,
        set: |to, given| put(&mut to.workspace, one(given).map(PathBuf::from).map(Some)),
        ..PLAIN
    },
    // A page of whoever wrote the repository could call every tool.
    Opt {
        name: "allow-origin",
        env: "HOLDPOINT_ALLOW_ORIGIN",
        about: "Trust pages of this origin (`https://host[:port]`) besides loopback; may be repeated",
        kind: OptionKind::List("ORIGIN"),
        from_workspace: false,
        set: |to, given| put(&mut to.allow_origin, given.iter().map(|it| origin(it)).collect()),
        ..PLAIN
    },
    // Whoever is named could run code here.
    Opt {
        name: "allow-user",
        env: "HOLDPOINT_ALLOW_USER",
        about: "Let this user of the machine connect besides you and root, such as an app that runs as `www-data`; \
                may be repeated",
        kind: OptionKind::List("NAME"),
        from_workspace: false,
        set: |to, given| put(&mut to.allow_user, Ok(given.to_vec())),
        ..PLAIN
    },
    Opt {
        name: "share-with-users",
        env: "HOLDPOINT_SHARE_WITH_USERS",
        about: "Let every user of the machine connect; each of them can run code as you",
        from_workspace: false,
        set: |to, given| put(&mut to.share_with_users, one(given).and_then(flag)),
        ..PLAIN
    },
    // One that everybody can read in a repository is none.
    Opt {
        name: "token",
        env: "HOLDPOINT_TOKEN",
        about: "The bearer token that HTTP requests carry; everybody can read it in a command line, so rather \
                --token-file or the environment",
        kind: OptionKind::Text("TOKEN"),
        is_secret: true,
        from_workspace: false,
        set: |to, given| put(&mut to.token, one(given).map(str::to_owned).map(Some)),
        ..PLAIN
    },
    // What must not reach a model would, by the word of whoever wrote the repository.
    Opt {
        name: "show-secrets",
        env: "HOLDPOINT_SHOW_SECRETS",
        about: "Show passwords, tokens and keys as they are instead of `‹secret …›`",
        from_workspace: false,
        set: |to, given| put(&mut to.secrets.shown, one(given).and_then(flag)),
        ..PLAIN
    },
    Opt {
        name: "secret-name",
        env: "HOLDPOINT_SECRET_NAME",
        about: "A name whose values are secret besides those that are known; may be repeated",
        kind: OptionKind::List("NAME"),
        set: |to, given| put(&mut to.secrets.names, Ok(given.to_vec())),
        ..PLAIN
    },
    Opt {
        name: "plain-name",
        env: "HOLDPOINT_PLAIN_NAME",
        about: "A name whose values are no secrets, whatever it sounds like; may be repeated",
        kind: OptionKind::List("NAME"),
        from_workspace: false,
        set: |to, given| put(&mut to.secrets.plain, Ok(given.to_vec())),
        ..PLAIN
    },
    Opt {
        name: "token-file",
        env: "HOLDPOINT_TOKEN_FILE",
        about: "The file that holds the token",
        kind: OptionKind::Path("FILE"),
        from_workspace: false,
        set: |to, given| put(&mut to.token_file, one(given).map(PathBuf::from).map(Some)),
        ..PLAIN
    },
    Opt {
        name: "log-level",
        env: "HOLDPOINT_LOG",
        about: "How much to log on stderr: error, warn, info, debug, trace, or a filter such as \
                `info,rmcp=debug`",
        kind: OptionKind::Text("LEVEL"),
        set: |to, given| put(&mut to.log_level, one(given).map(str::to_owned).map(Some)),
        ..PLAIN
    },
    // Calls and their values, with the token, would go to whoever is named.
    Opt {
        name: "url",
        env: "HOLDPOINT_URL",
        about: "The server to talk to; without it, the one that runs for this folder",
        kind: OptionKind::Text("URL"),
        from_workspace: false,
        set: |to, given| put(&mut to.url, one(given).map(str::to_owned).map(Some)),
        ..PLAIN
    },
    // Each of these three starts programs, or sends calls and headers to whoever is named.
    Opt {
        name: "mcp-clients",
        env: "HOLDPOINT_MCP_CLIENTS",
        about: "Connect the other MCP servers that `mcp_clients.json` of the home names",
        from_workspace: false,
        set: |to, given| put(&mut to.mcp_clients, one(given).and_then(flag)),
        ..PLAIN
    },
    Opt {
        name: "mcp-clients-config",
        env: "HOLDPOINT_MCP_CLIENTS_CONFIG",
        about: "Connect those that this file names; an agent's own file will do",
        kind: OptionKind::Path("FILE"),
        from_workspace: false,
        set: |to, given| put(&mut to.mcp_clients_config, one(given).map(PathBuf::from).map(Some)),
        ..PLAIN
    },
    Opt {
        name: "mcp-client",
        env: "HOLDPOINT_MCP_CLIENT",
        about: "Connect this MCP server: `NAME:COMMAND ARGS…` or `NAME:http://…`; may be repeated",
        kind: OptionKind::Many("NAME:VALUE"),
        from_workspace: false,
        set: |to, given| put(&mut to.mcp_client, given.iter().map(|it| inline(it)).collect()),
        ..PLAIN
    },
    // An agent would call them for whoever wrote the repository.
    Opt {
        name: "expose",
        env: "HOLDPOINT_EXPOSE",
        about: "Offer the tools of this connected server (`SERVER` or `SERVER/TOOL`) as our own; may be repeated",
        kind: OptionKind::List("SERVER[/TOOL]"),
        from_workspace: false,
        set: |to, given| put(&mut to.expose, Ok(given.to_vec())),
        ..PLAIN
    },
];

/// Checked here, so that a wrong one is an error of the command line.
fn inline(text: &str) -> Result<String, String> {
    ServerConfig::inline(text).map(|_| text.to_owned())
}

fn one(given: &[String]) -> Result<&str, String> {
    match given {
        [one] => Ok(one),
        _ => Err("not one value".to_owned()),
    }
}

fn put<T>(to: &mut T, value: Result<T, String>) -> Result<(), String> {
    value.map(|value| *to = value)
}

fn flag(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "neither true nor false".to_owned())
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "not a port: 0 to 65535".to_owned())
}

fn structured(text: &str) -> Result<Structured, String> {
    Structured::from_str(text, true).map_err(|_| "not auto, always or never".to_owned())
}

fn host(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        text => text.parse().map_err(|_| "not an IP address; use 127.0.0.1 or 0.0.0.0".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("not a positive number of seconds".to_owned()),
    }
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(milliseconds @ 1..) => Ok(Duration::from_millis(milliseconds)),
        _ => Err("not a positive number of milliseconds".to_owned()),
    }
}

fn origin(text: &str) -> Result<String, String> {
    let uri: axum::http::Uri = text.parse().map_err(|_| "not an origin".to_owned())?;
    let bare = uri.path_and_query().is_none_or(|path| path.as_str() == "/");
    match (uri.scheme_str(), uri.authority(), bare) {
        (Some(scheme), Some(authority), true) => Ok(format!("{scheme}://{authority}")),
        _ => Err("write it as scheme://host[:port], such as https://app.example".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::Settings;

    #[test]
    fn an_origin_is_kept_bare() {
        assert_eq!(origin("https://app.example/"), Ok("https://app.example".to_owned()));
        assert!(origin("app.example").is_err());
        assert!(origin("https://app.example/path").is_err());
    }

    #[test]
    fn names_are_unique_and_defaults_are_taken() {
        for value in [|it: &Opt| it.name, |it: &Opt| it.env] {
            let names: BTreeSet<&str> = OPTIONS.iter().map(value).collect();
            assert_eq!(names.len(), OPTIONS.len());
        }
        let settings = Settings::default();
        assert_eq!((settings.port, settings.host.is_loopback()), (5174, true));
        for option in OPTIONS.iter().filter(|it| it.default.is_some()) {
            let default = option.default.unwrap().to_owned();
            assert_eq!((option.set)(&mut Settings::default(), &[default]), Ok(()));
        }
    }

    /// Whoever adds an option decides about this one too.
    #[test]
    fn a_workspace_opens_no_door() {
        let own: Vec<&str> =
            OPTIONS.iter().filter(|it| !it.from_workspace).map(|it| it.name).collect();
        let expected = [
            "host",
            "db",
            "dap-log",
            "workspace",
            "allow-origin",
            "allow-user",
            "share-with-users",
            "token",
            "show-secrets",
            "plain-name",
            "token-file",
            "url",
            "mcp-clients",
            "mcp-clients-config",
            "mcp-client",
            "expose",
        ];
        assert_eq!(own, expected);
        for option in OPTIONS {
            let is_path = matches!(option.kind, OptionKind::Path(_));
            assert!(!(option.from_workspace && (is_path || option.is_secret)), "{}", option.name);
        }
    }
}
