"""Stands in for an object: its methods are recorded, everything else is the object's own.

A proxy has a class of its own for each type, with exactly the special methods of that type, so that
`len`, `in`, `with`, iteration and arithmetic work where they worked before. `repr`, `str`, `==` and
`hash` go straight to the object: they run in the middle of anything.
"""

from __future__ import annotations

import inspect
import time
import types
import weakref

from ._names import owner_name
from ._runtime import local, runtime
from ._wrap import call_coroutine, call_plain, _frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from types import FrameType
    from ._points import Point

# Recorded as calls.
_RECORDED = (
    "__call__ __iter__ __len__ __getitem__ __setitem__ __delitem__ __contains__ __enter__ __exit__ __bool__ "
    "__add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __pow__ "
    "__radd__ __rsub__ __rmul__ __rtruediv__ __rfloordiv__ __rmod__ __rpow__ __neg__ __pos__"
).split()
# Handed on without a word.
_HANDED_ON = (
    "__str__ __repr__ __format__ __bytes__ __hash__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __dir__ "
    "__int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__ __ceil__ __abs__ __invert__ "
    "__next__ __reversed__ __length_hint__ __missing__ __fspath__ __await__ __aiter__ __anext__ __aenter__ __aexit__ "
    "__matmul__ __rmatmul__ __and__ __or__ __xor__ __lshift__ __rshift__ __rand__ __ror__ __rxor__ __rlshift__ "
    "__rrshift__ __divmod__ __rdivmod__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ "
    "__imatmul__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__ __copy__ __deepcopy__ "
    "__instancecheck__ __subclasscheck__ __subclasshook__"
).split()
_METHODS = (types.MethodType, types.FunctionType, types.BuiltinMethodType)
# Methods that the server is told of when an object is wrapped; the others when they are first used.
_TOLD_AT_ONCE = 200

_get = object.__getattribute__


class Proxy:
    """The common part. Its few own names begin with `_hp_`, where no object has any."""

    __slots__ = ("_hp_target", "_hp_name", "_hp_methods", "__weakref__")

    def __getattribute__(self, name: str) -> Any:
        if name[:4] == "_hp_" or name == "__mro_entries__":
            return _get(self, name)
        target = _get(self, "_hp_target")
        if name in _REDUCERS:
            # A proxy inside an argument is pickled as the object itself.
            return getattr(target, name)
        try:
            value = getattr(target, name)
        except AttributeError as error:
            _missing(self, name, error)
            raise
        if name[:2] == "__" or type(value) not in _METHODS:
            return value
        return _method(self, target, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_get(self, "_hp_target"), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_get(self, "_hp_target"), name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _get(self, "_hp_target").__reduce_ex__(protocol)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(_get(self, "_hp_target"))


_REDUCERS = ("__reduce__", "__reduce_ex__", "__getstate__")


def make(target: Any, alias: str | None = None) -> Any:
    kind = _class_for(type(target))
    proxy = object.__new__(kind)
    object.__setattr__(proxy, "_hp_target", target)
    object.__setattr__(proxy, "_hp_name", alias or owner_name(target))
    object.__setattr__(proxy, "_hp_methods", {})
    _tell_methods(proxy, target, alias)
    return proxy


def is_proxy(value: Any) -> bool:
    return issubclass(type(value), Proxy)


def target_of(proxy: Any) -> Any:
    return _get(proxy, "_hp_target")


def _method(proxy: Any, target: Any, name: str, value: Any) -> Any:
    """The recorded form of a method, made once for each function behind it."""
    methods = _get(proxy, "_hp_methods")
    function = getattr(value, "__func__", value)
    known = methods.get(name)
    if known is not None and known[0] is function:
        return known[1]
    point = runtime.point("%s.%s" % (_get(proxy, "_hp_name"), name), value, "method")
    holdpoint_method: Any
    if inspect.iscoroutinefunction(value):

        async def holdpoint_method(*args, **kwargs):  # type: ignore[no-untyped-def]
            if not point.on or local.busy:
                return await value(*args, **kwargs)
            return _same(proxy, target, await call_coroutine(point, value, args, kwargs, _frame(1), target))

    else:

        def holdpoint_method(*args, **kwargs):  # type: ignore[no-untyped-def]
            if not point.on or local.busy:
                return value(*args, **kwargs)
            return _same(proxy, target, call_plain(point, value, args, kwargs, _frame(1), target))

    try:
        holdpoint_method.__name__, holdpoint_method.__qualname__ = value.__name__, value.__qualname__
        holdpoint_method.__doc__, holdpoint_method.__wrapped__ = value.__doc__, value
    except (AttributeError, TypeError):
        pass
    methods[name] = (function, holdpoint_method)
    return holdpoint_method


def _same(proxy: Any, target: Any, result: Any) -> Any:
    """`return self` stays wrapped."""
    return proxy if result is target else result


def _missing(proxy: Any, name: str, error: BaseException) -> None:
    """An attribute that the app asked for and that is not there. Probes for private names say nothing."""
    if local.busy or name[:1] == "_" or not runtime.recording or not runtime.on:
        return
    runtime.ship.post(
        "/api/call/event",
        {
            "process_pid": runtime.pid,
            "process_start_time": runtime.start_time,
            "method_name": "__getattr__('%s')" % name,
            "status": "exception",
            "timestamp": time.time(),
            "exception": {
                "type": "AttributeError",
                "message": str(error)[:300],
                "target_type": _get(proxy, "_hp_name"),
                "requested_attribute": name,
            },
        },
    )


def _tell_methods(proxy: Any, target: Any, alias: str | None) -> None:
    prefix = _get(proxy, "_hp_name")
    if callable(target):
        name = prefix if isinstance(target, type) else "%s.__call__" % prefix
        runtime.point(alias or name, target, type(target).__name__, alias)
    told = 0
    for name in dir(target if isinstance(target, (type, types.ModuleType)) else type(target)):
        if name[:1] == "_" or told >= _TOLD_AT_ONCE:
            continue
        found = inspect.getattr_static(target, name, None)
        found = getattr(found, "__func__", found)
        if isinstance(found, _METHODS):
            runtime.point("%s.%s" % (prefix, name), found, "method", alias)
            told += 1


# --- The class of a proxy.

_classes: weakref.WeakKeyDictionary[type, Any] = weakref.WeakKeyDictionary()


def _class_for(kind: Any) -> Any:
    found = _classes.get(kind)
    if found is None:
        members: dict[str, Any] = {"__slots__": ()}
        for name in _RECORDED:
            if hasattr(kind, name):
                members[name] = _recorded(name)
        for name in _HANDED_ON:
            if getattr(kind, name, None) is not getattr(object, name, None) or name in (
                "__str__",
                "__repr__",
                "__eq__",
            ):
                members[name] = _handed_on(name)
        members.setdefault("__hash__", _handed_on("__hash__"))
        if getattr(kind, "__hash__", None) is None:
            members["__hash__"] = None
        if issubclass(kind, type):
            members["__mro_entries__"] = lambda self, bases: (_get(self, "_hp_target"),)
        found = _classes[kind] = type("Proxy", (Proxy,), members)
    return found


def _recorded(name: str) -> Any:
    def special(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        target = _get(self, "_hp_target")
        function = getattr(type(target), name)
        prefix = _get(self, "_hp_name")
        if name == "__call__":
            # A class is called by its own name.
            full = prefix if isinstance(target, type) else "%s.__call__" % prefix
            point = runtime.points.get(prefix) or runtime.point(full, target, type(target).__name__)
            return _called(self, point, target, args, kwargs, _frame(1))
        point = runtime.points.get("%s.%s" % (prefix, name)) or runtime.point(
            "%s.%s" % (prefix, name), function, "method"
        )
        bound = types.MethodType(function, target)
        if not point.on or local.busy:
            return _same(self, target, bound(*args, **kwargs))
        return _same(self, target, call_plain(point, bound, args, kwargs, _frame(1), target))

    special.__name__ = name
    return special


def _called(
    proxy: Any, point: Point, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None
) -> Any:
    if not point.on or local.busy:
        return target(*args, **kwargs)
    if inspect.iscoroutinefunction(getattr(type(target), "__call__", None)):
        return call_coroutine(point, target, args, kwargs, frame)
    return call_plain(point, target, args, kwargs, frame)


def _handed_on(name: str) -> Any:
    def special(self, *args):  # type: ignore[no-untyped-def]
        target = _get(self, "_hp_target")
        args = tuple([target_of(value) if is_proxy(value) else value for value in args])
        if name in ("__dir__", "__format__", "__reduce__") or not hasattr(type(target), name):
            return getattr(target, name)(*args)
        return _same(self, target, getattr(type(target), name)(target, *args))

    special.__name__ = name
    return special
