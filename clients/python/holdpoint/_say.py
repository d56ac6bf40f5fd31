"""What the client tells the person at the terminal, on stderr.

A thing is said once in a process. It is written straight to the descriptor: the app may have replaced
`sys.stderr` by anything, and a daemon thread that holds its lock at exit ends the interpreter badly.
"""

import os

_said = set()
_verbose = False


def once(key, text):
    """Says a thing the first time that it comes up."""
    if key not in _said:
        _said.add(key)
        always(text)


def forget(key):
    """The trouble is over; if it comes again, it is said again."""
    _said.discard(key)


def verbose(text):
    if _verbose:
        always(text)


def always(text):
    try:
        os.write(2, ("holdpoint: %s\n" % text).encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # stderr is closed: there is nobody to tell.


def set_verbose(on):
    global _verbose
    _verbose = on
