"""What becomes of a recording when the process forks, turns into another program, or ends."""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import os
import sys


def follow(recorder):
    import atexit

    owner = [os.getpid()]
    # What is registered first runs last.
    atexit.register(_at_exit, recorder)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=recorder.flush, after_in_child=lambda: _in_child(recorder, owner))
    _replace("_exit", recorder, _flushed_exit)
    for name in ("execv", "execve", "abort"):
        _replace(name, recorder, _flushed)
    _replace("fork", recorder, _told_fork)


def _at_exit(recorder):
    recorder.end({})


def _in_child(recorder, owner):
    try:
        owner[0] = os.getpid()
        recorder.in_child()
    except Exception:
        pass


def _replace(name, recorder, wrap):
    """Puts a function before one of `os` that says nothing to anybody when it is called."""
    known = getattr(os, name, None)
    if known is None:
        return
    wrapped = wrap(known, recorder)
    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = known.__doc__
    wrapped.__module__ = known.__module__
    wrapped.__wrapped__ = known
    setattr(os, name, wrapped)


def _flushed_exit(known, recorder):
    def _exit(status):
        recorder.end({"exit": status} if type(status) is int else {})
        known(status)

    return _exit


def _flushed(known, recorder):
    def flushed(*arguments, **named):
        recorder.flush()
        return known(*arguments, **named)

    return flushed


def _told_fork(known, recorder):
    def fork():
        pid = known()
        if pid:
            recorder.forked(pid)
        return pid

    return fork
