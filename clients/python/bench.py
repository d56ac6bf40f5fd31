"""What the client costs, with a server that runs: `python bench.py [WHAT [SECONDS]]`, one JSON object per line.

plain    the function, not wrapped
fast     one thread at full speed, nothing pauses: records that the server took per second, until all were flushed
asked    one thread whose every call asks first (a replacement by the function itself): calls per second
request  one request of the client's own connection to a handler that does nothing, at $BENCH_PORT
held     calls of a function that somebody stops and lets go on, as many as SECONDS says: each prints when it began
"""

import json
import os
import sys
import time
import urllib.request

import holdpoint
from holdpoint._http import Connection
from holdpoint._runtime import runtime
from holdpoint._settings import Address


def add(a, b):
    return a + b


def rate(function, seconds):
    """`(calls, seconds)` at full speed."""
    calls, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        for n in range(1000):
            function(n, calls)
        calls += 1000
    return calls, time.perf_counter() - began


def us(seconds, calls):
    return round(1e6 * seconds / calls, 1)


def per_second(calls, took):
    return {"calls_per_s": round(calls / took), "us": us(took, calls)}


def plain(seconds):
    return per_second(*rate(add, min(seconds, 1.0)))


def fast(seconds):
    wrapped = holdpoint.with_debug(("bench_fast", add))
    recorded(wrapped, 0.2)
    return recorded(wrapped, seconds)


def recorded(function, seconds):
    """Records that were taken, not calls: what was dropped is no record."""
    before = runtime.ship.dropped_so_far()
    began, cpu = time.perf_counter(), time.process_time()
    calls, _ = rate(function, seconds)
    assert holdpoint.flush(60)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    dropped = runtime.ship.dropped_so_far() - before
    taken = calls - dropped
    return {"recorded_per_s": round(taken / took), "calls": calls, "dropped": dropped, "cpu_us": us(cpu, taken)}


def asked(seconds):
    wrapped = holdpoint.with_debug(("bench_asked", add))
    holdpoint.with_debug(("bench_asked_too", add))
    holdpoint.flush(60)
    ask_first("bench_asked")
    return per_second(*rate(wrapped, seconds))


def ask_first(name):
    post("/api/breakpoints", {"function_name": name, "behavior": "go", "signature": "(a, b)"})
    post("/api/breakpoints/%s/after_behavior" % name, {"behavior": "go"})
    post("/api/functions", {"function_name": name + "_too", "signature": "(a, b)"})
    post("/api/breakpoints/%s/replacement" % name, {"replacement_function": name + "_too"})
    while not runtime.points[name].asks:
        time.sleep(0.001)


def post(path, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(runtime.address.url + path, data, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).read()


def request(seconds):
    connection = Connection(Address("127.0.0.1", int(os.environ["BENCH_PORT"]), "bench"))
    body = json.dumps({"method_name": "add", "args": [], "filler": "x" * 600}).encode()

    def ask(_a, _b):
        assert connection.request("POST", "/api/call/start", body)[0] == 200

    return per_second(*rate(ask, seconds))


def held(count):
    moments = []

    def bench_held(number):
        # The first thing that the function does, and told only afterwards.
        moments.append(time.time_ns())
        return number

    wrapped = holdpoint.with_debug(bench_held)
    for number in range(int(count)):
        wrapped(number)
        print(moments.pop(), flush=True)
    return {"calls": int(count)}


WITHOUT_SERVER = {"plain": plain, "request": request}
WITH_SERVER = {"fast": fast, "asked": asked, "held": held}


def main():
    wanted = sys.argv[1:2] or ["plain", "fast", "asked"]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
    for what in wanted:
        if what in WITHOUT_SERVER:
            figures = WITHOUT_SERVER[what](seconds)
        else:
            holdpoint.with_debug("ON")
            assert runtime.reachable, "no server"
            figures = WITH_SERVER[what](seconds)
        print(json.dumps({what: figures}), flush=True)


if __name__ == "__main__":
    main()
