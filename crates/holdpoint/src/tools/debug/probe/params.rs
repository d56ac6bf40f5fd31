//! What a probe takes: what to run, the places, and how often.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};
use serde_json::Value;

use crate::{tool::bare, tools::shared::params};

params! {
    #[derive(Deserialize, JsonSchema)]
    pub(crate) struct Params: launch place {
        /// Default: the locals. `work: n` is `n` in the caller `work`.
        #[serde(default, deserialize_with = "texts")]
        pub(super) expressions: Vec<String>,
        /// Only the Nth pass.
        pub(super) hit: Option<u64>,
        /// The first N (default 1), or `all`: counted, without stopping.
        pub(super) hits: Option<Hits>,
        /// Several places in one run. None: the first failure.
        #[serde(default, deserialize_with = "spots")]
        #[schemars(schema_with = "bare_spots")]
        pub(super) at: Vec<Spot>,
        /// Sums per value of this, or per pass of `a.py:12`.
        #[serde(default, deserialize_with = "group")]
        #[schemars(with = "Option<String>")]
        pub(super) by: Option<Group>,
        pub(super) timeout_s: Option<f64>,
    }
}

params! {
    #[derive(Deserialize, JsonSchema, Default)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct Spot: place {
        #[serde(default, deserialize_with = "texts")]
        pub(crate) expressions: Vec<String>,
        pub(super) hit: Option<u64>,
        pub(super) hits: Option<Hits>,
    }
}

/// How many passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hits {
    First(u64),
    All,
}

/// What makes groups of passes.
pub(super) enum Group {
    Value(String),
    Place(Spot),
}

impl JsonSchema for Hits {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Hits".into()
    }

    /// Of one type, as every client needs it; numbers are taken all the same.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

impl<'de> Deserialize<'de> for Hits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HitsVisitor)
    }
}

struct HitsVisitor;

impl Visitor<'_> for HitsVisitor {
    type Value = Hits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 1, or \"all\"")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Hits, E> {
        if number == 0 {
            return Err(E::invalid_value(serde::de::Unexpected::Unsigned(0), &self));
        }
        Ok(Hits::First(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Hits, E> {
        let signed = serde::de::Unexpected::Signed(number);
        u64::try_from(number)
            .map_err(|_| E::invalid_value(signed, &self))
            .and_then(|it| self.visit_u64(it))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Hits, E> {
        match text.trim() {
            "all" => Ok(Hits::All),
            number => match number.parse() {
                Ok(number) => self.visit_u64(number),
                Err(_) => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
            },
        }
    }
}

/// A list, or one without its brackets.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(one) => Ok(vec![one]),
        many => serde_json::from_value(many).map_err(D::Error::custom),
    }
}

fn spots<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Spot>, D::Error> {
    let all = match Value::deserialize(deserializer)? {
        Value::Array(all) => all,
        one => vec![one],
    };
    all.into_iter().map(|it| spot(it).map_err(D::Error::custom)).collect()
}

fn group<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Group>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(match place(&text) {
            Some(spot) if spot.line.is_some() => Group::Place(spot),
            _ => Group::Value(text),
        })),
        Value::Object(mut object) => {
            let inner = object.remove("at").unwrap_or(Value::Object(object));
            spot(inner).map(|it| Some(Group::Place(it))).map_err(D::Error::custom)
        }
        other => Err(D::Error::custom(format!("invalid type: {other}, expected a string"))),
    }
}

pub(crate) fn spot(value: Value) -> Result<Spot, serde_json::Error> {
    match value {
        Value::String(text) => {
            Ok(place(&text).unwrap_or_else(|| Spot { function: Some(text), ..Spot::default() }))
        }
        Value::Number(number) => {
            let line = number.as_u64().and_then(|it| u32::try_from(it).ok());
            Ok(Spot { line: Some(line.unwrap_or_default()), ..Spot::default() })
        }
        Value::Array(many) if many.len() == 1 => spot(many.into_iter().next().unwrap_or_default()),
        object => serde_json::from_value(object),
    }
}

/// `a.py:12`, `a.py:total`, `a.py:total += n`.
fn place(text: &str) -> Option<Spot> {
    let (file, rest) = text.trim().split_once(':')?;
    let rest = rest.trim_start_matches(':');
    let is_path = !file.is_empty()
        && !file.contains([' ', '(', '[', '{', '"', '\''])
        && std::path::Path::new(file).extension().is_some();
    if !is_path || rest.is_empty() {
        return None;
    }
    let file = Some(file.into());
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.' | '#');
    match rest.parse() {
        Ok(line) => Some(Spot { file, line: Some(line), ..Spot::default() }),
        Err(_) if rest.chars().all(is_name) => {
            Some(Spot { file, function: Some(rest.to_owned()), ..Spot::default() })
        }
        Err(_) => Some(Spot { file, r#match: Some(rest.trim().to_owned()), ..Spot::default() }),
    }
}

/// What each of its parameters is, the same one outside says.
fn bare_spots(generator: &mut SchemaGenerator) -> Schema {
    bare::<Vec<Spot>>(generator, &[])
}

impl Params {
    /// Whether the first failure is asked for.
    pub(super) fn names_no_place(&self) -> bool {
        let given = self.given();
        let says_where = given.file.is_some() || given.line.is_some() || given.text.is_some();
        let says_which = self.hit.is_some() || self.hits.is_some() || self.by.is_some();
        let says = says_where || says_which || given.function.is_some();
        self.at.is_empty() && self.condition.is_none() && !says
    }

    /// All places, each with what it left out. What stands outside is one of its own if it says where.
    pub(super) fn places(&self) -> Vec<Spot> {
        let own = Spot {
            file: self.file.clone(),
            line: self.line,
            r#match: self.r#match.clone(),
            function: self.function.clone(),
            hit: self.hit,
            hits: self.hits,
            ..Spot::default()
        };
        let given = self.given();
        let says_where = given.line.is_some() || given.text.is_some() || given.function.is_some();
        let own = (says_where || self.at.is_empty()).then_some(own);
        let all = own.into_iter().chain(self.at.iter().map(Spot::copied));
        all.map(|spot| self.completed(spot)).collect()
    }

    fn completed(&self, spot: Spot) -> Spot {
        let Spot { file, line, r#match, function, condition, expressions, hit, hits } = spot;
        let (hit, hits) = match (hit, hits) {
            (None, None) => (self.hit, self.hits),
            given => given,
        };
        let is_grouped = self.by.is_some() && hit.is_none();
        Spot {
            file: file.or_else(|| self.file.clone()),
            line,
            r#match,
            function,
            condition: condition.or_else(|| self.condition.clone()),
            expressions: match expressions.is_empty() {
                true => self.expressions.clone(),
                false => expressions,
            },
            hit,
            hits: hits.or(is_grouped.then_some(Hits::All)),
        }
    }
}

impl Spot {
    /// The same place at its first pass, or the first at which that condition holds.
    pub(crate) fn at_first(self, condition: Option<String>, expressions: Vec<String>) -> Spot {
        let condition = condition.or(self.condition);
        Spot { condition, expressions, hit: None, hits: None, ..self }
    }

    fn copied(&self) -> Spot {
        Spot {
            file: self.file.clone(),
            line: self.line,
            r#match: self.r#match.clone(),
            function: self.function.clone(),
            condition: self.condition.clone(),
            expressions: self.expressions.clone(),
            hit: self.hit,
            hits: self.hits,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(value: Value) -> Params {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn places_are_taken_in_every_form_that_models_write() {
        for at in [
            json!([{ "file": "a.py", "line": 3 }]),
            json!({ "file": "a.py", "line": 3 }),
            json!("a.py:3"),
            json!(["a.py:3"]),
        ] {
            let places = parse(json!({ "at": at })).places();
            assert_eq!((places.len(), places[0].line), (1, Some(3)));
            assert_eq!(places[0].file.as_deref(), Some("a.py".as_ref()));
        }
        let places = parse(json!({ "file": "a.py", "at": [3, 4] })).places();
        assert_eq!((places[0].line, places[1].line), (Some(3), Some(4)));
        let places = parse(json!({ "at": "a.py:seen[x] = f(y: 1)" })).places();
        assert_eq!(places[0].r#match.as_deref(), Some("seen[x] = f(y: 1)"));
        let places = parse(json!({ "at": "a.py::Cart.total" })).places();
        assert_eq!(places[0].function.as_deref(), Some("Cart.total"));
        let places = parse(json!({ "at": "Cart.total" })).places();
        assert_eq!(places[0].function.as_deref(), Some("Cart.total"));
        let places = parse(json!({ "file": "a.py", "at": [{ "line": 3 }, { "line": 4, "hit": 2 }], "hits": "all" })).places();
        assert_eq!(
            (places[0].hits, places[1].hits, places[1].hit),
            (Some(Hits::All), None, Some(2))
        );
    }

    #[test]
    fn hits_are_a_number_in_either_form_or_all() {
        let hits = |value: Value| parse(json!({ "hits": value })).hits;
        assert_eq!(hits(json!(3)), Some(Hits::First(3)));
        assert_eq!(hits(json!("3")), Some(Hits::First(3)));
        assert_eq!(hits(json!("all")), Some(Hits::All));
        for wrong in [json!(0), json!(-1), json!("some"), json!(true)] {
            assert!(serde_json::from_value::<Params>(json!({ "hits": wrong })).is_err(), "{wrong}");
        }
    }

    #[test]
    fn groups_are_of_values_or_places() {
        let by = |value: Value| parse(json!({ "by": value })).by.unwrap();
        assert!(matches!(by(json!("order.kind")), Group::Value(it) if it == "order.kind"));
        assert!(matches!(by(json!("x[1:2]")), Group::Value(_)));
        assert!(matches!(by(json!("a.py:12")), Group::Place(it) if it.line == Some(12)));
        assert!(
            matches!(by(json!({ "at": { "file": "a.py", "line": 2 } })), Group::Place(it) if it.line == Some(2))
        );
        assert!(
            matches!(by(json!({ "function": "f" })), Group::Place(it) if it.function.is_some())
        );
    }
}
