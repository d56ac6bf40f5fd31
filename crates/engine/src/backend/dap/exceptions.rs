//! Which exceptions stop the program, by the debugger's own filters.

use holdpoint_dap::{Request as _, request::SetExceptionBreakpoints, types as t};

use super::{
    Dap, DebuggerState,
    share::{Feature, allowed},
};
use crate::{
    backend::Exceptions,
    failure::{Code, Failure},
};

impl Dap {
    pub async fn set_exceptions(&self, exceptions: &Exceptions) -> Result<(), Failure> {
        self.set_possible_exceptions(exceptions).await?.map_or(Ok(()), Err)
    }

    /// Asks for what the debugger has, and tells what it has not.
    pub(super) async fn set_possible_exceptions(
        &self,
        exceptions: &Exceptions,
    ) -> Result<Option<Failure>, Failure> {
        if let Some(inside) = self.known.inside()
            && let Some(arguments) = inside.exceptions(self, exceptions).await?
        {
            self.ask::<SetExceptionBreakpoints>(arguments).await?;
            return Ok(None);
        }
        if !exceptions.types.is_empty() {
            let name = self.known.dialect.name();
            let text = format!("{name} does not tell exceptions by their types");
            return Err(Failure::new(Code::AdapterFailed, text).hint("leave `types` out"));
        }
        self.set_raising(exceptions.uncaught || exceptions.caught).await?;
        let Chosen { filters, missing } = chosen(&self.known, exceptions);
        let feature = Feature::Request(SetExceptionBreakpoints::COMMAND);
        if allowed(&self.known.capabilities(), feature).is_ok() {
            let arguments = t::SetExceptionBreakpointsArguments { filters, ..Default::default() };
            self.ask::<SetExceptionBreakpoints>(arguments).await?;
        }
        Ok((!missing.is_empty()).then(|| refusal(&self.known, &missing)))
    }
}

/// The debugger's own names for what is asked, and what it has no name for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) filters: Vec<String>,
    pub(super) missing: Vec<&'static str>,
}

pub(super) fn chosen(known: &DebuggerState, exceptions: &Exceptions) -> Chosen {
    let (capabilities, ours) = (known.capabilities(), known.dialect.filters());
    let announced = &capabilities.exception_breakpoint_filters;
    let pick = |names: &[&str]| {
        let is_announced = |name: &&&str| announced.iter().any(|it| it.filter == **name);
        names.iter().find(is_announced).map(|name| (*name).to_owned())
    };
    let kinds = [
        (exceptions.uncaught, ours.uncaught, "uncaught", ours.stops_at_uncaught),
        (exceptions.caught, ours.caught, "caught", false),
        (exceptions.user_unhandled, ours.user_unhandled, "user_unhandled", false),
    ];
    let mut chosen = Chosen { filters: Vec::new(), missing: Vec::new() };
    for (_, names, kind, goes_without) in kinds.into_iter().filter(|(is_wanted, ..)| *is_wanted) {
        match pick(names) {
            Some(name) => chosen.filters.push(name),
            None if goes_without => {}
            None => chosen.missing.push(kind),
        }
    }
    if exceptions.uncaught {
        let also = ours.with_uncaught.iter().filter_map(|name| pick(&[*name]));
        chosen.filters.extend(also);
    }
    chosen
}

fn refusal(known: &DebuggerState, missing: &[&str]) -> Failure {
    let capabilities = known.capabilities();
    let has = capabilities.exception_breakpoint_filters.iter();
    let has: Vec<String> = has.map(|it| format!("`{}` ({})", it.filter, it.label)).collect();
    let name = known.dialect.name();
    let text = format!("{name} has no stop at exceptions that are {}", missing.join(" or "));
    let hint = match has.as_slice() {
        [] => "it announces no exception filters at all".to_owned(),
        all => format!("its own filters: {}", all.join(", ")),
    };
    Failure::new(Code::AdapterFailed, text).hint(hint)
}
