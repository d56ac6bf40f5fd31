//! The bodies of requests, of which nothing is typed strictly, read in one pass: existing clients write a
//! signature as a text or a number, a process id as a number or a text. A field of the wrong kind counts as
//! absent, and of a name that comes twice the last counts.
//!
//! What reads one field is in [`fields`]. A body is a type that takes its fields one by one ([`Object`]); most
//! are declared with [`body!`], which also describes them for OpenAPI.

pub(super) mod fields;

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// A name that is borrowed where it is written without escapes.
#[derive(Deserialize)]
struct Name<'b>(#[serde(borrow)] Cow<'b, str>);

/// The object that a body is. What is false in Python counts as an empty one, as to existing servers.
pub(in crate::http) fn whole<'b, T: Object<'b>>(text: &'b str) -> serde_json::Result<T> {
    if matches!(text.trim(), "[]" | "null" | "0" | "false" | "\"\"") {
        return Ok(T::default());
    }
    serde_json::from_str(text).map(|Strict(object)| object)
}

/// What is read from an object field by field.
pub(in crate::http) trait Object<'de>: Default {
    /// Takes the value of the field; says whether it is one that it knows.
    fn take<M: MapAccess<'de>>(&mut self, name: &str, map: &mut M) -> Result<bool, M::Error>;
}

/// Declares a body: its fields, as they are described and as they are read.
macro_rules! body {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty = $read:path,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Default, utoipa::ToSchema)]
        pub(super) struct $name {
            $($(#[$doc])* pub(super) $field: $type,)+
        }

        impl<'de> $crate::http::endpoints::wire::Object<'de> for $name {
            fn take<M: serde::de::MapAccess<'de>>(
                &mut self,
                name: &str,
                map: &mut M,
            ) -> Result<bool, M::Error> {
                match name {
                    $(stringify!($field) => self.$field = $read(map)?,)+
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}
pub(super) use body;

/// An object of which nothing is wanted.
#[derive(Default)]
pub(in crate::http) struct Nothing;

impl<'de> Object<'de> for Nothing {
    fn take<M: MapAccess<'de>>(&mut self, _: &str, _: &mut M) -> Result<bool, M::Error> {
        Ok(false)
    }
}

/// A value of whatever kind it is.
pub(in crate::http) enum Loose<'de, T> {
    Null,
    True,
    Number(f64),
    Text(Cow<'de, str>),
    Object(T),
    /// What is no object in it is an empty one.
    List(Vec<T>),
    /// False, or a list in a list.
    Other,
}

/// An object, and nothing else.
struct Strict<T>(T);

impl<'de, T: Object<'de>> Deserialize<'de> for Loose<'de, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Reader { lists: true, of: PhantomData }.deserialize(deserializer)
    }
}

impl<'de, T: Object<'de>> Deserialize<'de> for Strict<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Object<'de>> Visitor<'de> for Fields<T> {
            type Value = Strict<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Strict<T>, M::Error> {
                fields(map).map(Strict)
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

fn fields<'de, M: MapAccess<'de>, T: Object<'de>>(mut map: M) -> Result<T, M::Error> {
    let mut object = T::default();
    while let Some(Name(name)) = map.next_key()? {
        if !object.take(&name, &mut map)? {
            map.next_value::<IgnoredAny>()?;
        }
    }
    Ok(object)
}

struct Reader<T> {
    /// Whether a list is looked into; a list in it is passed over, however deep it goes.
    lists: bool,
    of: PhantomData<T>,
}

impl<'de, T: Object<'de>> DeserializeSeed<'de> for Reader<T> {
    type Value = Loose<'de, T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Object<'de>> Visitor<'de> for Reader<T> {
    type Value = Loose<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Loose<'de, T>, E> {
        Ok(Loose::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Loose<'de, T>, E> {
        Ok(if truth { Loose::True } else { Loose::Other })
    }

    #[expect(clippy::cast_precision_loss, reason = "ids and times are well below")]
    fn visit_u64<E>(self, number: u64) -> Result<Loose<'de, T>, E> {
        Ok(Loose::Number(number as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "ids and times are well below")]
    fn visit_i64<E>(self, number: i64) -> Result<Loose<'de, T>, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Loose<'de, T>, E> {
        Ok(Loose::Number(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Loose<'de, T>, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose<'de, T>, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Loose<'de, T>, S::Error> {
        if !self.lists {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Loose::Other);
        }
        let mut list = Vec::new();
        let element = || Reader { lists: false, of: PhantomData };
        while let Some(found) = seq.next_element_seed(element())? {
            list.push(match found {
                Loose::Object(object) => object,
                _ => T::default(),
            });
        }
        Ok(Loose::List(list))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Loose<'de, T>, M::Error> {
        fields(map).map(Loose::Object)
    }
}
