"""What the server sends unasked: our own notification, the log message, the resource update."""

import pytest

from client import HANDSHAKE_WAYS, WAYS, connect
from peer import HANDSHAKE, LOG, NOTE, UPDATED, Way
from server import Server, running


@pytest.mark.parametrize("way", HANDSHAKE_WAYS, ids=str)
async def test_a_note_is_announced_once_as_our_own_notification_and_once_as_a_log_message(server, way):
    async with connect(server, way) as client:
        seq = await client.note("one")
        await client.note("two")
        for text in ["one", "two"]:
            await client.inbox.note(text)
            await client.inbox.log(text)
        notes, logs = client.inbox.of(NOTE), client.inbox.of(LOG)
        # What was not subscribed to is not told.
        assert len(client.inbox.heard) == len(notes) + len(logs) == 4
    announced = sorted(notes, key=lambda note: note["seq"])[0]
    assert set(announced) == {"seq", "at", "kind", "data"}
    assert (announced["seq"], announced["kind"]) == (seq, "note")
    assert announced["data"] == {"text": "one", "by": "pytest"}
    logged = sorted(logs, key=lambda log: log["data"]["seq"])[0]
    assert logged == {"level": "notice", "logger": "holdpoint.timeline", "data": announced}


@pytest.mark.parametrize("way", HANDSHAKE_WAYS, ids=str)
async def test_a_note_made_right_after_connecting_is_announced(tmp_path, way):
    for attempt in range(20):
        home = tmp_path / str(attempt)
        home.mkdir(mode=0o700)
        with running(Server(home), way.transport) as server:
            async with connect(server, way) as client:
                await client.note("early")
                await client.inbox.note("early")


@pytest.mark.parametrize("way", HANDSHAKE_WAYS, ids=str)
async def test_the_level_keeps_log_messages_away_and_nothing_else(server, way):
    async with connect(server, way) as client:
        await client.set_level("warning")
        await client.note("quiet")
        await client.inbox.note("quiet")
        await client.set_level("notice")
        await client.note("loud")
        await client.inbox.log("loud")
        assert [log["data"]["data"]["text"] for log in client.inbox.of(LOG)] == ["loud"]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_watched_resource_is_told_of_until_it_is_no_longer_watched(server, way):
    async with connect(server, way) as client:
        async with client.watching("holdpoint://timeline"):
            await client.note("seen")
            assert await client.inbox.wait(UPDATED) == {"uri": "holdpoint://timeline"}
        before = len(client.inbox.of(UPDATED))
        async with client.watching("holdpoint://timeline/note"):
            await client.note("seen by the other")
            await client.inbox.wait(UPDATED, lambda params: params["uri"] == "holdpoint://timeline/note")
            assert len(client.inbox.of(UPDATED)) == before + 1


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_change_right_after_the_subscription_is_told(server, way):
    async with connect(server, way) as client:
        for attempt in range(20):
            async with client.watching("holdpoint://timeline/note"):
                already = len(client.inbox.of(UPDATED))
                await client.note(f"early {attempt}")
                await client.inbox.count(UPDATED, already + 1)


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_watcher_hears_only_of_its_own_resource(server, way):
    async with connect(server, way) as client:
        await client.status()  # Its own coming is over and not heard of.
        async with client.watching("holdpoint://timeline/client_connected"):
            await client.note("not a client")
            async with connect(server, Way("sse", HANDSHAKE), name="another"):
                await client.inbox.wait(UPDATED)
            assert client.inbox.of(UPDATED) == [{"uri": "holdpoint://timeline/client_connected"}]
