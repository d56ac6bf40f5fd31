"""Sends records and small requests from one background thread, in batches.

Everything is bounded. What does not fit is dropped as whole records, counted exactly, told to the server
with the next batch and to the person once.
"""

from __future__ import annotations

import itertools
import json
import queue
import time
from collections import deque

from . import _limits as limits
from . import _say as say
from ._batch import Batcher
from ._http import Connection, Trouble
from ._values import weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable
    from ._batch import Batch
    from ._runtime import Runtime

_TRIES = 3


class Shipper:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.records: deque[tuple[Any, ...]] = deque()
        self._posts: deque[tuple[str, bytes]] = deque()
        # True while the thread sleeps with nothing to do: whoever brings something wakes it.
        self.armed = True
        self._wake: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # `next` of a count is atomic and a `+=` is not.
        self._drops = itertools.count()
        self._drops_read = 0
        self._drops_seen = 0
        self._drops_told = 0
        # Records of batches that the server did not take.
        self._dropped = 0
        self._dropped_batches = 0
        self._batches = itertools.count(1)
        # Records that were made into batches, and those of them that are shipped or given up.
        self._made = 0
        self._settled = 0
        self._batcher = Batcher(runtime)
        self.connection: Connection | None = None
        # The batch that the server works on or did not take yet, and the next one.
        self._unsent: Batch | None = None
        self._ready: Batch | None = None

    # --- From the threads of the app: short, and never waiting.

    def has_room(self) -> bool:
        """Asked before a call is captured; if there is none, the call is counted as dropped."""
        if len(self.records) < limits.QUEUE_RECORDS and weight.bytes <= limits.QUEUE_BYTES:
            return True
        next(self._drops)
        return False

    def put(self, record: tuple[Any, ...]) -> None:
        # Calls that were under way when it filled up may bring theirs, but not without end.
        if len(self.records) >= 2 * limits.QUEUE_RECORDS:
            next(self._drops)
            return
        self.records.append(record)
        if self.armed:
            self.wake()

    def post(self, path: str, body: Any) -> None:
        """A small request that nobody waits for."""
        if len(self._posts) < limits.QUEUE_POSTS:
            self._posts.append((path, body if isinstance(body, bytes) else json.dumps(body).encode()))
            if self.armed:
                self.wake()

    def wake(self) -> None:
        self.armed = False
        self._wake.put(None)
        if self is self._runtime.ship:
            self._runtime.ensure_running()

    def flush(self, timeout: float) -> bool:
        """Waits until all that was brought before is shipped; False when it was not in time."""
        if not self.records and not self._posts and self._unsent is None and self.armed:
            return True
        done: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._wake.put(done)
        try:
            return done.get(timeout=timeout)
        except queue.Empty:
            return False

    # --- In the shipper's own thread.

    def run(self) -> None:
        """Ends when another shipper has taken its place."""
        while True:
            waiter = self._wait()
            shipped = self._ship_all(hurry=waiter is not None)
            if waiter is not None:
                waiter.put(shipped)
            if self is not self._runtime.ship:
                return

    def _wait(self) -> Any:
        """Sleeps until there is something, then lets a batch gather. Returns who waits for a flush, if anybody."""
        if not self.records and not self._posts and self._unsent is None and self._ready is None:
            weight.bytes = 0
            self.armed = True
            if not self.records and not self._posts:
                waiter = self._wake.get()
                if waiter is not None:
                    self.armed = False
                    return waiter
            self.armed = False
        deadline = time.monotonic() + limits.GATHER_S
        while True:
            # An app at full speed fills batch after batch; who waits for a flush is seen all the same.
            left = deadline - time.monotonic()
            full = left <= 0 or len(self.records) >= limits.BATCH_RECORDS
            try:
                waiter = self._wake.get(timeout=0 if full else left)
            except queue.Empty:
                return None
            if waiter is not None:
                return waiter

    def _ship_all(self, hurry: bool) -> bool:
        """True when nothing is left of what there is now. Stops at the first trouble: the server is asked again later."""
        goal = self._made + len(self.records)
        try:
            while True:
                if self._posts:
                    self._send_post(self._posts.popleft())
                elif self._unsent is not None or self._settled < goal or (not self.records and self._drops_waiting()):
                    self._send_batch()
                else:
                    return True
        except Trouble as trouble:
            self._drop_connection()
            if not hurry and trouble.refused:
                time.sleep(limits.RETRY_FIRST_S)
            return False

    def _send_post(self, post: tuple[str, bytes]) -> None:
        path, body = post
        try:
            status, _ = self._request(path, body)
        except Trouble as trouble:
            # It waits for a server that is gone, but does not block the others behind one that chokes on it.
            if trouble.refused:
                self._posts.appendleft(post)
            raise
        if status >= 400:
            say.once("post " + path, "the server refused %s with status %d" % (path, status))

    def _send_batch(self) -> None:
        if self._unsent is None:
            self._unsent, self._ready = self._ready or self._make(), None
        batch = self._unsent
        batch.tries += 1
        try:
            status, body = self._request("/api/call/batch", batch.body, self._make_ahead)
            if status >= 400:
                raise Trouble("status %d" % status, slow=status >= 500)
        except Trouble as trouble:
            # A server that is gone may come back; one that does not want this batch never will.
            unwanted = trouble.reason.startswith("status 4")
            if unwanted or (batch.tries >= _TRIES and not trouble.refused):
                self._give_up(batch, trouble)
            if unwanted:
                return
            raise
        self._unsent = None
        self._settled += batch.calls
        self._batcher.taken(batch, body)

    def _make(self) -> Batch:
        dropped = self._drops_waiting()
        batch = self._batcher.make(self.records, self._dropped + dropped, next(self._batches), self._unsent)
        self._made += batch.calls
        self._read_drops()
        self._dropped = 0
        return batch

    def _make_ahead(self) -> None:
        if self._ready is None and len(self.records) >= limits.BATCH_AHEAD:
            self._ready = self._make()

    def _give_up(self, batch: Batch, trouble: Trouble) -> None:
        self._unsent = None
        self._settled += batch.calls
        self._dropped += batch.calls + batch.dropped
        self._dropped_batches += batch.calls
        say.once("batch", "the server did not take %d records (%s); they are dropped" % (batch.calls, trouble.reason))

    def _drops_waiting(self) -> int:
        """Reading a count moves it, so our own readings are taken off again."""
        total = next(self._drops) - self._drops_read
        self._drops_read += 1
        self._drops_seen = total
        return total - self._drops_told

    def dropped_so_far(self) -> int:
        """Records dropped in this process, as of the last batch."""
        return self._drops_told + self._dropped_batches

    def _read_drops(self) -> None:
        if self._drops_seen > self._drops_told:
            say.once(
                "overload",
                "calls come faster than the server takes them; some records are dropped and counted",
            )
        self._drops_told = self._drops_seen

    def _request(self, path: str, body: Any, meanwhile: Callable[[], None] | None = None) -> tuple[int, bytes]:
        runtime = self._runtime
        address = runtime.address
        if address is None or not runtime.reachable:
            raise Trouble("no server", refused=True)
        if self.connection is None or not address.same(self.connection.address):
            self._drop_connection()
            self.connection = Connection(address, runtime.token)
        return self.connection.request("POST", path, body, limits.SHIP_S, meanwhile=meanwhile)

    def _drop_connection(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()
