//! Questions that may take long, to the store or to a recording: asked once for all pages, and again only after several times as long as
//! the answer took, so that pages that are open take a part of a core and not all of it, however much is kept.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
    records::StoreError,
};

pub(crate) struct SlowAnswers<T>(Mutex<VecDeque<SlowAnswer<T>>>);

struct SlowAnswer<T> {
    question: String,
    /// What was known when it was asked: while that stands, the answer does.
    version: u64,
    at: Instant,
    took: Duration,
    answer: Arc<T>,
}

impl<T> Default for SlowAnswers<T> {
    fn default() -> Self {
        SlowAnswers(Mutex::default())
    }
}

impl<T> SlowAnswers<T> {
    /// The answer, and whether it is one of before.
    pub(super) async fn get(
        &self,
        question: String,
        version: u64,
        ask: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<(Arc<T>, bool), Failure> {
        let failed = |it: StoreError| Failure::new(Code::StoreFailed, it.to_string());
        self.answered(question, version, async { ask.await.map_err(failed) }).await
    }

    /// The same, asked of anybody.
    pub(super) async fn answered(
        &self,
        question: String,
        version: u64,
        ask: impl Future<Output = Result<T, Failure>>,
    ) -> Result<(Arc<T>, bool), Failure> {
        if let Some(found) = self.kept(&question, version) {
            return Ok(found);
        }
        let at = Instant::now();
        let answer = Arc::new(ask.await?);
        let one =
            SlowAnswer { question, version, at, took: at.elapsed(), answer: Arc::clone(&answer) };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| it.question != one.question);
        all.push_back(one);
        if all.len() > limits::PAGE_ANSWERS {
            all.pop_front();
        }
        Ok((answer, false))
    }

    fn kept(&self, question: &str, version: u64) -> Option<(Arc<T>, bool)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|it| it.question == question)?;
        let is_late = found.version != version;
        let rests = found.at.elapsed() < found.took * limits::PAGE_RESTS;
        (!is_late || rests).then(|| (Arc::clone(&found.answer), is_late))
    }
}
