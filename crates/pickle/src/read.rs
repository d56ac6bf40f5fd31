//! The pickle machine, without its power: it builds a description of what Python would build.
//!
//! A global is a name, a call is an entry that says which callable and which arguments; nothing is
//! imported and nothing runs. Every opcode costs constant time beyond the bytes and values it
//! takes, so that reading is linear in the input whatever the input says, and [`Limits`] bound it.

mod assemble;
mod input;
mod memo;
mod text;

use std::borrow::Cow;

use self::{input::Input, memo::Memo};
use crate::{
    fault::{Cut, Fault, FaultKind, OverBound},
    limits::Limits,
    node::{Id, Node},
    opcode::Op,
};

/// What reading gives: the arena, its root, and where it ended if a bound ended it.
pub(crate) struct Read<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    pub(crate) root: Id,
    pub(crate) cut: Option<Cut>,
}

pub(crate) fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Read<'a>, Fault> {
    let mut machine = Machine::new(bytes, *limits);
    let (root, cut) = match machine.run() {
        Ok(root) => (root, None),
        Err(Halt::Fault(fault)) => return Err(fault),
        Err(Halt::Bound(bound)) => {
            let cut = Cut { at: machine.input.at(), of: bytes.len(), bound };
            (machine.fold(), Some(cut))
        }
    };
    Ok(Read { nodes: machine.nodes, root, cut })
}

/// Why the machine stands still before its end.
#[derive(Debug)]
enum Halt {
    Fault(Fault),
    Bound(OverBound),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Halt::Fault(fault)
    }
}

struct Machine<'a> {
    input: Input<'a>,
    limits: Limits,
    steps: usize,
    nodes: Vec<Node<'a>>,
    stack: Vec<Id>,
    /// Heights of the stack; what lies above the last belongs to the container being built.
    marks: Vec<u32>,
    memo: Memo,
    buffers: u32,
    /// Set by the opcode that ends the pickle.
    root: Option<Id>,
}

impl<'a> Machine<'a> {
    fn new(bytes: &'a [u8], limits: Limits) -> Self {
        // Ids of the first nodes are constants of `Id`; the first place stands for the missing.
        let mut nodes = Vec::with_capacity(16);
        nodes.extend([Node::None, Node::None, Node::Bool(false), Node::Bool(true), Node::Tuple0]);
        Machine {
            input: Input::new(bytes),
            limits,
            steps: 0,
            nodes,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Memo::default(),
            buffers: 0,
            root: None,
        }
    }

    fn run(&mut self) -> Result<Id, Halt> {
        loop {
            if self.steps >= self.limits.steps_max {
                return Err(Halt::Bound(OverBound::Steps));
            }
            self.steps += 1;
            let byte = self.input.byte()?;
            let Some(op) = Op::of(byte) else {
                return Err(self.fault(FaultKind::UnknownOpcode(byte)));
            };
            self.step(op)?;
            if let Some(root) = self.root {
                return Ok(root);
            }
        }
    }

    #[inline]
    fn step(&mut self, op: Op) -> Result<(), Halt> {
        match op {
            Op::Mark => self.mark(),
            Op::Stop => self.root = Some(self.pop()?),
            Op::Pop => self.discard()?,
            Op::PopMark => {
                let mark = self.pop_mark()?;
                self.stack.truncate(mark);
            }
            Op::Dup => self.stack.push(self.top()?),
            Op::Proto => {
                self.input.byte()?;
            }
            Op::Frame => {
                self.input.take(8)?;
            }
            Op::Get | Op::BinGet | Op::LongBinGet => self.recall(op)?,
            Op::Put | Op::BinPut | Op::LongBinPut => self.remember(op)?,
            Op::Memoize => self.memo.push(self.top()?),
            Op::None => self.stack.push(Id::NONE),
            Op::NewTrue => self.stack.push(Id::TRUE),
            Op::NewFalse => self.stack.push(Id::FALSE),
            Op::BinInt => self.push_int(|input| Ok(i32::from_le_bytes(input.array()?).into()))?,
            Op::BinInt1 => self.push_int(|input| Ok(input.byte()?.into()))?,
            Op::BinInt2 => self.push_int(|input| Ok(input.u16()?.into()))?,
            Op::Int | Op::Long | Op::Float | Op::String | Op::Unicode => self.line(op)?,
            Op::Long1 => self.push_long(Input::counted1)?,
            Op::Long4 => self.push_long(Input::counted4)?,
            Op::BinFloat => {
                let float = f64::from_be_bytes(self.input.array()?);
                self.push(Node::Float(float))?;
            }
            Op::ShortBinUnicode => self.push_str(Input::counted1)?,
            Op::BinUnicode => self.push_str(Input::counted4)?,
            Op::BinUnicode8 => self.push_str(Input::counted8)?,
            Op::ShortBinString => self.push_old_str(Input::counted1)?,
            Op::BinString => self.push_old_str(Input::counted4)?,
            Op::ShortBinBytes => self.push_bytes(Input::counted1)?,
            Op::BinBytes => self.push_bytes(Input::counted4)?,
            Op::BinBytes8 => self.push_bytes(Input::counted8)?,
            Op::ByteArray8 => {
                let bytes = self.input.counted8()?;
                self.push(Node::ByteArray(bytes))?;
            }
            Op::EmptyTuple => self.stack.push(Id::EMPTY_TUPLE),
            Op::EmptyList => self.push(Node::List(Vec::new()))?,
            Op::EmptyDict => self.push(Node::Dict(Vec::new()))?,
            Op::EmptySet => self.push(Node::Set(Vec::new()))?,
            Op::List | Op::Dict | Op::FrozenSet | Op::Tuple => self.gather(op)?,
            Op::Tuple1 | Op::Tuple2 | Op::Tuple3 => self.tuple(op)?,
            Op::Append => self.append()?,
            Op::Appends | Op::AddItems => self.appends()?,
            Op::SetItem => self.set_item()?,
            Op::SetItems => self.set_items()?,
            Op::Global | Op::StackGlobal => self.global(op)?,
            Op::Reduce | Op::NewObj | Op::NewObjEx => self.call(op)?,
            Op::Inst | Op::Obj => self.old_instance(op)?,
            Op::Build => self.build()?,
            Op::PersId | Op::BinPersId => self.persistent(op)?,
            Op::Ext1 | Op::Ext2 | Op::Ext4 => self.extension(op)?,
            Op::NextBuffer => self.buffer()?,
            Op::ReadonlyBuffer => self.top().map(|_| ())?,
        }
        Ok(())
    }

    fn fault(&self, kind: FaultKind) -> Halt {
        Halt::Fault(self.input.fault(kind))
    }

    /// A new node, not yet on the stack.
    #[inline]
    fn node(&mut self, node: Node<'a>) -> Result<Id, Halt> {
        if self.nodes.len() >= self.limits.nodes_max {
            return Err(Halt::Bound(OverBound::Nodes));
        }
        let id = Id::next(&self.nodes).ok_or(Halt::Bound(OverBound::Nodes))?;
        self.nodes.push(node);
        Ok(id)
    }

    #[inline]
    fn push(&mut self, node: Node<'a>) -> Result<(), Halt> {
        let id = self.node(node)?;
        self.stack.push(id);
        Ok(())
    }

    fn mark(&mut self) {
        // The stack is no higher than the steps taken; the limits keep those below 32 bits.
        self.marks.push(u32::try_from(self.stack.len()).unwrap_or(u32::MAX));
    }

    /// What lies below the last mark is not to be taken by an opcode above it.
    #[inline]
    fn floor(&self) -> usize {
        self.marks.last().map_or(0, |mark| *mark as usize)
    }

    #[inline]
    fn pop(&mut self) -> Result<Id, Halt> {
        if self.stack.len() > self.floor()
            && let Some(id) = self.stack.pop()
        {
            return Ok(id);
        }
        Err(self.fault(FaultKind::StackUnderflow))
    }

    #[inline]
    fn top(&self) -> Result<Id, Halt> {
        match self.stack.last() {
            Some(id) if self.stack.len() > self.floor() => Ok(*id),
            _ => Err(self.fault(FaultKind::StackUnderflow)),
        }
    }

    /// Takes the last mark; what lies above it is the caller's. Never above the stack's height.
    fn pop_mark(&mut self) -> Result<usize, Halt> {
        let mark = self.marks.pop().ok_or_else(|| self.fault(FaultKind::NoMark))?;
        Ok(self.stack.len().min(mark as usize))
    }

    fn recall(&mut self, op: Op) -> Result<(), Halt> {
        let index = self.index(op)?;
        let found = self.memo.get(index);
        let id = found.ok_or_else(|| self.fault(FaultKind::NotInMemo(index)))?;
        self.stack.push(id);
        Ok(())
    }

    fn remember(&mut self, op: Op) -> Result<(), Halt> {
        let index = self.index(op)?;
        let id = self.top()?;
        if self.memo.set(index, id, self.limits.memo_max) {
            return Ok(());
        }
        Err(Halt::Bound(OverBound::Memo))
    }

    fn index(&mut self, op: Op) -> Result<u64, Halt> {
        Ok(match op {
            Op::BinGet | Op::BinPut => self.input.byte()?.into(),
            Op::LongBinGet | Op::LongBinPut => self.input.u32()?.into(),
            _ => {
                let line = self.input.line()?;
                let index = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
                index.ok_or_else(|| self.fault(FaultKind::BadText))?
            }
        })
    }

    #[inline]
    fn push_int(
        &mut self,
        take: impl FnOnce(&mut Input<'a>) -> Result<i64, Fault>,
    ) -> Result<(), Halt> {
        let int = take(&mut self.input)?;
        self.push(Node::Int(int))
    }

    fn push_long(
        &mut self,
        take: impl FnOnce(&mut Input<'a>) -> Result<&'a [u8], Fault>,
    ) -> Result<(), Halt> {
        let bytes = take(&mut self.input)?;
        self.push(text::long(bytes))
    }

    #[inline]
    fn push_str(
        &mut self,
        take: impl FnOnce(&mut Input<'a>) -> Result<&'a [u8], Fault>,
    ) -> Result<(), Halt> {
        let bytes = take(&mut self.input)?;
        self.push(match std::str::from_utf8(bytes) {
            Ok(text) => Node::Str(Cow::Borrowed(text)),
            Err(_) => Node::Surrogates(Cow::Borrowed(bytes)),
        })
    }

    fn push_old_str(
        &mut self,
        take: impl FnOnce(&mut Input<'a>) -> Result<&'a [u8], Fault>,
    ) -> Result<(), Halt> {
        let bytes = take(&mut self.input)?;
        self.push(text::old_str(Cow::Borrowed(bytes)))
    }

    #[inline]
    fn push_bytes(
        &mut self,
        take: impl FnOnce(&mut Input<'a>) -> Result<&'a [u8], Fault>,
    ) -> Result<(), Halt> {
        let bytes = take(&mut self.input)?;
        self.push(Node::Bytes(Cow::Borrowed(bytes)))
    }

    fn line(&mut self, op: Op) -> Result<(), Halt> {
        let line = self.input.line()?;
        let node = match op {
            Op::Int => text::int(line),
            Op::Long => text::int(line.strip_suffix(b"L").unwrap_or(line)),
            Op::Float => text::float(line),
            Op::String => text::quoted(line),
            _ => Some(text::unicode(line)),
        };
        let node = node.ok_or_else(|| self.fault(FaultKind::BadText))?;
        self.push(node)
    }
}
