"""The client with the real server: every row of the action table, decided by a person over REST and by an agent over MCP
at the same pause; and the server dying in the middle.
"""

import json
import threading
import time

import pytest

from conftest import App
from server import BINARY, Agent, Server, until

SHOP = """
    import holdpoint, sys, threading, asyncio
    holdpoint.with_debug("ON")
    SECRET = 42
    ran = []

    class Refused(Exception):
        pass

    @holdpoint.debug
    def charge(customer, amount, currency="EUR"):
        ran.append(1)
        if amount < 0: raise Refused("negative")
        return "%s %s %s" % (customer, amount, currency)

    @holdpoint.debug
    def free(customer, amount, currency="EUR"):
        return "free for %s" % customer

    def sell(customer, amount, **more):
        basket = ["pen", customer]
        try:
            print(charge(customer, amount, **more))
        except Exception as error:
            print(type(error).__name__, error)
"""
SELL = SHOP + "\n    sell('ann', 5, currency='USD')\n    print(len(ran))\n"


@pytest.fixture
def server(tmp_path):
    started = Server(tmp_path)
    yield started
    started.kill()


@pytest.fixture
def agent(server):
    return Agent(server)


ROWS = {
    "continue": ({"action": "continue"}, ["ann 5 USD", "1"]),
    "modify both": ({"modified_args": ["bob", 7], "modified_kwargs": {"currency": "GBP"}}, ["bob 7 GBP", "1"]),
    "modify arguments": ({"modified_args": ["bob", 7]}, ["bob 7 USD", "1"]),
    "modify keywords": ({"modified_kwargs": {"currency": "GBP"}}, ["ann 5 GBP", "1"]),
    "skip with a result": ({"action": "skip", "fake_result": {"paid": [1, 2.5, None]}}, ["{'paid': [1, 2.5, None]}", "0"]),
    "skip": ({"action": "skip"}, ["None", "0"]),
    "raise a builtin": ({"action": "raise", "exception_type": "KeyError", "exception_message": "no"}, ["KeyError 'no'", "0"]),
    "raise the app's own": ({"action": "raise", "exception_type": "Refused", "exception_message": "no"}, ["Refused no", "0"]),
    "replace": ({"replacement_function": "free"}, ["free for ann", "0"]),
}


@pytest.mark.parametrize("who", ["person", "agent"])
@pytest.mark.parametrize("row", ROWS)
def test_an_action(server, agent, app, row, who):
    fields, printed = ROWS[row]
    if "modified" in " ".join(fields):
        fields = dict(fields, action="modify" if who == "person" else "continue")
    agent.call("breakpoint_add", function_name="charge", behavior="stop")
    agent.call("breakpoint_set_after_behavior", function_name="charge", behavior="go")
    run = app(SELL)
    pause = server.paused()
    # Both see the same pause.
    [seen] = agent.call("breakpoint_list_paused")["paused"]
    assert seen["id"] == pause["id"]
    for data in (seen["call_data"], pause["call_data"]):
        assert data["method_name"] == "charge"
        assert data["pretty_args"] == ["'ann'", "5"] and data["pretty_kwargs"] == {"currency": "'USD'"}
        assert data["process_pid"] == run.pid
    # Both look into the paused app.
    assert server.evaluate(pause["id"], "SECRET + amount")["output"] == "47"
    assert agent.call("breakpoint_repl_eval", pause_id=pause["id"], expression="basket")["output"] == "['pen', 'ann']"
    # One decides, and the other is told that it is done.
    if who == "person":
        server.resume(pause["id"], **fields)
        assert "error" in agent.call("breakpoint_continue", pause_id=pause["id"])
    else:
        assert agent.call("breakpoint_continue", pause_id=pause["id"], **fields)["status"] == "ok"
        assert server.ok("GET", "/api/paused")["paused"] == []
    assert run.end() == printed
    [record] = server.records("charge")
    assert record["status"] == ("exception" if "raise" in row else "success")
    # It says what was decided, beside the arguments that the caller gave.
    assert record["pretty_args"] == ["'ann'", "5"] and record["pretty_kwargs"] == {"currency": "'USD'"}
    decision = {name: fields[name] for name in ("modified_args", "modified_kwargs") if name in fields}
    decision["action"] = "modify" if decision else row.split()[0]
    if row == "replace":
        decision["function_name"] = "free"
    assert record["decision"] == decision
    assert run.stderr == ""


def test_what_cannot_be_done_is_in_the_record(server, agent, app):
    server.set("charge", before="stop", after="go")
    run = app(SELL)
    answer = agent.call("breakpoint_continue", pause_id=server.paused()["id"], replacement_function="nobody")
    assert answer["warning"].startswith("no app has registered")
    assert run.end() == ["ann 5 USD", "1"]
    [record] = server.records("charge")
    assert record["decision"] == {
        "action": "replace",
        "function_name": "nobody",
        "not_done": "no function 'nobody' is wrapped in this process",
    }


@pytest.mark.parametrize("who", ["person", "agent"])
def test_an_exception_pauses_for_real(server, agent, app, who):
    server.set("charge", before="go", after="exception")
    run = app(SHOP + "\n    sell('ann', -5)\n")
    pause = server.paused()
    assert pause["call_data"]["pause_reason"] == "exception"
    assert server.evaluate(pause["id"], "str(exception), amount")["output"] == "('negative', -5)"
    assert run.output == []
    if who == "person":
        server.resume(pause["id"], action="continue")
    else:
        agent.call("breakpoint_continue", pause_id=pause["id"])
    assert run.end() == ["Refused negative"]
    [record] = server.records("charge")
    assert record["exception_type"] == "__main__.Refused" and record["exception_message"] == "negative"


@pytest.mark.parametrize("action", ["continue", "skip", "raise"])
def test_after_a_call_everything_means_continue(server, app, action):
    server.set("charge", before="go", after="stop")
    run = app(SELL)
    pause = server.paused()
    assert pause["call_data"]["pretty_result"] == "'ann 5 USD'"
    server.resume(pause["id"], action=action, fake_result=1, exception_type="KeyError")
    assert run.end() == ["ann 5 USD", "1"]


def test_a_name_with_a_slash_and_other_signs(server, app):
    """Such a name could be registered and never reached."""
    name = "weird/name <α>.%2F"
    server.set(name, before="stop", after="go")
    run = app(SHOP + "\n    print(holdpoint.with_debug((%r, len))('abc'))\n" % name)
    pause = server.paused()
    assert pause["call_data"]["method_name"] == name
    server.resume(pause["id"], action="skip", fake_result=7)
    assert run.end() == ["7"]
    assert server.records(name)


def test_a_preset_replacement(server, app):
    run = app(
        SHOP
        + """
    import time
    holdpoint.flush()
    print("ready")
    # The app learns of it by itself; until then the call is its own.
    while charge("ann", 5) != "free for ann":
        time.sleep(0.001)
    print("replaced")
    """
    )
    run.line("ready")
    # A callpoint begins with the default behavior, and nobody is here to resume.
    server.ok("POST", "/api/behavior", {"behavior": "go"})
    server.set("charge", replacement="free")
    assert run.end() == ["ready", "replaced"]
    [replaced] = [it for it in server.records("charge") if it["pretty_result"] == "'free for ann'"]
    assert replaced["decision"] == {"action": "replace", "function_name": "free"}


def test_an_asynchronous_call(server, app):
    server.set("fetch", before="stop", after="stop")
    run = app(
        SHOP
        + """
    @holdpoint.debug
    async def fetch(url):
        return "page of " + url
    async def main():
        waiting = asyncio.ensure_future(fetch("u"))
        ticks = 0
        while not waiting.done():
            ticks += 1
            if ticks == 20: print("ticking")
            await asyncio.sleep(0.001)
        print(waiting.result())
    asyncio.run(main())
    """
    )
    run.line("ticking")
    pause = server.paused()
    assert server.evaluate(pause["id"], "await asyncio.sleep(0, url)")["output"] == "'u'"
    server.resume(pause["id"], action="modify", modified_args=["v"])
    after = until("the second pause", lambda: [p for p in server.ok("GET", "/api/paused")["paused"] if p["id"] != pause["id"]])
    server.resume(after[0]["id"])
    assert run.end() == ["ticking", "page of v"]


def test_records_of_the_fast_path(server, app):
    run = app(
        SHOP
        + """
    class Item:
        def __init__(self, name, price): self.name, self.price = name, price
    lock = threading.Lock()
    for n in range(300): charge(Item("pen", 1.5), n, currency=lock)
    """
    )
    run.end()
    records = server.records("charge", 300)
    assert len(records) == 300
    newest = records[0]
    assert newest["pretty_args"][0] == "Item(name='pen', price=1.5)" and newest["pretty_args"][1] == "299"
    assert "lock" in str(newest["pretty_kwargs"]["currency"])
    assert newest["thread_name"] == "MainThread" and newest["thread_id"] == run.pid
    assert newest["call_site"]["stack_trace"][0]["function"] == "<module>"
    functions = server.ok("GET", "/api/functions")
    assert functions["function_signatures"]["charge"] == "(customer, amount, currency='EUR')"


def test_a_callpoint_takes_effect_in_a_running_app(server, agent, app):
    run = app(
        SHOP
        + """
    stop = threading.Event()
    threading.Thread(target=lambda: (input(), stop.set())).start()
    while not stop.is_set():
        if charge("ann", 1) == "caught":
            print("caught")
    """
    )
    server.records("charge", 10)
    agent.call("breakpoint_add", function_name="charge", behavior="stop")
    pause = server.paused()
    agent.call("breakpoint_remove", function_name="charge")
    agent.call("breakpoint_continue", pause_id=pause["id"], action="skip", fake_result="caught")
    run.line("caught")
    run.tell()
    run.end()


def test_the_same_decision_as_the_server(server, app):
    """Client and server have the table each; where they differ, a call asks in vain or passes unasked."""
    for before in ("stop", "go", "yield"):
        for after in ("stop", "go", "yield", "exception", "stop_exception"):
            server.set("f_%s_%s" % (before, after), before=before, after=after)
    run = app(
        """
    import holdpoint, sys, json
    from holdpoint._runtime import runtime
    from holdpoint._points import decide
    holdpoint.with_debug("ON")
    for line in sys.stdin:
        version = int(line)
        while runtime.state.version != version:
            pass
        found = {n: decide(runtime.state, n)[:3] for n in runtime.state.callpoints}
        print(json.dumps(found))
    """
    )
    printed = 0
    for default in ("stop", "go", "exception", "stop_exception"):
        server.ok("POST", "/api/behavior", {"behavior": default})
        run.tell(str(server.ok("GET", "/api/callpoints/watch")["version"]))
        until("an answer", lambda: len(run.output) > printed)
        found = json.loads(run.output[printed])
        printed += 1
        assert len(found) == 15
        for name, decision in found.items():
            assert decision == asked(server, name), (default, name)
    run.process.stdin.close()
    run.process.stdin = open("/dev/null", "w")
    run.end()


def asked(server, name):
    """What the server itself does with a call of this name: pauses before, after success, after an exception."""
    found = []
    for status in ("success", "exception"):
        body = {"method_name": name, "process_pid": 1, "process_start_time": 1.0, "args": [], "kwargs": {}}
        body["idempotency_key"] = "%s %s %s" % (name, status, len(server.ok("GET", "/api/paused")["paused"]))
        body["call_site"] = {"timestamp": time.time(), "stack_trace": []}
        start = server.ok("POST", "/api/call/start", body)
        end = server.ok("POST", "/api/call/complete", {"call_id": start["call_id"], "status": status})
        found.append((start["action"] == "poll", end.get("action") == "poll"))
        if end.get("action") == "poll":
            server.resume(end["poll_url"].rsplit("/", 1)[1])
    assert found[0][0] == found[1][0]
    return [found[0][0], found[0][1], found[1][1]]


def test_the_server_is_killed_in_the_middle_of_eight_threads(server, app, tmp_path):
    run = app(
        SHOP
        + """
    import time
    counts = [0] * 8
    stop = threading.Event()
    def work(n):
        while not stop.is_set():
            charge("thread %d" % n, counts[n])
            counts[n] += 1
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads: t.start()
    for line in sys.stdin:
        print(line.strip(), min(counts) > 0)
        counts[:] = [0] * 8
        while min(counts) == 0: time.sleep(0.01)
    stop.set()
    for t in threads: t.join()
    print("all done")
    """
    )
    server.records("charge", 100)
    server.kill()
    run.tell("killed")
    run.line("killed True")
    again = Server(tmp_path)
    try:
        # The file opens, what was taken is there, and the app is back by itself.
        before = len(again.records("charge", 100))
        assert before >= 100
        until("the app", lambda: again.ok("GET", "/api/functions")["functions"])
        run.tell("back")
        run.line("back True")
        again.set("charge", before="stop", after="go")
        pause = again.paused()
        assert again.evaluate(pause["id"], "SECRET")["output"] == "42"
        again.ok("DELETE", "/api/breakpoints/charge")
        for paused in again.ok("GET", "/api/paused")["paused"]:
            again.resume(paused["id"])
        until("the last pause", lambda: [again.resume(p["id"]) for p in again.ok("GET", "/api/paused")["paused"]] == [])
        run.process.stdin.close()
        run.process.stdin = open("/dev/null", "w")
        run.end()
        assert run.output[-1] == "all done"
    finally:
        again.kill()


def test_a_pause_whose_server_is_killed_continues(server, app):
    server.set("charge", before="stop", after="go")
    run = app(SELL)
    pause = server.paused()
    assert server.evaluate(pause["id"], "1")["output"] == "1"
    server.kill()
    assert run.end() == ["ann 5 USD", "1"]
    assert "the server went away while charge was paused; the call continues" in run.stderr


def test_holdpoint_run(server, tmp_path):
    (tmp_path / "shop.py").write_text("def price(n):\n    return 2 * n\n")
    (tmp_path / "main.py").write_text("import shop, sys\nprint(shop.price(4))\nsys.exit(6)\n")
    server.set("shop:price", before="stop", after="go")
    command = [BINARY, "run", "--watch", "shop:price", "--", "python3", "main.py"]
    run = App(command, tmp_path, None, {"PYTHONPATH": ""})
    try:
        server.resume(server.paused()["id"], action="modify", modified_args=[50])
        assert run.end(6) == ["100"]
        [record] = server.records("shop:price")
        assert record["process_pid"] == run.pid
    finally:
        run.kill()


def test_many_threads_pause_and_are_resumed_from_both_sides(server, agent, app):
    server.set("charge", before="stop", after="go")
    run = app(
        SHOP
        + """
    found = {}
    def work(n): found[n] = charge("c%d" % n, n)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(sorted(found.values()))
    """
    )
    paused = until("eight pauses", lambda: len(p := server.ok("GET", "/api/paused")["paused"]) == 8 and p)

    def decide(pause, by_agent):
        name = pause["call_data"]["pretty_args"][0].strip("'")
        if by_agent:
            Agent(server).call("breakpoint_continue", pause_id=pause["id"], action="skip", fake_result="agent " + name)
        else:
            server.resume(pause["id"], action="skip", fake_result="person " + name)

    deciding = [threading.Thread(target=decide, args=(p, n % 2 == 0)) for n, p in enumerate(paused)]
    for one in deciding:
        one.start()
    for one in deciding:
        one.join()
    [printed] = run.end()
    assert printed.count("agent") == 4 and printed.count("person") == 4
    assert all("c%d" % n in printed for n in range(8))
