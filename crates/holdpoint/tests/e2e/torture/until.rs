//! A value that is watched: what is said to have turned it is held against the log of the loop.

use serde_json::json;

use super::{
    counts::Failed,
    model::{Move, Now},
    walk::Walk,
};

impl Walk<'_, '_> {
    /// Runs on until the loop has counted once more, or until something else comes first.
    pub(super) fn until(&mut self) -> Result<(), Failed> {
        let Now::Stopped(stop) = self.model.now.clone() else { return Ok(()) };
        let knows_n = self.model.mark(&stop).is_some_and(|it| !["inside", "back"].contains(&it));
        if !knows_n || self.model.program.loops > 1 {
            return self.look();
        }
        let before = self.model.counted(&stop, self.model.passes("0"));
        self.model.stands = None;
        let asked = json!({ "expression": "n", "timeout_s": 2 });
        let said = self.call("debug_until", asked)?;
        // What a debugger cannot, it says.
        if super::lang::is_chosen() && said.text.contains("its debugger watches no values") {
            return Ok(());
        }
        self.round.check(said.is_ok(), || format!("debug_until: {}", said.text))?;
        let until = said.data["until"].clone();
        let now = until["now"].as_str().and_then(|it| it.parse::<u64>().ok());
        if until["came"] == "turned" {
            let tick = self.model.line("tick");
            let is_so =
                until["by"]["line"] == tick && (stop.reason == "pause" || now == Some(before + 1));
            self.round.check(is_so, || format!("n was {before}: {}", said.text))?;
        }
        self.model.take(self.round, &said, Move::Any)?;
        // Nothing that was looked at is beyond what the loop has written down.
        let written = self.model.passes("0");
        self.round.check(now.is_none_or(|it| it <= written), || {
            format!("it has written {written} times: {}", said.text)
        })
    }
}
