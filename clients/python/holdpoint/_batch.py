"""Records as the JSON of one batch. Written by hand from remembered pieces: this is paid for every call."""

from __future__ import annotations

import json
import pickle

from . import _limits as limits
from . import _stack
from ._values import HEAVY, base64_of, cid_of, weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Container
    from ._runtime import Runtime

_dumps = pickle.dumps
_quote = json.dumps


class Batch:
    """One request, kept until the server took it."""

    __slots__ = ("body", "calls", "dropped", "values", "tries")

    def __init__(self, body: Any, calls: Any, dropped: int, values: Any) -> None:
        self.body = body
        self.calls = calls
        self.dropped = dropped
        self.values = values
        self.tries = 0


class Batcher:
    """Used by one thread only."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        # Equal small values are hashed once. One dict per type: 1, 1.0 and True are equal keys.
        self._cids: dict[type, dict[Any, str]] = {int: {}, str: {}, bool: {}, type(None): {}, bytes: {}}
        self._quoted: dict[str, str] = {}
        # Values sent lately, for a server that lost them: it answers which ones it lacks.
        self._recent: dict[str, bytes] = {}
        self._recent_bytes = 0
        self._values: dict[str, bytes] = {}
        self._values_bytes = 0
        self._ahead: Container[str] = ()
        self._missing: list[str] = []

    def make(self, records: Any, dropped: int, number: int, ahead: Any = None) -> Batch:
        """Takes records off the deque until the batch is full. `ahead` is a batch that goes before this one."""
        runtime = self._runtime
        self._values, self._values_bytes = {}, 0
        self._ahead = ahead.values if ahead is not None else ()
        for cid in self._missing:
            data = self._recent.get(cid)
            if data is not None:
                self._values[cid] = data
        self._missing = []
        calls: list[str] = []
        size = 0
        while records and len(calls) < limits.BATCH_RECORDS and size + self._values_bytes < limits.BATCH_BYTES:
            text = self._call(records.popleft())
            size += len(text)
            calls.append(text)
        values = [
            '{"cid":"%s","data":"%s","serialization_format":"dill"}' % (cid, base64_of(data))
            for cid, data in self._values.items()
        ]
        body = '{"process_pid":%d,"process_start_time":%r,"process":%s,"batch_id":"%d-%.6f-%d","dropped":%d,' % (
            runtime.pid,
            runtime.start_time,
            _quote(runtime.describe()),
            runtime.pid,
            runtime.start_time,
            number,
            dropped,
        )
        body += '"values":[%s],"calls":[%s]}' % (",".join(values), ",".join(calls))
        return Batch(body.encode(), len(calls), dropped, self._values)

    def taken(self, batch: Batch, answer: Any) -> None:
        """The server has these values now, except those it says it lacks."""
        known, recent = self._runtime.known, self._recent
        if len(known) > limits.KNOWN_CIDS:
            known.clear()
        for cid, data in batch.values.items():
            known[cid] = None
            if len(data) <= limits.CACHED_VALUE_BYTES and cid not in recent:
                recent[cid] = data
                self._recent_bytes += len(data)
        if self._recent_bytes > limits.RECENT_BYTES:
            recent.clear()
            self._recent_bytes = 0
        try:
            missing = json.loads(answer).get("missing_cids") or ()
            for cid in missing:
                known.pop(cid, None)
                if cid in recent:
                    self._missing.append(cid)
        except (ValueError, AttributeError, TypeError):
            pass  # The batch was taken; an answer that cannot be read costs at most a value sent twice.

    def _call(self, record: tuple[Any, ...]) -> str:
        point, target, args, kwargs, result, error, started, completed, thread, task, stack = record
        cid = self._cid
        refs = None
        parts = []
        for index, value in enumerate(args):
            parts.append('"%s"' % cid(value))
            if type(value) is tuple:
                refs = _ref(refs, "args", str(index), value)
        text = '{"method_name":%s,"args":[%s],"kwargs":{' % (point.name_json, ",".join(parts))
        if kwargs:
            parts = []
            for name, value in kwargs.items():
                parts.append('%s:"%s"' % (self._name(name), cid(value)))
                if type(value) is tuple:
                    refs = _ref(refs, "kwargs", name, value)
            text += ",".join(parts)
        if error is None:
            text += '},"status":"success","result_cid":"%s"' % cid(result)
            if type(result) is tuple:
                refs = _ref(refs, None, "result", result)
        else:
            text += '},"status":"exception","exception_cid":"%s"' % cid(result)
            text += ',"exception_type":%s,"exception_message":%s,"exception_traceback":%s' % tuple(map(_quote, error))
            if type(result) is tuple:
                refs = _ref(refs, None, "exception", result)
        if target is not None:
            text += ',"target_cid":"%s"' % cid(target)
            if type(target) is tuple:
                refs = _ref(refs, None, "target", target)
        if point.signature is not None:
            text += ',"signature":%s' % self._name(point.signature)
        if task is not None:
            text += ',"task":%s' % _quote(task)
        if refs is not None:
            text += ',"client_refs":%s' % _quote(refs)
        return text + ',"started_at":%r,"completed_at":%r,"thread_id":%d,"thread_name":%s,%s' % (
            started,
            completed,
            thread[0],
            self._name(thread[1]),
            '"call_site":{"timestamp":%r,"stack_trace":%s}}' % (started, _stack.json_text(stack)),
        )

    def _cid(self, value: Any) -> str:
        """The CID of a captured value; its bytes go with this batch if the server may lack them."""
        kind = type(value)
        if kind is tuple:
            value, kind = value[0], bytes
        cache = self._cids.get(kind)
        known = cache.get(value) if cache is not None else None
        if known is None:
            data = value if kind is bytes else _dumps(value, 4)
            known = cid_of(data)
            if cache is not None and len(data) <= limits.CACHED_VALUE_BYTES:
                if len(cache) >= limits.CID_CACHE:
                    cache.clear()
                cache[value] = known
            elif len(data) > HEAVY:
                weight.bytes -= len(data)
        if known not in self._runtime.known and known not in self._values and known not in self._ahead:
            data = value if kind is bytes else _dumps(value, 4)
            self._values[known] = data
            self._values_bytes += len(data)
        return known

    def _name(self, text: str) -> str:
        known = self._quoted.get(text)
        if known is None:
            if len(self._quoted) >= limits.CID_CACHE:
                self._quoted.clear()
            known = self._quoted[text] = _quote(text)
        return known


def _ref(refs: dict[str, Any] | None, where: str | None, key: str, value: Any) -> dict[str, Any]:
    refs = {} if refs is None else refs
    (refs if where is None else refs.setdefault(where, {}))[key] = value[1]
    return refs
