"""What the client tells the person at the terminal, on stderr.

A thing is said once in a process. It is written straight to the descriptor: the app may have replaced
`sys.stderr` by anything, and a daemon thread that holds its lock at exit ends the interpreter badly.
"""

from __future__ import annotations

import os
import select
import sys

_said: set[str] = set()
_verbose = False


def once(key: str, text: str) -> None:
    """Says a thing the first time that it comes up."""
    if key not in _said:
        _said.add(key)
        always(text)


def forget(key: str) -> None:
    """The trouble is over; if it comes again, it is said again."""
    _said.discard(key)


def verbose(text: str) -> None:
    if _verbose:
        always(text)


def always(text: str) -> None:
    try:
        if _is_heard():
            os.write(2, ("holdpoint: %s\n" % text).encode("utf-8", "backslashreplace"))
    except (OSError, ValueError):
        pass  # There is nobody to tell.


def _is_heard() -> bool:
    """Whether descriptor 2 is a stderr that takes a line now.

    In a program that was started without one it is the first file that the app opened. A pipe that nobody reads
    would end an app that has SIGPIPE's default, and a full one would hold it up.
    """
    stream = sys.__stderr__
    if stream is None or stream.closed:
        return False
    if not hasattr(select, "poll"):
        return True
    asked = select.poll()
    asked.register(2, select.POLLOUT)
    return asked.poll(0) == [(2, select.POLLOUT)]


def set_verbose(on: bool) -> None:
    global _verbose
    _verbose = on
