"""Test runners: which test runs, and how it ended.

pytest finds its plug-in by `PYTEST_PLUGINS`; unittest is met when it is imported.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import os
import sys

from . import imports

PLUGIN = "_holdpoint_record.pytest_plugin"
LONGEST = 2000

recorder = None


def follow(active):
    global recorder
    recorder = active
    known = [it for it in os.environ.get("PYTEST_PLUGINS", "").split(",") if it]
    if PLUGIN not in known:
        os.environ["PYTEST_PLUGINS"] = ",".join([PLUGIN] + known)
    imports.when("unittest.case", _wrap)


def tell(name, phase, outcome=None, message=None):
    if recorder is None:
        return
    about = {"name": name, "phase": phase}
    if outcome is not None:
        about["outcome"] = outcome
    if message:
        about["message"] = message[:LONGEST]
    try:
        recorder.test(about)
    except Exception:
        pass


def _wrap(case):
    run = case.TestCase.run

    def recorded_run(self, result=None):
        # Under pytest its own plug-in tells.
        if "_pytest.unittest" in sys.modules:
            return run(self, result)
        name = "%s.%s.%s" % (type(self).__module__, type(self).__qualname__, self._testMethodName)
        tell(name, "begin")
        before = _counts(result)
        try:
            return run(self, result)
        finally:
            _tell_end(name, result, before)

    recorded_run.__name__, recorded_run.__qualname__ = "run", "TestCase.run"
    recorded_run.__wrapped__ = run
    case.TestCase.run = recorded_run


def _counts(result):
    return {kind: len(_list(result, kind)) for kind in ("failures", "errors", "skipped")}


def _list(result, kind):
    found = getattr(result, "__dict__", {}).get(kind)
    return found if type(found) is list else []


def _tell_end(name, result, before):
    for kind, outcome in (("failures", "failed"), ("errors", "failed"), ("skipped", "skipped")):
        found = _list(result, kind)
        if len(found) > before[kind]:
            text = found[-1][1] if type(found[-1]) is tuple else ""
            text = text if type(text) is str else ""
            lines = text.strip().splitlines()
            tell(name, "end", outcome, lines[-1] if lines else None)
            return
    tell(name, "end", "passed" if result is not None else None)
