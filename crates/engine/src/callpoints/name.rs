//! How a value is named: by its CID, or by the beginning of it. 128 digits are more than anybody copies.

use holdpoint_store::{Cid, StoreError};
use serde_json::{Map, Value};

use super::{Callpoints, decision::Decision};
use crate::limits;

/// Why a CID names no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoValue {
    Unknown { cid: String },
    Several { cid: String, count: usize },
}

impl Callpoints {
    /// The value of that CID, or of the only one that begins so.
    pub(super) async fn value_named(&self, cid: &str) -> Result<Result<Cid, NoValue>, StoreError> {
        let unknown = || NoValue::Unknown { cid: cid.to_owned() };
        let digits = cid.to_ascii_lowercase();
        if let Some(whole) = Cid::parse(&digits) {
            return Ok(Ok(whole));
        }
        if !is_beginning(&digits) {
            return Ok(Err(unknown()));
        }
        self.recorder.settle().await;
        let found = self.store.cids(&digits, limits::CIDS_COUNTED).await?;
        Ok(match found.as_slice() {
            [] => Err(unknown()),
            [only] => Ok(*only),
            several => Err(NoValue::Several { cid: cid.to_owned(), count: several.len() }),
        })
    }

    /// The decision with whole CIDs in place of their beginnings: an app knows only those.
    pub(super) async fn with_whole_cids(&self, decision: &Decision) -> Result<Decision, NoValue> {
        let mut decision = decision.clone();
        for value in decision.modified_args.iter_mut().flatten() {
            self.make_whole(value).await?;
        }
        let named = decision.modified_kwargs.iter_mut().flat_map(Map::values_mut);
        for value in named {
            self.make_whole(value).await?;
        }
        Ok(decision)
    }

    async fn make_whole(&self, value: &mut Value) -> Result<(), NoValue> {
        let Some(Value::String(cid)) = value.get_mut("cid") else { return Ok(()) };
        // What is none is the app's business: it may name its objects as it likes.
        if !is_beginning(cid) {
            return Ok(());
        }
        match self.value_named(cid).await {
            Ok(Ok(whole)) => *cid = whole.to_string(),
            Ok(Err(no)) => return Err(no),
            Err(error) => tracing::warn!(%error, "a CID could not be looked up"),
        }
        Ok(())
    }
}

fn is_beginning(cid: &str) -> bool {
    (limits::CID_DIGITS..128).contains(&cid.len())
        && cid.bytes().all(|digit| digit.is_ascii_hexdigit())
}
