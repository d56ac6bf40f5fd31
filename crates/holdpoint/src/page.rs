//! The page: what a person beside an agent sees and steers, live.
//!
//! Each view is one file with its data, its markup and what can be done there, and one line in [`VIEWS`]; the rail, the
//! routes, the live stream and the actions derive from it. Markup is rendered here, on the server: every view has an
//! address of its own and shows its data without a script. What a view shows that changes is a *part* with an id; the
//! stream (`live.rs`) renders the view again when something happened and sends the parts that became different.
//!
//! Everything goes through the same engine calls as the tools, with [`Actor::Person`] as who did it.

mod address;
mod assets;
mod bars;
mod colours;
mod desk;
mod entrance;
mod happened;
mod layout;
mod live;
mod pieces;
mod rail;
mod router;
mod sheet;
mod slow;

mod calls;
mod external;
mod now;
mod recordings;
mod repl;
mod sessions;
mod setup;
mod timeline;
mod values;

use self::sheet::{ViewEntry, entry};
pub(crate) use self::{desk::Desk, entrance::wants_page, router::index, router::router};

/// The only list of views, in the order of the rail.
const VIEWS: &[ViewEntry] = &[
    entry::<now::Now>(),
    entry::<sessions::SessionsView>(),
    entry::<recordings::RecordingsView>(),
    entry::<calls::CallsView>(),
    entry::<values::ValuesView>(),
    entry::<timeline::TimelineView>(),
    entry::<repl::ReplView>(),
    entry::<external::ExternalView>(),
    entry::<setup::SetupView>(),
];

/// What the gate must know of a path before anything else looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A view: without the cookie it shows nothing.
    View,
    /// The style sheet, the script, the icon: public.
    Asset,
}

/// What of ours a path names, if anything.
pub(crate) fn asks(path: &str) -> Option<Asks> {
    if assets::is_one(path) {
        return Some(Asks::Asset);
    }
    address::view_of(path).map(|_| Asks::View)
}
