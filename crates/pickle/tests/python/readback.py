"""Reads pickles, one in hex a line, and prints what they hold, one JSON text a line."""

import json
import pickle
import pickletools
import sys


def kind(value):
    """JSON does not tell a tuple from a list."""
    if isinstance(value, tuple):
        return {"tuple": [kind(item) for item in value]}
    if isinstance(value, list):
        return [kind(item) for item in value]
    if isinstance(value, dict):
        return {key: kind(item) for key, item in value.items()}
    return value


for line in sys.stdin:
    data = bytes.fromhex(line)
    # The verifier of the standard library is stricter than its reader.
    pickletools.dis(data, out=open("/dev/null", "w"))
    value = pickle.loads(data)
    same = pickle.dumps(value, protocol=4) == data
    print(json.dumps({"value": kind(value), "same": same}))
