# Follows `stays.py` in the same module.
# Tracepoints by `sys.monitoring`, which Python has from 3.12 on: the interpreter calls us at the traced lines alone, where
# pydevd looks at each line of their functions and evaluates a condition. pydevd still says which files and lines are
# meant; then they are taken out of its tables. A line that has a breakpoint too is left to it, and functions by name are.

_monitoring = getattr(sys, "monitoring", None)
# The other numbers are the debugger's, coverage's, the profiler's and the optimizer's. Of several tools the highest is
# called first, so that a pass is counted before pydevd stops there.
_TOOLS = (4, 3)
_SEEN = _monitoring and _monitoring.DISABLE
_KEY = re.compile(r"__import__\('_holdpoint'\)\.(?:line|trace|mark)\((-?\d+)\)$")

_frame = sys._getframe
# Whose digits take no time.
_SMALL = 10**18
# What a function's or a module's names are in: those of a class' body may be in something of the program's.
_NAMES = (dict, (lambda: type(sys._getframe().f_locals))())
_arming = threading.RLock()
_tool = None
# By file as pydevd names it: the points of each line. Replaced as a whole, never changed.
_traced = {}
# Which of those are of which file as Holdpoint names it.
_places = {}
# By code: the points of each of its lines, and where they are as a hit tells it; for which `_traced` that is so.
_armed = {}
_codes = {}
_armed_for = {}
_canonical = {}


def _to_watch(new, points):
    """Before pydevd hears of them: it is not to count what is taken from it as soon as it is placed."""
    if all(one.trace for one in points) and _has_tool():
        for one in new:
            one.is_watched = True


def _has_tool():
    global _tool
    if _tool is None and _monitoring is not None:
        from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

        free = [it for it in _TOOLS if _monitoring.get_tool(it) is None]
        if PYDEVD_USE_SYS_MONITORING and free:
            try:
                _monitoring.use_tool_id(free[0], "holdpoint tracepoints")
            except ValueError:
                return False
            _tool = free[0]
            events = _monitoring.events
            _monitoring.register_callback(_tool, events.PY_START, _at_start)
            _monitoring.register_callback(_tool, events.PY_RESUME, _at_start)
            _monitoring.register_callback(_tool, events.LINE, _at_line)
            _monitoring.register_callback(_tool, events.JUMP, _at_jump)
            _monitoring.set_events(_tool, events.PY_START | events.PY_RESUME)
    return _tool is not None


def _watch_lines(file, placed):
    """pydevd has placed the points of a file: `{key: line}`. Answers the ids of those that we take from it."""
    found, keys = {}, set()
    try:
        if _tool is not None:
            found = _placed(debugger(), {int(key) for key, line in placed.items() if line is not None})
            keys = {key for lines in found.values() for key in lines.values()}
        # What pydevd is to count it does before we cease to.
        _flag(set(map(int, placed)) - keys, False)
        if _tool is not None:
            _now_watch(file, found)
        _flag(keys, True)
        if found:
            _take_from(debugger(), found)
    except Exception:
        # pydevd has them all still.
        _flag(set(map(int, placed)), False)
        return []
    return [one.id for key in keys for one in _lines.get(key, ())]


def _flag(keys, is_watched):
    for key in keys:
        for one in _lines.get(key, ()):
            one.is_watched = is_watched


def _placed(db, keys):
    """Where pydevd has those that only trace: `{its file: {line: key}}`."""
    found = {}
    for file, points in list(db.breakpoints.items()):
        for line, point in list(points.items()):
            asks = _KEY.match(point.condition) if isinstance(point.condition, str) else None
            key = int(asks.group(1)) if asks else None
            if key in keys and all(one.trace for one in _lines.get(key, ())):
                found.setdefault(file, {})[line] = key
    return found


def _take_from(db, found):
    """pydevd reads these without a lock, so they are replaced."""
    for file, lines in found.items():
        points = db.breakpoints.get(file, {})
        db.breakpoints[file] = {line: it for line, it in points.items() if line not in lines}
    db._clear_caches()


def _now_watch(file, found):
    global _traced
    before = _places.get(file, ())
    traced = {name: lines for name, lines in _traced.items() if name not in before}
    for name, lines in found.items():
        traced[name] = {line: _lines[key] for line, key in lines.items()}
    if not traced and not _traced:
        return
    _places[file] = tuple(found)
    with _arming:
        _traced = traced
        for known in list(_codes.values()):
            code = known()
            if code is not None:
                _arm(code)
    # What begins or goes on from now on is seen then; what runs now is not.
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            _arm(frame.f_code)
            frame = frame.f_back
    _monitoring.restart_events()


def _at_start(code, _offset):
    """Each code comes here once, and again when points come or go."""
    try:
        _arm(code)
        # Python 3.13 tells the first line of a call only where its start is told, too.
        if code.co_firstlineno in _armed.get(id(code), ()):
            return None
    except Exception:
        pass
    return _SEEN


def _arm(code):
    if _armed_for.get(id(code)) is not _traced:
        with _arming:
            _arm_now(code, _traced)


def _arm_now(code, traced):
    key, events, found = id(code), 0, {}
    lines = traced.get(_name_of(code.co_filename))
    if lines:
        there = {line for _, _, line in code.co_lines()}
        where = json.dumps([code.co_name, None, None])
        found = {line: (points, where) for line, points in lines.items() if line in there}
    if found:
        import weakref

        if key not in _codes:
            _codes[key] = weakref.ref(code, lambda _: _forget(key))
        _armed[key], _armed_for[key] = found, traced
        events = _monitoring.events.LINE
        if _comes_back(code, found):
            events |= _monitoring.events.JUMP
    elif key in _codes:
        _forget(key)
    else:
        return
    if _monitoring.get_local_events(_tool, code) != events:
        _monitoring.set_local_events(_tool, code, events)


def _forget(key):
    for kept in (_armed, _armed_for, _codes):
        kept.pop(key, None)


def _name_of(file):
    """As pydevd calls it."""
    name = _canonical.get(file)
    if name is None:
        from pydevd_file_utils import get_abs_path_real_path_and_base_from_file

        name = _canonical[file] = get_abs_path_real_path_and_base_from_file(file)[1]
    return name


def _comes_back(code, lines):
    """Whether one of these lines has a loop all of its own, whose rounds are no new lines."""
    of = _line_of(code)
    for each in dis.get_instructions(code):
        if each.opcode in dis.hasjrel and each.argval <= each.offset:
            if of.get(each.offset) in lines and of.get(each.offset) == of.get(each.argval):
                return True
    return False


def _line_of(code):
    return {at: line for begin, end, line in code.co_lines() for at in range(begin, end, 2)}


def _at_jump(code, source, target):
    if target > source:
        return _SEEN
    of = _line_of(code)
    line = of.get(target)
    here = _armed.get(id(code), {}).get(line)
    if here is None or line != of.get(source):
        return _SEEN
    return _passed(*here, _frame(1))


def _at_line(code, line):
    """The hot path of a program that is traced. Nothing that happens here may reach it."""
    try:
        points, where = _armed[id(code)][line]
    except KeyError:
        return _SEEN
    return _passed(points, where, _frame(1))


def _passed(points, where, frame):
    try:
        thread = _local.number
    except AttributeError:
        thread = _thread()
    if thread is None:
        return None
    is_spent = True
    for one in points:
        if one.is_watched and not (one.last and one.reported >= one.last):
            try:
                _count(one, frame, where, thread)
            except BaseException:
                pass
        if not (one.last and one.reported >= one.last):
            is_spent = False
    return _SEEN if is_spent else None


def _count(one, frame, where, thread):
    """As `_report` does it, with fewer calls."""
    number = None
    if not one.condition:
        number = next(one.numbers)
        if (one.multiple and number % one.multiple) or (one.hits and not _tests(one.hits, number)):
            return
        found = one.names and _plain(one.names, frame.f_locals, one.is_literal)
        if found:
            one.reported += 1
            begun = _now()
            _hits.append(_written(one, (number, found), begun, thread, where))
            _tell(begun)
            return
    ident, begun = _ident(), _now()
    _running[ident] = begun
    try:
        if number is None:
            hit = _hit(one, frame.f_globals, frame.f_locals, ident)
            if hit is None:
                return
        else:
            one.reported += 1
            hit = number, ()
            if one.expressions:
                hit = number, _evaluate(one.expressions, frame.f_globals, frame.f_locals, ident)
        _hits.append(_written(one, hit, begun, thread, where))
    finally:
        _finish(ident)
    _tell(begun)


def _plain(names, values, is_literal):
    """Names of numbers and short texts, each as JSON has it: nothing of the program's runs for them, so nobody has to watch
    over it. None where one is something else."""
    if type(values) not in _NAMES:
        return None
    found = []
    for name in names:
        value = values.get(name)
        kind = type(value)
        if kind is int and -_SMALL < value < _SMALL:
            found.append(f'"{value}"')
        elif kind is str and len(value) < 100:
            found.append(_quoted(repr(value) if is_literal else value))
        else:
            return None
    return found


def _watch_nothing():
    """Nobody listens any more, or not yet: a forked child is told its points anew."""
    global _tool, _traced, _arming
    _arming = threading.RLock()
    if _tool is None:
        return
    try:
        _monitoring.set_events(_tool, 0)
        for known in list(_codes.values()):
            code = known()
            if code is not None:
                _monitoring.set_local_events(_tool, code, 0)
        for event in ("PY_START", "PY_RESUME", "LINE", "JUMP"):
            _monitoring.register_callback(_tool, getattr(_monitoring.events, event), None)
        _monitoring.free_tool_id(_tool)
    except Exception:
        pass
    _tool, _traced = None, {}
    for kept in (_places, _armed, _armed_for, _codes):
        kept.clear()
