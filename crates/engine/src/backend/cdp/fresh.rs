//! What an evaluation has changed: V8 shows a scope as it was when the program stopped, whatever was assigned since.
//!
//! So after an evaluation at a stop the values of a scope are asked for anew, all at once.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_cdp::types::{ObjectId, runtime::GetProperties};

use super::{Cdp, inspect};
use crate::{
    backend::{FrameId, Value, Variable},
    limits,
};

impl Cdp {
    /// Something was evaluated at this stop.
    pub(super) fn touch(&self) {
        let mut moment = self.moment();
        moment.touched_at = Some(moment.epoch);
    }

    fn is_touched(&self) -> bool {
        let moment = self.moment();
        moment.touched_at == Some(moment.epoch)
    }

    /// A scope's variables with the values that they have now. Those that cannot be asked for stay as they are.
    pub(super) async fn freshened(
        &self,
        frame: &FrameId,
        scope: &ObjectId,
        variables: &mut [Variable],
    ) {
        if !self.is_touched() {
            return;
        }
        let Some(hidden) = self.hidden(frame, scope).await else { return };
        let Some(now) = self.values_of(frame, variables, &hidden).await else { return };
        for variable in variables {
            if let Some(value) = now.get(&variable.name) {
                variable.value = value.clone();
            }
        }
    }

    /// The names that mean something else where the frame stands: those of the scopes inside of this one. `None` for
    /// a scope that is no function's own: to ask for all that is global would call its getters.
    async fn hidden(&self, frame: &FrameId, scope: &ObjectId) -> Option<BTreeSet<String>> {
        let frame = self.frame(frame).ok()?;
        let mut hidden = BTreeSet::new();
        for it in &frame.scope_chain {
            let object = it.object_id()?;
            if !matches!(it.kind.as_str(), "local" | "block" | "catch" | "closure" | "module") {
                return None;
            }
            if object == scope {
                return Some(hidden);
            }
            let inner = inspect::own(self, object.clone()).await.ok()?;
            hidden.extend(inner.into_iter().map(|it| it.name));
        }
        None
    }

    async fn values_of(
        &self,
        frame: &FrameId,
        variables: &[Variable],
        hidden: &BTreeSet<String>,
    ) -> Option<BTreeMap<String, Value>> {
        let is_name = |it: &&str| {
            it.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '$'))
                && !it.starts_with(|it: char| it.is_ascii_digit())
                && *it != "this"
                && !hidden.contains(*it)
        };
        let names: Vec<&str> =
            variables.iter().map(|it| it.name.as_str()).filter(is_name).collect();
        let expression = format!("({{{}}})", names.join(", "));
        let answer = self.evaluated(Some(frame), &expression, limits::ADAPTER_ANSWER).await.ok()?;
        // One that has no value yet throws, and with it all.
        let object = answer.result.object_id.filter(|_| answer.exception_details.is_none())?;
        let command = GetProperties { generate_preview: true, ..GetProperties::own(object) };
        let listed = inspect::listed(self.ask(command).await.ok()?);
        Some(listed.into_iter().map(|it| (it.name, it.value)).collect())
    }
}
