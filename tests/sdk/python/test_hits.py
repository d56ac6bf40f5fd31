"""A real program stops at a breakpoint, and the official client hears of it without asking."""

import pytest

from client import HANDSHAKE_WAYS, WAYS, connect
from peer import HIT, LOG, STATE, UPDATED

PROGRAM = """\
let total = 0;
for (let i = 0; i < 3; i++) {
  total += i;
}
"""
LINE = 3


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "program.js"
    file.write_text(PROGRAM)
    return str(file.resolve())


def launch(program: str) -> dict:
    points = [{"file": program, "line": LINE}]
    return {"program": program, "breakpoints": points, "stop_on_entry": False}


@pytest.mark.parametrize("way", HANDSHAKE_WAYS, ids=str)
async def test_each_hit_is_heard_once_in_order_with_its_place(server, way, program):
    async with connect(server, way) as client:
        stopped = await client.call("debug_launch", launch(program))
        assert stopped.data["state"] == "stopped"
        for _ in range(2):
            await client.call("debug_continue")
        await client.inbox.count(HIT, 3)
        hits = client.inbox.of(HIT)
        assert sorted(hit["hit_count"] for hit in hits) == [1, 2, 3]
        first = hits[0]
        assert (first["breakpoint_id"], first["type"], first["session_id"]) == (1, "breakpoint", "s1")
        assert (first["location"]["file"], first["location"]["line"]) == (program, LINE)
        assert first["seq"] == stopped.data["seq"]
        assert {"thread_id", "timestamp"} <= set(first)
        # The same for those that drop what they do not know.
        logged = await client.inbox.wait(LOG, lambda log: log["data"]["kind"] == "stopped")
        assert logged["data"]["data"]["line"] == LINE
        await client.call("debug_stop")
        await client.inbox.wait(STATE, lambda state: state["new"] == "ended")
        assert len(client.inbox.of(HIT)) == 3


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_stop_changes_the_resource_that_is_watched(server, way, program):
    async with connect(server, way) as client:
        async with client.watching("holdpoint://timeline/stopped"):
            await client.call("debug_launch", launch(program))
            assert await client.inbox.wait(UPDATED) == {"uri": "holdpoint://timeline/stopped"}
            read = await client.read("holdpoint://timeline/stopped")
            assert '"reason":"breakpoint"' in read["text"]
        await client.call("debug_stop")


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_waiting_for_a_breakpoint_is_answered_by_its_hit(server, way, program):
    async with connect(server, way) as client:
        stopped = await client.call("debug_launch", launch(program))
        await client.call("debug_continue", {"timeout_s": 0})
        hit = await client.call("breakpoint_wait", {"since": stopped.data["seq"], "ids": [1]})
        assert (hit.data["hit"], hit.data["hit_count"]) == (True, 2)
        await client.call("debug_stop")
