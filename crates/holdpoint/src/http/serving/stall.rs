//! Bodies that stop coming: whoever reads one waits for its next piece for so long, and no longer.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use holdpoint_engine::limits;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// The client sent no more of its request.
#[derive(Debug)]
pub(crate) struct Stalled;

impl std::error::Error for Stalled {}

impl std::fmt::Display for Stalled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "nothing more of the body came within {} s", limits::BODY_STALL.as_secs())
    }
}

impl Stalled {
    /// Whether this is why a body could not be read.
    pub(crate) fn is_in(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut error = Some(error);
        while let Some(this) = error {
            if this.is::<Stalled>() {
                return true;
            }
            error = this.source();
        }
        false
    }
}

/// A request's body that ends with an error when it stalls.
pub(super) struct Awaited {
    body: Body,
    stall: Duration,
    /// Made when a piece is first waited for; most bodies come with their head.
    patience: Option<Pin<Box<Sleep>>>,
}

impl Awaited {
    pub(super) fn new(body: Body) -> Awaited {
        Awaited { body, stall: limits::BODY_STALL, patience: None }
    }
}

impl HttpBody for Awaited {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let stall = self.stall;
        if let Poll::Ready(came) = Pin::new(&mut self.body).poll_frame(cx) {
            if let Some(patience) = &mut self.patience {
                patience.as_mut().reset(Instant::now() + stall);
            }
            return Poll::Ready(came);
        }
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
        patience.as_mut().poll(cx).map(|()| Some(Err(axum::Error::new(Stalled))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        HttpBody::size_hint(&self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_stalls_is_an_error() {
        let (send, receive) = tokio::sync::mpsc::channel::<Result<Bytes, std::io::Error>>(4);
        send.send(Ok(Bytes::from_static(b"a beginning"))).await.unwrap();
        let open = Body::from_stream(tokio_stream::wrappers::ReceiverStream::new(receive));
        let awaited = Awaited { stall: Duration::from_millis(20), ..Awaited::new(open) };
        let error = axum::body::to_bytes(Body::new(awaited), 1_000).await.unwrap_err();
        assert!(Stalled::is_in(&error), "{error:?}");
        drop(send);
    }
}
