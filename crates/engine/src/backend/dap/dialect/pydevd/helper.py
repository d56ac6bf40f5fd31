"""What of Holdpoint works inside the debugged program, as the module `_holdpoint`.

Sent by Holdpoint when it is needed first; nothing of it is on disk. Runs in the program's own Python,
from 3.8 on, and must not disturb it: no output, and no thread but pydevd's kind, which nobody sees.
`LIMITS` is there before the rest runs; `traces.py`, `find.py`, `stays.py`, `until.py`, `watched.py` and `resumes.py` follow
in the same module.
"""

import collections
import dis
import gc
import itertools
import json
import os
import re
import sys
import types

# As they were before the program, gevent for one, put something else in their places.
from _pydev_bundle._pydev_saved_modules import threading, time


def debugger():
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    return get_global_debugger()


# Exceptions by the names of their classes: pydevd knows only classes, which need not be there yet.


class _Named(type):
    names = None

    def __subclasscheck__(cls, kind):
        names = _Named.names
        if names is None:
            return True
        for each in kind.__mro__:
            if each.__name__ in names or each.__module__ + "." + each.__qualname__ in names:
                return True
        return False


class Uncaught(metaclass=_Named):
    pass


class Raised(metaclass=_Named):
    pass


class UserUnhandled(metaclass=_Named):
    pass


def exceptions(names):
    """Which exceptions are meant from now on; None for all."""
    _Named.names = None if names is None else frozenset(names)
    db = debugger()
    if getattr(db.exclude_exception_by_filter, "of_holdpoint", False):
        return
    excluded = db.exclude_exception_by_filter

    def exclude(point, trace):
        if excluded(point, trace):
            return True
        if point.type is not Raised or trace is None:
            return False
        # It was told already where it came into the user's code.
        deeper = trace.tb_next
        while deeper is not None:
            if not excluded(point, deeper):
                return True
            deeper = deeper.tb_next
        return False

    exclude.of_holdpoint = True
    db.exclude_exception_by_filter = exclude


# Points: breakpoints that need more than pydevd can, and tracepoints.


class _Point:
    """One of Holdpoint's, by line or by function. A tracepoint's `trace` says what it reports."""

    def __init__(self, asked):
        self.id = asked["id"]
        self.name = asked.get("name")
        self.file = asked.get("file")
        self.hits = asked["hits"]
        self.trace = asked["trace"]
        self.numbers = itertools.count(1)
        self.reported = 0
        self.where = None
        # By `sys.monitoring`, which asks us without pydevd in between.
        self.is_watched = False
        self.condition = asked["condition"] and _Expression(asked["condition"])
        self.expressions = []
        if self.trace:
            self.multiple, self.max = self.trace["multiple"], self.trace["max"]
            self.is_literal, self.is_mark = self.trace["literal"], self.trace["mark"]
            kind = _Literal if self.is_literal else _Formatted
            self.expressions = [kind(it) for it in self.trace["expressions"]]
            # Their names, where they are nothing else.
            names = [it.name() for it in self.expressions]
            self.names = tuple(names) if names and None not in names else None
            # The hit after which nothing is reported any more; 0 for none.
            self.last = 1 if self.is_mark else self.max
            self.head = "[[%d,%d]," % (self.id, self.trace["generation"])

    def is_wanted(self, names, values):
        """Counts a hit whose condition holds; its number, or 0 when this is none to stop or report."""
        if self.condition and not self.condition.value(names, values):
            return 0
        number = next(self.numbers)
        return number if _tests(self.hits, number) else 0


def _point(asked, known):
    """The one that is there already keeps its count."""
    asked["key"] = json.dumps(asked, sort_keys=True)
    before = known.get(asked["key"])
    point = before or _Point(asked)
    point.asked = asked["key"]
    return point


class _Expression:
    def __init__(self, text):
        self.code = compile(text.strip(), "<expression>", "eval")
        # A comprehension or lambda inside sees no locals, only globals.
        self.is_nested = any(isinstance(it, types.CodeType) for it in self.code.co_consts)
        # Most expressions are a name, which needs no evaluation where it is a local's.
        self.name = self.code.co_names[0] if text.strip() in self.code.co_names else None

    def value(self, names, values):
        if self.name is not None:
            try:
                return values[self.name]
            except KeyError:
                pass
        if self.is_nested:
            names = dict(names)
            names.update(values)
        return eval(self.code, names, values)


class _Formatted:
    """An expression as an f-string takes it: `x`, `x!r`, `x:.2f`, `x=`."""

    def __init__(self, text):
        self.begins, self.convert, self.spec, self.error = "", None, "", None
        try:
            self.expression = _Expression(text)
        except (SyntaxError, ValueError) as error:
            self.error = error
            self._split(text)

    def _split(self, text):
        """Where the expression ends only its parser knows: the first that parses is it."""
        ends = [at for at, mark in enumerate(text) if mark in "!:="]
        for at in ends:
            try:
                self.expression = _Expression(text[:at])
            except (SyntaxError, ValueError):
                continue
            suffix = re.match(r"(=\s*)?(?:!([rsa]))?(?::(.*))?$", text[at:], re.S)
            if suffix is None:
                continue
            shows, convert, spec = suffix.groups()
            if shows:
                self.begins = text[:at] + shows
            usual = repr if shows and not spec else None
            self.convert = {"r": repr, "s": str, "a": ascii, None: usual}[convert]
            self.spec, self.error = spec or "", None
            return

    def name(self):
        is_plain = self.error is None and not (self.begins or self.convert or self.spec)
        return self.expression.name if is_plain else None

    def text(self, names, values):
        if self.error is not None:
            raise self.error
        value = self.expression.value(names, values)
        if self.convert is not None:
            value = self.convert(value)
        if type(value) is not str or self.spec:
            value = format(value, self.spec) if self.spec else str(value)
        return self.begins + value


class _Literal:
    """An expression whose value is told as Python writes it."""

    def __init__(self, text):
        self.error = None
        try:
            self.expression = _Expression(text)
        except (SyntaxError, ValueError) as error:
            self.error = error

    def name(self):
        return self.expression.name if self.error is None else None

    def text(self, names, values):
        if self.error is not None:
            raise self.error
        return repr(self.expression.value(names, values))


def of(name, text):
    """An expression in the nearest frame of a function, for expressions that name one."""
    ours = _debuggers() + ("<expression>", "<string>")
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(ours) and _is_named(code, name, frame):
            return _Expression(text).value(frame.f_globals, frame.f_locals)
        frame = frame.f_back
    raise LookupError("no frame of " + name)


def check(text):
    """What is wrong with each expression: `[text or None]`."""
    wrong = []
    for each in json.loads(text):
        error = _Formatted(each).error
        wrong.append(error and "%s: %s" % (type(error).__name__, error))
    return json.dumps(wrong)


def _tests(hits, n):
    if hits is None:
        return True
    how, number = hits
    if how == "%":
        return n % number == 0
    if how == ">=":
        return n >= number
    if how == ">":
        return n > number
    if how == "<=":
        return n <= number
    if how == "<":
        return n < number
    return n == number


# Lines: pydevd has one breakpoint on each, we may have several.

_lines = {}
_files = {}


def lines(text):
    """Which points share which line of a file: `{file, groups: {key: [point]}}`."""
    asked = json.loads(text)
    known = {one.asked: one for key in _files.get(asked["file"], ()) for one in _lines.get(key, ())}
    groups = {int(key): group for key, group in asked["groups"].items()}
    for key, group in groups.items():
        for one in group:
            one["file"] = asked["file"]
        points = [_point(one, known) for one in group]
        _to_watch([one for one in points if one.asked not in known], points)
        _lines[key] = points
    _files.setdefault(asked["file"], set()).update(groups)
    _begin()


def lines_set(text):
    """They are set. What is no longer wanted is forgotten; tracepoints need not be compiled at each hit.

    Others are left as text: pydevd says it when a condition raises.
    Answers which tracepoints `sys.monitoring` sees to.
    """
    asked = json.loads(text)
    keys = set(asked["keys"])
    for key in _files.get(asked["file"], set()) - keys:
        _lines.pop(key, None)
    _files[asked["file"]] = keys
    for key, line in asked["lines"].items():
        for one in _lines.get(int(key), ()):
            one.line = line
    watched = _watch_lines(asked["file"], asked["lines"])
    for points in list(debugger().breakpoints.values()):
        for point in list(points.values()):
            if isinstance(point.condition, str) and point.condition.startswith(_OURS):
                if point.condition.startswith(_MARK):
                    point.of_mark = int(point.condition[len(_MARK) : -1])
                point.condition = compile(point.condition, "<holdpoint>", "eval")
    return json.dumps(watched)


_MARK = "__import__('_holdpoint').mark("
_OURS = ("__import__('_holdpoint').trace(", _MARK)


def line(key):
    """The condition of a line: whether one of the breakpoints on it wants to stop."""
    here = sys._getframe(1)
    hits, error = [], None
    for one in _lines.get(key, ()):
        if one.trace:
            if not one.is_watched:
                _pass(one, here.f_globals, here.f_locals, None)
            continue
        try:
            if one.is_wanted(here.f_globals, here.f_locals):
                hits.append(one.id)
        except Exception as wrong:
            error = wrong
    if (hits or error) and sum(1 for one in _lines.get(key, ()) if not one.trace) > 1:
        _entered.append(hits)
    if error is not None:
        # pydevd stops and says so: nobody would ever learn of it otherwise.
        raise error
    return bool(hits)


def trace(key):
    """The condition of a line that has one tracepoint only. Never stops."""
    here = sys._getframe(1)
    for one in _lines.get(key, ()):
        if not one.is_watched:
            _pass(one, here.f_globals, here.f_locals, None)
    return False


def mark(key):
    """The condition of a line that has a mark only: reached is reached, and never asked again."""
    for one in _lines.get(key, ()):
        if not one.is_watched:
            _pass(one, {}, {}, None)
            _unmark(one)
    return False


def _unmark(one):
    """pydevd is not to look at this line any more; it reads these without a lock, so they are replaced."""
    try:
        db = debugger()
        for file, points in list(db.breakpoints.items()):
            kept = {line: it for line, it in points.items() if getattr(it, "of_mark", None) != one.id}
            if len(kept) < len(points):
                db.breakpoints[file] = kept
                db._clear_caches()
                db.mtime += 1
    except Exception:
        pass


# Functions by name.

_functions = {}
_entered = []
_qualified = {}


def functions(text):
    """What is wanted of the functions of one own name: `{name: [point]}`.

    Answers which conditions are none, and why: `{id: text}`.
    """
    bad = {}
    known = {one.asked: one for group in _functions.values() for one in group}
    now = {}
    for name, group in json.loads(text).items():
        for one in group:
            try:
                now.setdefault(name, []).append(_point(one, known))
            except (SyntaxError, ValueError) as error:
                bad[one["id"]] = str(error)
    _functions.clear()
    _functions.update(now)
    _begin()
    return json.dumps(bad)


def called(name):
    """The condition of pydevd's function breakpoint: whether one of ours wants to stop here."""
    here = sys._getframe(1)
    frame = _users(here, name)
    if frame is None:
        return False
    hits = []
    for one in _functions.get(name, ()):
        if not _is_named(frame.f_code, one.name, frame):
            continue
        if one.file and not _same(one.file, frame.f_code.co_filename):
            continue
        if one.trace:
            _pass(one, here.f_globals, here.f_locals, frame)
        elif one.is_wanted(here.f_globals, here.f_locals):
            hits.append(one.id)
    if hits:
        _entered.append(hits)
    return bool(hits)


def _users(here, name=None):
    """The frame of the program below the one that pydevd evaluates our condition in."""
    frame = here.f_back
    while frame is not None:
        if frame.f_globals is here.f_globals and name in (None, frame.f_code.co_name):
            return frame
        frame = frame.f_back
    return None


def entered():
    """The ids for which the program stopped, each stop's once."""
    return json.dumps(_entered.pop(0) if _entered else [])
