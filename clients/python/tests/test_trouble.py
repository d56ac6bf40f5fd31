"""The server is gone, slow or wrong: the app goes on, its results are its own, and it is said once.

Nothing here measures time: an app that hangs runs into the patience of the tests.
"""

import json

import pytest

from standin import StandIn, cut_off, drip, garbage, reset, silent, status

SHOP = """
    import holdpoint, sys, threading
    import holdpoint._limits as limits
    # The same waits, shorter: what is tried is that they end.
    limits.ASK_S = 0.5
    limits.SHIP_S = 0.5
    limits.FLUSH_S = 1.0
    limits.POLL_HOLD_S, limits.HOLD_GRACE_S = 1, 0.5
    limits.PAUSE_PATIENCE_S = 0.5
    holdpoint.with_debug("ON")

    @holdpoint.debug
    def charge(customer, amount):
        return "%s %s" % (customer, amount)
"""
SELL = SHOP + "\n    print([charge('ann', n) for n in range(5)])\n"
SOLD = ["['ann 0', 'ann 1', 'ann 2', 'ann 3', 'ann 4']"]
FAULTS = {
    "500": status(500),
    "404": status(404, b"<html>"),
    "no JSON": status(200, b"hello"),
    "a list": status(200, b"[]"),
    "an empty object": status(200, b"{}"),
    "wrong types": status(200, b'{"call_id": 5, "action": ["poll"], "poll_url": 7, "status": 9}'),
    "empty": status(200, b""),
    "reset": reset,
    "garbage": garbage,
    "cut off": cut_off,
    "silent": silent,
    "drip": drip,
}


def said(run):
    return [line for line in run.stderr.splitlines() if line.startswith("holdpoint:")]


def asked(standin, route):
    """Whether the server was asked there: a fault that nobody meets shows nothing."""
    return [path for _, path, _, _ in standin.requests if path == route]


def test_without_a_server_the_app_runs_and_says_so_once(app):
    run = app(SELL, url="http://127.0.0.1:9")
    assert run.end() == SOLD
    assert len(said(run)) == 1
    assert "no server (nothing listens at http://127.0.0.1:9" in run.stderr
    assert "hint: start one with `holdpoint serve`" in run.stderr


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_subscription(standin, app, fault):
    standin.fault("/api/callpoints/watch", FAULTS[fault])
    standin.set("charge", before="stop")
    run = app(SELL.replace("limits.ASK_S", "limits.FIRST_STATE_S = limits.ASK_S"), url=standin.url)
    assert run.end() == SOLD
    assert len(said(run)) == 1, run.stderr


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_at_the_start_of_a_call(standin, app, fault):
    standin.fault("/api/call/start", FAULTS[fault])
    standin.set("charge", before="stop")
    run = app(SELL, url=standin.url)
    assert run.end() == SOLD
    assert len(said(run)) == 1, run.stderr
    # They are recorded all the same.
    assert len(standin.records) == 5


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_at_the_end_of_a_call(standin, app, fault):
    standin.fault("/api/call/complete", FAULTS[fault])
    standin.set("charge", before="go", after="stop")
    run = app(SELL, url=standin.url)
    assert run.end() == SOLD
    assert asked(standin, "/api/call/complete")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_while_paused(standin, app, fault):
    standin.fault("/api/poll/", FAULTS[fault])
    standin.set("charge", before="stop", after="go")
    run = app(SHOP + "\n    print(charge('ann', 0))\n", url=standin.url)
    assert run.end() == ["ann 0"]
    assert len(said(run)) == 1, run.stderr


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_to_records(standin, app, fault):
    standin.fault("/api/call/batch", FAULTS[fault])
    run = app(SELL, url=standin.url)
    assert run.end() == SOLD
    assert asked(standin, "/api/call/batch")


@pytest.mark.parametrize("fault", ["500", "reset", "silent"])
def test_an_asynchronous_call_with_a_wrong_server(standin, app, fault):
    standin.fault("/api/call/start", FAULTS[fault])
    standin.set("fetch", before="stop")
    run = app(
        SHOP
        + """
    import asyncio
    @holdpoint.debug
    async def fetch(x): return x
    print(asyncio.run(fetch(5)))
    """,
        url=standin.url,
    )
    assert run.end() == ["5"]
    assert asked(standin, "/api/call/start")


def test_a_paused_call_whose_server_died_continues(app):
    """It waited for ever."""
    server = StandIn()
    server.set("charge", before="stop", after="go")
    run = app(SHOP + "\n    print(charge('ann', 0))\n", url=server.url)
    server.wait_for_poll()
    server.stop()
    assert run.end() == ["ann 0"]
    assert "the server went away while charge was paused; the call continues" in run.stderr


def test_an_asynchronous_pause_whose_server_died_continues(app):
    server = StandIn()
    server.set("fetch", before="stop", after="go")
    run = app(
        SHOP + "\n    import asyncio\n    @holdpoint.debug\n    async def fetch(x): return x\n    print(asyncio.run(fetch(5)))\n",
        url=server.url,
    )
    server.wait_for_poll()
    server.stop()
    assert run.end() == ["5"]


def test_a_server_that_comes_back_is_told_everything_again(app):
    """The client registered nothing anew, and values it had sent once were missing for ever."""
    first = StandIn()
    run = app(
        SHOP
        + """
    for line in sys.stdin:
        print(charge(line.strip(), [1, 2, 3]))
        holdpoint.flush(30)
        print("flushed", line.strip())
    """,
        url=first.url,
    )
    run.tell("one")
    run.line("flushed one")
    port = first.port
    first.stop()
    second = StandIn(port)
    try:
        second.wait(lambda: "charge" in second.functions)
        run.tell("two")
        run.line("flushed two")
        second.wait(lambda: len(second.records) == 1)
        assert all(cid in second.values for cid in second.records[0]["args"])
        # And callpoints of the new server are obeyed.
        second.set("charge", before="stop", after="go")
        second.wait_for_watch()
        run.tell("three")
        second.resume(second.paused()["id"], "skip", fake_result="caught")
        run.line("caught")
    finally:
        second.stop()


def test_values_that_the_server_lost_are_sent_again(standin, app):
    run = app(
        SHOP
        + """
    for line in sys.stdin:
        charge("ann", [1, 2, 3])
        holdpoint.flush(30)
        print("flushed", line.strip())
    """,
        url=standin.url,
    )
    run.tell("1")
    run.line("flushed 1")
    with standin.changed:
        standin.values.clear()
    run.tell("2")
    run.line("flushed 2")
    assert not all(cid in standin.values for cid in standin.records[1]["args"])
    run.tell("3")
    run.line("flushed 3")
    assert all(cid in standin.values for cid in standin.records[1]["args"])


def test_a_connection_that_the_server_closed_while_idle_is_opened_again(standin, app):
    standin.set("charge", before="go", after="stop")
    run = app(
        SHOP + "\n    for line in sys.stdin:\n        print(charge(line.strip(), 1))\n",
        url=standin.url,
    )
    for name in ("one", "two"):
        run.tell(name)
        standin.resume(standin.paused()["id"])
        run.line(name + " 1")
        standin.http.cut()
        standin.wait_for_watch()
    run.process.stdin.close()
    run.process.stdin = open("/dev/null", "w")
    run.end()
    assert [c["status"] for c in standin.completed] == ["success", "success"]


def test_each_thread_keeps_one_connection(standin, app):
    standin.set("charge", before="go", after="exception", replacement="charge")
    app(
        SHOP
        + """
    def work():
        for n in range(20): charge("ann", n)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads: t.start()
    for t in threads: t.join()
    """,
        url=standin.url,
    ).end()
    asked = [peer for _, path, _, peer in standin.requests if path in ("/api/call/start", "/api/call/complete")]
    assert len(asked) == 2 * 60
    assert len(set(asked)) == 3


def test_a_token_is_sent_and_its_absence_explained(standin, app):
    def guarded(handler):
        from standin import CARRY_ON

        if handler.headers.get("Authorization") == "Bearer secret":
            return CARRY_ON
        handler.reply(401, json.dumps({"error": "token"}).encode())

    standin.fault("/api", guarded)
    run = app(SELL, url=standin.url)
    assert run.end() == SOLD
    assert "hint: set HOLDPOINT_TOKEN to the server's --token" in run.stderr
    assert app(SELL, url=standin.url, HOLDPOINT_TOKEN="secret").end() == SOLD
    assert len(standin.records) == 5


# --- Nothing of the app runs while the client holds a lock, and what the app's own code does is survived.


def test_the_apps_own_code_may_call_wrapped_functions_from_anywhere(standin, app):
    run = app(
        SHOP
        + """
    import gc, signal
    lock = threading.Lock()

    class Nasty:
        def __repr__(self): charge("repr", 1); return "Nasty"
        def __reduce__(self): charge("reduce", 1); raise TypeError("no")
        def __del__(self): charge("del", 1)
        @property
        def held(self):
            with lock: return charge("property", 1)

    signal.signal(signal.SIGALRM, lambda *_: charge("signal", 1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)

    def work(n):
        for _ in range(50):
            with lock:
                charge(Nasty(), [Nasty(), {"x": Nasty()}])
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    signal.setitimer(signal.ITIMER_REAL, 0)
    gc.collect()
    print("done")
    """,
        url=standin.url,
    )
    assert run.end() == ["done"]


def test_a_lock_that_the_paused_thread_holds_blocks_nothing_of_ours(standin, app):
    standin.set("charge", before="stop", after="go")
    run = app(
        SHOP
        + """
    lock = threading.RLock()
    class Guarded:
        def __repr__(self):
            with lock: return "Guarded"
        def __reduce__(self):
            with lock: return (str, ("guarded",))
    thing = Guarded()
    with lock:
        print(charge(thing, 1))
    """,
        url=standin.url,
    )
    pause = standin.paused()
    # This evaluation waits for the lock in a thread of its own; the decision still gets through.
    with standin.changed:
        asked = {"eval_id": "e", "session_id": "s", "pause_id": pause["id"], "expr": "repr(customer)"}
        standin.evals.setdefault(pause["id"], []).append(asked)
        standin.changed.notify_all()
    standin.wait(lambda: not standin.evals[pause["id"]])
    standin.resume(pause["id"])
    assert run.end() == ["Guarded 1"]


def test_deep_recursion_is_the_apps_own(standin, app):
    run = app(
        SHOP
        + """
    @holdpoint.debug
    def down(n): return down(n + 1)
    try:
        down(0)
    except RecursionError:
        print("RecursionError")
    print(charge("ann", 1))
    """,
        url=standin.url,
    )
    assert run.end() == ["RecursionError", "ann 1"]


def test_forking_while_threads_are_at_work(standin, app):
    run = app(
        SHOP
        + """
    import os
    stop = threading.Event()
    def work():
        while not stop.is_set(): charge("thread", 1)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads: t.start()
    codes = []
    for n in range(10):
        pid = os.fork()
        if pid == 0:
            charge("child", n)
            # The end of a process waits for seconds, which a loaded machine may need for less.
            holdpoint.flush(60)
            os._exit(7)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    stop.set()
    for t in threads: t.join()
    print(set(codes))
    """,
        url=standin.url,
    )
    assert run.end() == ["{7}"]
    children = {record["pid"] for record in standin.records} - {run.pid}
    assert len(children) == 10
