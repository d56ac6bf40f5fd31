//! The arguments of a call as its tool means them: with what was left out, with whole paths, and as far as rules hold
//! between them.

use std::path::Path;

use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
};
use holdpoint_metadata::{Literal, Param, ParamKind, TextPiece, TextTemplate, ToolSpec};
use rmcp::model::JsonObject;
use serde_json::{Number, Value, json};

/// Arguments that are right.
pub(super) struct Given(Vec<(String, Literal)>);

impl Given {
    /// The boundary has checked names and types; what a schema cannot say is checked here.
    pub(super) fn of(
        spec: &ToolSpec,
        arguments: JsonObject,
        workspace: &Path,
    ) -> Result<Given, Failure> {
        let mut given: Vec<(String, Literal)> =
            arguments.into_iter().map(|(name, value)| (name, datum(&value))).collect();
        let asked = Literal::Map(given.clone());
        if let Some((problem, choices)) = spec.broken_rule(&asked) {
            return Err(Failure::new(Code::InvalidParams, format!("`{}`: {problem}", spec.name))
                .hint(format!("pass {choices}")));
        }
        if let Err(unfit) = spec.check(&asked) {
            let text = format!("parameter `{}` of `{}`: {}", unfit.path, spec.name, unfit.problem);
            return Err(Failure::new(Code::InvalidParams, text)
                .details(json!({ "parameter": unfit.path, "problem": unfit.problem })));
        }
        spec.complete(&mut given);
        for (name, value) in &mut given {
            if let Some(param) = spec.param(name) {
                resolve(&param.kind, value, workspace);
            }
        }
        Ok(Given(given))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Literal> {
        self.0.iter().find(|(it, _)| it == name).map(|(_, value)| value)
    }

    /// As they are sent.
    pub(super) fn to_json(&self) -> Value {
        Value::Object(self.0.iter().map(|(name, value)| (name.clone(), json(value))).collect())
    }

    /// The text with its parameters in it; none where one of them was not given.
    pub(super) fn text(&self, template: &TextTemplate) -> Option<String> {
        let mut text = String::new();
        for piece in &template.0 {
            match piece {
                TextPiece::Literal(literal) => text += literal,
                TextPiece::Param(name) => text += &plain(self.get(name)?),
            }
        }
        Some(text)
    }
}

/// A value as a word of a command or an address.
pub(super) fn plain(value: &Literal) -> String {
    match value {
        Literal::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether the parameter may begin an argument with `-`.
pub(super) fn may_be_option(param: &Param) -> bool {
    match &param.kind {
        ParamKind::Text { may_be_option, .. } => *may_be_option,
        // A number below zero is one where the file says that there may be such.
        ParamKind::Integer { min, .. } | ParamKind::Number { min, .. } => {
            min.is_some_and(|min| min < 0.0)
        }
        ParamKind::List(kind) => {
            matches!(kind.as_ref(), ParamKind::Text { may_be_option: true, .. })
        }
        ParamKind::Boolean | ParamKind::Choice(_) | ParamKind::Object(_) => true,
    }
}

/// A relative path begins at the workspace, wherever whoever reads it would look.
fn resolve(kind: &ParamKind, value: &mut Literal, workspace: &Path) {
    match (kind, value) {
        (ParamKind::Text { is_path: true, .. }, Literal::Text(text)) => {
            let whole = workspace.join(&*text);
            let parts = whole.components().filter(|it| *it != std::path::Component::CurDir);
            *text = parts.collect::<std::path::PathBuf>().display().to_string();
        }
        (ParamKind::List(kind), Literal::List(items)) => {
            items.iter_mut().for_each(|item| resolve(kind, item, workspace));
        }
        (ParamKind::Object(parts), Literal::Map(members)) => {
            for (name, member) in members {
                if let Some(part) = parts.iter().find(|it| it.name == *name) {
                    resolve(&part.kind, member, workspace);
                }
            }
        }
        _ => {}
    }
}

/// An argument of a command that the system would not take, or would take for its end.
pub(super) fn check_text(name: &str, text: &str) -> Result<(), Failure> {
    let problem = match () {
        () if text.contains('\0') => "it has a zero byte",
        () if text.len() > limits::TOOL_ARGUMENT => "it is too long for a command",
        () => return Ok(()),
    };
    Err(Failure::new(Code::InvalidParams, format!("parameter `{name}`: {problem}")))
}

pub(super) fn datum(value: &Value) -> Literal {
    match value {
        Value::Null => Literal::Null,
        Value::Bool(flag) => Literal::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Literal::Integer(integer),
            // JSON Schema: a number without a fraction is an integer however it is written.
            #[expect(clippy::cast_possible_truncation, reason = "it has no fraction, and is small")]
            (None, Some(float)) if float.fract() == 0.0 && float.abs() < 1e15 => {
                Literal::Integer(float as i64)
            }
            (None, float) => Literal::Number(float.unwrap_or_default()),
        },
        Value::String(text) => Literal::Text(text.clone()),
        Value::Array(items) => Literal::List(items.iter().map(datum).collect()),
        Value::Object(members) => {
            Literal::Map(members.iter().map(|(name, it)| (name.clone(), datum(it))).collect())
        }
    }
}

pub(super) fn json(datum: &Literal) -> Value {
    match datum {
        Literal::Null => Value::Null,
        Literal::Bool(flag) => (*flag).into(),
        Literal::Integer(integer) => (*integer).into(),
        Literal::Number(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        Literal::Text(text) => text.as_str().into(),
        Literal::List(items) => items.iter().map(json).collect(),
        Literal::Map(members) => {
            Value::Object(members.iter().map(|(name, it)| (name.clone(), json(it))).collect())
        }
    }
}
