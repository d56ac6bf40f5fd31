"""What a program did, by `sys.settrace` and plain Python: independent of the recorder.

`run(paths)` runs programs and answers their frames, each with its arguments, steps and end. A step is a line and what
changed until the frame's next event: `{"line", "names": {name: shape}, "all": {name: shape}, "paths": …}`.
"""

import json
import sys
from collections import deque

FIELDS, ITEMS, DEPTH = 8, 5, 2


def shape(value, depth=0):
    """A value as the recording would tell it, without its object's number."""
    kind = type(value)
    if value is None or kind in (bool,):
        return [str(value)]
    if kind is int:
        text = str(value)
        # The first digits of a long one are told as such.
        return ["int", text if len(text) <= 200 else text[:200] + "\N{HORIZONTAL ELLIPSIS}"]
    if kind is float:
        return ["float", repr(value)]
    if kind is str:
        return ["str", len(value), value[:200]]
    if kind is bytes:
        return ["bytes", len(value), value[:200].hex()]
    if isinstance(value, BaseException):
        return ["error", kind.__name__, ", ".join(said(it) for it in value.args[:ITEMS])[:200]]
    if kind.__name__ in ("function", "builtin_function_or_method"):
        return ["named", kind.__name__, value.__qualname__]
    if kind.__name__ == "method":
        return ["named", "method", value.__func__.__qualname__]
    if isinstance(value, type):
        return ["named", kind.__name__, value.__name__]
    if kind.__name__ == "module":
        return ["named", "module", value.__name__]
    if depth >= DEPTH:
        return ["outside", kind.__name__]
    if isinstance(value, (list, tuple, set, frozenset)) or kind in (deque, bytearray):
        items = [it for it, _ in zip(value, range(ITEMS))]
        return ["items", kind.__name__, len(value), [shape(it, depth + 1) for it in items]]
    if isinstance(value, dict):
        items = [it for it, _ in zip(value.items(), range(ITEMS))]
        return ["pairs", kind.__name__, len(value), [[shape(k, depth + 1), shape(v, depth + 1)] for k, v in items]]
    if kind.__flags__ & 512 and not kind.__module__.startswith("asyncio") and (kind.__dictoffset__ or hasattr(kind, "__slots__")):
        fields = {name: getattr(value, name) for name in getattr(kind, "__slots__", ()) if hasattr(value, name)}
        fields.update(getattr(value, "__dict__", {}))
        shown = [it for it, _ in zip(fields.items(), range(FIELDS))]
        return ["fields", kind.__name__, len(fields), [[k, shape(v, depth + 1)] for k, v in shown]]
    return ["outside", kind.__name__]


def said(value, is_inside=False):
    kind = type(value)
    if kind is str:
        return "'%s'" % value if is_inside else value
    if kind in (int, float, bool, type(None)):
        return repr(value)
    if is_inside or kind not in (tuple, list, dict, set, frozenset):
        return "<%s>" % kind.__name__
    parts = [said(it, True) for it in list(value)[:ITEMS]]
    if kind is dict:
        parts = ["%s: %s" % (key, said(it, True)) for key, it in zip(parts, value.values())]
    text = ", ".join(parts + ["…"] * (len(value) > ITEMS))
    if kind is tuple:
        return "(%s%s)" % (text, "," if len(value) == 1 else "")
    if kind in (set, frozenset) and (kind is frozenset or not value):
        return "%s(%s)" % (kind.__name__, "{%s}" % text if value else "")
    return "[%s]" % text if kind is list else "{%s}" % text


class Frame:
    def __init__(self, frame):
        code = frame.f_code
        self.name = code.co_qualname
        self.file = code.co_filename
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        here = frame.f_locals
        self.arguments = [shape(here[name]) for name in code.co_varnames[:count]]
        self.steps = []
        self.before = dict(here)
        self.line = None
        self.raised = None
        self.is_unwinding = False
        self.raises = []
        self.end = None
        self.yields = []
        self.cells = list(code.co_cellvars) + list(code.co_freevars)

    def step(self, frame):
        """Closes the step that is open: what is bound to something else than before it."""
        now = frame.f_locals
        if self.line is not None:
            changed = {}
            for name in set(now) | set(self.before):
                if now.get(name, shape) is not self.before.get(name, shape):
                    changed[name] = shape(now[name]) if name in now else ["undefined"]
            names = {name: shape(value) for name, value in now.items()}
            paths = {}
            for path in PATHS.get((self.file, self.name), ()):
                try:
                    paths[path] = shape(eval(path, frame.f_globals, dict(now)))
                except Exception:
                    pass
            known = {it: shape(frame.f_globals[it]) for it in frame.f_code.co_names if it in frame.f_globals}
            step = {"line": self.line, "changed": changed, "all": names, "paths": paths, "globals": known}
            self.steps.append(step)
        self.before = dict(now)


PATHS = {}


class Oracle:
    def __init__(self, folder):
        self.folder = folder
        self.frames = []
        self.open = {}
        self.flying = None

    def trace(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(self.folder):
            return None
        if id(frame) in self.open and self.open[id(frame)][0] is frame:
            return self.local
        mine = Frame(frame)
        self.frames.append(mine)
        # The frame is kept, so that its address stays its own.
        self.open[id(frame)] = (frame, mine)
        return self.local

    def local(self, frame, event, argument):
        mine = self.open[id(frame)][1]
        if event == "line":
            mine.step(frame)
            mine.line = frame.f_lineno
            mine.is_unwinding = False
        elif event == "exception":
            error = argument[1]
            if error is not self.flying:
                mine.raises.append(shape(error))
            self.flying = None
            mine.raised = error
            mine.is_unwinding = True
        elif event == "return":
            self.left(frame, mine, argument)
        return self.local

    def left(self, frame, mine, value):
        op = frame.f_code.co_code[frame.f_lasti]
        import opcode

        name = opcode.opname[op]
        is_thrown = mine.is_unwinding and value is None
        if name in ("YIELD_VALUE", "RESUME") and not is_thrown:
            mine.yields.append(shape(value))
            return
        mine.step(frame)
        mine.line = None
        if name in ("RETURN_VALUE", "RETURN_CONST"):
            mine.end = ["return", shape(value)]
        else:
            self.flying = mine.raised
            mine.end = ["unwind", shape(mine.raised)]


def run(paths, folder, is_traced):
    """Runs programs one after the other, each as a module of its own."""
    oracle = Oracle(folder)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), path, "exec")
        names = {"__name__": "program", "__file__": path}
        if is_traced:
            sys.settrace(oracle.trace)
        try:
            exec(code, names)
        except Exception as error:
            print(type(error).__name__, error)
        finally:
            if is_traced:
                sys.settrace(None)
        for frame, mine in oracle.open.values():
            # A generator that was left at a `yield`, and closed without a word.
            if mine.line is not None and mine.end is None:
                mine.steps.append({"line": mine.line, "changed": {}, "all": {}, "paths": {}, "globals": {}})
        oracle.open.clear()
    return oracle.frames


def main(folder, out, is_traced, paths):
    frames = run(paths, folder, is_traced)
    if is_traced:
        keys = ("name", "file", "arguments", "steps", "raises", "end", "yields", "cells")
        with open(out, "w", encoding="utf-8") as file:
            json.dump([{key: getattr(it, key) for key in keys} for it in frames], file)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    for file, name, paths in asked.get("paths", ()):
        PATHS[(file, name)] = paths
    DEPTH = asked.get("depth", DEPTH)
    main(asked["folder"], asked["out"], asked["is_traced"], asked["files"])
