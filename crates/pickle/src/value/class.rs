//! Names: of globals, of classes that travel inside the pickle, of what dill and cloudpickle call types.

use super::{Group, Kind, Name, Segment, Value};
use crate::{
    limits::HOPS_MAX,
    node::{How, Id, Node, Object},
    pickle::Pickle,
};

/// Builtin classes whose names are lower case; the others are exceptions.
const CLASSES: &[&str] = &[
    "bool",
    "bytearray",
    "bytes",
    "classmethod",
    "complex",
    "dict",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "int",
    "list",
    "map",
    "memoryview",
    "object",
    "property",
    "range",
    "reversed",
    "set",
    "slice",
    "staticmethod",
    "str",
    "super",
    "tuple",
    "type",
    "zip",
];

/// A class that is described in the pickle itself.
pub(super) struct Created<'p> {
    pub(super) name: Name<'p>,
    pub(super) bases: &'p [Id],
    /// Its attributes: name, value, name, value.
    pub(super) dict: &'p [Id],
    /// Names of a named tuple's fields.
    pub(super) fields: &'p [Id],
    /// Name and value of an enum's members.
    pub(super) members: &'p [Id],
}

impl Pickle<'_> {
    /// The name of a class or function, wherever it comes from.
    pub(super) fn name(&self, id: Id) -> Option<Name<'_>> {
        self.name_within(id, HOPS_MAX)
    }

    fn name_within(&self, id: Id, hops: usize) -> Option<Name<'_>> {
        let object = match self.node(id) {
            Node::Global { module, name } => {
                return Some(modern(self.word(*module)?, self.word(*name)?));
            }
            Node::Object(object) if object.how == How::Reduce => object,
            _ => return None,
        };
        let Node::Global { module, name } = self.node(object.callable) else { return None };
        let callee = modern(self.word(*module)?, self.word(*name)?);
        match (callee.module, callee.name, self.tuple(object.args)) {
            ("dill._dill", "_load_type", [name]) => Some(type_name(self.word(*name)?)),
            ("cloudpickle.cloudpickle", "_builtin_type", [name]) => {
                Some(type_name(self.word(*name)?))
            }
            ("dill._dill", "_import_module", [name, ..])
            | ("cloudpickle.cloudpickle", "subimport", [name]) => {
                Some(Name { module: "", name: self.word(*name)? })
            }
            ("builtins", "getattr", [owner, name, ..])
            | ("dill._dill", "_get_attr", [owner, name]) => {
                let owner = self.name_within(*owner, hops.checked_sub(1)?)?;
                let module = if owner.module.is_empty() { owner.name } else { owner.module };
                Some(Name { module, name: self.word(*name)? })
            }
            ("builtins", "type", [none]) if *self.node(*none) == Node::None => {
                Some(Name::builtin("NoneType"))
            }
            _ => self.created(object).map(|class| class.name),
        }
    }

    /// The class that this call would create.
    pub(super) fn created<'p>(&'p self, object: &'p Object) -> Option<Created<'p>> {
        let Node::Global { module, name } = self.node(object.callable) else { return None };
        let callee = modern(self.word(*module)?, self.word(*name)?);
        let none: &[Id] = &[];
        let (module, name, bases, dict, fields, members) =
            match (callee.module, callee.name, self.tuple(object.args)) {
                ("dill._dill", "_create_type", [_, name, bases, dict, ..])
                | ("builtins", "type", [name, bases, dict]) => {
                    let dict = self.pairs(*dict);
                    (self.lookup(dict, "__module__"), name, self.tuple(*bases), dict, none, none)
                }
                (
                    "cloudpickle.cloudpickle",
                    "_make_skeleton_class",
                    [_, name, bases, kwargs, ..],
                ) => {
                    let module = self.lookup(self.pairs(*kwargs), "__module__");
                    let state = object.state.map_or([none; 2], |state| self.state_dicts(state));
                    let [dict, _] = state;
                    (module, name, self.tuple(*bases), dict, none, none)
                }
                (
                    "cloudpickle.cloudpickle",
                    "_make_skeleton_enum",
                    [bases, name, _, members, module, ..],
                ) => {
                    let members = self.pairs(*members);
                    (Some(*module), name, self.tuple(*bases), none, none, members)
                }
                ("dill._dill", "_create_namedtuple", [name, fields, module, ..]) => {
                    (Some(*module), name, none, none, self.sequence(*fields), none)
                }
                _ => return None,
            };
        let qualified = self.attribute(object, "__qualname__").and_then(|id| self.word(id));
        let name = Name {
            module: module.and_then(|id| self.word(id)).unwrap_or_default(),
            name: qualified.or_else(|| self.word(*name))?,
        };
        let find = |wanted| self.lookup(dict, wanted).map_or(none, |id| self.pairs(id));
        let members = if members.is_empty() { find("_member_map_") } else { members };
        let fields = if fields.is_empty() {
            // Only named tuples have `_fields`; of other classes the arguments may be anything.
            self.lookup(dict, "_fields").map_or(none, |id| self.tuple(id))
        } else {
            fields
        };
        Some(Created { name, bases, dict, fields, members })
    }

    /// The class behind an id, if the pickle describes it.
    pub(super) fn created_at(&self, id: Id) -> Option<Created<'_>> {
        self.object(id).and_then(|object| self.created(object))
    }

    pub(super) fn is_exception(&self, class: Id) -> bool {
        let mut class = class;
        for _ in 0..HOPS_MAX {
            if self.name(class).is_some_and(|name| is_exception_name(&name)) {
                return true;
            }
            let base = self.created_at(class).and_then(|created| created.bases.first());
            let Some(base) = base else { return false };
            class = *base;
        }
        false
    }

    /// Whether instances are the values of their class's base: a named tuple, an `int` with a name.
    pub(super) fn is_enum(&self, created: &Created<'_>) -> bool {
        let is_enum = |name: Name<'_>| name.module == "enum";
        !created.members.is_empty()
            || created.bases.iter().any(|base| self.name(*base).is_some_and(is_enum))
    }

    pub(super) fn global(&self, id: Id) -> Value<'_> {
        let Some(name) = self.name(id) else { return Value::None };
        if name.module != "builtins" {
            return Value::Global(name);
        }
        let class =
            |class: &'static str, text: String| Value::Atom { class: Name::builtin(class), text };
        match name.name {
            "Ellipsis" => class("ellipsis", name.name.to_owned()),
            "NotImplemented" => class("NotImplementedType", name.name.to_owned()),
            text if is_class(text) => class("type", format!("<class '{text}'>")),
            text => class("builtin_function_or_method", format!("<built-in function {text}>")),
        }
    }

    /// A class that is described in the pickle, with its attributes to be entered.
    pub(super) fn class_value<'p>(&self, created: Created<'p>) -> Value<'p> {
        let open = format!("<class '{}'>", created.name);
        let group = Group::new(Kind::Class, Name::builtin("type"), open, "");
        Value::Group(group.with(Segment::HiddenFields(created.dict)))
    }
}

fn is_class(name: &str) -> bool {
    CLASSES.contains(&name) || name.starts_with(|first: char| first.is_ascii_uppercase())
}

fn is_exception_name(name: &Name<'_>) -> bool {
    let ends = |end: &str| name.name.ends_with(end);
    ends("Error")
        || ends("Exception")
        || ends("Warning")
        || name.module == "builtins"
            && matches!(
                name.name,
                "KeyboardInterrupt"
                    | "SystemExit"
                    | "GeneratorExit"
                    | "StopIteration"
                    | "StopAsyncIteration"
                    | "BaseExceptionGroup"
                    | "ExceptionGroup"
            )
}

/// Names as Python 3 and newer versions of the packages have them.
fn modern<'p>(module: &'p str, name: &'p str) -> Name<'p> {
    let name = match (module, name) {
        ("__builtin__", "xrange") => "range",
        ("__builtin__", "unicode") => "str",
        ("__builtin__", "long") => "int",
        _ => name,
    };
    let module = match module {
        "__builtin__" | "exceptions" => "builtins",
        "copy_reg" => "copyreg",
        "dill.dill" | "dill" => "dill._dill",
        "cloudpickle" | "cloudpickle.cloudpickle_fast" => "cloudpickle.cloudpickle",
        "pathlib._local" => "pathlib",
        "_functools" => "functools",
        "numpy.core.multiarray" => "numpy._core.multiarray",
        "numpy.core.numeric" => "numpy._core.numeric",
        _ => module,
    };
    Name { module, name }
}

/// A type as dill and cloudpickle call it.
fn type_name(name: &str) -> Name<'_> {
    match name {
        "PartialType" => Name { module: "functools", name: "partial" },
        "NoneType" => Name::builtin(name),
        _ if name.ends_with("Type") || matches!(name, "SimpleNamespace" | "GenericAlias") => {
            Name { module: "types", name }
        }
        _ => Name::builtin(name),
    }
}
