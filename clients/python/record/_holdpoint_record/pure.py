"""The recorder of Python 3.9 to 3.11, of free-threaded builds, and of wherever the compiled one does not load.

`sys.settrace`: calls with their arguments and results, exceptions where they begin, and lines with what they wrote
(`lines.py`): all of the functions that are focused, and of the others as many as a program does not feel.
It steps aside for another tracer: a debugger or coverage keeps its place.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import sys
import time
import _thread

from . import files, imports
from .lines import Watched, is_end, is_resumed, is_suspended, is_unwinding
from .plan import SLOTS_MOST
from .secrets import Secrets
from .stores import Stores
from .stream import AGE_NS, CHUNK, ONE, TICK_NS, Stream, u
from .values import EARNED, Absent, Values

LINES, CALLS, COUNTS = 2, 1, 0
# A line costs some 3 µs here, fifty times what it costs by itself: of a function that is called often its first ones
# are kept, and of a whole run what takes a second or two.
LINES_OF_FUNCTION, LINES_OF_RUN = 2_000, 400_000


def open_recorder(settings):
    stream = Stream(settings.folder, settings.tail)
    recorder = Pure(settings, stream)
    if not stream.open():
        return None
    recorder.begin()
    return recorder


class Function:
    __slots__ = (
        "code", "name", "qualified", "path", "number", "names", "weights", "parameters", "slots", "is_focused",
        "calls", "lines", "uncounted", "level", "flags", "parts", "is_plain", "bytecode", "by_line",
    )


class Pure:
    way = "pure"

    def __init__(self, settings, stream):
        self.settings = settings
        self.stream = stream
        self.secrets = Secrets(settings)
        self.values = Values(self.secrets)
        # Every record is added whole, so they go straight there.
        self.values.out = stream.buffer
        self.level = "calls" if settings.level == "calls" else "lines"
        self.functions = {}
        # How often it has begun anew in a child.
        self.processes = 0
        self.is_off = False
        self._trace = None
        self.threads = {}
        self._new_stream()

    def _new_stream(self):
        self.numbers = 0
        self.files = {}
        self.calls = 0
        self.events = 0
        self.lines = 0
        self.paid = 0
        self.says_poor = False
        self.at_thread = 0
        # The thread that the stream is at, as the system calls it.
        self.at_ident = None
        self.threads = {}
        self.is_full = False

    def begin(self):
        self._text(0x01, files.process(self))
        if sys.gettrace() is not None:
            self.note({"beside": "another tracer", "lost": 1, "why": "it was there first"})
            self.is_off = True
            return
        self.flying = {}
        # Of frames that can be entered again, by their addresses: the calls of plain ones, and those that are watched.
        self.calls_of, self.suspended = {}, {}
        self._trace = tracer(self)
        imports.when("threading", lambda threading: threading.settrace(self._trace))
        sys.settrace(self._trace)

    # What the rest of the package asks of a recorder.

    def _text(self, op, text):
        data = text.encode("utf-8", "backslashreplace")
        with self.stream.lock:
            self.stream.buffer += bytes((op,)) + u(len(data)) + data

    def note(self, about):
        self._text(0x07, files.json_text(about))

    def test(self, about):
        with self.stream.lock:
            out = self.stream.buffer
            self._select(out, _thread.get_ident())
        self._text(0x09, files.json_text(about))
        self.flush()

    def flush(self):
        with self.stream.lock:
            self.stream.flush()

    def forked(self, pid):
        with self.stream.lock:
            self.stream.buffer += b"\x21" + u(pid)

    def in_child(self):
        self.stream.lock._at_fork_reinit()
        self.stream.fd = self.stream.tail = None
        self.stream.buffer.clear()
        if not self.stream.open():
            self.is_off = True
            return
        self.values.begin()
        self.processes += 1
        self._new_stream()
        for function in self.functions.values():
            if function is not None:
                function.number = None
                function.calls = function.lines = function.uncounted = 0
                function.is_plain = function.by_line is None
                function.level = CALLS if function.is_plain else LINES
        self._text(0x01, files.process(self))

    def end(self, about):
        if self.stream.fd is None:
            return
        found = sys.gettrace()
        if found is self._trace and found is not None:
            sys.settrace(None)
        elif not self.is_off:
            self.note({"beside": "another tracer", "lost": 1, "why": "it took the place"})
        self.is_off = True
        with self.stream.lock:
            out = self.stream.buffer
            for function in list(self.functions.values()):
                if function is not None:
                    self._count(out, function)
        self._text(0x08, files.json_text(about))
        self.flush()
        self.stream.end()

    # Events.

    def _failed(self):
        self.is_off = True

    def _discover(self, code):
        path = self.settings.path_of(code.co_filename)
        if path is None:
            if len(self.functions) < 100_000:
                # The address stays this code's own for as long as it is remembered, so it is kept.
                self.functions[id(code)] = None
                _KEPT.append(code)
            return None
        function = Function()
        function.code, function.path, function.name = code, path, code.co_name
        function.qualified = getattr(code, "co_qualname", code.co_name)
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        function.parameters = count
        function.names = code.co_varnames[:count]
        function.weights = [self.secrets.weight(it) for it in function.names]
        function.parts = tuple(zip(function.names, function.weights))
        function.is_focused = self.settings.is_focused(code.co_name, function.qualified)
        stores = Stores(code, function.names, self.secrets.weight) if self._has_lines(function) else None
        function.slots = [row[0] for row in stores.slots] if stores is not None else list(function.names)
        function.by_line = stores.by_line if stores is not None else None
        function.number = None
        function.calls = function.lines = function.uncounted = 0
        # Most are, after a while: they have a tracer in common, and nothing of their own.
        function.is_plain = stores is None
        function.level = CALLS if function.is_plain else LINES
        function.flags = _flags(code)
        # Asking for it makes a copy each time.
        function.bytecode = code.co_code
        self.functions[id(code)] = function
        return function

    def _has_lines(self, function):
        return (self.level == "lines" or function.is_focused) and function.parameters < SLOTS_MOST

    def _called(self, frame, function):
        level = self._level(function)
        if level == COUNTS:
            function.uncounted += 1
            return None
        here = frame.f_locals
        stream = self.stream
        with stream.lock:
            out = self.stream.buffer
            if function.uncounted:
                self._count(out, function)
            number = self._number(out, function)
            values = [self.values.number(here.get(it, Absent), weight) for it, weight in function.parts]
            self._select(out, _thread.get_ident())
            out += b"\x10" + number + stream.ticks() + b"".join(values)
            call, self.calls = self.calls, self.calls + 1
            self.events += 1
            if stream.is_due():
                self._settle()
            elif stream.tail is not None:
                stream.tail.tell()
        if function.flags & 3:
            self.calls_of.pop(id(frame), None)
        if level < LINES:
            frame.f_trace_lines = False
        return Watched(self, function, call, level).event

    def _level(self, function):
        function.calls += 1
        settings = self.settings
        if function.is_focused and not self.is_full:
            return LINES
        if function.level == LINES and not self.is_full:
            is_few = function.calls <= settings.whole_calls or function.lines < LINES_OF_FUNCTION
            if is_few and self.lines < LINES_OF_RUN:
                return LINES
            self._tell_level(function, CALLS, "many calls" if self.lines < LINES_OF_RUN else "the run had many lines")
            function.is_plain = True
        if self.is_full or function.calls > settings.calls:
            if function.level > COUNTS:
                self._tell_level(function, COUNTS, "the recording is full" if self.is_full else "many calls")
            step = 64 << max(0, (function.calls // max(settings.calls, 1)).bit_length() - 1)
            return CALLS if not self.is_full and function.calls % step == 0 else COUNTS
        return CALLS

    def _tell_level(self, function, level, why):
        function.level = level
        with self.stream.lock:
            out = self.stream.buffer
            number = self._number(out, function)
            why = why.encode()
            out += b"\x1a" + number + u(level) + u(len(why)) + why

    def _count(self, out, function):
        if function.uncounted:
            number = self._number(out, function)
            out += b"\x1b" + number + u(function.uncounted)
            function.uncounted = 0

    def _number(self, out, function):
        if function.number is None:
            file = self.files.get(function.path)
            if file is None:
                file = self.files[function.path] = len(self.files)
                path, hashed = function.path.encode("utf-8", "backslashreplace"), files.source_hash(function.path)
                out += b"\x03" + u(len(path)) + path + u(len(hashed)) + hashed
            code = function.code
            names = [function.name, function.qualified]
            numbers = [self.values.string(it) for it in names + function.slots]
            last = max(_last_line(code), code.co_firstlineno)
            operands = [file, code.co_firstlineno, last, function.flags, function.parameters, len(function.slots)]
            out += b"\x04" + b"".join(numbers[:2] + [u(it) for it in operands] + numbers[2:])
            function.number, self.numbers = u(self.numbers), self.numbers + 1
        return function.number

    def _select(self, out, ident):
        if ident == self.at_ident:
            return
        number = self.threads.get(ident)
        if number is None:
            number = self.threads[ident] = len(self.threads)
            name = _thread_name(ident).encode("utf-8", "backslashreplace")
            out += b"\x06" + u(number) + u(len(name)) + name
        self.at_ident = ident
        if number != self.at_thread:
            self.at_thread = number
            out += b"\x18" + u(number)

    def _settle(self):
        self.stream.flush()
        values = self.values
        values.purse += max(0, self.events - self.paid) // EARNED
        self.paid = self.events
        if values.is_poor and not self.says_poor:
            self.says_poor = True
            why = "objects are told by their identity alone where this run had looked into enough of them"
            self._say({"limit": "contents", "why": why})
        if not self.is_full and (self.events > self.settings.events or self.stream.bytes > self.settings.bytes):
            self.is_full = True
            kind = "events" if self.events > self.settings.events else "bytes"
            self._say({"limit": kind})

    def _say(self, about):
        data = files.json_text(about).encode()
        self.stream.buffer += b"\x07" + u(len(data)) + data

    def _raised(self, frame, exception, traceback, says_line):
        if self.flying.pop(_thread.get_ident(), None) is exception:
            return
        with self.stream.lock:
            out = self.stream.buffer
            number = self.values.raised(exception, traceback is not None and traceback.tb_next is None)
            self._select(out, _thread.get_ident())
            if says_line:
                out += b"\x1f" + u(frame.f_lineno)
            out += b"\x14" + number
            self.events += 1

    def _resumed(self, frame):
        watched = self.suspended.pop(id(frame))
        with self.stream.lock:
            out = self.stream.buffer
            self._select(out, _thread.get_ident())
            out += b"\x13" + u(self.calls - watched.call) + self.stream.ticks()
            if self.stream.is_due():
                self._settle()
            elif self.stream.tail is not None:
                self.stream.tail.tell()
        return watched.event


def tracer(recorder):
    """What is called at every call, with all that it needs at hand: this is what recording costs."""
    functions, stream, values = recorder.functions, recorder.stream, recorder.values
    buffer, lock, flying, kept_calls = stream.buffer, stream.lock, recorder.flying, recorder.settings.calls
    number_of, get_ident, monotonic_ns = values.number, _thread.get_ident, time.monotonic_ns
    # The exceptions of frames that have not ended, and the calls of generators that have not, by the frame.
    raised, thrown, calls_of, suspended = {}, {}, recorder.calls_of, recorder.suspended

    def trace(frame, event, argument):
        if event != "call" or recorder.is_off:
            return None
        code = frame.f_code
        try:
            try:
                function = functions[id(code)]
            except KeyError:
                function = recorder._discover(code)
            if function is None:
                return None
            suspends = function.flags & 3
            if suspends and id(frame) in calls_of and is_resumed(frame, function.bytecode):
                with lock:
                    if get_ident() != recorder.at_ident:
                        recorder._select(buffer, get_ident())
                    buffer.extend(b"\x13" + u(recorder.calls - calls_of[id(frame)]) + stream.ticks())
                    if stream.is_due():
                        recorder._settle()
                    elif stream.tail is not None:
                        stream.tail.tell()
                return local_again
            if suspends and id(frame) in suspended and is_resumed(frame, function.bytecode):
                return recorder._resumed(frame)
            if not function.is_plain or function.calls >= kept_calls or recorder.is_full or function.uncounted:
                return recorder._called(frame, function)
            function.calls += 1
            frame.f_trace_lines = False
            parts = function.parts
            here = frame.f_locals if parts else None
            with lock:
                number = function.number or recorder._number(buffer, function)
                given = b""
                for name, weight in parts:
                    given += number_of(here.get(name, Absent), weight)
                if get_ident() != recorder.at_ident:
                    recorder._select(buffer, get_ident())
                now = monotonic_ns()
                ticks = (now - stream.last) // TICK_NS
                stream.last += ticks * TICK_NS
                if suspends:
                    suspended.pop(id(frame), None)
                    calls_of[id(frame)] = recorder.calls
                buffer.extend(b"\x10" + number + (ONE[ticks] if ticks < 128 else u(ticks)) + given)
                recorder.calls += 1
                # With its end.
                recorder.events += 2
                if len(buffer) >= CHUNK or now - stream.written_at > AGE_NS:
                    recorder._settle()
                elif stream.tail is not None:
                    stream.tail.tell()
            return local_again if suspends else local
        except Exception:
            recorder._failed()
            return None

    def local(frame, event, argument):
        if recorder.is_off:
            return None
        try:
            if event == "return":
                op = b"\x11"
                if raised:
                    exception = raised.pop(id(frame), None)
                    if exception is not None and argument is None and is_unwinding(frame, frame.f_code.co_code):
                        op, argument = b"\x15", exception
                        flying[get_ident()] = exception
                with lock:
                    number = number_of(argument)
                    if get_ident() != recorder.at_ident:
                        recorder._select(buffer, get_ident())
                    now = monotonic_ns()
                    ticks = (now - stream.last) // TICK_NS
                    stream.last += ticks * TICK_NS
                    buffer.extend(op + number + (ONE[ticks] if ticks < 128 else u(ticks)))
                    if len(buffer) >= CHUNK or now - stream.written_at > AGE_NS:
                        recorder._settle()
                    elif stream.tail is not None:
                        stream.tail.tell()
            elif event == "exception" and isinstance(argument[1], BaseException):
                if is_end(frame, functions[id(frame.f_code)].bytecode, argument[1]):
                    return local
                raised[id(frame)] = argument[1]
                recorder._raised(frame, argument[1], argument[2], True)
        except Exception:
            recorder._failed()
        return local

    def local_again(frame, event, argument):
        """Of a frame that can be left and entered again."""
        if recorder.is_off:
            return None
        try:
            if event == "return":
                op, code = b"\x11", functions[id(frame.f_code)].bytecode
                exception = raised.pop(id(frame), None) if raised else None
                is_thrown = thrown.pop(id(frame), False) if thrown else False
                if exception is not None and argument is None and is_unwinding(frame, code, is_thrown):
                    op, argument = b"\x15", exception
                    flying[get_ident()] = exception
                    calls_of.pop(id(frame), None)
                elif is_suspended(frame, code):
                    op = b"\x12"
                    if exception is not None:
                        raised[id(frame)] = exception
                else:
                    calls_of.pop(id(frame), None)
                with lock:
                    number = number_of(argument)
                    if get_ident() != recorder.at_ident:
                        recorder._select(buffer, get_ident())
                    buffer.extend(op + number + stream.ticks())
                    recorder.events += 1
                    if stream.is_due():
                        recorder._settle()
                    elif stream.tail is not None:
                        stream.tail.tell()
            elif event == "line":
                thrown.pop(id(frame), None)
                frame.f_trace_lines = False
            elif not is_end(frame, functions[id(frame.f_code)].bytecode, argument[1]):
                local(frame, event, argument)
                # Where it is handled a line comes; where none comes the frame is left by it, at a `yield` too.
                thrown[id(frame)] = frame.f_trace_lines = True
        except Exception:
            recorder._failed()
        return local_again

    return trace


_KEPT = []


def _last_line(code):
    last = line = code.co_firstlineno
    if hasattr(code, "co_lines"):
        return max([line for _, _, line in code.co_lines() if line is not None], default=last)
    for step in code.co_lnotab[1::2]:
        line += step if step < 128 else step - 256
        last = max(last, line)
    return last


def _flags(code):
    co = code.co_flags
    flags = (1 if co & 0x220 else 0) | (2 if co & 0x280 else 0) | (4 if co & 4 else 0) | (8 if co & 8 else 0)
    flags |= 16 if code.co_name == "<module>" else 0
    is_method = code.co_varnames[:1] in (("self",), ("cls",)) and code.co_argcount > 0
    flags |= 32 if is_method else 0
    return flags | (64 if is_method and code.co_name == "__init__" else 0)


def _thread_name(ident):
    threading = sys.modules.get("threading")
    known = threading.__dict__.get("_active") if threading is not None else None
    thread = known.get(ident) if type(known) is dict else None
    name = getattr(thread, "__dict__", {}).get("_name") if thread is not None else None
    return name if type(name) is str else "MainThread" if thread is None and threading is None else ""
