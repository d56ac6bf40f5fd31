//! Values as they come from an app: checked against their CID, and how they are shown.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use holdpoint_store::Cid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha512};

use super::{lenient, pretty};

/// How the bytes of a value are to be read, and what its app reads back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A Python pickle; on the wire in base64.
    #[default]
    Dill,
    Json,
}

impl Format {
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Dill => "dill",
            Format::Json => "json",
        }
    }

    pub fn parse(word: &str) -> Option<Format> {
        match word {
            "dill" => Some(Format::Dill),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

/// A value as it came: with its data, or as a reference to data that came before.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub cid: Option<String>,
    pub data: Data,
    /// None when the app names a format that there is not.
    pub format: Option<Format>,
    pub client_ref: Option<Value>,
}

impl Default for Item {
    fn default() -> Self {
        Item { cid: None, data: Data::Absent, format: Some(Format::Dill), client_ref: None }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Data {
    #[default]
    Absent,
    Text(String),
    /// Something that is not text.
    Other,
}

/// Why an item was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadItem {
    Format,
    Json,
    Dill,
    Mismatch { expected: String, provided: String },
}

/// An item whose bytes are what its CID says.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub cid: Cid,
    pub format: Format,
    pub bytes: Vec<u8>,
}

impl Checked {
    /// A value of our own.
    pub fn of(value: &Value, format: Format) -> Checked {
        let bytes = bytes_of(value, format);
        Checked { cid: cid_of(&bytes), format, bytes }
    }
}

fn bytes_of(value: &Value, format: Format) -> Vec<u8> {
    match format {
        Format::Json => pretty::python_json(value).into_bytes(),
        Format::Dill => holdpoint_pickle::write(value),
    }
}

/// About how many bytes it is as text, so that what is large can be dealt with aside.
pub fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|it| 1 + weight(it)).sum(),
        Value::Object(fields) => fields.iter().map(|(name, it)| name.len() + weight(it)).sum(),
    }
}

pub fn cid_of(bytes: &[u8]) -> Cid {
    Cid(Sha512::digest(bytes).into())
}

impl Item {
    /// How many bytes must be looked at to check it.
    pub fn weight(&self) -> usize {
        match &self.data {
            Data::Text(text) => text.len(),
            Data::Absent | Data::Other => 0,
        }
    }

    pub fn has_data(&self) -> bool {
        self.data != Data::Absent
    }

    /// None for a reference, and for an item without a CID: there is nothing to keep.
    /// The provided CID must be that of the data, unless `lenient`.
    pub fn check(&self, lenient: bool) -> Result<Option<Checked>, BadItem> {
        let Some(provided) = &self.cid else { return Ok(None) };
        let text = match &self.data {
            Data::Absent => return Ok(None),
            Data::Text(text) => Some(text),
            Data::Other => None,
        };
        let (format, bytes) = match self.format.ok_or(BadItem::Format)? {
            Format::Json => {
                let text = text.ok_or(BadItem::Json)?;
                if !is_json(text) && !is_json(&lenient::mended(text)) {
                    return Err(BadItem::Json);
                }
                (Format::Json, text.as_bytes().to_vec())
            }
            Format::Dill => (Format::Dill, decode(text.ok_or(BadItem::Dill)?)?),
        };
        let cid = cid_of(&bytes);
        if !lenient && Cid::parse(provided) != Some(cid) {
            return Err(BadItem::Mismatch {
                expected: cid.to_string(),
                provided: provided.clone(),
            });
        }
        Ok(Some(Checked { cid, format, bytes }))
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// As Python's decoder: what is not of the alphabet is passed over, and padding is asked for.
fn decode(text: &str) -> Result<Vec<u8>, BadItem> {
    if let Ok(bytes) = STANDARD.decode(text) {
        return Ok(bytes);
    }
    let ours = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '=');
    let bare: String = text.chars().filter(ours).collect();
    let lenient = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
    );
    lenient.decode(bare).map_err(|_error| BadItem::Dill)
}

/// A value for an app: `{cid, data, serialization_format}`.
pub fn encode(value: &Value, format: Format) -> Encoded {
    let bytes = bytes_of(value, format);
    let cid = cid_of(&bytes).to_string();
    let data = match format {
        // What was just written as text is text.
        Format::Json => String::from_utf8(bytes).unwrap_or_default(),
        Format::Dill => STANDARD.encode(bytes),
    };
    Encoded { cid, data, format }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    pub cid: String,
    pub data: String,
    pub format: Format,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(data: &str, format: Format) -> Item {
        let bytes = match format {
            Format::Json => data.as_bytes().to_vec(),
            Format::Dill => STANDARD.decode(data).unwrap_or_default(),
        };
        Item {
            cid: Some(cid_of(&bytes).to_string()),
            data: Data::Text(data.to_owned()),
            format: Some(format),
            client_ref: None,
        }
    }

    #[test]
    fn an_item_is_what_its_cid_says() {
        let json = item("{\"x\": 1}", Format::Json).check(false).unwrap().unwrap();
        assert_eq!(json.bytes, b"{\"x\": 1}");
        let dill = item("gARLBS4=", Format::Dill).check(false).unwrap().unwrap();
        assert_eq!(dill.bytes, b"\x80\x04K\x05.");
    }

    #[test]
    fn the_decoder_is_as_lenient_as_python() {
        let broken =
            Item { data: Data::Text("gARL\nBS4=".into()), ..item("gARLBS4=", Format::Dill) };
        assert_eq!(broken.check(false).unwrap().unwrap().bytes, b"\x80\x04K\x05.");
        let unpadded =
            Item { data: Data::Text("gARLBS4".into()), ..item("gARLBS4=", Format::Dill) };
        assert_eq!(unpadded.check(false), Err(BadItem::Dill));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let good = item("1", Format::Json);
        let check = |item: Item| item.check(false);
        assert_eq!(check(Item { format: None, ..good.clone() }), Err(BadItem::Format));
        assert_eq!(check(Item { data: Data::Other, ..good.clone() }), Err(BadItem::Json));
        assert_eq!(
            check(Item { data: Data::Text("{".into()), ..good.clone() }),
            Err(BadItem::Json)
        );
        assert_eq!(
            check(Item { data: Data::Other, format: Some(Format::Dill), ..good.clone() }),
            Err(BadItem::Dill)
        );
        let wrong = Item { cid: Some("ab".into()), ..good.clone() };
        let expected = good.cid.clone().unwrap();
        assert_eq!(
            check(wrong.clone()),
            Err(BadItem::Mismatch { expected: expected.clone(), provided: "ab".into() })
        );
        assert_eq!(wrong.check(true).unwrap().unwrap().cid.to_string(), expected);
        // Python writes and reads it.
        assert!(check(item("[NaN, \"\\udce9\"]", Format::Json)).is_ok());
        assert_eq!(check(Item { cid: None, ..good.clone() }), Ok(None));
        assert_eq!(check(Item { data: Data::Absent, ..good }), Ok(None));
    }

    #[test]
    fn values_for_apps_are_in_their_own_format() {
        let dill = encode(&serde_json::json!(5), Format::Dill);
        assert_eq!(dill.data, "gARLBS4=");
        let large = Value::from(format!("{}1180591620717411303425", holdpoint_pickle::INTEGER));
        assert_eq!(encode(&large, Format::Json).data, "1180591620717411303425");
        assert_eq!(encode(&large, Format::Dill).data, "gASVDAAAAAAAAACKCQEAAAAAAAAAQC4=");
        let json = encode(&serde_json::json!({ "x": 1 }), Format::Json);
        assert_eq!(json.data, "{\"x\": 1}");
        assert_eq!(json.cid, cid_of(b"{\"x\": 1}").to_string());
    }
}
