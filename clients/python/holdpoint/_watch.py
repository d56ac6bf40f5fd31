"""The live subscription: one request that the server holds until a callpoint changes.

So the app knows within milliseconds what is set, and a call that nothing would pause need not ask.
"""

from __future__ import annotations

import json
import time

from . import _limits as limits
from . import _say as say
from ._http import Connection, Gone, Trouble
from ._points import State
from ._settings import find_server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from ._runtime import Runtime
    from ._settings import Address


class Watcher:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._epoch = runtime.epoch
        self.connection: Connection | None = None

    def run(self) -> None:
        runtime, state, lost_since, delay = self._runtime, None, None, limits.RETRY_FIRST_S
        while runtime.on and runtime.epoch == self._epoch:
            address = find_server(runtime.configured)
            began = time.monotonic()
            try:
                fresh = self._ask(address, state)
            except Trouble as trouble:
                if isinstance(trouble, Gone) and state is not None:
                    # The connection ended, perhaps only that: another one is tried before the server counts as gone.
                    state = None
                    continue
                state = None
                lost_since = lost_since or began
                runtime.lost(trouble, address, time.monotonic() - lost_since)
                time.sleep(delay)
                delay = min(2 * delay, limits.RETRY_LONGEST_S)
                continue
            if lost_since is not None:
                say.verbose("connected to %s" % address.url)
            lost_since, delay = None, limits.RETRY_FIRST_S
            if state is None or fresh.version != state.version or fresh.server != state.server:
                state = fresh
                runtime.learned(state, address)
            elif time.monotonic() - began < 0.05:
                # A server that does not hold the request must not be asked in a tight loop.
                time.sleep(limits.RETRY_FIRST_S)

    def _ask(self, address: Address, state: State | None) -> State:
        if address.wrong is not None:
            raise Trouble(address.wrong, refused=True)
        if self.connection is None or not address.same(self.connection.address) and state is None:
            if self.connection is not None:
                self.connection.close()
            self.connection = Connection(address, self._runtime.token)
        path, timeout = "/api/callpoints/watch", limits.ASK_S
        if state is not None:
            path += "?version=%s&wait_s=%d" % (state.version, limits.WATCH_HOLD_S)
            timeout = limits.WATCH_HOLD_S + limits.HOLD_GRACE_S
        # A closed connection may mean another server, whose version of the same number says something else.
        status, body = self.connection.request("GET", path, timeout=timeout, again=False)
        if status != 200:
            raise Trouble("status %d from %s%s" % (status, address.url, path.split("?")[0]))
        return parse(body)


def parse(body: Any) -> State:
    try:
        told = json.loads(body)
        callpoints = told["callpoints"]
        if not isinstance(callpoints, dict) or not isinstance(told["version"], (int, str)):
            raise TypeError
        return State(told["version"], told.get("server"), told.get("default_behavior", "stop"), callpoints)
    except (ValueError, KeyError, TypeError):
        raise Trouble("the server's answer about callpoints is not understood") from None
