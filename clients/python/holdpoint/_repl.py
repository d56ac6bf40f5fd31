"""Evaluates what somebody asks at a paused call, with the names that the app's own code has there.

Names are looked up in this order: what the session assigned, the call's parameters, what the function closes over,
the locals of the frame that made the call, the function's globals, that frame's globals.
`args`, `kwargs`, `frame` and, after the call, `result` or `exception` are there too, unless the app has such a name.

Each evaluation runs in a thread of its own, in the context of the paused call, so that the pause
still notices a decision; an expression with `await` runs in the paused task's loop.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import code as codeop
import contextvars
import inspect
import io
import json
import queue
import sys
import threading
import types

from . import _limits as limits
from ._call import _plain_function
from ._runtime import runtime, start_thread
from ._values import base64_of, cid_of, to_pickle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from ._call import Call


def start(call: Call, request: dict[str, Any], loop: Any = None, strange: bool = False) -> None:
    """Begins an evaluation and returns at once. Its result is posted when it is there."""
    job = _Job(call, request, loop)
    if strange:
        start_thread(lambda: job.post(error="PermissionError: this app evaluates nothing for another user's server"))
        return
    call.evals += 1
    try:
        start_thread(job.run)
    except RuntimeError as error:
        call.evals -= 1
        job.post(error="RuntimeError: %s" % error)


class _Job:
    def __init__(self, call: Call, request: dict[str, Any], loop: Any) -> None:
        self.call = call
        self.request = request
        self.loop = loop
        self.context = contextvars.copy_context()
        self.session = str(request.get("session_id"))
        self.output = io.StringIO()

    def run(self) -> None:
        """Waits for the evaluation in another thread, so that one that never ends is still answered."""
        try:
            done: queue.SimpleQueue[Any] = queue.SimpleQueue()
            start_thread(lambda: self._evaluate(done))
            try:
                outcome = done.get(timeout=limits.EVAL_S)
            except queue.Empty:
                outcome = {"error": "TimeoutError: evaluation timed out"}
            self.post(**outcome)
        finally:
            self.call.evals -= 1

    def post(self, **outcome: Any) -> None:
        body = {
            "eval_id": self.request.get("eval_id"),
            "session_id": self.request.get("session_id"),
            "pause_id": self.request.get("pause_id"),
            "stdout": self.output.getvalue()[: limits.EVAL_CHARS],
        }
        body.update(outcome)
        # Whatever the server answers: who asked has an answer or has given up.
        runtime.ask("POST", "/api/call/repl-result", json.dumps(body).encode())

    def _evaluate(self, done: Any) -> None:
        try:
            done.put(self.context.run(self._evaluate_here))
        except BaseException as error:
            done.put({"error": _error_text(error)})

    def _evaluate_here(self) -> Any:
        source = str(self.request.get("expr") or "")
        try:
            if codeop.compile_command(source, "<repl>", "exec") is None:
                return {"error": "SyntaxError: incomplete input"}
        except (SyntaxError, ValueError, OverflowError) as error:
            if not _has_await(source):
                return {"error": _error_text(error)}
        base = names(self.call)
        session = self.call.sessions.setdefault(self.session, {})
        space = dict(base)
        space.update(session)
        space["__builtins__"] = builtins
        with _Captured(self.output):
            value, shown = self._run(source, space)
        for name, found in space.items():
            if name != "__builtins__" and (name not in base or base[name] is not found):
                session[name] = found
        if not shown:
            return {"result": ""}
        with _Captured(self.output):
            text = repr(value)
        outcome = {"result": text[: limits.EVAL_CHARS]}
        if value is not None:
            data = to_pickle(value, with_dill=True)
            # Whoever decides may hand it to the call, as it is.
            self.call.live[cid_of(data)] = value
            outcome.update(result_cid=cid_of(data), result_data=base64_of(data), result_serialization_format="dill")
        return outcome

    def _run(self, source: Any, space: Any) -> Any:
        """`(value, whether it was an expression)`."""
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        try:
            compiled, shown = compile(source, "<repl>", "eval", flags), True
        except SyntaxError:
            compiled, shown = compile(source, "<repl>", "exec", flags), False
        if not compiled.co_flags & inspect.CO_COROUTINE:
            return eval(compiled, space), shown
        if self.loop is None:
            raise SyntaxError("`await` works only where an asynchronous call is paused")
        coroutine = types.FunctionType(compiled, space)()
        waiting = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return waiting.result(limits.EVAL_S), shown
        finally:
            waiting.cancel()


def _has_await(source: Any) -> bool:
    try:
        compile(source, "<repl>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return False
    return "await" in source or "async" in source


def names(call: Call) -> Any:
    """The names of a paused call, as one dict: nested scopes of an expression see only globals."""
    function = _plain_function(call.function)
    frame = call.frame
    space = {"args": call.args, "kwargs": call.kwargs, "frame": frame}
    if call.ended:
        space["result" if call.error is None else "exception"] = call.result if call.error is None else call.error
    if frame is not None:
        space.update(frame.f_globals)
    space.update(getattr(function, "__globals__", {}))
    if frame is not None:
        space.update(frame.f_locals)
    space.update(_closed_over(function))
    space.update(_parameters(call))
    return space


def _closed_over(function: Any) -> Any:
    cells = getattr(function, "__closure__", None) or ()
    found = {}
    for name, cell in zip(getattr(getattr(function, "__code__", None), "co_freevars", ()), cells):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            pass  # Not assigned yet.
    return found


def _parameters(call: Call) -> Any:
    try:
        bound = inspect.signature(call.function).bind(*call.args, **call.kwargs)
        bound.apply_defaults()
        found = dict(bound.arguments)
    except (TypeError, ValueError):
        found = {}
    owner = getattr(call.function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        found.setdefault("self", owner)
    return found


def _error_text(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return "SyntaxError: %s (<repl>, line %s)" % (error.msg, error.lineno)
    try:
        return "%s: %s" % (type(error).__name__, error)
    except Exception:
        return type(error).__name__


class _Captured:
    """What this thread prints goes to the person who asked; other threads print as before."""

    def __init__(self, output: Any) -> None:
        self._output = output

    def __enter__(self) -> None:
        _install()
        _routes[threading.get_ident()] = self._output

    def __exit__(self, *_: Any) -> None:
        _routes.pop(threading.get_ident(), None)
        if not _routes:
            _uninstall()


_routes: dict[int, Any] = {}


class _Router:
    """Stands in for `sys.stdout` or `sys.stderr` while something is evaluated."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> Any:
        output = _routes.get(threading.get_ident())
        if output is None:
            return self.stream.write(text)
        if output.tell() < limits.EVAL_CHARS:
            output.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _install() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Router):
            setattr(sys, name, _Router(stream))


def _uninstall() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, _Router):
            setattr(sys, name, stream.stream)
