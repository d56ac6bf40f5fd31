"""HTTP/1.1 on one kept-alive loopback socket, small and bounded.

The library's own client spends more on parsing headers than our server on the whole call.
Every request has one deadline for everything; whatever goes wrong is a `Trouble` with a plain reason.
"""

from __future__ import annotations

import json
import socket
import time

from . import _limits as limits
from . import _say as say
from . import _trust as trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Generator
    from ._settings import Address


# An app that has SIGPIPE's default must not end because our server closed a connection.
NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
_NO_SIGNAL_EVER = getattr(socket, "SO_NOSIGPIPE", None)


class Socket(socket.socket):
    """For those who send by `send` alone, as an event loop does."""

    def send(self, data: Any, flags: int = 0, /) -> int:
        return super().send(data, flags | NO_SIGNAL)


class Trouble(Exception):
    """The server is gone, slow or wrong. `refused` says that nothing listens there."""

    def __init__(self, reason: str, refused: bool = False, slow: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.refused = refused
        self.slow = slow


class Connection:
    """Belongs to one thread. Connects when first used, and again when the server closed an idle connection."""

    def __init__(self, address: Address, token: str | None = None) -> None:
        self.address = address
        self._token = token
        # What this very server is shown: the token, or the home's key where it proved to have that.
        self._pass: str | None = None
        self._socket: socket.socket | None = None
        # Whether the other end is neither this user's nor proven; only a server that the user named may be.
        self.stranger = False
        self._rest = b""

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        timeout: float = limits.ASK_S,
        again: bool = True,
        meanwhile: Callable[[], None] | None = None,
    ) -> tuple[int, bytes]:
        """`(status, body)`; raises `Trouble`.

        `again` allows a second try on a connection that was idle too long; `meanwhile` is done while the server works.
        """
        deadline = time.monotonic() + timeout
        reused = self._socket is not None
        try:
            try:
                self._connect(deadline)
                return self._exchange(head(self.address, self._pass, method, path, body), deadline, meanwhile)
            except Gone:
                # Only a connection that was idle may have been closed before our request was read.
                if not reused or not again:
                    raise
                self.close()
                self._connect(deadline)
                return self._exchange(head(self.address, self._pass, method, path, body), deadline)
        except Trouble:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise trouble(error, self.address) from None
        except BaseException:
            # Ctrl-C in the middle of an answer: what is left of it must not be read as the next one.
            self.close()
            raise

    def __del__(self) -> None:
        # Of a thread that ended: closed by hand, or Python warns of a socket that nobody closed.
        self.close()

    def close(self) -> None:
        sock, self._socket, self._rest = self._socket, None, b""
        if sock is not None:
            try:
                sock.close()
            except OSError:
                pass

    def _connect(self, deadline: float) -> None:
        """To a server that is this user's, or that the user named. Nothing is sent before that is known."""
        if self._socket is not None:
            return
        self._socket = sock = connect(self.address, deadline)
        steps = greet(sock, self.address, self._token)
        try:
            message = next(steps)
            while True:
                message = steps.send(self._exchange(message, deadline))
        except StopIteration as end:
            self.stranger, self._pass = end.value

    def prove(self, timeout: float = limits.ASK_S) -> bool:
        """Whether the server at the other end of this very connection has the key of this user's home."""
        sock = self._socket
        steps = proof(sock, self.address)
        try:
            message = next(steps)
            while self._socket is sock:
                message = steps.send(self._exchange(message, time.monotonic() + timeout))
        except StopIteration as end:
            return end.value
        except (Trouble, OSError):
            self.close()
        return False

    def _exchange(
        self, message: bytes, deadline: float, meanwhile: Callable[[], None] | None = None
    ) -> tuple[int, bytes]:
        sock = self._socket
        if sock is None:
            raise Gone("the connection was closed")
        try:
            sock.settimeout(left(deadline))
            sock.sendall(message, NO_SIGNAL)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Gone("the connection was closed") from error
        if meanwhile is not None:
            meanwhile()
        reader = Reader()
        data, self._rest = self._rest, b""
        while not reader.feed(data):
            sock.settimeout(left(deadline))
            try:
                data = sock.recv(65536)
            except ConnectionResetError as error:
                raise (Gone if reader.untouched else Trouble)("the connection was reset") from error
            if not data:
                reader.end()
                break
        self._rest = reader.rest
        if reader.close:
            self.close()
        return reader.status, reader.body


# --- Whose the other end is. Steps without IO: they yield a request and are given `(status, body)`.


def greet(sock: Any, address: Address, token: str | None) -> Generator[bytes, tuple[int, bytes], tuple[bool, str | None]]:
    """`(whether it is a stranger, what to show it)`; raises `Trouble` for one that nobody named."""
    user = trust.server_user(sock)
    if user is not None and trust.is_trusted(user):
        return False, token
    if user is None:
        proven = yield from proof(sock, address)
        if proven:
            # Such a server cannot know either whose we are.
            return False, token or trust.home_key()
        why = "nobody can say whose the server at %s is, and it does not prove that it is yours" % address.url
    else:
        why = "the server at %s is another user's (%d)" % (address.url, user)
    if not address.named:
        raise Trouble(why + "; nothing was sent to it", refused=True)
    say.once("stranger", why + "; you named it, so calls are sent to it, but it can evaluate nothing here")
    return True, token


def proof(sock: Any, address: Address) -> Generator[bytes, tuple[int, bytes], bool]:
    """Whether the server at the other end has the key of this user's home."""
    key = trust.home_key()
    if key is None or sock is None:
        return False
    nonce = trust.question()
    status, body = yield head(address, None, "GET", "/api/proof?nonce=" + nonce, None)
    try:
        said = json.loads(body)["proof"] if status == 200 else None
    except (ValueError, KeyError, TypeError):
        said = None
    return trust.is_proof(key, nonce, sock, said)


class Gone(Trouble):
    """Closed before one byte of the answer came."""


def head(address: Address, token: str | None, method: str, path: str, body: bytes | None) -> bytes:
    """The whole request as one piece, so that it leaves as one packet where it fits."""
    lines = "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % (method, path, address.port)
    if token:
        # A line end in it would be the end of the header.
        lines += "Authorization: Bearer %s\r\n" % " ".join(token.split())
    if body is None:
        return (lines + "\r\n").encode("latin-1", "replace")
    lines += "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    return lines.encode("latin-1", "replace") + body


def connect(address: Address, deadline: float) -> socket.socket:
    sock = socket.create_connection((address.host, address.port), min(limits.CONNECT_S, left(deadline)))
    prepare(sock)
    return sock


def prepare(sock: Any) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if _NO_SIGNAL_EVER is not None:
        sock.setsockopt(socket.SOL_SOCKET, _NO_SIGNAL_EVER, 1)


def left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise Trouble("no answer in time", slow=True)
    return seconds


def trouble(error: BaseException, address: Address | None) -> Trouble:
    if isinstance(error, ConnectionRefusedError):
        return Trouble("nothing listens at %s" % (address.url if address is not None else "its address"), refused=True)
    if isinstance(error, (socket.timeout, TimeoutError)):
        return Trouble("no answer in time", slow=True)
    return Trouble("%s: %s" % (type(error).__name__, error))


class Reader:
    """Takes an answer apart as it comes; does no IO. `feed` says whether the answer is whole."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""
        self.rest = b""
        self.close = False
        self.untouched = True
        self._data = b""
        self._headed = False
        self._length: int | None = None
        self._chunked = False

    def feed(self, data: bytes) -> bool:
        if data:
            self.untouched = False
            self._data = self._data + data if self._data else data
        if len(self._data) > limits.ANSWER_BYTES:
            raise Trouble("the answer is too large")
        while not self._headed:
            if not self._read_head():
                return False
        if self._chunked:
            return self._read_chunks()
        if self._length is None or len(self._data) < self._length:
            return False
        self._finish(self._data[: self._length], self._data[self._length :])
        return True

    def end(self) -> None:
        """The server closed the connection."""
        if self.untouched:
            raise Gone("the connection was closed without an answer")
        if not self._headed or self._chunked or self._length is not None:
            raise Trouble("the answer was cut off")
        self._finish(self._data, b"")
        self.close = True

    def _finish(self, body: Any, rest: Any) -> None:
        self.body, self.rest = body, rest

    def _read_head(self) -> bool:
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            if len(self._data) > limits.HEAD_BYTES or not b"HTTP/1.".startswith(self._data[:7]):
                raise Trouble("the answer is not HTTP")
            return False
        lines = self._data[:end].split(b"\r\n")
        self._data = self._data[end + 4 :]
        words = lines[0].split(None, 2)
        if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit() or len(words[1]) != 3:
            raise Trouble("the answer is not HTTP")
        self.status = int(words[1])
        if 100 <= self.status < 200:
            return bool(self._data) and self._read_head()
        self._headed = True
        self._read_fields(lines[1:], words[0])
        return True

    def _read_fields(self, lines: Any, version: Any) -> None:
        self.close = version == b"HTTP/1.0"
        for line in lines:
            name, _, value = line.partition(b":")
            name, value = name.strip().lower(), value.strip().lower()
            if name == b"content-length":
                if not value.isdigit() or int(value) > limits.ANSWER_BYTES:
                    raise Trouble("the answer's length is wrong")
                self._length = int(value)
            elif name == b"transfer-encoding" and value == b"chunked":
                self._chunked = True
            elif name == b"connection":
                self.close = value == b"close"
        if self.status in (204, 304):
            self._length, self._chunked = 0, False

    def _read_chunks(self) -> bool:
        body: list[bytes] = []
        at = 0
        while True:
            line = self._data.find(b"\r\n", at)
            if line < 0:
                if len(self._data) - at > 64:
                    raise Trouble("the answer's chunks are wrong")
                return False
            try:
                size = int(self._data[at:line].split(b";")[0], 16)
            except ValueError:
                raise Trouble("the answer's chunks are wrong") from None
            start = line + 2
            if size < 0 or len(self._data) < start + size + 2:
                return False
            if size == 0:
                self._finish(b"".join(body), self._data[start + 2 :])
                return True
            body.append(self._data[start : start + size])
            at = start + size + 2
