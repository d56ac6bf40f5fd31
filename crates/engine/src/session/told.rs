//! The stops that a caller was told, to say what changed since.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
};

use super::{Session, Shown};
use crate::{
    ids::Seq,
    inspect::{self, Snapshot},
    limits,
};

/// The variables of a stop, as they were told.
pub(super) struct ToldStop {
    seq: Seq,
    function: String,
    now: BTreeMap<String, String>,
    /// Those it was compared with.
    before: Option<BTreeMap<String, String>>,
}

impl Session {
    /// Remembers a stop by the variables that were told with it.
    pub fn remember(&self, shown: &Shown, variables: &inspect::Locals) {
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        stops.retain(|stop| stop.seq != shown.seq);
        stops.push_back(Arc::new(Snapshot::of_stop(shown.standing(self.id), variables)));
        while stops.len() > limits::STOPS {
            stops.pop_front();
        }
    }

    /// The stops that are remembered, oldest first.
    pub fn stops(&self) -> Vec<Arc<Snapshot>> {
        let stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        stops.iter().cloned().collect()
    }

    /// Remembers the variables of a stop and gives those of the stop before it, if it was in the same
    /// function. A stop that is told again is told as it was before: nothing is used up by asking.
    pub fn tell(
        &self,
        seq: Seq,
        function: &str,
        now: BTreeMap<String, String>,
    ) -> Option<BTreeMap<String, String>> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match told.take() {
            Some(again) if again.seq == seq => again.before,
            Some(last) => Some(last.now).filter(|_| last.function == function),
            None => None,
        };
        let function = function.to_owned();
        *told = Some(ToldStop { seq, function, now, before: before.clone() });
        before
    }
}
