//! Which line an offset is on: of the text itself, or of what it was made from where it carries a source map.

use crate::maps::SourceMap;

#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<u32>,
    map: Option<SourceMap>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let next = bytes.get(at + 1).copied();
            let ends = match byte {
                b'\n' => true,
                b'\r' => next != Some(b'\n'),
                // U+2028 and U+2029 end a line as well: e2 80 a8, e2 80 a9.
                0xa8 | 0xa9 => at >= 2 && bytes.get(at - 2..at) == Some(&[0xe2, 0x80]),
                _ => false,
            };
            if ends {
                starts.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
            }
        }
        Self { starts, map: SourceMap::inside(text) }
    }

    /// The line of the text as it stands, from 1.
    pub(crate) fn own(&self, offset: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// Line and column of the text as it stands, from 1; the column counts bytes.
    pub(crate) fn place(&self, offset: u32) -> (u32, u32) {
        let line = self.own(offset);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or_default();
        (line, offset - start + 1)
    }

    /// The line that a person knows, from 1.
    pub(crate) fn of(&self, offset: u32) -> u32 {
        let line = self.own(offset);
        let Some(map) = &self.map else { return line };
        let start = self.starts.get(line as usize - 1).copied().unwrap_or_default();
        map.line(line - 1, offset - start).map_or(line, |line| line + 1)
    }

    /// What the text was made from, as its map says.
    pub(crate) fn source(&self) -> Option<&str> {
        self.map.as_ref().map(SourceMap::source)
    }
}
