"""Wrappers of functions: what stands between the app and its own function.

Each wrapper is of the same sort as what it wraps (plain, coroutine, generator, asynchronous generator), because
frameworks look. On the fast path it captures, runs, records and never waits; only where a callpoint
may pause the call does it ask. Whatever fails in our own part, the app's function runs and its
result or exception is what the app sees.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
import time
import types

from . import _limits as limits
from . import _say as say
from ._call import Call, abandon, after, before, error_texts, late
from ._drive import drive, drive_async
from ._runtime import local, runtime, task_of, thread_of
from ._stack import take
from ._values import capture, capture_name, weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generator
    from types import FrameType
    from ._points import Point

_now = time.time
_frame = sys._getframe


def wrap(point: Point, function: Any) -> Any:
    """The wrapper for a function of any sort."""
    if inspect.iscoroutinefunction(function):
        maker = _coroutine
    elif inspect.isasyncgenfunction(function):
        maker = _async_generator
    elif inspect.isgeneratorfunction(function):
        maker = _generator
    else:
        maker = _plain
    wrapper = _at_home(maker(point, function), function)
    try:
        return functools.update_wrapper(wrapper, function)
    except Exception:
        return wrapper  # A callable whose attributes cannot be read.


def _at_home(wrapper: Any, function: Any) -> Any:
    """The wrapper with the globals of the function: frameworks look names of annotations up there.

    So a wrapper's own body may use builtins and what its maker holds, and nothing else.
    """
    space = getattr(function, "__globals__", None)
    if type(space) is not dict:
        return wrapper
    return types.FunctionType(wrapper.__code__, space, wrapper.__name__, None, wrapper.__closure__)


def _plain(point: Point, function: Any) -> Any:
    thread, may_ask, ask, frame_of = local, runtime.may_ask, _ask_plain, _frame
    begin, done, failed = _begin, _done, _failed

    # The same as `call_plain`, written out: each function between the app and its own is a level of its stack.
    def holdpoint_wrapper(*args, **kwargs):  # type: ignore[no-untyped-def]
        if not point.on or thread.busy:
            return function(*args, **kwargs)
        frame = frame_of(1)
        if point.asks and may_ask():
            return ask(point, function, args, kwargs, frame, None)
        begun = begin(point, args, kwargs, frame, None)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            failed(point, function, args, kwargs, frame, None, begun, error)
            raise
        if begun is not None:
            done(point, begun, result)
        return result

    return holdpoint_wrapper


def call_plain(
    point: Point,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType | None,
    owner: Any = None,
) -> Any:
    """One recorded call. `owner` is the object whose method this is, where that is wrapped."""
    if point.asks and runtime.may_ask():
        return _ask_plain(point, function, args, kwargs, frame, owner)
    begun = _begin(point, args, kwargs, frame, owner)
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        _failed(point, function, args, kwargs, frame, owner, begun, error)
        raise
    if begun is not None:
        _done(point, begun, result)
    return result


def _begin(point: Point, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None, owner: Any) -> Any:
    """What must be taken before the function runs: it may change its arguments."""
    local.busy = True
    try:
        if not runtime.ship.has_room():
            return None
        started, spent = _now(), weight.seconds
        taken = capture_name if point.heavy and runtime.overspent() else capture
        begun = (
            started,
            tuple([taken(value) for value in args]) if args else (),
            {name: taken(value) for name, value in kwargs.items()} if kwargs else None,
            None if owner is None else taken(owner),
            take(frame, limits.FRAMES_RECORDED),
        )
        if taken is capture:
            point.heavy = weight.seconds != spent
        return begun
    except Exception:
        return None
    finally:
        local.busy = False


def _captured(point: Point, value: Any) -> Any:
    """A result or an exception, under the same account."""
    if point.heavy and runtime.overspent():
        return capture_name(value)
    spent = weight.seconds
    taken = capture(value)
    if weight.seconds != spent:
        point.heavy = True
    return taken


def _done(point: Point, begun: Any, result: Any) -> None:
    completed = _now()
    local.busy = True
    try:
        started, args, kwargs, target, stack = begun
        thread = local.thread or thread_of()
        task = task_of()
        result = _captured(point, result)
        runtime.ship.put((point, target, args, kwargs, result, None, started, completed, thread, task, stack))
    except Exception:
        pass  # A record is lost; the app has its result.
    finally:
        local.busy = False


def _failed(
    point: Point,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType | None,
    owner: Any,
    begun: Any,
    error: BaseException,
) -> None:
    """The function raised: recorded, or paused where a callpoint traps exceptions."""
    completed = _now()
    if point.traps and isinstance(error, Exception) and runtime.may_ask():
        call = _call(point, function, args, kwargs, frame, owner, begun=begun)
        if call is not None:
            try:
                call.error, call.ended = error, True
                drive(late(call))
            finally:
                call.end()
            return
    if begun is not None:
        _record_failure(point, begun, completed, error)


def _record_failure(point: Point, begun: Any, completed: Any, error: BaseException) -> None:
    local.busy = True
    try:
        started, args, kwargs, target, stack = begun
        texts = error_texts(error)
        thread = local.thread or thread_of()
        task = task_of()
        value = _captured(point, error)
        runtime.ship.put((point, target, args, kwargs, value, texts, started, completed, thread, task, stack))
    except Exception:
        pass
    finally:
        local.busy = False


def _call(
    point: Point,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType | None,
    owner: Any,
    begun: Any = None,
) -> Any:
    """A call that asks; None when it could not be captured, and then it simply runs."""
    local.busy = True
    try:
        call = Call(point, function, args, kwargs, frame, owner, begun)
        call.stack_short = take(frame, limits.FRAMES_RECORDED)
        return call
    except Exception:
        return None
    finally:
        local.busy = False


def _ask_plain(
    point: Point, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None, owner: Any
) -> Any:
    call = _call(point, function, args, kwargs, frame, owner)
    if call is None:
        return function(*args, **kwargs)
    try:
        try:
            plan = drive(before(call))
        except BaseException as error:
            abandon(call, error)
            raise
        try:
            if plan.error is not None:
                raise plan.error
            call.result = plan.value if plan.given else plan.function(*plan.args, **plan.kwargs)
        except BaseException as error:
            call.error = error
            _finish(call)
            raise
        _finish(call)
        return call.result
    finally:
        call.end()


def _finish(call: Call) -> None:
    call.ended = True
    if call.call_id is None:
        _record_unasked(call)
    else:
        drive(after(call))


def _record_unasked(call: Call) -> None:
    """The server did not answer at the start; the call is recorded like any other."""
    begun = (call.started, call.captured, call.captured_kwargs, call.target, call.stack_short)
    if call.error is None:
        _done(call.point, begun, call.result)
    else:
        _record_failure(call.point, begun, _now(), call.error)


# --- Coroutines.


def _coroutine(point: Point, function: Any) -> Any:
    thread, call, frame_of = local, call_coroutine, _frame

    async def holdpoint_wrapper(*args, **kwargs):  # type: ignore[no-untyped-def]
        if not point.on or thread.busy:
            return await function(*args, **kwargs)
        return await call(point, function, args, kwargs, frame_of(1))

    return holdpoint_wrapper


async def call_coroutine(
    point: Point,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType | None,
    owner: Any = None,
) -> Any:
    if point.asks and runtime.may_ask() and _in_asyncio():
        return await _ask_coroutine(point, function, args, kwargs, frame, owner)
    begun = _begin(point, args, kwargs, frame, owner)
    try:
        result = await function(*args, **kwargs)
    except BaseException as error:
        await _failed_async(point, function, args, kwargs, frame, owner, begun, error)
        raise
    if begun is not None:
        _done(point, begun, result)
    return result


async def _failed_async(
    point: Point,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType | None,
    owner: Any,
    begun: Any,
    error: BaseException,
) -> None:
    completed = _now()
    if point.traps and isinstance(error, Exception) and runtime.may_ask() and _in_asyncio():
        call = _call(point, function, args, kwargs, frame, owner, begun=begun)
        if call is not None:
            try:
                call.error, call.ended = error, True
                await drive_async(late(call))
            finally:
                call.end()
            return
    if begun is not None:
        _record_failure(point, begun, completed, error)


async def _ask_coroutine(
    point: Point, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None, owner: Any
) -> Any:
    call = _call(point, function, args, kwargs, frame, owner)
    if call is None:
        return await function(*args, **kwargs)
    try:
        try:
            plan = await drive_async(before(call))
        except BaseException as error:
            abandon(call, error)
            raise
        try:
            if plan.error is not None:
                raise plan.error
            if plan.given:
                call.result = plan.value
            else:
                result = plan.function(*plan.args, **plan.kwargs)
                # A replacement need not be a coroutine function.
                call.result = await result if inspect.isawaitable(result) else result
        except BaseException as error:
            call.error = error
            await _finish_async(call)
            raise
        await _finish_async(call)
        return call.result
    finally:
        call.end()


async def _finish_async(call: Call) -> None:
    call.ended = True
    if call.call_id is None:
        _record_unasked(call)
    elif call.error is not None and not isinstance(call.error, Exception):
        # A cancelled task must not await anything more.
        abandon(call, call.error)
    else:
        await drive_async(after(call))


def _in_asyncio() -> bool:
    """Only asyncio's loops can wait for us; under another library calls are recorded and never paused."""
    if asyncio._get_running_loop() is not None:
        return True
    say.once("no asyncio", "a callpoint is set on a coroutine that asyncio does not run; it is recorded, not paused")
    return False


# --- Generators: the call lasts from the first item to the end.


def _generator(point: Point, function: Any) -> Any:
    thread, call, frame_of = local, _call_generator, _frame

    def holdpoint_wrapper(*args, **kwargs):  # type: ignore[no-untyped-def]
        if not point.on or thread.busy:
            return (yield from function(*args, **kwargs))
        return (yield from call(point, function, args, kwargs, frame_of(1)))

    return holdpoint_wrapper


def _call_generator(
    point: Point, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None
) -> Generator[Any, Any, Any]:
    if point.asks and runtime.may_ask():
        # What is paused is the making of the generator: its items are the app's own affair.
        return (yield from _ask_plain(point, function, args, kwargs, frame, None))
    begun = _begin(point, args, kwargs, frame, None)
    try:
        result = yield from function(*args, **kwargs)
    except GeneratorExit:
        # Nobody wanted the rest: an end like any other.
        if begun is not None:
            _done(point, begun, None)
        raise
    except BaseException as error:
        _failed(point, function, args, kwargs, frame, None, begun, error)
        raise
    if begun is not None:
        _done(point, begun, result)
    return result


def _async_generator(point: Point, function: Any) -> Any:
    begin, done, failed = _begin_if_on, _done, _record_failure
    frame_of, now = _frame, _now

    async def holdpoint_wrapper(*args, **kwargs):  # type: ignore[no-untyped-def]
        begun = begin(point, args, kwargs, frame_of(1))
        inner = function(*args, **kwargs)
        try:
            item = await inner.__anext__()
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:
                    item = await inner.athrow(error)
                else:
                    item = await inner.asend(sent)
        except StopAsyncIteration:
            if begun is not None:
                done(point, begun, None)
        except GeneratorExit:
            if begun is not None:
                done(point, begun, None)
            raise
        except BaseException as error:
            if begun is not None:
                failed(point, begun, now(), error)
            raise

    return holdpoint_wrapper


def _begin_if_on(point: Point, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType | None) -> Any:
    return _begin(point, args, kwargs, frame, None) if point.on and not local.busy else None
