//! A value that a run is watched for: what is asked, and what was seen on the way.

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;

use super::FrameId;

/// Runs until a value turns, in this frame of the stop that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct UntilAsked {
    pub frame: FrameId,
    /// The frame of the line that comes next.
    pub top: FrameId,
    pub expression: String,
    /// What it is to become, as the program's language writes it; `None` for any change.
    pub becomes: Option<String>,
    /// The program stops at the next line after so long, whatever the value is then.
    pub patience: Duration,
}

/// Who looks at the value at each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UntilWay {
    /// Our helper inside the program: nobody is asked between two lines.
    InProcess,
    /// The debugger stops at each step and is asked there, without anybody being told of it.
    Debugger,
}

/// What is to become of a watch that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UntilEnd {
    /// The program runs on as if nobody had asked.
    Run,
    /// The program stands: nothing is watched any more.
    Over,
}

/// What was seen of a value by now.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct UntilSeen {
    /// Lines, or steps, at which it was looked at.
    pub lines: u64,
    /// How often it raised instead of being anything.
    pub raised: u64,
    pub before: SeenValue,
    pub now: SeenValue,
    /// It is what was asked for, or no longer what it was.
    pub turned: bool,
    /// It was what was asked for before anything ran.
    pub already: bool,
    /// The function that it was to be looked at in is over.
    pub left: bool,
    /// The program stands because of it, or is about to.
    pub over: bool,
    /// The line that ran just before: file, line, function.
    pub by: Option<(PathBuf, u32, String)>,
    /// Other threads of the program, any of which may have changed it.
    pub threads: u64,
}

/// A value as it is written, or what was raised instead.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenValue {
    Text(String),
    Error(String),
}
