//! How far each client has been told, so that stopping can wait for the last word to arrive.

use std::sync::{Mutex, PoisonError};

use holdpoint_engine::ids::Seq;
use tokio::sync::watch;

/// The places of all readers that promise to deliver: one per client's notifications.
#[derive(Default)]
pub(crate) struct Delivery(Mutex<Vec<watch::Receiver<Seq>>>);

impl Delivery {
    /// A new reader. It says how far it has come; dropping it says it is done.
    pub(crate) fn enter(&self, at: Seq) -> watch::Sender<Seq> {
        let (sender, receiver) = watch::channel(at);
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|place| place.has_changed().is_ok());
        places.push(receiver);
        sender
    }

    /// Returns when every reader has come to `seq` or is gone.
    pub(crate) async fn everyone(&self, seq: Seq) {
        let places = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for mut place in places {
            // An error means the reader is gone; nobody is left to tell.
            place.wait_for(|at| seq <= *at).await.map(drop).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_for_the_slow_and_not_for_the_gone() {
        let told = Delivery::default();
        let slow = told.enter(Seq(1));
        drop(told.enter(Seq(1)));
        let waiting = told.everyone(Seq(3));
        tokio::pin!(waiting);
        assert!(futures::poll!(&mut waiting).is_pending());
        slow.send_replace(Seq(3));
        waiting.await;
    }
}
