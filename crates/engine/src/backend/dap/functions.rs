//! Breakpoints by a function's name, by the protocol alone.

use holdpoint_dap::{Request as _, request::SetFunctionBreakpoints, types as t};

use super::{
    Dap,
    share::{Feature, allowed, share},
    translate,
};
use crate::{
    backend::{Binding, Bound, Site, WantedFunction},
    failure::Failure,
};

impl Dap {
    /// Replaces all of them: so does the protocol.
    pub async fn set_functions(&self, wanted: &[WantedFunction]) -> Result<Vec<Bound>, Failure> {
        let known = &self.known;
        let is_allowed =
            allowed(&known.capabilities(), Feature::Request(SetFunctionBreakpoints::COMMAND));
        if let Err(missing) = is_allowed {
            let why = missing.why(&*known.dialect);
            let not = |it: &WantedFunction| not(it, why.clone());
            return Ok(wanted.iter().map(not).collect());
        }
        match known.inside() {
            Some(inside) => inside.set_functions(self, wanted).await,
            None => self.set_by_name(wanted).await,
        }
    }

    async fn set_by_name(&self, wanted: &[WantedFunction]) -> Result<Vec<Bound>, Failure> {
        let known = &self.known;
        let (asked, elsewhere): (Vec<&WantedFunction>, Vec<_>) =
            wanted.iter().partition(|it| it.file.is_none());
        let point = |it: &&WantedFunction| {
            let share = share(known, (*it).into());
            let name = it.name.clone();
            let (condition, hit_condition) = (share.condition, share.hit_condition);
            t::FunctionBreakpoint { name, condition, hit_condition }
        };
        *known.functions() = wanted.to_vec();
        let entry = self.entry_point(wanted);
        let has_entry = entry.is_some();
        let breakpoints = asked.iter().map(point).chain(entry).chain(self.raising()).collect();
        let arguments = t::SetFunctionBreakpointsArguments { breakpoints };
        let mut body = self.ask::<SetFunctionBreakpoints>(arguments).await?;
        if has_entry {
            self.entry_is(body.breakpoints.get(asked.len()));
        }
        let ours = asked.len() + usize::from(has_entry);
        let raising = body.breakpoints.split_off(ours.min(body.breakpoints.len()));
        known.thrown().numbers = raising.iter().filter_map(|it| it.id).collect();
        let answers = body.breakpoints.into_iter().map(Some).chain(std::iter::repeat(None));
        let mut bound = Vec::new();
        for (it, answer) in asked.into_iter().zip(answers) {
            known.numbers().retain(|_, ids| !ids.contains(&it.id));
            if let Some(number) = answer.as_ref().and_then(|it| it.id) {
                known.numbers().insert(number, vec![it.id]);
            }
            let state = self.found(it, answer.as_ref());
            if let Binding::Functions { places, .. } = &state
                && let Some(first) = places.first()
            {
                known.sites().insert(it.id, first.clone());
            }
            known.lefts().put(vec![(it.id, share(known, it.into()).left)]);
            bound.push(Bound { id: it.id, state });
        }
        known
            .traces()
            .at_functions(wanted, &bound, |it| share(known, it.into()).left.hit_condition);
        let why = format!("{} finds functions by their names alone", known.dialect.name());
        bound.extend(elsewhere.into_iter().map(|it| not(it, why.clone())));
        Ok(bound)
    }

    /// The functions in which exceptions are raised, where no filter of the debugger is for that.
    fn raising(&self) -> Vec<t::FunctionBreakpoint> {
        if !self.known.thrown().is_wanted {
            return Vec::new();
        }
        let names = self.known.dialect.filters().thrown_at.iter();
        let point = |name: &&str| t::FunctionBreakpoint {
            name: (*name).to_owned(),
            condition: None,
            hit_condition: None,
        };
        names.map(point).collect()
    }

    /// Stops where exceptions are raised, or no longer.
    pub(super) async fn set_raising(&self, is_wanted: bool) -> Result<(), Failure> {
        let known = &self.known;
        let is_allowed =
            allowed(&known.capabilities(), Feature::Request(SetFunctionBreakpoints::COMMAND));
        let is_new = known.thrown().is_wanted != is_wanted;
        if known.dialect.filters().thrown_at.is_empty() || is_allowed.is_err() || !is_new {
            return Ok(());
        }
        known.thrown().is_wanted = is_wanted;
        let wanted = known.functions().clone();
        self.set_by_name(&wanted).await.map(drop)
    }

    fn found(&self, wanted: &WantedFunction, answer: Option<&t::Breakpoint>) -> Binding {
        let state = translate::binding(&*self.known.dialect, answer, Some(0));
        let Binding::At { line, .. } = state else { return state };
        let file = answer.and_then(|it| it.source.as_ref()).and_then(|it| it.path.clone());
        let site = file.map(|file| Site { file: file.into(), line });
        match site {
            Some(site) => Binding::Functions { places: vec![site], total: 1 },
            None if answer.is_some_and(|it| it.verified) => {
                Binding::Functions { places: Vec::new(), total: 1 }
            }
            None => Binding::Not { why: format!("no function `{}` is loaded", wanted.name) },
        }
    }
}

fn not(wanted: &WantedFunction, why: String) -> Bound {
    Bound { id: wanted.id, state: Binding::Not { why } }
}
