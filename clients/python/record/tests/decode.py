"""Reads a stream, independently of everything else here: from `docs/contract/recording.md` alone."""

import json
import os
import struct
import sys
import zlib


class Damaged(Exception):
    pass


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def byte(self):
        value = self.data[self.at]
        self.at += 1
        return value

    def u(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def s(self):
        value = self.u()
        return value >> 1 ^ -(value & 1)

    def b(self):
        size = self.u()
        value = self.data[self.at : self.at + size]
        if len(value) != size:
            raise Damaged("text is short")
        self.at += size
        return value

    def t(self):
        return self.b().decode("utf-8")


def payload(data):
    """The chunks' payloads in one, and whether the end is whole."""
    if data[:8] != b"HPSTRM\0\1":
        raise Damaged("no stream")
    at, parts, last = 8, [], 0
    while at + 16 <= len(data):
        size, crc, when = struct.unpack_from("<IIQ", data, at)
        part = data[at + 16 : at + 16 + size]
        if len(part) != size or zlib.crc32(part) != crc or size > 1 << 20 or when < last:
            break
        parts.append(part)
        last = when
        at += 16 + size
    return b"".join(parts), at == len(data)


class Value:
    __slots__ = ("kind", "object", "type", "data", "length", "items")

    def __init__(self, kind, object=None, type=None, data=None, length=None, items=()):
        self.kind, self.object, self.type = kind, object, type
        self.data, self.length, self.items = data, length, items

    def __repr__(self):
        if self.kind in (4, 5, 6, 7, 8):
            return repr(self.data)
        if self.kind in (0, 1, 2, 3):
            return ("None", "undefined", "True", "False")[self.kind]
        if self.kind == 9:
            return "%s#%s[%s]%s" % (self.type, self.object, self.length, list(self.items))
        if self.kind in (10, 11):
            return "%s#%s[%s]{%s}" % (
                self.type, self.object, self.length, ", ".join("%s: %r" % (k, v) for k, v in self.items)
            )
        if self.kind == 12:
            return "%s#%s(%r)" % (self.type, self.object, self.data)
        if self.kind == 13:
            return "<%s %s>" % (self.type, self.data)
        if self.kind == 14:
            return "<secret %s %s %s>" % (self.type, self.length, self.data.hex())
        return "<%s#%s>" % (self.type, self.object)


class Stream:
    """The records of a stream, in order: `(name, …)`, with numbers looked up."""

    def __init__(self, data):
        text, self.is_whole = payload(data)
        self.strings, self.files, self.functions, self.values = [], [], [], []
        self.calls = 0
        self.records = []
        self.process = None
        reader = Reader(text)
        while reader.at < len(text):
            record = self.record(reader, reader.byte())
            if record is not None:
                self.records.append(record)

    def record(self, r, op):
        if 0x40 <= op <= 0x7F:
            return ("WRITE", op - 0x40, self.values[r.u()])
        if op >= 0x80:
            return ("LINE", op - 0xC0)
        return getattr(self, "op_%02X" % op)(r)

    def op_01(self, r):
        if self.records:
            raise Damaged("PROCESS is not first")
        self.process = json.loads(r.t())
        return ("PROCESS", self.process)

    def op_02(self, r):
        self.strings.append(r.t())

    def op_03(self, r):
        self.files.append((r.t(), r.b()))

    def op_04(self, r):
        name, qualified, file = self.strings[r.u()], self.strings[r.u()], self.files[r.u()]
        first, last, flags, parameters, slots = (r.u() for _ in range(5))
        slots = [self.strings[r.u()] for _ in range(slots)]
        self.functions.append(
            {
                "name": name, "qualified": qualified, "file": file[0], "first": first, "last": last,
                "flags": flags, "parameters": parameters, "slots": slots,
            }
        )

    def op_05(self, r):
        kind = r.u()
        value = Value(kind)
        if kind == 4:
            value.data = r.s()
        elif kind == 5:
            # The first digits of a long one are no number.
            digits = r.t()
            value.data = digits if digits.endswith("\N{HORIZONTAL ELLIPSIS}") else int(digits, 0)
        elif kind == 6:
            value.data = struct.unpack("<d", bytes(r.byte() for _ in range(8)))[0]
        elif kind == 7:
            value.length, value.data = r.u(), r.t()
        elif kind == 8:
            value.length, value.data = r.u(), r.b()
        elif kind in (9, 10, 11):
            value.object, value.type, value.length, count = r.u(), self.strings[r.u()], r.u(), r.u()
            if kind == 9:
                value.items = [self.values[r.u()] for _ in range(count)]
            elif kind == 10:
                value.items = [(self.values[r.u()], self.values[r.u()]) for _ in range(count)]
            else:
                value.items = [(self.strings[r.u()], self.values[r.u()]) for _ in range(count)]
        elif kind == 12:
            value.object, value.type, value.data = r.u(), self.strings[r.u()], r.t()
            value.items = [self.strings[r.u()] for _ in range(r.u())]
        elif kind == 13:
            value.type, value.data = self.strings[r.u()], self.strings[r.u()]
        elif kind == 14:
            value.type, value.length, value.data = self.strings[r.u()], r.u(), r.b()
        elif kind == 15:
            value.object, value.type = r.u(), self.strings[r.u()]
        elif kind > 15:
            raise Damaged("value of kind %d" % kind)
        self.values.append(value)

    def op_06(self, r):
        return ("THREAD", r.u(), r.t())

    def op_07(self, r):
        return ("NOTE", json.loads(r.t()))

    def op_08(self, r):
        return ("END", json.loads(r.t()))

    def op_09(self, r):
        return ("TEST", json.loads(r.t()))

    def op_10(self, r):
        function = self.functions[r.u()]
        ticks = r.u()
        self.calls += 1
        return ("CALL", function, ticks, [self.values[r.u()] for _ in range(function["parameters"])])

    def op_11(self, r):
        return ("RETURN", self.values[r.u()], r.u())

    def op_12(self, r):
        return ("YIELD", self.values[r.u()], r.u())

    def op_13(self, r):
        return ("RESUME", self.calls - r.u(), r.u())

    def op_14(self, r):
        return ("RAISE", self.values[r.u()])

    def op_15(self, r):
        return ("UNWIND", self.values[r.u()], r.u())

    def op_16(self, r):
        return ("HANDLED", self.values[r.u()])

    def op_17(self, r):
        return ("WRITE", r.u(), self.values[r.u()])

    def op_18(self, r):
        return ("SWITCH", r.u())

    def op_19(self, r):
        return ("TASK", r.u(), self.strings[r.u()])

    def op_1A(self, r):
        return ("LEVEL", self.functions[r.u()], r.u(), r.t())

    def op_1B(self, r):
        return ("COUNT", self.functions[r.u()], r.u())

    def op_1C(self, r):
        return ("LEAF", self.strings[r.u()], [self.values[r.u()] for _ in range(r.u())], self.values[r.u()])

    def op_1D(self, r):
        return ("LINE", r.s())

    def op_1E(self, r):
        return ("GAP", r.u())

    def op_1F(self, r):
        return ("LINE_AT", r.u())

    def op_20(self, r):
        return ("PARTIAL",)

    def op_21(self, r):
        return ("FORKED", r.u())


class Frame:
    def __init__(self, number, function, arguments, parent):
        self.number, self.function, self.arguments, self.parent = number, function, arguments, parent
        self.line = function["first"]
        # `("line", n)`, `("write", name, value)`, `("partial",)`, `("raise", v)`, `("handled", v)`, `("gap", n)`.
        self.events = []
        self.end = None


def frames(stream):
    """Every call with its events, threads kept apart."""
    calls, stacks, thread = [], {}, 0
    for record in stream.records:
        kind = record[0]
        stack = stacks.setdefault(thread, [])
        if kind == "SWITCH":
            thread = record[1]
        elif kind == "CALL":
            frame = Frame(len(calls), record[1], record[3], stack[-1] if stack else None)
            calls.append(frame)
            stack.append(frame)
        elif kind == "RESUME":
            calls[record[1]].events.append(("resume",))
            stack.append(calls[record[1]])
        elif kind in ("RETURN", "UNWIND", "YIELD"):
            frame = stack.pop()
            if kind == "YIELD":
                frame.events.append(("yield", record[1]))
            else:
                frame.end = (kind.lower(), record[1])
        elif kind == "LINE":
            stack[-1].line += record[1]
            stack[-1].events.append(("line", stack[-1].line))
        elif kind == "LINE_AT":
            stack[-1].line = record[1]
            stack[-1].events.append(("line", record[1]))
        elif kind == "WRITE":
            stack[-1].events.append(("write", stack[-1].function["slots"][record[1]], record[2]))
        elif kind == "PARTIAL":
            stack[-1].events.append(("partial",))
        elif kind in ("RAISE", "HANDLED"):
            stack[-1].events.append((kind.lower(), record[1]))
        elif kind == "GAP":
            stack[-1].events.append(("gap", record[1]))
    return calls


def read(folder):
    """The streams of a recording's folder, each with what its process had not written yet."""
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".hps"):
            path = os.path.join(folder, name)
            rest = tail(path)
            with open(path, "rb") as file:
                found.append(Stream(with_tail(file.read(), rest)))
    return found


def tail(stream):
    """How long a stream is without its tail, and the tail; nothing where there is none."""
    try:
        with open(stream[: -len("hps")] + "tail", "rb") as file:
            data = file.read()
    except OSError:
        return 0, b""
    assert data[:8] == b"HPTAIL\0\1"
    size, length = (int.from_bytes(data[at : at + 8], "little") for at in (8, 16))
    return size, data[24 : 24 + length]


def with_tail(data, rest):
    size, payload = rest
    if not payload or size != len(data):
        return data
    header = len(payload).to_bytes(4, "little") + zlib.crc32(payload).to_bytes(4, "little")
    # After every chunk.
    return data + header + b"\xff" * 8 + payload


def show(stream, out=sys.stdout):
    for frame in frames(stream):
        parameters = frame.function["slots"][: frame.function["parameters"]]
        told = ", ".join("%s=%r" % it for it in zip(parameters, frame.arguments))
        out.write("#%d %s(%s) -> %s\n" % (frame.number, frame.function["qualified"], told, frame.end))
        for event in frame.events:
            out.write("    %s\n" % " ".join(map(str, event)))
    for record in stream.records:
        if record[0] in ("NOTE", "TEST", "END", "THREAD", "LEVEL", "TASK", "COUNT", "FORKED"):
            out.write("%s\n" % (record,))


if __name__ == "__main__":
    for it in read(sys.argv[1]):
        print(it.process, "whole" if it.is_whole else "cut")
        show(it)
