//! What a person does to other servers and their tools, by the tools that agents use. A call may be held, or take
//! long: its result is shown when it comes.

use holdpoint_engine::failure::{Code, Failure};
use serde_json::{Map, Value, json};

use super::form;
use crate::{
    app::App,
    page::{
        address::{FormFields, PageAddress},
        calls::doing::refusal,
        sessions::doing,
        sheet::Then,
    },
    tool::Reply,
};

pub(super) async fn act(app: &App, at: &PageAddress, form: &FormFields) -> Result<Then, Failure> {
    let server = at.word(0).unwrap_or_default();
    let (tool, asked) = match form.get("do") {
        "call" | "call_json" => return call(app, at, form).await,
        "connect" => return connect(app, form).await,
        "hold" => (
            "breakpoint_add",
            json!({ "function_name": name(at), "behavior": "stop", "after": "go" }),
        ),
        "let" => ("breakpoint_remove", json!({ "function_name": name(at) })),
        "reconnect" => ("external_reconnect", json!({ "name": server })),
        "disconnect" => ("external_disconnect", json!({ "name": server })),
        _ => return Err(form.unknown()),
    };
    told(doing::tool(app, tool, None, asked).await?)?;
    Ok(Then::Here)
}

/// `server/tool`
fn name(at: &PageAddress) -> String {
    format!("{}/{}", at.word(0).unwrap_or_default(), at.word(1).unwrap_or_default())
}

async fn call(app: &App, at: &PageAddress, form: &FormFields) -> Result<Then, Failure> {
    let name = name(at);
    let arguments = match form.get("do") {
        "call" => of_fields(app, &name, form)?,
        _ => of_json(form.get("json"))?,
    };
    let asked = json!({ "tool": name, "arguments": arguments });
    let done = told(doing::tool(app, "external_call_tool", None, asked).await?)?;
    // Where it takes longer, the stream shows what came of it.
    let said = "Asked for. It is held, or takes a while; what comes of it is shown here.";
    Ok(if done { Then::Here } else { Then::Said(said.to_owned()) })
}

fn of_fields(app: &App, name: &str, form: &FormFields) -> Result<Map<String, Value>, Failure> {
    let manager =
        app.external.get().ok_or_else(|| Failure::new(Code::NotFound, "no other servers"))?;
    let (_, tool, _) =
        manager.tool(name).map_err(|refused| Failure::new(Code::NotFound, refused.message()))?;
    Ok(form::arguments(&tool, form))
}

fn of_json(text: &str) -> Result<Map<String, Value>, Failure> {
    let no =
        |why: String| Failure::new(Code::InvalidParams, why).hint("arguments are a JSON object");
    match serde_json::from_str(text) {
        Ok(Value::Object(all)) => Ok(all),
        Ok(_) => Err(no("this is no object".to_owned())),
        Err(error) => Err(no(format!("this is no JSON: {error}"))),
    }
}

async fn connect(app: &App, form: &FormFields) -> Result<Then, Failure> {
    let (name, way) = (form.get("name").trim(), form.get("way").trim());
    let asked = if way.starts_with("http://") || way.starts_with("https://") {
        json!({ "name": name, "url": way })
    } else {
        let words = shlex::split(way).filter(|it| !it.is_empty());
        let Some((command, args)) = words.as_deref().and_then(<[String]>::split_first) else {
            return Err(Failure::new(Code::InvalidParams, "the command cannot be read")
                .hint("quotes come in pairs"));
        };
        json!({ "name": name, "command": command, "args": args })
    };
    let done = told(doing::start(app, "external_connect", None, asked).await?)?;
    let said = "It is being connected; how it stands is shown here.";
    Ok(match done {
        true => Then::To(format!("/external/{}", crate::page::address::word(name))),
        false => Then::Said(said.to_owned()),
    })
}

/// Whether it is done; false while it is under way.
fn told(reply: Option<Reply>) -> Result<bool, Failure> {
    match reply {
        Some(Reply::Refused(refused)) => Err(refusal(&refused)),
        // What the other server itself calls an error is its result, and is shown as that.
        Some(Reply::Json(_) | Reply::Answer(_) | Reply::Raw(_)) => Ok(true),
        None => Ok(false),
    }
}
