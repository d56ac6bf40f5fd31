"""A real app under `holdpoint run`, and official clients that pause its calls and decide about them.

The contract's tests of several clients at once (90 to 92, 129 to 135), with a person at the REST API.
"""

import json
import urllib.request
from contextlib import contextmanager
from functools import partial
from subprocess import DEVNULL, PIPE, Popen

import anyio
import pytest

from client import HANDSHAKE_WAYS, WAYS, connect
from peer import COMPLETED, HANDSHAKE, PAUSED, RESUMED, UPDATED, Answer, Peer, Way
from server import BINARY, Server

# It sells until it is told to end, so that whatever is set meets it in the middle of its work.
SHOP = """\
import sys, threading

def price(count, each=2):
    return count * each

told = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), told.set()), daemon=True).start()
while not told.wait(0.01):
    print(price(3), flush=True)
"""
PRICE = "shop:price"

SSE = Way("sse", HANDSHAKE)
# The first starts the server where it comes by stdio.
PAIRS = [(Way(first, HANDSHAKE), Way(second, HANDSHAKE)) for first, second in [("stdio", "sse"), ("sse", "sse"), ("http", "sse")]]


@contextmanager
def shop(server: Server):
    """The app, running; what it prints is read by the test."""
    (server.home / "shop.py").write_text(SHOP)
    command = [BINARY, "run", "--url", server.url, "--watch", PRICE, "--", "python3", "shop.py"]
    app = Popen(command, cwd=server.home, env=server.env, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)
    try:
        yield app
        app.communicate("end\n", timeout=20)
        assert app.returncode == 0
    finally:
        app.kill()
        app.wait()


async def prints(app: Popen, line: str) -> None:
    """Reads on until the app prints this."""
    while True:
        printed = await anyio.to_thread.run_sync(app.stdout.readline)
        assert printed, "the app has ended"
        if printed == line + "\n":
            return


def rest(server: Server, method: str, path: str, body: dict | None = None) -> dict:
    """A person at the REST API."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


async def person(server: Server, *request) -> dict:
    return await anyio.to_thread.run_sync(partial(rest, server, *request))


async def ask(client: Peer, tool: str, **arguments) -> dict:
    """What a tool about calls says: one text, and it is JSON."""
    answer: Answer = await client.call(tool, arguments)
    found = json.loads(answer.text)
    assert not answer.failed, found
    return found


async def paused(client: Peer) -> str:
    """The pause of the app's next call."""
    waited = await client.call("breakpoint_wait", {"timeout_s": 20})
    assert waited.data["type"] == "paused_call", waited.text
    return waited.data["pause_id"]


async def settled(*clients: Peer) -> None:
    """All have heard of everything that the app did: an SDK complains of what comes while it closes."""
    await clients[0].note("the app has ended")
    for client in clients:
        if client.hello.protocol == HANDSHAKE:
            await client.inbox.note("the app has ended")


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_an_agent_pauses_looks_and_changes(server, way):
    async with connect(server, way) as agent:
        await agent.status()
        with shop(server) as app:
            await prints(app, "6")
            added = await ask(agent, "breakpoint_add", function_name=PRICE, behavior="stop")
            assert (added["status"], added["function_name"]) == ("ok", PRICE)
            await ask(agent, "breakpoint_set_after_behavior", function_name=PRICE, behavior="go")
            pause = await paused(agent)
            [listed] = (await ask(agent, "breakpoint_list_paused"))["paused"]
            assert (listed["id"], listed["call_data"]["pretty_args"]) == (pause, ["3"])
            seen = await ask(agent, "breakpoint_repl_eval", pause_id=pause, expression="print(count); count * each")
            assert (seen["is_error"], seen["stdout"]) == (False, "3\n")
            seen = await ask(agent, "breakpoint_repl_eval", pause_id=pause, expression="count * 7")
            assert seen["output"] == "21"
            # The next call pauses again: it is removed first.
            await ask(agent, "breakpoint_remove", function_name=PRICE)
            await ask(agent, "breakpoint_continue", pause_id=pause, modified_args=[50])
            await prints(app, "100")
            await prints(app, "6")
        records = await ask(agent, "breakpoint_get_call_records", function_name=PRICE, search="100")
        assert records["calls"][0]["decision"] == {"action": "modify", "modified_args": [50]}
        await settled(agent)


@pytest.mark.parametrize("way", [SSE], ids=str)
async def test_over_sse_breakpoints_are_added_and_listed(server, way):
    async with connect(server, way) as agent:
        assert agent.hello.name == "holdpoint"
        await ask(agent, "breakpoint_add", function_name="f", behavior="go")
        listed = await ask(agent, "breakpoint_list_breakpoints")
        assert (listed["breakpoints"], listed["behaviors"]) == (["f"], {"f": "go"})


@pytest.mark.parametrize(("way", "second"), PAIRS, ids=str)
async def test_whatever_one_client_does_the_others_see_and_all_are_told(server, way, second):
    async with connect(server, way) as one, connect(server, second) as two:
        await one.status()
        await ask(one, "breakpoint_add", function_name="by one", behavior="go")
        await ask(two, "breakpoint_add", function_name="by two", behavior="go")
        await person(server, "POST", "/api/breakpoints", {"function_name": "by a person", "behavior": "go"})
        for client in (one, two):
            assert (await ask(client, "breakpoint_list_breakpoints"))["breakpoints"] == ["by a person", "by one", "by two"]
        assert (await person(server, "GET", "/api/breakpoints"))["breakpoints"] == ["by a person", "by one", "by two"]
        with shop(server) as app:
            await prints(app, "6")
            await ask(one, "breakpoint_add", function_name=PRICE, behavior="stop")
            await ask(one, "breakpoint_set_after_behavior", function_name=PRICE, behavior="go")
            for client in (one, two):
                told = await client.inbox.wait(PAUSED, within=20)
                assert (told["method_name"], told["pause_reason"]) == (PRICE, "breakpoint")
                # Whoever is told can look at once.
                [listed] = (await ask(client, "breakpoint_list_paused"))["paused"]
                assert listed["id"] == told["pause_id"]
            await ask(one, "breakpoint_remove", function_name=PRICE)
            await ask(two, "breakpoint_continue", pause_id=told["pause_id"], action="skip", fake_result=-1)
            await prints(app, "-1")
            for client in (one, two):
                resumed = await client.inbox.wait(RESUMED, within=20)
                assert (resumed["pause_id"], resumed["action"]) == (told["pause_id"], "skip")
                call = listed["call_data"]["call_id"]
                completed = await client.inbox.wait(COMPLETED, lambda it: it["call_id"] == call, within=20)
                assert (completed["method_name"], completed["status"]) == (PRICE, "success")
        await settled(one, two)


@pytest.mark.parametrize("way", HANDSHAKE_WAYS, ids=str)
async def test_agents_and_a_person_add_and_remove_at_once(server, way):
    """While an app runs that hears of every change of its function."""
    async with connect(server, way) as one, connect(server, SSE) as two, connect(server, Way("http", HANDSHAKE)) as three:
        await one.status()
        # A breakpoint on a function would pause after each call as well.
        await ask(one, "breakpoint_set_default_behavior", behavior="go")
        with shop(server) as app:
            await prints(app, "6")

            async def agent(client: Peer, name: str) -> None:
                for number in range(20):
                    await ask(client, "breakpoint_add", function_name=f"{name}{number}", behavior="go")
                    await ask(client, "breakpoint_add", function_name=PRICE, behavior="go")
                    if number % 2:
                        await ask(client, "breakpoint_remove", function_name=f"{name}{number}")

            async def human() -> None:
                for number in range(20):
                    await person(server, "POST", "/api/breakpoints", {"function_name": f"human{number}", "behavior": "go"})
                    if number % 2:
                        await person(server, "DELETE", f"/api/breakpoints/human{number}")

            async with anyio.create_task_group() as group:
                group.start_soon(agent, one, "one")
                group.start_soon(agent, two, "two")
                group.start_soon(agent, three, "three")
                group.start_soon(human)
            kept = {PRICE} | {f"{who}{number}" for who in ("one", "two", "three", "human") for number in range(0, 20, 2)}
            for client in (one, two, three):
                assert set((await ask(client, "breakpoint_list_breakpoints"))["breakpoints"]) == kept
            assert set((await person(server, "GET", "/api/breakpoints"))["breakpoints"]) == kept
            await ask(one, "breakpoint_remove", function_name=PRICE)
        await settled(one, two, three)


@pytest.mark.parametrize("way", [SSE], ids=str)
async def test_a_client_that_goes_leaves_the_pause_to_the_others(server, way):
    async with connect(server, way) as stays:
        with shop(server) as app:
            await prints(app, "6")
            async with connect(server, way) as goes:
                await ask(goes, "breakpoint_add", function_name=PRICE, behavior="stop")
                pause = await paused(goes)
            await ask(stays, "breakpoint_remove", function_name=PRICE)
            await ask(stays, "breakpoint_continue", pause_id=pause, action="skip", fake_result=-1)
            await prints(app, "-1")
        await settled(stays)


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_pause_changes_the_resource_that_is_watched(server, way):
    async with connect(server, way) as agent:
        await agent.status()
        with shop(server) as app:
            await prints(app, "6")
            async with agent.watching("breakpoint://paused"):
                await ask(agent, "breakpoint_add", function_name=PRICE, behavior="stop")
                assert await agent.inbox.wait(UPDATED, within=20) == {"uri": "breakpoint://paused"}
                pause = await paused(agent)
            [listed] = json.loads((await agent.read("breakpoint://paused"))["text"])["paused"]
            assert listed["id"] == pause
            prompt = await agent.prompt("inspect-paused-call", {"pause_id": pause})
            assert pause in prompt["messages"][0]["content"]["text"]
            await ask(agent, "breakpoint_remove", function_name=PRICE)
            await ask(agent, "breakpoint_continue", pause_id=pause)
        await settled(agent)
