//! Opcodes that make values of other values: containers, names, calls, states.

use std::borrow::Cow;

use super::{Halt, Machine};
use crate::{
    fault::FaultKind,
    limits,
    node::{How, Id, Node, Object},
    opcode::Op,
};

impl<'a> Machine<'a> {
    /// A container of everything since the last mark.
    pub(super) fn gather(&mut self, op: Op) -> Result<(), Halt> {
        let mark = self.pop_mark()?;
        let items = self.stack.get(mark..).unwrap_or_default();
        let node = match (op, items) {
            (Op::List, _) => Node::List(items.to_vec()),
            (Op::Dict, _) => Node::Dict(even(items.to_vec())),
            (Op::FrozenSet, _) => Node::FrozenSet(items.into()),
            (_, []) => Node::Tuple0,
            (_, [a]) => Node::Tuple1([*a]),
            (_, [a, b]) => Node::Tuple2([*a, *b]),
            (_, [a, b, c]) => Node::Tuple3([*a, *b, *c]),
            _ => Node::Tuple(items.into()),
        };
        self.stack.truncate(mark);
        self.push(node)
    }

    pub(super) fn tuple(&mut self, op: Op) -> Result<(), Halt> {
        let last = self.pop()?;
        if op == Op::Tuple1 {
            return self.push(Node::Tuple1([last]));
        }
        let middle = self.pop()?;
        if op == Op::Tuple2 {
            return self.push(Node::Tuple2([middle, last]));
        }
        let first = self.pop()?;
        self.push(Node::Tuple3([first, middle, last]))
    }

    pub(super) fn append(&mut self) -> Result<(), Halt> {
        let item = self.pop()?;
        let target = self.top()?;
        match items_of(&mut self.nodes, target) {
            Some(items) => items.push(item),
            None => return Err(self.fault(FaultKind::WrongKind)),
        }
        Ok(())
    }

    pub(super) fn appends(&mut self) -> Result<(), Halt> {
        let mark = self.pop_mark()?;
        let target = self.below(mark)?;
        match items_of(&mut self.nodes, target) {
            Some(items) => items.extend(self.stack.drain(mark..)),
            None => return Err(self.fault(FaultKind::WrongKind)),
        }
        Ok(())
    }

    pub(super) fn set_item(&mut self) -> Result<(), Halt> {
        let value = self.pop()?;
        let key = self.pop()?;
        let target = self.top()?;
        match pairs_of(&mut self.nodes, target) {
            Some(pairs) => pairs.extend([key, value]),
            None => return Err(self.fault(FaultKind::WrongKind)),
        }
        Ok(())
    }

    pub(super) fn set_items(&mut self) -> Result<(), Halt> {
        let mark = self.pop_mark()?;
        let target = self.below(mark)?;
        // A key without a value would shift all that follow.
        if !(self.stack.len() - mark).is_multiple_of(2) {
            return Err(self.fault(FaultKind::StackUnderflow));
        }
        match pairs_of(&mut self.nodes, target) {
            Some(pairs) => pairs.extend(self.stack.drain(mark..)),
            None => return Err(self.fault(FaultKind::WrongKind)),
        }
        Ok(())
    }

    /// What a mark's values are added to.
    fn below(&self, mark: usize) -> Result<Id, Halt> {
        let at = mark.checked_sub(1).filter(|at| *at >= self.floor());
        let found = at.and_then(|at| self.stack.get(at)).copied();
        found.ok_or_else(|| self.fault(FaultKind::StackUnderflow))
    }

    pub(super) fn global(&mut self, op: Op) -> Result<(), Halt> {
        let (module, name) = if op == Op::Global {
            (self.name_line()?, self.name_line()?)
        } else {
            let name = self.pop()?;
            (self.pop()?, name)
        };
        let is_text = |id: Id| matches!(self.nodes.get(id.index()), Some(Node::Str(_)));
        if !is_text(module) || !is_text(name) {
            return Err(self.fault(FaultKind::WrongKind));
        }
        self.push(Node::Global { module, name })
    }

    fn name_line(&mut self) -> Result<Id, Halt> {
        let line = self.input.line()?;
        let text = std::str::from_utf8(line).map_err(|_| self.fault(FaultKind::BadText))?;
        self.node(Node::Str(Cow::Borrowed(text)))
    }

    pub(super) fn call(&mut self, op: Op) -> Result<(), Halt> {
        let kwargs = if op == Op::NewObjEx { Some(self.pop()?) } else { None };
        let args = self.pop()?;
        let callable = self.pop()?;
        let how = if op == Op::Reduce { How::Reduce } else { How::New };
        let mut object = Object::new(how, callable, args);
        if kwargs.is_some() {
            object.extra().kwargs = kwargs;
        }
        self.push(Node::Object(object))
    }

    /// Instances as protocols 0 and 1 write those of Python 2.
    pub(super) fn old_instance(&mut self, op: Op) -> Result<(), Halt> {
        let (class, args) = if op == Op::Inst {
            let (module, name) = (self.name_line()?, self.name_line()?);
            let class = self.node(Node::Global { module, name })?;
            let mark = self.pop_mark()?;
            (class, self.stack.drain(mark..).collect())
        } else {
            let mark = self.pop_mark()?;
            let mut items = self.stack.drain(mark..);
            let class = items.next();
            let args = items.collect();
            (class.ok_or_else(|| self.fault(FaultKind::StackUnderflow))?, args)
        };
        let args = self.node(Node::Tuple(args))?;
        self.push(Node::Object(Object::new(How::New, class, args)))
    }

    pub(super) fn build(&mut self) -> Result<(), Halt> {
        let state = self.pop()?;
        let target = self.top()?;
        if self.give_state(target, state) {
            return Ok(());
        }
        Err(self.fault(FaultKind::WrongKind))
    }

    /// Whether the target is one that takes a state.
    fn give_state(&mut self, target: Id, state: Id) -> bool {
        let Some(Node::Object(object)) = self.nodes.get_mut(target.index()) else { return false };
        if object.state.is_none() {
            object.state = Some(state);
        } else if object.extra().states.len() < limits::STATES_MAX {
            object.extra().states.push(state);
        }
        true
    }

    /// A call whose result is thrown away was made for its effect: `setattr(target, name, value)`,
    /// or the setter of a state, `setter(target, state)`, with the target below it on the stack.
    pub(super) fn discard(&mut self) -> Result<(), Halt> {
        if self.stack.len() == self.floor() && self.marks.pop().is_some() {
            return Ok(());
        }
        let dropped = self.pop()?;
        let Some(Node::Object(call)) = self.nodes.get(dropped.index()) else { return Ok(()) };
        let (how, callable, args) = (call.how, call.callable, call.args);
        match self.nodes.get(args.index()) {
            Some(&Node::Tuple2([target, state]))
                if how == How::Reduce && self.stack.last() == Some(&target) =>
            {
                self.give_state(target, state);
            }
            Some(&Node::Tuple3([target, name, value])) if self.is_setattr(callable) => {
                if let Some(Node::Object(object)) = self.nodes.get_mut(target.index()) {
                    object.extra().attributes.extend([name, value]);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `setattr`, or dill's own, which it fetches by `getattr(dill._dill, '_setattr', setattr)`.
    fn is_setattr(&self, callable: Id) -> bool {
        let name = match self.nodes.get(callable.index()) {
            Some(Node::Global { name, .. }) => Some(name),
            Some(Node::Object(call)) => {
                let args = self.nodes.get(call.args.index()).and_then(Node::tuple);
                args.and_then(|args| args.get(1))
            }
            _ => None,
        };
        let name = name.and_then(|name| self.nodes.get(name.index()));
        matches!(name, Some(Node::Str(name)) if matches!(name.as_ref(), "setattr" | "_setattr"))
    }

    pub(super) fn persistent(&mut self, op: Op) -> Result<(), Halt> {
        let id = if op == Op::PersId { self.name_line()? } else { self.pop()? };
        self.push(Node::Persistent(id))
    }

    pub(super) fn extension(&mut self, op: Op) -> Result<(), Halt> {
        let code = match op {
            Op::Ext1 => self.input.byte()?.into(),
            Op::Ext2 => self.input.u16()?.into(),
            _ => self.input.u32()?,
        };
        self.push(Node::Extension(code))
    }

    pub(super) fn buffer(&mut self) -> Result<(), Halt> {
        let index = self.buffers;
        self.buffers = index.saturating_add(1);
        self.push(Node::Buffer(index))
    }

    /// The value as far as it was read: what lies on the stack goes into the container below it.
    pub(super) fn fold(&mut self) -> Id {
        while let Some(mark) = self.marks.pop() {
            let items = self.stack.split_off(self.stack.len().min(mark as usize));
            match self.stack.last().and_then(|id| self.nodes.get_mut(id.index())) {
                Some(Node::List(list) | Node::Set(list)) => list.extend(items),
                Some(Node::Dict(pairs)) => pairs.extend(even(items)),
                // A tuple that was not finished, or the arguments of a call.
                _ if !items.is_empty() => self.push_beyond_bound(Node::Tuple(items.into())),
                _ => {}
            }
        }
        // Without a mark, everything on the stack is a piece of one value.
        while let [rest @ .., below, top] = self.stack.as_slice() {
            let (dict, below, top) = (rest.last().copied(), *below, *top);
            self.stack.pop();
            if self.give_state(below, top) {
                continue;
            }
            if let Some(items) = items_of(&mut self.nodes, below) {
                items.push(top);
            } else if let Some(Node::Dict(pairs)) =
                dict.and_then(|id| self.nodes.get_mut(id.index()))
            {
                pairs.extend([below, top]);
                self.stack.pop();
            } else if matches!(self.nodes.get(below.index()), Some(Node::Global { .. })) {
                self.stack.pop();
                self.push_beyond_bound(Node::Object(Object::new(How::Reduce, below, top)));
            }
        }
        self.stack.first().copied().unwrap_or(Id::NONE)
    }

    /// A few nodes more than were allowed close what was open; what is deeper is lost.
    fn push_beyond_bound(&mut self, node: Node<'a>) {
        let max = self.limits.nodes_max.saturating_add(limits::FOLD_MAX);
        if let Some(id) = Id::next(&self.nodes).filter(|_| self.nodes.len() < max) {
            self.nodes.push(node);
            self.stack.push(id);
        }
    }
}

/// What an `append` adds to.
fn items_of<'n>(nodes: &'n mut [Node<'_>], target: Id) -> Option<&'n mut Vec<Id>> {
    match nodes.get_mut(target.index())? {
        Node::List(items) | Node::Set(items) => Some(items),
        Node::Object(object) => Some(&mut object.extra().items),
        _ => None,
    }
}

/// What `target[key] = value` adds to.
fn pairs_of<'n>(nodes: &'n mut [Node<'_>], target: Id) -> Option<&'n mut Vec<Id>> {
    match nodes.get_mut(target.index())? {
        Node::Dict(pairs) => Some(pairs),
        Node::Object(object) => Some(&mut object.extra().pairs),
        _ => None,
    }
}

/// A key whose value was not read any more is dropped.
fn even(mut pairs: Vec<Id>) -> Vec<Id> {
    pairs.truncate(pairs.len() / 2 * 2);
    pairs
}
