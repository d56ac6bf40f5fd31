//! Why something asked of another server was not done, in the words of the contract.

use holdpoint_engine::{budget, failure::Failure, limits};
use serde_json::{Map, Value, json};

use crate::tool::echo;

#[derive(Debug, Clone)]
pub(crate) enum Unserved {
    /// `server/tool` is the form.
    NoName {
        tool: String,
        /// The whole name of a tool that is called so.
        near: Option<String>,
    },
    NoServer {
        server: String,
        near: Option<String>,
    },
    NotConnected {
        server: String,
        status: &'static str,
        error: Option<String>,
        /// What to do about it, where that is not to try again.
        advice: Option<String>,
    },
    NoTool {
        tool: String,
        near: Option<String>,
    },
    NoResource {
        server: String,
        uri: String,
    },
    /// The arguments are not as the tool's schema has them.
    Arguments(Box<Failure>),
    Timeout {
        seconds: f64,
    },
    /// Nobody is logged in there, or not as somebody who may do this.
    Login {
        advice: String,
        challenge: String,
    },
    /// The server said so, or went away.
    Failed {
        message: String,
        code: Option<i32>,
        data: Option<Value>,
    },
}

impl Unserved {
    pub(crate) fn failed(message: impl Into<String>) -> Unserved {
        let message = budget::cut(&message.into(), limits::EXTERNAL_ERROR);
        Unserved::Failed { message, code: None, data: None }
    }

    /// The contract's word.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Unserved::NoName { .. } => "invalid_tool_name",
            Unserved::NoServer { .. } => "server_not_found",
            Unserved::NotConnected { .. } => "server_not_connected",
            Unserved::NoTool { .. } => "tool_not_found",
            Unserved::NoResource { .. } => "resource_not_found",
            Unserved::Arguments(_) => "invalid_arguments",
            Unserved::Timeout { .. } => "call_timeout",
            Unserved::Login { .. } | Unserved::Failed { .. } => "call_failed",
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Unserved::NoName { tool, near } => {
                let meant = meant(near.as_deref());
                format!("`{}` is not of the form server/tool{meant}", echo(tool))
            }
            Unserved::NoServer { server, near } => {
                format!("no server `{}`{}", echo(server), meant(near.as_deref()))
            }
            Unserved::NotConnected { server, status, error, .. } => {
                let why = error.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
                format!("`{server}` is {status}{why}")
            }
            Unserved::NoTool { tool, near } => {
                format!("no tool `{}`{}", echo(tool), meant(near.as_deref()))
            }
            Unserved::NoResource { server, uri } => {
                format!("`{server}` has no resource `{}`", echo(uri))
            }
            Unserved::Arguments(failure) => failure.message.to_string(),
            Unserved::Timeout { seconds } => format!("timeout after {seconds}s"),
            Unserved::Login { advice, .. } => format!("it asks for a login: {advice}"),
            Unserved::Failed { message, .. } => message.clone(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Unserved::NoName { near, .. } => {
                let name = near.as_deref().unwrap_or("server/tool");
                let shape = json!({ "tool": name, "arguments": {} });
                Some(format!("one parameter names both: {shape}; `external_list_tools` lists them"))
            }
            Unserved::NoTool { .. } => Some("`external_list_tools` lists them".to_owned()),
            Unserved::NoServer { .. } => Some("`external_list_servers` lists them".to_owned()),
            Unserved::Login { advice, .. }
            | Unserved::NotConnected { advice: Some(advice), .. } => Some(advice.clone()),
            Unserved::NotConnected { .. } => Some(
                "`external_list_servers` says how it stands; POST /api/mcp-clients/NAME/reconnect \
                 connects it again"
                    .to_owned(),
            ),
            Unserved::NoResource { .. } => Some("`external_list_resources` lists them".to_owned()),
            Unserved::Arguments(failure) => failure.hint.as_deref().map(str::to_owned),
            Unserved::Timeout { .. } => {
                Some("`timeout_s` of the server's configuration is how long a call may take".into())
            }
            Unserved::Failed { .. } => None,
        }
    }

    /// `{"error": code, …}`.
    pub(crate) fn json(&self) -> Value {
        let mut error = Map::new();
        error.insert("error".to_owned(), self.code().into());
        let mut put = |name: &str, value: Value| drop(error.insert(name.to_owned(), value));
        match self {
            Unserved::NoName { tool, .. } | Unserved::NoTool { tool, .. } => {
                put("tool", json!(echo(tool)))
            }
            Unserved::NoServer { server, .. } => put("server", json!(echo(server))),
            Unserved::NotConnected { server, status, .. } => {
                put("server", json!(server));
                put("status", json!(status));
            }
            Unserved::NoResource { server, uri } => {
                put("server", json!(server));
                put("uri", json!(echo(uri)));
            }
            Unserved::Failed { code, data, .. } => {
                if let Some(code) = code {
                    put("code", json!(code));
                }
                if let Some(data) = data {
                    put("data", data.clone());
                }
            }
            Unserved::Arguments(failure) => {
                if let Some(details) = &failure.details {
                    put("details", (**details).clone());
                }
            }
            Unserved::Timeout { .. } | Unserved::Login { .. } => {}
        }
        put("message", json!(self.message()));
        if let Some(hint) = self.hint() {
            put("hint", json!(hint));
        }
        Value::Object(error)
    }
}

fn meant(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}
