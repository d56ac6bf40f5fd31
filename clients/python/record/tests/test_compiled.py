"""The compiled recorder: calls, lines, writes, exceptions, values."""

import pytest
from conftest import COMPILED, PURE, events, writes

each = pytest.mark.parametrize("version", COMPILED)

SHOP = '''
class Item:
    def __init__(self, qty):
        self.qty = qty

    def add(self, n):
        self.qty += n
        return self.qty


def total(items, *more, scale=2, **named):
    out = 0
    bins = {"a": 1}
    for item in items:
        out += item.qty * scale
        bins["a"] = out
    return out


one = Item(3)
one.add(4)
total([one], 1, scale=3, other=5)
'''


@each
def test_calls_have_their_arguments_and_results(record, version):
    found = record(SHOP, version)
    assert found.done.returncode == 0, found.done.stderr
    (add,) = found.of("Item.add")
    assert repr(add.arguments) == "[Item#1[1]{qty: 3}, 4]" and repr(add.end) == "('return', 7)"
    (total,) = found.of("total")
    assert total.function["slots"][:4] == ["items", "scale", "more", "named"]
    assert repr(total.arguments[1:]).startswith("[3, tuple#") and repr(total.end[1]) == "21"
    assert total.function["flags"] == 4 + 8 and total.parent.function["name"] == "<module>"


@each
def test_lines_have_what_they_wrote(record, version):
    (total,) = record(SHOP, version).of("total")
    lines = [it[1] for it in events(total, "line")]
    assert lines == [12, 13, 14, 15, 16, 14, 17]
    assert [name for name, _ in writes(total)] == ["out", "bins", "item", "out", "bins['a']"]
    assert writes(total)[-1] == ("bins['a']", "21")


@each
def test_attributes_are_written_where_they_are(record, version):
    (add,) = record(SHOP, version).of("Item.add")
    assert writes(add) == [("self.qty", "7")]


@each
def test_a_line_that_stops_half_way_has_not_written(record, version):
    found = record(
        "def f(x):\n    y = 1\n    try:\n        y = 5 // x\n    except ZeroDivisionError:\n        pass\n    return y\nf(0)\n",
        version,
    )
    (frame,) = found.of("f")
    assert writes(frame) == [("y", "1")]
    kinds = [it[0] for it in frame.events]
    assert kinds.count("partial") == 1 and kinds.index("raise") < kinds.index("handled") < kinds.index("partial")


@each
def test_an_exception_begins_once_and_unwinds_each_frame(record, version):
    found = record(
        "def a():\n    raise ValueError('no')\ndef b():\n    a()\ntry:\n    b()\nexcept ValueError:\n    pass\n", version
    )
    assert [repr(it[1]) for it in found.records("RAISE")] == ["ValueError#1('no')"]
    assert [it.end[0] for it in found.of("a") + found.of("b")] == ["unwind", "unwind"]
    assert found.records("UNWIND")[0][1].items == ["Exception", "BaseException"]
    assert len(found.records("HANDLED")) == 1


KEYS = (
    "def miss(key):\n    raise KeyError(key)\ndef find(key):\n    try:\n        return {}[key]\n    except KeyError:\n        miss(key)\n"
    "def ask(key):\n    try:\n        find(key)\n    except KeyError:\n        pass\n"
    "for n in range(4):\n    ask((n, 'a'))\n"
)


@pytest.mark.parametrize("version,way", [(it, "native") for it in COMPILED] + [(it, "pure") for it in PURE])
def test_an_exception_is_not_taken_for_one_that_is_gone(record, version, way):
    found = record(KEYS, version, way)
    # Each key is missed twice, by two exceptions; those of the next key are others, wherever they are built.
    raised = dict.fromkeys((it[1].object, it[1].data) for it in found.records("RAISE"))
    assert [data for _, data in raised] == ["(%d, 'a')" % n for n in range(4) for _ in range(2)]
    assert len({number for number, _ in raised}) == 8, raised


@each
def test_one_that_is_raised_again_stays_the_same(record, version):
    text = (
        "def f():\n    error = ValueError('no')\n    keep(error)\n    raise error\ndef keep(it):\n    pass\n"
        "def g():\n    try:\n        f()\n    except ValueError as error:\n        raise error\ntry:\n    g()\nexcept ValueError:\n    pass\n"
    )
    found = record(text, version)
    numbers = {it[1].object for it in found.records("RAISE")} | {found.of("keep")[0].arguments[0].object}
    assert len(numbers) == 1, found.records("RAISE")


@each
def test_a_generator_is_one_frame_over_its_life(record, version):
    found = record("def g(n):\n    for i in range(n):\n        x = yield i\nprint(list(g(2)))\n", version)
    (frame,) = found.of("g")
    assert [it[0] for it in events(frame, "yield", "resume")] == ["yield", "resume"] * 2
    assert writes(frame) == [("i", "0"), ("x", "None"), ("i", "1"), ("x", "None")]


@each
def test_tasks_are_told_apart(record, version):
    found = record(
        "import asyncio\nasync def work(n):\n    await asyncio.sleep(0)\n    return n\n"
        "async def main():\n    return await asyncio.gather(work(1), work(2))\nprint(asyncio.run(main()))\n",
        version,
    )
    assert found.done.stdout == "[1, 2]\n"
    tasks = found.records("TASK")
    assert {name for _, number, name in tasks if number} == {"Task-1", "Task-2", "Task-3"}
    assert [repr(it.end) for it in found.of("work")] == ["('return', 1)", "('return', 2)"]


@each
def test_threads_have_their_own_stacks(record, version):
    found = record(
        "import threading\ndef work(n):\n    t = 0\n    for i in range(200):\n        t = add(t, n)\n    return t\n"
        "def add(a, b):\n    return a + b\n"
        "all = [threading.Thread(target=work, args=(n,), name='w%d' % n) for n in range(8)]\n"
        "[it.start() for it in all]\n[it.join() for it in all]\n",
        version,
    )
    assert {it[2] for it in found.records("THREAD")} == {"MainThread"} | {"w%d" % n for n in range(8)}
    for frame in found.of("work"):
        assert frame.end[1].data == 200 * frame.arguments[0].data
    assert all(it.parent.function["name"] == "work" for it in found.of("add")) and len(found.of("add")) == 1600


@each
def test_names_that_are_none_are_hidden(record, version):
    found = record("print(sum(x for x in [1, 2]))\n", version)
    slots = [slot for it in found.stream.functions for slot in it["slots"][it["parameters"] :]]
    assert all(not it.startswith(".") for it in slots)


@each
def test_objects_are_known_again(record, version):
    found = record(
        "class A:\n    pass\ndef see(x):\n    pass\n"
        "a = A()\nsee(a)\nsee(a)\nfor i in range(3):\n    see(A())\nb = [1]\nsee(b)\nb.append(2)\nsee(b)\n",
        version,
    )
    numbers = [it.arguments[0].object for it in found.of("see")]
    assert numbers[0] == numbers[1] and len(set(numbers[:5])) == 4, numbers
    assert numbers[5] == numbers[6]


@each
def test_destructors_run_when_they_would(record, version):
    text = (
        "import weakref, gc\ngc.disable()\n"
        "class A:\n    def __init__(self, n):\n        self.n = n\n    def __del__(self):\n        print('gone', self.n)\n"
        "def f():\n    a = A(1)\n    b = [A(2)]\n    return 5\nf()\nprint('after')\n"
        "w = weakref.ref(A(3), lambda _: print('weak'))\nx = A(4)\nx = A(5)\nprint('end')\n"
    )
    assert record(text, version).done.stdout == record(text, version, is_recorded=False).done.stdout


@each
def test_focus_is_kept_whole(record, version):
    text = "def hot(n):\n    t = 0\n    for i in range(n):\n        t += i\n    return t\nfor i in range(40):\n    hot(200)\n"
    limits = {"events": 4000, "whole_calls": 2, "frame_lines": 50}
    damped = record(text, version, limits=limits)
    assert damped.records("LEVEL") and any(it[0] == "gap" for it in damped.of("hot")[0].events)
    whole = record(text, version, limits=limits, focus=["hot"])
    assert all(len(events(it, "line")) == 403 for it in whole.of("hot")), [len(it.events) for it in whole.of("hot")]


@each
def test_what_is_damped_is_counted(record, version):
    text = "def f(n):\n    return n\nfor i in range(3000):\n    f(i)\n"
    found = record(text, version, limits={"calls": 1000})
    counted = sum(it[2] for it in found.records("COUNT"))
    assert len(found.of("f")) + counted == 3000 and len(found.of("f")) >= 1000 + 2000 // 256
    assert [it[2] for it in found.records("LEVEL")] == [0]


@each
def test_calls_alone_cost_no_lines(record, version):
    found = record(SHOP, version, level="calls")
    assert not found.records("LINE") and not found.records("WRITE") and not found.records("LEVEL")
    assert repr(found.of("Item.add")[0].end) == "('return', 7)"


ENDS = '''
import asyncio

async def one(n):
    await asyncio.sleep(0)
    return n

async def now(n):
    return n

async def items(n):
    for i in range(n):
        yield i

class Context:
    async def __aenter__(self):
        return 1
    async def __aexit__(self, *_):
        return None

def inner():
    yield 1
    return [2]

def outer():
    got = yield from inner()
    return got

async def main():
    first = await now(1)
    both = await asyncio.gather(one(1), one(2))
    some = [it async for it in items(2)]
    async for it in items(1):
        first += it
    async with Context() as it:
        first += it
    done = asyncio.create_task(now(3))
    await asyncio.sleep(0)
    last = await done
    await asyncio.wait_for(one(4), 5)
    for it in outer():
        first += it
    a, *rest = outer()
    return first, both, some, last

print(asyncio.run(main()))
'''


@pytest.mark.parametrize("level", ["lines", "calls"])
@pytest.mark.parametrize("version,way", [(it, "native") for it in COMPILED] + [(it, "pure") for it in PURE])
def test_the_end_of_a_coroutine_or_generator_is_no_exception(record, version, way, level):
    found = record(ENDS, version, way, level=level)
    assert found.done.returncode == 0, found.done.stderr
    for kind in ("RAISE", "HANDLED", "UNWIND"):
        assert found.records(kind) == [], (kind, found.records(kind))
    assert {it.function["name"]: it.end and it.end[0] for it in found.frames if not it.end or it.end[0] != "return"} == {}


@pytest.mark.parametrize("level", ["lines", "calls"])
@pytest.mark.parametrize("version,way", [(it, "native") for it in COMPILED] + [(it, "pure") for it in PURE])
def test_a_stop_iteration_that_the_program_meets_is_one(record, version, way, level):
    text = (
        "def take(it):\n    try:\n        return next(it)\n    except StopIteration:\n        return None\n"
        "def ends():\n    raise StopIteration('mine')\n"
        "take(iter([]))\ntry:\n    ends()\nexcept StopIteration:\n    pass\n"
    )
    found = record(text, version, way, level=level)
    raised = {it[1].object for it in found.records("RAISE")}
    assert len(raised) == 2, found.records("RAISE")
    assert [it.end[0] for it in found.of("ends")] == ["unwind"]
