//! Finding and reading one header block.

/// What every header block of the protocol has. Compared without case: some adapters write it small.
pub(super) const NAME: &[u8] = b"Content-Length:";

pub(super) enum Header {
    Incomplete,
    /// It begins like a header and is none.
    Nonsense,
    /// Sizes in bytes.
    Length {
        header: usize,
        body: usize,
    },
}

/// Where the first header begins, or could begin once more bytes come; the end when nowhere.
pub(super) fn begin(bytes: &[u8]) -> usize {
    let whole = bytes.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME));
    whole.unwrap_or_else(|| {
        let first = bytes.len().saturating_sub(NAME.len() - 1);
        (first..bytes.len()).find(|at| is_begun(bytes, *at)).unwrap_or(bytes.len())
    })
}

fn is_begun(bytes: &[u8], at: usize) -> bool {
    let tail = bytes.get(at..).unwrap_or_default();
    NAME.get(..tail.len()).is_some_and(|start| start.eq_ignore_ascii_case(tail))
}

/// Reads the block at the start of `bytes`, which begin with (a part of) the name.
pub(super) fn read(bytes: &[u8], header_max: usize) -> Header {
    let mut body = None;
    let mut used = 0;
    let block = bytes.get(..header_max).unwrap_or(bytes);
    for line in block.split_inclusive(|byte| *byte == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        used += line.len();
        match (trimmed(text), body) {
            ("", Some(body)) => return Header::Length { header: used, body },
            (text, None) => match length(text) {
                Some(length) => body = Some(length),
                None => return Header::Nonsense,
            },
            (text, Some(_)) if is_header(text) => {}
            (_, Some(_)) => return Header::Nonsense,
        }
    }
    if bytes.len() < header_max { Header::Incomplete } else { Header::Nonsense }
}

/// Blank lines, or other headers: some adapters write `Content-Type` first.
pub(super) fn is_harmless(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').all(|line| matches!(trimmed(line), "") || is_typed(line))
}

fn is_typed(line: &[u8]) -> bool {
    trimmed(line).to_ascii_lowercase().starts_with("content-type:")
}

fn length(line: &str) -> Option<usize> {
    line.split_once(':').and_then(|(_, number)| number.trim().parse().ok())
}

fn is_header(line: &str) -> bool {
    let name = line.split_once(':').map_or("", |(name, _)| name);
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    // The same header again is the start of the next message: this one was cut off.
    !name.is_empty() && name.bytes().all(is_token) && !name.eq_ignore_ascii_case("content-length")
}

/// Not UTF-8 becomes a sign that no header has.
fn trimmed(line: &[u8]) -> &str {
    std::str::from_utf8(line).map_or("\u{fffd}", str::trim)
}

/// Whether a header was begun, and its line was not ended.
pub(super) fn is_broken_off(rest: &[u8]) -> bool {
    const NAME: &[u8] = b"content-length:";
    let name = rest.get(..NAME.len().min(rest.len())).unwrap_or_default();
    !rest.is_empty()
        && !rest.contains(&b'\n')
        && NAME.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name))
}
