//! What a stopped program shows. Frames and values are named by handles that are good for one stop.

use std::path::PathBuf;

use crate::failure::Failure;

#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The backend's handle; good for one stop.
    pub id: FrameId,
    pub function: String,
    pub file: Option<PathBuf>,
    /// Where there is no file: `node:internal/…`, `<string>`.
    pub place: Option<String>,
    pub line: u32,
    pub column: Option<u32>,
    /// Whether it is the user's own code rather than a library's or the runtime's.
    pub is_user: bool,
}

/// What a backend calls a frame; good for one stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FrameId {
    name: Name,
    pub(crate) moment: StopMoment,
}

/// DAP counts what CDP names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Number(i64),
    Text(String),
}

/// When something was got: nothing of a thread's earlier stop means anything at a later one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct StopMoment {
    /// `None` for what was got without a frame.
    pub(crate) thread: Option<i64>,
    pub(crate) epoch: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    pub frames: Vec<Frame>,
    /// How deep the stack is in all, where the backend knows.
    pub total: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    pub name: String,
    pub kind: ScopeKind,
    pub children: Handle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// What the reader of the function sees: its locals, block variables, arguments.
    Local,
    Closure,
    Global,
    /// The processor's, of a program that was compiled.
    Registers,
}

/// Where a value's children are to be had; good for one stop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Handle {
    name: Name,
    pub(crate) moment: StopMoment,
}

/// Both as a backend makes them; when that was, [`Backend`] notes.
macro_rules! named {
    ($($kind:ident),*) => {$(
        impl $kind {
            pub(crate) fn number(number: i64) -> Self {
                $kind { name: Name::Number(number), moment: StopMoment::default() }
            }

            pub(crate) fn text(text: String) -> Self {
                $kind { name: Name::Text(text), moment: StopMoment::default() }
            }

            pub(crate) fn as_number(&self) -> Result<i64, Failure> {
                match self.name {
                    Name::Number(number) => Ok(number),
                    Name::Text(_) => Err(Failure::internal("a handle of another protocol")),
                }
            }

            pub(crate) fn as_text(&self) -> Option<&str> {
                match &self.name {
                    Name::Number(_) => None,
                    Name::Text(text) => Some(text),
                }
            }
        }
    )*};
}

named!(FrameId, Handle);

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: String,
    pub value: Value,
    /// The expression that reads it again, where the backend gives one.
    pub expression: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// As the language writes it; may be cut by the runtime.
    pub text: String,
    pub kind: Option<String>,
    /// `None` for a value without parts.
    pub children: Option<Handle>,
    /// How many indexed parts, and how many named ones, where the backend says.
    pub indexed: Option<usize>,
    pub named: Option<usize>,
}

/// Which children of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    pub start: usize,
    pub count: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExceptionInfo {
    pub kind: String,
    pub message: String,
    /// The runtime's own account, with causes.
    pub trace: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    pub id: i64,
    pub name: String,
}

impl Value {
    /// As of this moment.
    pub(crate) fn at(mut self, moment: StopMoment) -> Value {
        self.children = self.children.map(|it| Handle { moment, ..it });
        self
    }
}
