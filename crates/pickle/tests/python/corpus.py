"""Writes `tests/hostile/corpus.txt`: recorded pickles, a name and hex a line.

They are what mutations start from, and the shapes whose packages are too large to install for a
test (pandas) or come from the cideldill client. Run it by hand, with everything installed:

    PYTHONPATH=<folder with dill, cloudpickle, numpy, pandas> python3 corpus.py > ../hostile/corpus.txt
"""

import pathlib
import sys
import types

import dill
import pandas

# Here, not imported: what is defined in `__main__` is pickled as code.
exec(compile((pathlib.Path(__file__).parent / "values.py").read_text(), "values.py", "exec"))


def cideldill_client():
    """The functions that the cideldill client names in its pickles, without the client."""
    module = types.ModuleType("cideldill_client.custom_picklers")
    for name in (
        "_reconstruct_placeholder",
        "_reconstruct_from_dict",
        "_reconstruct_from_slots",
        "_reconstruct_with_setstate",
        "_apply_state",
    ):
        def function(*args):
            return args

        function.__name__ = function.__qualname__ = name
        function.__module__ = module.__name__
        setattr(module, name, function)
    sys.modules["cideldill_client"] = types.ModuleType("cideldill_client")
    sys.modules["cideldill_client"].custom_picklers = module
    sys.modules[module.__name__] = module
    return module


client = cideldill_client()


class Reduced:
    """Pickles as what it is given."""

    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce_ex__(self, protocol):
        return self.reduced


PLACEHOLDER = {
    "type_name": "lock", "module": "_thread", "qualname": "lock", "object_name": "shop.lock",
    "object_path": None, "object_id": "0x7f00", "repr_text": "<unlocked _thread.lock>",
    "str_text": None, "attributes": {"a": 1}, "failed_attributes": {},
    "pickle_error": "TypeError: cannot pickle '_thread.lock' object", "pickle_attempts": ["dill"],
    "capture_timestamp": 1.5, "depth": 0,
}
KEY = "shop:Item:1"
RECORDED = {
    "placeholder": Reduced(client._reconstruct_placeholder, (PLACEHOLDER,)),
    "from_dict": Reduced(
        client._reconstruct_from_dict, (KEY, shop.Item, {"name": "pen"}),
        {"price": 1.5}, None, None, client._apply_state,
    ),
    "from_slots": Reduced(
        client._reconstruct_from_slots, (KEY, shop.Slots), {"a": 1}, None, None,
        client._apply_state,
    ),
    "with_setstate": Reduced(
        client._reconstruct_with_setstate, (KEY, shop.Item, {"name": "ink"}),
    ),
    "frame": pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
    "series": pandas.Series([1.5, 2.5], name="s"),
    "timestamp": pandas.Timestamp("2024-01-02T03:04:05"),
    "index": pandas.Index([1, 2]),
}

# Code of the standard library names the folder that it lies in, which is this machine's.
HERE = sys.base_prefix.encode().hex()
KEPT = {("pickle", 0), ("pickle", 2), ("pickle", 4), ("dill", 4), ("cloudpickle", 5)}

if __name__ == "__main__":
    for row in rows():
        data = row.get("hex", HERE)
        if (row["maker"], row["protocol"]) in KEPT and HERE not in data and len(data) < 8_000:
            print(f"{row['name']}-{row['maker']}-{row['protocol']}", row["hex"])
    for name, value in RECORDED.items():
        print(f"recorded-{name}", dill.dumps(value, protocol=4).hex())
