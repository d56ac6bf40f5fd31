"""Where the server is, and which mode the environment asks for."""

from __future__ import annotations

import os
import shlex
import socket
import stat
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator

MODES = ("ON", "OFF", "VERBOSE")
DEFAULT_PORT = 5174
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Address:
    """One server. `whence` says how it was found, for messages; `wrong` why there can be none.

    `named` says that the user named it, rather than that it was found: one that was found has to be this user's own.
    """

    __slots__ = ("host", "port", "whence", "wrong", "named")

    def __init__(self, host: str, port: int, whence: str, wrong: str | None = None, named: bool = False) -> None:
        self.host = host
        self.port = port
        self.whence = whence
        self.wrong = wrong
        self.named = named

    @property
    def url(self) -> str:
        host = "[%s]" % self.host if ":" in self.host else self.host
        return "http://%s:%d" % (host, self.port)

    def same(self, other: Any) -> bool:
        return other is not None and (self.host, self.port) == (other.host, other.port)


def parse_url(url: str, whence: str = "configure_debug", named: bool = True) -> Address:
    """Only loopback: what is recorded and what is evaluated is nobody else's business."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except (ValueError, TypeError, AttributeError):
        scheme, host, port = "", None, None
    if scheme != "http" or host not in LOOPBACK or port == 0:
        raise ValueError(
            "the server URL must be http://localhost, http://127.0.0.1 or http://[::1] with a port, not %.200r" % (url,)
        )
    # `localhost` may resolve to ::1 first, where our server also listens, but slower.
    return Address("127.0.0.1" if host == "localhost" else host, port or 80, whence, named=named)


def url_of_environment(url: str, whence: str) -> Address:
    """A wrong address in the environment must not end the app, nor lead it to a server that nobody meant."""
    try:
        return parse_url(url, whence)
    except ValueError as error:
        return Address("", 0, whence, wrong=str(error))


def find_server(configured: Address | None = None) -> Address:
    """The server to talk to now: a restarted one may have another port, so this is asked at each connect."""
    if configured is not None:
        return configured
    for name in ("HOLDPOINT_URL", "CIDELDILL_SERVER_URL"):
        url = os.environ.get(name)
        if url:
            return url_of_environment(url, "$" + name)
    found = os.environ.get("HOLDPOINT_FOUND")
    if found:
        # `holdpoint run` found it for this app; nobody named it.
        try:
            return parse_url(found, "`holdpoint run`", named=False)
        except ValueError:
            pass
    for path in port_files():
        port = read_port(path)
        if port is not None:
            return Address("127.0.0.1", port, path)
    return Address("127.0.0.1", DEFAULT_PORT, "the default port")


def port_files() -> Iterator[str]:
    """In the order they are looked at: what was set by hand comes before what is merely there."""
    env = os.environ
    if env.get("CIDELDILL_PORT_FILE"):
        yield env["CIDELDILL_PORT_FILE"]
    if env.get("HOLDPOINT_HOME"):
        yield os.path.join(env["HOLDPOINT_HOME"], "port")
    if env.get("CIDELDILL_HOME"):
        yield os.path.join(env["CIDELDILL_HOME"], "port")
    if not env.get("HOLDPOINT_HOME"):
        yield os.path.expanduser("~/.holdpoint/port")
    if not env.get("CIDELDILL_HOME"):
        yield os.path.expanduser("~/.cideldill/port")


def read_port(path: str) -> int | None:
    """Not by `open`, which the app may have replaced, and without waiting for the writer of a pipe."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return None
            text = os.read(file, 512)
        finally:
            os.close(file)
        ports = [int(line) for line in text.split()]
    except (OSError, ValueError):
        return None
    ports = [port for port in ports if 0 < port < 65536]
    # A line for each server that lives, the newest first; one that was killed is named still.
    return next((port for port in ports[:-1] if answers(port)), ports[-1] if ports else None)


def answers(port: int) -> bool:
    """Whether anybody takes connections there: on this machine that is known at once."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0
    except OSError:
        return False
    finally:
        probe.close()


def environment_token() -> str | None:
    """`$HOLDPOINT_TOKEN`, or what the file `$HOLDPOINT_TOKEN_FILE` holds."""
    given, path = os.environ.get("HOLDPOINT_TOKEN"), os.environ.get("HOLDPOINT_TOKEN_FILE")
    if given or not path:
        return given or None
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            return os.read(file, 4096).decode("utf-8", "replace").strip() or None
        finally:
            os.close(file)
    except OSError:
        return None


def environment_mode() -> tuple[str, str | None]:
    """`(mode, server URL or None)` from `$HOLDPOINT` or `$CIDELDILL`: `MODE [SERVER_URL …]`."""
    for name in ("HOLDPOINT", "CIDELDILL"):
        try:
            words = shlex.split(os.environ.get(name, ""))
        except ValueError:
            words = []
        if words and words[0].upper() in MODES:
            return words[0].upper(), words[1] if len(words) > 1 else None
    return "OFF", None
