"""Pickles of everything, by every pickler and protocol: one JSON object a line."""

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import ipaddress
import json
import logging
import pathlib
import pickle
import re
import sys
import types
import uuid
import warnings
import zoneinfo

import cloudpickle
import dill
import numpy as np

import shop

warnings.simplefilter("ignore")
dill.settings["recurse"] = True

# What is compiled here belongs to `app.py`, so that its name is the same on every machine.
LOCAL = """
import collections, dataclasses, enum

@dataclasses.dataclass
class LocalItem:
    name: str
    price: float = 1.5

class LocalColour(enum.Enum):
    RED = 1
    BLUE = 2

class LocalFailed(ValueError):
    pass

class LocalCart:
    def add(self, item): pass

LocalPoint = collections.namedtuple("LocalPoint", "x y")

def add(a, b=2, *args, c=3, **kw):
    return a + b

def strict(a, /, b, *, c):
    return a

async def fetch(url):
    return url

def count(n):
    yield n

def outer():
    hidden = 42
    def inner(x=None):
        return hidden
    return inner

double = lambda x: x * 2
"""
__file__ = "/home/somebody/app.py"
exec(compile(LOCAL, __file__, "exec"), globals())

utc = datetime.timezone.utc
noted = ValueError("x")
noted.__dict__["hint"] = "look"
cycle = [1]
cycle.append(cycle)
tree = shop.Node()
tree.children.append(shop.Node(tree))
shared = [1]
stack = shop.Stack([1, 2])
stack.label = "s"
registry = shop.Registry(a=1)
cart = shop.Cart()

VALUES = {
    "none": None,
    "true": True,
    "int": 5,
    "negative": -300,
    "int64": 2**62,
    "big": 2**70,
    "big_negative": -(2**70),
    "float": 1.5,
    "nan": float("nan"),
    "huge_float": 1e100,
    "str": "it's",
    "unicode": "é € 😀 \n \\ \x00",
    "surrogate": "a\ud800b",
    "bytes": b"a\xff'",
    "empty_bytes": b"",
    "bytearray": bytearray(b"ab"),
    "list": [1, [2, []]],
    "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
    "dict": {"a": 1, 2: None, (1, 2): [3]},
    "set": {1},
    "empty_set": set(),
    "frozenset": frozenset([1]),
    "complex": 1 + 2j,
    "imaginary": -2.5j,
    "range": range(3),
    "range_step": range(0, 10, 3),
    "slice": slice(1, 2),
    "ellipsis": ...,
    "not_implemented": NotImplemented,
    "type_int": int,
    "type_error": ValueError,
    "type_none": type(None),
    "builtin": len,
    "item": shop.Item("pen"),
    "class": shop.Item,
    "colour": shop.Colour.RED,
    "slots": shop.Slots(),
    "point": shop.Point(1, 2),
    "function": shop.total,
    "failed": shop.Failed("m", 3),
    "stack": stack,
    "registry": registry,
    "counted": shop.Counted(),
    "cart": cart,
    "bound": cart.add,
    "value_error": ValueError("x"),
    "noted": noted,
    "not_found": FileNotFoundError(2, "No such file", "a.txt"),
    "key_error": KeyError("k"),
    "datetime": datetime.datetime(2024, 1, 2, 3, 4, 5, 6),
    "datetime_utc": datetime.datetime(2024, 1, 2, 3, 4, tzinfo=utc),
    "datetime_zone": datetime.datetime(2024, 1, 2, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
    "date": datetime.date(2024, 1, 2),
    "time": datetime.time(1, 2, 3),
    "timedelta": datetime.timedelta(1, 2, 3),
    "timedelta_zero": datetime.timedelta(),
    "timezone": datetime.timezone(datetime.timedelta(hours=2)),
    "decimal": decimal.Decimal("1.50"),
    "fraction": fractions.Fraction(1, 2),
    "uuid": uuid.UUID("12345678-1234-5678-9234-567812345678"),
    "path": pathlib.PurePosixPath("/a/b c"),
    "relative_path": pathlib.PurePosixPath("a"),
    "ordered": collections.OrderedDict(a=1),
    "default": collections.defaultdict(list, a=[1]),
    "counter": collections.Counter("aab"),
    "deque": collections.deque([1, 2], maxlen=5),
    "deque_free": collections.deque([1]),
    "namespace": types.SimpleNamespace(a=1),
    "partial": functools.partial(shop.total, [1], tax=0),
    "regex": re.compile("a+", re.I),
    "address": ipaddress.ip_address("1.2.3.4"),
    "address6": ipaddress.ip_address("::1"),
    "logger": logging.getLogger("shop"),
    "array_module": array.array("i", [1, 2]),
    "cycle": cycle,
    "tree": tree,
    "shared": [shared, shared],
    "np_array": np.arange(6, dtype=np.int64).reshape(2, 3),
    "np_long": np.zeros((50, 40)),
    "np_float32": np.array([0.1, -2], dtype=np.float32),
    "np_bool": np.array([True, False]),
    "np_objects": np.array([{}, 1], dtype=object),
    "np_strings": np.array(["a", "bc"]),
    "np_scalar": np.float64(1.5),
    "np_int": np.int32(-7),
    "np_dtype": np.dtype("int32"),
    "np_big_endian": np.array([1, 2], dtype=">i4"),
    "np_date": np.array(["2024-01-02"], dtype="datetime64[D]"),
    "np_empty": np.array([]),
}

# Only dill and cloudpickle send what is defined in the program itself.
LOCALS = {
    "local_item": LocalItem("pen"),
    "local_class": LocalItem,
    "local_colour": LocalColour.RED,
    "local_failed": LocalFailed("bad"),
    "local_point": LocalPoint(1, 2),
    "local_bound": LocalCart().add,
    "add": add,
    "strict": strict,
    "fetch": fetch,
    "count": count,
    "double": double,
    "inner": outer(),
    "code": add.__code__,
    "cell": outer().__closure__[0],
    "module": json,
    "proxy": types.MappingProxyType({1: 2}),
}

PICKLERS = {"pickle": pickle, "dill": dill, "cloudpickle": cloudpickle}


def rows():
    for maker, module in PICKLERS.items():
        values = VALUES if maker == "pickle" else {**VALUES, **LOCALS}
        for name, value in values.items():
            for protocol in range(6):
                try:
                    data = module.dumps(value, protocol=protocol)
                except Exception as error:
                    yield {"name": name, "maker": maker, "protocol": protocol, "error": repr(error)}
                    continue
                yield {"name": name, "maker": maker, "protocol": protocol, "hex": data.hex()}


if sys.argv[0].endswith("values.py"):
    for row in rows():
        print(json.dumps(row))
