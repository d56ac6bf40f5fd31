"""A frame whose lines are kept: which ran, and what is bound to something else after each, or changed in place.

Of a frame with very many lines the first ones are kept, and the rest is counted.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import opcode
import _thread

from .stream import u, zigzag
from .values import lookup_of

LINES = 2
LINES_OF_FRAME = 2_000


class Watched:
    """The tracer of one frame."""

    __slots__ = (
        "recorder", "function", "call", "level", "line", "planned", "before", "raised", "most", "kept", "skipped", "process",
        "is_thrown",
    )

    def __init__(self, recorder, function, call, level):
        self.recorder, self.function, self.call, self.level = recorder, function, call, level
        self.line = function.code.co_firstlineno
        # What the line that runs can store, and where that was before it, a container's content too: held, it would live
        # longer than in the program.
        self.planned, self.before = (), ()
        self.process = recorder.processes
        self.raised = None
        # An exception is on its way, and no line has come since: who leaves now leaves by it, at a `yield` too.
        self.is_thrown = False
        most = recorder.settings.frame_lines
        self.most = most if function.is_focused else min(most, LINES_OF_FRAME)
        self.kept = self.skipped = 0

    def event(self, frame, event, argument):
        # A frame of before a fork is the parent's.
        if self.recorder.is_off or self.process != self.recorder.processes:
            return None
        try:
            if event == "return":
                self._left(frame, argument)
            elif event == "exception":
                self._raised(frame, argument[1], argument[2])
            elif event == "line":
                self.is_thrown = False
                if self.kept < self.most:
                    self._line(frame)
                elif self.planned:
                    self._last(frame)
                else:
                    self.skipped += 1
        except Exception:
            self.recorder._failed()
        return self.event

    def _left(self, frame, value):
        recorder, function, raised = self.recorder, self.function, self.raised
        stream = recorder.stream
        op = b"\x11"
        if raised is not None and value is None and is_unwinding(frame, function.bytecode, self.is_thrown):
            op, value = b"\x15", raised
            recorder.flying[_thread.get_ident()] = raised
        elif function.flags & 3 and is_suspended(frame, function.bytecode):
            op = b"\x12"
        with stream.lock:
            out = stream.buffer
            if self.planned and op != b"\x12":
                self._writes(frame, out)
            number = recorder.values.number(value)
            recorder._select(out, _thread.get_ident())
            self._gap(out)
            out += op + number + stream.ticks()
            recorder.events += 1
            if stream.is_due():
                recorder._settle()
            elif stream.tail is not None:
                stream.tail.tell()
        if op == b"\x12":
            recorder.suspended[id(frame)] = self
        else:
            self.raised = None

    def _raised(self, frame, exception, traceback):
        if isinstance(exception, BaseException) and not is_end(frame, self.function.bytecode, exception):
            self.raised, self.is_thrown = exception, self.level == LINES
            is_behind = self.skipped > 0
            if is_behind:
                with self.recorder.stream.lock:
                    out = self.recorder.stream.buffer
                    self.recorder._select(out, _thread.get_ident())
                    self._gap(out)
            self.recorder._raised(frame, exception, traceback, is_behind or self.level < LINES)
            if is_behind:
                self.line = frame.f_lineno

    def _line(self, frame):
        recorder, stream = self.recorder, self.recorder.stream
        line = frame.f_lineno
        planned = self.function.by_line.get(line, ())
        with stream.lock:
            out = stream.buffer
            if self.planned:
                self._writes(frame, out)
            recorder._select(out, _thread.get_ident())
            step = line - self.line
            out += _STEPS[step + 64] if -64 <= step < 64 else b"\x1d" + u(zigzag(step))
            lookup = lookup_of(frame.f_locals) if planned else None
            self.line, self.planned = line, planned if lookup is not None else ()
            if lookup is not None:
                everywhere = frame.f_globals
                self.before = [print(read(lookup, everywhere)) for _, _, read, print in planned]
            self.kept += 1
            self.function.lines += 1
            recorder.lines += 1
            recorder.events += 1
            if stream.is_due():
                recorder._settle()
            elif stream.tail is not None:
                stream.tail.tell()

    def _last(self, frame):
        """The line after the last one that is kept: what that one wrote is told, and from here on lines are counted."""
        with self.recorder.stream.lock:
            self._writes(frame, self.recorder.stream.buffer)
        self.planned = ()
        self.skipped += 1

    def _gap(self, out):
        if self.skipped:
            out += b"\x1e" + u(self.skipped)
            self.skipped = 0

    def _writes(self, frame, out):
        """What is not what it was before the line."""
        recorder = self.recorder
        lookup, everywhere = lookup_of(frame.f_locals), frame.f_globals
        if lookup is None:
            return
        for (slot, weight, read, print), before in zip(self.planned, self.before):
            value = read(lookup, everywhere)
            if print(value) != before:
                number = recorder.values.number(value, weight)
                recorder._select(out, _thread.get_ident())
                out += (_WRITES[slot] if slot < 64 else b"\x17" + u(slot)) + number


_STEPS = [bytes((0x80 + it,)) for it in range(128)]
_WRITES = [bytes((0x40 + it,)) for it in range(64)]
_OP = opcode.opmap
_RETURNS = frozenset(_OP[it] for it in ("RETURN_VALUE", "RETURN_CONST") if it in _OP)
# Where a frame stands that is suspended; since 3.11 the way back begins with a `RESUME`.
_YIELDS = frozenset(_OP[it] for it in ("YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME") if it in _OP)
_RESUME = _OP.get("RESUME")
# Where an iterator or an awaited one says by an exception that it has come to its end.
_ENDS = frozenset(
    _OP[it] for it in ("FOR_ITER", "YIELD_FROM", "SEND", "END_FOR", "END_SEND", "POP_ITER") if it in _OP
)
_GET_ANEXT = _OP["GET_ANEXT"]


def is_resumed(frame, code):
    """Whether a frame that is called was suspended before; a new one stands at its beginning."""
    at = frame.f_lasti
    if at < 0 or at >= len(code):
        return False
    return code[at] != _RESUME or code[at + 1] & 3 != 0


def is_unwinding(frame, code, is_thrown=False):
    """Whether a frame ends by an exception: the instruction that it is at is no `return`, and no `yield` unless the
    exception was thrown into it there."""
    return code[frame.f_lasti] not in _RETURNS and (is_thrown or not is_suspended(frame, code))


def is_end(frame, code, exception):
    """Whether an exception says no more than that a `for`, an `await` or an `async for` has come to the end of what it
    goes through: the program raised none, and meets none."""
    at, kind = frame.f_lasti, type(exception)
    if at < 0 or code[at] not in _ENDS:
        return False
    return kind is StopIteration or kind is StopAsyncIteration and at >= 4 and code[at - 4] == _GET_ANEXT


def is_suspended(frame, code):
    at = frame.f_lasti
    return at >= 0 and code[at] in _YIELDS
