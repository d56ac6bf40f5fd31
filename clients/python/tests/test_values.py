"""Values as bytes, in the test's own process."""

import pickle
import socket
import sys
import threading

import pytest

from conftest import CLIENT

sys.path.insert(0, str(CLIENT))

from holdpoint import _limits, _values  # noqa: E402
from holdpoint.placeholder import UnpicklablePlaceholder  # noqa: E402


class Slotted:
    __slots__ = ("a", "b", "lock")

    def __init__(self):
        self.a = 1
        self.lock = threading.Lock()


class Plain:
    def __init__(self):
        self.name = "pen"
        self.lock = threading.Lock()
        self.me = self

    @property
    def boom(self):
        raise AssertionError("a property was touched")


class Broken:
    def __reduce__(self):
        raise SystemExit("no")

    def __repr__(self):
        raise KeyError("no repr")


@pytest.fixture(params=["with dill", "without dill"])
def dill(request, monkeypatch):
    if request.param == "without dill":
        monkeypatch.setattr(_values, "_dill_module", None)
    else:
        pytest.importorskip("dill")
        monkeypatch.setattr(_values, "_dill_module", ())
    return request.param == "with dill"


def load(value):
    return pickle.loads(_values.to_pickle(value, with_dill=True))


@pytest.mark.parametrize("value", [1, -1, 2**70, 1.5, "text", "x" * 5000, b"b" * 70000, None, True, [1, [2]], {"a": (1,)}])
def test_plain_values_come_back(value):
    captured = _values.capture(value)
    assert pickle.loads(_values.pickle_of(captured)) == value
    assert type(pickle.loads(_values.pickle_of(captured))) is type(value)


def test_unpicklable_values_are_described(dill):
    for value in (socket.socket(), (n for n in [1]), Broken()):
        found = load(value)
        assert isinstance(found, UnpicklablePlaceholder), value
        assert found.type_name == type(value).__name__
        assert found.pickle_error
        if hasattr(value, "close"):
            value.close()


def test_only_the_part_that_cannot_be_pickled_is_described(monkeypatch):
    monkeypatch.setattr(_values, "_dill_module", None)
    found = load({"name": "pen", "parts": [1, threading.Lock(), lambda x: x]})
    assert found["name"] == "pen" and found["parts"][0] == 1
    assert [type(part).__name__ for part in found["parts"][1:]] == ["UnpicklablePlaceholder"] * 2
    found = load(Plain())
    assert found.name == "pen" and found.me is found
    assert isinstance(found.lock, UnpicklablePlaceholder)


def test_a_description_holds_attributes_and_touches_no_property(monkeypatch):
    monkeypatch.setattr(_values, "_dill_module", None)
    for value in (Plain(), Slotted()):
        data = _values._described(value, "why", ["how"])
        found = pickle.loads(data)
        assert found.pickle_error == "why" and found.pickle_attempts == ["how"]
        assert found.attributes.get("name", found.attributes.get("a")) in ("pen", 1)
        assert "boom" not in found.attributes


def test_a_giant_value_is_described_and_not_copied():
    found = load(list(range(3_000_000)))
    assert isinstance(found, UnpicklablePlaceholder)
    assert found.pickle_error == "larger than %d bytes" % _limits.VALUE_BYTES
    assert len(found.repr_text) <= _limits.DESCRIBED_CHARS
    assert isinstance(load(b"x" * 5_000_000), UnpicklablePlaceholder)


def test_a_local_class_needs_dill(dill):
    class Local:
        def __init__(self):
            self.x = 5

    found = load(Local())
    if dill:
        assert found.x == 5 and type(found).__name__ == "Local"
    else:
        assert isinstance(found, UnpicklablePlaceholder) and found.type_name == "Local"


def test_circular_and_very_deep_values():
    circle = []
    circle.append(circle)
    found = load(circle)
    assert found[0] is found
    deep = None
    for _ in range(100_000):
        deep = [deep]
    assert isinstance(load(deep), UnpicklablePlaceholder)
    # Freed level by level, or the interpreter's own stack ends.
    while deep:
        deep = deep[0]


def test_the_pickle_of_a_function_names_it():
    assert pickle.loads(_values.global_pickle("os.path", "join")) is __import__("os").path.join


def test_refs_are_by_identity_and_end_with_the_object():
    class Equal:
        def __eq__(self, other):
            return True

        __hash__ = None

    one, two = Equal(), Equal()
    first = _values.ref_of(one)
    assert _values.ref_of(one) == first != _values.ref_of(two)
    key = id(one)
    del one
    assert key not in _values._refs
    assert _values.ref_of([1]) is None


def test_dill_is_stopped_when_it_goes_too_far(monkeypatch):
    pytest.importorskip("dill")
    monkeypatch.setattr(_values, "_dill_module", ())
    monkeypatch.setattr(_values, "_bounded_class", None)
    monkeypatch.setattr(_limits, "DILL_OBJECTS", 50)

    class Local:
        def __init__(self, inner):
            self.inner = inner

    thing = None
    for _ in range(100):
        thing = Local(thing)
    found = load(thing)
    assert isinstance(found, UnpicklablePlaceholder) and Local in _values._dill_failed


def test_a_value_may_be_named_only():
    found = pickle.loads(_values.pickle_of(_values.capture_name({"a": 1})))
    assert (found.type_name, found.pickle_error) == ("dict", "not captured: it takes too long at every call")
    assert _values.capture_name(5) == 5
    plain = Plain()
    assert _values.ref_in(_values.capture_name(plain)) == _values.ref_of(plain)
