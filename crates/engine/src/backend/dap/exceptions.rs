//! Which exceptions stop the program: by the adapter's own filters, and for Python by class.
//!
//! pydevd knows exceptions by classes that it can import, which a program's own may not be before it has
//! run. So it is given a class of our helper's that counts every class of a wanted name as its own.

use holdpoint_dap::{request::SetExceptionBreakpoints, types as t};

use super::{Dap, pydevd};
use crate::{
    backend::Exceptions,
    failure::{Code, Failure},
};

impl Dap {
    pub async fn set_exceptions(&self, exceptions: &Exceptions) -> Result<(), Failure> {
        let is_plain = exceptions.types.is_empty() && !exceptions.caught;
        let arguments = if self.known.is_pydevd && !is_plain {
            self.by_class(exceptions).await?
        } else if exceptions.types.is_empty() {
            let filters = filters(&self.known.capabilities, exceptions);
            t::SetExceptionBreakpointsArguments { filters, ..Default::default() }
        } else {
            return Err(Failure::new(
                Code::AdapterFailed,
                "this debugger does not tell exceptions by their types",
            )
            .hint("leave `types` out"));
        };
        self.ask::<SetExceptionBreakpoints>(arguments).await.map(drop)
    }

    async fn by_class(
        &self,
        exceptions: &Exceptions,
    ) -> Result<t::SetExceptionBreakpointsArguments, Failure> {
        let names = match exceptions.types.as_slice() {
            [] => "None".to_owned(),
            types => {
                let each: Vec<String> = types.iter().map(|it| pydevd::literal(it)).collect();
                format!("[{}]", each.join(", "))
            }
        };
        self.helper(&format!("exceptions({names})")).await?;
        let modes = [
            (exceptions.uncaught, "_holdpoint.Uncaught", t::BreakMode::Unhandled),
            (exceptions.caught, "_holdpoint.Raised", t::BreakMode::Always),
            (exceptions.user_unhandled, "_holdpoint.UserUnhandled", t::BreakMode::UserUnhandled),
        ];
        let options = modes.into_iter().filter(|(wanted, ..)| *wanted);
        let options = options.map(|(_, class, break_mode)| option(class, break_mode)).collect();
        Ok(t::SetExceptionBreakpointsArguments {
            exception_options: Some(options),
            ..Default::default()
        })
    }
}

fn option(class: &str, break_mode: t::BreakMode) -> t::ExceptionOptions {
    let segment =
        |name: &str| t::ExceptionPathSegment { names: vec![name.to_owned()], ..Default::default() };
    let path = vec![segment("Python Exceptions"), segment(class)];
    t::ExceptionOptions { path: Some(path), break_mode }
}

/// The adapter's own names for what we ask.
fn filters(capabilities: &t::Capabilities, exceptions: &Exceptions) -> Vec<String> {
    let known = &capabilities.exception_breakpoint_filters;
    let pick = |names: &[&str]| {
        let found = known.iter().find(|filter| names.contains(&filter.filter.as_str()));
        found.map(|filter| filter.filter.clone())
    };
    let mut filters = Vec::new();
    if exceptions.uncaught {
        filters.extend(pick(&["uncaught", "unhandled", "user-unhandled"]));
    }
    if exceptions.caught {
        filters.extend(pick(&["raised", "all", "caught"]));
    }
    if exceptions.user_unhandled {
        filters.extend(pick(&["userUnhandled", "user-unhandled"]));
    }
    filters
}
