//! What a stopped program holds, kept for later: frames, their variables, and what is inside of those, level
//! by level until a bound is reached. Where nobody looked inside, that is known too, so that a comparison
//! never takes "not looked" for "not there".

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::{
    Locals, locals,
    values::{is_length, is_noise},
};
use crate::{
    backend::{Backend, Frame, Handle, Slice, Stack, Variable},
    budget,
    failure::Failure,
    ids::{Seq, SessionId},
    limits,
};

/// A stop that is to be looked at.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    pub session: SessionId,
    pub seq: Seq,
    pub stack: &'a Stack,
}

#[derive(Debug)]
pub struct Snapshot {
    /// `snap3`, or `stop 14`: what a caller can name it by.
    pub name: String,
    pub label: Option<String>,
    pub session: SessionId,
    /// The stop's number on the timeline.
    pub seq: Seq,
    pub at: Timestamp,
    /// From the innermost out.
    pub frames: Vec<FrameShot>,
    /// How far inside of values it looked.
    pub depth: usize,
    /// What was left out, in words; none when nothing was.
    pub cut: Option<&'static str>,
    /// All values; frames and values name theirs by index.
    nodes: Vec<ValueNode>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FrameShot {
    pub function: String,
    pub file: Option<String>,
    pub line: u32,
    /// Its distance from the outermost frame.
    pub height: usize,
    /// None where nobody looked.
    pub variables: Option<Parts>,
}

/// What is inside of something.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    pub nodes: Vec<usize>,
    /// Whether these are all of them: what is not among them may be there all the same, if not.
    pub is_whole: bool,
}

#[derive(Debug)]
pub struct ValueNode {
    pub name: String,
    pub kind: Option<String>,
    /// Cut to a bound; `hash` is of all of it.
    pub text: String,
    pub hash: u64,
    /// None where nobody looked inside.
    pub parts: Option<Parts>,
}

impl Snapshot {
    pub fn node(&self, index: usize) -> Option<&ValueNode> {
        self.nodes.get(index)
    }

    #[must_use]
    pub fn labelled(self, label: Option<&str>) -> Snapshot {
        Snapshot { label: label.map(str::to_owned), ..self }
    }

    pub fn values(&self) -> usize {
        self.nodes.len()
    }

    /// The innermost frame's variables as a stop's report read them: costs nothing more.
    pub fn of_stop(stop: Standing<'_>, variables: &Locals) -> Snapshot {
        let mut taking = Taking::new(stop, format!("stop {}", stop.seq), 0);
        let (parts, _) = taking.add(variables, variables.len());
        if let Some(top) = taking.snapshot.frames.first_mut() {
            top.variables = Some(parts);
        }
        taking.snapshot
    }

    /// Looks `depth` levels into the variables of the innermost frames.
    pub async fn take(
        stop: Standing<'_>,
        backend: &Backend,
        name: String,
        depth: usize,
    ) -> Result<Snapshot, Failure> {
        let mut taking = Taking::new(stop, name, depth);
        let mut inside = VecDeque::new();
        let own = stop.stack.frames.iter().enumerate().filter(|(at, frame)| {
            // The frame that stands may be a library's; of the others only the user's own are worth it.
            *at == 0 || frame.is_user
        });
        for (at, frame) in own.take(limits::SNAPSHOT_FRAMES) {
            let variables = locals(backend, &frame.id).await?;
            let (parts, handles) = taking.add(&variables, variables.len());
            if let Some(shot) = taking.snapshot.frames.get_mut(at) {
                shot.variables = Some(parts);
            }
            inside.extend(handles.into_iter().map(|(index, handle)| (index, handle, 1)));
        }
        while let Some((index, handle, level)) = inside.pop_front() {
            let Some(handle) = handle.filter(|_| level <= depth) else { continue };
            if taking.is_full() {
                break;
            }
            let parts = taking.look(backend, index, &handle).await;
            inside.extend(parts.into_iter().map(|(index, handle)| (index, handle, level + 1)));
        }
        Ok(taking.snapshot)
    }
}

/// Values and where their parts are to be had.
type Handles = Vec<(usize, Option<Handle>)>;

/// A snapshot in the making.
struct Taking {
    snapshot: Snapshot,
    began: Instant,
}

impl Taking {
    fn new(stop: Standing<'_>, name: String, depth: usize) -> Taking {
        let Standing { session, seq, stack: Stack { frames, total } } = stop;
        let all = total.unwrap_or(frames.len()).max(frames.len());
        let frames = frames.iter().enumerate().map(|(at, frame)| shot(frame, all - at)).collect();
        let snapshot = Snapshot {
            name,
            label: None,
            session,
            seq,
            at: Timestamp::now(),
            frames,
            depth,
            cut: None,
            nodes: Vec::new(),
        };
        Taking { snapshot, began: Instant::now() }
    }

    /// Adds what is inside of something, which has `total` parts, and where their own are to be had.
    fn add(&mut self, variables: &[Variable], total: usize) -> (Parts, Handles) {
        let room = limits::SNAPSHOT_VALUES.saturating_sub(self.snapshot.nodes.len());
        if room < variables.len() {
            self.snapshot.cut = Some("too many values");
        }
        let (mut parts, mut handles) = (Parts::default(), Handles::new());
        for variable in variables.iter().take(room) {
            let index = self.snapshot.nodes.len();
            parts.nodes.push(index);
            handles.push((index, variable.value.children.clone()));
            self.snapshot.nodes.push(ValueNode::of(variable));
        }
        parts.is_whole = parts.nodes.len() >= total;
        (parts, handles)
    }

    fn is_full(&mut self) -> bool {
        const TIME: Duration = limits::SNAPSHOT_TIME;
        if self.snapshot.nodes.len() >= limits::SNAPSHOT_VALUES {
            self.snapshot.cut = Some("too many values");
        } else if self.began.elapsed() >= TIME {
            self.snapshot.cut = Some("it took too long");
        }
        self.snapshot.cut.is_some()
    }

    /// The parts of one value. One that cannot be looked into stays as it is.
    async fn look(&mut self, backend: &Backend, index: usize, handle: &Handle) -> Handles {
        let slice = Slice { start: 0, count: limits::SNAPSHOT_PARTS };
        let mut parts = match backend.children(handle, slice).await {
            Ok(parts) => parts,
            Err(failure) => {
                tracing::debug!(%failure, "a value was not looked into");
                return Vec::new();
            }
        };
        let length = parts.iter().find(|part| part.name == "len()");
        let length = length.and_then(|part| part.value.text.parse::<usize>().ok());
        parts.retain(|part| !is_noise(part) && !is_length(part));
        // A runtime that was asked for a slice may have more, and Python's shows the first hundred or so.
        let is_slice = parts.len() >= limits::SNAPSHOT_PARTS;
        let total = if is_slice { usize::MAX } else { length.unwrap_or(0).max(parts.len()) };
        parts.truncate(limits::SNAPSHOT_PARTS);
        let (parts, handles) = self.add(&parts, total);
        if let Some(node) = self.snapshot.nodes.get_mut(index) {
            node.parts = Some(parts);
        }
        handles
    }
}

impl ValueNode {
    fn of(variable: &Variable) -> ValueNode {
        let mut hasher = DefaultHasher::new();
        variable.value.text.hash(&mut hasher);
        ValueNode {
            name: variable.name.clone(),
            kind: variable.value.kind.clone(),
            text: budget::cut(&variable.value.text, limits::VALUE_BYTES),
            hash: hasher.finish(),
            parts: None,
        }
    }
}

fn shot(frame: &Frame, height: usize) -> FrameShot {
    FrameShot {
        function: frame.function.clone(),
        file: frame.file.as_ref().map(|file| file.display().to_string()),
        line: frame.line,
        height,
        variables: None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A snapshot written down: each line is `function` or, indented by two a level,
    /// `name = value`; `… = more` stands for parts that were left out.
    pub(in crate::inspect) fn written(text: &str) -> Snapshot {
        let mut frames: Vec<FrameShot> = Vec::new();
        let mut nodes: Vec<ValueNode> = Vec::new();
        let mut above: Vec<usize> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let level = (line.len() - line.trim_start().len()) / 2;
            let Some((name, value)) = line.trim().split_once(" = ") else {
                frames.push(FrameShot {
                    function: line.trim().to_owned(),
                    file: None,
                    line: 1,
                    height: 0,
                    variables: Some(Parts { nodes: Vec::new(), is_whole: true }),
                });
                continue;
            };
            above.truncate(level - 1);
            let index = nodes.len();
            let whole = || Parts { nodes: Vec::new(), is_whole: true };
            let inside = match above.last() {
                Some(parent) => nodes[*parent].parts.get_or_insert_with(whole),
                None => frames.last_mut().unwrap().variables.as_mut().unwrap(),
            };
            if name == "…" {
                inside.is_whole = false;
                continue;
            }
            inside.nodes.push(index);
            let mut hasher = DefaultHasher::new();
            value.hash(&mut hasher);
            let (name, text) = (name.to_owned(), value.to_owned());
            nodes.push(ValueNode { name, kind: None, text, hash: hasher.finish(), parts: None });
            above.push(index);
        }
        let all = frames.len();
        for (at, frame) in frames.iter_mut().enumerate() {
            frame.height = all - at;
        }
        let (session, seq, at) = (SessionId(1), Seq(1), Timestamp::now());
        let name = "snap1".to_owned();
        Snapshot { name, label: None, session, seq, at, frames, depth: 2, cut: None, nodes }
    }
}
