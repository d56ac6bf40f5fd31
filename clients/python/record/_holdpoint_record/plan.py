"""What a code object can write, and where, read once from its bytecode.

The code is cut into segments: what runs between two line events. Each has the names, attributes and items it can
store. A store is found by walking over the instructions with a stack of what is known: `self`, `self.rows`,
`rows[i]`; whatever is not one of these is unknown, and a store into it is not planned.
Nothing of the program is run: code objects only.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import opcode
from _opcode import stack_effect

from .mutators import EMPTY, Changing, is_mark

SURELY, IF_THROUGH, PERHAPS = 0, 1, 2
# Added to one of these: not the name is bound anew, but the container that it stands for may have other content.
TOUCHED = 3
FAST, CELL, NAME, GLOBAL, ATTRIBUTE, CONSTANT, AT = range(7)

GENERATOR, ASYNC, ARGS, KWARGS, MODULE, METHOD, CONSTRUCTOR = (1 << bit for bit in range(7))

SLOTS_MOST = 250
SEGMENTS_MOST = 60_000
# A path longer than this is hardly read by anyone.
STEPS_MOST = 4

_OP = opcode.opmap
_NAME = opcode.opname
_EXTENDED = _OP["EXTENDED_ARG"]
_JUMPS = frozenset(opcode.hasjrel) | frozenset(getattr(opcode, "hasjump", ()))
# Until 3.10 some jump to a place, and until 3.9 places are counted in bytes.
_TO_A_PLACE = frozenset(opcode.hasjabs) if "JUMP_ABSOLUTE" in opcode.opmap else frozenset()
_PLACES = 1 if "GEN_START" in opcode.opmap or "RESUME" in opcode.opmap else 2
_BACKWARD = frozenset(op for op in _JUMPS if "BACKWARD" in _NAME[op])
_ENDS = frozenset(
    _OP[name]
    for name in (
        "RETURN_VALUE",
        "RETURN_CONST",
        "RAISE_VARARGS",
        "RERAISE",
        "JUMP_FORWARD",
        "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
    )
    if name in _OP
)
# Names that the compiler writes for itself.
_IMPLICIT = frozenset(
    (
        "__module__",
        "__qualname__",
        "__classcell__",
        "__classdict__",
        "__classdictcell__",
        "__static_attributes__",
        "__firstlineno__",
        "__annotations__",
        "__annotate__",
        "__annotate_func__",
        "__conditional_annotations__",
    )
)
_SUBSCRIPT_OPERATOR = next(
    (at for at, it in enumerate(getattr(opcode, "_nb_ops", ())) if it[0] == "NB_SUBSCR"), None
)

_IN_PLACE = frozenset(at for at, it in enumerate(getattr(opcode, "_nb_ops", ())) if it[0].startswith("NB_INPLACE"))


# Since 3.11 fast locals and cells are numbered together.
_HAS_ONE_TABLE = hasattr((lambda: None).__code__, "_varname_from_oparg")


def _caches():
    """By opcode, how many units follow an instruction for the interpreter's own use."""
    known = getattr(opcode, "_inline_cache_entries", {})
    if isinstance(known, dict):
        return [known.get(_NAME[op], 0) for op in range(256)]
    return [known[op] if op < len(known) else 0 for op in range(256)]


_CACHES = _caches()


def line_ranges(code):
    """`(begin, end, line)` in bytes of its instructions; 3.9 has a table of steps."""
    if hasattr(code, "co_lines"):
        yield from code.co_lines()
        return
    table, begin, at, line = code.co_lnotab, 0, 0, code.co_firstlineno
    for step, more in zip(table[::2], table[1::2]):
        if step:
            at += step
            yield begin, at, line
            begin = at
        line += more if more < 128 else more - 256
    yield begin, len(code.co_code), line


class Instruction:
    __slots__ = ("unit", "op", "name", "arg", "target", "line", "end")


def instructions(code):
    lines = {}
    for begin, end, line in line_ranges(code):
        for unit in range(begin // 2, end // 2):
            lines[unit] = line
    text = code.co_code
    found = []
    unit, begin, high = 0, 0, 0
    count = len(text) // 2
    while unit < count:
        op, arg = text[unit * 2], text[unit * 2 + 1] | high
        if op == _EXTENDED:
            high = arg << 8
            unit += 1
            continue
        it = Instruction()
        it.unit, it.op, it.name, it.arg = begin, op, _NAME[op], arg
        it.line = lines.get(unit)
        unit += 1 + _CACHES[op]
        it.target = None
        if op in _TO_A_PLACE:
            it.target = arg // _PLACES
        elif op in _JUMPS:
            it.target = unit - arg if op in _BACKWARD else unit + arg // _PLACES
        it.end = unit
        found.append(it)
        begin, high = unit, 0
    return found, count


class Slots:
    """What can be written, each once; the parameters first."""

    def __init__(self, weigh):
        self.rows = []
        self._numbers = {}
        self._weigh = weigh

    def number(self, path):
        """The number of a path, `(text, kind, operand, …)`; None if it is not to be shown."""
        text = path[0]
        known = self._numbers.get(text)
        if known is None and len(self.rows) < SLOTS_MOST:
            known = self._numbers[text] = len(self.rows)
            self.rows.append((text, self._weigh(text)) + path[1:])
        return known


def _local(code, index):
    return code._varname_from_oparg(index) if _HAS_ONE_TABLE else code.co_varnames[index]


def _cell(code, index):
    return code._varname_from_oparg(index) if _HAS_ONE_TABLE else (code.co_cellvars + code.co_freevars)[index]


def _cells(code):
    """Which fast locals are cells: those of arguments as well."""
    return frozenset(code.co_cellvars) | frozenset(code.co_freevars)


class Walk(Changing):
    """Goes over the instructions and knows what is on the stack, as far as it is a path."""

    def __init__(self, code, found, slots):
        self.code = code
        self.found = found
        self.slots = slots
        self.stack = []
        # A name of a class' body or of a module stands in the frame's dict.
        self.targets = frozenset(it.target for it in found if it.target is not None)
        # By instruction, the slots that it stores, and those whose content it can change.
        self.stores, self.touches = {}, {}
        # By unit, the stack of who jumps there.
        self.arriving = {}

    def run(self):
        handlers = frozenset(_handled(self.code).values())
        for it in self.found:
            if it.unit in handlers:
                self.stack = []
            elif it.unit in self.targets:
                # Who jumps here may have brought something else.
                other = self.arriving.get(it.unit, [])
                self.stack = self.stack or other
                self.stack = self.hidden(other)
            self.leaves(it)
            self.step(it)
            if it.op in _ENDS:
                self.stack = []
        return self.stores, self.touches

    def pop(self):
        return self.stack.pop() if self.stack else None

    def step(self, it):
        handle = getattr(self, "on_" + it.name, None)
        if handle is not None:
            handle(it)
            return
        effect = stack_effect(it.op, it.arg if it.op >= opcode.HAVE_ARGUMENT else None, jump=False)
        self.other(it, effect)

    def other(self, it, effect):
        """An instruction that is not known here: what it leaves is not known."""
        touched = max(2, it.arg if it.name.startswith(("CALL", "BUILD", "FORMAT")) else 2)
        if effect < 0:
            del self.stack[max(0, len(self.stack) + effect) :]
        touched = min(touched, len(self.stack))
        for at in range(len(self.stack) - touched, len(self.stack)):
            if not is_mark(self.stack[at]):
                self.stack[at] = None
        self.stack.extend([None] * max(0, effect))

    def store(self, it, path):
        if path is not None:
            slot = self.slots.number(path)
            if slot is not None:
                self.stores.setdefault(it.unit, []).append(slot)

    def fast(self, index):
        name = _local(self.code, index)
        return (name, FAST, index) if name.isidentifier() else None

    def on_NOP(self, it):
        pass

    on_RESUME = on_NOP
    on_NOT_TAKEN = on_NOP
    on_CACHE = on_NOP

    def on_LOAD_FAST(self, it):
        self.stack.append(self.fast(it.arg))

    on_LOAD_FAST_CHECK = on_LOAD_FAST
    on_LOAD_FAST_AND_CLEAR = on_LOAD_FAST
    on_LOAD_FAST_BORROW = on_LOAD_FAST

    def on_LOAD_FAST_LOAD_FAST(self, it):
        self.stack.append(self.fast(it.arg >> 4))
        self.stack.append(self.fast(it.arg & 15))

    on_LOAD_FAST_BORROW_LOAD_FAST_BORROW = on_LOAD_FAST_LOAD_FAST

    def on_STORE_FAST(self, it):
        self.pop()
        self.store(it, self.fast(it.arg))

    on_STORE_FAST_MAYBE_NULL = on_STORE_FAST

    def on_STORE_FAST_LOAD_FAST(self, it):
        self.pop()
        self.store(it, self.fast(it.arg >> 4))
        self.stack.append(self.fast(it.arg & 15))

    def on_STORE_FAST_STORE_FAST(self, it):
        self.pop()
        self.pop()
        self.store(it, self.fast(it.arg >> 4))
        self.store(it, self.fast(it.arg & 15))

    def on_DELETE_FAST(self, it):
        self.store(it, self.fast(it.arg))

    def cell(self, index):
        name = _cell(self.code, index)
        return (name, CELL, index) if name.isidentifier() and name not in _IMPLICIT else None

    def on_LOAD_DEREF(self, it):
        self.stack.append(self.cell(it.arg))

    def on_STORE_DEREF(self, it):
        self.pop()
        self.store(it, self.cell(it.arg))

    def on_DELETE_DEREF(self, it):
        self.store(it, self.cell(it.arg))

    def name(self, it, kind):
        name = self.code.co_names[it.arg]
        return (name, kind, name) if name.isidentifier() and name not in _IMPLICIT else None

    def on_LOAD_NAME(self, it):
        self.stack.append(self.name(it, NAME))

    def on_STORE_NAME(self, it):
        self.pop()
        self.store(it, self.name(it, NAME))

    def on_DELETE_NAME(self, it):
        self.store(it, self.name(it, NAME))

    def on_STORE_GLOBAL(self, it):
        self.pop()
        self.store(it, self.name(it, GLOBAL))

    def on_DELETE_GLOBAL(self, it):
        self.store(it, self.name(it, GLOBAL))

    def on_LOAD_GLOBAL(self, it):
        name = self.code.co_names[it.arg >> 1]
        path = (name, GLOBAL, name)
        if _NULL_FIRST:
            self.stack.extend((None, path) if it.arg & 1 else (path,))
        else:
            self.stack.extend((path, None) if it.arg & 1 else (path,))

    def on_LOAD_CONST(self, it):
        self.stack.append(("", CONSTANT, self.code.co_consts[it.arg]))

    on_LOAD_CONST_IMMORTAL = on_LOAD_CONST

    def on_LOAD_SMALL_INT(self, it):
        self.stack.append(("", CONSTANT, it.arg))

    def on_LOAD_ATTR(self, it):
        base, name = self.pop(), self.code.co_names[it.arg >> 1]
        if it.arg & 1:
            self.stack.extend((self.method(base, name), None))
        else:
            path = self.attribute(base, name)
            is_called = self.stack and self.stack[-1] is EMPTY
            self.stack.append(self.attribute_called(path) if is_called else path)

    def attribute(self, base, name):
        if base is None or base[1] >= CONSTANT or len(base) > 1 + 2 * STEPS_MOST:
            return None
        return ("%s.%s" % (base[0], name), *base[1:], ATTRIBUTE, name)

    def item(self, base, key):
        if base is None or key is None or base[1] >= CONSTANT or len(base) > 1 + 2 * STEPS_MOST:
            return None
        if key[1] == CONSTANT:
            if type(key[2]) not in (int, str) or len(str(key[2])) > 60:
                return None
            return ("%s[%r]" % (base[0], key[2]), *base[1:], CONSTANT, key[2])
        if len(key) > 3 or key[1] > CONSTANT:
            return None
        return ("%s[%s]" % (base[0], key[0]), *base[1:], AT + key[1], key[2])

    def on_BINARY_SUBSCR(self, it):
        key, base = self.pop(), self.pop()
        self.stack.append(self.item(base, key))

    def on_BINARY_OP(self, it):
        key, base = self.pop(), self.pop()
        if it.arg in _IN_PLACE:
            # `rows += more` may change what `rows` is, and bind it to the same.
            self.touch(it, base)
        is_item = it.arg == _SUBSCRIPT_OPERATOR and _SUBSCRIPT_OPERATOR is not None
        self.stack.append(self.item(base, key) if is_item else None)

    def on_STORE_ATTR(self, it):
        base = self.pop()
        self.pop()
        self.store(it, self.attribute(base, self.code.co_names[it.arg]))

    def on_STORE_SUBSCR(self, it):
        key, base = self.pop(), self.pop()
        self.pop()
        path = self.item(base, key)
        if path is not None:
            self.store(it, path)
        else:
            # A key that is no name, or a slice: what has it is told whole.
            self.touch(it, base)

    def on_COPY(self, it):
        self.stack.append(self.stack[-it.arg] if 0 < it.arg <= len(self.stack) else None)

    def on_SWAP(self, it):
        if 1 < it.arg <= len(self.stack):
            self.stack[-1], self.stack[-it.arg] = self.stack[-it.arg], self.stack[-1]
        elif self.stack:
            self.stack[-1] = None

    def on_POP_TOP(self, it):
        self.pop()

    def replace(self, count):
        """So many are used up, and what comes of them is not known."""
        for _ in range(count):
            self.pop()
        self.stack.append(None)


# Since 3.13 the empty place of a call stands behind what is called.
import sys

_NULL_FIRST = sys.version_info < (3, 13)


def _handled(code):
    """By code unit, where an exception that comes up there is handled: from the code's table."""
    found = {}
    table = iter(getattr(code, "co_exceptiontable", b""))

    def number(byte):
        value = byte & 63
        while byte & 64:
            byte = next(table)
            value = value << 6 | byte & 63
        return value

    for byte in table:
        start = number(byte)
        length = number(next(table))
        target = number(next(table))
        number(next(table))
        for unit in range(start, start + length):
            found[unit] = target
    return found


def _segments(code, found, stores, touches):
    """`(unit, line, ((slot, how, next unit), …))` of every place where a line event can come."""
    handled = _handled(code)
    index = {it.unit: at for at, it in enumerate(found)}
    starts = set(handled.values())
    before, was_resume = None, False
    for it in found:
        is_resume = it.name == "RESUME"
        if it.line is not None and (it.line != before or is_resume or was_resume):
            starts.add(it.unit)
        before, was_resume = it.line, is_resume
        if it.target is not None:
            starts.add(it.target)
    rows = []
    for at, it in enumerate(found):
        if it.unit in starts and it.line is not None and len(rows) < SEGMENTS_MOST:
            rows.append((it.unit, it.line, _writes(found, index, at, (stores, touches), handled)))
    return tuple(rows)


def _reached(found, index, start, handled):
    """What can run from here without coming to another line."""
    line, seen, rest = found[start].line, set(), [start]
    while rest:
        at = rest.pop()
        if at in seen or at >= len(found) or found[at].line not in (line, None):
            continue
        seen.add(at)
        it = found[at]
        if it.target in index:
            rest.append(index[it.target])
        if it.op not in _ENDS:
            rest.append(at + 1)
        # What clears up after an exception belongs to no line.
        if it.unit in handled:
            rest.append(index[handled[it.unit]])
    return sorted(seen)


def _writes(found, index, start, changes, handled):
    """The stores of a segment: its own run of instructions, and those that it can jump to. Then what it changes in place;
    what it surely stores is told anyway."""
    stored, touched = ({}, {})
    run = []
    reached = _reached(found, index, start, handled)
    for place, at in enumerate(reached):
        run.append(found[at])
        if place + 1 < len(reached) and reached[place + 1] == at + 1:
            continue
        behind = found[at + 1].unit if at + 1 < len(found) else 0
        is_first = run[0].unit <= found[start].unit <= run[-1].unit
        for it in run:
            for how, slots in ((stored, changes[0].get(it.unit, ())), (touched, changes[1].get(it.unit, ()))):
                for slot in slots:
                    # Who comes to another run has jumped there; what follows it tells that he did.
                    certain = _certainty(run, it.unit, found[start].unit) if is_first else IF_THROUGH
                    certain = max(certain, _certainty(run, it.unit, run[0].unit))
                    if slot not in how or how[slot][0] > certain:
                        how[slot] = (certain, behind)
        run = []
    rows = [(slot, certain, behind) for slot, (certain, behind) in stored.items()]
    for slot, (certain, behind) in touched.items():
        if stored.get(slot, (PERHAPS,))[0] != SURELY:
            rows.append((slot, TOUCHED + certain, behind))
    return tuple(rows)


def _certainty(run, unit, begin):
    """Whether who comes through these instructions has come by this one."""
    end = run[-1].end
    certain = SURELY if unit >= begin else PERHAPS
    for it in run:
        if it.unit >= unit:
            break
        if it.op in _ENDS and it.target is None:
            return PERHAPS
        if it.target is not None and not begin <= it.target <= unit:
            if begin <= it.target < end:
                return PERHAPS
            certain = max(certain, IF_THROUGH)
    return certain


def _flags(code):
    co = code.co_flags
    flags = GENERATOR if co & 0x220 else 0
    flags |= ASYNC if co & 0x280 else 0
    flags |= ARGS if co & 4 else 0
    flags |= KWARGS if co & 8 else 0
    flags |= MODULE if code.co_name == "<module>" else 0
    is_method = "." in code.co_qualname and code.co_varnames[:1] in (("self",), ("cls",))
    flags |= METHOD if is_method else 0
    return flags | (CONSTRUCTOR if is_method and code.co_name == "__init__" else 0)


# Where an iterator's end is no exception of the program's.
_ITERATES = frozenset(_OP[name] for name in ("FOR_ITER", "SEND") if name in _OP)
_ANEXT, _SEND, _END_ASYNC_FOR = (_OP.get(name) for name in ("GET_ANEXT", "SEND", "END_ASYNC_FOR"))


def _iterates(ops):
    """Twice each unit where that is, and one more where it is an `async for`. What the interpreter keeps behind an
    instruction for itself is 0 here."""
    found = []
    for unit, op in enumerate(ops):
        if op == _END_ASYNC_FOR or op == _SEND and unit >= 2 and ops[unit - 2] == _ANEXT:
            found.append(2 * unit + 1)
        elif op in _ITERATES:
            found.append(2 * unit)
    return tuple(found)


def plan(code, path, source_hash, weigh, is_focused, has_lines=True):
    """The tuple that the compiled recorder reads. Where calls alone are kept, nobody asks what a line can write."""
    slots = Slots(weigh)
    cells = _cells(code)
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
    for index in range(count):
        name = code.co_varnames[index]
        kind = CELL if name in cells else FAST
        # Hidden ones, as `.0` of a generator expression, keep their place among the parameters.
        slots.number((name, kind, index))
    if has_lines:
        found, units = instructions(code)
        stores, touches = Walk(code, found, slots).run()
        segments = _segments(code, found, stores, touches)
        last = max((it.line for it in found if it.line is not None), default=code.co_firstlineno)
    else:
        units, segments = 0, ()
        last = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    return (
        code.co_name,
        code.co_qualname,
        path,
        source_hash,
        code.co_firstlineno,
        max(last, code.co_firstlineno),
        _flags(code),
        count,
        tuple(slots.rows),
        segments,
        units,
        int(is_focused),
        _iterates(code.co_code[::2]),
    )
