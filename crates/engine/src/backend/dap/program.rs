//! What runs the program's own code, which may never end, and breaking it off.

use std::time::{Duration, Instant};

use holdpoint_dap::{Request, RequestError};
use tokio::sync::oneshot;

use super::Dap;
use crate::limits;

/// How long an interrupted request may take to answer before it is interrupted again.
const AGAIN: Duration = Duration::from_millis(200);

/// An answer, and whether it came only because we broke the work off.
pub(super) struct Answer<B> {
    pub(super) result: Result<B, RequestError>,
    pub(super) interrupted: bool,
}

impl Dap {
    /// Breaks off what a stopped thread computes for us, if anything can.
    async fn interrupt(&self) -> Option<()> {
        if let Some(inside) = self.known.inside() {
            inside.interrupt(self).await;
            return Some(());
        }
        let command = self.known.dialect.interrupts()?;
        let asked = self.requester.raw(command, serde_json::Value::Null);
        if let Ok(Err(error)) = tokio::time::timeout(AGAIN, asked).await {
            tracing::debug!(%error, "what the program computes goes on");
        }
        Some(())
    }

    /// Asks for something that runs the program's own code, which may never end. `None` when it could not
    /// be broken off either. Whoever stops waiting leaves no thread stuck: the next request would wait
    /// for it.
    pub(super) async fn ask_program<R: Request>(
        &self,
        arguments: R::Arguments,
        patience: Duration,
    ) -> Option<Answer<R::Body>>
    where
        R::Arguments: Send + 'static,
        R::Body: Send + 'static,
    {
        let dap = self.clone();
        let (_waiting, nobody_waits) = oneshot::channel::<()>();
        let (reply, answered) = oneshot::channel();
        let asking = async move {
            let asked = dap.requester.request::<R>(arguments);
            tokio::pin!(asked);
            tokio::select! {
                result = &mut asked => return Some(Answer { result, interrupted: false }),
                () = tokio::time::sleep(patience) => {}
                _ = nobody_waits => {}
            }
            let begun = Instant::now();
            // The first may come before the work has begun.
            while begun.elapsed() < limits::INTERRUPT {
                dap.interrupt().await?;
                if let Ok(result) = tokio::time::timeout(AGAIN, &mut asked).await {
                    return Some(Answer { result, interrupted: true });
                }
            }
            None
        };
        // Ends with the answer, or soon after its patience or its caller, who may be gone then.
        self.known.tasks.spawn(async move { reply.send(asking.await).unwrap_or_default() });
        answered.await.ok().flatten()
    }
}
