//! The nouns of intercepted calls: a call, its values, how they are shown, what was decided about it.
//!
//! Plain data, without locks, tasks or the store: interception ([`callpoints`](crate::callpoints)), the
//! relay of expressions ([`repl`](crate::repl)) and what reads records back
//! ([`records`](crate::records)) share it, and each face makes its own form of it.

pub mod call;
pub mod lenient;
pub mod seen;
pub mod value;
pub mod verdict;

pub(crate) mod clock;
pub(crate) mod pretty;
