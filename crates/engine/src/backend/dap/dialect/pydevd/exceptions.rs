//! Exceptions by class. pydevd knows them by classes that it can import, which a program's own may not be
//! before it has run. So it is given a class of our helper's that counts every class of a wanted name as
//! its own.

use holdpoint_dap::types as t;

use super::{Talk, literal};
use crate::{backend::Exceptions, failure::Failure};

impl Talk<'_> {
    pub(super) async fn exceptions(
        self,
        exceptions: &Exceptions,
    ) -> Result<Option<t::SetExceptionBreakpointsArguments>, Failure> {
        let is_plain = exceptions.types.is_empty() && !exceptions.caught;
        if is_plain {
            return Ok(None);
        }
        let names = match exceptions.types.as_slice() {
            [] => "None".to_owned(),
            types => {
                let each: Vec<String> = types.iter().map(|it| literal(it)).collect();
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
        Ok(Some(t::SetExceptionBreakpointsArguments {
            exception_options: Some(options),
            ..Default::default()
        }))
    }
}

fn option(class: &str, break_mode: t::BreakMode) -> t::ExceptionOptions {
    let segment =
        |name: &str| t::ExceptionPathSegment { names: vec![name.to_owned()], ..Default::default() };
    let path = vec![segment("Python Exceptions"), segment(class)];
    t::ExceptionOptions { path: Some(path), break_mode }
}
