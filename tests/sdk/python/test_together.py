"""Several clients of one server: they see each other, and the death of one is no harm to the other."""

import os
import signal
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest

from client import LASTING_WAYS, REVISIONS, STDIO_WAYS, WAYS, connect
from peer import HANDSHAKE, UPDATED, Way
from server import TALKATIVE, Server, is_running

# The end of a connection is noticed at once. The server's SDK alone would wait 5 s for what is still open.
NOTICED_S = 3

# The first client is the one that starts the server when it comes by stdio, so the second never does.
PAIRS = [
    (Way(first, revision), Way(second, other))
    for first, second in [("stdio", "http"), ("stdio", "sse"), ("sse", "http"), ("http", "http")]
    for revision in REVISIONS
    for other in REVISIONS
]


@pytest.mark.parametrize(("way", "second"), PAIRS, ids=lambda way: str(way))
async def test_two_clients_see_each_other_and_each_others_notes(server, way, second):
    async with connect(server, way, name="first") as one, connect(server, second, name="second") as two:
        since = (await one.call("server_status")).seq
        async with one.watching("holdpoint://timeline/note"), two.watching("holdpoint://timeline/note"):
            await one.note("from the first")
            await two.note("from the second")
            for client in [one, two]:
                await client.inbox.wait(UPDATED)
                events = await client.wait_for_event(since, "note")
                assert [(event["data"]["text"], event["data"]["by"]) for event in events] == [
                    ("from the first", "first"),
                    ("from the second", "second"),
                ]
                if client.hello.protocol == HANDSHAKE:
                    assert (await client.inbox.note("from the first"))["data"]["by"] == "first"
                    assert (await client.inbox.note("from the second"))["data"]["by"] == "second"
        expected = {
            ("first", way.transport, way.revision),
            ("second", second.transport, second.revision),
        }
        expected = {row for row in expected if Way(*row[1:]) in LASTING_WAYS}
        for client in [one, two]:
            rows = (await client.status())["client_list"]
            assert {(row["name"], row["transport"], row["protocol"]) for row in rows} == expected


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_client_killed_in_the_middle_of_a_call_is_no_harm_to_another(tmp_path, way):
    # Over stdio the victim starts the server; this one is told to outlive it.
    server = Server(tmp_path, *(["--keep-alive"] if way.transport == "stdio" else []), log=TALKATIVE)
    if way.transport != "stdio":
        server.start()
    async with victim(server, way) as killed:
        async with connect(server, Way("http", HANDSHAKE), name="observer") as observer:
            since = (await observer.call("server_status")).seq
            killed.kill()
            if way.transport != "http":
                # A streamable HTTP session outlives its connections, and a stateless client has none.
                [left] = await observer.wait_for_event(since, "client_left", within=NOTICED_S)
                assert (left["data"]["name"], left["data"]["transport"]) == ("victim", way.transport)
                assert [row["name"] for row in (await observer.status())["client_list"]] == ["observer"]
            if way != Way("http", HANDSHAKE):
                # Nobody waits for the answer, so nobody works on it. A session's client may come back for it.
                await server.said("[E_CANCELLED] `timeline_query` was cancelled")
            await observer.note("still here")
            await observer.inbox.note("still here")
        if way.transport == "stdio":
            os.kill(killed.server_pid, signal.SIGTERM)
            assert server.exit_code() == 0
        else:
            assert server.stop() == 0
    assert server.complaints() == []


@pytest.mark.parametrize("way", STDIO_WAYS, ids=str)
async def test_the_server_of_a_killed_client_ends_by_itself(tmp_path, way):
    server = Server(tmp_path, log=TALKATIVE)
    async with victim(server, way) as killed:
        killed.kill()
        assert server.exit_code(within=NOTICED_S) == 0
        assert not is_running(killed.server_pid)
    assert not (tmp_path / "port").exists()
    assert server.complaints() == []


@asynccontextmanager
async def victim(server: Server, way: Way):
    """A client in a process of its own, with a call that waits and a subscription that is open."""
    script = Path(__file__).with_name("victim.py")
    command = [sys.executable, str(script), str(server.home), way.transport, way.revision, *server.extra]
    process = await anyio.open_process(command, stderr=None)
    process.server_pid = None
    try:
        with anyio.fail_after(10):
            process.server_pid = int(await process.stdout.receive())
        yield process
    finally:
        with suppress(ProcessLookupError):  # It is dead already when all went well.
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.aclose()
        server.kill(process.server_pid)
