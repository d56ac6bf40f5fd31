//! A zip archive of files as they are, without compression.
//!
//! Sixty lines instead of a dependency that everybody who runs a test would wait for. A bundle is
//! downloaded once, and its one large file is a stripped binary.
//! <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, the parts 4.3.7, 4.3.12 and 4.3.16.

use anyhow::{Context, Result};

pub(crate) struct File<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: Vec<u8>,
    /// Whether whoever unpacks it may start it.
    pub(crate) runs: bool,
}

/// 1980-01-01, the first day of this calendar: the same files make the same archive.
const NO_DATE: u32 = 0x0021_0000;
/// Needs version 2.0 to extract.
const NEEDS: u16 = 20;
/// Written as on Unix, so that the permissions count.
const UNIX: u16 = 3 << 8 | NEEDS;

pub(crate) fn archive(files: &[File<'_>]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for file in files {
        let offset = u32::try_from(out.len()).context("more than a zip archive holds")?;
        let about = about(file)?;
        out.extend(0x0403_4b50_u32.to_le_bytes());
        out.extend(&about);
        // No extra field.
        out.extend(0_u16.to_le_bytes());
        out.extend(file.name.as_bytes());
        out.extend(&file.bytes);

        let mode: u32 = if file.runs { 0o100_755 } else { 0o100_644 };
        directory.extend(0x0201_4b50_u32.to_le_bytes());
        directory.extend(UNIX.to_le_bytes());
        directory.extend(&about);
        // No extra field, no comment, the first disk, no internal attributes.
        directory.extend([0; 8]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(file.name.as_bytes());
    }
    let count = u16::try_from(files.len()).context("more files than a zip archive holds")?;
    let start = u32::try_from(out.len()).context("more than a zip archive holds")?;
    let length = u32::try_from(directory.len()).context("more than a zip archive holds")?;
    out.extend(directory);
    out.extend(0x0605_4b50_u32.to_le_bytes());
    // The first disk is the only one.
    out.extend([0; 4]);
    out.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
    // No comment.
    out.extend(0_u16.to_le_bytes());
    Ok(out)
}

/// What both headers of a file say: from "version needed" to the length of its name.
fn about(file: &File<'_>) -> Result<Vec<u8>> {
    let length =
        u32::try_from(file.bytes.len()).context("a file larger than a zip archive holds")?;
    let name = u16::try_from(file.name.len()).context("a name longer than a zip archive holds")?;
    let mut about = Vec::new();
    about.extend(NEEDS.to_le_bytes());
    // No flags, and stored as it is.
    about.extend([0; 4]);
    about.extend(NO_DATE.to_le_bytes());
    about.extend(crc32(&file.bytes).to_le_bytes());
    about.extend([length.to_le_bytes(), length.to_le_bytes()].concat());
    about.extend(name.to_le_bytes());
    Ok(about)
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }
        })
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standards() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
