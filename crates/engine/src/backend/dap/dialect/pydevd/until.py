# Follows `stays.py` in the same module.
# Runs until a value turns: pydevd steps into every line of the user's code, and a step that has not come to the turn
# goes on from where pydevd would have stopped for it. Breakpoints, exceptions and pauses stop as they always do.

# Of everything else only what Python writes of it is compared.
_PLAIN = frozenset((int, float, bool, str, bytes, complex, type(None)))
_TRUTHS = {"True": True, "true": True, "False": False, "false": False}
# Generators, coroutines and async generators: they are not over when they are left.
_COMES_BACK = 0x20 | 0x80 | 0x200

_until = None


class _Until:
    """One value that is watched, in one frame of one thread. Made on that thread, while it stands."""

    def __init__(self, asked):
        from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
        from _pydevd_bundle.pydevd_constants import get_current_thread_id

        self.thread = threading.current_thread()
        thread = get_current_thread_id(self.thread)
        find = lambda it: debugger().find_frame(thread, BaseSchema._translate_id_from_dap(it))
        self.frame, top = find(asked["frame"]), find(asked["top"])
        if self.frame is None or top is None:
            raise LookupError("the frame is not there")
        self.expression = _Expression(asked["expression"])
        self.becomes = self.truth = None
        if asked["becomes"] is not None:
            self.truth = _TRUTHS.get(asked["becomes"].strip())
            self.becomes = _Expression(asked["becomes"])
        self.of = _generator(self.frame)
        self.last = _place(top)
        self.deferred = self.by = None
        self.lines = self.raised = 0
        self.is_left = False
        # What becomes of the next step: `watch`, `stop` there, or `run` on as if nobody had asked.
        self.does = "watch"
        self.begun, self.limit = time.time(), asked["seconds"]
        self.value = self.text = self.kind = self.error = None
        self.is_so = False
        self.turned = self.look()
        self.is_so_already = self.turned and self.becomes is not None
        self.before = self.now()
        self.turned = False

    def now(self):
        """What it is by now: its text, or what it raises."""
        if self.error is not None:
            return {"error": self.error}
        text = self.text if self.text is not None else _value_text(self.value)
        if len(text) > _VALUE:
            text = text[: _VALUE // 2] + "…" + text[-_VALUE // 2 + 1 :]
        return {"text": text}

    def look(self):
        """Whether it has turned since the last look."""
        ident = threading.get_ident()
        _running[ident] = time.time()
        try:
            try:
                return self._turned()
            except BaseException as error:
                is_other = self.error is None
                self.raised += 1
                self.value = self.text = self.kind = None
                name = _name(error, ident)
                self.error = name if name == "Timeout" else "%s: %s" % (name, _written_error(error))
                # A value that is watched for any change has one; what is to become something has not become it.
                return self.becomes is None and is_other
        finally:
            _finish(ident)

    def _turned(self):
        names, values = self.frame.f_globals, self.frame.f_locals
        value = self.expression.value(names, values)
        if self.becomes is not None:
            was, self.error, self.value, self.text = self.is_so, None, value, None
            if self.truth is not None:
                self.is_so = bool(value) is self.truth
            else:
                self.is_so = bool(value == self.becomes.value(names, values))
            return self.is_so and not was
        kind = type(value)
        is_first, self.error = self.error is not None, None
        if kind in _PLAIN:
            is_same = kind is self.kind and (value is self.value or value == self.value)
            self.value, self.text, self.kind = value, None, kind
        else:
            text = repr(value)
            is_same = kind is self.kind and text == self.text
            # Not kept alive by us: a program may count on its end.
            self.value, self.text, self.kind = None, text, kind
        return is_first or not is_same

    def arrived(self, frame):
        """Whether a step ends here. `frame` is that of the line which comes next."""
        if self.does == "run":
            _forget_watch(self)
            return False
        self.lines += 1
        if self.look():
            self.turned, self.by = True, self.last
        elif not self.is_within(frame):
            self.is_left, self.by = True, self.last
        elif self.does == "watch" and time.time() - self.begun < self.limit:
            self.last = _place(frame)
            return False
        self.does = "over"
        return True

    def stopped(self):
        """It stops for another reason; what turned just now is told all the same."""
        if self.does == "watch" and self.look():
            self.turned, self.by = True, self.last
        self.does = "over"

    def is_within(self, frame):
        """Whether the watched frame is still under way."""
        if self.of is not None:
            return self.of() is not None
        while frame is not None and frame is not self.frame:
            frame = frame.f_back
        return frame is not None

    def told(self):
        place = None
        if self.by is not None:
            file, line, function = self.by
            place = [os.path.abspath(file), line, function]
        return {
            "lines": self.lines,
            "raised": self.raised,
            "before": self.before,
            "now": self.now(),
            "turned": self.turned,
            "already": self.is_so_already,
            "left": self.is_left,
            "over": self.does == "over",
            "by": place,
            "threads": _others(self.thread),
        }


def _place(frame):
    code = frame.f_code
    return code.co_filename, frame.f_lineno, code.co_name


def _value_text(value):
    try:
        return repr(value)
    except Exception as error:
        return "<%s in repr>" % type(error).__name__


def _written_error(error):
    try:
        return str(error)[:200]
    except Exception:
        return ""


def _generator(frame):
    """How to ask whether what the frame is of is over; None for a function that ends when it is left."""
    if not frame.f_code.co_flags & _COMES_BACK:
        return None
    for name in ("gi_frame", "cr_frame", "ag_frame"):
        for it in gc.get_objects():
            if type(it) in _GENERATORS and getattr(it, name, None) is frame:
                return lambda: getattr(it, name)
    return None


_GENERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)


def _others(thread):
    """The program's other threads, which may have changed what is watched."""
    from_debugger = lambda it: getattr(it, "pydev_do_not_trace", False) or getattr(it, "is_pydev_daemon_thread", False)
    return sum(1 for it in threading.enumerate() if it is not thread and not from_debugger(it))


def _forget_watch(watch):
    """Nobody asks any more: the program runs on, and its frame is not kept alive by us."""
    global _until
    from _pydevd_bundle.pydevd_constants import STATE_RUN

    _until = None
    info = watch.thread.additional_info
    info.pydev_original_step_cmd = info.pydev_step_cmd = -1
    info.pydev_step_stop = None
    info.pydev_state = STATE_RUN
    if hasattr(info, "update_stepping_info"):
        info.update_stepping_info()


def until_begin(text):
    """Called where the thread stands, by an evaluation in its frame; the step comes next."""
    global _until
    _begin()
    _step_past(debugger())
    _until = None
    _until = _Until(json.loads(text))


def until_seen():
    return json.dumps(_until and _until.told())


def until_ends(does):
    """`stop`: the step ends at the next line. `run`: the program runs on. `over`: it stands, and is asked what was seen."""
    global _until
    watch = _until
    if watch is None:
        return "null"
    if watch.does != "over":
        watch.does = does
    if does == "over":
        _until = None
    return json.dumps(watch.told())


def _until_at_exit():
    """Nobody can ask afterwards."""
    if _until is not None and _until.does == "watch":
        _event({"until": _until.told()})


def _step_past(db):
    """Once in each process: the steps of whoever is watched pass by."""
    waits, suspends = db.do_wait_suspend, db.set_suspend
    if hasattr(waits, "before_holdpoint"):
        return
    traces = db.set_trace_for_frame_and_parents
    from _pydevd_bundle import pydevd_comm_constants as commands

    steps = {commands.CMD_STEP_INTO, commands.CMD_STEP_INTO_MY_CODE, commands.CMD_STEP_INTO_COROUTINE}

    def set_suspend(thread, stop_reason, *args, **more):
        watch = _until
        if watch is not None and watch.thread is thread and stop_reason in steps and watch.does != "over":
            watch.deferred = (stop_reason, args, more)
            return None
        return suspends(thread, stop_reason, *args, **more)

    def do_wait_suspend(thread, frame, event, arg, *args, **more):
        watch = _until
        if watch is not None and watch.thread is thread:
            deferred, watch.deferred = watch.deferred, None
            if deferred is None:
                watch.stopped()
            elif watch.arrived(frame):
                suspends(thread, deferred[0], *deferred[1], **deferred[2])
            else:
                return None
        return waits(thread, frame, event, arg, *args, **more)

    def set_trace_for_frame_and_parents(ident, frame, **more):
        watch = _until
        if watch is not None and watch.thread.ident == ident and watch.does == "watch":
            info = watch.thread.additional_info
            # What the program does while a coroutine waits is watched as well, and a step that returns to
            # where it began is one more look.
            info.step_in_initial_location = None
            if info.pydev_step_cmd == commands.CMD_STEP_INTO_COROUTINE:
                info.pydev_step_cmd = commands.CMD_STEP_INTO_MY_CODE
                info.pydev_step_stop = None
        return traces(ident, frame, **more)

    do_wait_suspend.before_holdpoint = waits
    db.set_suspend, db.do_wait_suspend = set_suspend, do_wait_suspend
    db.set_trace_for_frame_and_parents = set_trace_for_frame_and_parents


def _until_after_fork():
    """A child goes its own way."""
    if _until is not None:
        _until.does = "run"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_until_after_fork)
