//! What can be asked of a recording. Each question is a function that reads and answers in types; `tell` has the words.

pub(crate) mod brief;
pub(crate) mod calls;
mod compared;
mod ends;
pub(crate) mod flame;
pub(crate) mod frame;
mod heads;
pub(crate) mod history;
pub(crate) mod inside;
mod items;
pub(crate) mod look;
pub(crate) mod overview;
pub(crate) mod passes;
pub(crate) mod series;
mod standing;

pub use self::standing::StandingFrame;
use crate::{
    condition::nearest,
    head::StreamState,
    recording::{AskError, CallId, Process, Recording, SpotId},
};

/// The call that answers best what is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextAsk {
    Frame(CallId),
    Tree(Option<CallId>),
    Calls {
        function: String,
    },
    /// The same run once more, with this function kept whole.
    Focus {
        function: String,
    },
}

impl Recording {
    /// Reads `#813`, and says which calls there are where there is no such.
    pub fn call_named(&self, text: &str) -> Result<CallId, AskError> {
        let call = text.parse().map_err(|()| AskError::Invalid {
            what: format!("`{text}` names no call"),
            hint: "a call is `#813`, in another process `#2.813`".to_owned(),
        })?;
        self.checked(call)
    }

    /// Reads `#813:42/2`.
    pub fn spot_named(&self, text: &str) -> Result<SpotId, AskError> {
        let spot: SpotId = text.parse().map_err(|()| AskError::Invalid {
            what: format!("`{text}` names no place"),
            hint: "a call is `#813`; its line 42 at the second time is `#813:42/2`".to_owned(),
        })?;
        self.checked(spot.call)?;
        Ok(spot)
    }

    fn checked(&self, call: CallId) -> Result<CallId, AskError> {
        if self.has(call) {
            return Ok(call);
        }
        let all = self.processes().iter().filter(|it| it.head.calls > 0);
        let last = |it: &Process| CallId { process: it.number, number: it.head.calls - 1 };
        let all: Vec<String> = all.take(4).map(|it| format!("to {}", last(it))).collect();
        let hint = match all.is_empty() {
            true => "the recording has no calls".to_owned(),
            false => format!("the calls go {}", all.join(", ")),
        };
        Err(AskError::NotFound { what: format!("there is no call {call}"), hint })
    }

    /// The functions of that name: `total`, `Cart.total`, `cart.py:total`; `*` stands for anything, and a file alone for
    /// all that are in it.
    pub(crate) fn functions_named(&self, name: &str) -> Result<Vec<(u32, u32)>, AskError> {
        let (file, wanted) = match name.rsplit_once(':') {
            Some((file, wanted)) => (Some(file), wanted),
            None => (None, name),
        };
        let mut found = Vec::new();
        for process in self.processes() {
            for number in 0..process.head.functions.len() as u32 {
                let is_there = file.is_none_or(|it| is_file(process.path(number), it));
                if is_there && is_named(process.qualified(number), wanted) {
                    found.push((process.number, number));
                }
            }
        }
        if found.is_empty() && file.is_none() {
            for process in self.processes() {
                let all = 0..process.head.functions.len() as u32;
                let of_file = all.filter(|it| is_file(process.path(*it), name));
                found.extend(of_file.map(|it| (process.number, it)));
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
        let known = self.processes().iter().flat_map(|process| {
            let called =
                |at: &u32| process.head.tallies.get(*at as usize).is_some_and(|it| it.calls > 0);
            (0..process.head.functions.len() as u32).filter(called).map(|at| process.qualified(at))
        });
        let near = nearest(wanted, known.clone());
        let near = near.map(|it| format!("did you mean `{it}`? ")).unwrap_or_default();
        let mut some: Vec<&str> = known.collect();
        some.sort_unstable();
        some.dedup();
        some.truncate(12);
        let what = format!("no recorded function is named `{name}`");
        let hint = format!("{near}recorded are, among others: {}", some.join(", "));
        Err(AskError::NotFound { what, hint })
    }

    /// What of the whole recording is missing, in words.
    pub(crate) fn missing(&self) -> Vec<String> {
        let mut all = Vec::new();
        for process in self.processes() {
            let of = if process.number == 0 {
                String::new()
            } else {
                format!("process {}: ", process.number + 1)
            };
            match &process.head.state {
                StreamState::Ended => {}
                StreamState::Open => {
                    all.push(format!("{of}the end (it still runs, or was killed)"))
                }
                StreamState::Damaged(why) => {
                    all.push(format!("{of}what follows a damage ({why})"));
                }
            }
            all.extend(
                process
                    .head
                    .notes
                    .iter()
                    .filter_map(|note| noted(note))
                    .map(|it| format!("{of}{it}")),
            );
            if process.keeps_calls_alone() {
                all.push(format!(
                    "{of}lines and writes of functions without `focus`: this recorder keeps their calls; `record_run` with `focus` keeps those too"
                ));
            }
            if process.head.stray > 0 {
                all.push(format!("{of}{} events of no known call", process.head.stray));
            }
        }
        all
    }
}

/// A recorder's own word about what it could not keep.
fn noted(note: &str) -> Option<String> {
    let note: serde_json::Value = serde_json::from_str(note).ok()?;
    let text = |key: &str| {
        note.get(key).map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned))
    };
    if let Some(lost) = text("lost") {
        let why = text("why").map(|it| format!(" ({it})")).unwrap_or_default();
        return Some(format!("{lost} events{why}"));
    }
    if let Some(limit) = text("limit") {
        return Some(format!("what came after the limit `{limit}`"));
    }
    None
}

/// `cart.py` and `shop/cart.py` name `/work/shop/cart.py`.
fn is_file(path: &str, wanted: &str) -> bool {
    let rest = path.strip_suffix(wanted).filter(|_| !wanted.is_empty());
    rest.is_some_and(|it| it.is_empty() || it.ends_with(['/', '\\']))
}

/// `total` and `Cart.total` name `shop.Cart.total`.
pub(crate) fn is_named(qualified: &str, wanted: &str) -> bool {
    if let Some((before, after)) = wanted.split_once('*') {
        return qualified.len() >= before.len() + after.len()
            && qualified.starts_with(before)
            && qualified.ends_with(after);
    }
    qualified == wanted
        || qualified
            .strip_suffix(wanted)
            .is_some_and(|rest| rest.ends_with(['.', '>']) || rest.ends_with("#"))
}
