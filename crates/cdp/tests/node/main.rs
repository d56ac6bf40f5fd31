//! The client against a real `node` on the PATH.
//!
//! `cfg(test)` says nothing here that is not so, but lets the lints see that helpers are tests too.

#[cfg(test)]
mod connection;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod maps;
#[cfg(test)]
mod stops;
#[cfg(test)]
mod workers;
