"""What both recorders write about files and processes."""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import os
import sys
import time


def json_text(about):
    if not about:
        return "{}"
    try:
        import json

        return json.dumps(about, separators=(",", ":"))
    except Exception:
        # Its own builtins may be gone.
        return "{}"


def process(recorder):
    """The first record of a stream."""
    about = {
        "pid": os.getpid(),
        "ppid": os.getppid(),
        "language": "python",
        "runtime": "%s %s" % (sys.implementation.name, sys.version.split()[0]),
        "argv": [str(it)[:1000] for it in (getattr(sys, "orig_argv", None) or getattr(sys, "argv", []))[:100]],
        "cwd": recorder.settings.cwd,
        "unix_ns": time.time_ns(),
        "ticks_ns": 100,
        "way": recorder.way,
        "level": recorder.level,
    }
    return json_text(about)


def source_hash(path):
    """SHA-256 of a file as it is now, or nothing."""
    try:
        with open(path, "rb") as file:
            source = file.read()
        try:
            from _sha2 import sha256
        except ImportError:
            from hashlib import sha256
        return sha256(source).digest()
    except Exception:
        return b""
