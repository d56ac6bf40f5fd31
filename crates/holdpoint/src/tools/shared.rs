//! Parameters that several tools take, each written once: what to run, and where.
//!
//! A macro and not `serde(flatten)`: the schema stays flat either way, but only so does a wrong value still name its
//! parameter.

/// `struct Params: launch place { … }` has the parameters that say what to run, those that say where, and its own.
macro_rules! params {
    ($(#[$about:meta])* $seen:vis struct $name:ident: $($part:ident)+ { $($own:tt)* }) => {
        $crate::tools::shared::params! {
            @ [] [$($part)+] [$(#[$about])* $seen struct] $name { $($own)* }
        }
    };
    (@ [$($done:tt)*] [launch $($part:ident)*] $head:tt $name:ident $own:tt) => {
        $crate::tools::shared::params! {
            @ [
                $($done)*
                pub(crate) program: Option<::std::path::PathBuf>,
                pub(crate) module: Option<String>,
                pub(crate) command: Option<String>,
                /// `tests/a.py::test_x`
                pub(crate) test: Option<String>,
                pub(crate) language: Option<String>,
                #[serde(default)]
                pub(crate) args: Vec<String>,
                pub(crate) cwd: Option<::std::path::PathBuf>,
                #[serde(default)]
                pub(crate) env: ::std::collections::BTreeMap<String, String>,
                pub(crate) stdin: Option<String>,
                pub(crate) interpreter: Option<::std::path::PathBuf>,
            ]
            [$($part)*] $head $name $own
        }

        impl $name {
            /// What to run.
            pub(crate) fn what(&self) -> $crate::tools::debug::what::What {
                $crate::tools::debug::what::What {
                    program: self.program.clone(),
                    module: self.module.clone(),
                    command: self.command.clone(),
                    test: self.test.clone(),
                    language: self.language.clone(),
                    args: self.args.clone(),
                    cwd: self.cwd.clone(),
                    env: self.env.clone(),
                    stdin: self.stdin.clone(),
                    interpreter: self.interpreter.clone(),
                }
            }
        }
    };
    (@ [$($done:tt)*] [place $($part:ident)*] $head:tt $name:ident $own:tt) => {
        $crate::tools::shared::params! {
            @ [
                $($done)*
                pub(crate) file: Option<::std::path::PathBuf>,
                /// Or `match`, text of it, or `function`.
                #[schemars(range(min = 1))]
                pub(crate) line: Option<u32>,
                pub(crate) r#match: Option<String>,
                pub(crate) function: Option<String>,
                pub(crate) condition: Option<String>,
            ]
            [$($part)*] $head $name $own
        }

        impl $name {
            /// Where.
            pub(crate) fn given(&self) -> $crate::tools::breakpoint::place::GivenPlace<'_> {
                $crate::tools::breakpoint::place::GivenPlace {
                    file: self.file.as_deref(),
                    line: self.line,
                    text: self.r#match.as_deref(),
                    function: self.function.as_deref(),
                    ..Default::default()
                }
            }
        }
    };
    (@ [$($done:tt)*] [] [$($head:tt)*] $name:ident { $($own:tt)* }) => {
        $($head)* $name { $($done)* $($own)* }
    };
}

pub(crate) use params;
