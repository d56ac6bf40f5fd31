"""What of Holdpoint works inside the debugged program, as the module `_holdpoint`.

Sent by Holdpoint when it is needed first; nothing of it is on disk. Runs in the program's own Python,
from 3.8 on, and must not disturb it: no output, and no thread but pydevd's kind, which nobody sees.
`LIMITS` is there before the rest runs.
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
        self.condition = asked["condition"] and _Expression(asked["condition"])
        self.expressions = []
        if self.trace:
            self.multiple, self.max = self.trace["multiple"], self.trace["max"]
            self.expressions = [_Formatted(it) for it in self.trace["expressions"]]
            self.key = [self.id, self.trace["generation"]]

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

    def value(self, names, values):
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

    def text(self, names, values):
        if self.error is not None:
            raise self.error
        value = self.expression.value(names, values)
        if self.convert is not None:
            value = self.convert(value)
        if type(value) is not str or self.spec:
            value = format(value, self.spec) if self.spec else str(value)
        return self.begins + value


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
        _lines[key] = [_point(one, known) for one in group]
    _files.setdefault(asked["file"], set()).update(groups)
    _begin()


def lines_set(text):
    """They are set. What is no longer wanted is forgotten; tracepoints need not be compiled at each hit.

    Others are left as text: pydevd says it when a condition raises.
    """
    asked = json.loads(text)
    keys = set(asked["keys"])
    for key in _files.get(asked["file"], set()) - keys:
        _lines.pop(key, None)
    _files[asked["file"]] = keys
    for key, line in asked["lines"].items():
        for one in _lines.get(int(key), ()):
            one.line = line
    for points in list(debugger().breakpoints.values()):
        for point in list(points.values()):
            if isinstance(point.condition, str) and point.condition.startswith(_OURS):
                point.condition = compile(point.condition, "<holdpoint>", "eval")


_OURS = "__import__('_holdpoint').trace("


def line(key):
    """The condition of a line: whether one of the breakpoints on it wants to stop."""
    here = sys._getframe(1)
    hits, error = [], None
    for one in _lines.get(key, ()):
        if one.trace:
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
        _pass(one, here.f_globals, here.f_locals, None)
    return False


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


# Tracepoints: the program evaluates by itself and goes on; hits go out in batches.

_VALUE = LIMITS["value"]
_BATCH = LIMITS["batch"]
_EVERY = LIMITS["every"]
_BUDGET = LIMITS["budget"]
# Batches that are on their way: a program that is faster than who listens waits, and loses nothing.
_ROOM = LIMITS["room"]
_LAST = LIMITS["last"]

_hits = collections.deque()
_local = threading.local()
_running = {}
_thrown = set()
_guard = threading.Lock()
_flushing = threading.RLock()
_room = threading.BoundedSemaphore(_ROOM)
_wake = threading.Event()
_flushed = 0.0
_is_awake = False
_process = None


def _pass(one, names, values, frame):
    """A tracepoint was passed. Nothing that happens here may reach the program."""
    if one.max and one.reported >= one.max:
        return
    try:
        _report(one, names, values, frame)
    except BaseException:
        pass


def _report(one, names, values, frame):
    ident = threading.get_ident()
    begun = time.time()
    _running[ident] = begun
    try:
        try:
            number = one.is_wanted(names, values)
            if not number or (one.multiple and number % one.multiple):
                return
            one.reported += 1
            found = _evaluate(one.expressions, names, values, ident) if one.expressions else ()
        except BaseException as error:
            # Its condition failed, which nobody would learn of otherwise.
            number, found = next(one.numbers), [[_name(error, ident)]] * len(one.expressions)
            one.reported += 1
        where = one.where if frame is None else None
        if where is None:
            where = _where(one, frame)
        _hits.append((one.key, number, begun, _thread(), where, found))
    finally:
        _finish(ident)
    _tell(begun)


def _evaluate(expressions, names, values, ident):
    found = []
    for each in expressions:
        try:
            text = each.text(names, values)
            if len(text) > _VALUE:
                text = text[: _VALUE // 2] + "…" + text[-_VALUE // 2 + 1 :]
            found.append(text)
        except BaseException as error:
            found.append([_name(error, ident)])
            if ident in _thrown:
                # The budget is for all of them together.
                found.extend([["Timeout"]] * (len(expressions) - len(found)))
                break
    return found


def _name(error, ident):
    return "Timeout" if ident in _thrown else type(error).__name__


def _where(one, frame):
    """Function, file and line, where Holdpoint does not know them."""
    if frame is not None:
        code = frame.f_code
        return [code.co_name, os.path.abspath(code.co_filename), _body(code)]
    users = _users(sys._getframe(4))
    one.where = [users.f_code.co_name if users else None, None, None]
    return one.where


def _finish(ident):
    # What interrupts an evaluation that takes too long may come late; it must not reach the program.
    while True:
        try:
            with _guard:
                _running.pop(ident, None)
                if ident not in _thrown:
                    return
            for _ in range(10000):
                pass
            _thrown.discard(ident)
            return
        except BaseException:
            continue


def _thread():
    """As pydevd numbers the threads for us."""
    try:
        return _local.number
    except AttributeError:
        pass
    try:
        from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
        from _pydevd_bundle.pydevd_constants import get_current_thread_id

        thread = get_current_thread_id(threading.current_thread())
        _local.number = BaseSchema._translate_id_to_dap(thread)
    except Exception:
        _local.number = 1
    return _local.number


def _tell(now):
    global _is_awake
    if len(_hits) >= _BATCH or not 0 <= now - _flushed < _EVERY:
        flush()
    elif not _is_awake:
        _is_awake = True
        _wake.set()


def flush():
    """Sends what there is."""
    global _flushed
    with _flushing:
        while _hits:
            batch = []
            while _hits and len(batch) < _BATCH:
                batch.append(_hits.popleft())
            _send(batch)
        _flushed = time.time()


def _send(batch):
    from _pydevd_bundle.pydevd_net_command import NetCommand

    db = debugger()
    if db is None or db.writer is None or db.writer._kill_received:
        return
    event = {"type": "event", "event": "holdpoint", "seq": 0, "body": {"hits": batch}}
    command = NetCommand(99999, 0, event, is_json=True)
    command.as_dict = None
    command._after_send = [_sent]
    while not _room.acquire(timeout=1.0):
        if db.writer._kill_received or not db.writer.is_alive():
            return
    _add(db.writer, command)


def _sent(_socket):
    _room.release()


def _add(writer, command):
    add = getattr(writer.add_command, "before_holdpoint", writer.add_command)
    add(command)


def _begin():
    """Once in each process: what was passed before a stop is told before the stop."""
    global _process
    db = debugger()
    before = db.writer.add_command
    if not hasattr(before, "before_holdpoint"):

        def add_command(command):
            if _hits:
                flush()
            before(command)

        add_command.before_holdpoint = before
        db.writer.add_command = add_command
    if _process == os.getpid():
        return
    _process = os.getpid()
    from _pydevd_bundle.pydevd_daemon_thread import run_as_pydevd_daemon_thread

    run_as_pydevd_daemon_thread(db, _watch)
    import atexit

    atexit.register(_at_exit)
    for name in ("_exit", "execv", "execve"):
        _before(os, name)


def _before(module, name):
    """Nothing runs after these, so what there is is sent before."""
    does = getattr(module, name)
    if hasattr(does, "before_holdpoint"):
        return

    def flushed(*args):
        _at_exit()
        return does(*args)

    flushed.before_holdpoint = does
    setattr(module, name, flushed)


def _at_exit():
    """Sends what there is, and waits until it is sent."""
    try:
        if _process != os.getpid():
            return
        flush()
        # As long as something goes out: a server that is behind takes its time, one that is gone none.
        taken = 0
        while taken < _ROOM and _room.acquire(timeout=_LAST):
            taken += 1
        for _ in range(taken):
            _room.release()
    except Exception:
        pass


def _watch():
    """Sends the last hits of a burst, and ends evaluations that take too long."""
    global _is_awake
    while True:
        _wake.wait(0.2)
        if _is_awake:
            _is_awake = False
            _wake.clear()
            time.sleep(_EVERY)
        if _hits:
            flush()
        now = time.time()
        for ident, begun in list(_running.items()):
            if now - begun > _BUDGET:
                _throw(ident, begun)


def _throw(ident, begun):
    import ctypes
    import signal

    with _guard:
        if _running.get(ident) != begun:
            return
        _thrown.add(ident)
        # Ctrl-C ends a system call too, where the program has not its own.
        is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if is_default and ident == threading.main_thread().ident:
            signal.pthread_kill(ident, signal.SIGINT)
        else:
            throw = ctypes.pythonapi.PyThreadState_SetAsyncExc
            throw(ctypes.c_ulong(ident), ctypes.py_object(TimeoutError))


def _after_fork():
    """The parent sends its own; its threads and locks are not here."""
    global _guard, _flushing, _room, _wake, _is_awake, _local
    _hits.clear()
    _local = threading.local()
    _running.clear()
    _thrown.clear()
    _guard, _flushing = threading.Lock(), threading.RLock()
    _room, _wake, _is_awake = threading.BoundedSemaphore(_ROOM), threading.Event(), False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _same(one, other):
    return os.path.realpath(one) == os.path.realpath(other)


def _is_named(code, wanted, frame=None):
    if "." not in wanted:
        return code.co_name == wanted
    module = frame.f_globals.get("__name__", "") if frame else ""
    return _matches(module, _qualified_name(code), wanted)


def _matches(module, qualified, wanted):
    whole = "." + module + "." + qualified.replace(".<locals>", "")
    return whole.endswith("." + wanted)


def _qualified_name(code):
    known = getattr(code, "co_qualname", None) or _qualified.get(code)
    if known is None:
        for it in gc.get_referrers(code):
            if isinstance(it, types.FunctionType):
                known = it.__qualname__
                break
        known = _qualified[code] = known or code.co_name
    return known


# Where functions are, to tell the truth about them.


def find(text):
    """What is known of each wanted function: `[{places, others, sources, near}]`."""
    asked = json.loads(text)
    loaded = _loaded()
    sources = None
    answers = []
    for one in asked["functions"]:
        places, others = _in_loaded(loaded, one)
        answer = {"places": places, "others": others, "sources": [], "near": []}
        if not places:
            if sources is None:
                sources = _sources(asked["folders"])
            answer["sources"] = _in_sources(sources, one)
            if not answer["sources"] and not others:
                answer["near"] = _near(one["name"], loaded, sources)
        answers.append(answer)
    return json.dumps(answers)


def _in_loaded(loaded, one):
    last = one["name"].rpartition(".")[2]
    places, others = [], []
    for code, module, qualified in loaded:
        if code.co_name != last:
            continue
        if "." in one["name"] and not _matches(module, qualified, one["name"]):
            continue
        if one["file"] and not _same(one["file"], code.co_filename):
            continue
        found = places if _is_users(code) else others
        at = [os.path.abspath(code.co_filename), _body(code)]
        if at not in found:
            found.append(at)
    return places, others


def _loaded():
    """Every function there is, with those that they define: code, module, qualified name."""
    found = []
    seen = set()
    ours = _debuggers()

    def take(code, module, qualified):
        if id(code) in seen or code.co_filename.startswith(ours) or code.co_name == "<module>":
            return
        seen.add(id(code))
        found.append((code, module, qualified))
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                take(inner, module, qualified + "." + inner.co_name)

    for it in gc.get_objects():
        if type(it) is types.FunctionType:
            take(it.__code__, it.__module__ or "", it.__qualname__)
    return found


def _debuggers():
    """Where the debugger's own files are, and ours."""
    names = ("<holdpoint>",)
    for name in ("debugpy", "pydevd", "_pydevd_bundle", "_pydev_bundle"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            names += (os.path.dirname(file) + os.sep,)
    return names


def _is_users(code):
    db = debugger()
    try:
        if not db.get_use_libraries_filter():
            return True
        name = os.path.abspath(code.co_filename)
        return db._files_filtering.in_project_roots(name)
    except Exception:
        return "site-packages" not in code.co_filename


def _body(code):
    """The line of the first statement: the first line of the code is that of its decorator."""
    first = code.co_firstlineno
    for _, line in dis.findlinestarts(code):
        if line is not None and line > first:
            return line
    return first


_DEFINES = re.compile(r"^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.M)
_SKIPPED = {"node_modules", "site-packages", "__pycache__"}
_FILES = 2000
_BYTES = 1 << 20


def _sources(folders):
    """What the files of the project define: `[(file, line, qualified name)]`."""
    found, seen = [], set()
    for folder in folders:
        for path, names, files in os.walk(folder):
            names[:] = sorted(n for n in names if n not in _SKIPPED and not n.startswith("."))
            if "pyvenv.cfg" in files:
                names[:] = []
                continue
            for name in sorted(files):
                file = os.path.join(path, name)
                if not name.endswith(".py") or file in seen:
                    continue
                if len(seen) >= _FILES:
                    return found
                seen.add(file)
                found.extend(_defined(file))
    return found


def _defined(file):
    try:
        if os.path.getsize(file) > _BYTES:
            return
        with open(file, encoding="utf-8", errors="replace") as source:
            text = source.read()
    except OSError:
        return
    inside, line, at = [], 1, 0
    for found in _DEFINES.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        indent = len(found.group(1).expandtabs())
        while inside and inside[-1][0] >= indent:
            inside.pop()
        inside.append((indent, found.group(3)))
        if found.group(2) == "def":
            yield file, line, ".".join(name for _, name in inside)


def _in_sources(sources, one):
    found = []
    for file, line, qualified in sources:
        module = os.path.splitext(file)[0].replace(os.sep, ".")
        if _matches(module, qualified, one["name"]):
            if not one["file"] or _same(one["file"], file):
                found.append([file, line])
    return found[:8]


def _near(name, loaded, sources):
    import difflib

    names = {qualified for _, _, qualified in sources}
    names.update(
        qualified.replace(".<locals>", "") for code, _, qualified in loaded if _is_users(code)
    )
    last = {}
    for each in sorted(names):
        last.setdefault(each.rpartition(".")[2].lower(), each)
    wanted = name.rpartition(".")[2].lower()
    return [last[each] for each in difflib.get_close_matches(wanted, list(last), 3)]
