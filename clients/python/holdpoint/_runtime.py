"""The one client of this process: who we are, what is wrapped, what the server last said.

Two daemon threads work for it: the watcher learns the callpoints (`_watch`), the shipper sends records (`_ship`).
No lock is ever held while code of the app may run; where threads share something it is one atomic operation
on a dict, a deque or a `SimpleQueue`, because a finalizer or a signal handler of the app may enter
this client again in the middle of anything.
"""

from __future__ import annotations

import _thread
import atexit
import inspect
import itertools
import json
import os
import sys
import threading
import time
import warnings

from . import _limits as limits
from . import _say as say
from ._http import Connection, Trouble
from ._points import Point, State
from ._settings import environment_token, find_server, parse_url
from ._ship import Shipper
from ._values import weight
from ._version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Callable
    from ._settings import Address
    from ._watch import Watcher

CLIENT = "holdpoint-python/" + VERSION


class _Local(threading.local):
    """What belongs to one thread. `busy` means that our own code runs: calls then pass unseen."""

    busy = False
    connection: Connection | None = None
    thread: tuple[int, str] | None = None


local = _Local()


class Runtime:
    def __init__(self) -> None:
        self.mode: str | None = None
        self.points: dict[str, Point] = {}
        self.state = State()
        self.reachable = False
        self.recording = False
        self.configured: Address | None = None
        self.address: Address | None = None
        self.token = environment_token()
        self.epoch = 0
        # CIDs that the server is known to have: it said so by taking them.
        self.known: dict[str, None] = {}
        self.ship = Shipper(self)
        self._reset_identity()
        self._running = False
        self._watcher: Watcher | None = None
        self._starting = threading.Lock()
        self._hooked = False
        self.first_state = threading.Event()

    # --- Starting and stopping.

    @property
    def on(self) -> bool:
        return self.mode in ("ON", "VERBOSE")

    def switch(self, mode: str) -> None:
        if self.on and mode == "OFF":
            self._stop()
        self.mode = mode
        say.set_verbose(mode == "VERBOSE")
        if self.on:
            self._hook()
            self.ensure_running()
            if not self.first_state.wait(limits.FIRST_STATE_S):
                self.lost(Trouble("no answer in time", slow=True), find_server(self.configured), 0.0)
        self.spread()

    def configure(self, server_url: str | None = None, token: str | None = None) -> None:
        if server_url is not None:
            self.configured = parse_url(server_url)
        if token is not None:
            self.token = token

    def ensure_running(self) -> None:
        """Starts the threads once per process; called again by a forked child."""
        if self._running or not self.on or not self._starting.acquire(False):
            return
        try:
            if not self._running:
                self._running = True
                from ._watch import Watcher

                self._watcher = Watcher(self)
                start_thread(self._watcher.run)
                start_thread(self.ship.run)
        except RuntimeError:
            # The interpreter is shutting down, or there are no threads to be had: the app goes on.
            self._running = False
        finally:
            self._starting.release()

    def _stop(self) -> None:
        """Ends the threads after what they have at hand; what is recorded later has others."""
        self.flush()
        ending = self.ship
        self.epoch += 1
        self._running = False
        self.ship = Shipper(self)
        ending.wake()

    def _hook(self) -> None:
        if self._hooked:
            return
        self._hooked = True
        atexit.register(self.flush)
        # Python warns of a fork beside threads. Ours are ready for it; where warnings are errors the app's fork would fail.
        warnings.filterwarnings("ignore", r".*multi-threaded, use of fork", DeprecationWarning)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)
        # Children of fork often end by `os._exit`, which skips everything that is registered.
        leave = os._exit

        def _exit(status: int) -> NoReturn:
            try:
                self.flush()
            finally:
                leave(status)

        os._exit = _exit

    def flush(self, timeout: float = limits.FLUSH_S) -> bool:
        """Ships what is waiting; False when that did not succeed in time."""
        if not self._running:
            return True
        was, local.busy = local.busy, True
        try:
            return self.ship.flush(timeout)
        except Exception:
            return False
        finally:
            local.busy = was

    def _after_fork(self) -> None:
        """The child has our memory but not our threads, and its own name. The parent ships what was waiting."""
        self.epoch += 1
        self._running = False
        self._starting = threading.Lock()
        self.first_state = threading.Event()
        local.busy = False
        # Closed here, these stay open in the parent.
        for holder in (local, self._watcher, self.ship):
            if holder is not None and holder.connection is not None:
                holder.connection.close()
                holder.connection = None
        local.thread = None
        weight.bytes, weight.seconds = 0, 0.0
        self._reset_identity()
        self.ship = Shipper(self)
        if self.on:
            self.ensure_running()

    def _reset_identity(self) -> None:
        self.pid = os.getpid()
        self.start_time = time.time()
        self._calls = itertools.count(1)
        self._quiet_until = 0.0
        self._quiet_s = limits.QUIET_FIRST_S

    def describe(self) -> dict[str, Any]:
        """What a person wants to know of this process."""
        return {
            "argv": [str(word)[:200] for word in list(getattr(sys, "argv", []))[:20]],
            "executable": sys.executable,
            "runtime": "python %d.%d.%d" % sys.version_info[:3],
            "cwd": _cwd(),
            "parent_pid": os.getppid(),
            "client": CLIENT,
        }

    def call_key(self) -> str:
        """Names one call of one process, so that a request sent twice is taken once."""
        return "%d-%.6f-%d" % (self.pid, self.start_time, next(self._calls))

    # --- What is wrapped.

    def point(self, name: str, function: Any, kind: Any, alias: str | None = None) -> Point:
        """The point of this name. `replace` means the function that was wrapped last under it."""
        known = self.points.get(name)
        if known is not None and known.function is function:
            return known
        signature = signature_of(function)
        if known is None:
            known = self.points.setdefault(name, Point(name, kind, alias))
        known.function, known.signature = function, signature
        known.obey(self.state, self.recording and self.on, self.reachable and self.on)
        self.announce(known)
        return known

    def announce(self, point: Point) -> None:
        """Tells the server of a function. It is not made a callpoint: nothing stops that nobody asked to stop."""
        # A server that is found later is told of everything then.
        told = (self.state.server, point.signature)
        if not self.on or self.state.server is None or point.told == told:
            return
        point.told = told
        # The server says what it knows of a function under its name, whoever told it.
        self.ship.post(
            "/api/functions",
            {
                "function_name": point.name,
                "signature": point.signature,
                "function_metadata": {"summary": point.name, "object_name": point.name, "kind": point.kind},
            },
        )
        self.ship.post(
            "/api/call/event",
            {
                "process_pid": self.pid,
                "process_start_time": self.start_time,
                "method_name": "with_debug.register",
                "status": "registered",
                "timestamp": time.time(),
                "pretty_args": [point.name],
                "pretty_result": {
                    "event": "with_debug_registration",
                    "function_name": point.name,
                    "signature": point.signature,
                    "alias": point.alias,
                    "target_type": point.kind,
                },
            },
        )

    def spread(self) -> None:
        """Every point obeys what is known now."""
        for point in list(self.points.values()):
            point.obey(self.state, self.recording and self.on, self.reachable and self.on)

    # --- What the watcher learns.

    def learned(self, state: State, address: Address) -> None:
        another = state.server != self.state.server
        self.address = address
        self.state = state
        self.reachable = self.recording = True
        if another:
            self.known.clear()
            for point in list(self.points.values()):
                self.announce(point)
        self.spread()
        self.first_state.set()
        say.forget("gone")

    def lost(self, trouble: Trouble, address: Address, seconds: float) -> None:
        """The server cannot be reached for this long: nothing pauses, and soon nothing is captured."""
        self.reachable = False
        # In a forked child the parent's last state holds for as long.
        if seconds >= limits.LOST_S or self.state.server is None:
            self.recording = False
        self.spread()
        hint = "start one with `holdpoint serve`"
        if address.wrong is not None:
            hint = "write it as http://127.0.0.1:5174"
        elif trouble.reason.startswith("status 401"):
            hint = "set HOLDPOINT_TOKEN to the server's --token"
        elif trouble.reason.endswith("nothing was sent to it"):
            hint = "start your own with `holdpoint serve`; HOLDPOINT_URL says that you mean that one"
        say.once(
            "gone",
            "no server (%s, from %s); the app goes on, and its calls are not recorded until there is one\nhint: %s"
            % (trouble.reason, address.whence, hint),
        )
        # Last: whoever waits for it may be a program that then ends.
        self.first_state.set()

    # --- What capturing costs.

    def overspent(self) -> bool:
        """Whether heavy captures have cost the app more than their share of its time."""
        return weight.seconds > limits.HEAVY_FREE_S + limits.HEAVY_SHARE * (time.time() - self.start_time)

    # --- Asking.

    def may_ask(self) -> bool:
        return self.reachable and time.monotonic() >= self._quiet_until

    def asked_in_vain(self, trouble: Trouble) -> None:
        """A server that is slow or wrong must not slow every call down."""
        self._quiet_until = time.monotonic() + self._quiet_s
        self._quiet_s = min(2 * self._quiet_s, limits.QUIET_LONGEST_S)
        say.once(
            "in vain",
            "the server did not answer as it should (%s); the call goes on without it, and so do others for a while"
            % trouble.reason,
        )

    def answered(self) -> None:
        self._quiet_s = limits.QUIET_FIRST_S

    def ask(self, method: str, path: str, body: Any = None, timeout: float = limits.ASK_S) -> Any:
        """`(status, object or None)` or a `Trouble`, by this thread's own connection."""
        try:
            status, answer = self.connection().request(method, path, body, timeout)
        except Trouble as trouble:
            return trouble
        return status, as_object(answer)

    def prove(self) -> bool:
        """Whether the server that gave this thread its last answer has the key of this user's home."""
        return local.connection is not None and local.connection.prove()

    def is_strange(self) -> bool:
        """Whether the server of this thread's connection is neither this user's nor proven."""
        return local.connection is not None and local.connection.stranger

    def connection(self) -> Connection:
        address = self.address or find_server(self.configured)
        known = local.connection
        if known is None or not address.same(known.address):
            if known is not None:
                known.close()
            known = local.connection = Connection(address, self.token)
        return known


def signature_of(function: Any) -> str | None:
    """As text; None where there is none. The text holds the `repr` of defaults, which is the app's code."""
    was, local.busy = local.busy, True
    try:
        return str(inspect.signature(function))[:1000]
    except Exception:
        return None
    finally:
        local.busy = was


def as_object(body: Any) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def thread_of() -> tuple[int, str]:
    """`(id, name)` of this thread, asked once: a thread that is renamed later keeps its first name here."""
    known = local.thread
    if known is None:
        try:
            name = str(threading.current_thread().name)
        except Exception:
            name = "?"
        known = local.thread = (threading.get_native_id(), name)
    return known


def task_of() -> str | None:
    """The name of the running asyncio task, if one runs here."""
    events = sys.modules.get("asyncio.events")
    if events is None:
        return None
    loop = events._get_running_loop()
    if loop is None:
        return None
    try:
        task = sys.modules["asyncio"].current_task(loop)
        return None if task is None else str(task.get_name())
    except Exception:
        return None


def start_thread(run: Callable[[], None]) -> None:
    """A thread that the app does not see: one that joins every thread it finds must not wait for ours."""
    _thread.start_new_thread(_quietly, (run,))


def _quietly(run: Callable[[], None]) -> None:
    """A thread of ours never prints a traceback into the app's terminal, and records nothing of itself."""
    local.busy = True
    try:
        run()
    except Exception as error:
        say.once(
            "thread", "an error of the client itself: %s: %s; calls are not recorded" % (type(error).__name__, error)
        )


def _cwd() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


runtime = Runtime()
