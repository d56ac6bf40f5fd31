//! What a `Host` and an `Origin` say, when they say it plainly: a name or an address, perhaps a port, and nothing else.
//!
//! Whoever reads more out of them than that (a user before an `@`, what follows a bracket) reads something else than the
//! browser did that sent them.

use std::net::IpAddr;

/// `name[:port]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Host<'a> {
    name: Name<'a>,
    port: Option<u16>,
}

#[derive(Debug, Clone, Copy)]
enum Name<'a> {
    Localhost,
    Ip(IpAddr),
    Other(&'a str),
}

/// What a page of `http` says without a port.
const HTTP: u16 = 80;

impl<'a> Host<'a> {
    pub(super) fn read(text: &'a str) -> Option<Host<'a>> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (inside, after) = rest.split_once(']')?;
                let address = inside.parse::<std::net::Ipv6Addr>().ok()?;
                (Name::Ip(address.into()), after)
            }
            None => {
                let at = text.find(':').unwrap_or(text.len());
                let (name, after) = text.split_at_checked(at)?;
                (Name::read(name)?, after)
            }
        };
        let port = match port.strip_prefix(':') {
            Some(digits) => Some(number(digits)?),
            None if port.is_empty() => None,
            None => return None,
        };
        Some(Host { name, port })
    }

    /// Whether it names this machine to itself.
    pub(super) fn is_loopback(&self) -> bool {
        match self.name {
            Name::Localhost => true,
            Name::Ip(ip) => ip.is_loopback(),
            Name::Other(_) => false,
        }
    }

    pub(super) fn is_ip(&self, ip: IpAddr) -> bool {
        matches!(self.name, Name::Ip(it) if it == ip.to_canonical())
    }

    /// Whether a page of `http` at the one is at the other.
    fn is_same_place(&self, other: &Host<'_>) -> bool {
        self.name == other.name && self.port.unwrap_or(HTTP) == other.port.unwrap_or(HTTP)
    }
}

impl<'a> Name<'a> {
    fn read(text: &'a str) -> Option<Name<'a>> {
        if text.eq_ignore_ascii_case("localhost") {
            return Some(Name::Localhost);
        }
        if let Ok(address) = text.parse::<std::net::Ipv4Addr>() {
            return Some(Name::Ip(address.into()));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        (!text.is_empty() && text.bytes().all(is_plain)).then_some(Name::Other(text))
    }
}

impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Name::Localhost, Name::Localhost) => true,
            (Name::Ip(one), Name::Ip(other)) => one == other,
            (Name::Other(one), Name::Other(other)) => one.eq_ignore_ascii_case(other),
            _ => false,
        }
    }
}

impl Eq for Name<'_> {}

/// Where a page comes from: `scheme://host[:port]`.
pub(super) struct Origin<'a> {
    is_http: bool,
    host: Host<'a>,
}

impl<'a> Origin<'a> {
    /// None for what no page of the web says: files, sandboxes (`null`), extensions.
    pub(super) fn read(text: &'a str) -> Option<Origin<'a>> {
        let (is_http, host) = match text.strip_prefix("http://") {
            Some(host) => (true, host),
            None => (false, text.strip_prefix("https://")?),
        };
        Some(Origin { is_http, host: Host::read(host)? })
    }

    pub(super) fn is_loopback(&self) -> bool {
        self.host.is_loopback()
    }

    /// Whether it is the very place that was asked: same scheme, same name, same port.
    pub(super) fn is_of(&self, host: &Host<'_>) -> bool {
        self.is_http && self.host.is_same_place(host)
    }
}

/// Digits alone: Rust's own reading takes a sign.
fn number(digits: &str) -> Option<u16> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    is_plain.then(|| digits.parse().ok()).flatten().filter(|port| *port != 0)
}
