"""What the client costs, with a server that runs: `python bench.py [SECONDS]`, one JSON object per line.

fast   one thread at full speed, nothing pauses: records that the server took per second, until all were flushed
asked  one thread whose every call asks first (a replacement by the function itself): calls per second
plain  the same function, not wrapped
"""

import json
import sys
import time
import urllib.request

import holdpoint
from holdpoint._runtime import runtime


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


def fast(function, seconds):
    """Records that were taken, not calls: what was dropped is no record."""
    before = runtime.ship.dropped_so_far()
    began, cpu = time.perf_counter(), time.process_time()
    calls, _ = rate(function, seconds)
    assert holdpoint.flush(60)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    dropped = runtime.ship.dropped_so_far() - before
    recorded = calls - dropped
    return {"recorded_per_s": round(recorded / took), "calls": calls, "dropped": dropped, "cpu_us": us(cpu, recorded)}


def us(seconds, calls):
    return round(1e6 * seconds / calls, 1)


def post(path, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(runtime.address.url + path, data, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).read()


def ask_first(name):
    post("/api/breakpoints", {"function_name": name, "behavior": "go", "signature": "(a, b)"})
    post("/api/breakpoints/%s/after_behavior" % name, {"behavior": "go"})
    post("/api/functions", {"function_name": name + "_too", "signature": "(a, b)"})
    post("/api/breakpoints/%s/replacement" % name, {"replacement_function": name + "_too"})
    while not runtime.points[name].asks:
        time.sleep(0.001)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    calls, took = rate(add, min(seconds, 1.0))
    print(json.dumps({"plain": {"calls_per_s": round(calls / took), "us": us(took, calls)}}), flush=True)
    holdpoint.with_debug("ON")
    assert runtime.reachable, "no server"
    wrapped = holdpoint.with_debug(("bench_fast", add))
    fast(wrapped, 0.2)
    print(json.dumps({"fast": fast(wrapped, seconds)}), flush=True)
    asked = holdpoint.with_debug(("bench_asked", add))
    holdpoint.with_debug(("bench_asked_too", add))
    holdpoint.flush(60)
    ask_first("bench_asked")
    calls, took = rate(asked, seconds)
    print(json.dumps({"asked": {"calls_per_s": round(calls / took), "us": us(took, calls)}}), flush=True)


if __name__ == "__main__":
    main()
