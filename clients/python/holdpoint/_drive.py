"""Carries out the steps of a call: blocking in a thread, or awaiting in an event loop that is never blocked."""

from __future__ import annotations

import asyncio
import socket
import time

from . import _limits as limits
from . import _repl
from ._call import Ask, Evaluate, Prove, Rest
from ._http import Gone, Reader, Socket, Trouble, greet, head, prepare, proof, trouble
from ._runtime import as_object, local, runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generator
    from ._settings import Address


def drive(steps: Generator[Any, Any, Any]) -> Any:
    """Runs the steps in this thread and returns what they return."""
    reply = None
    was, local.busy = local.busy, True
    try:
        while True:
            step = steps.send(reply)
            kind = type(step)
            if kind is Ask:
                reply = runtime.ask(step.method, step.path, step.body, step.timeout)
            elif kind is Rest:
                time.sleep(step.seconds)
                reply = None
            elif kind is Prove:
                reply = runtime.prove()
            elif kind is Evaluate:
                _repl.start(step.call, step.request, strange=runtime.is_strange())
                reply = None
    except StopIteration as end:
        return end.value
    finally:
        local.busy = was


async def drive_async(steps: Generator[Any, Any, Any]) -> Any:
    """The same for a task. Our own code is short between two awaits; other tasks run meanwhile."""
    loop = asyncio.get_running_loop()
    reply = None
    channel = _Channel(loop)
    try:
        while True:
            was, local.busy = local.busy, True
            try:
                step = steps.send(reply)
            finally:
                local.busy = was
            kind = type(step)
            if kind is Ask:
                reply = await channel.ask(step)
            elif kind is Rest:
                await asyncio.sleep(step.seconds)
                reply = None
            elif kind is Prove:
                reply = await channel.prove()
            elif kind is Evaluate:
                _repl.start(step.call, step.request, loop, strange=channel.stranger)
                reply = None
    except StopIteration as end:
        return end.value
    finally:
        channel.close()


class _Channel:
    """A connection for one task, awaited. It ends with the steps: an idle socket would outlive its loop."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self._socket: Socket | None = None
        self._reused = False
        self._expired = False
        self._pass: str | None = None
        self.stranger = False

    async def ask(self, step: Any) -> Any:
        # Not `wait_for`: before Python 3.12 it may swallow the cancellation of the task.
        timer = self._loop.call_later(step.timeout, self._expire)
        try:
            return await self._request(step)
        except (Trouble, OSError) as error:
            self.close()
            if self._expired:
                return Trouble("no answer in time", slow=True)
            return error if isinstance(error, Trouble) else trouble(error, runtime.address)
        except BaseException:
            # Cancelled in the middle of an answer: the rest of it must not be read as the next one.
            self.close()
            raise
        finally:
            timer.cancel()
            self._expired = False

    def _expire(self) -> None:
        """Ends whatever is waited for: the socket then reads as closed."""
        self._expired = True
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    async def _request(self, step: Any) -> Any:
        address = runtime.address
        if address is None:
            raise Trouble("no server", refused=True)
        if self._socket is None:
            await self._connect(address)
        try:
            answer = await self._exchange(head(address, self._pass, step.method, step.path, step.body))
        except (Gone, BrokenPipeError, ConnectionResetError):
            if not self._reused or self._expired:
                raise
            self.close()
            await self._connect(address)
            answer = await self._exchange(head(address, self._pass, step.method, step.path, step.body))
        self._reused = True
        return answer[0], as_object(answer[1])

    async def prove(self) -> bool:
        """Whether the server at the other end of this very connection has the key of this user's home."""
        sock, address = self._socket, runtime.address
        if sock is None or address is None:
            return False
        timer = self._loop.call_later(limits.ASK_S, self._expire)
        try:
            steps = proof(sock, address)
            message = next(steps)
            while self._socket is sock:
                message = steps.send(await self._exchange(message))
        except StopIteration as end:
            return bool(end.value)
        except (Trouble, OSError):
            self.close()
        finally:
            timer.cancel()
            self._expired = False
        return False

    async def _connect(self, address: Address) -> None:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._socket = sock = Socket(family, socket.SOCK_STREAM)
        self._reused = False
        sock.setblocking(False)
        prepare(sock)
        await self._loop.sock_connect(sock, (address.host, address.port))
        # Nothing is sent before it is known whose the other end is.
        steps = greet(sock, address, runtime.token)
        try:
            message = next(steps)
            while True:
                message = steps.send(await self._exchange(message))
        except StopIteration as end:
            self.stranger, self._pass = end.value

    async def _exchange(self, message: bytes) -> Any:
        await self._loop.sock_sendall(self._socket, message)
        reader, data = Reader(), b""
        while not reader.feed(data):
            data = await self._loop.sock_recv(self._socket, 65536)
            if not data:
                reader.end()
                break
        if reader.close:
            self.close()
        return reader.status, reader.body

    def close(self) -> None:
        sock, self._socket = self._socket, None
        if sock is not None:
            sock.close()
