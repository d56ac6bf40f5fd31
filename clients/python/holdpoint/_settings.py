"""Where the server is, and which mode the environment asks for."""

import os
import shlex
from urllib.parse import urlsplit

MODES = ("ON", "OFF", "VERBOSE")
DEFAULT_PORT = 5174
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Address:
    """One server. `whence` says how it was found, for messages."""

    __slots__ = ("host", "port", "whence")

    def __init__(self, host, port, whence):
        self.host = host
        self.port = port
        self.whence = whence

    @property
    def url(self):
        host = "[%s]" % self.host if ":" in self.host else self.host
        return "http://%s:%d" % (host, self.port)

    def same(self, other):
        return other is not None and (self.host, self.port) == (other.host, other.port)


def parse_url(url, whence="configure_debug"):
    """Only loopback: what is recorded and what is evaluated is nobody else's business."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        host, port = None, None
    if parts.scheme != "http" or host not in LOOPBACK:
        raise ValueError(
            "the server URL must be http://localhost, http://127.0.0.1 or http://[::1] with a port, not %r" % url
        )
    # `localhost` may resolve to ::1 first, where our server also listens, but slower.
    return Address("127.0.0.1" if host == "localhost" else host, port, whence)


def find_server(configured=None):
    """The server to talk to now: a restarted one may have another port, so this is asked at each connect."""
    if configured is not None:
        return configured
    for name in ("HOLDPOINT_URL", "CIDELDILL_SERVER_URL"):
        url = os.environ.get(name)
        if url:
            try:
                return parse_url(url, "$" + name)
            except ValueError:
                pass  # A wrong address in the environment must not end the app; the next place is tried.
    for path in port_files():
        port = read_port(path)
        if port is not None:
            return Address("127.0.0.1", port, path)
    return Address("127.0.0.1", DEFAULT_PORT, "the default port")


def port_files():
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


def read_port(path):
    try:
        with open(path, "rb") as file:
            port = int(file.read(16))
    except (OSError, ValueError):
        return None
    return port if 0 < port < 65536 else None


def environment_mode():
    """`(mode, server URL or None)` from `$HOLDPOINT` or `$CIDELDILL`: `MODE [SERVER_URL …]`."""
    for name in ("HOLDPOINT", "CIDELDILL"):
        try:
            words = shlex.split(os.environ.get(name, ""))
        except ValueError:
            words = []
        if words and words[0].upper() in MODES:
            return words[0].upper(), words[1] if len(words) > 1 else None
    return "OFF", None
