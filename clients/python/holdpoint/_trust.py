"""Whose the server is, asked before anything is sent to it.

After a server was killed its port stays written, and whoever listens there next would be told all that an app has to say,
its token too. The kernel knows whose the other end of a connection is (Linux); where it does not say, the server has to
prove that it has the key of this user's home. The same proof is asked for before a pickle is taken from it.
"""

from __future__ import annotations

import os
import socket
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROOT = 0
# See `man 7 sock_diag`.
_NETLINK = getattr(socket, "AF_NETLINK", None)
_SOCK_DIAG = 4
_BY_FAMILY = 20
_REQUEST = 1
_ERROR = 2
_LISTEN = 10


def server_user(sock: Any) -> int | None:
    """The user at the other end of a connection that we made; None where the system does not say."""
    try:
        local, peer = sock.getsockname(), sock.getpeername()
        family = sock.family
        # Who accepted it; until somebody has, the kernel knows only who listens.
        found = _ask(family, peer, local)
        if found is not None and found[1] != 0 and found[2] != _LISTEN:
            return found[0]
        found = _ask(family, peer, ("::" if family == socket.AF_INET6 else "0.0.0.0", 0))
        if found is not None and found[1] != 0 and found[2] == _LISTEN:
            return found[0]
    except (OSError, ValueError, TypeError, AttributeError, IndexError, struct.error):
        pass
    return None


def is_trusted(user: int) -> bool:
    return user in (ROOT, os.geteuid())


def _ask(family: int, near: Any, far: Any) -> tuple[int, int, int] | None:
    """`(user, inode, state)` of the socket with these ends; None where there is none."""
    if _NETLINK is None:
        return None
    pack = [socket.inet_pton(family, end[0].partition("%")[0]).ljust(16, b"\0") for end in (near, far)]
    body = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
    body += struct.pack(">HH", near[1], far[1]) + pack[0] + pack[1] + struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
    kernel = socket.socket(_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG)
    try:
        # It answers while it takes the question.
        kernel.setblocking(False)
        kernel.sendto(struct.pack("=IHHII", 16 + len(body), _BY_FAMILY, _REQUEST, 1, 0) + body, (0, 0))
        answer = kernel.recv(1024)
    finally:
        kernel.close()
    if struct.unpack_from("=H", answer, 4)[0] == _ERROR:
        return None
    near_port, far_port = struct.unpack_from(">HH", answer, 20)
    if (near_port, far_port) != (near[1], far[1]):
        return None
    user, inode = struct.unpack_from("=II", answer, 80)
    return user, inode, answer[17]


# --- The key of the home.


def home_key() -> str | None:
    """That of this user's home; one of another user's is none."""
    home = os.environ.get("HOLDPOINT_HOME") or os.path.expanduser("~/.holdpoint")
    try:
        file = os.open(os.path.join(home, "key"), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK)
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                return None
            text = os.read(file, 128).decode("ascii").strip()
        finally:
            os.close(file)
    except (OSError, ValueError):
        return None
    return text if len(text) == 64 else None


def question() -> str:
    """A number that nobody foresees."""
    return os.urandom(16).hex()


def is_proof(key: str, nonce: str, sock: Any, said: Any) -> bool:
    """Whether this is what a server with the key says at the address to which we are connected."""
    import hashlib
    import hmac

    host, port = sock.getpeername()[:2]
    address = "%s:%d" % ("[%s]" % host if ":" in host else host, port)
    message = "holdpoint server\n%s\n%s" % (nonce, address)
    wanted = hmac.new(key.encode(), message.encode(), hashlib.sha256).hexdigest()
    return isinstance(said, str) and hmac.compare_digest(wanted.encode(), said.encode("utf-8", "replace"))
