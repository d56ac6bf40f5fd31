//! Who steers a program: agents, or the person beside them. Reading is everybody's.

use std::sync::atomic::Ordering;

use tokio::sync::watch;

use super::{Session, teller::Teller};
use crate::{
    actor::Actor,
    backend::{Backend, vscode::Vscode},
    budget,
    event::Evaluation,
    failure::{Code, Failure},
    limits,
    nouns::Value,
};

/// Whose moves are carried out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Holder {
    #[default]
    Agents,
    Person,
}

/// Which agent moved the program last, and by what, in the words of the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    pub by: Actor,
    pub what: String,
}

/// Who holds it, and the last move.
#[derive(Default)]
pub(super) struct Control {
    holder: watch::Sender<Holder>,
    last: std::sync::Mutex<Option<Move>>,
}

impl Control {
    /// Whether it was another's.
    pub(super) fn hold(&self, holder: Holder, tell: &Teller) -> bool {
        let was = self.holder.send_replace(holder);
        if was != holder {
            tell.control(holder);
        }
        was != holder
    }

    pub(super) fn is_persons(&self) -> bool {
        *self.holder.borrow() == Holder::Person
    }
}

impl Session {
    pub fn holder(&self) -> Holder {
        *self.control.holder.borrow()
    }

    pub fn last_move(&self) -> Option<Move> {
        self.control.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// The person steers from now on; agents are told.
    pub fn take_over(&self) {
        self.hold(Holder::Person);
    }

    /// Agents steer again, and are told.
    pub fn hand_back(&self) {
        self.hold(Holder::Agents);
    }

    /// An editor that debugs it has a switch of its own, which shows it.
    fn hold(&self, holder: Holder) {
        if self.control.hold(holder, &self.tell) {
            self.editors().iter().for_each(|it| it.held(holder == Holder::Person));
        }
    }

    fn editors(&self) -> Vec<Vscode> {
        let all = self.targets.lock();
        let editors = all.values().filter_map(|it| match &it.backend {
            Backend::Vscode(vscode) => Some(vscode.clone()),
            Backend::Dap(_) | Backend::Cdp(_) => None,
        });
        editors.collect()
    }

    /// Whether somebody may move the program; if so, this is what moves it now.
    pub fn moves(&self, by: &Actor, what: &str) -> Result<(), Failure> {
        if self.holder() == Holder::Person && *by != Actor::Person {
            let text = format!("a person is in control of {}", self.id);
            return Err(Failure::new(Code::HumanInControl, text).hint(
                "`debug_wait` waits until it is handed back or stops elsewhere; reading it (`debug_status`, \
                 `debug_stack`, `debug_variables`, `debug_evaluate`) still works",
            ));
        }
        self.editors().iter().for_each(|it| it.asked_by(*by == Actor::Person));
        // Whom a person hands it back to is the one who had it.
        if *by != Actor::Person {
            let last = Move { by: by.clone(), what: what.to_owned() };
            *self.control.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                Some(last);
        }
        Ok(())
    }

    /// What somebody evaluated where it stands is told.
    pub fn evaluated(&self, expression: &str, found: &Result<Value, Failure>, by: Actor) {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        let (result, kind) = match found {
            Ok(value) => (value.text.as_str(), value.kind.clone()),
            Err(failure) => (&*failure.message, None),
        };
        self.tell.evaluated(Evaluation {
            session: self.id,
            expression: budget::cut(expression, limits::EVALUATION_TEXT),
            result: budget::cut(result, limits::EVALUATION_TEXT),
            kind,
            failed: found.is_err(),
            by,
        });
    }

    /// How often something was evaluated in it, or set: what was read before is to be read again.
    pub fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// Returns when agents steer: at once where they do.
    pub async fn handed_back(&self) {
        let mut holder = self.control.holder.subscribe();
        // Cannot fail: the sender is ours.
        holder.wait_for(|it| *it == Holder::Agents).await.map(drop).unwrap_or_default();
    }
}
