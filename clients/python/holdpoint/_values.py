"""Values as bytes: captured in the thread of the call, hashed where they are shipped.

A *captured* value is one of
  - a plain `int`, `float`, `bool`, short `str` or `None`: it cannot change, so it is pickled later;
  - `bytes`: a pickle;
  - `(bytes, ref)`: a pickle and the number by which this live object is known.

Pickling runs the app's own code (`__reduce__`, `__getstate__`, `__repr__`). It happens here, under no lock.
"""

from __future__ import annotations

import base64
import copyreg
import hashlib
import io
import itertools
import json
import pickle
import sys
import time
import weakref

from . import _limits as limits
from .placeholder import UnpicklablePlaceholder, reduced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

PROTOCOL = 4
_PLAIN = frozenset((int, float, bool, type(None)))
# Containers and numbers: they have no identity that anybody follows.
_ANONYMOUS = frozenset(
    (list, dict, tuple, set, frozenset, bytes, bytearray, str, complex, range, slice, type, type(Ellipsis))
)
_sha512 = hashlib.sha512
_dumps = pickle.dumps
_clock = time.perf_counter
_cpu = time.thread_time
_Pickler = pickle.Pickler


# Bytes from which on a waiting value counts against the queue's bound by its size.
HEAVY = 4096


class Weight:
    """What recorded values cost, roughly: no lock is taken for it.

    bytes    of large values that wait to be shipped; set right whenever nothing waits
    seconds  that were spent on values that take long to pickle; the usual microseconds do not count
    """

    bytes = 0
    seconds = 0.0


weight = Weight()


def capture(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN or (kind is str and len(value) <= limits.PLAIN_CHARS):
        return value
    data = _timed(value, kind) if kind in _suspects else _watched(value, kind)
    if len(data) > HEAVY:
        weight.bytes += len(data)
    if kind in _ANONYMOUS:
        return data
    ref = ref_of(value)
    return data if ref is None else (data, ref)


# Types whose values seem to take long.
_suspects: set[type] = set()


def _watched(value: Any, kind: Any) -> bytes:
    """The clock is cheap to read, but another thread or program may have run in between."""
    began = _clock()
    data = to_pickle(value)
    if _clock() - began > limits.HEAVY_S and len(_suspects) < limits.CID_CACHE:
        _suspects.add(kind)
    return data


def _timed(value: Any, kind: Any) -> bytes:
    """The processor's own time tells whether the suspicion is right."""
    began = _cpu()
    data = to_pickle(value)
    cost = _cpu() - began
    if cost > limits.HEAVY_S:
        weight.seconds += cost
    else:
        _suspects.discard(kind)
    return data


def capture_whole(value: Any) -> Any:
    """The same for a call that asks: somebody will look, so dill may try what pickle cannot."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    data = to_pickle(value, with_dill=True)
    ref = None if kind in _ANONYMOUS else ref_of(value)
    return data if ref is None else (data, ref)


def capture_name(value: Any) -> Any:
    """The same where capturing has cost the app too much: plain values as ever, of others only what they are."""
    kind = type(value)
    if kind in _PLAIN or (kind is str and len(value) <= limits.PLAIN_CHARS):
        return value
    data = _names.get(kind)
    if data is None:
        fields: dict[str, Any] = {"type_name": kind.__name__, "module": kind.__module__, "qualname": kind.__qualname__}
        fields.update(attributes={}, failed_attributes={}, pickle_error="not captured: it takes too long at every call")
        data = _names[kind] = _dumps(UnpicklablePlaceholder(**fields), PROTOCOL)
    ref = None if kind in _ANONYMOUS else ref_of(value)
    return data if ref is None else (data, ref)


_names: weakref.WeakKeyDictionary[type, bytes] = weakref.WeakKeyDictionary()


def to_pickle(value: Any, with_dill: bool = False) -> bytes:
    """Never fails: what cannot be pickled is described."""
    try:
        sink = _Sink()
        _Pickler(sink, PROTOCOL).dump(value)
        return sink.data()
    except _TooLarge:
        return _described(value, "larger than %d bytes" % limits.VALUE_BYTES)
    except (Exception, SystemExit) as error:
        return _degraded(value, error, with_dill)


def pickle_of(captured: Any) -> Any:
    """The bytes that stand for a captured value."""
    kind = type(captured)
    if kind is bytes:
        return captured
    if kind is tuple:
        return captured[0]
    return _dumps(captured, PROTOCOL)


def ref_in(captured: Any) -> int | None:
    return captured[1] if type(captured) is tuple else None


def cid_of(data: bytes) -> str:
    return _sha512(data).hexdigest()


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


class _TooLarge(Exception):
    pass


class _Sink:
    """Where a pickle is written. The pickler hands it frames of 64 KiB, so a giant value ends early."""

    __slots__ = ("first", "more", "size")

    def __init__(self) -> None:
        self.first: Any = None
        self.more: list[bytes] | None = None
        self.size = 0

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > limits.VALUE_BYTES:
            raise _TooLarge
        # A large part comes as a view of memory that the app may change.
        if type(data) is not bytes:
            data = bytes(data)
        if self.first is None:
            self.first = data
        elif self.more is None:
            self.more = [data]
        else:
            self.more.append(data)

    def data(self) -> bytes:
        return self.first if self.more is None else b"".join([self.first, *self.more])


# --- Values that plain pickling refuses.

# Types for which dill was of no use; trying it again for each call would cost a millisecond.
_dill_failed: weakref.WeakSet[type] = weakref.WeakSet()


def _degraded(value: Any, error: BaseException, with_dill: bool) -> bytes:
    attempts = ["pickle: %s" % _reason(error)]
    kind = type(value)
    dill = _dill() if with_dill else None
    if dill is not None and kind not in _dill_failed:
        try:
            sink = _Sink()
            _bounded(dill)(sink, protocol=PROTOCOL, recurse=True).dump(value)
            return sink.data()
        except (Exception, SystemExit) as second:
            attempts.append("dill: %s" % _reason(second))
            _dill_failed.add(kind)
    try:
        sink = _Sink()
        _Degrading(sink, PROTOCOL).dump(value)
        return sink.data()
    except (Exception, SystemExit) as third:
        attempts.append("in parts: %s" % _reason(third))
    return _described(value, _reason(error), attempts)


_dill_module: Any = ()


def _dill() -> Any:
    """dill, where it is installed and a value needs it. Importing it is slow, so only then."""
    global _dill_module
    if _dill_module == ():
        try:
            import dill as _dill_module  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except Exception:
            _dill_module = None
    return _dill_module


def _bounded(dill: Any) -> Any:
    """dill's pickler, ended when it goes too far: a function leads it through a whole program."""
    global _bounded_class
    if _bounded_class is None:

        class Bounded(dill.Pickler):  # type: ignore[misc,unused-ignore]
            _left = limits.DILL_OBJECTS
            _until = None

            def save(self, *args: Any, **kwargs: Any) -> None:
                self._left -= 1
                self._until = self._until or time.monotonic() + limits.DILL_S
                if self._left < 0 or time.monotonic() > self._until:
                    raise _TooLarge("it takes too long")
                super().save(*args, **kwargs)

        _bounded_class = Bounded
    return _bounded_class


_bounded_class: Any = None


class _Degrading(pickle.Pickler):
    """Pickles what can be pickled and describes only the parts that cannot."""

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind is UnpicklablePlaceholder or value is UnpicklablePlaceholder:
            return NotImplemented
        try:
            if isinstance(value, type) or kind in _GLOBALS:
                return NotImplemented if _is_importable(value) else reduced(value, "not importable by its name")
            if not _is_importable(kind):
                return reduced(value, "its class is not importable by its name")
            reducer = copyreg.dispatch_table.get(kind)
            result = reducer(value) if reducer else value.__reduce_ex__(PROTOCOL)
            return result if type(result) is tuple else reduced(value, "not importable by its name")
        except (Exception, SystemExit) as error:
            return reduced(value, _reason(error))


_GLOBALS = frozenset((type(capture), type(len)))


def _is_importable(value: Any) -> bool:
    found = sys.modules.get(value.__module__) if value.__module__ else None
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def _described(value: Any, reason: str, attempts: Sequence[str] = ()) -> bytes:
    buffer = io.BytesIO()
    stand_in = UnpicklablePlaceholder()
    try:
        stand_in.__dict__.update(reduced(value, reason, attempts)[2])
        _Pickler(buffer, PROTOCOL).dump(stand_in)
    except (Exception, SystemExit) as error:
        kind = type(value)
        fields: dict[str, Any] = {"type_name": kind.__name__, "module": kind.__module__, "qualname": kind.__qualname__}
        stand_in.__dict__.clear()
        stand_in.__dict__.update(fields, pickle_error=reason, attributes={}, failed_attributes={})
        stand_in.__dict__["repr_text"] = "<not described: %s>" % _reason(error)
        buffer = io.BytesIO()
        _Pickler(buffer, PROTOCOL).dump(stand_in)
    return buffer.getvalue()


def _reason(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = ""
    return ("%s: %s" % (type(error).__name__, text))[: limits.DESCRIBED_CHARS]


def global_pickle(module: Any, qualname: str) -> bytes:
    """The pickle that names a function, written by hand: a wrapped one is no longer found under its name."""
    return b"\x80\x04%s%s\x93." % (_short_text(module), _short_text(qualname))


def _short_text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")[:255]
    return b"\x8c%c%s" % (len(data), data)


# --- Live objects by number.

_refs: dict[int, tuple[int, weakref.ref[Any]]] = {}
_numbers = itertools.count(1)


def ref_of(value: Any) -> int | None:
    """The number of a live object, the same for as long as it lives. None for what cannot be followed.

    No reference to the object is kept, and neither its `__eq__` nor its `__hash__` is run.
    """
    key = id(value)
    known = _refs.get(key)
    if known is not None and known[1]() is value:
        return known[0]
    number = next(_numbers)
    try:
        link = weakref.ref(value, lambda link: _forget(key, link))
    except TypeError:
        return None
    _refs[key] = (number, link)
    return number


def _forget(key: int, link: Any) -> None:
    known = _refs.get(key)
    if known is not None and known[1] is link:
        _refs.pop(key, None)


# --- The way back.


class Unreadable(Exception):
    """A value from the server that cannot be used; the call goes on without it."""


def from_item(item: Any, live: dict[str, Any], proven: bool) -> Any:
    """An item of the server: its data, or one of this call's own live objects by its CID."""
    if not isinstance(item, dict):
        raise Unreadable("an item is not an object")
    if item.get("data") is not None:
        return from_data(item["data"], item.get("serialization_format"), proven)
    if item.get("cid") in live:
        return live[item["cid"]]
    raise Unreadable("the value %.12s… is not of this call and came without data" % item.get("cid"))


def from_data(data: bytes, form: str | None, proven: bool) -> Any:
    """A value of the server. Reading a pickle executes it: only of a server that proved to be this user's."""
    try:
        if form == "json":
            return json.loads(data)
        if not proven:
            raise Unreadable("the server did not prove that it is yours, so only JSON is taken from it")
        raw = base64.b64decode(data)
        try:
            return pickle.loads(raw)
        except (AttributeError, ImportError, pickle.UnpicklingError):
            dill = _dill()
            if dill is None:
                raise
            return dill.loads(raw)
    except Exception as error:
        raise Unreadable(_reason(error)) from error
