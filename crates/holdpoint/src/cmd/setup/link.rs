//! Links that add our server to an agent by one click.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::merge::SERVER;

/// The agents that take such links.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    Cursor,
    VsCode,
}

impl Link {
    /// The link for an entry as the agent's own file holds it.
    pub(super) fn to(self, entry: &Value) -> String {
        match self {
            Link::Cursor => format!(
                "cursor://anysphere.cursor-deeplink/mcp/install?name={SERVER}&config={}",
                percent(&base64(entry.to_string().as_bytes()))
            ),
            Link::VsCode => format!("vscode:mcp/install?{}", percent(&named(entry).to_string())),
        }
    }
}

/// The entry with the server's name in it, for agents that take both as one.
pub(super) fn named(entry: &Value) -> Value {
    let mut named = json!({ "name": SERVER });
    if let (Some(named), Some(entry)) = (named.as_object_mut(), entry.as_object()) {
        named.extend(entry.clone());
    }
    named
}

/// As `encodeURIComponent` has it.
fn percent(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").unwrap_or_default();
        }
    }
    encoded
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, at| {
            bits << 8 | usize::from(chunk.get(at).copied().unwrap_or_default())
        });
        for at in 0..4 {
            let digit = DIGITS.get(bits >> (18 - 6 * at) & 63).filter(|_| at <= chunk.len());
            encoded.push(char::from(digit.copied().unwrap_or(b'=')));
        }
    }
    encoded
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What stands behind a `%`, undone.
    pub(crate) fn from_percent(text: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            if byte == b'%' {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            } else {
                bytes.push(byte);
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    pub(crate) fn from_base64(text: &str) -> String {
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let (mut bits, mut count, mut bytes) = (0_usize, 0, Vec::new());
        for digit in text.trim_end_matches('=').chars() {
            bits = bits << 6 | digits.find(digit).unwrap();
            count += 6;
            if count >= 8 {
                count -= 8;
                bytes.push(u8::try_from(bits >> count & 255).unwrap());
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn base64_is_as_the_standard_has_it() {
        // RFC 4648, section 10.
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("fooba", "Zm9vYmE=")];
        for (plain, encoded) in pairs {
            assert_eq!(base64(plain.as_bytes()), encoded);
            assert_eq!(from_base64(encoded), plain);
        }
    }

    #[test]
    fn a_link_leads_back_to_its_entry() {
        let entry = json!({ "command": "/my build/höldpoint", "args": ["mcp", "a=b&c"] });
        let link = Link::Cursor.to(&entry);
        let (_, config) = link.split_once("&config=").unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&from_base64(&from_percent(config))).unwrap(),
            entry
        );
        let link = Link::VsCode.to(&entry);
        let config = from_percent(link.strip_prefix("vscode:mcp/install?").unwrap());
        assert_eq!(serde_json::from_str::<Value>(&config).unwrap(), named(&entry));
    }
}
