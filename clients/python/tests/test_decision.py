"""The table of the protocol: which behaviour pauses where."""

import sys

import pytest

from conftest import CLIENT

sys.path.insert(0, str(CLIENT))

from holdpoint._points import State, decide  # noqa: E402

TABLE = {
    "stop": (True, True, False),
    "go": (False, False, False),
    "exception": (False, False, True),
    "stop_exception": (True, True, True),
}


@pytest.mark.parametrize("default", TABLE)
@pytest.mark.parametrize("before", [*TABLE, "yield"])
@pytest.mark.parametrize("after", [*TABLE, "yield"])
def test_the_table(default, before, after):
    state = State(1, "s", default, {"f": {"before": before, "after": after, "replacement": None}})
    first = TABLE[default if before == "yield" else before]
    last = TABLE[default if after == "yield" else after]
    assert decide(state, "f") == (first[0], last[1], last[2], False)
    assert decide(state, "g") == (False, False, False, False)


def test_a_replacement_asks():
    state = State(1, "s", "go", {"f": {"before": "go", "after": "go", "replacement": "g"}})
    assert decide(state, "f") == (False, False, False, True)


@pytest.mark.parametrize("wrong", [None, 5, "stop", {}, {"before": 7}])
def test_a_callpoint_that_is_not_understood(wrong):
    before, success, exception, replaced = decide(State(1, "s", "go", {"f": wrong}), "f")
    assert (before, success, exception, replaced) == (False, False, False, False)
