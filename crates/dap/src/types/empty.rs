//! Nothing, where the protocol has nothing to say.

use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};

/// No arguments, or a body that does not matter: adapters send none, `null`, `{}` or anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Empty;

impl<'de> Deserialize<'de> for Empty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Empty)
    }
}
