//! Instances: a class, what it was made with, and what was set on it.

use super::{Group, Kind, Name, Segment, Value, known::Call};
use crate::{
    node::{Id, Node},
    pickle::{Face, Pickle, Ref},
};

impl Pickle<'_> {
    /// `Item(name='pen', price=1.5)`, and any call that means nothing more.
    pub(super) fn instance<'p>(&'p self, call: &Call<'p>) -> Value<'p> {
        if let Some(member) = self.enum_member(call) {
            return member;
        }
        let kind = if self.is_exception(call.class) { Kind::Exception } else { Kind::Instance };
        let open = match call.name.name {
            "SimpleNamespace" => "namespace(".to_owned(),
            _ => format!("{}(", call.name.short()),
        };
        let mut group = Group::new(kind, call.name, open, ")");
        let fields = self.created_at(call.class).map_or(&[][..], |created| created.fields);
        if !fields.is_empty() && fields.len() == call.args.len() {
            group = group.with(Segment::Named { names: fields, values: call.args });
        } else {
            group = group.with(Segment::Items(call.args));
        }
        if self.node(call.object.args).tuple().is_none() {
            group = group.unlabelled("args", call.object.args.into());
        }
        Value::Group(self.with_state(group, call))
    }

    /// What was added to an object after it was made.
    pub(super) fn with_state<'p>(&'p self, group: Group<'p>, call: &Call<'p>) -> Group<'p> {
        let mut group = self.with_contents(group, call);
        for state in self.states(call.object) {
            group = self.with_one_state(group, state);
        }
        if let Some(extra) = &call.object.extra {
            group = group.with(Segment::Fields(&extra.attributes));
        }
        group
    }

    /// What was appended to it or set in it, as in a list or dict.
    pub(super) fn with_contents<'p>(&'p self, group: Group<'p>, call: &Call<'p>) -> Group<'p> {
        let Some(extra) = &call.object.extra else { return group };
        let mut group = group;
        if !extra.items.is_empty() {
            group = group.with(Segment::Through(Ref { id: call.id, face: Face::Items }));
        }
        if !extra.pairs.is_empty() {
            group = group.with(Segment::Through(Ref { id: call.id, face: Face::Pairs }));
        }
        match extra.kwargs {
            Some(kwargs) => group.with(Segment::Fields(self.pairs(kwargs))),
            None => group,
        }
    }

    fn with_one_state<'p>(&'p self, group: Group<'p>, state: Id) -> Group<'p> {
        let is_dict = |id: &Id| matches!(self.node(*id), Node::Dict(_) | Node::None);
        let is_fields = match self.node(state) {
            Node::None | Node::Dict(_) => true,
            Node::Tuple2(pair) => pair.iter().all(is_dict),
            _ => false,
        };
        if !is_fields {
            return group.field("__state__", state.into());
        }
        let [dict, slots] = self.state_dicts(state);
        group.with(Segment::Fields(dict)).with(Segment::Fields(slots))
    }

    /// A member of an enum whose class is in the pickle: `<Color.RED: 1>`.
    fn enum_member<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        let [value] = call.args else { return None };
        let created = self.created_at(call.class)?;
        if !self.is_enum(&created) {
            return None;
        }
        let (members, _) = created.members.as_chunks::<2>();
        let is_same = |member: Id| {
            // dill keeps the members themselves, cloudpickle their values.
            let made = self.object(member).and_then(|object| self.tuple(object.args).first());
            self.node(*made.unwrap_or(&member)) == self.node(*value)
        };
        let mut members = members.iter().take(crate::limits::SEARCH_MAX);
        let found = members.find(|[_, member]| is_same(*member));
        let found = found.and_then(|[name, _]| self.text(*name));
        let class = created.name;
        let open = match found {
            Some(name) => format!("<{}.{name}: ", class.short()),
            None => format!("<{}: ", class.short()),
        };
        let group = Group::new(Kind::Instance, class, open, ">");
        Some(Value::Group(group.unlabelled("value", (*value).into())))
    }

    /// What made an instance. Never looks at the value itself: a method's owner may be a method.
    pub(super) fn made_by(&self, id: Id) -> Name<'_> {
        let class = match self.node(id) {
            Node::Object(object) => match self.name(object.callable) {
                // Protocols 0 and 1: the class is the first argument.
                Some(Name { module: "copyreg", .. }) => {
                    self.tuple(object.args).first().and_then(|class| self.name(*class))
                }
                class => class,
            },
            Node::List(_) => Some(Name::builtin("list")),
            Node::Dict(_) => Some(Name::builtin("dict")),
            Node::Str(_) => Some(Name::builtin("str")),
            _ => None,
        };
        class.unwrap_or(Name::builtin("object"))
    }

    /// The class of a value, as Python's `type()` would name it.
    pub fn class_of(&self, at: Ref) -> Name<'_> {
        Name::builtin(match self.value(at) {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::Integer(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Bytes(super::Bytes::Array(_)) => "bytearray",
            Value::Bytes(_) => "bytes",
            // A function or a class; which, only the program knows.
            Value::Global(_) => "object",
            Value::Atom { class, .. } => return class,
            Value::Group(group) => return group.class,
        })
    }
}
