//! Which call means what: the one list of callables that are understood.
//!
//! What is not in it is shown as the call that it is.

use super::{Bytes, Group, Kind, Label, Name, Part, Segment, Value, frozen_set, list, set};
use crate::{
    limits::WORD_MAX,
    node::{How, Id, Node, Object},
    pickle::{Pickle, Ref},
};

/// A call that Python would make.
#[derive(Clone, Copy)]
pub(super) struct Call<'p> {
    pub(super) id: Id,
    pub(super) object: &'p Object,
    /// The class of the instance, or what is called.
    pub(super) class: Id,
    pub(super) name: Name<'p>,
    pub(super) args: &'p [Id],
}

impl<'p> Call<'p> {
    pub(super) fn arg(&self, index: usize) -> Option<Id> {
        self.args.get(index).copied()
    }
}

const PLACEHOLDER: Name<'static> =
    Name { module: "cideldill_client.custom_picklers", name: "UnpicklablePlaceholder" };

impl Pickle<'_> {
    /// What a call gives.
    pub(super) fn called<'p>(&'p self, id: Id, object: &'p Object) -> Value<'p> {
        if let Some(created) = self.created(object) {
            return self.class_value(created);
        }
        let class = object.callable;
        let name = self.name(class).unwrap_or(Name { module: "", name: "<call>" });
        let call = Call { id, object, class, name, args: self.tuple(object.args) };
        self.known(&call).unwrap_or_else(|| self.instance(&call))
    }

    fn known<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        match call.name.module {
            "builtins" => self.builtin(call),
            "_codecs" => Some(Value::Bytes(Bytes::Latin1(self.encoded(call.object)?))),
            "copyreg" => self.copied(call),
            "types" | "functools" | "collections" | "uuid" | "pathlib" | "re" | "ipaddress"
            | "zoneinfo" | "fractions" => self.stdlib(call),
            "datetime" => self.clock(call),
            "dill._dill" => self.dill(call),
            "cloudpickle.cloudpickle" => self.cloudpickle(call),
            "cideldill_client.custom_picklers" => self.auto_registered(call),
            module if module.starts_with("numpy") => self.numpy(call),
            module if module == "pandas" || module.starts_with("pandas.") => self.pandas(call),
            _ if call.name.name == PLACEHOLDER.name => {
                let [fields, _] = self.state_dicts(call.object.state?);
                Some(self.placeholder(fields))
            }
            _ => None,
        }
    }

    fn builtin<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        match (call.name.name, call.args) {
            ("set", []) => Some(set(&[])),
            ("set", [items]) => Some(set(self.list_items(*items)?)),
            ("frozenset", []) => Some(frozen_set(&[])),
            ("frozenset", [items]) => Some(frozen_set(self.list_items(*items)?)),
            ("list", [items]) => Some(list(self.list_items(*items)?)),
            ("bytes", []) => Some(Value::Bytes(Bytes::Plain(&[]))),
            ("bytearray", []) => Some(Value::Bytes(Bytes::Array(&[]))),
            ("bytearray", [bytes]) => Some(Value::Bytes(Bytes::Array(self.bytes(*bytes)?))),
            ("complex", [re, im]) => self.complex(*re, *im),
            ("range", [start, stop, step]) => {
                let (start, stop) = (self.int(*start)?, self.int(*stop)?);
                let text = match self.int(*step)? {
                    1 => format!("range({start}, {stop})"),
                    step => format!("range({start}, {stop}, {step})"),
                };
                Some(Value::Atom { class: Name::builtin("range"), text })
            }
            ("getattr", [owner, name, ..]) => self.attribute_of(*owner, *name),
            ("type", [none]) if *self.node(*none) == Node::None => Some(Value::Atom {
                class: Name::builtin("type"),
                text: "<class 'NoneType'>".to_owned(),
            }),
            _ => None,
        }
    }

    fn list_items(&self, id: Id) -> Option<&[Id]> {
        match self.node(id) {
            Node::List(items) => Some(items),
            node => node.tuple(),
        }
    }

    /// `bytes`, also as protocols 0 to 2 write them: by a call that encodes a text.
    pub(super) fn bytes_like(&self, id: Id) -> Option<Bytes<'_>> {
        match self.node(id) {
            Node::Object(object) if self.node(object.args).tuple() == Some(&[]) => {
                let is_bytes = self.name(object.callable)? == Name::builtin("bytes");
                is_bytes.then_some(Bytes::Plain(&[]))
            }
            Node::Object(object) => self.encoded(object).map(Bytes::Latin1),
            _ => self.bytes(id).map(Bytes::Plain),
        }
    }

    fn encoded<'p>(&'p self, object: &'p Object) -> Option<&'p str> {
        let Node::Global { module, name } = self.node(object.callable) else { return None };
        let [text, encoding] = self.tuple(object.args) else { return None };
        let is_encode = self.text(*module) == Some("_codecs") && self.text(*name) == Some("encode");
        let is_latin1 = matches!(self.text(*encoding)?, "latin1" | "latin-1" | "iso-8859-1");
        if is_encode && is_latin1 { self.text(*text) } else { None }
    }

    /// Instances as protocols 0 to 2 write them.
    fn copied<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        let (class, rest) = call.args.split_first()?;
        let name = self.name(*class)?;
        let call = Call { class: *class, name, ..*call };
        match (call.object.how, self.name(call.object.callable)?.name, rest) {
            (How::Reduce, "_reconstructor", [base, state]) => {
                let args = match self.name(*base)?.name {
                    "object" => &[],
                    "tuple" => self.tuple(*state),
                    _ => std::slice::from_ref(state),
                };
                self.known_or_instance(Call { args, ..call })
            }
            (How::Reduce, "__newobj__", args) => self.known_or_instance(Call { args, ..call }),
            (How::Reduce, "__newobj_ex__", [args, ..]) => {
                self.known_or_instance(Call { args: self.tuple(*args), ..call })
            }
            _ => None,
        }
    }

    fn known_or_instance<'p>(&'p self, call: Call<'p>) -> Option<Value<'p>> {
        // A class of `copyreg` itself would come back here for ever.
        let known = if call.name.module == "copyreg" { None } else { self.known(&call) };
        Some(known.unwrap_or_else(|| self.instance(&call)))
    }

    fn dill<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        match (call.name.name, call.args) {
            ("_load_type", [_]) => self.type_value(call.id),
            ("_eval_repr", [text]) => {
                let text = self.text(*text).filter(|text| text.len() <= WORD_MAX)?;
                let class = Name::builtin(text.split_once('(').map_or(text, |(name, _)| name));
                Some(Value::Atom { class, text: text.to_owned() })
            }
            ("_import_module", [name, ..]) => Some(module(self.word(*name)?)),
            ("_create_function", [..]) => self.function(call),
            ("_create_code", [..]) => self.code_value(call),
            ("_create_cell", args) => Some(self.cell(call, args)),
            ("_create_array", [_, _, state, ..]) => self.array(*state),
            ("_get_attr", [owner, name]) => self.attribute_of(*owner, *name),
            _ => None,
        }
    }

    fn cloudpickle<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        match (call.name.name, call.args) {
            ("_builtin_type", [_]) => self.type_value(call.id),
            ("subimport" | "dynamic_subimport", [name, ..]) => Some(module(self.word(*name)?)),
            ("_make_function", [..]) => self.function(call),
            ("_make_cell" | "_make_empty_cell", args) => Some(self.cell(call, args)),
            _ => None,
        }
    }

    /// Types that the cideldill client registers a pickler for when dill has none.
    fn auto_registered<'p>(&'p self, call: &Call<'p>) -> Option<Value<'p>> {
        let name = call.name.name;
        if name == "_reconstruct_placeholder" {
            return Some(self.placeholder(self.pairs(call.arg(0)?)));
        }
        if name == PLACEHOLDER.name {
            let [fields, _] = self.state_dicts(call.object.state?);
            return Some(self.placeholder(fields));
        }
        // Older clients send no key before the type.
        let args = match call.args {
            [key, rest @ ..] if self.word(*key).is_some() => rest,
            args => args,
        };
        let (class, states) = args.split_first()?;
        if !name.starts_with("_reconstruct_") {
            return None;
        }
        let name = self.name(*class)?;
        let instance = self.instance(&Call { class: *class, name, args: &[], ..*call });
        let Value::Group(mut group) = instance else { return None };
        let fields = states.iter().flat_map(|state| self.state_dicts(*state));
        group.segments.splice(0..0, fields.map(Segment::Fields));
        Some(Value::Group(group))
    }

    /// What stands for a value that the client could not pickle.
    fn placeholder<'p>(&'p self, fields: &'p [Id]) -> Value<'p> {
        let find = |name| self.lookup(fields, name);
        let text = |name| find(name).and_then(|id| self.word(id)).unwrap_or("?");
        let count = |name| find(name).map_or(0, |id| self.pairs(id).len() / 2);
        let name = find("object_name").and_then(|id| self.word(id));
        let open = format!(
            "<Unpicklable {}{}{}.{} attrs={} failed={} error=",
            name.unwrap_or_default(),
            if name.is_some() { " " } else { "" },
            text("module"),
            text("qualname"),
            count("attributes"),
            count("failed_attributes"),
        );
        let mut group = Group::new(Kind::Instance, PLACEHOLDER, open, ">");
        if let Some(error) = find("pickle_error") {
            let label = Label::Unlabelled("pickle_error".into());
            group = group.with(Segment::One(Part { label, value: Some(error.into()) }));
        }
        Value::Group(group.with(Segment::HiddenFields(fields)))
    }

    /// `getattr(owner, name)`: an enum's member, a method of an instance.
    fn attribute_of(&self, owner: Id, name: Id) -> Option<Value<'_>> {
        let name = self.word(name)?;
        if let Some(class) = self.name(owner) {
            let text = format!("{}.{name}", class.short());
            return Some(Value::Atom { class, text });
        }
        let class = self.made_by(owner);
        Some(method(format!("{}.{name}", class.short()), owner))
    }

    /// What a closure holds. One that holds the function itself is filled later.
    fn cell<'p>(&'p self, call: &Call<'p>, args: &[Id]) -> Value<'p> {
        let class = Name { module: "types", name: "CellType" };
        let filled = self.attribute(call.object, "cell_contents");
        let Some(inner) = filled.or(args.first().copied()) else {
            return Value::Atom { class, text: "<cell: empty>".to_owned() };
        };
        let group = Group::new(Kind::Instance, class, "<cell: ", ">");
        Value::Group(group.unlabelled("cell_contents", Ref::from(inner)))
    }

    fn type_value(&self, id: Id) -> Option<Value<'_>> {
        let text = format!("<class '{}'>", self.name(id)?);
        Some(Value::Atom { class: Name::builtin("type"), text })
    }
}

pub(super) fn method<'p>(name: String, owner: Id) -> Value<'p> {
    let class = Name { module: "types", name: "MethodType" };
    let open = format!("<bound method {name} of ");
    Value::Group(Group::new(Kind::Function, class, open, ">").unlabelled("__self__", owner.into()))
}

fn module(name: &str) -> Value<'_> {
    let class = Name { module: "types", name: "ModuleType" };
    Value::Atom { class, text: format!("<module '{name}'>") }
}
