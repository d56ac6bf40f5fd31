"""What each line of a function can store, for the recorder without a library: names, attributes and items.

`plan.py` walks over the bytecode; here it learns what older Pythons call their instructions. A store that is found wrongly
does no harm: what is told of a line is what was there before it and is not what is there after it.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import sys

from . import plan
from .mutators import EMPTY, print_of
from .values import Absent, own_attribute, own_item

_IS_OLD = sys.version_info < (3, 12)


class OlderWalk(plan.Walk):
    """The instructions of Python 3.9 to 3.11 that newer ones do not have, or read otherwise."""

    def step(self, it):
        if it.name.startswith(("BINARY_", "INPLACE_", "COMPARE_")) and not hasattr(self, "on_" + it.name):
            if it.name.startswith("INPLACE_") and len(self.stack) > 1:
                self.touch(it, self.stack[-2])
            self.replace(2)
        else:
            plan.Walk.step(self, it)

    def on_LOAD_ATTR(self, it):
        base = self.pop()
        path = self.attribute(base, self.code.co_names[it.arg])
        is_called = self.stack and self.stack[-1] is EMPTY
        self.stack.append(self.attribute_called(path) if is_called else path)

    def on_LOAD_METHOD(self, it):
        base = self.pop()
        self.stack.extend((self.method(base, self.code.co_names[it.arg]), None))

    def on_LOAD_GLOBAL(self, it):
        if sys.version_info >= (3, 11):
            plan.Walk.on_LOAD_GLOBAL(self, it)
        else:
            name = self.code.co_names[it.arg]
            self.stack.append((name, plan.GLOBAL, name))

    def on_POP_JUMP_FORWARD_IF_TRUE(self, it):
        self.pop()

    on_POP_JUMP_FORWARD_IF_FALSE = on_POP_JUMP_FORWARD_IF_TRUE
    on_POP_JUMP_FORWARD_IF_NONE = on_POP_JUMP_FORWARD_IF_TRUE
    on_POP_JUMP_FORWARD_IF_NOT_NONE = on_POP_JUMP_FORWARD_IF_TRUE
    # Who jumps takes it along.
    on_JUMP_IF_TRUE_OR_POP = on_POP_JUMP_FORWARD_IF_TRUE
    on_JUMP_IF_FALSE_OR_POP = on_POP_JUMP_FORWARD_IF_TRUE

    on_UNARY_POSITIVE = plan.Walk.on_TO_BOOL

    def on_PRECALL(self, it):
        pass

    on_KW_NAMES = on_PRECALL

    on_CALL_METHOD = plan.Walk.on_CALL

    def on_CALL_FUNCTION(self, it):
        self.replace(it.arg + 1)

    def on_MAKE_FUNCTION(self, it):
        # Its code, until 3.10 its name, and what the flags say.
        self.replace((1 if sys.version_info >= (3, 11) else 2) + bin(it.arg & 15).count("1"))

    def on_CALL_FUNCTION_KW(self, it):
        self.called_by_attribute(it, it.arg + 2, 1)

    def on_CALL_FUNCTION_EX(self, it):
        if sys.version_info >= (3, 11):
            plan.Walk.on_CALL_FUNCTION_EX(self, it)
        else:
            self.called_by_attribute(it, 2 + (it.arg & 1), 1)

    def on_DUP_TOP(self, it):
        self.stack.append(self.stack[-1] if self.stack else None)

    def on_DUP_TOP_TWO(self, it):
        self.stack.extend(self.stack[-2:] if len(self.stack) >= 2 else (None, None))

    def on_ROT_TWO(self, it):
        self.turn(2)

    def on_ROT_THREE(self, it):
        self.turn(3)

    def on_ROT_FOUR(self, it):
        self.turn(4)

    def turn(self, count):
        """The top goes below so many."""
        if len(self.stack) >= count:
            self.stack.insert(len(self.stack) - count, self.stack.pop())


class Stores:
    """`slots` are what can be written, with their weights, the parameters first; `by_line` has readers of them, and what tells
    whether one was: the address of its value, or the content of a container."""

    __slots__ = ("slots", "by_line")

    def __init__(self, code, parameters, weigh):
        slots = plan.Slots(lambda text: _weight(text, weigh))
        for name in parameters:
            slots.number((name, plan.NAME, name))
        found, _ = plan.instructions(code)
        walk = OlderWalk if _IS_OLD else plan.Walk
        stores, touches = walk(code, found, slots).run()
        by_line = {}
        for it in found:
            lines = ()
            if it.unit in stores or it.unit in touches:
                lines = (it.line,) if it.line is not None else _lines_handled(code, found, it.unit)
            for line in lines:
                these = by_line.setdefault(line, {})
                for slot in stores.get(it.unit, ()):
                    these.setdefault(slot, id)
                for slot in touches.get(it.unit, ()):
                    these[slot] = print_of
        self.slots = slots.rows
        self.by_line = {
            line: tuple((slot, slots.rows[slot][1], reader(code, slots.rows[slot]), print) for slot, print in these.items())
            for line, these in by_line.items()
        }


def _lines_handled(code, found, unit):
    """What clears up after an exception (`except … as error` forgets its name) is of no line: it runs after whichever
    line the exception comes up in."""
    handled = plan._handled(code)
    begin = max([it for it in handled.values() if it <= unit], default=None)
    return {it.line for it in found if it.line is not None and handled.get(it.unit) == begin and begin is not None}


def _weight(text, weigh):
    """A secret by any of its names is one: `self.password`, `options['token']`."""
    for mark in "[]'\"":
        text = text.replace(mark, ".")
    return max([weigh(it) for it in text.split(".") if it], default=0)


def reader(code, row):
    """What reads a slot of a frame, by its locals and globals; nothing of the program's runs."""
    text, kind = row[0], row[2]
    name = text.split(".", 1)[0].split("[", 1)[0]
    rest = []
    for kind_of, operand in zip(row[4::2], row[5::2]):
        if kind_of >= plan.AT:
            operand = _name(code, kind_of - plan.AT, operand)
        rest.append((kind_of, operand))
    is_global = kind == plan.GLOBAL

    def read(lookup, everywhere):
        value = dict.get(everywhere, name, Absent) if is_global else lookup(name, Absent)
        for kind_of, operand in rest:
            if value is Absent:
                return Absent
            if kind_of == plan.ATTRIBUTE:
                value = own_attribute(value, operand)
            elif kind_of == plan.CONSTANT:
                value = own_item(value, operand)
            elif kind_of == plan.AT + plan.GLOBAL:
                value = own_item(value, dict.get(everywhere, operand, Absent))
            else:
                value = own_item(value, lookup(operand, Absent))
        return value

    return read


def _name(code, kind, operand):
    if kind == plan.FAST:
        return plan._local(code, operand)
    if kind == plan.CELL:
        return plan._cell(code, operand)
    return operand
