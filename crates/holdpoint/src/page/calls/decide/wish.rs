//! What a form says is to become of a call, as the parameters of the tool that decides.

use holdpoint_engine::failure::{Code, Failure};
use serde_json::{Map, Value, json};

use super::wrong;
use crate::{
    app::App,
    page::{
        address::FormFields,
        calls::{ShownCall, shown::ShownArgument, talk},
    },
};

pub(super) async fn asked(app: &App, id: &str, form: &FormFields) -> Result<Value, Failure> {
    let text = |name: &str| form.get(name).trim();
    Ok(match text("act") {
        "modify" => modified(app, id, form).await?,
        "skip" => {
            let result = json_of("the result", text("result"))?;
            json!({ "pause_id": id, "action": "skip", "fake_result": result })
        }
        "raise" => json!({
            "pause_id": id, "action": "raise", "exception_type": text("exception_type"),
            "exception_message": form.get("exception_message"),
        }),
        "replace" if text("function").is_empty() => {
            return Err(wrong("no function was named to run in its place".to_owned()));
        }
        "replace" => json!({ "pause_id": id, "replacement_function": text("function") }),
        _ => json!({ "pause_id": id, "action": "continue" }),
    })
}

fn json_of(what: &str, text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| {
        wrong(format!("{what} is not JSON: {error}"))
            .hint("text stands in double quotes: \"so\"; nothing is null")
    })
}

/// The arguments that were written; what was left as it is stays the app's own object.
async fn modified(app: &App, id: &str, form: &FormFields) -> Result<Value, Failure> {
    let calls = app.engine.callpoints().await;
    let gone = || Failure::new(Code::NotStopped, "the call has gone on");
    let paused = calls.paused_one(id).ok_or_else(gone)?;
    let call = ShownCall::paused(app.engine.secrets(), &paused);
    let writer = WishWriter { app, id, call: &call, is_code: form.get("as") == "code" };
    let (mut args, mut kwargs) = (Vec::new(), Map::new());
    let (mut args_change, mut kwargs_change) = (false, false);
    for it in call.arguments() {
        let written = form.get(&format!("new{}", it.pointer)).trim();
        let is_kept = written.is_empty() || written == form.get(&format!("was{}", it.pointer));
        let value = match is_kept {
            true => own(&call, &it),
            false => writer.value(&it.name, written).await?,
        };
        if it.is_named {
            kwargs.insert(it.name.clone(), value);
            kwargs_change |= !is_kept;
        } else {
            args.push(value);
            args_change |= !is_kept;
        }
    }
    let (name, more) = (form.get("more-name").trim(), form.get("more").trim());
    if !more.is_empty() {
        let value = writer.value(if name.is_empty() { "one more" } else { name }, more).await?;
        match name {
            "" => args.push(value),
            name => drop(kwargs.insert(name.to_owned(), value)),
        }
        (args_change, kwargs_change) =
            (args_change || name.is_empty(), kwargs_change || !name.is_empty());
    }
    let mut asked = json!({ "pause_id": id });
    if let Some(object) = asked.as_object_mut() {
        if args_change {
            object.insert("modified_args".to_owned(), Value::Array(args));
        }
        if kwargs_change {
            object.insert("modified_kwargs".to_owned(), Value::Object(kwargs));
        }
    }
    Ok(asked)
}

/// The call's own value: Python finds its object by the CID, a page needs the value.
fn own(call: &ShownCall, it: &ShownArgument) -> Value {
    let list = if it.is_named { "kwargs" } else { "args" };
    let place = it.pointer.rsplit('/').next().unwrap_or_default();
    let cid = call.raw(&format!("/{list}/{place}/cid")).filter(|_| !call.is_json());
    match cid {
        Some(cid) => json!({ "cid": cid }),
        None => call.raw(&it.pointer).cloned().unwrap_or_default(),
    }
}

struct WishWriter<'a> {
    app: &'a App,
    id: &'a str,
    call: &'a ShownCall,
    is_code: bool,
}

impl WishWriter<'_> {
    /// JSON, or what the app makes of an expression.
    async fn value(&self, name: &str, written: &str) -> Result<Value, Failure> {
        if !self.is_code {
            return json_of(&format!("`{name}`"), written);
        }
        let expression = match self.call.is_json() {
            true => format!("JSON.stringify({written})"),
            false => written.to_owned(),
        };
        let answer = talk::ask(self.app, self.id, &expression).await?;
        let output = answer.get("output").and_then(Value::as_str).unwrap_or_default();
        if answer.get("is_error").and_then(Value::as_bool).unwrap_or_default() {
            return Err(Failure::new(Code::EvaluateFailed, format!("`{name}`: {output}")));
        }
        match (answer.get("result_cid").and_then(Value::as_str), self.call.is_json()) {
            (_, true) => json_of(&format!("`{name}`"), output),
            // The app has the object that it made, and finds it by this.
            (Some(cid), false) => Ok(json!({ "cid": cid })),
            (None, false) if output.is_empty() || output == "None" => Ok(Value::Null),
            (None, false) => Err(wrong(format!("`{name}` is no expression"))),
        }
    }
}

/// A value as Python writes it, as JSON; none where it is more than that.
pub(super) fn as_json(text: &str) -> Option<String> {
    match text {
        "None" => return Some("null".to_owned()),
        "True" | "False" => return Some(text.to_lowercase()),
        _ => {}
    }
    if serde_json::from_str::<Value>(text).is_ok() {
        return Some(text.to_owned());
    }
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let is_plain = !inner.contains(['\\', '\'', '…']);
    is_plain.then(|| json!(inner).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values_of_python_are_json_and_others_stay() {
        let of = |text: &str| as_json(text).unwrap_or_default();
        assert_eq!(
            (of("'fay'"), of("71200"), of("None")),
            ("\"fay\"".into(), "71200".into(), "null".into())
        );
        assert_eq!(
            (of("True"), of("[1, 2]"), of("\"it\"")),
            ("true".into(), "[1, 2]".into(), "\"it\"".into())
        );
        for odd in
            ["Cart(lines=[])", "'it\\'s'", "{'a': 1}", "<function f>", "'long… 40 bytes …end'"]
        {
            assert_eq!(as_json(odd), None, "{odd}");
        }
    }
}
