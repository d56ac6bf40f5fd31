//! From a script's `sourceMappingURL` to its map.

use std::{borrow::Cow, fs, path::Path};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::percent_decode_str;

use super::{MapFailure, SourceMap, locate};
use crate::limits;

/// Writers of inline maps disagree about the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The map that a script names, if it is one that we read. Reads files.
pub(crate) fn load(
    script_url: &str,
    script_file: Option<&Path>,
    map_url: &str,
) -> Result<Option<SourceMap>, MapFailure> {
    let folder = script_file.and_then(Path::parent);
    let loaded = match map_url.strip_prefix("data:") {
        Some(data) => inline(data).and_then(|json| SourceMap::parse(&json, folder)).map(Some),
        None => beside(map_url, folder),
    };
    loaded.map_err(|detail| MapFailure { script: script_url.to_owned(), detail })
}

fn inline(data: &str) -> Result<Cow<'_, [u8]>, String> {
    let (header, body) = data.split_once(',').ok_or("the data URL has no data")?;
    if body.len() > limits::MAP_BYTES {
        return Err(too_large());
    }
    if header.ends_with(";base64") {
        return BASE64.decode(body.trim()).map(Cow::Owned).map_err(|error| error.to_string());
    }
    Ok(percent_decode_str(body).into())
}

fn beside(url: &str, folder: Option<&Path>) -> Result<Option<SourceMap>, String> {
    let Some(path) = locate::map(url, folder) else { return Ok(None) };
    let about = fs::metadata(&path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    // A pipe or a device would never end.
    if !about.is_file() {
        return Err(format!("`{}` is not a file", path.display()));
    }
    if about.len() > limits::MAP_BYTES as u64 {
        return Err(too_large());
    }
    let json = fs::read(&path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    SourceMap::parse(&json, path.parent()).map(Some)
}

fn too_large() -> String {
    format!("it is larger than {} bytes", limits::MAP_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_of_both_kinds() {
        for data in [
            "application/json;base64,e30=",
            "application/json;charset=utf-8;base64,e30",
            "application/json,%7B%7D",
            ",{}",
        ] {
            assert_eq!(inline(data).unwrap().as_ref(), b"{}", "{data}");
        }
        assert!(inline("application/json;base64").is_err());
        assert!(inline("application/json;base64,%").is_err());
    }

    #[test]
    fn a_device_is_not_read() {
        let error = beside("/dev/zero", None).unwrap_err();
        assert!(error.contains("not a file"), "{error}");
    }

    #[test]
    fn maps_on_the_web_are_ignored() {
        assert!(beside("https://example.com/a.js.map", None).unwrap().is_none());
    }
}
