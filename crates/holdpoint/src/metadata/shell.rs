//! A command, run without a shell: each argument is one, whatever stands in it.
//!
//! It runs under a guard, so that its whole tree ends with the call: by its deadline, its cancellation or our own end.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use holdpoint_engine::{
    budget,
    failure::{Code, Failure},
    limits,
    process::{Exit, Program, Spec},
};
use holdpoint_metadata::{CommandPart, Literal, ShellCarrier, TextPiece, TextTemplate, ToolSpec};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::{
    arguments::{Given, check_text, may_be_option, plain},
    output::Output,
    render,
};
use crate::tool::{Answer, Reply};

pub(super) async fn run(
    shell: &ShellCarrier,
    spec: &ToolSpec,
    given: &Given,
    workspace: &Path,
) -> Result<Reply, Failure> {
    let args = command_line(shell, spec, given)?;
    let started = Spec {
        program: program(&shell.program, workspace)?,
        args: args.into_iter().map(OsString::from).collect(),
        cwd: workspace.to_owned(),
        env: BTreeMap::new(),
    };
    let guard = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("our own program is not found: {error}")))?;
    let mut running = Running(Some(Program::start(&guard, &started)?));
    let Some(program) = &mut running.0 else {
        return Err(Failure::internal("a program that was just started is gone"));
    };
    // Nobody writes to it.
    drop(program.pipes.stdin.take());
    let (mut stdout, mut stderr) = (Output::default(), Output::default());
    let pipes = (program.pipes.stdout.take(), program.pipes.stderr.take());
    let exit = {
        let reading = async {
            let out = async {
                if let Some(pipe) = pipes.0 {
                    stdout.read(pipe).await;
                }
            };
            let err = async {
                if let Some(pipe) = pipes.1 {
                    stderr.read(pipe).await;
                }
            };
            tokio::join!(out, err);
        };
        tokio::pin!(reading);
        tokio::select! {
            () = &mut reading => program.wait().await,
            exit = program.wait() => {
                tokio::time::timeout(limits::TOOL_DRAIN, reading).await.unwrap_or_default();
                exit
            }
        }
    };
    told(shell, exit, stdout.text(), stderr.text())
}

/// A command under way. However the call ends, its whole tree does.
struct Running(Option<Program>);

impl Drop for Running {
    fn drop(&mut self) {
        if let (Some(program), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            // Ends with the tree, within the time that killing one has.
            runtime.spawn(program.finish());
        }
    }
}

fn told(
    shell: &ShellCarrier,
    exit: Exit,
    stdout: String,
    stderr: String,
) -> Result<Reply, Failure> {
    let code = match exit {
        Exit::Code(code) => Some(code),
        _ => None,
    };
    if code.is_none_or(|code| !shell.success.contains(&code)) {
        let said = if stderr.trim().is_empty() { &stdout } else { &stderr };
        let said = budget::cut(said.trim(), limits::TOOL_FAILED_OUTPUT);
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        let text = format!("`{}` ended with {exit}{said}", shell.program);
        return Err(Failure::new(Code::ToolFailed, text).details(json!({ "exit_code": code })));
    }
    // What a program writes for programs is given as data.
    if let Ok(data @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(&stdout) {
        return Ok(Answer::json(render::text(&data), data).into());
    }
    let mut text = stdout.trim_end().to_owned();
    if !stderr.trim().is_empty() {
        text += &format!("\n--- stderr\n{}", stderr.trim_end());
    }
    if code != Some(0) {
        text += &format!("\n({exit})");
    }
    if text.trim().is_empty() {
        "done, without output".clone_into(&mut text);
    }
    let data = json!({ "exit_code": code, "stdout": stdout, "stderr": stderr });
    Ok(Answer::json(text.trim_start().to_owned(), data).into())
}

/// Where the program is. Of `PATH` only whole folders count: one that begins here would be the workspace's.
fn program(name: &str, workspace: &Path) -> Result<PathBuf, Failure> {
    if name.contains('/') {
        return Ok(workspace.join(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|it| it.is_absolute());
    let is_program = |file: &PathBuf| {
        use std::os::unix::fs::PermissionsExt as _;
        file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    folders.map(|folder| folder.join(name)).find(is_program).ok_or_else(|| {
        Failure::new(Code::NotFound, format!("no program `{name}` on this machine"))
            .hint(format!("install `{name}`, or put its folder on PATH where the server starts"))
    })
}

fn command_line(
    shell: &ShellCarrier,
    spec: &ToolSpec,
    given: &Given,
) -> Result<Vec<String>, Failure> {
    let mut line = Vec::new();
    for argument in &shell.arguments {
        match argument {
            CommandPart::One(template) => add(&mut line, template, spec, given)?,
            CommandPart::When { param, add: templates } => {
                let is_given = given.get(param).is_some_and(|it| *it != Literal::Bool(false));
                for template in templates.iter().filter(|_| is_given) {
                    add(&mut line, template, spec, given)?;
                }
            }
        }
    }
    Ok(line)
}

fn add(
    line: &mut Vec<String>,
    template: &TextTemplate,
    spec: &ToolSpec,
    given: &Given,
) -> Result<(), Failure> {
    let texts = match template.only_param().and_then(|name| given.get(name)) {
        Some(Literal::List(items)) => items.iter().map(plain).collect(),
        _ => given.text(template).into_iter().collect::<Vec<_>>(),
    };
    let first = match template.0.first() {
        Some(TextPiece::Param(name)) => Some(name.as_str()),
        _ => None,
    };
    for text in texts {
        for name in template.params() {
            check_text(name, &text)?;
        }
        if let Some(name) = first.filter(|_| text.starts_with('-'))
            && !spec.param(name).is_some_and(may_be_option)
        {
            let shown = budget::cut(&text, limits::ECHO);
            let text = format!("parameter `{name}`: `{shown}` would be an option of the command");
            return Err(Failure::new(Code::InvalidParams, text)
                .hint("pass a value that does not begin with `-`; for a file, `./-name`"));
        }
        line.push(text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use holdpoint_metadata::Carrier;

    use super::*;

    const FILE: &str = "\
name: text_find
title: Find
description: Find it.
when_to_use: Always.
response: query
timeout_ms: 1000
parameters:
  text: {type: string, required: true, description: What.}
  flags: {type: array, items: {type: string, option: true}, description: Options.}
  files: {type: array, items: {type: string}, description: Where.}
  most: {type: integer, description: How many.}
  loud: {type: boolean, default: false, description: Louder.}
parameter_hints:
  text: {examples: [a]}
  flags: {examples: [['-i']]}
  files: {examples: [[a, b]]}
  most: {examples: [1]}
  loud: {examples: [true]}
examples: [{text: a}]
safety: {idempotent: true, read_only: true, destructive: false}
run:
  shell:
    command: [grep, '{flags}', '--max={most}', {when: loud, add: [-v, '{text}']}, '{text}', '{files}']
";

    fn line(arguments: Value) -> Result<Vec<String>, Failure> {
        let spec = ToolSpec::read(FILE).unwrap();
        let Carrier::Shell(shell) = &spec.run else { panic!("it is a command") };
        let given = Given::of(&spec, arguments.as_object().unwrap().clone(), Path::new("/ws"))?;
        command_line(shell, &spec, &given)
    }

    #[test]
    fn a_value_is_one_argument_whatever_stands_in_it() {
        let text = "a; rm -rf ~ $(id) `id` 'x' \"y\" | z > w\n&";
        assert_eq!(line(json!({"text": text})).unwrap(), [text]);
        let all =
            json!({"text": "a", "most": 3, "loud": true, "files": ["b c", "d"], "flags": ["-i"]});
        assert_eq!(line(all).unwrap(), ["-i", "--max=3", "-v", "a", "a", "b c", "d"]);
    }

    #[test]
    fn no_value_becomes_an_option_that_the_file_does_not_allow() {
        for arguments in [
            json!({"text": "-rf"}),
            json!({"text": "--exec=x"}),
            json!({"text": "-"}),
            json!({"text": "a", "files": ["b", "--x"]}),
        ] {
            let failure = line(arguments.clone()).unwrap_err();
            assert!(failure.message.contains("would be an option"), "{arguments}: {failure}");
        }
        // Behind its own option a number below zero is its value.
        assert_eq!(line(json!({"text": "a", "most": -3})).unwrap(), ["--max=-3", "a"]);
        let failure = line(json!({"text": "a\0b"})).unwrap_err();
        assert!(failure.message.contains("zero byte"), "{failure}");
    }

    #[test]
    fn the_program_is_on_the_path_or_in_the_workspace() {
        assert!(program("sh", Path::new("/ws")).unwrap().is_absolute());
        assert_eq!(program("./x.sh", Path::new("/ws")).unwrap(), Path::new("/ws/./x.sh"));
        let failure = program("no-such-program-here", Path::new("/ws")).unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
    }
}
