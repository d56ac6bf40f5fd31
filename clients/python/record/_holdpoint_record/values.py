"""Values as records, by Python alone: exact builtin types and own fields; never the program's code."""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import struct
import types
import weakref
from _collections import deque
from functools import partial as _partial

from .stream import u, zigzag

# Contents of contents cost more here than a call may: the compiled recorder has them.
ITEMS, FIELDS, CHARACTERS, LOOKED_AT, DEPTH = 5, 8, 200, 400, 1
# So many objects of a run are looked into, and one more for each so many events: the others are told by their identity.
CONTENTS, EARNED = 20_000, 16
NONE, UNDEFINED = b"\x05\x00", b"\x05\x01"

_type = type
_mro = type.__dict__["__mro__"].__get__
_vars = type.__dict__["__dict__"].__get__
_name = type.__dict__["__name__"].__get__
_flags = type.__dict__["__flags__"].__get__
_weak = type.__dict__["__weakrefoffset__"].__get__
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


def _has(all, one):
    """By identity: `in` asks `==`, which a metaclass may have made its own."""
    for it in all:
        if it is one:
            return True
    return False


class Absent:
    """Stands for what is not bound."""


class Values:
    def __init__(self, secrets):
        self.secrets = secrets
        self.out = None
        self.next_object = 1
        self.known = {}
        # Addresses of exceptions that were seen on their way.
        self.flown = set()
        self.types = _abouts
        # How many objects may still be looked into, and whether one was not.
        self.purse = CONTENTS
        self.is_poor = False
        self.begin()

    def begin(self):
        """A new stream: everything is numbered anew, but objects."""
        self.strings = {}
        self.fields_known = {}
        self.seen = {}
        self.simple = {}
        self.count = 0
        for known in self.known.values():
            known[3] = None

    # Numbers are handed about as the bytes that stand in a record.

    def string(self, text):
        number = self.strings.get(text)
        if number is None:
            number = self.strings[text] = u(len(self.strings))
            data = text.encode("utf-8", "backslashreplace")
            self.out += b"\x02" + u(len(data)) + data
        return number

    def record(self, record):
        number = self.seen.get(record)
        if number is None:
            number = u(self.count)
            self.count += 1
            if len(self.seen) > 100_000:
                self.seen.clear()
            self.seen[record] = number
            self.out += record
        return number

    def number(self, value, weight=0, depth=0):
        """The number of a value; `self.out` gets what has to stand before it."""
        kind = _type(value)
        if weight == 0 and (kind is int or (kind is str and len(value) <= CHARACTERS)):
            # Texts and numbers are no keys of each other; `True` and `1.0` do not come here.
            number = self.simple.get(value)
            if number is None:
                number = self.fresh(value, kind, 0)
                if len(self.simple) > 100_000:
                    self.simple.clear()
                self.simple[value] = number
            return number
        if value is None:
            return self.seen.get(NONE) or self.record(NONE)
        about = self.types.get(id(kind))
        if about is not None and about.is_common:
            return self.looked_at(value, kind, about, weight, depth)
        return self.fresh(value, kind, weight, depth)

    def raised(self, exception, begins):
        """The number of an exception on its way. One that begins it here is not the one that was raised before at its
        address, which is gone: most exceptions die young."""
        address = id(exception)
        if address in self.flown and begins:
            known = self.known.get(address)
            if known is not None and known[2] is None:
                del self.known[address]
        number = self.number(exception)
        if len(self.flown) > 100_000:
            self.flown.clear()
        self.flown.add(address)
        return number

    def looked_at(self, value, kind, about, weight, depth):
        found = self.known.get(id(value))
        if found is None or found[0] is not about or found[3] is None:
            found = self.head(value, about)
        if depth < DEPTH:
            if self.purse > 0:
                self.purse -= 1
                try:
                    base = about.base
                    if base is None:
                        return self.fields(value, about, found[3], weight, depth)
                    if base is dict:
                        return self.mapping(value, found[3], weight, depth)
                    return self.sequence(value, base, found[3], weight, depth)
                except RuntimeError:
                    # Another thread has changed it meanwhile.
                    pass
            else:
                self.is_poor = True
        number = found[4]
        if number is None:
            number = found[4] = self.record(b"\x05\x0f" + found[3])
        return number

    def fresh(self, value, kind, weight, depth=0):
        if kind is int:
            if weight == 2 and self.secrets.is_secret(2, str(value)[:LOOKED_AT] if -10**99 < value < 10**99 else "long"):
                return self.hidden("number", len(str(value)) if -10**99 < value < 10**99 else 99, b"%d" % (value % 10**99))
            if -(1 << 63) <= value < 1 << 63:
                return self.record(b"\x05\x04" + u(zigzag(value)))
            # Decimal digits of a huge number take long.
            digits = str(value) if value.bit_length() < 4096 else hex(value >> (value.bit_length() - 1600))
            if len(digits) > CHARACTERS:
                digits = digits[:CHARACTERS] + "\N{HORIZONTAL ELLIPSIS}"
            digits = digits.encode()
            return self.record(b"\x05\x05" + u(len(digits)) + digits)
        if kind is str:
            return self.text(value, weight)
        if kind is bool:
            return self.record(b"\x05\x02" if value else b"\x05\x03")
        if kind is float:
            if weight == 2 and self.secrets.is_secret(2, float.__repr__(value)):
                text = float.__repr__(value)
                return self.hidden("number", len(text), text.encode())
            return self.record(b"\x05\x06" + struct.pack("<d", value))
        if value is Absent:
            return self.record(UNDEFINED)
        if kind is bytes:
            return self.data(value, weight)
        return self.compound(value, kind, weight, depth)

    def text(self, value, weight):
        length = len(value)
        part = value if length <= LOOKED_AT else value[:LOOKED_AT]
        if self.secrets.is_secret(weight, part):
            return self.hidden("str", length, part.encode("utf-8", "backslashreplace"))
        part = self.secrets.without(part)[:CHARACTERS]
        data = part.encode("utf-8", "backslashreplace")
        return self.record(b"\x05\x07" + u(length) + u(len(data)) + data)

    def data(self, value, weight):
        part = value[:LOOKED_AT].decode("utf-8", "replace")
        if self.secrets.is_secret(weight, part) or self.secrets.without(part) != part:
            return self.hidden("bytes", len(value), value[:LOOKED_AT])
        shown = value[:CHARACTERS]
        return self.record(b"\x05\x08" + u(len(value)) + u(len(shown)) + shown)

    def hidden(self, kind, length, data):
        mark = self.secrets.mark(data)
        return self.record(b"\x05\x0e" + self.string(kind) + u(length) + b"\x02" + mark)

    def compound(self, value, kind, weight, depth):
        about = _about_of(value)
        if kind is _FUNCTIONS[0] or kind is _FUNCTIONS[1]:
            return self.named(kind, kind.__dict__["__qualname__"].__get__(value))
        if about.is_class:
            return self.named(kind, _name(value))
        if kind is types.ModuleType:
            return self.named(kind, types.ModuleType.__dict__["__dict__"].__get__(value).get("__name__"))
        if about.is_exception:
            return self.exception(value, kind, about)
        return self.looked_at(value, kind, about, weight, depth)

    def sequence(self, value, base, head, weight, depth):
        length = base.__len__(value)
        shown = []
        for item in base.__iter__(value):
            if len(shown) == ITEMS:
                break
            shown.append(self.number(item, weight, depth + 1))
        return self.record(b"\x05\x09" + head + u(length) + u(len(shown)) + b"".join(shown))

    def mapping(self, value, head, weight, depth):
        shown = []
        for key, item in dict.items(value):
            if len(shown) == ITEMS:
                break
            own = max(weight, self.secrets.weight(key)) if _type(key) is str else weight
            shown.append(self.number(key, 0, depth + 1) + self.number(item, own, depth + 1))
        return self.record(b"\x05\x0a" + head + u(dict.__len__(value)) + u(len(shown)) + b"".join(shown))

    def fields(self, value, about, head, weight, depth):
        shown = []
        own = about.dict.__get__(value) if about.dict is not None else None
        count = 0
        if about.slots:
            rows = []
            for name, slot in about.slots:
                try:
                    rows.append((name, slot.__get__(value)))
                except AttributeError:
                    pass
            count = len(rows)
        else:
            rows = ()
        if _type(own) is dict:
            count += len(own)
            # At once, where it is short: another thread may change it.
            items = tuple(own.items()) if len(own) < 64 else [it for it, _ in zip(own.items(), range(FIELDS))]
            rows = [*rows, *items] if rows else items
        known, simple = self.fields_known, self.simple
        for name, item in rows[:FIELDS] if count > FIELDS else rows:
            if _type(name) is not str:
                continue
            about_name = known.get(name)
            if about_name is None:
                if len(known) > 50_000:
                    known.clear()
                about_name = known[name] = (self.string(name), self.secrets.weight(name))
            weighed = about_name[1]
            kind = _type(item)
            number = None
            if weighed == 0 and weight == 0 and (kind is int or (kind is str and len(item) <= CHARACTERS)):
                number = simple.get(item)
            if number is None:
                number = self.number(item, weighed if weighed > weight else weight, depth + 1)
            shown.append(about_name[0] + number)
        if not shown and about.dict is None and not about.slots:
            return self.record(b"\x05\x0f" + head)
        return self.record(b"\x05\x0b" + head + u(count) + u(len(shown)) + b"".join(shown))

    def named(self, kind, name):
        name = name if _type(name) is str else ""
        return self.record(b"\x05\x0d" + self.string(_name(kind)) + self.string(name))

    def exception(self, value, kind, about):
        arguments = BaseException.__dict__["args"].__get__(value)
        said = self.secrets.without(", ".join(_said(it) for it in arguments[:ITEMS]))[:CHARACTERS]
        data = said.encode("utf-8", "backslashreplace")
        bases = [_name(it) for it in (_mro(kind) or ())[1:] if it is not object][:16]
        bases = b"".join([self.string(it) for it in bases]), len(bases)
        head = self.head(value, about)[3]
        return self.record(b"\x05\x0c" + head + u(len(data)) + data + u(bases[1]) + bases[0])

    def head(self, value, about):
        """What is known of an object: its type, its number, how long it lives, how a record of it begins, and the record
        of its identity alone. See `objects.rs` for what a number can and cannot tell."""
        address = id(value)
        known = self.known
        found = known.get(address)
        if found is None or found[0] is not about:
            if len(known) > 100_000:
                known.clear()
            weak = weakref.ref(value, lambda _: known.pop(address, None)) if about.is_weak else None
            found = known[address] = [about, self.next_object, weak, None, None]
            self.next_object += 1
        if found[3] is None:
            found[3] = u(found[1]) + self.string(about.name)
            found[4] = None
        return found


_abouts = {}


def _about_of(value):
    kind = _type(value)
    found = _abouts.get(id(kind))
    if found is None:
        found = _abouts[id(kind)] = _about(kind)
    return found


def lookup_of(names):
    """What finds a name among a frame's, or None where that would be the program's own code: a class body's names may be
    kept in whatever its metaclass prepared."""
    kind = _type(names)
    if kind is dict or kind is _PROXY:
        return names.get
    return _partial(dict.get, names) if _about_of(names).base is dict else None


def _proxy():
    import sys

    return _type(sys._getframe().f_locals)


# Since 3.13 a frame's names are no dict.
_PROXY = _proxy()


def own_attribute(value, name):
    """What stands in the object itself under this name; a property or a `__getattr__` is not asked."""
    about = _about_of(value)
    if about.is_class:
        return _vars(value).get(name, Absent)
    if about.kind is types.ModuleType:
        return types.ModuleType.__dict__["__dict__"].__get__(value).get(name, Absent)
    own = about.dict.__get__(value) if about.dict is not None else None
    if _type(own) is dict and name in own:
        return own[name]
    for slot_name, slot in about.slots:
        if slot_name == name:
            try:
                return slot.__get__(value)
            except AttributeError:
                return Absent
    return Absent


def own_item(value, key):
    """What a list or a dict has at a plain key, by their own ways whatever a subclass does."""
    kind, base = _type(key), _about_of(value).base
    if base is dict and (kind is str or kind is int):
        return dict.get(value, key, Absent)
    if base is list and kind is int and -list.__len__(value) <= key < list.__len__(value):
        return list.__getitem__(value, key)
    return Absent


def _said(value, is_inside=False):
    kind = _type(value)
    if kind is str:
        return value[:LOOKED_AT]
    if _has((int, float, bool, _type(None)), kind):
        return kind.__repr__(value)[:LOOKED_AT] if kind is not int or value.bit_length() < 4096 else "<int>"
    if not is_inside and _has((tuple, list, dict, set, frozenset), kind):
        # One level of it: a key of several parts, the list that an assertion was about.
        return _said_parts(value, kind)
    return "<%s>" % _name(kind)


def _said_parts(value, kind):
    try:
        shown = [it for it, _ in zip(dict.items(value) if kind is dict else kind.__iter__(value), range(ITEMS))]
    except RuntimeError:
        # Another thread has changed it meanwhile.
        return "<%s>" % _name(kind)
    if kind is dict:
        parts = ["%s: %s" % (_said_inside(key), _said_inside(item)) for key, item in shown]
    else:
        parts = [_said_inside(it) for it in shown]
    if len(value) > ITEMS:
        parts.append("…")
    if kind is tuple:
        return "(%s%s)" % (", ".join(parts), "," if len(value) == 1 else "")
    if kind is frozenset or (kind is set and not value):
        return "%s(%s)" % (_name(kind), "{%s}" % ", ".join(parts) if value else "")
    return ("[%s]" if kind is list else "{%s}") % ", ".join(parts)


def _said_inside(value):
    return "'%s'" % _said(value) if _type(value) is str else _said(value, is_inside=True)


class _about:
    """What is known of a type; it is kept, so that its address stays its own."""

    def __init__(self, kind):
        self.kind = kind
        self.name = _name(kind)
        # Types that the interpreter never finished have none: what an async generator of 3.9 yields by.
        mro = _mro(kind) or ()
        self.is_class = _has(mro, type)
        self.is_exception = _has(mro, BaseException)
        self.is_weak = _weak(kind) != 0
        self.is_common = not (self.is_class or self.is_exception or _has(_FUNCTIONS, kind) or kind is types.ModuleType)
        self.base = next((it for it in (list, tuple, set, frozenset, dict) if _has(mro, it)), None)
        if kind is deque or kind is bytearray:
            self.base = kind
        self.dict = None
        self.slots = []
        for base in mro:
            for name, value in _vars(base).items():
                if name == "__dict__" and _type(value) is types.GetSetDescriptorType and self.dict is None:
                    self.dict = value
                if _type(value) is types.MemberDescriptorType and _flags(base) & 512:
                    self.slots.append((name, value))
