//! Where a person is: the view, what of it, and what was chosen there. And what a form says.

use std::collections::BTreeMap;

use reqwest::Url;

use super::{VIEWS, sheet::ViewEntry};

/// An address of ours, taken apart.
#[derive(Debug, Clone)]
pub(super) struct PageAddress {
    /// The first word: the view's name, or another that leads to it.
    pub(super) first: String,
    /// What comes behind it, decoded.
    rest: Vec<String>,
    query: FormFields,
    /// As a browser sends it.
    pub(super) whole: String,
}

/// Names with their values: of a query, or of a form.
#[derive(Debug, Clone, Default)]
pub(super) struct FormFields(BTreeMap<String, String>);

impl PageAddress {
    /// `/sessions/s1?frame=2`; none for what is no path.
    pub(super) fn read(whole: &str) -> Option<PageAddress> {
        let path = whole.strip_prefix('/').filter(|it| !it.starts_with('/'))?;
        let url = Url::parse("http://localhost/").ok()?.join(&format!("/{path}")).ok()?;
        let mut words = url.path_segments()?.map(decoded);
        let first = words.next().unwrap_or_default();
        let rest = words.filter(|it| !it.is_empty()).collect();
        let query = FormFields(url.query_pairs().into_owned().collect());
        let first = if first.is_empty() { "now".to_owned() } else { first };
        Some(PageAddress { first, rest, query, whole: whole.to_owned() })
    }

    pub(super) fn view(&self) -> Option<&'static ViewEntry> {
        VIEWS.iter().find(|it| it.name == self.first || it.also.contains(&self.first.as_str()))
    }

    /// A word of the path behind the view's name, from 0.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.rest.get(at).map(String::as_str)
    }

    /// What was chosen: `?frame=2`; empty where it was not.
    pub(super) fn chosen(&self, name: &str) -> &str {
        self.query.get(name)
    }

    /// The path alone.
    pub(super) fn path(&self) -> &str {
        self.whole.split('?').next().unwrap_or_default()
    }

    /// The same place with something else chosen; an empty value unchooses it.
    pub(super) fn with(&self, changes: &[(&str, &str)]) -> String {
        let mut query = self.query.0.clone();
        for (name, value) in changes {
            match value.is_empty() {
                true => query.remove(*name),
                false => query.insert((*name).to_owned(), (*value).to_owned()),
            };
        }
        to(self.path(), query.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

/// An address with a query.
pub(super) fn to<'a>(path: &str, query: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let Ok(mut url) = Url::parse("http://localhost/") else { return path.to_owned() };
    url.query_pairs_mut().extend_pairs(query);
    match url.query().filter(|it| !it.is_empty()) {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

/// A word as a part of a path.
pub(super) fn word(text: &str) -> String {
    let Ok(mut url) = Url::parse("http://localhost/") else { return String::new() };
    if let Ok(mut words) = url.path_segments_mut() {
        words.clear().push(text);
    }
    url.path().trim_start_matches('/').to_owned()
}

/// The view that answers at a path.
pub(super) fn view_of(path: &str) -> Option<&'static ViewEntry> {
    let first = path.strip_prefix('/')?.split('/').next()?;
    let is_it = |it: &&ViewEntry| it.name == first || it.also.contains(&first);
    VIEWS.iter().find(is_it)
}

impl FormFields {
    pub(super) fn of(pairs: BTreeMap<String, String>) -> FormFields {
        FormFields(pairs)
    }

    /// Empty where it was not sent.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }
}

fn decoded(word: &str) -> String {
    // A plus is a plus in a path, and a space in the query that this reads.
    let query = format!(
        "http://localhost/?{}",
        word.replace('+', "%2B").replace('&', "%26").replace('=', "%3D")
    );
    let url = Url::parse(&query).ok();
    let name = url.and_then(|it| it.query_pairs().next().map(|(name, _)| name.into_owned()));
    name.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_written_back() {
        let at = PageAddress::read("/sessions/s1?frame=2&file=%2Fa%20b.py").unwrap();
        assert_eq!((at.first.as_str(), at.word(0), at.word(1)), ("sessions", Some("s1"), None));
        assert_eq!((at.chosen("frame"), at.chosen("file")), ("2", "/a b.py"));
        assert_eq!(at.with(&[("frame", "3"), ("file", "")]), "/sessions/s1?frame=3");
        assert_eq!(PageAddress::read("/").unwrap().first, "now");
        let odd = "a/b+c&d=e%<script>";
        let read = PageAddress::read(&format!("/sessions/{}", word(odd))).unwrap();
        assert_eq!(read.word(0), Some(odd));
        assert!(PageAddress::read("//evil.example/").is_none() && PageAddress::read("x").is_none());
    }
}
