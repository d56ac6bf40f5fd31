"""The official Python SDK, whichever major version is installed.

Tests run unchanged under both. Both speak the handshake of revision 2025-11-25; 2.x also speaks the
stateless revision 2026-07-28. A case that a revision does not have is left out of the lists of ways
here, by construction: no test decides to skip.
"""

import importlib.metadata
import logging
from contextlib import asynccontextmanager, contextmanager

import anyio

from peer import HANDSHAKE, STATELESS, Inbox, Way
from server import Server

SDK = int(importlib.metadata.version("mcp").split(".")[0])

if SDK == 1:
    from sdk1 import ProtocolError as ProtocolError, open_peer
else:
    from sdk2 import ProtocolError as ProtocolError, open_peer

REVISIONS = [HANDSHAKE] if SDK == 1 else [HANDSHAKE, STATELESS]
WAYS = [Way(transport, revision) for revision in REVISIONS for transport in ["stdio", "sse", "http"]]
# 2026-07-28 has no custom notifications, no logging/setLevel, and no log message outside a request.
HANDSHAKE_WAYS = [way for way in WAYS if way.revision == HANDSHAKE]
# A stateless HTTP client is one request at a time: it never connects and never leaves.
LASTING_WAYS = [way for way in WAYS if way != Way("http", STATELESS)]
STDIO_WAYS = [way for way in WAYS if way.transport == "stdio"]


@asynccontextmanager
async def connect(server: Server, way: Way, name: str = "pytest"):
    """A client of that server; over stdio it starts the server."""
    async with open_peer(server, way, name, Inbox()) as peer:
        with warnings_of_the_sdk() as warnings:
            yield peer
        assert peer.inbox.faults == []
        # How a session ends is a test of its own; here another client may have ended one.
        assert [text for text in warnings if "Session termination failed" not in text] == []


@contextmanager
def warnings_of_the_sdk():
    """The SDK warns of what it finds odd in a server, and its users see that: it may not find anything."""
    warnings: list[str] = []
    handler = logging.Handler(logging.WARNING)

    def emit(record: logging.LogRecord) -> None:
        # What still comes in while a client leaves is the client's own affair.
        if not (record.exc_info and record.exc_info[0] is anyio.ClosedResourceError):
            warnings.append(record.getMessage())

    handler.emit = emit
    logging.root.addHandler(handler)
    try:
        yield warnings
    finally:
        logging.root.removeHandler(handler)
