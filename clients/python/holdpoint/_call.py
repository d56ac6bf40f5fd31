"""One call that asks the server: what is said before it and after it, and what the answers mean.

The steps are generators that do no IO: they yield what is to be done (`Ask`, `Rest`, `Evaluate`) and are given
what came of it. `_drive` carries them out, blocking for a plain call and awaiting for an asynchronous one.
Whatever the server answers, a call ends up with something to run; trouble means that it runs as written.
"""

from __future__ import annotations

import builtins
import json
import sys
import time
import traceback
from urllib.parse import quote

from . import _limits as limits
from . import _say as say
from . import _stack
from ._http import Trouble
from ._runtime import CLIENT, runtime, task_of, thread_of
from ._values import (
    Unreadable,
    base64_of,
    capture_whole,
    cid_of,
    from_data,
    from_item,
    global_pickle,
    pickle_of,
    ref_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generator
    from types import FrameType
    from ._points import Point

# --- What a step may ask for.


class Ask:
    """One request. The driver answers with `(status, object or None)` or a `Trouble`."""

    __slots__ = ("method", "path", "body", "timeout")

    def __init__(self, method: str, path: str, body: Any = None, timeout: float = limits.ASK_S) -> None:
        self.method = method
        self.path = path
        self.body = None if body is None else json.dumps(body).encode()
        self.timeout = timeout


class Rest:
    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Evaluate:
    """An expression to be evaluated beside the pause, which goes on polling meanwhile."""

    __slots__ = ("call", "request")

    def __init__(self, call: Call, request: dict[str, Any]) -> None:
        self.call = call
        self.request = request


class Prove:
    """Whether the server that just answered has the key of this user's home: True or False."""

    __slots__ = ()


# --- What a call comes to.


class Plan:
    """What to run: the function as it was called unless the server said otherwise."""

    __slots__ = ("function", "args", "kwargs", "given", "value", "error")

    def __init__(self, call: Call) -> None:
        self.function = call.function
        self.args = call.args
        self.kwargs = call.kwargs
        # `given` means that nothing is run: the value is the result, or the error is raised.
        self.given = False
        self.value: Any = None
        self.error: BaseException | None = None


class Call:
    """One call, from its start to its end. `frame` is the app's own, held only while the call lasts."""

    def __init__(
        self,
        point: Point,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType | None,
        owner: Any = None,
        begun: Any = None,
    ) -> None:
        self.point = point
        self.function = function
        self.args: Any = args
        self.kwargs: Any = kwargs
        self.frame = frame
        self.owner = owner
        self.call_id: str | None = None
        # Set when the server is asked: by it the server knows the call even before its answer is read.
        self.key: str | None = None
        self.thread = thread_of()
        self.task = task_of()
        self.stack = _stack.take_all(frame)
        if begun is None:
            self.started = time.time()
            self.captured = tuple([capture_whole(value) for value in args])
            self.captured_kwargs = {name: capture_whole(value) for name, value in kwargs.items()}
            self.target = None if owner is None else capture_whole(owner)
        else:
            # The function ran already and may have changed its arguments: what was taken before counts.
            self.started, self.captured, self.captured_kwargs, self.target, _ = begun
            self.captured_kwargs = self.captured_kwargs or {}
        # The live objects of this call, for an answer that names one by its CID. Gone with the call.
        self.live: dict[str, Any] = {}
        self.result: Any = None
        self.error: BaseException | None = None
        # Why the server's answer could not be carried out.
        self.undone: str | None = None
        # Whether the server showed that it is this user's own; asked only where that matters.
        self.proven = False
        self.ended = False
        self.sessions: dict[str, Any] = {}
        # The few frames of a recorded call, for one that could not be asked about.
        self.stack_short: Any = None
        self.evals = 0

    def item(self, captured: Any, value: Any, resend: bool = False) -> dict[str, Any]:
        data = pickle_of(captured)
        cid = cid_of(data)
        self.live[cid] = value
        item: dict[str, Any] = {"cid": cid, "serialization_format": "dill"}
        ref = ref_in(captured)
        if ref is not None:
            item["client_ref"] = ref
        if resend or cid not in runtime.known:
            item["data"] = base64_of(data)
        return item

    def start_body(self, key: str, resend: bool = False) -> dict[str, Any]:
        point, function = self.point, self.function
        target = self.target
        if target is None:
            module = getattr(function, "__module__", None) or "builtins"
            target = global_pickle(str(module), str(getattr(function, "__qualname__", point.name)))
        return {
            "method_name": point.name,
            "signature": point.signature,
            "target": self.item(target, self.owner if self.owner is not None else function, resend),
            "args": [self.item(c, v, resend) for c, v in zip(self.captured, self.args)],
            "kwargs": {k: self.item(self.captured_kwargs[k], v, resend) for k, v in self.kwargs.items()},
            "call_site": {"timestamp": self.started, "stack_trace": _stack.frames(self.stack)},
            "call_type": "inline" if point.kind == "inline" else "proxy",
            "process_pid": runtime.pid,
            "process_start_time": runtime.start_time,
            "preferred_format": "dill",
            "thread_id": self.thread[0],
            "thread_name": self.thread[1],
            "task": self.task,
            "client": CLIENT,
            "idempotency_key": key,
        }

    def end(self) -> None:
        """Lets go of everything that belongs to the app."""
        self.frame = self.owner = self.args = self.kwargs = self.result = self.error = None
        self.live.clear()
        self.sessions.clear()


# --- Before the call.


def before(call: Call) -> Generator[Any, Any, Any]:
    """Returns the plan. `call.call_id` is set when the server knows of the call."""
    plan = Plan(call)
    answer = yield from _start(call)
    if answer is None:
        return plan
    action = answer
    if action.get("action") == "poll":
        action = yield from _paused(call, answer)
    # What a pickle says is executed when it is read; so it is read only when it comes from one's own server.
    call.proven = has_pickles(action) and (yield Prove())
    _apply(plan, call, action)
    return plan


def has_pickles(action: dict[str, Any]) -> bool:
    """Whether an action holds values that are not JSON."""
    if action.get("fake_result_data") is not None and action.get("fake_result_serialization_format") != "json":
        return True
    args, kwargs = action.get("modified_args"), action.get("modified_kwargs")
    items = list(args) if isinstance(args, list) else []
    items += kwargs.values() if isinstance(kwargs, dict) else ()
    return any(
        isinstance(it, dict) and it.get("data") is not None and it.get("serialization_format") != "json" for it in items
    )


def _start(call: Call) -> Generator[Any, Any, Any]:
    key = call.key = runtime.call_key()
    body = call.start_body(key)
    status, answer = yield from _answered(Ask("POST", "/api/call/start", body))
    if status == 400 and answer is not None and answer.get("error") == "cid_not_found":
        # The same bytes again, not the object pickled once more: it may have changed since.
        for cid in answer.get("missing_cids") or ():
            runtime.known.pop(cid, None)
        body = call.start_body(key, resend=True)
        status, answer = yield from _answered(Ask("POST", "/api/call/start", body))
    if status is None:
        return None
    if status != 200 or answer is None or not answer.get("call_id") or not isinstance(answer.get("action"), str):
        _wrong("POST", "/api/call/start", status, answer)
        return None
    runtime.answered()
    for item in [body["target"], *body["args"], *body["kwargs"].values()]:
        runtime.known[item["cid"]] = None
    call.call_id = answer["call_id"]
    return answer


def _apply(plan: Plan, call: Call, action: dict[str, Any]) -> None:
    """An action as a plan. One that cannot be carried out is reported, and the call runs as written."""
    kind = action.get("action")
    try:
        if kind in ("continue", "modify"):
            _modify(plan, call, action)
        elif kind == "skip":
            plan.value, plan.given = _fake(call, action), True
        elif kind == "raise":
            plan.error, plan.given = _exception(call, action), True
        elif kind == "replace":
            name = str(action.get("function_name"))
            other = runtime.points.get(name)
            if other is None or other.function is None:
                raise Unreadable("no function %r is wrapped in this process" % name)
            plan.function = other.function
        else:
            raise Unreadable("the action %r is unknown" % (kind,))
    except Exception as error:
        # Whatever the server said, and whatever a value of the app does when it is made.
        call.undone = str(error) or type(error).__name__
        _report("cannot %s %s: %s" % (kind, call.point.name, error))
        say.once(
            "action %s" % kind,
            "the server's answer for %s cannot be carried out (%s); the call runs as written"
            % (call.point.name, error),
        )


def _modify(plan: Plan, call: Call, action: dict[str, Any]) -> None:
    """What is not given stays as it is: new arguments alone do not drop the keywords."""
    args, kwargs = action.get("modified_args"), action.get("modified_kwargs")
    if args is not None:
        if not isinstance(args, list):
            raise Unreadable("modified_args is not a list")
        args = tuple([from_item(item, call.live, call.proven) for item in args])
    if kwargs is not None:
        if not isinstance(kwargs, dict):
            raise Unreadable("modified_kwargs is not an object")
        kwargs = {str(name): from_item(item, call.live, call.proven) for name, item in kwargs.items()}
    plan.args = plan.args if args is None else args
    plan.kwargs = plan.kwargs if kwargs is None else kwargs


def _fake(call: Call, action: dict[str, Any]) -> Any:
    if action.get("fake_result_data") is not None:
        return from_data(action["fake_result_data"], action.get("fake_result_serialization_format"), call.proven)
    if "fake_result" in action:
        return action["fake_result"]
    if action.get("fake_result_cid") is not None:
        return from_item({"cid": action["fake_result_cid"]}, call.live, call.proven)
    return None


def _exception(call: Call, action: dict[str, Any]) -> BaseException:
    name = str(action.get("exception_type") or "Exception")
    message = action.get("exception_message")
    message = "" if message is None else str(message)
    kind = _exception_class(name, call)
    if kind is None:
        return Exception("%s: %s" % (name, message) if message else name)
    try:
        return kind(message)
    except Exception:
        # An exception that wants other arguments than a message.
        return Exception("%s: %s" % (name, message))


def _exception_class(name: str, call: Call) -> type[BaseException] | None:
    """A builtin, a name that the called function itself could use, or `module.Name` of a loaded module."""
    space = getattr(_plain_function(call.function), "__globals__", {})
    module, _, last = name.rpartition(".")
    found = getattr(builtins, name, None) or space.get(name)
    if found is None and module:
        found = getattr(sys.modules.get(module), last, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _plain_function(function: Any) -> Any:
    function = getattr(function, "__func__", function)
    return getattr(function, "__wrapped__", function)


# --- A pause.


def _paused(call: Call, answer: Any) -> Generator[Any, Any, Any]:
    """Polls until somebody decides. A server that is gone or talks nonsense lets the call continue."""
    say.verbose("%s is paused" % call.point.name)
    for _ in range(limits.CHAINED_POLLS):
        url = answer.get("poll_url")
        if not isinstance(url, str) or not url.startswith("/"):
            _wrong("GET", "poll_url", None, answer)
            break
        answer = yield from _poll(call, url, _interval(answer))
        if not isinstance(answer, dict) or answer.get("action") != "poll":
            break
    say.verbose("%s goes on" % call.point.name)
    return answer if isinstance(answer, dict) and answer.get("action") != "poll" else {"action": "continue"}


def _interval(answer: Any) -> float:
    try:
        seconds = float(answer.get("poll_interval_ms", 100)) / 1000
    except (TypeError, ValueError):
        seconds = 0.1
    return min(max(seconds, limits.POLL_PAUSE_SHORTEST_S), limits.POLL_PAUSE_LONGEST_S)


def _poll(call: Call, url: str, interval: float) -> Generator[Any, Any, Any]:
    held = url + ("&" if "?" in url else "?") + "hold_s=%d" % limits.POLL_HOLD_S
    pause_id = url.split("?")[0].rstrip("/").rsplit("/", 1)[-1]
    wrong, unreachable_since = 0, None
    while True:
        began = time.monotonic()
        reply = yield Ask("GET", held, timeout=limits.POLL_HOLD_S + limits.HOLD_GRACE_S)
        if isinstance(reply, Trouble):
            unreachable_since = unreachable_since or began
            if time.monotonic() - unreachable_since >= limits.PAUSE_PATIENCE_S:
                say.once(
                    "pause lost",
                    "the server went away while %s was paused; the call continues" % call.point.name,
                )
                return {"action": "continue"}
            yield Rest(interval)
            continue
        unreachable_since = None
        status, answer = reply
        told = answer.get("status") if status == 200 and answer is not None else None
        if told == "ready" and isinstance(answer.get("action"), dict):
            return answer["action"]
        if told != "waiting":
            wrong += 1
            if wrong >= limits.PAUSE_WRONG_ANSWERS:
                _wrong("GET", "/api/poll", status, answer)
                return {"action": "continue"}
            yield Rest(interval)
            continue
        wrong = 0
        asked = yield from _evaluations(call, pause_id)
        if not asked and time.monotonic() - began < interval:
            yield Rest(interval)


def _evaluations(call: Call, pause_id: str) -> Generator[Any, Any, Any]:
    """Fetches what somebody wants evaluated here; True when there was anything."""
    found = False
    while call.evals < limits.EVALS_AT_ONCE:
        reply = yield Ask("GET", "/api/poll-repl/" + quote(pause_id, safe=""))
        if isinstance(reply, Trouble) or reply[0] != 200 or not reply[1] or not reply[1].get("eval_id"):
            break
        found = True
        yield Evaluate(call, reply[1])
    return found


# --- After the call.


def after(call: Call) -> Generator[Any, Any, Any]:
    """Tells the server how the call ended, and waits if it is to pause there. Only `continue` can follow."""
    if call.call_id is None:
        return
    body = end_body(call)
    reply = yield Ask("POST", "/api/call/complete", body)
    if isinstance(reply, Trouble):
        runtime.asked_in_vain(reply)
        # The server may live and only have been slow: then it still learns that the call is over.
        runtime.ship.post("/api/call/complete", body)
        return
    status, answer = reply
    if status != 200 or answer is None:
        _wrong("POST", "/api/call/complete", status, answer)
        return
    runtime.known[body.get("result_cid") or body["exception_cid"]] = None
    if answer.get("action") != "poll":
        return
    if call.error is not None and not isinstance(call.error, Exception):
        # A program that is being ended must end; nobody is to wait at such a pause.
        release(answer)
        return
    yield from _paused(call, answer)


def late(call: Call) -> Generator[Any, Any, Any]:
    """A call that was not announced but is to pause at its end."""
    answer = yield from _start(call)
    if answer is not None:
        yield from after(call)


def release(answer: Any) -> None:
    url = answer.get("poll_url")
    if isinstance(url, str):
        pause_id = url.split("?")[0].rstrip("/").rsplit("/", 1)[-1]
        runtime.ship.post("/api/paused/%s/continue" % pause_id, {"action": "continue"})


def abandon(call: Call, error: BaseException) -> None:
    """The call ended while it was paused (Ctrl-C, a cancelled task): the server is told, nobody waits."""
    if call.key is not None:
        call.error = error
        runtime.ship.post("/api/call/complete", end_body(call))


def end_body(call: Call) -> dict[str, Any]:
    body = {
        "call_id": call.call_id,
        "idempotency_key": call.key,
        "timestamp": time.time(),
        "process_pid": runtime.pid,
        "process_start_time": runtime.start_time,
        "thread_id": call.thread[0],
        "thread_name": call.thread[1],
        "task": call.task,
        "client": CLIENT,
    }
    role, value = ("result", call.result) if call.error is None else ("exception", call.error)
    body["status"] = "success" if call.error is None else "exception"
    item = call.item(capture_whole(value), value)
    for field, name in (("cid", "cid"), ("data", "data"), ("serialization_format", "serialization_format")):
        if field in item:
            body["%s_%s" % (role, name)] = item[field]
    if "client_ref" in item:
        body["%s_client_ref" % role] = item["client_ref"]
    if call.undone is not None:
        body["action_error"] = call.undone[: limits.MESSAGE_CHARS]
    if call.error is not None:
        texts = error_texts(call.error)
        body["exception_type"], body["exception_message"], body["exception_traceback"] = texts
    return body


def error_texts(error: BaseException) -> tuple[str, str, str]:
    """`(type, message, traceback)` of an exception as text; never fails."""
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__, kind.__qualname__)
    try:
        message = str(error)
    except Exception as broken:
        message = "<str failed: %s>" % type(broken).__name__
    try:
        link = error.__traceback__
        while link is not None and _stack.is_ours(link.tb_frame.f_code):
            link = link.tb_next
        text = "".join(traceback.format_exception(kind, error, link, -limits.TRACEBACK_FRAMES))
    except Exception:
        text = "%s: %s\n" % (name, message)
    return name, message[: limits.MESSAGE_CHARS], text[-limits.TRACEBACK_CHARS :]


# --- Trouble.


def _answered(ask: Ask) -> Generator[Any, Any, Any]:
    """`(status, object)`; `(None, None)` when there was no answer."""
    reply = yield ask
    if isinstance(reply, Trouble):
        runtime.asked_in_vain(reply)
        return None, None
    return reply


def _wrong(method: str, path: str, status: int | None, answer: Any) -> None:
    runtime.asked_in_vain(Trouble("%s %s: status %s, %.200r" % (method, path, status, answer)))
    _report("wrong answer to %s %s" % (method, path), status)


def _report(summary: str, status: int | None = None) -> None:
    """The server's list of what went wrong at its clients."""
    runtime.ship.post(
        "/api/report-com-error",
        {
            "summary": summary[:1000],
            "timestamp": time.time(),
            "status_code": status,
            "process_pid": runtime.pid,
            "process_start_time": runtime.start_time,
            "client": CLIENT,
        },
    )
