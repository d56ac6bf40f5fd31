//! Calls whose values must arrive as they were written: an app is given the arguments and the result that
//! an agent decides, and an integer beyond 64 bits would become a float on its way through the SDK's types.

use std::borrow::Cow;

use holdpoint_engine::calls::lenient;

use crate::{tool::Tool as _, tools::callpoint::r#continue::Continue};

/// The only tool that hands values on to a program.
const DECIDES: &str = Continue::NAME;

/// A message, in which the large integers of such a call are marked. Everything else is as it came.
pub(super) fn call(message: &[u8]) -> Cow<'_, [u8]> {
    let text = match std::str::from_utf8(message) {
        Ok(text) if text.contains(DECIDES) => text,
        _ => return Cow::Borrowed(message),
    };
    match lenient::exact(text) {
        Cow::Borrowed(_) => Cow::Borrowed(message),
        Cow::Owned(marked) => Cow::Owned(marked.into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decisions_are_marked() {
        let list = br#"{"id": 18446744073709551616, "method": "tools/list"}"#;
        assert_eq!(call(list), &list[..]);
        let decide = br#"{"name": "breakpoint_continue", "arguments": {"fake_result": 5}}"#;
        assert_eq!(call(decide), &decide[..]);
        let large = r#"{"name": "breakpoint_continue", "arguments": {"fake_result": 18446744073709551616}}"#;
        let marked = large.replace("18446744073709551616", "\"\u{fdd0}18446744073709551616\"");
        assert_eq!(call(large.as_bytes()), marked.as_bytes());
        assert_eq!(call(b"\xff"), &b"\xff"[..]);
    }
}
