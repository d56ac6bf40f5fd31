"""Lines that change a container in place: `rows.append(x)`, `self.seen.add(k)`, `del table[k]`, `rows[1:2] = more`.

What such a line writes is what the container is called, and its value is the content after the line. A method's receiver
is loaded before the arguments and called behind them, so it is kept on the walk's stack as a mark that jumps among
the arguments do not take away: nothing but its call can use it.
Which type the receiver is shows when the line runs: of exact builtin types alone the content is told.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import sys
from _collections import deque
from _opcode import stack_effect

# Of list, dict, set, bytearray and deque.
MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard difference_update "
    "intersection_update symmetric_difference_update appendleft popleft extendleft rotate".split()
)
# A root that is none: the third part is the receiver. Roots that are names have 0 to 3, an attribute is 4 (`plan.py`).
METHOD = 99
# The empty place before or behind what is called.
EMPTY = ("", 98)
# Since 3.14 a call with `**` always has a place for what follows them.
_HAS_ALWAYS_NAMED = sys.version_info >= (3, 14)


# So many items are compared; of a longer container its length, and as many at both ends.
WHOLE, ENDS = 256, 32
_type = type


def print_of(value):
    """What tells whether a value was changed in place: for all but exact containers their address. Numbers and texts are
    compared as such, since the address of one that is gone may be the next one's."""
    kind = _type(value)
    try:
        if kind is dict:
            return (id(value), len(value), _prints(value), _prints(value.values()))
        if kind is list or kind is set or kind is deque:
            return (id(value), len(value), _prints(value))
        if kind is bytearray:
            return (id(value), len(value), bytes(value[:WHOLE]))
    except RuntimeError:
        # Another thread has changed it meanwhile.
        pass
    return id(value)


def _prints(items):
    count = len(items)
    if count > WHOLE:
        begin, end = iter(items), iter(())
        if _type(items) is not set:
            end = reversed(items)
        items = [it for _, it in zip(range(ENDS), begin)] + [it for _, it in zip(range(ENDS), end)]
    return [(_type(it), it) if _is_plain(_type(it)) else id(it) for it in items]


def _is_plain(kind):
    return kind is int or kind is str or kind is float


def is_mark(entry):
    return entry is not None and entry[1] == METHOD


class Changing:
    """The part of a walk over instructions that knows calls. `self.touches` has by instruction the slots whose content it
    can change."""

    def touch(self, it, path):
        if path is not None and path[1] <= 3 and path[0]:
            slot = self.slots.number(path)
            if slot is not None:
                self.touches.setdefault(it.unit, []).append(slot)

    def method(self, base, name):
        """What stands for a method of something: a mark, if calling it can change that."""
        if base is None or base[1] > 3 or name not in MUTATORS:
            return None
        return ("", METHOD, base)

    def called(self, it, count, at):
        """A call that takes so many from the stack; what is called is the one at this depth."""
        callee = self.stack[-at] if at <= len(self.stack) else None
        if is_mark(callee):
            self.touch(it, callee[2])
        self.replace(count)

    def hidden(self, other):
        """The stack where ways meet: what all bring. Where they are not all known, that is what is below the top, for an
        expression that has ways leaves one value. So `table[a if b else c] = d` is known by its `table`."""
        top = len(self.stack) - 1
        if len(other) != len(self.stack):
            other = self.stack[:-1] + [None]
        return [it if it == other[at] or (at < top and is_mark(it)) else None for at, it in enumerate(self.stack)]

    def leaves(self, it):
        """Remembers the stack for the place that an instruction can jump to."""
        if it.target is None or it.target <= it.unit:
            return
        effect = stack_effect(it.op, it.arg, jump=True)
        stack = self.stack[: len(self.stack) + effect] if effect < 0 else self.stack + [None] * effect
        others = self.arriving.get(it.target, stack)
        is_one = len(others) == len(stack)
        self.arriving[it.target] = [a if a == b else None for a, b in zip(stack, others)] if is_one else []

    def attribute_called(self, path):
        """An attribute beside an empty place is called with whatever follows: `table.update(**more)`."""
        if path is None or path[1] > 3 or len(path) < 5 or path[-2] != 4:
            return path
        return self.method((path[0][: -len(path[-1]) - 1], *path[1:-2]), path[-1]) or path

    def on_PUSH_NULL(self, it):
        if self.stack:
            self.stack[-1] = self.attribute_called(self.stack[-1])
        self.stack.append(EMPTY)

    def on_CALL(self, it):
        # What is called, its `self` or nothing, and the arguments.
        self.called(it, it.arg + 2, it.arg + 2)

    def on_CALL_KW(self, it):
        # And the names of some of them.
        self.called(it, it.arg + 3, it.arg + 3)

    def on_CALL_FUNCTION_EX(self, it):
        # The method stands alone, before or behind an empty place.
        self.called_by_attribute(it, 4 if _HAS_ALWAYS_NAMED else 3 + (it.arg & 1), 2)

    def called_by_attribute(self, it, count, places):
        """A call that takes so many, where a method was loaded as any attribute is: it is among the first of them."""
        for path in self.stack[-count:][:places] if len(self.stack) >= count else ():
            path = self.attribute_called(path)
            if is_mark(path):
                self.touch(it, path[2])
        self.replace(count)

    def on_POP_JUMP_IF_TRUE(self, it):
        self.pop()

    on_POP_JUMP_IF_FALSE = on_POP_JUMP_IF_TRUE
    on_POP_JUMP_IF_NONE = on_POP_JUMP_IF_TRUE
    on_POP_JUMP_IF_NOT_NONE = on_POP_JUMP_IF_TRUE

    def on_TO_BOOL(self, it):
        self.replace(1)

    on_UNARY_NEGATIVE = on_TO_BOOL
    on_UNARY_NOT = on_TO_BOOL
    on_UNARY_INVERT = on_TO_BOOL

    def on_COMPARE_OP(self, it):
        self.replace(2)

    on_IS_OP = on_COMPARE_OP
    on_CONTAINS_OP = on_COMPARE_OP

    def on_BUILD_LIST(self, it):
        self.replace(it.arg)

    on_BUILD_TUPLE = on_BUILD_LIST
    on_BUILD_SET = on_BUILD_LIST
    on_BUILD_STRING = on_BUILD_LIST
    on_BUILD_SLICE = on_BUILD_LIST

    def on_BUILD_MAP(self, it):
        self.replace(2 * it.arg)

    def on_BUILD_CONST_KEY_MAP(self, it):
        self.replace(it.arg + 1)

    def on_LIST_EXTEND(self, it):
        self.pop()

    on_LIST_APPEND = on_LIST_EXTEND
    on_SET_ADD = on_LIST_EXTEND
    on_SET_UPDATE = on_LIST_EXTEND
    on_DICT_UPDATE = on_LIST_EXTEND
    on_DICT_MERGE = on_LIST_EXTEND

    def on_DELETE_SUBSCR(self, it):
        self.pop()
        self.touch(it, self.pop())

    def on_STORE_SLICE(self, it):
        self.pop()
        self.pop()
        base = self.pop()
        self.pop()
        self.touch(it, base)
