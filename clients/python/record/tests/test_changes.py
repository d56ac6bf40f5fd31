"""Containers changed in place by the program's own code are writes of what they are called."""

import re

import pytest
from conftest import COMPILED, PURE, writes

BOTH = [(it, "native") for it in COMPILED] + [(it, "pure") for it in PURE]
both = pytest.mark.parametrize("version,way", BOTH)


def written(record, version, way, body, head=""):
    """What one function wrote: names and values, without the numbers of objects."""
    text = head + "def f(x):\n" + "".join("    %s\n" % line for line in body.splitlines()) + "f(3)\n"
    found = record(text, version, way)
    assert found.done.returncode == 0, found.done.stderr
    return [(name, re.sub(r"#\d+", "", value)) for name, value in writes(found.of("f")[0])]


@both
@pytest.mark.parametrize(
    "body,name,value",
    [
        ("rows = []\nrows.append(x)", "rows", "list[1][3]"),
        ("rows = [3, 1]\nrows.sort()", "rows", "list[2][1, 3]"),
        ("rows = [1, 2]\nrows.sort(key=lambda it: -it)", "rows", "list[2][2, 1]"),
        ("rows = [1]\nrows.extend([it for it in (x, 4) if it])", "rows", "list[3][1, 3, 4]"),
        ("rows = []\nrows.append(x if x > 5 else -x)", "rows", "list[1][-3]"),
        ("rows = [1, 2, 3]\nrows[1:] = [x]", "rows", "list[2][1, 3]"),
        ("rows = [1, 2, 3]\ndel rows[0]", "rows", "list[2][2, 3]"),
        ("rows = []\nrows.append(\n    x\n)", "rows", "list[1][3]"),
        ("table = {}\ntable.update(a=x)", "table", "dict[1]{'a': 3}"),
        ("table = {}\ntable.update(**{'a': x})", "table", "dict[1]{'a': 3}"),
        ("table = {'a': 1}\ndel table['a']", "table", "dict[0]{}"),
        ("table = {}\ntable[x, 1] = 2", "table", "dict[1]{"),
        ("table = {}\ntable[(1, (x if x > 5 else -x))] = 2", "table", "dict[1]{"),
        ("table = {}\ntable[(x and 1) or 7, 2] = 2", "table", "dict[1]{"),
        ("table = {}\ntable[1 < x < 9, not x] = 2", "table", "dict[1]{"),
        ("seen = set()\nseen.add(x)", "seen", "set[1][3]"),
        ("data = bytearray(b'a')\ndata.append(x)", "data", "bytearray[2][97, 3]"),
        ("rows = [[1], [2]]\nrows[0].append(x)", "rows[0]", "list[2][1, 3]"),
        ("rows, at = [[1], [2]], 1\nrows[at].append(x)", "rows[at]", "list[2][2, 3]"),
    ],
)
def test_a_change_in_place_is_a_write(record, version, way, body, name, value):
    last = written(record, version, way, body)[-1]
    assert last[0] == name and last[1].startswith(value), last


@both
@pytest.mark.parametrize("power", [199, 201, 2000, 20000])
def test_the_first_digits_of_a_long_number_are_told_as_such(record, version, way, power):
    last = written(record, version, way, "n = 10 ** %d" % power)[-1][1].strip("'")
    assert last == str(10**power) if power < 200 else last.endswith("\N{HORIZONTAL ELLIPSIS}") and 200 <= len(last) < 210, last


@both
def test_attributes_and_what_is_global_are_named_so(record, version, way):
    head = "from collections import deque\nlog = []\nclass Box:\n    def __init__(self):\n        self.items = deque()\n"
    body = "box = Box()\nbox.items.appendleft(x)\nlog.append(x)"
    assert written(record, version, way, body, head)[1:] == [("box.items", "deque[1][3]"), ("log", "list[1][3]")]


@both
def test_what_did_not_happen_is_not_told(record, version, way):
    body = "rows = []\nx > 5 and rows.append(1)\ntry:\n    rows.append(1 // (x - 3))\nexcept ZeroDivisionError:\n    pass"
    assert written(record, version, way, body) == [("rows", "list[0][]")]


@both
def test_methods_of_other_types_are_the_programs_own(record, version, way):
    head = (
        "class Rows(list):\n    def __len__(self):\n        raise SystemError('ran')\n    __iter__ = __len__\n"
        "class Box:\n    def add(self, it):\n        self.it = it\n"
    )
    body = "rows, box = Rows(), Box()\nrows.append(x)\nbox.add(x)"
    assert sorted(name for name, _ in written(record, version, way, body, head)) == ["box", "rows"]


@both
def test_an_exception_says_what_its_arguments_hold(record, version, way):
    text = "def f(it):\n    raise AssertionError(it, {'a': [1]}, {2}, set(), 'text')\ntry:\n    f([1, 'b', (2,)])\nexcept AssertionError:\n    pass\n"
    found = record(text, version, way)
    assert found.records("RAISE")[0][1].data == "[1, 'b', <tuple>], {'a': <list>}, {2}, set(), text"


@both
def test_what_an_exception_says_has_no_secret(record, version, way):
    text = "try:\n    raise ValueError({'password': 'hunter2-hunter2'}, ['x'])\nexcept ValueError:\n    pass\n"
    said = record(text, version, way).records("RAISE")[0][1].data
    assert "hunter2" not in said and said.endswith("['x']"), said
