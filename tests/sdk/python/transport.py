"""The SDK's three transports, which both major versions open in the same way."""

import math
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from peer import Way
from server import Server


@asynccontextmanager
async def open_transport(server: Server, way: Way):
    with server.stderr_file() as stderr:
        match way.transport:
            case "stdio":
                command, arguments = server.stdio_command()
                parameters = StdioServerParameters(command=command, args=arguments, env=server.env)
                opened = stdio_client(parameters, errlog=stderr)
            case "sse":
                opened = sse_client(f"{server.url}/mcp/sse")
            case "http":
                opened = streamable_http_client(f"{server.url}/mcp")
        async with drained(opened) as streams:
            yield streams


@asynccontextmanager
async def drained(transport):
    """Takes what the server sends until the very end.

    The SDK's own session stops taking before its transport stops reading: a notification in between
    crashes the transport, and 1.x then kills the server.
    """
    to_session, from_server = anyio.create_memory_object_stream(math.inf)

    async def drain(read) -> None:
        with to_session, suppress(anyio.ClosedResourceError):
            async for message in read:
                with suppress(anyio.BrokenResourceError):  # The session has gone already.
                    to_session.send_nowait(message)

    async with anyio.create_task_group() as group:
        async with transport as (read, write, *_):
            group.start_soon(drain, read)
            yield from_server, write
        group.cancel_scope.cancel()
