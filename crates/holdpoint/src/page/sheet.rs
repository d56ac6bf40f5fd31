//! What a view is: the trait that each implements, and what it gives back.

use std::hash::BuildHasher as _;

use futures::future::BoxFuture;
use holdpoint_engine::failure::{Code, Failure};
use maud::{Markup, PreEscaped, html};

use super::{
    address::{FormFields, PageAddress},
    pieces,
};
use crate::app::App;

/// One view: where it is, what it shows, what can be done there.
pub(super) trait PageView: 'static {
    /// The first word of its addresses: `/sessions/…`.
    const NAME: &'static str;
    /// First words that lead here too: addresses by which other tools know the same thing.
    const ALSO: &'static [&'static str] = &[];
    /// In the rail.
    const TITLE: &'static str;
    /// A symbol of `assets/icons.svg`, without `i-`.
    const ICON: &'static str;
    /// `g` and this key go there.
    const KEY: char;

    /// How many there are, for the rail.
    fn count(_: &App) -> Count {
        Count::None
    }

    fn show(app: App, at: PageAddress) -> impl Future<Output = Result<Sheet, Failure>> + Send;

    /// A piece of markup by itself, for the script; an address below the view's that is none for people.
    fn piece(
        _: App,
        _: PageAddress,
    ) -> impl Future<Output = Option<Result<Markup, Failure>>> + Send {
        async { None }
    }

    /// A form of the view was sent to its own address; the field `do` says what for.
    fn act(
        _: App,
        _: PageAddress,
        form: FormFields,
    ) -> impl Future<Output = Result<Then, Failure>> + Send {
        async move { Err(form.unknown()) }
    }
}

/// Beside a view's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    None,
    Some(usize),
    /// Waiting for somebody: amber.
    Held(usize),
}

/// Where a person is after what they did.
pub(super) enum Then {
    /// Where they were: the stream shows what came of it.
    Here,
    /// Where they were; and this is to be said, since nothing on the page will show it.
    Said(String),
    /// Elsewhere.
    To(String),
}

/// A view as it is now.
pub(super) struct Sheet {
    /// Of the browser's tab.
    pub(super) title: String,
    /// Panes at the window's height, which scroll by themselves.
    pub(super) is_fill: bool,
    /// Which form it has, where it has several: another one replaces the whole view.
    pub(super) shape: &'static str,
    /// Inside of `<main>`, parts included.
    pub(super) main: Markup,
    pub(super) parts: LiveParts,
}

/// What of a view may change, by the ids of the elements that it stands in.
#[derive(Default)]
pub(super) struct LiveParts {
    all: Vec<LivePart>,
    /// Something of it is from a moment ago: it is to be looked at again although nothing more happens.
    is_late: bool,
}

pub(super) struct LivePart {
    pub(super) id: String,
    /// Of its text: what a page has already is not sent again.
    pub(super) mark: String,
    pub(super) html: String,
    /// Of a list: its rows, so that those that became different are sent alone.
    pub(super) rows: Option<Vec<LiveRow>>,
}

/// One row of a list, by the id of its element.
pub(super) struct LiveRow {
    pub(super) id: String,
    pub(super) html: String,
    /// Of its text.
    pub(super) mark: u64,
}

impl LiveParts {
    /// Notes what stands inside of the element `id`, and gives it back to be put there. Parts are not nested.
    pub(super) fn put(&mut self, id: impl Into<String>, inside: Markup) -> Markup {
        let id = id.into();
        debug_assert!(self.all.iter().all(|part| part.id != id), "`{id}` twice");
        let mark = mark(&inside.0);
        self.all.push(LivePart { id, mark, html: inside.0.clone(), rows: None });
        inside
    }

    /// The same for a list: each row with the id of its element, and nothing between them.
    pub(super) fn rows(&mut self, id: impl Into<String>, rows: Vec<(String, Markup)>) -> Markup {
        let whole: String = rows.iter().map(|(_, row)| row.0.as_str()).collect();
        let rows =
            rows.into_iter().map(|(id, row)| LiveRow { id, mark: hash(&row.0), html: row.0 });
        let (rows, mark) = (Some(rows.collect()), mark(&whole));
        self.all.push(LivePart { id: id.into(), mark, html: String::new(), rows });
        PreEscaped(whole)
    }

    pub(super) fn all(&self) -> &[LivePart] {
        &self.all
    }

    /// Notes whether something that is shown is from a moment ago.
    pub(super) fn late(&mut self, is_late: bool) {
        self.is_late |= is_late;
    }

    pub(super) fn is_late(&self) -> bool {
        self.is_late
    }
}

/// The same text has the same mark, in every server of this version.
pub(super) fn mark(html: &str) -> String {
    format!("{:x}", hash(html))
}

fn hash(html: &str) -> u64 {
    foldhash::quality::FixedState::with_seed(7).hash_one(html)
}

impl Sheet {
    /// In place of a view that cannot be shown.
    pub(super) fn failed(failure: &Failure) -> Sheet {
        let main = html! {
            header.bar { h1 { "Not here" } p { } }
            div.body { section.panel { (pieces::failure(failure)) } }
        };
        let title = "Not here".to_owned();
        Sheet { title, is_fill: false, shape: "failed", main, parts: LiveParts::default() }
    }
}

/// What [`PageView::piece`] gives.
type MaybePiece = Option<Result<Markup, Failure>>;

/// A view with its type forgotten.
pub(super) struct ViewEntry {
    pub(super) name: &'static str,
    pub(super) also: &'static [&'static str],
    pub(super) title: &'static str,
    pub(super) icon: &'static str,
    pub(super) key: char,
    pub(super) count: fn(&App) -> Count,
    pub(super) show: fn(App, PageAddress) -> BoxFuture<'static, Result<Sheet, Failure>>,
    pub(super) piece: fn(App, PageAddress) -> BoxFuture<'static, MaybePiece>,
    pub(super) act: fn(App, PageAddress, FormFields) -> BoxFuture<'static, Result<Then, Failure>>,
}

pub(super) const fn entry<V: PageView>() -> ViewEntry {
    ViewEntry {
        name: V::NAME,
        also: V::ALSO,
        title: V::TITLE,
        icon: V::ICON,
        key: V::KEY,
        count: V::count,
        show: |app, at| Box::pin(V::show(app, at)),
        piece: |app, at| Box::pin(V::piece(app, at)),
        act: |app, at, form| Box::pin(V::act(app, at, form)),
    }
}

impl FormFields {
    /// Nothing of a view does that.
    pub(super) fn unknown(&self) -> Failure {
        Failure::new(Code::InvalidParams, format!("nothing here does `{}`", self.get("do")))
    }
}
