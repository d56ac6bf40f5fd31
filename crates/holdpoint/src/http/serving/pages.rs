//! Pages that are ours: `holdpoint open` gets a key that works once, the page's address brings it, and from then on the
//! browser has a cookie. A page of ours without it is nobody's.

use std::{
    sync::{Mutex, OnceLock, PoisonError},
    time::Instant,
};

use axum::http::{HeaderMap, header::COOKIE};
use holdpoint_engine::limits;

use crate::key::{self, Key};

/// One for all pages of a process. It is made by the home's key, so a page that is open finds its way back to a server
/// that was started again; where there is no key, it ends with the process.
#[derive(Default)]
pub(crate) struct Pages {
    home: OnceLock<Key>,
    cookie: OnceLock<Option<String>>,
    /// Keys that wait for their page, the oldest first.
    keys: Mutex<Vec<(String, Instant)>>,
}

impl Pages {
    /// Before the first request.
    pub(crate) fn are_of(&self, home: Key) {
        self.home.get_or_init(|| home);
    }

    fn cookie(&self, port: u16) -> Option<&str> {
        let made = || match self.home.get() {
            Some(home) => home.of_pages(port),
            None => key::secret().ok(),
        };
        self.cookie.get_or_init(made).as_deref()
    }

    /// A key that works once, for a short while; none where the system gives no random numbers.
    pub(crate) fn key(&self) -> Option<String> {
        let made = key::secret().ok()?;
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|(_, at)| at.elapsed() < limits::OPEN_KEY);
        if keys.len() >= limits::OPEN_KEYS {
            keys.remove(0);
        }
        keys.push((made.clone(), Instant::now()));
        Some(made)
    }

    /// The cookie for whoever brings a key; the key is used up.
    pub(crate) fn redeem(&self, said: &str, port: u16) -> Option<String> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|(_, at)| at.elapsed() < limits::OPEN_KEY);
        let at = keys.iter().position(|(key, _)| key::same(said, key))?;
        keys.remove(at);
        drop(keys);
        let cookie = self.cookie(port)?;
        Some(format!("{}={cookie}; HttpOnly; SameSite=Strict; Path=/", name(port)))
    }

    /// Whether a request has the cookie.
    pub(crate) fn knows(&self, headers: &HeaderMap, port: u16) -> bool {
        // Without a key of the home, nobody can have one that was not given out.
        if self.home.get().is_none() && self.cookie.get().is_none() {
            return false;
        }
        let sent = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut pairs =
            sent.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
        let ours = name(port);
        let mut sent = pairs.by_ref().filter(|(name, _)| *name == ours).peekable();
        // Made only for whoever brings something that could be it.
        if sent.peek().is_none() {
            return false;
        }
        self.cookie(port).is_some_and(|cookie| sent.any(|(_, value)| key::same(value, cookie)))
    }
}

/// Browsers keep cookies by host, whatever the port: two servers of one machine must not take each other's.
fn name(port: u16) -> String {
    format!("holdpoint-{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knows(pages: &Pages, cookie: &str, port: u16) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, cookie.parse().unwrap());
        pages.knows(&headers, port)
    }

    #[test]
    fn a_key_works_once_and_the_cookie_from_then_on() {
        let pages = Pages::default();
        assert_eq!(pages.redeem("", 5174), None);
        assert!(!knows(&pages, "holdpoint-5174=", 5174), "nobody has one yet");
        let key = pages.key().unwrap();
        let set = pages.redeem(&key, 5174).unwrap();
        assert_eq!(pages.redeem(&key, 5174), None);
        assert!(set.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{set}");
        let cookie = set.split(';').next().unwrap();
        assert!(knows(&pages, cookie, 5174));
        assert!(knows(&pages, &format!("a=b; {cookie}; c"), 5174));
        assert!(!knows(&pages, cookie, 5175), "another server's");
        assert!(!knows(&pages, "holdpoint-5174=0", 5174));
    }

    #[test]
    fn a_server_that_was_started_again_knows_the_cookie_of_its_home() {
        let folder = tempfile::tempdir().unwrap();
        let (first, again, other) = (Pages::default(), Pages::default(), Pages::default());
        first.are_of(Key::at(&folder.path().join("key")).unwrap());
        again.are_of(Key::at(&folder.path().join("key")).unwrap());
        other.are_of(Key::at(&folder.path().join("other")).unwrap());
        let set = first.redeem(&first.key().unwrap(), 5174).unwrap();
        let cookie = set.split(';').next().unwrap();
        assert!(knows(&again, cookie, 5174));
        assert!(!knows(&other, cookie, 5174), "another home's");
    }

    #[test]
    fn keys_are_few() {
        let pages = Pages::default();
        let first = pages.key().unwrap();
        for _ in 0..limits::OPEN_KEYS {
            pages.key().unwrap();
        }
        assert_eq!(pages.redeem(&first, 1), None);
    }
}
