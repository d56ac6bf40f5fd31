"""Tells the recording which test runs and how it ended; never fails the run."""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import sys

from . import runners


def pytest_runtest_logstart(nodeid, location):
    if not _is_controller():
        runners.tell(nodeid, "begin")


def pytest_runtest_logreport(report):
    try:
        if _is_controller():
            return
        if report.when == "call" or report.outcome != "passed":
            _outcomes[report.nodeid] = (report.outcome, _message(report))
        if report.when == "teardown":
            outcome, message = _outcomes.pop(report.nodeid, (report.outcome, None))
            runners.tell(report.nodeid, "end", outcome, message)
    except Exception:
        pass


_outcomes = {}


def _is_controller():
    """Under xdist the workers tell, each in its own stream."""
    plugin = sys.modules.get("xdist.dsession")
    return plugin is not None and "PYTEST_XDIST_WORKER" not in __import__("os").environ and _distributes[0]


_distributes = [False]


def pytest_configure(config):
    try:
        _distributes[0] = bool(getattr(config.option, "dist", "no") != "no")
    except Exception:
        pass


def _message(report):
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    message = getattr(crash, "message", None)
    if isinstance(message, str):
        return message
    longrepr = getattr(report, "longrepr", None)
    if isinstance(longrepr, tuple) and len(longrepr) == 3:
        return str(longrepr[2])
    return None
