"""The functions that are wrapped, and what a call of each must do given the callpoints that are set.

`decide` is the table of the protocol, the same that the server has: pure, and tested against it.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PAUSES_BEFORE = frozenset(("stop", "stop_exception"))
PAUSES_AFTER_SUCCESS = frozenset(("stop", "stop_exception"))
PAUSES_AFTER_EXCEPTION = frozenset(("exception", "stop_exception"))


class State:
    """The callpoints as the server last told them. Never changed once made."""

    __slots__ = ("callpoints", "default", "server", "version")

    def __init__(
        self, version: Any = None, server: Any = None, default: str = "stop", callpoints: dict[str, Any] | None = None
    ) -> None:
        self.version = version
        self.server = server
        self.default = default
        self.callpoints = callpoints or {}


def decide(state: State, name: str) -> tuple[bool, bool, bool, bool]:
    """`(before, after success, after exception, replaced)`: whether a call of this name pauses there."""
    callpoint = state.callpoints.get(name)
    if not isinstance(callpoint, dict):
        return False, False, False, False
    before, after = callpoint.get("before"), callpoint.get("after")
    before = state.default if before in (None, "yield") else before
    after = state.default if after in (None, "yield") else after
    return (
        before in PAUSES_BEFORE,
        after in PAUSES_AFTER_SUCCESS,
        after in PAUSES_AFTER_EXCEPTION,
        bool(callpoint.get("replacement")),
    )


class Point:
    """One wrapped name. The flags are read at every call and written by whoever learns a new state.

    on     calls are recorded at all
    asks   a call asks the server before it runs
    traps  a call that raises asks the server then
    """

    __slots__ = ("name", "name_json", "signature", "function", "kind", "on", "asks", "traps", "alias", "told", "heavy")

    def __init__(self, name: str, kind: Any, alias: str | None = None) -> None:
        self.name = name
        self.name_json = json.dumps(name)
        self.kind = kind
        self.alias = alias
        self.function: Any = None
        self.signature: str | None = None
        # What the server was last told of this function, so that it is told once.
        self.told: tuple[Any, str | None] | None = None
        self.on = False
        self.asks = False
        self.traps = False
        # Whether the values of its last recorded call took long to capture.
        self.heavy = False

    def obey(self, state: State, on: bool, reachable: bool) -> None:
        """Without a server nothing can pause, so nothing asks."""
        before, success, exception, replaced = decide(state, self.name)
        self.asks = reachable and (before or success or replaced)
        self.traps = reachable and exception
        self.on = on
