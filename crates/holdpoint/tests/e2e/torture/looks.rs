//! What is asked of a program without moving it, held against its logs.

use serde_json::json;

use super::{
    counts::Failed,
    model::{Now, Stop},
    walk::Walk,
};

impl Walk<'_, '_> {
    /// The stop that the program stands at.
    fn stop(&self) -> Option<Stop> {
        match &self.model.now {
            Now::Stopped(stop) => Some(stop.clone()),
            Now::Running | Now::Ended => None,
        }
    }

    /// `n`, where it stands, and what that loop has written down.
    pub(super) fn look(&mut self) -> Result<(), Failed> {
        let Some(stop) = self.stop() else { return Ok(()) };
        let Some(mark) = self.model.mark(&stop) else { return self.glance() };
        let name = if ["inside", "back"].contains(&mark) { "k" } else { "n" };
        let me = if self.model.program.loops > 1 { self.value("me")? } else { "0".to_owned() };
        let me = me.trim_matches(['\'', '"']).to_owned();
        let before = self.model.passes(&me);
        let name = &self.model.program.variable(name);
        let shown = match self.round.chance(50) {
            true => self.value(name)?,
            false => self.variable(name)?,
        };
        let after = self.model.passes(&me);
        let Ok(value) = shown.parse::<u64>() else {
            return self.round.check(false, || format!("`{name}` is said to be `{shown}`"));
        };
        // A pause may find a loop between its log and its count, and others on their way.
        let is_so = if stop.reason == "pause" {
            (before.saturating_sub(1)..=after).contains(&value)
        } else {
            value == self.model.counted(&stop, before)
        };
        self.round.check(is_so, || {
            format!("`{name}` of loop {me} is said to be {value} at `{mark}`; it wrote {before}, then {after}")
        })?;
        if stop.reason != "pause" {
            self.model.stands = Some((me, after));
        }
        Ok(())
    }

    /// Somewhere else than in a loop: what can be evaluated anywhere.
    fn glance(&mut self) -> Result<(), Failed> {
        let value = self.value("40 + 2")?;
        self.round.check(value == "42", || format!("40 + 2 is said to be {value}"))
    }

    fn value(&mut self, expression: &str) -> Result<String, Failed> {
        let arguments = json!({ "expression": expression, "timeout_s": 5 });
        let said = self.ok("debug_evaluate", arguments)?;
        Ok(said.data["value"].as_str().unwrap_or_default().to_owned())
    }

    fn variable(&mut self, name: &str) -> Result<String, Failed> {
        let said = self.ok("debug_variables", json!({}))?;
        let all = said.data["variables"].as_array().cloned().unwrap_or_default();
        let found = all.iter().find(|it| it["name"] == name);
        match found.and_then(|it| it["value"].as_str()) {
            Some(value) => Ok(value.to_owned()),
            // In a scope of its own, where the language has several.
            None => self.value(name),
        }
    }

    pub(super) fn stack(&mut self) -> Result<(), Failed> {
        let Some(stop) = self.stop() else { return Ok(()) };
        let said = self.ok("debug_stack", json!({}))?;
        let top = &said.data["frames"][0];
        let is_same = top["line"] == stop.line;
        self.round.check(is_same, || format!("it stands at {stop:?}: {}", said.text))
    }

    pub(super) fn output(&mut self) -> Result<(), Failed> {
        let said = self.ok("debug_output", json!({ "budget_tokens": 20_000 }))?;
        self.model.printed(self.round, said.data["output"].as_str().unwrap_or_default())
    }

    pub(super) fn threads(&mut self) -> Result<(), Failed> {
        let said = self.call("debug_threads", json!({ "timeout_s": 1 }))?;
        let is_late = self.model.program.blocks && said.failed_with(&["E_TIMEOUT"]);
        let may_be = said.is_ok() || said.failed_with(super::walk::LATE) || is_late;
        self.round.check(may_be, || said.text.clone())
    }

    /// Every stop that was told happened.
    pub(super) fn timeline(&mut self) -> Result<(), Failed> {
        let asked =
            json!({ "since": 0, "kinds": ["stopped"], "limit": 1_000, "budget_tokens": 50_000 });
        let said = self.ok("timeline_query", asked)?;
        let events = said.data["events"].as_array().cloned().unwrap_or_default();
        let seqs: Vec<u64> = events.iter().filter_map(|it| it["seq"].as_u64()).collect();
        self.round.check(seqs.is_sorted(), || format!("out of order: {seqs:?}"))?;
        if said.data["more"] != 0 {
            return Ok(());
        }
        let missing: Vec<&Stop> =
            self.model.told.iter().filter(|it| !seqs.contains(&it.seq)).collect();
        self.round.check(missing.is_empty(), || format!("not on the timeline: {missing:?}"))
    }

    /// What is said of the session is what was said before, where nothing can have come between.
    pub(super) fn status(&mut self) -> Result<(), Failed> {
        let said = self.ok("debug_status", json!({}))?;
        let all = said.data["sessions"].as_array().cloned().unwrap_or_default();
        let row = all.iter().find(|it| it["session_id"] == self.model.id.as_str()).cloned();
        let state = row.as_ref().and_then(|it| it["state"].as_str()).unwrap_or("absent");
        let can_end = self.model.exit().is_some();
        let is_so = match &self.model.now {
            Now::Stopped(_) => state == "stopped",
            Now::Ended => state == "ended",
            Now::Running => {
                state == "running" || state == "stopped" || (state == "ended" && can_end)
            }
        };
        self.round.check(is_so, || format!("it is {:?}: {}", self.model.now, said.text))?;
        if state == "ended" && !self.model.is_attached {
            let exit = row.map(|it| it["exit"].clone());
            self.round.check(exit == self.model.exit(), || said.text.clone())?;
        }
        Ok(())
    }
}
