"""Calls that wait: answered by what happens, shown to be alive, cancelled."""

from pathlib import Path

import anyio
import pytest

from client import HANDSHAKE_WAYS, WAYS, connect
from peer import Way
from server import Server, running

CALLS_IN_FLIGHT = 64


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_waiting_call_is_answered_by_the_event_it_waits_for(server, way):
    async with connect(server, way) as client, anyio.create_task_group() as group:
        since = (await client.call("server_status")).seq
        waiting = await client.start(group, "timeline_query", {"since": since, "kinds": ["note"], "timeout_s": 30})
        await client.status()
        assert not waiting.done.is_set()
        started = anyio.current_time()
        seq = await client.note("at last")
        [event] = (await waiting.wait()).data["events"]
        assert anyio.current_time() - started < 1
        assert (event["seq"], event["data"]["text"]) == (seq, "at last")


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_call_that_waits_in_vain_says_so_in_time(server, way):
    async with connect(server, way) as client:
        started = anyio.current_time()
        answer = await client.call("timeline_query", {"since": 1000, "timeout_s": 0.3})
        assert 0.3 <= anyio.current_time() - started < 2
        assert answer.text == "no event after seq 1000"
        assert answer.data["events"] == []


async def test_a_waiting_call_shows_that_it_is_alive_every_ten_seconds(tmp_path):
    """All ways at once, because it takes so long."""
    async with anyio.create_task_group() as group:
        for way in WAYS:
            group.start_soon(wait_for_a_sign, tmp_path / str(way), way)


async def wait_for_a_sign(home: Path, way: Way) -> None:
    signs = []
    signed = anyio.Event()

    async def on_progress(progress, total, message) -> None:
        signs.append((progress, total, message))
        signed.set()

    home.mkdir(mode=0o700)
    with running(Server(home), way.transport) as server:
        async with connect(server, way) as client, anyio.create_task_group() as group:
            since = (await client.call("server_status")).seq
            arguments = {"since": since, "kinds": ["note"], "timeout_s": 30}
            waiting = await client.start(group, "timeline_query", arguments, on_progress)
            with anyio.fail_after(15):
                await signed.wait()
            await client.note("enough")
            answer = await waiting.wait()
            [(progress, total, message)] = signs
            assert 9.5 < progress < 12
            assert total == 30
            assert message == f"waiting for an event after seq {since}"
            assert [event["data"]["text"] for event in answer.data["events"]] == ["enough"]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_cancelling_ends_the_work_and_hurts_nothing_else(talkative_server, way):
    async with connect(talkative_server, way) as client, anyio.create_task_group() as group:
        since = (await client.call("server_status")).seq
        wait = {"since": since, "kinds": ["note"], "timeout_s": 60}
        cancelled = await client.start(group, "timeline_query", wait)
        kept = await client.start(group, "timeline_query", wait)
        await client.status()
        assert not cancelled.done.is_set()
        started = anyio.current_time()
        await cancelled.cancel()
        await client.status()
        assert anyio.current_time() - started < 1
        await talkative_server.said("[E_CANCELLED] `timeline_query` was cancelled")
        await client.note("for the one that is left")
        assert [event["kind"] for event in (await kept.wait()).data["events"]] == ["note"]
        assert cancelled.answer is None
    assert talkative_server.stderr.count("E_CANCELLED") == 1


# The bound is per connection, and a stateless HTTP client has none.
@pytest.mark.parametrize("way", HANDSHAKE_WAYS, ids=str)
async def test_cancelling_makes_room_for_other_calls(server, way):
    async with connect(server, way) as client, anyio.create_task_group() as group:
        wait = {"since": 1000, "timeout_s": 60}
        pending = [await client.start(group, "timeline_query", wait) for _ in range(CALLS_IN_FLIGHT)]
        refused = await until_refused(client)
        assert refused.text.startswith(f"[E_BUSY] {CALLS_IN_FLIGHT} calls are under way already\nhint: ")
        for call in pending:
            assert not call.done.is_set()
        for call in pending:
            await call.cancel()
        with anyio.fail_after(5):
            while (answer := await client.call("server_status")).failed:
                pass
        assert answer.data["pid"]


async def until_refused(client):
    # Over HTTP the calls are on many connections, and come when they come.
    with anyio.fail_after(5):
        while not (answer := await client.call("server_status")).failed:
            pass
    return answer
