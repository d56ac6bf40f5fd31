"""Records the run of a program: calls, lines and writes, as `docs/contract/recording.md` says.

`start` is called once per process, before any of the program. Whatever goes wrong here, the program goes on.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import os
import sys


def start(path):
    from . import config

    settings = config.read(path)
    if settings is None or not _is_wanted(settings):
        return
    recorder = None
    if sys.version_info >= (3, 12):
        from . import native

        recorder = native.open_recorder(settings)
    if recorder is None:
        from . import pure

        recorder = pure.open_recorder(settings)
    if recorder is None:
        return
    from . import process, runners

    process.follow(recorder)
    runners.follow(recorder)


def _is_wanted(settings):
    # Python's own helpers of a run, which hold nothing of the program's.
    argv = getattr(sys, "orig_argv", None) or []
    line = " ".join(argv)
    return "multiprocessing.resource_tracker" not in line and "multiprocessing.forkserver" not in line
