//! Secrets in JSON: under a member's name, or under the name that stands beside a value.

use serde_json::{Map, Value};

use super::{Form, Hidden, Secrets, Weight, look, pair};

/// Members that name what stands beside them.
const NAMES: [&str; 4] = ["name", "expression", "parameter", "key"];
/// Members that hold it.
const VALUES: [&str; 6] = ["value", "result", "text", "preview", "pretty", "now"];

impl Secrets {
    /// The same JSON without its secrets.
    pub fn json(&self, json: &mut Value) {
        if !self.shown {
            self.walk(Weight::Plain, json);
        }
    }

    /// A call, whose arguments have their names from its signature. What is concealed leads nowhere either:
    /// its CID would show it under no name.
    pub fn call(&self, call: &mut Value) {
        let Some(data) = call.get_mut("call_data") else { return self.own_call(call) };
        let mut inner = data.take();
        self.own_call(&mut inner);
        let line = inner.get("line").cloned();
        if let Some(object) = call.as_object_mut() {
            object.insert("call_data".to_owned(), inner);
            if let Some(line) = line.filter(|_| object.contains_key("line")) {
                object.insert("line".to_owned(), line);
            }
        }
    }

    fn own_call(&self, call: &mut Value) {
        if self.shown {
            return;
        }
        let signature =
            call.get("signature").and_then(Value::as_str).unwrap_or_default().to_owned();
        let names = parameters(&signature);
        let mut concealed = Vec::new();
        for place in 0..=names.len() {
            for name in names_at(&signature, &names, place) {
                concealed.extend(self.given(call, name, "args", &place.to_string()));
            }
        }
        let named = call.get("pretty_kwargs").and_then(Value::as_object);
        let named: Vec<String> = named.into_iter().flat_map(Map::keys).cloned().collect();
        for name in named {
            concealed.extend(self.given(call, &name, "kwargs", &name));
        }
        let Some(Value::String(line)) = call.get_mut("line") else { return };
        for (before, after) in concealed {
            *line = line.replace(&before, &after);
        }
    }

    /// Conceals one argument; gives what it was and what it is now.
    fn given(
        &self,
        call: &mut Value,
        name: &str,
        list: &str,
        place: &str,
    ) -> Option<(String, String)> {
        let shown = call.pointer_mut(&format!("/pretty_{list}/{}", escaped(place)))?;
        let before = shown.clone();
        self.walk(self.weight(name), shown);
        if *shown == before {
            return None;
        }
        let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        let (before, after) = (text(&before), text(shown));
        if let Some(cid) = call.pointer_mut(&format!("/{list}/{}/cid", escaped(place))) {
            *cid = Value::String("‹secret›".to_owned());
        }
        // A short one may be part of anything.
        (before.len() > 3).then_some((before, after))
    }

    fn walk(&self, weight: Weight, json: &mut Value) {
        match json {
            Value::String(text) => self.string(weight, text),
            Value::Number(number) if weight == Weight::Secret => {
                let mut text = number.to_string();
                if look::is_secret(weight, &text) && text.len() > 1 {
                    text = self.mark(&text, Form::Number);
                    *json = Value::String(text);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.walk(weight, it)),
            Value::Object(members) => self.object(weight, members),
            _ => {}
        }
    }

    fn object(&self, weight: Weight, members: &mut Map<String, Value>) {
        let told = NAMES.iter().find_map(|name| members.get(*name)?.as_str());
        let beside = told.map_or(Weight::Plain, |name| self.weight(name));
        for (name, value) in members {
            let is_beside = VALUES.contains(&name.as_str());
            // What a name says reaches into what it holds, but for the words of the form itself.
            let own = match self.weight(name) {
                _ if is_beside => weight.max(beside),
                Weight::Plain if NAMES.contains(&name.as_str()) => Weight::Plain,
                own => own.max(weight),
            };
            self.walk(own, value);
        }
    }

    fn string(&self, weight: Weight, text: &mut String) {
        let clean = match weight {
            Weight::Plain => self.text(text),
            // As a debugger shows it, in quotes; or as it is.
            _ => match pair::value(weight, text, 0, pair::Sign::Told) {
                found if !found.is_empty() => self.without(text, &found),
                _ if look::is_secret(weight, text) && !is_shown_object(text) => {
                    self.without(text, &[Hidden { range: 0..text.len(), form: Form::Text }])
                }
                _ => self.text(text),
            },
        };
        if let std::borrow::Cow::Owned(clean) = clean {
            *text = clean;
        }
    }
}

/// A member's name as a pointer writes it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The names that the argument at a place may have: a receiver that the signature has was given with the others, or was
/// not. A secret must not show by the wrong guess.
pub(crate) fn names_at<'s>(
    signature: &str,
    names: &[&'s str],
    place: usize,
) -> impl Iterator<Item = &'s str> {
    let behind = place.checked_sub(1).filter(|_| receiver(signature).is_some());
    [Some(place), behind].into_iter().flatten().filter_map(|it| names.get(it).copied())
}

/// `self` or `cls`, where that is the first parameter.
pub fn receiver(signature: &str) -> Option<&str> {
    let inner = signature.split_once('(').map_or(signature, |(_, inner)| inner);
    let first = inner.split([',', ')', ':', '=']).next().unwrap_or_default().trim();
    Some(first).filter(|it| matches!(*it, "self" | "cls"))
}

/// The names in `(user, password: str = 'x', *, dry=False)`, in their order, without the receiver.
pub fn parameters(signature: &str) -> Vec<&str> {
    let inner = signature.split_once('(').map_or(signature, |(_, inner)| inner);
    let (mut depth, mut start, mut names) = (0_i32, 0, Vec::new());
    let ends = inner.char_indices().chain([(inner.len(), ')')]);
    for (at, letter) in ends {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ',' if depth == 0 => {
                let part = inner.get(start..at).unwrap_or_default().trim();
                let name = part.split([':', '=', ' ']).next().unwrap_or_default();
                if !matches!(name, "" | "self" | "cls" | "/") && !name.starts_with('*') {
                    names.push(name);
                }
                start = at + 1;
                if letter == ')' {
                    break;
                }
            }
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

/// What a debugger writes of an object is no string of the program.
fn is_shown_object(text: &str) -> bool {
    text.starts_with(['<', '{', '[', '(', '\'', '"', '‹', '`']) || text.ends_with([')', '}'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A method that is watched gets its receiver with the other arguments; one of a proxy does not.
    #[test]
    fn a_receiver_does_not_move_the_names_of_secrets() {
        for args in
            [json!(["Shop()", "'ann'", "'hunter2hunter2'"]), json!(["'ann'", "'hunter2hunter2'"])]
        {
            let mut call = json!({
                "signature": "(self, user, password, tries=3)", "pretty_args": args,
                "args": [{ "cid": "a" }, { "cid": "b" }, { "cid": "c" }],
                "line": "login(Shop(), 'ann', 'hunter2hunter2')",
            });
            Secrets::default().call(&mut call);
            assert!(!call.to_string().contains("hunter2"), "{call}");
        }
    }
}
