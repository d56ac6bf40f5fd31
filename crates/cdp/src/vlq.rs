//! The `mappings` of a source map: base 64 variable-length deltas. Pure.
//!
//! Written here and not taken from the `sourcemap` crate: that is well kept, but brings a dozen
//! crates, and its offsets overflow on a hostile index map. A map comes from the program under
//! debug, and must never end the debugger. Spec: <https://tc39.es/ecma426/>.

use crate::limits;

/// One mapping, all numbers from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// Nothing for generated text that comes from no source.
    pub(crate) original: Option<OriginalToken>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OriginalToken {
    pub(crate) source: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The running values that each segment is relative to.
#[derive(Default)]
struct Cursor {
    column: i64,
    source: i64,
    line: i64,
    source_column: i64,
}

/// Decodes one `mappings` string, sorted by generated place.
pub(crate) fn decode(mappings: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut cursor = Cursor::default();
    for (number, text) in mappings.split(';').enumerate() {
        let line = u32::try_from(number).map_err(|_| "too many lines")?;
        cursor.column = 0;
        let first = tokens.len();
        for segment in text.split(',').filter(|segment| !segment.is_empty()) {
            if tokens.len() >= limits::MAP_TOKENS {
                return Err(format!("more than {} mappings", limits::MAP_TOKENS));
            }
            let (column, original) = cursor.segment(segment)?;
            tokens.push(Token { line, column, original });
        }
        // Writers need not sort within a line, readers must.
        if let Some(line) = tokens.get_mut(first..) {
            line.sort_by_key(|token| token.column);
        }
    }
    Ok(tokens)
}

impl Cursor {
    fn segment(&mut self, text: &str) -> Result<(u32, Option<OriginalToken>), String> {
        let mut fields = Fields(text.bytes());
        self.column = self.column.saturating_add(fields.required(text)?);
        let column = place(self.column, text)?;
        let Some(source) = fields.next()? else { return Ok((column, None)) };
        self.source = self.source.saturating_add(source);
        self.line = self.line.saturating_add(fields.required(text)?);
        self.source_column = self.source_column.saturating_add(fields.required(text)?);
        // A fifth field names the identifier, which we do not use.
        fields.next()?;
        let original = OriginalToken {
            source: place(self.source, text)?,
            line: place(self.line, text)?,
            column: place(self.source_column, text)?,
        };
        Ok((column, Some(original)))
    }
}

fn place(number: i64, segment: &str) -> Result<u32, String> {
    u32::try_from(number).map_err(|_| format!("segment `{segment}` leads out of the text"))
}

struct Fields<'a>(std::str::Bytes<'a>);

impl Fields<'_> {
    fn required(&mut self, segment: &str) -> Result<i64, String> {
        self.next()?.ok_or_else(|| format!("segment `{segment}` is incomplete"))
    }

    /// The next number, `None` at the end. The lowest bit is the sign, bit 5 of a digit says more.
    fn next(&mut self) -> Result<Option<i64>, String> {
        let mut value: i64 = 0;
        for shift in (0..35).step_by(5) {
            let Some(letter) = self.0.next() else {
                return if shift == 0 { Ok(None) } else { Err("a number is cut off".into()) };
            };
            let digit = i64::from(digit(letter).ok_or("not base 64")?);
            value |= (digit & 31) << shift;
            if digit & 32 == 0 {
                let size = value >> 1;
                return Ok(Some(if value & 1 == 1 { -size } else { size }));
            }
        }
        Err("a number is too large".into())
    }
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The other direction, for tests of this crate.
    pub(crate) fn encode(tokens: &[Token]) -> String {
        let mut text = String::new();
        let (mut line, mut last) = (0, [0i64; 4]);
        for token in tokens {
            while line < token.line {
                text.push(';');
                line += 1;
                last[0] = 0;
            }
            if !text.is_empty() && !text.ends_with(';') {
                text.push(',');
            }
            let mut now = vec![i64::from(token.column)];
            if let Some(o) = token.original {
                now.extend([i64::from(o.source), i64::from(o.line), i64::from(o.column)]);
            }
            for (index, value) in now.into_iter().enumerate() {
                number(&mut text, value - last[index]);
                last[index] = value;
            }
        }
        text
    }

    fn number(text: &mut String, value: i64) {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut rest = if value < 0 { (-value << 1) | 1 } else { value << 1 } as usize;
        loop {
            let digit = rest & 31;
            rest >>= 5;
            let more = if rest > 0 { 32 } else { 0 };
            text.push(letters[digit | more] as char);
            if rest == 0 {
                return;
            }
        }
    }

    fn token() -> impl Strategy<Value = Token> {
        let original = (0..5u32, 0..1000u32, 0..1_000_000u32)
            .prop_map(|(source, line, column)| OriginalToken { source, line, column });
        (0..50u32, 0..1_000_000u32, prop::option::of(original))
            .prop_map(|(line, column, original)| Token { line, column, original })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(mut tokens in prop::collection::vec(token(), 0..60)) {
            tokens.sort_by_key(|token| (token.line, token.column));
            prop_assert_eq!(decode(&encode(&tokens)).unwrap(), tokens);
        }

        #[test]
        fn garbage_is_an_error_not_a_panic(text in "[A-Za-z0-9+/,;]*", any in ".*") {
            drop(decode(&text));
            drop(decode(&any));
        }
    }
}
