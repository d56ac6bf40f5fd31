"""What stands for a value that cannot be pickled: a description of it, as plain data.

Making one runs the app's own `repr` and looks at attributes, so it happens in the thread of the call
and under no lock. Properties are not touched.
"""

from __future__ import annotations

import reprlib

from . import _limits as limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

_SCALARS = (int, float, bool, str, bytes, type(None))


class UnpicklablePlaceholder:
    """The server knows this class by its name and shows the description."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        fields = self.__dict__
        return "<Unpicklable %s.%s error=%s>" % (
            fields.get("module"),
            fields.get("qualname"),
            fields.get("pickle_error"),
        )


def describe(value: Any, error: str, attempts: Sequence[str] = ()) -> Any:
    """The fields of a placeholder for this value."""
    kind = type(value)
    text = short_repr(value)
    attributes, failed = _attributes(value, 1, {id(value)})
    return {
        "type_name": kind.__name__,
        "module": getattr(kind, "__module__", None) or "?",
        "qualname": kind.__qualname__,
        "object_name": _text(value, "__name__"),
        "object_path": _path(value),
        "object_id": hex(id(value)),
        "repr_text": text,
        "str_text": None,
        "attributes": attributes,
        "failed_attributes": failed,
        "pickle_error": _cut(error, limits.DESCRIBED_CHARS),
        "pickle_attempts": list(attempts),
        "depth": 0,
    }


def reduced(value: Any, error: str, attempts: Sequence[str] = ()) -> Any:
    """What a pickler writes instead of the value."""
    return (UnpicklablePlaceholder, (), describe(value, error, attempts))


_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = limits.DESCRIBED_CHARS
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = _repr.maxfrozenset = 20


def short_repr(value: Any) -> str:
    """Never fails, and does not walk through a container of a million items."""
    try:
        return _cut(_repr.repr(value), limits.DESCRIBED_CHARS)
    except Exception as error:
        return "<%s: repr failed: %s>" % (type(value).__qualname__, type(error).__name__)


def _attributes(value: Any, depth: int, seen: Any) -> Any:
    attributes, failed = {}, {}
    for index, (name, member) in enumerate(_members(value)):
        if index >= limits.DESCRIBED_ATTRIBUTES:
            failed["__skipped__"] = "more than %d attributes" % limits.DESCRIBED_ATTRIBUTES
            break
        try:
            attributes[name] = _plain(member, depth, seen)
        except Exception as error:
            failed[name] = "%s: %s" % (type(error).__name__, error)
    return attributes, failed


def _members(value: Any) -> Any:
    """Names and values of what belongs to the object itself."""
    try:
        if isinstance(value, dict):
            return [(_cut(short_repr(key), 80), item) for key, item in _first(value.items())]
        if isinstance(value, (list, tuple, set, frozenset)):
            return [("[%d]" % index, item) for index, item in enumerate(_first(value))]
    except Exception:
        return []
    members = {}
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        members.update(_first(own.items()))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            descriptor: Any = kind.__dict__.get(name)
            if type(descriptor).__name__ == "member_descriptor":
                try:
                    members[name] = descriptor.__get__(value)
                except AttributeError:
                    pass  # A slot that was never set.
    return [(name, member) for name, member in members.items() if not (name[:2] == "__" == name[-2:])]


def _first(items: Any) -> Any:
    """One more than is shown, so that a cut is noticed; a large container is not copied."""
    found = []
    for item in items:
        found.append(item)
        if len(found) > limits.DESCRIBED_ATTRIBUTES:
            break
    return found


def _plain(value: Any, depth: int, seen: Any) -> Any:
    kind = type(value)
    if kind in (str, bytes):
        return _cut(value, limits.DESCRIBED_CHARS)
    if kind in _SCALARS:
        return value
    if kind in (list, tuple, set, frozenset, dict) and depth < limits.DESCRIBED_DEPTH:
        if id(value) in seen:
            return "<circular reference>"
        inner = seen | {id(value)}
        if kind is dict:
            return {
                key if type(key) is str else short_repr(key): _plain(item, depth + 1, inner)
                for key, item in _first(value.items())
            }
        return [_plain(item, depth + 1, inner) for item in _first(value)]
    return short_repr(value)


def _text(value: Any, name: str) -> str | None:
    # Looked up where a user's `__getattr__` has no say.
    try:
        found = object.__getattribute__(value, name)
    except Exception:
        return None
    return found if type(found) is str else None


def _path(value: Any) -> Any:
    module, name = _text(value, "__module__"), _text(value, "__qualname__")
    return "%s.%s" % (module, name) if module and name else None


def _cut(text: str, most: Any) -> str:
    return text if len(text) <= most else text[:most]
