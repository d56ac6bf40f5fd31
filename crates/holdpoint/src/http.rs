//! The HTTP face, in two rooms: what every request passes ([`serving`]), and what there is to ask for
//! ([`endpoints`]).

pub(crate) mod endpoints;
pub(crate) mod serving;
