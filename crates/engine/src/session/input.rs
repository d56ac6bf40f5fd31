//! What is written to a program's stdin.

use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;

use super::Session;
use crate::{
    failure::{Code, Failure},
    limits,
};

impl Session {
    /// Writes to the program's stdin. What it does not read at once goes on its way beside: a program
    /// that stands still reads nothing.
    pub async fn input(&self, text: &str, close: bool) -> Result<(), Failure> {
        if self.attach().is_some() {
            let text = format!("{} was attached to: its stdin is not ours", self.id);
            return Err(Failure::new(Code::NotFound, text)
                .hint("write to it where it was started, or start it with `debug_launch`"));
        }
        let free = tokio::time::timeout(limits::DRAIN, Arc::clone(&self.stdin).lock_owned()).await;
        let mut stdin = free.map_err(|_| {
            Failure::new(Code::Busy, "the program has not read what was written before")
                .hint("let it run until it reads its stdin")
        })?;
        let Some(mut pipe) = stdin.take() else {
            return Err(Failure::new(Code::NotFound, "the program's stdin is closed"));
        };
        let text = text.to_owned();
        // Ends when the program has read it, or with the program.
        let writing = self.beside.begin(async move {
            pipe.write_all(text.as_bytes()).await?;
            pipe.flush().await?;
            if !close {
                *stdin = Some(pipe);
            }
            Ok::<(), std::io::Error>(())
        });
        match tokio::time::timeout(limits::DRAIN, writing).await {
            Ok(Ok(Err(error))) => Err(Failure::new(
                Code::NotFound,
                format!("the program no longer reads its stdin: {error}"),
            )),
            Ok(Ok(Ok(()))) | Err(_) => Ok(()),
            Ok(Err(error)) => Err(Failure::internal(format!("stdin was not written: {error}"))),
        }
    }
}
