//! How a value is named: by its CID, or by the beginning of it. 128 digits are more than anybody copies.

use holdpoint_store::{Cid, StoreError};

use super::Records;
use crate::limits;

/// Why a CID names no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoValue {
    Unknown { cid: String },
    Several { cid: String, count: usize },
}

impl Records {
    /// The value of that CID, or of the only one that begins so.
    pub(crate) async fn value_named(&self, cid: &str) -> Result<Result<Cid, NoValue>, StoreError> {
        let unknown = || NoValue::Unknown { cid: cid.to_owned() };
        let digits = cid.to_ascii_lowercase();
        if let Some(whole) = Cid::parse(&digits) {
            return Ok(Ok(whole));
        }
        if !is_beginning(&digits) {
            return Ok(Err(unknown()));
        }
        self.settle().await;
        let found = self.store.cids(digits, limits::CIDS_COUNTED).await?;
        Ok(match found.as_slice() {
            [] => Err(unknown()),
            [only] => Ok(*only),
            several => Err(NoValue::Several { cid: cid.to_owned(), count: several.len() }),
        })
    }
}

pub(crate) fn is_beginning(cid: &str) -> bool {
    (limits::CID_DIGITS..128).contains(&cid.len())
        && cid.bytes().all(|digit| digit.is_ascii_hexdigit())
}
