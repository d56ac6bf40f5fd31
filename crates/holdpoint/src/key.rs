//! The home's key: by it a server and its clients know each other to be of one user, where the system does not say.
//!
//! A server proves that it has the key without showing it: it answers a number that nobody foresaw with that number
//! under the key, together with the address at which it was asked. So nobody can pass the answer on as theirs, who is
//! asked at another address.

use std::{
    fs, io,
    io::{Read as _, Write as _},
    net::SocketAddr,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::home;

const BYTES: usize = 32;
/// Letters of a number to be proven against: 16 bytes at least.
const NONCE: std::ops::RangeInclusive<usize> = 32..=128;

/// As it is written: 64 letters.
#[derive(Clone)]
pub(crate) struct Key(String);

impl Key {
    /// That of this user's home; made where there is none.
    pub(crate) fn of_home() -> io::Result<Key> {
        let folder = home::folder().ok_or(io::ErrorKind::NotFound)?;
        home::make(&folder)?;
        Key::at(&folder.join("key"))
    }

    /// That of this user's home, if there is one that is this user's.
    pub(crate) fn find() -> Option<Key> {
        read(&home::folder()?.join("key")).ok()
    }

    pub(crate) fn at(path: &Path) -> io::Result<Key> {
        match read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        let key = Key(secret()?);
        let new = path.with_extension(format!("{}.new", std::process::id()));
        home::fresh(&new)?.write_all(key.0.as_bytes())?;
        // Of two servers that start together one makes it: a link does not replace what is there.
        let linked = fs::hard_link(&new, path);
        fs::remove_file(&new)?;
        match linked {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(path),
            Err(error) => Err(error),
        }
    }

    /// Whether somebody who says so has it.
    pub(crate) fn is(&self, said: &str) -> bool {
        same(said, &self.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The cookie of pages of servers at this port: another server of this home that takes its place knows it too.
    pub(crate) fn of_pages(&self, port: u16) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).ok()?;
        mac.update(format!("holdpoint page\n{port}").as_bytes());
        Some(hex(&mac.finalize().into_bytes()))
    }

    /// What proves a server at this address; none for a number that is none.
    pub(crate) fn proof(&self, nonce: &str, address: SocketAddr) -> Option<String> {
        let is_number =
            NONCE.contains(&nonce.len()) && nonce.bytes().all(|it| it.is_ascii_hexdigit());
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).ok().filter(|_| is_number)?;
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        mac.update(format!("holdpoint server\n{nonce}\n{address}").as_bytes());
        Some(hex(&mac.finalize().into_bytes()))
    }
}

/// Compared in the same time wherever they differ.
pub(crate) fn same(said: &str, secret: &str) -> bool {
    said.as_bytes().ct_eq(secret.as_bytes()).into()
}

/// 32 bytes that nobody can guess, as letters.
pub(crate) fn secret() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Only this user's own: whoever could write another's would be believed.
fn read(path: &Path) -> io::Result<Key> {
    let nofollow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let file = fs::OpenOptions::new().read(true).custom_flags(nofollow).open(path)?;
    let owner = file.metadata()?.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("it belongs to user {owner}")));
    }
    let mut text = String::new();
    file.take(2 * BYTES as u64 + 2).read_to_string(&mut text)?;
    let text = text.trim_end();
    let is_whole = text.len() == 2 * BYTES && text.bytes().all(|it| it.is_ascii_hexdigit());
    if is_whole { Ok(Key(text.to_owned())) } else { Err(io::Error::other("it is no key")) }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_ours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let key = Key::at(&path).unwrap();
        assert_eq!(Key::at(&path).unwrap().as_str(), key.as_str());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
        fs::write(&path, "short").unwrap();
        assert!(Key::at(&path).unwrap_err().to_string().contains("no key"));
    }

    #[test]
    fn a_link_is_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        Key::at(&real).unwrap();
        let link = folder.path().join("key");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(Key::at(&link).is_err());
    }

    #[test]
    fn a_key_is_compared_whole() {
        let key = Key("a".repeat(64));
        assert!(key.is(&"a".repeat(64)));
        for wrong in
            ["", "a", &"a".repeat(63), &"a".repeat(65), &("b".to_owned() + &"a".repeat(63))]
        {
            assert!(!key.is(wrong), "{wrong}");
        }
    }

    /// What the clients in other languages compute, too.
    #[test]
    fn a_proof_is_of_the_number_the_address_and_the_key() {
        let key = Key("a".repeat(64));
        let (nonce, here) = ("0".repeat(32), SocketAddr::from(([127, 0, 0, 1], 5174)));
        let proof = key.proof(&nonce, here).unwrap();
        assert_eq!(proof, "b26f115551ef7ae525416e4983d4125fd0f1c58558d60538a1a855cb4ea0a003");
        let mapped = "[::ffff:127.0.0.1]:5174".parse().unwrap();
        assert_eq!(key.proof(&nonce, mapped).as_ref(), Some(&proof));
        let others = [
            key.proof(&"1".repeat(32), here),
            key.proof(&nonce, SocketAddr::from(([127, 0, 0, 1], 5175))),
            Key("b".repeat(64)).proof(&nonce, here),
        ];
        assert!(others.iter().all(|it| it.as_ref() != Some(&proof)));
        for wrong in ["", "00", &"z".repeat(32), &"0".repeat(200)] {
            assert_eq!(key.proof(wrong, here), None, "{wrong}");
        }
    }
}
