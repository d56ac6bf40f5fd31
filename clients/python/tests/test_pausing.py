"""Calls that pause: every row of the action table, exceptions, evaluation, asynchronous calls."""

import base64
import json
import pickle

import pytest

SHOP = """
    import holdpoint, sys, asyncio, threading
    holdpoint.with_debug("ON")
    SECRET = 42
    ran = []

    @holdpoint.debug
    def charge(customer, amount, currency="EUR"):
        ran.append(1)
        if amount < 0:
            raise ValueError("negative")
        return "%s %s %s" % (customer, amount, currency)

    @holdpoint.debug
    def free(customer, amount, currency="EUR"):
        return "free for %s" % customer

    def sell(customer, amount, **more):
        basket = ["pen", customer]
        try:
            print(charge(customer, amount, **more))
        except BaseException as error:
            print(type(error).__name__, error)
            if not isinstance(error, Exception): raise
"""
SELL = SHOP + "\n    sell('ann', 5, currency='USD')\n    print(len(ran))\n"


def item(value):
    return {"cid": "", "data": base64.b64encode(pickle.dumps(value, 4)).decode(), "serialization_format": "dill"}


def json_item(value):
    return {"cid": "", "data": json.dumps(value), "serialization_format": "json"}


def args_of(standin, pause):
    return [pickle.loads(standin.values[one["cid"]]) for one in pause["start"]["args"]]


ROWS = [
    ("continue", {}, ["ann 5 USD", "1"]),
    ("modify", {"modified_args": [item("bob"), item(7)], "modified_kwargs": {"currency": item("GBP")}}, ["bob 7 GBP", "1"]),
    # New arguments alone dropped the keywords, and the other way round.
    ("modify", {"modified_args": [item("bob"), item(7)]}, ["bob 7 USD", "1"]),
    ("modify", {"modified_kwargs": {"currency": item("GBP")}}, ["ann 5 GBP", "1"]),
    ("continue", {"modified_args": [item("bob"), item(8)]}, ["bob 8 USD", "1"]),
    # Values as JSON failed inside the app.
    ("modify", {"modified_args": [json_item("bob"), json_item(7)]}, ["bob 7 USD", "1"]),
    ("skip", {"fake_result_data": item("faked")["data"]}, ["faked", "0"]),
    ("skip", {"fake_result_data": '"as json"', "fake_result_serialization_format": "json"}, ["as json", "0"]),
    ("skip", {"fake_result": {"a": 1}}, ["{'a': 1}", "0"]),
    ("skip", {}, ["None", "0"]),
    ("raise", {"exception_type": "KeyError", "exception_message": "no"}, ["KeyError 'no'", "0"]),
    ("raise", {"exception_type": "SystemError"}, ["SystemError ", "0"]),
    ("raise", {"exception_type": "NoSuchError", "exception_message": "m"}, ["Exception NoSuchError: m", "0"]),
    ("raise", {"exception_type": "UnicodeDecodeError", "exception_message": "m"}, ["Exception UnicodeDecodeError: m", "0"]),
    ("replace", {"function_name": "free"}, ["free for ann", "0"]),
]


@pytest.mark.parametrize("action, fields, printed", ROWS)
def test_an_action(standin, app, action, fields, printed):
    standin.set("charge", before="stop", after="go")
    run = app(SELL, url=standin.url)
    pause = standin.paused()
    assert args_of(standin, pause) == ["ann", 5]
    standin.resume(pause["id"], action, **fields)
    assert run.end() == printed
    [completed] = [c for c in standin.completed if c["start"]["method_name"] == "charge"]
    assert completed["status"] == ("exception" if action == "raise" else "success")
    assert run.stderr == ""


WRONG = [
    ("explode", {}),
    ("replace", {"function_name": "nobody"}),
    ("modify", {"modified_args": "no list"}),
    ("modify", {"modified_args": [{"cid": "unknown"}]}),
    ("skip", {"fake_result_data": "!!not base64!!"}),
    (None, {}),
]


@pytest.mark.parametrize("action, fields", WRONG)
def test_an_action_that_cannot_be_carried_out_runs_the_call_as_written(standin, app, action, fields):
    standin.set("charge", before="stop", after="go")
    run = app(SELL, url=standin.url)
    standin.resume(standin.paused()["id"], action, **fields)
    assert run.end() == ["ann 5 USD", "1"]
    assert run.stderr.count("holdpoint:") == 1, run.stderr
    assert standin.errors


def test_an_argument_may_be_given_back_by_its_cid_as_the_live_object(standin, app):
    standin.set("same", before="stop", after="go")
    run = app(
        SHOP
        + """
    class Thing: pass
    thing, other = Thing(), Thing()
    @holdpoint.debug
    def same(a, b): print(a is other, b is thing)
    same(thing, other)
    """,
        url=standin.url,
    )
    pause = standin.paused()
    first, second = pause["start"]["args"]
    swapped = [{"cid": second["cid"]}, {"cid": first["cid"]}]
    standin.resume(pause["id"], "modify", modified_args=swapped)
    # Two equal objects have one CID: then the last one stands for both.
    expected = "True True" if first["cid"] != second["cid"] else "True False"
    assert run.end() == [expected]


def test_a_preset_replacement_runs_without_a_pause(standin, app):
    standin.set("charge", before="go", after="go", replacement="free")
    assert app(SELL, url=standin.url).end() == ["free for ann", "0"]


def test_a_poll_may_lead_to_another_poll(standin, app):
    standin.set("charge", before="stop", after="go")
    run = app(SELL, url=standin.url)
    pause = standin.paused()
    with standin.changed:
        again = standin.pause(pause["call_id"], pause["start"], "before")
    standin.resume(pause["id"], **again)
    standin.resume(again["poll_url"].rsplit("/", 1)[1], "skip", fake_result="second")
    assert run.end() == ["second", "0"]


@pytest.mark.parametrize("action", ["continue", "skip", "raise", "modify", "replace"])
def test_after_the_call_everything_means_continue(standin, app, action):
    """Anything else raised an error of the client inside a call that had succeeded."""
    standin.set("charge", before="go", after="stop")
    run = app(SELL, url=standin.url)
    pause = standin.paused()
    assert pause["when"] == "after"
    assert pickle.loads(standin.values[pause["end"]["result_cid"]]) == "ann 5 USD"
    standin.resume(pause["id"], action, fake_result="x", function_name="free", exception_type="KeyError")
    assert run.end() == ["ann 5 USD", "1"]


@pytest.mark.parametrize("behavior", ["exception", "stop_exception"])
def test_an_exception_pauses_for_real(standin, app, behavior):
    """The pause was listed for ever and nothing waited at it."""
    standin.set("charge", before="go", after=behavior)
    run = app(SHOP + "\n    sell('ann', -5)\n    print('sold')\n", url=standin.url)
    pause = standin.paused()
    assert pause["end"]["exception_type"] == "ValueError"
    assert standin.evaluate(pause["id"], "(customer, amount, str(exception))")["result"] == "('ann', -5, 'negative')"
    assert run.output == []
    standin.resume(pause["id"])
    assert run.end() == ["ValueError negative", "sold"]


def test_only_exceptions_being_trapped_costs_successful_calls_nothing(standin, app):
    standin.set("charge", before="go", after="exception")
    app(SHOP + "\n    for n in range(50): charge('ann', n)\n", url=standin.url).end()
    assert len(standin.records) == 50
    assert not [path for _, path, _, _ in standin.requests if path == "/api/call/start"]


def test_what_ends_the_program_does_not_pause(standin, app):
    standin.set("leave", before="stop", after="stop_exception")
    run = app(SHOP + "\n    holdpoint.with_debug(('leave', sys.exit))(7)\n", url=standin.url)
    standin.resume(standin.paused()["id"])
    run.end(7)
    assert standin.completed[0]["exception_type"] == "SystemExit"
    standin.wait(lambda: not standin.pauses)


def test_the_same_fresh_value_twice_is_one_request(standin, app):
    """`f(x, x)` was refused and sent again."""
    standin.set("charge", before="stop", after="go")
    run = app(SHOP + "\n    sell('x' * 400, 5, currency='x' * 400)\n", url=standin.url)
    standin.resume(standin.paused()["id"])
    run.end()
    assert len([path for _, path, _, _ in standin.requests if path == "/api/call/start"]) == 1


def test_a_missing_value_is_sent_again_with_the_same_bytes(standin, app):
    """The resend pickled the object anew, and a changed one ended the program."""
    from standin import CARRY_ON

    refused = []

    def forget(handler):
        if refused:
            return CARRY_ON
        body = standin.requests[-1][2]
        refused.append(body)
        cids = [one["cid"] for one in body["args"]]
        handler.reply(400, json.dumps({"error": "cid_not_found", "missing_cids": cids}).encode())

    standin.set("grow", before="stop", after="go")
    standin.fault("/api/call/start", forget)
    run = app(
        SHOP
        + """
    class Growing:
        n = 0
        def __reduce__(self):
            Growing.n += 1
            return (list, (range(Growing.n),))
    @holdpoint.debug
    def grow(x): print("grown")
    grow(Growing())
    """,
        url=standin.url,
    )
    pause = standin.paused()
    assert pause["start"]["args"] == refused[0]["args"]
    assert pause["start"]["idempotency_key"] == refused[0]["idempotency_key"]
    standin.resume(pause["id"])
    assert run.end() == ["grown"]


def test_evaluation_sees_the_apps_own_frame_and_globals(standin, app):
    """Expressions saw the client's frame, and `SECRET` was a NameError."""
    standin.set("charge", before="stop", after="go")
    run = app(SELL, url=standin.url)
    pause = standin.paused()

    def result(expression, session="s"):
        return standin.evaluate(pause["id"], expression, session)

    assert result("SECRET")["result"] == "42"
    assert result("(customer, amount, currency)")["result"] == "('ann', 5, 'USD')"
    assert result("basket")["result"] == "['pen', 'ann']"
    assert result("[customer for _ in range(amount)][0]")["result"] == "'ann'"
    assert result("frame.f_code.co_name")["result"] == "'sell'"
    assert result("kept = amount + 1")["result"] == ""
    assert result("kept * 2")["result"] == "12"
    assert result("kept", "another")["error"].startswith("NameError")
    assert result("print('seen'); print('err', file=sys.stderr)")["stdout"] == "seen\nerr\n"
    assert result("1 +")["error"].startswith("SyntaxError")
    assert result("def f(:")["error"].startswith("SyntaxError")
    assert result("for x in [1]:")["error"] == "SyntaxError: incomplete input"
    assert result("1 / 0")["error"] == "ZeroDivisionError: division by zero"
    assert result("sys.exit(3)")["error"] == "SystemExit: 3"
    assert result("charge('x', 1)")["result"] == "'x 1 EUR'"
    answer = result("{'a': 1}")
    assert pickle.loads(base64.b64decode(answer["result_data"])) == {"a": 1}
    assert "result_cid" not in result("None")
    standin.resume(pause["id"])
    assert run.end() == ["ann 5 USD", "2"]
    assert "err" not in run.stderr


def test_evaluation_at_an_inline_call_and_at_a_method(standin, app):
    standin.set("f", before="stop", after="go")
    standin.set("Cart.add", before="stop", after="go")
    run = app(
        SHOP
        + """
    class Cart:
        def __init__(self): self.items = ["pen"]
        def add(self, item): return len(self.items)
    def f(x): return x
    print(holdpoint.debug_call(f, 5))
    print(holdpoint.with_debug(Cart()).add("ink"))
    """,
        url=standin.url,
    )
    pause = standin.paused()
    assert pause["start"]["call_type"] == "inline"
    assert standin.evaluate(pause["id"], "(x, SECRET)")["result"] == "(5, 42)"
    standin.resume(pause["id"])
    run.line("5")
    pause = standin.paused()
    assert standin.evaluate(pause["id"], "(self.items, item)")["result"] == "(['pen'], 'ink')"
    standin.resume(pause["id"])
    assert run.end() == ["5", "1"]


def test_an_endless_evaluation_does_not_hold_the_pause(standin, app):
    standin.set("charge", before="stop", after="go")
    run = app(SELL, url=standin.url)
    pause = standin.paused()
    asked = {"eval_id": "endless", "session_id": "s", "pause_id": pause["id"], "expr": "threading.Event().wait()"}
    with standin.changed:
        standin.evals.setdefault(pause["id"], []).append(asked)
        standin.changed.notify_all()
    # Another one is answered beside it.
    assert standin.evaluate(pause["id"], "amount")["result"] == "5"
    standin.resume(pause["id"])
    assert run.end() == ["ann 5 USD", "1"]


def test_an_asynchronous_pause_does_not_block_the_loop(standin, app):
    standin.set("fetch", before="stop", after="stop")
    run = app(
        SHOP
        + """
    @holdpoint.debug
    async def fetch(url):
        await asyncio.sleep(0)
        return "page of " + url

    async def main():
        ticks = 0
        waiting = [asyncio.ensure_future(fetch("u%d" % n)) for n in range(3)]
        while not all(w.done() for w in waiting):
            ticks += 1
            await asyncio.sleep(0.001)
            if ticks == 50: print("ticking")
        print([w.result() for w in waiting])
    asyncio.run(main())
    """,
        url=standin.url,
    )
    run.line("ticking")
    standin.wait(lambda: len(standin.pauses) == 3)
    pause = next(iter(standin.pauses.values()))
    assert pause["start"]["task"]
    url = pickle.loads(standin.values[pause["start"]["args"][0]["cid"]])
    assert standin.evaluate(pause["id"], "url")["result"] == repr(url)
    assert standin.evaluate(pause["id"], "await asyncio.sleep(0, SECRET)")["result"] == "42"
    standin.resume(pause["id"], "skip", fake_result="skipped")
    done = 1
    while done < 6:
        pause = standin.paused()
        standin.resume(pause["id"])
        done += 1
    [printed] = run.end()[1:]
    assert printed.count("page of") == 2 and printed.count("skipped") == 1


def test_a_cancelled_pause_tells_the_server(standin, app):
    standin.set("fetch", before="stop")
    run = app(
        SHOP
        + """
    @holdpoint.debug
    async def fetch(url): pass

    async def main():
        task = asyncio.ensure_future(fetch("u"))
        await asyncio.get_running_loop().run_in_executor(None, input)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            print("cancelled")
    asyncio.run(main())
    """,
        url=standin.url,
    )
    standin.wait_for_poll()
    run.tell()
    assert run.end() == ["cancelled"]
    assert "CancelledError" in standin.completed[0]["exception_type"]
    assert standin.pauses == {}


def test_a_callpoint_that_is_set_while_the_app_runs_takes_effect(standin, app):
    run = app(
        SHOP
        + """
    print(charge("before", 1))
    input()
    print(charge("after", 1))
    """,
        url=standin.url,
    )
    run.line("before 1 EUR")
    standin.set("charge", before="stop", after="go")
    standin.wait_for_watch()
    run.tell()
    standin.resume(standin.paused()["id"], "skip", fake_result="caught")
    assert run.end() == ["before 1 EUR", "caught"]


def test_the_default_behavior_is_obeyed(standin, app):
    standin.set("charge")
    standin.set_default("go")
    assert app(SELL, url=standin.url).end() == ["ann 5 USD", "1"]
    standin.set_default("stop")
    run = app(SELL, url=standin.url)
    for _ in ("before", "after"):
        standin.resume(standin.paused()["id"])
    assert run.end() == ["ann 5 USD", "1"]


def test_several_threads_pause_at_once_and_each_gets_its_own_answer(standin, app):
    standin.set("charge", before="stop", after="go")
    run = app(
        SHOP
        + """
    found = {}
    def work(n): found[n] = charge("c%d" % n, n)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    print([found[n] for n in range(8)])
    """,
        url=standin.url,
    )
    standin.wait(lambda: len(standin.pauses) == 8)
    for pause in list(standin.pauses.values()):
        standin.resume(pause["id"], "skip", fake_result="got " + args_of(standin, pause)[0])
    assert run.end() == [str(["got c%d" % n for n in range(8)])]


def test_generators_pause_when_they_begin(standin, app):
    standin.set("count", before="stop", after="go")
    run = app(
        SHOP
        + """
    @holdpoint.debug
    def count(n):
        for i in range(n): yield i
        return "end"
    print(list(count(3)))
    """,
        url=standin.url,
    )
    standin.resume(standin.paused()["id"], "modify", modified_args=[item(2)])
    assert run.end() == ["[0, 1]"]


def test_ctrl_c_ends_a_pause(standin, app):
    import signal

    standin.set("charge", before="stop")
    run = app(SHOP + "\n    sell('ann', 5)\n", url=standin.url)
    standin.wait_for_poll()
    run.process.send_signal(signal.SIGINT)
    run.end(-signal.SIGINT)
    assert run.output == ["KeyboardInterrupt "]
    assert standin.completed[0]["exception_type"] == "KeyboardInterrupt"
    assert standin.pauses == {}
