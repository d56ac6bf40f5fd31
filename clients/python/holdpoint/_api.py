"""The public functions: `with_debug`, `debug`, `debug_call`, `async_debug_call`, `configure_debug`, `flush`."""

from __future__ import annotations

import functools
import inspect
import types
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Literal, TypeVar, overload

from . import _proxy
from ._names import name_of, owner_name
from ._runtime import local, runtime
from ._settings import MODES, environment_mode, url_of_environment
from ._wrap import _frame, call_coroutine, call_plain, wrap

_FUNCTIONS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    functools.partial,
)
# There is nothing to intercept in these.
_BARE = (str, bytes, int, float, complex, bool, type(None))
_UNSET = object()

_T = TypeVar("_T")
_R = TypeVar("_R")
_Mode = Literal["ON", "OFF", "VERBOSE", "on", "off", "verbose"]
if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    _P = ParamSpec("_P")


@overload
def with_debug() -> None: ...
@overload
def with_debug(target: _Mode) -> None: ...
@overload
def with_debug(target: tuple[str, _T]) -> _T: ...
@overload
def with_debug(target: _T) -> _T: ...
def with_debug(target: Any = _UNSET) -> Any:
    """Turns debugging on or off, or wraps something.

    `with_debug("ON")`, `"OFF"`, `"VERBOSE"`: the mode, for the whole process; `with_debug()` takes it
    from `$HOLDPOINT` or `$CIDELDILL`. Without a server the app goes on.
    `with_debug(f)`, `with_debug(obj)`, `with_debug(("alias", f))`: something to call instead, whose calls
    are recorded. When the mode is OFF, what comes back is what was given.
    """
    if target is _UNSET:
        mode, url = environment_mode()
        if url:
            runtime.configured = url_of_environment(url, "$HOLDPOINT or $CIDELDILL")
        return runtime.switch(mode)
    if isinstance(target, str) and target.upper() in MODES:
        return runtime.switch(target.upper())
    if runtime.mode is None:
        raise ValueError('call with_debug("ON"), with_debug("OFF") or with_debug("VERBOSE") first')
    alias = None
    if isinstance(target, tuple) and len(target) == 2 and isinstance(target[0], str):
        alias, target = target
    if not runtime.on:
        return target
    return wrapped(target, alias)


def wrapped(target: Any, alias: str | None = None) -> Any:
    if isinstance(target, _BARE) or _proxy.is_proxy(target):
        return target
    if isinstance(target, _FUNCTIONS):
        if alias is None and hasattr(target, "__holdpoint__"):
            return target
        point = runtime.point(alias or name_of(target), target, "function", alias)
        return _marked(wrap(point, target), point)
    return _proxy.make(target, alias)


@overload
def debug(target: str | None = None, *, name: str | None = None) -> Callable[[_T], _T]: ...
@overload
def debug(target: _T, *, name: str | None = None) -> _T: ...
def debug(target: Any = None, *, name: str | None = None) -> Any:
    """A decorator for a function, a method or a class: `@debug`, `@debug("name")`, `@debug(name="name")`.

    It may stand before the mode is set; calls are recorded from then on.
    """
    if target is None or isinstance(target, str):
        return functools.partial(debug, name=target or name)
    if isinstance(target, type):
        return _wrap_methods(target, name)
    point = runtime.point(name or name_of(target), target, "function", name)
    return _marked(wrap(point, target), point)


@overload
def debug_call(function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
@overload
def debug_call(alias: str, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
def debug_call(*call: Any, **kwargs: Any) -> Any:
    """Calls a function once, recorded: `debug_call(f, 1, x=2)` or `debug_call("alias", f, 1, x=2)`."""
    alias, function, args = _split(call, "debug_call")
    if not runtime.on:
        return function(*args, **kwargs)
    point = runtime.point(alias or name_of(function), function, "inline", alias)
    if not point.on or local.busy:
        return function(*args, **kwargs)
    return call_plain(point, function, args, kwargs, _frame(1))


@overload
async def async_debug_call(function: Callable[_P, Awaitable[_R]], /, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
@overload
async def async_debug_call(function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
@overload
async def async_debug_call(
    alias: str, function: Callable[_P, Awaitable[_R]], /, *args: _P.args, **kwargs: _P.kwargs
) -> _R: ...
@overload
async def async_debug_call(alias: str, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
async def async_debug_call(*call: Any, **kwargs: Any) -> Any:
    """The same for `await`. The function may be a plain one too; the event loop is never blocked."""
    alias, function, args = _split(call, "async_debug_call")

    @functools.wraps(function, assigned=("__name__", "__qualname__", "__module__"), updated=())
    async def run(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    if not runtime.on:
        return await run(*args, **kwargs)
    point = runtime.point(alias or name_of(function), function, "inline", alias)
    if not point.on or local.busy:
        return await run(*args, **kwargs)
    return await call_coroutine(point, run, args, kwargs, _frame(1))


# Options of the cideldill client that mean nothing here: no lock is held that a watchdog could find, and a pause is
# shown by the server.
_WITHOUT_MEANING = (
    "deadlock_watchdog_timeout_s",
    "deadlock_watchdog_log_interval_s",
    "suspended_breakpoint_log_interval_s",
)


def configure_debug(server_url: str | None = None, token: str | None = None, **options: object) -> None:
    """Where the server is, if it is not to be found by its port file; and its token, if it has one."""
    for name in options:
        if name not in _WITHOUT_MEANING:
            raise TypeError("configure_debug() has no option %r" % name)
    runtime.configure(server_url, token)


def flush(timeout: float = 3.0) -> bool:
    """Waits until every record is with the server; False when that did not succeed in time."""
    return runtime.flush(timeout)


def _split(call: tuple[Any, ...], what: str) -> tuple[str | None, Any, tuple[Any, ...]]:
    alias = None
    if call and isinstance(call[0], str):
        alias, call = call[0], call[1:]
    if not call or not callable(call[0]):
        raise TypeError("%s takes a function: %s([alias,] function, *args, **kwargs)" % (what, what))
    function = call[0]
    # Wrapped and called inline would be recorded twice.
    function = getattr(function, "__wrapped__", function) if hasattr(function, "__holdpoint__") else function
    return alias, function, call[1:]


def _marked(wrapper: Any, point: Any) -> Any:
    try:
        wrapper.__holdpoint__ = point.name
    except (AttributeError, TypeError):
        pass
    return wrapper


def _wrap_methods(kind: type, name: str | None) -> type:
    """The class itself, with its own methods wrapped."""
    prefix = name or owner_name(kind)
    for key, member in list(vars(kind).items()):
        if key[:2] == "__" and key not in ("__call__", "__init__"):
            continue
        inner = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
        if isinstance(inner, types.FunctionType):
            point = runtime.point("%s.%s" % (prefix, key), inner, "method", name)
            outer = _marked(wrap(point, inner), point)
            setattr(kind, key, outer if inner is member else type(member)(outer))
    return kind
