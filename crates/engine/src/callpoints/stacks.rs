//! Stacks seen of late. An app makes the same calls from the same places again and again, and hashing
//! a stack of frames costs more than everything else of a call: one that is here is known by its text.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
};

use holdpoint_store::Cid;

use crate::{calls::value::cid_of, limits};

#[derive(Default)]
pub(super) struct Stacks {
    hasher: RandomState,
    seen: HashMap<u64, (Box<str>, Cid)>,
    bytes: usize,
}

impl Stacks {
    pub(super) fn cid(&mut self, text: &str) -> Cid {
        let hash = self.hasher.hash_one(text);
        if let Some((known, cid)) = self.seen.get(&hash)
            && **known == *text
        {
            return *cid;
        }
        let cid = cid_of(text.as_bytes());
        if self.bytes > limits::STACK_CACHE {
            self.seen.clear();
            self.bytes = 0;
        }
        self.bytes += text.len();
        self.seen.insert(hash, (text.into(), cid));
        cid
    }
}
