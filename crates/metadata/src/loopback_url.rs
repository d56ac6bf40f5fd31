//! An address on this machine, as a file may name one. Its host and port are written out; parameters can only be parts
//! of the path, so no call leads anywhere else.

use crate::{Param, TextTemplate, complaint::Complaints};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopbackUrl {
    /// `127.0.0.1:8080`, `[::1]:8080`
    pub authority: String,
    /// What stands between the slashes.
    pub segments: Vec<TextTemplate>,
}

const HOSTS: &[(&str, &str)] =
    &[("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]"), ("localhost", "127.0.0.1")];

impl LoopbackUrl {
    pub(crate) fn read(
        text: &str,
        line: usize,
        params: &[Param],
        to: &mut Complaints,
    ) -> Option<LoopbackUrl> {
        let Some(rest) = text.strip_prefix("http://") else {
            to.add(line, "`url` begins with `http://`: only this machine is spoken to");
            return None;
        };
        if text.contains(['?', '#']) {
            to.add(line, "`url` has no `?` and no `#`: parameters of it go into `query`");
            return None;
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let Some(authority) = authority_of(authority) else {
            to.add(
                line,
                "the host of `url` is 127.0.0.1, [::1] or localhost, and its port a number",
            );
            return None;
        };
        let mut segments = Vec::new();
        for segment in path.split('/') {
            segments.push(TextTemplate::checked(segment, line, params, to)?);
        }
        Some(LoopbackUrl { authority, segments })
    }
}

fn authority_of(text: &str) -> Option<String> {
    let (name, address) = HOSTS.iter().find(|(name, _)| text.starts_with(name))?;
    let rest = text.strip_prefix(name)?;
    if rest.is_empty() {
        return Some((*address).to_owned());
    }
    let port: u16 = rest.strip_prefix(':')?.parse().ok()?;
    Some(format!("{address}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_named() {
        for (text, authority) in [
            ("http://127.0.0.1:80/a", Some("127.0.0.1:80")),
            ("http://localhost/a", Some("127.0.0.1")),
            ("http://[::1]:9", Some("[::1]:9")),
            ("https://127.0.0.1/a", None),
            ("http://example.org/", None),
            ("http://127.0.0.1.example.org/", None),
            ("http://localhost.example.org/", None),
            ("http://127.0.0.1@example.org/", None),
            ("http://127.0.0.1:80@example.org/", None),
            ("http://{host}/", None),
            ("http://127.0.0.1:{port}/", None),
            ("http://127.0.0.1/a?b=c", None),
        ] {
            let mut complaints = Complaints::default();
            let url = LoopbackUrl::read(text, 1, &[], &mut complaints);
            assert_eq!(url.map(|it| it.authority).as_deref(), authority, "{text}");
            assert_eq!(complaints.is_empty(), authority.is_some(), "{text}");
        }
    }
}
