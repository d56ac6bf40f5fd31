//! Compilers and builders: run under a guard, so that nothing of them is left when nobody waits any more, with what
//! they are at told to whoever waits.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use crate::{
    adapter::Around,
    budget,
    failure::{Code, Failure},
    limits,
    process::{Exit, Program, Spec},
};

/// One run of a tool.
pub(crate) struct BuildTool<'a> {
    pub(crate) program: &'a str,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: &'a Path,
    pub(crate) env: &'a BTreeMap<String, String>,
}

/// What became of it, and what it wrote, line by line.
pub(crate) struct BuildEnd {
    pub(crate) exit: Exit,
    pub(crate) out: Vec<String>,
    pub(crate) err: Vec<String>,
}

impl BuildTool<'_> {
    /// What it wrote to stdout, line by line; the failure of one that failed has what it wrote to stderr.
    pub(crate) async fn run(self, around: &Around) -> Result<Vec<String>, Failure> {
        let program = self.program;
        let BuildEnd { exit, out, err } = self.ended(around).await?;
        match exit {
            Exit::Code(0) => Ok(out),
            exit => Err(failed(program, exit, &out, &err)),
        }
    }

    /// How it ended, for whoever has words of their own.
    pub(crate) async fn ended(self, around: &Around) -> Result<BuildEnd, Failure> {
        let env = self.env.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        let spec = Spec {
            program: self.program.into(),
            args: self.args,
            cwd: self.cwd.to_owned(),
            env: env.collect(),
        };
        let mut program = Program::start(&around.guard, &spec)?;
        drop(program.pipes.stdin.take());
        let (out, err) = (program.pipes.stdout.take(), program.pipes.stderr.take());
        let out = lines(out, limits::BUILD_OUTPUT, |_| {});
        let err = lines(err, limits::BUILD_ERRORS, |line| {
            // Nobody may wait for it.
            around.progress.try_send(budget::cut(line.trim(), 120)).unwrap_or_default();
        });
        let (out, err, exit) = tokio::join!(out, err, program.wait());
        Ok(BuildEnd { exit, out, err })
    }
}

fn failed(program: &str, exit: Exit, out: &[String], err: &[String]) -> Failure {
    let said = if err.iter().any(|it| !it.trim().is_empty()) { err } else { out };
    let said = budget::cut(said.join("\n").trim(), limits::BUILD_TOLD);
    let is_missing = said.contains("guard: cannot start") || said.contains("cannot start ");
    let text = format!("`{program}` failed with {exit}:\n{said}");
    let hint = if is_missing {
        format!("install `{program}`, or pass a program that is built already")
    } else {
        "mend what it says, and launch again".to_owned()
    };
    Failure::new(Code::LaunchFailed, text).hint(hint)
}

/// The lines of a pipe, the first of them up to a bound.
async fn lines(
    pipe: Option<Box<dyn AsyncRead + Send + Unpin>>,
    bytes_max: usize,
    each: impl Fn(&str),
) -> Vec<String> {
    let Some(pipe) = pipe else { return Vec::new() };
    let (mut reader, mut all, mut bytes) = (BufReader::new(pipe), Vec::new(), 0);
    let mut line = Vec::new();
    // An error ends it as the end does: what came is what there is.
    while reader.read_until(b'\n', &mut line).await.is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        each(&text);
        bytes += text.len();
        if bytes <= bytes_max {
            all.push(text);
        }
    }
    all
}
