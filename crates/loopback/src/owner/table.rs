//! The same as text: `/proc/net/tcp` and `tcp6`. See <https://docs.kernel.org/networking/proc_net_tcp.html>.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Entry, NotSaid, Owner};

const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTEN: &str = "0A";

/// Every socket of TCP.
pub(super) fn read() -> Result<Vec<Entry>, NotSaid> {
    let texts: Vec<String> =
        TABLES.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    if texts.is_empty() {
        return Err(NotSaid);
    }
    Ok(texts.iter().flat_map(|text| text.lines()).filter_map(entry).collect())
}

/// From `sl: local remote state queues timer retransmits user timeout inode …`.
fn entry(line: &str) -> Option<Entry> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = |index: usize| words.get(index).copied();
    Some(Entry {
        local: address(at(1)?)?,
        remote: address(at(2)?)?,
        is_listening: at(3)? == LISTEN,
        owner: Owner { user: at(7)?.parse().ok()?, inode: at(9)?.parse().ok()? },
    })
}

/// `0100007F:1436`: each four bytes of the address as one number of the machine's own order.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let words = ip.as_bytes().chunks(8).map(|word| {
        let word = u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?;
        Some(word.to_ne_bytes())
    });
    let bytes = words.collect::<Option<Vec<[u8; 4]>>>()?.concat();
    let ip = match bytes.len() {
        4 => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str, u32, u64)>) {
        let found = entry(line);
        let told = found.map(|it| (it.local.to_string(), it.remote.to_string(), it.owner));
        let expected = expected.map(|(local, remote, user, inode)| {
            (local.to_owned(), remote.to_owned(), Owner { user, inode })
        });
        assert_eq!(told, expected);
    }

    #[test]
    fn lines_are_read_in_both_families() {
        check(
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid",
            None,
        );
        check(
            "   1: 0100007F:1436 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 41002 1 0 20 4 30 10 -1",
            Some(("127.0.0.1:5174", "127.0.0.1:54321", 1000, 41002)),
        );
        check(
            "   0: 0000000000000000FFFF00000100007F:1436 0000000000000000FFFF00000100007F:D431 01 0:0 0:0 0 65534 0 7 1",
            Some(("127.0.0.1:5174", "127.0.0.1:54321", 65534, 7)),
        );
        check(
            "   0: 00000000000000000000000001000000:1436 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 9 1",
            Some(("[::1]:5174", "[::]:0", 0, 9)),
        );
        check("0: 01:02 03:04 0A", None);
    }
}
