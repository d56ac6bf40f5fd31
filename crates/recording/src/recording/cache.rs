//! What was unpacked lately, within a bound.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{damage::Damage, limits};

/// Process, number of the part, and what it is.
type Key = (u32, u32, u8);

/// The arguments of a block's calls, and where each call's end.
type ArgumentBlock = (Vec<u32>, Vec<u32>);

/// Values in their bytes, and where each begins.
type ValueBlock = (Vec<u8>, Vec<u32>);

#[derive(Clone)]
enum Item {
    Column(Arc<Vec<u64>>),
    Arguments(Arc<ArgumentBlock>),
    Values(Arc<ValueBlock>),
    Bytes(Arc<Vec<u8>>),
}

#[derive(Default)]
struct Held {
    items: HashMap<Key, Item>,
    bytes: usize,
}

/// Questions walk over neighbours: of each kind the one that was used last is found without a search.
const HOT: usize = 16;

#[derive(Default)]
pub(super) struct Cache {
    held: Mutex<Held>,
    hot: [Mutex<Option<(Key, Item)>>; HOT],
}

impl Cache {
    pub(super) fn column(
        &self,
        key: Key,
        read: impl FnOnce() -> Result<Vec<u64>, Damage>,
    ) -> Result<Arc<Vec<u64>>, Damage> {
        if let Some(Item::Column(found)) = self.get(key) {
            return Ok(found);
        }
        let read = Arc::new(read()?);
        self.put(key, Item::Column(Arc::clone(&read)), read.len() * 8);
        Ok(read)
    }

    pub(super) fn arguments(
        &self,
        key: Key,
        read: impl FnOnce() -> Result<ArgumentBlock, Damage>,
    ) -> Result<Arc<ArgumentBlock>, Damage> {
        if let Some(Item::Arguments(found)) = self.get(key) {
            return Ok(found);
        }
        let read = Arc::new(read()?);
        let bytes = (read.0.len() + read.1.len()) * 4;
        self.put(key, Item::Arguments(Arc::clone(&read)), bytes);
        Ok(read)
    }

    pub(super) fn values(
        &self,
        key: Key,
        read: impl FnOnce() -> Result<ValueBlock, Damage>,
    ) -> Result<Arc<ValueBlock>, Damage> {
        if let Some(Item::Values(found)) = self.get(key) {
            return Ok(found);
        }
        let read = Arc::new(read()?);
        let bytes = read.0.len() + read.1.len() * 4;
        self.put(key, Item::Values(Arc::clone(&read)), bytes);
        Ok(read)
    }

    pub(super) fn bytes(
        &self,
        key: Key,
        read: impl FnOnce() -> Result<Vec<u8>, Damage>,
    ) -> Result<Arc<Vec<u8>>, Damage> {
        if let Some(Item::Bytes(found)) = self.get(key) {
            return Ok(found);
        }
        let read = Arc::new(read()?);
        self.put(key, Item::Bytes(Arc::clone(&read)), read.len());
        Ok(read)
    }

    fn get(&self, key: Key) -> Option<Item> {
        let hot = self.hot.get(usize::from(key.2) % HOT)?;
        let mut hot = hot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, item)) = hot.as_ref().filter(|(it, _)| *it == key) {
            return Some(item.clone());
        }
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.items.get(&key)?.clone();
        *hot = Some((key, found.clone()));
        Some(found)
    }

    fn put(&self, key: Key, item: Item, bytes: usize) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.bytes.saturating_add(bytes) > limits::CACHE_MAX {
            *held = Held::default();
        }
        held.bytes += bytes;
        held.items.insert(key, item);
    }
}
