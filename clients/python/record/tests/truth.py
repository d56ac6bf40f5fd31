"""Random programs, recorded and watched by the oracle: `truth.py --python PYTHON --count 1000 [--seed 1]`.
Without `--library` the recorder is the pure one.

A contradiction is a recorded call, argument, line, write, result or exception that the oracle did not see so. What the
oracle saw and the recording lacks is an omission; each is of a kind that is named here, or is a failure as well.
"""

import argparse
import ast
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import decode
import generate

BATCH = 25
MUTATORS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard difference_update "
    "intersection_update symmetric_difference_update appendleft popleft extendleft rotate".split()
)


def shape(value):
    """A recorded value in the oracle's terms."""
    kind = value.kind
    if kind in (0, 1, 2, 3):
        return [("None", "undefined", "True", "False")[kind]]
    if kind in (4, 5):
        return ["int", str(value.data)]
    if kind == 6:
        return ["float", repr(value.data)]
    if kind == 7:
        return ["str", value.length, value.data]
    if kind == 8:
        return ["bytes", value.length, value.data.hex()]
    if kind == 9:
        return ["items", value.type, value.length, [shape(it) for it in value.items]]
    if kind == 10:
        return ["pairs", value.type, value.length, [[shape(k), shape(v)] for k, v in value.items]]
    if kind == 11 and value.type == "_GatheringFuture":
        # Its fields are there, but Python has no way to ask for them.
        return ["outside", value.type]
    if kind == 11:
        return ["fields", value.type, value.length, [[k, shape(v)] for k, v in value.items]]
    if kind == 12:
        return ["error", value.type, value.data]
    if kind == 13:
        return ["named", value.type, value.data]
    return ["outside", value.type]


class Comparison:
    def __init__(self):
        self.wrong = []
        self.omitted = collections.Counter()
        self.counts = collections.Counter()

    def say(self, where, what, recorded, seen):
        if len(self.wrong) < 40:
            self.wrong.append("%s: %s: recorded %r, seen %r" % (where, what, recorded, seen))
        self.counts["contradictions"] += 1

    def frames(self, recorded, seen):
        if len(recorded) != len(seen):
            self.say("run", "number of calls", len(recorded), len(seen))
        for ours, theirs in zip(recorded, seen):
            where = "%s %s #%d" % (os.path.basename(theirs["file"]), theirs["name"], ours.number)
            if ours.function["qualified"] != theirs["name"]:
                self.say(where, "function", ours.function["qualified"], theirs["name"])
                return
            self.frame(where, ours, theirs)

    def frame(self, where, ours, theirs):
        self.counts["calls"] += 1
        arguments = [shape(it) for it in ours.arguments]
        if arguments != theirs["arguments"]:
            self.say(where, "arguments", arguments, theirs["arguments"])
        end = [ours.end[0], shape(ours.end[1])] if ours.end else None
        if end != theirs["end"]:
            self.say(where, "end", end, theirs["end"])
        yields = [shape(it[1]) for it in ours.events if it[0] == "yield"]
        if yields != theirs["yields"]:
            self.say(where, "yields", yields, theirs["yields"])
        raises = [shape(it[1]) for it in ours.events if it[0] == "raise"]
        self.raises(where, raises, theirs["raises"])
        self.shared = frozenset(theirs["cells"])
        self.receivers = receivers(theirs["file"])
        self.is_module = theirs["name"] == "<module>"
        self.steps(where, steps(ours), theirs["steps"])

    def raises(self, where, ours, theirs):
        """Each that the oracle saw, in its order; ours tells besides where one was raised again."""
        rest = list(ours)
        for error in theirs:
            if error in rest:
                del rest[: rest.index(error) + 1]
            elif error[1] == "StopIteration":
                self.omitted["the end of an iterator, which settrace tells as an exception"] += 1
            else:
                self.say(where, "exceptions", ours, theirs)
                return
        extra = [it for it in ours if it not in theirs]
        if extra:
            self.counts["raised again"] += len(extra)

    def steps(self, where, ours, theirs):
        """`settrace` tells a line once more when a loop on one line turns, and monitoring does not: of a row of the
        same line the recording may have fewer, and the last of them has what all the others changed."""
        ours, theirs = _rows(ours, lambda it: it[0]), _rows(theirs, lambda it: it["line"])
        before, last = {}, None
        for mine, seen in zip(ours, theirs):
            line = mine[0][0]
            self.counts["lines"] += len(mine)
            if line != seen[0]["line"] or len(mine) > len(seen):
                self.say(where, "lines", (line, len(mine)), (seen[0]["line"], len(seen)))
                return
            if len(mine) < len(seen):
                self.turns("%s line %d" % (where, line), mine, seen, before)
                before, last = seen[-1]["all"], seen[-1]
                continue
            for at, (_, writes, is_partial) in enumerate(mine):
                changed = seen[at]["changed"]
                # What came and went within the line is not there after it.
                changed = {name: it for name, it in changed.items() if it != ["undefined"] or name in before}
                self.writes("%s line %d" % (where, line), writes, changed, seen[at], is_partial)
                if last is not None and not is_partial:
                    self.content("%s line %d" % (where, line), line, writes, last, seen[at])
                before, last = seen[at]["all"], seen[at]
        if len(ours) != len(theirs):
            self.say(where, "rows of lines", len(ours), len(theirs))

    def turns(self, where, mine, seen, before):
        """A loop on one line: every write was so at some turn, and what is there in the end was told."""
        self.omitted["a loop on one line, told once"] += len(seen) - len(mine)
        told = {}
        for _, writes, _ in mine:
            for name, value in writes:
                value = told[name] = shape(value)
                known = [turn[of].get(name) for turn in seen for of in ("all", "globals", "paths", "changed")]
                self.counts["writes"] += 1
                if value not in known and value != ["undefined"] and value != ["outside", "unread"]:
                    self.say(where, "write of %s in a loop on one line" % name, value, known)
        last = seen[-1]["all"]
        for name in {name for turn in seen for name in turn["changed"]}:
            if before.get(name) != last.get(name) and name not in told:
                self.missing(where, name, last.get(name), False)

    def content(self, where, line, writes, last, step):
        """What a line that calls one of its methods changed in place was told."""
        told = {name for name, _ in writes}
        for name in self.receivers.get(line, ()):
            was, now = (it["paths"].get(name, it["all"].get(name, it["globals"].get(name))) for it in (last, step))
            if was is None or was == now or now is None or now[0] not in ("items", "pairs"):
                continue
            self.counts["changed in place"] += 1
            if name not in told:
                self.say(where, "change of %s in place" % name, None, now)

    def writes(self, where, ours, changed, step, is_partial):
        told = set()
        for name, value in ours:
            self.counts["writes"] += 1
            told.add(name)
            value = shape(value)
            if name.isidentifier():
                seen = step["all"].get(name, step["globals"].get(name, changed.get(name, ["undefined"])))
                if value != seen and changed.get(name) != value:
                    self.say(where, "write of %s" % name, value, seen)
            elif value == ["outside", "unread"]:
                self.omitted["a value that only the program could read"] += 1
            elif name in step["paths"] and value != step["paths"][name]:
                self.say(where, "write of %s" % name, value, step["paths"][name])
            elif name in step["paths"]:
                self.counts["paths"] += 1
        for name, value in changed.items():
            if name not in told:
                self.missing(where, name, value, is_partial)

    def missing(self, where, name, value, is_partial):
        if not name.isidentifier() or (name.startswith("__") and name.endswith("__")):
            self.omitted["a name of the compiler's own"] += 1
        elif name in self.shared:
            self.omitted["a name that another function wrote, recorded there"] += 1
        elif self.is_module and name == "total":
            self.omitted["a global that a function wrote, recorded there"] += 1
        else:
            self.say(where, "write of %s" % name, None, value)


_RECEIVERS = {}


def receivers(path):
    """By line, what has one of its mutators called there, an item deleted, a slice stored or more added, by the program's text
    alone: names, and attributes and items of names."""
    if path not in _RECEIVERS:
        found = _RECEIVERS[path] = {}
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        # What has a frame of its own, in some version at least, is told there.
        apart = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
        inside = {id(it) for node in ast.walk(tree) if isinstance(node, apart) for it in ast.walk(node)}
        for node in ast.walk(tree):
            if id(node) in inside:
                continue
            targets = []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
                targets = [node.func.value]
            elif isinstance(node, ast.Delete):
                targets = [it.value for it in node.targets if isinstance(it, ast.Subscript)]
            elif isinstance(node, ast.AugAssign):
                targets = [node.target]
            elif isinstance(node, ast.Assign):
                targets = [it.value for it in node.targets if isinstance(it, ast.Subscript) and isinstance(it.slice, (ast.Slice, ast.Tuple))]
            for target in targets:
                names = [it for it in ast.walk(target) if isinstance(it, (ast.Call, ast.IfExp, ast.BoolOp, ast.BinOp, ast.Lambda))]
                if not names and node.lineno == node.end_lineno and _is_path(target):
                    found.setdefault(node.lineno, set()).add(ast.unparse(target))
    return _RECEIVERS[path]


def _is_path(node):
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return _is_path(node.value)
    if isinstance(node, ast.Subscript):
        return _is_path(node.value) and isinstance(node.slice, (ast.Constant, ast.Name, ast.UnaryOp))
    return False


def _rows(steps, line):
    """Steps at the same line, one after the other, together."""
    found = []
    for step in steps:
        if found and line(found[-1][0]) == line(step):
            found[-1].append(step)
        else:
            found.append([step])
    return found


def steps(frame):
    """`[line, [(name, value)], is_partial]` of a recorded frame."""
    found = []
    for event in frame.events:
        if event[0] == "line":
            found.append([event[1], [], False])
        elif event[0] == "write" and found:
            found[-1][1].append((event[1], event[2]))
        elif event[0] == "partial" and found:
            found[-1][2] = True
    return found


def paths(recorded):
    """What to evaluate: the attributes and items that a function can write."""
    found = {}
    for frame in recorded:
        function = frame.function
        key = (function["file"], function["qualified"])
        found[key] = [it for it in function["slots"] if not it.isidentifier() and it[0] != "."]
        texts = {it for these in receivers(function["file"]).values() for it in these if not it.isidentifier()}
        found[key] += sorted(texts - set(found[key]))
    return [[file, name, these] for (file, name), these in found.items()]


def batch(python, seeds, library, comparison):
    folder = tempfile.mkdtemp(prefix="truth-")
    try:
        programs = os.path.join(folder, "programs")
        os.mkdir(programs)
        files = []
        for seed in seeds:
            files.append(os.path.join(programs, "program%d.py" % seed))
            with open(files[-1], "w", encoding="utf-8") as file:
                file.write(generate.program(seed))
        recorded = record(python, folder, programs, files, library)
        # The pure one looks one step less deep into values.
        seen = watch(python, folder, programs, files, paths(recorded), depth=2 if library else 1)
        comparison.frames(recorded, seen)
    finally:
        shutil.rmtree(folder)


def ask(python, place, environment, **asked):
    path = os.path.join(place, "asked.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(asked, file)
    environment = dict(environment, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(
        [python, os.path.join(HERE, "oracle.py"), path], env=environment, capture_output=True, text=True, timeout=600
    )
    if done.returncode != 0:
        raise SystemExit("%s\n%s" % (done.stdout[-2000:], done.stderr[-4000:]))
    return done.stdout


def record(python, folder, programs, files, library):
    out = os.path.join(folder, "recording")
    os.mkdir(out)
    config = {"version": 1, "roots": [programs], "level": "lines", "secrets": {"shown": True}}
    if not library:
        config["limits"] = {"whole_calls": 1_000_000}
    with open(os.path.join(out, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    environment = dict(
        os.environ,
        HOLDPOINT_RECORD=os.path.join(out, "config.json"),
        HOLDPOINT_RECORD_LIBRARY=library or os.devnull + "/none",
        PYTHONPATH=os.path.dirname(HERE),
    )
    ask(python, folder, environment, folder=programs, out=None, is_traced=False, files=files)
    streams = decode.read(out)
    assert len(streams) == 1 and streams[0].process["way"] == ("native" if library else "pure"), [it.process for it in streams]
    assert streams[0].is_whole and streams[0].records[-1][0] == "END"
    return decode.frames(streams[0])


def watch(python, folder, programs, files, asked, depth):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HOLDPOINT")}
    out = os.path.join(folder, "seen.json")
    ask(python, folder, environment, folder=programs, out=out, is_traced=True, files=files, paths=asked, depth=depth)
    with open(out, encoding="utf-8") as file:
        return json.load(file)


def check(python, count, seed, library, is_loud=False):
    comparison = Comparison()
    for start in range(seed, seed + count, BATCH):
        batch(python, range(start, min(start + BATCH, seed + count)), library, comparison)
        if is_loud:
            print(start, dict(comparison.counts), dict(comparison.omitted), flush=True)
    return comparison


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--library", default=os.environ.get("HOLDPOINT_RECORD_LIBRARY", ""))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    comparison = check(asked.python, asked.count, asked.seed, asked.library, is_loud=True)
    for line in comparison.wrong:
        print(line)
    print("programs %d, %s, omitted %s" % (asked.count, dict(comparison.counts), dict(comparison.omitted)))
    return 1 if comparison.counts["contradictions"] else 0


if __name__ == "__main__":
    sys.exit(main())
