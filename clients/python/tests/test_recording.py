"""Calls that nothing pauses: recorded from the background, complete and bounded."""

import pickle

from standin import slow

SHOP = """
    import holdpoint, sys, threading
    holdpoint.with_debug("ON")

    def price(item, count=1, *, currency="EUR"):
        return {"item": item, "sum": 2 * count, "currency": currency}

    price = holdpoint.with_debug(price)
"""


def value(standin, cid):
    return pickle.loads(standin.values[cid])


def test_a_call_is_recorded_with_arguments_result_thread_and_place(standin, app):
    run = app(SHOP + "    print(price('pen', 3, currency='USD'))\n", url=standin.url)
    assert run.end() == ["{'item': 'pen', 'sum': 6, 'currency': 'USD'}"]
    [record] = standin.records
    assert record["method_name"] == "price"
    assert [value(standin, cid) for cid in record["args"]] == ["pen", 3]
    assert {name: value(standin, cid) for name, cid in record["kwargs"].items()} == {"currency": "USD"}
    assert value(standin, record["result_cid"]) == {"item": "pen", "sum": 6, "currency": "USD"}
    assert record["status"] == "success"
    assert record["signature"] == "(item, count=1, *, currency='EUR')"
    assert record["pid"] == run.pid
    assert record["thread_id"] == run.pid and record["thread_name"] == "MainThread"
    assert record["started_at"] <= record["completed_at"]
    frame = record["call_site"]["stack_trace"][0]
    assert frame["function"] == "<module>" and frame["filename"].endswith("app.py")
    assert frame["code_context"] == "print(price('pen', 3, currency='USD'))"
    assert run.stderr == ""


def test_nothing_is_asked_where_nothing_would_pause(standin, app):
    app(SHOP + "    for n in range(100): price('pen', n)\n", url=standin.url).end()
    assert len(standin.records) == 100
    asked = [path for _, path, _, _ in standin.requests if path in ("/api/call/start", "/api/call/complete")]
    assert asked == []


def test_an_argument_is_recorded_as_it_was_before_the_call_changed_it(standin, app):
    app(
        SHOP
        + """
    def fill(box):
        box.append("new")
        return box

    holdpoint.with_debug(fill)(["old"])
    """,
        url=standin.url,
    ).end()
    [record] = standin.records
    assert value(standin, record["args"][0]) == ["old"]
    assert value(standin, record["result_cid"]) == ["old", "new"]


def test_an_exception_is_recorded_with_its_text_and_reaches_the_app(standin, app):
    run = app(
        SHOP
        + """
    class PaymentError(Exception):
        pass

    @holdpoint.debug
    def pay(sum):
        raise PaymentError("card %s refused" % sum)

    try:
        pay(5)
    except PaymentError as error:
        print(error)
    """,
        url=standin.url,
    )
    assert run.end() == ["card 5 refused"]
    [record] = standin.records
    assert record["status"] == "exception"
    assert record["exception_type"] == "__main__.PaymentError"
    assert record["exception_message"] == "card 5 refused"
    assert 'raise PaymentError("card %s refused" % sum)' in record["exception_traceback"]
    assert "/holdpoint/" not in record["exception_traceback"]


def test_what_ends_a_program_is_recorded_too(standin, app):
    """A call that ends by SystemExit never completed."""
    run = app(SHOP + "    holdpoint.with_debug(('leave', sys.exit))(7)\n", url=standin.url)
    run.end(7)
    [record] = standin.records
    assert (record["status"], record["exception_type"]) == ("exception", "SystemExit")


def test_functions_are_announced_and_nothing_stops_that_nobody_asked_to_stop(standin, app):
    """A freshly wrapped program stopped twice at every function."""
    app(SHOP + "    price('pen')\n", url=standin.url).end()
    assert standin.functions["price"]["signature"] == "(item, count=1, *, currency='EUR')"
    assert standin.default == "stop" and standin.pauses == {}
    registered = [event for event in standin.events if event["method_name"] == "with_debug.register"]
    assert [event["pretty_result"]["function_name"] for event in registered] == ["price"]


def test_wrapping_and_calling_report_no_attribute_errors(standin, app):
    """Every call came with a phantom exception of the client's own."""
    app(SHOP + "    price('pen')\n    price('ink')\n", url=standin.url).end()
    assert [event["status"] for event in standin.events] == ["registered"]
    assert len(standin.records) == 2


def test_names(standin, app):
    """`Class.method`, and the signature of an asynchronous function is its own."""
    app(
        SHOP
        + """
    import asyncio, functools

    class Calc:
        def add(self, a, b):
            return a + b
        def __call__(self, x):
            return x

    class Other:
        @holdpoint.debug
        def add(self, a):
            return a

    def outer():
        def inner(x): return x
        return inner

    async def fetch(url, retries=3):
        return url

    calc = holdpoint.with_debug(Calc())
    calc.add(1, 2)
    calc(5)
    holdpoint.with_debug(("box", Calc())).add(3, 4)
    Other().add(1)
    holdpoint.with_debug(outer())(1)
    holdpoint.with_debug(functools.partial(outer()))(2)
    holdpoint.with_debug(Calc().add)(5, 6)
    asyncio.run(holdpoint.with_debug(fetch)("x"))
    holdpoint.with_debug(("weird/name <α>", len))([])
    """,
        url=standin.url,
    ).end()
    names = [record["method_name"] for record in standin.records]
    assert names == [
        "Calc.add",
        "Calc.__call__",
        "box.add",
        "Other.add",
        "inner",
        "inner",
        "Calc.add",
        "fetch",
        "weird/name <α>",
    ]
    assert standin.functions["fetch"]["signature"] == "(url, retries=3)"


def test_threads_and_tasks_are_told_apart(standin, app):
    app(
        SHOP
        + """
    import asyncio
    def work(n):
        for _ in range(20): price(n)
    threads = [threading.Thread(target=work, args=(n,), name="worker-%d" % n) for n in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()

    @holdpoint.debug
    async def fetch(n):
        await asyncio.sleep(0)
        return n

    async def main():
        await asyncio.gather(*(asyncio.create_task(fetch(n), name="task-%d" % n) for n in range(3)))
    asyncio.run(main())
    """,
        url=standin.url,
    ).end()
    threads = {(r["thread_id"], r["thread_name"]) for r in standin.records if r["method_name"] == "price"}
    assert {name for _, name in threads} == {"worker-0", "worker-1", "worker-2", "worker-3"}
    assert len({number for number, _ in threads}) == 4
    assert len(standin.records) == 83
    assert {r["task"] for r in standin.records if r["method_name"] == "fetch"} == {"task-0", "task-1", "task-2"}


def test_the_same_live_object_has_the_same_number(standin, app):
    app(
        SHOP
        + """
    class Cart:
        def __init__(self): self.items = []
        def add(self, item): self.items.append(item); return self
        def __eq__(self, other): raise RuntimeError("never compared")
        __hash__ = None

    first, second = holdpoint.with_debug(Cart()), holdpoint.with_debug(Cart())
    first.add("pen").add("ink")
    second.add("paper")
    """,
        url=standin.url,
    ).end()
    refs = [record["client_refs"]["target"] for record in standin.records]
    assert refs[0] == refs[1] != refs[2]
    items = [value_of(standin, record["target_cid"]) for record in standin.records]
    assert items == [[], ["pen"], []]


def value_of(standin, cid):
    """The state of a pickled object whose class is not here."""

    class Reader(pickle.Unpickler):
        def find_class(self, module, name):
            return type(name, (), {})

    import io

    return Reader(io.BytesIO(standin.values[cid])).load().items


def test_no_argument_is_kept_alive(standin, app):
    """The client kept the last 10,000 arguments alive."""
    run = app(
        SHOP
        + """
    import gc, weakref
    class Big: pass
    big = Big()
    link = weakref.ref(big)
    @holdpoint.debug
    def look(x): pass
    look(big)
    holdpoint.flush()
    del big
    gc.collect()
    print(link())
    """,
        url=standin.url,
    )
    assert run.end() == ["None"]


def test_records_are_flushed_at_every_sort_of_end(standin, app):
    ends = ["pass", "raise ValueError('x')", "sys.exit(3)", "import os; os._exit(4)"]
    for end, code in zip(ends, (0, 1, 3, 4)):
        standin.records.clear()
        app(SHOP + "    for n in range(500): price(n)\n    %s\n" % end, url=standin.url).end(code)
        assert len(standin.records) == 500, end


def test_a_forked_child_has_its_own_identity_and_flushes(standin, app):
    run = app(
        SHOP
        + """
    import os
    price("parent before")
    pid = os.fork()
    if pid == 0:
        for n in range(100): price(n)
        os._exit(0)
    os.waitpid(pid, 0)
    price("parent after")
    print(pid)
    """,
        url=standin.url,
    )
    child = int(run.end()[0])
    by_pid = {}
    for record in standin.records:
        by_pid.setdefault(record["pid"], []).append(value(standin, record["args"][0]))
    assert by_pid == {run.pid: ["parent before", "parent after"], child: list(range(100))}


def test_children_of_multiprocessing_flush(standin, app):
    run = app(
        """
    import holdpoint, multiprocessing
    @holdpoint.debug
    def square(n):
        return n * n
    def work(n):
        return square(n)
    if __name__ == "__main__":
        holdpoint.with_debug("ON")
        pool = multiprocessing.get_context("fork").Pool(2)
        print(sorted(pool.map(work, range(20))) == sorted(n * n for n in range(20)))
        pool.close()
        pool.join()
    """,
        url=standin.url,
    )
    assert run.end() == ["True"]
    standin.wait(lambda: len(standin.records) == 20)
    assert run.pid not in {record["pid"] for record in standin.records}


def test_overload_drops_whole_records_counts_them_and_says_so_once(standin, app):
    standin.fault("/api/call/batch", slow(0.3))
    run = app(SHOP + "    for n in range(60000): price(n)\n    print(holdpoint.flush(60))\n", url=standin.url)
    assert run.end() == ["True"]
    assert standin.dropped > 0
    assert len(standin.records) + standin.dropped == 60000
    assert run.stderr.count("calls come faster than the server takes them") == 1


def test_off_and_unset_modes(app, standin):
    run = app(
        """
    import holdpoint
    def f(x): return x
    try:
        holdpoint.with_debug(f)
    except ValueError as error:
        print(error)
    holdpoint.with_debug("off")
    print(holdpoint.with_debug(f) is f, holdpoint.with_debug(("a", f)) is f, holdpoint.debug_call(f, 1))
    """,
        url=standin.url,
    )
    assert run.end() == [
        'call with_debug("ON"), with_debug("OFF") or with_debug("VERBOSE") first',
        "True True 1",
    ]
    assert standin.requests == []


def test_values_that_take_long_do_not_take_the_apps_time(app, standin):
    run = app(
        SHOP
        + """
    # On a loaded machine the app gets so little that nothing takes much of its time: here any of it counts.
    from holdpoint import _limits
    _limits.HEAVY_SHARE = 0
    class Heavy:
        def __init__(self): self.rows = [{"n": n, "text": str(n)} for n in range(5000)]
    heavy = Heavy()
    @holdpoint.debug
    def look(thing, n): return n
    for n in range(2000): look(heavy, n)
    price("pen")
    """,
        url=standin.url,
    )
    run.end()
    looked = [record for record in standin.records if record["method_name"] == "look"]
    assert len(looked) == 2000
    sizes = {len(standin.values[record["args"][0]]) for record in looked}
    assert max(sizes) > 50_000 and min(sizes) < 1000
    # What is left out says so, still has its number, and other functions are captured as ever.
    assert len({record["client_refs"]["args"]["0"] for record in looked}) == 1
    assert any(b"takes too long at every call" in standin.values[record["args"][0]] for record in looked)
    [other] = [record for record in standin.records if record["method_name"] == "price"]
    assert value(standin, other["result_cid"])["item"] == "pen"


def test_off_and_on_again(app, standin):
    run = app(
        SHOP
        + """
    price(1)
    holdpoint.with_debug("OFF")
    price(2)
    holdpoint.with_debug("ON")
    price(3)
    print(holdpoint.flush(), threading.active_count())
    """,
        url=standin.url,
    )
    # Threads of ours are not the app's to wait for.
    assert run.end() == ["True 1"]
    assert sorted(value(standin, record["args"][0]) for record in standin.records) == [1, 3]


def test_warnings_as_errors_find_nothing_of_ours(app, standin):
    standin.set("price", before="go", after="go", replacement="price")
    run = app(
        SHOP
        + """
    import gc
    for _ in range(3):
        thread = threading.Thread(target=price, args=(1,))
        thread.start()
        thread.join()
    del thread
    gc.collect()
    """,
        url=standin.url,
        options=["-X", "dev", "-W", "error"],
    )
    run.end()
    assert run.stderr == ""


def test_the_mode_may_come_from_the_environment(app, standin):
    source = """
    import holdpoint
    holdpoint.with_debug()
    holdpoint.with_debug(len)("abc")
    """
    app(source, CIDELDILL="on " + standin.url).end()
    assert [record["method_name"] for record in standin.records] == ["len"]
    app(source).end()
    assert len(standin.records) == 1


def test_a_server_elsewhere_is_refused(app):
    run = app("import holdpoint\ntry: holdpoint.configure_debug(server_url='http://10.0.0.1:5174')\nexcept ValueError as e: print(e)\n")
    assert run.end()[0].startswith("the server URL must be http://localhost")


def test_the_server_is_found_by_its_port_file(app, standin, tmp_path):
    for name, file in (("HOLDPOINT_HOME", "port"), ("CIDELDILL_PORT_FILE", "elsewhere"), ("CIDELDILL_HOME", "port")):
        standin.records.clear()
        home = tmp_path / name
        home.mkdir()
        (home / file).write_text(str(standin.port))
        env = {name: str(home / file) if name.endswith("FILE") else str(home)}
        env.setdefault("HOLDPOINT_HOME", str(tmp_path / "empty"))
        app(SHOP + "    price(1)\n", **env).end()
        assert len(standin.records) == 1, name


def test_a_flush_ends_while_other_threads_call_at_full_speed(standin, app):
    """It waits for what was brought before it, not for what comes meanwhile."""
    run = app(
        SHOP
        + """
    stop = threading.Event()
    def work():
        while not stop.is_set():
            price("pen")
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads: thread.start()
    for _ in range(3):
        print(holdpoint.flush(60))
    stop.set()
    for thread in threads: thread.join()
    """,
        url=standin.url,
    )
    assert run.end() == ["True"] * 3
