"""Connecting, and going again."""

import re
import subprocess

import anyio
import pytest

from client import LASTING_WAYS, STDIO_WAYS, WAYS, connect, warnings_of_the_sdk
from peer import HANDSHAKE, Way
from server import BINARY, is_running

# Over stdio the server ends with its client, so nobody is left to see it go: that is a test of its own.
SEEN_LEAVING_WAYS = [way for way in LASTING_WAYS if way.transport != "stdio"]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_the_server_says_who_it_is_and_what_it_can(server, way):
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True, check=True).stdout
    async with connect(server, way) as client:
        assert f"{client.hello.name} {client.hello.version}" == version.strip()
        assert client.hello.protocol == way.revision
        assert client.hello.capabilities == {
            "completions": {},
            "logging": {},
            "prompts": {},
            "resources": {"subscribe": True},
            "tools": {},
        }


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_the_instructions_name_what_exists(server, way):
    async with connect(server, way) as client:
        tools = set(await client.tools())
        named = set(re.findall(r"`([a-z]+_[a-z_]+)`", client.hello.instructions))
    assert named <= tools
    assert "timeline_query" in named


@pytest.mark.parametrize("way", LASTING_WAYS, ids=str)
async def test_a_client_is_listed_by_its_own_name(server, way):
    async with connect(server, way, name="an agent") as client:
        status = await client.status()
        assert status["clients"] == 1
        [row] = status["client_list"]
        assert row["id"]
        assert (row["name"], row["transport"], row["protocol"]) == ("an agent", way.transport, way.revision)


@pytest.mark.parametrize("way", SEEN_LEAVING_WAYS, ids=str)
async def test_a_client_is_seen_to_come_and_to_go(server, way):
    async with connect(server, Way("http", HANDSHAKE), name="observer") as observer:
        before = (await observer.call("server_status")).seq
        async with connect(server, way, name="brief"):
            # It has connected and done nothing else.
            [came] = await observer.wait_for_event(before, "client_connected")
            rows = (await observer.status())["client_list"]
            assert [row["name"] for row in rows] == ["observer", "brief"]
        [left] = await observer.wait_for_event(came["seq"], "client_left")
        for event in [came, left]:
            assert (event["data"]["name"], event["data"]["transport"]) == ("brief", way.transport)
        assert [row["name"] for row in (await observer.status())["client_list"]] == ["observer"]


@pytest.mark.parametrize("way", [Way("http", HANDSHAKE)], ids=str)
async def test_the_sdk_is_content_with_the_end_of_its_session(server, way):
    with warnings_of_the_sdk() as warnings:
        async with connect(server, way) as client:
            await client.status()
    assert warnings == []


@pytest.mark.parametrize("way", STDIO_WAYS, ids=str)
async def test_closing_the_client_ends_its_server(server, way):
    async with connect(server, way) as client:
        pid = (await client.status())["pid"]
        assert is_running(pid)
        closing = anyio.current_time()
    # The SDK waits 2 s for the server and then kills it: so it ended by itself.
    assert anyio.current_time() - closing < 1
    assert server.exit_code() == 0
    assert not is_running(pid)
    assert server.stderr == ""


@pytest.mark.parametrize("way", STDIO_WAYS, ids=str)
async def test_closing_in_the_middle_of_a_call_ends_the_server_too(server, way):
    async with anyio.create_task_group() as group:
        async with connect(server, way) as client:
            pid = (await client.status())["pid"]
            await client.start(group, "timeline_query", {"since": 1000, "timeout_s": 60})
            await client.status()  # The server reads in order, so it has taken the waiting call.
            closing = anyio.current_time()
        assert anyio.current_time() - closing < 1
        # 1.x would wait for an answer for ever.
        group.cancel_scope.cancel()
    assert server.exit_code() == 0
    assert not is_running(pid)
