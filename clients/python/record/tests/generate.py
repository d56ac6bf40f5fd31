"""Random Python programs that end: `program(seed)` is always the same text for the same seed.

They are made to meet what a recorder can get wrong: lines that stop half-way, stores that may not happen, frames that
sleep, names in cells, exceptions that pass through, containers changed in place.
"""

import random

HEAD = '''import asyncio
from collections import deque


class Box:
    limit = 3

    def __init__(self, value, more=None):
        self.value = value
        self.more = more or []

    def put(self, n):
        self.value += n
        self.more.append(n)
        return self

    @property
    def double(self):
        return self.value * 2

    def __enter__(self):
        self.value += 1
        return self

    def __exit__(self, kind, error, trace):
        self.value -= 1
        return kind is KeyError


class Slim:
    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


def decorate(function):
    def wrapper(*args, **named):
        result = function(*args, **named)
        return result

    return wrapper


total = 0
log = []
'''


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 0
        self.functions = []
        self.names = []
        self.loops = 0
        self.kind = "function"
        self.in_loop = False

    def pick(self, *choices):
        return self.random.choice(choices)

    def say(self, text):
        self.lines.append("    " * self.depth + text)

    # Expressions of numbers, mostly.

    def number(self, deep=2):
        r = self.random
        if deep == 0 or r.random() < 0.3:
            if self.names and r.random() < 0.7:
                return r.choice(self.names)
            return str(r.choice((0, 1, 2, 3, 7, 10, 255, 1000, -1, 10**19)))
        which = r.randrange(13)
        a = self.number(deep - 1)
        b = self.number(deep - 1)
        if which < 4:
            return "(%s %s %s)" % (a, self.pick("+", "-", "*", "&", "|"), b)
        if which == 4:
            return "(%s %s %s)" % (a, self.pick("//", "%"), b)
        if which == 5:
            return "(%s if %s else %s)" % (a, self.condition(1), b)
        if which == 6:
            return "len(str(%s))" % a
        if which == 7:
            return "items[%s %% 4]" % a
        if which == 8:
            return "table[%s]" % self.pick("'a'", "'b'", "'zz'", a)
        if which == 9:
            return "box.%s" % self.pick("value", "double", "limit", "missing")
        if which == 10:
            return "max([%s, %s])" % (a, b)
        if which == 11 and self.functions:
            return self.call()
        return "sum(n * 2 for n in items[:3])"

    def condition(self, deep=2):
        r = self.random
        if deep and r.random() < 0.35:
            return "(%s %s %s)" % (self.condition(deep - 1), self.pick("and", "or"), self.condition(deep - 1))
        if r.random() < 0.12 and self.kind != "class":
            name = self.fresh()
            return "(%s := %s) > %s" % (name, self.number(1), self.number(0))
        return "%s %s %s" % (self.number(1), self.pick("<", ">", "==", "!="), self.number(1))

    def call(self):
        name, kind, count = self.random.choice(self.functions)
        arguments = ", ".join(self.number(0) for _ in range(count))
        if kind == "generator":
            return "sum(list(%s(%s))[:4])" % (name, arguments)
        if kind == "async":
            return "len(%r)" % name if self.kind == "async" else "asyncio.run(%s(%s))" % (name, arguments)
        return "%s(%s)" % (name, arguments)

    def fresh(self):
        return self.pick("a", "b", "c", "d", "e1")

    def bind(self, name):
        if name not in self.names:
            self.names.append(name)
        return name

    # Statements.

    def body(self, count, deep):
        self.depth += 1
        known, before = list(self.names), len(self.lines)
        for _ in range(count):
            self.statement(deep)
        if len(self.lines) == before:
            self.say("pass")
        self.names = known
        self.depth -= 1

    def statement(self, deep):
        r = self.random
        simple = (
            self.assign, self.assign, self.assign, self.augment, self.augment, self.unpack, self.attribute,
            self.subscript, self.subscript, self.mutate, self.mutate, self.mutate_plainly, self.mutate_perhaps, self.mutate_long, self.comprehension, self.call_statement, self.delete,
            self.several, self.long_line, self.chain, self.lambda_, self.text, self.globals_, self.slim, self.swap,
        )
        compound = (
            self.if_, self.if_, self.for_, self.for_, self.while_, self.try_, self.try_, self.try_, self.with_,
            self.nested, self.match, self.for_else, self.finally_,
        )
        if deep > 0 and r.random() < 0.38:
            r.choice(compound)(deep - 1)
        elif r.random() < 0.05:
            self.jump()
        else:
            r.choice(simple)()

    def assign(self):
        value = self.number()
        self.say("%s = %s" % (self.bind(self.fresh()), value))

    def augment(self):
        if not self.names:
            return self.assign()
        self.say("%s %s %s" % (self.random.choice(self.names), self.pick("+=", "-=", "//=", "*="), self.number(1)))
        self.say("%s = %s %% 100003" % ((self.random.choice(self.names),) * 2))

    def unpack(self):
        values = self.number(1), self.number(1), self.number(1)
        self.say("a, (b, *c) = %s, [%s, %s]" % values)
        self.say("c = len(c)")
        for name in "abc":
            self.bind(name)

    def attribute(self):
        self.say(self.pick("box.value = %s", "box.value += %s", "box.extra = %s", "box.more = [%s]") % self.number(1))

    def subscript(self):
        key = self.pick("0", "1", "-1", *(self.names or ["2"]))
        place = self.pick("items[%s]" % key, "table[%s]" % key, "table['a']", "table['new']", "rows[1][0]", "box.more[0]")
        self.say("%s %s %s" % (place, self.pick("=", "=", "+="), self.number(1)))

    def mutate(self):
        self.say(
            self.pick(
                "items.append(%s)", "table.update(x=%s)", "box.put(%s)", "items.insert(0, %s)", "rows.append([%s])",
                "table.pop('a', %s)", "items.extend([%s, 2])", "items.remove(%s)", "table.setdefault('s', %s)",
                "table.update({'u': %s})", "table.update(**{'k': %s})", "table.update([('l', %s)], m=2)", "seen.add(%s)",
                "seen.discard(%s)", "seen.update((%s, 1))", "seen |= {%s}", "items += [%s]", "queue.append(%s)",
                "queue.appendleft(%s)", "queue.extend([%s])", "rows[0].append(%s)", "rows[-1].extend([%s])",
                "box.more.append(%s)", "box.more.insert(0, %s)", "table[(1, %s)] = 2", "items[1:2] = [%s]",
                "log.append(%s)", "buffer.append(%s & 255)", "buffer.extend(b'ab' * (%s & 3))",
            )
            % self.number(1)
        )

    def mutate_plainly(self):
        self.say(
            self.pick(
                "items.pop()", "items.sort()", "items.sort(key=lambda v: -v)", "items.reverse()", "table.popitem()",
                "table.pop('zz', None)", "del table['a']", "del items[0]", "del items[:1]", "seen.pop()", "seen.clear()",
                "queue.popleft()", "queue.rotate(1)", "queue.pop()", "rows[1].clear()", "rows.pop()", "box.more.clear()",
                "seen.intersection_update({1, 2})", "seen.difference_update({1})", "items.clear()", "buffer.reverse()",
                "items.append(items.pop())", "table.update(table)", "box.more.pop()", "items.extend(items[:2])",
                "items.append(1); items.append(2)", "items.append(3); 1 // 0", "items.append(1 // 0)", "items = items[:2]; items.append(9)",
            )
        )

    def mutate_perhaps(self):
        a, b, c = self.number(1), self.number(1), self.condition(0)
        text = self.pick(
            "if C: items.append(A)", "C and items.append(A)", "items.append(A if C else B)", "items.append(A or B)",
            "[items.append(n) for n in (1, 2)]", "items.extend([n + 1 for n in items[:2] if n != A])",
            "items.append(max(n for n in [A, B]))", "(items if C else rows).append(A)", "table.update(x=A if C else B)",
            "for n in (1, 2): seen.add(n)", "items.append(box.put(A).value)", "None if C else items.sort()",
            "items.append(items.append(A) or B)", "seen.add(len(items)) if C else rows.append([B])",
        )
        # One pass: what is put in may have these letters.
        self.say("".join({"A": a, "B": b, "C": c}.get(it, it) for it in text))

    def mutate_long(self):
        self.say("items.append(")
        self.say("    %s" % self.number(1))
        self.say(")")
        self.say("table.update(")
        self.say("    x=%s," % self.number(0))
        self.say(")")

    def comprehension(self):
        name = self.fresh()
        text = self.pick(
            "[x * 2 for x in items if x != %s]", "{x: x + 1 for x in items[:3] if x > %s}",
            "{x %% 3 for x in items[:4] if x != %s}", "[(x, y) for x in items[:2] for y in (1, %s)]",
            "list(x + 1 for x in items if x != %s)", "[n for n in [m * 2 for m in items[:3]] if n != %s]",
        ).replace("%%", "%")
        self.say("%s = len(%s)" % (self.bind(name), text.replace("%s", self.number(0))))
        if self.random.random() < 0.3:
            self.say("%s = [" % name)
            self.say("    x + 1")
            self.say("    for x in items[:3]")
            self.say("    if x != %s" % self.number(0))
            self.say("]")
            self.say("%s = len(%s)" % (name, name))

    def call_statement(self):
        if self.functions:
            value = self.call()
            self.say("%s = %s" % (self.bind(self.fresh()), value))

    def delete(self):
        if self.names and self.random.random() < 0.3 and self.kind != "class":
            name = self.random.choice(self.names)
            self.say("del %s" % name)
            self.say("%s = 5" % name)
        else:
            self.say("table.setdefault('d', 1)")
            self.say("del table['d']")

    def several(self):
        self.say("a = %s; b = %s; c = a" % (self.number(1), self.number(1)))
        for name in "abc":
            self.bind(name)

    def long_line(self):
        name = self.fresh()
        self.say("%s = max(" % name)
        self.say("    %s," % self.number(1))
        self.say("    %s," % self.number(1))
        self.say(")")
        self.bind(name)

    def chain(self):
        self.say("a = b = items[0] = %s" % self.number(1))
        self.bind("a")
        self.bind("b")

    def lambda_(self):
        self.say("f = lambda x, y=2: x + y")
        value = self.number(0)
        self.say("%s = f(%s)" % (self.bind(self.fresh()), value))

    def text(self):
        self.say("s = f'{%s}-{%s!r:>4}'" % (self.number(0), self.number(0)))
        self.say("%s = len(s)" % self.bind(self.fresh()))

    def globals_(self):
        if self.kind == "function":
            self.say("total = bump(%s)" % self.number(0))
        else:
            self.assign()

    def slim(self):
        self.say("thin = Slim(%s, %s)" % (self.number(0), self.number(0)))
        self.say("thin.left = %s" % self.number(1))
        self.say("%s = thin.%s" % (self.bind(self.fresh()), self.pick("left", "right")))

    def swap(self):
        self.say("items[0], items[1] = items[1], items[0]")

    def if_(self, deep):
        self.say("if %s:" % self.condition())
        self.body(self.random.randint(1, 3), deep)
        if self.random.random() < 0.4:
            self.say("elif %s:" % self.condition(1))
            self.body(1, deep)
        if self.random.random() < 0.5:
            self.say("else:")
            self.body(self.random.randint(1, 2), deep)

    def for_(self, deep, then=None):
        if self.loops > 1:
            return self.assign()
        self.loops += 1
        was, self.in_loop = self.in_loop, True
        name = self.pick("i", "j", "i, j")
        over = self.pick("range(%d)" % self.random.randint(0, 4), "items[:3]", "list(table)[:2]", "(1, 1, 1)")
        if name == "i, j":
            over = "enumerate(items[:3])"
        self.say("for %s in %s:" % (name, over))
        self.body(self.random.randint(1, 3), deep)
        self.in_loop = was
        if then is not None:
            self.say("else:")
            self.body(1, deep)
        self.loops -= 1

    def for_else(self, deep):
        self.for_(deep, then=True)

    def while_(self, deep):
        if self.loops > 1:
            return self.assign()
        self.loops += 1
        was, self.in_loop = self.in_loop, True
        name = "w%d" % self.loops
        self.say("%s = %d" % (name, self.random.randint(0, 4)))
        self.say("while %s > 0%s:" % (name, self.pick("", " and %s" % self.condition(0))))
        self.depth += 1
        self.say("%s -= 1" % name)
        self.depth -= 1
        self.body(self.random.randint(1, 2), deep)
        self.in_loop = was
        self.loops -= 1

    def jump(self):
        if self.in_loop and self.random.random() < 0.6:
            self.say("if %s:" % self.condition(0))
            self.say("    %s" % self.pick("break", "continue"))
        elif self.random.random() < 0.5:
            self.say("if %s:" % self.condition(0))
            self.say("    raise %s" % self.pick("ValueError('odd')", "KeyError('k')", "RuntimeError(%s)" % self.number(0)))
        elif self.kind in ("function", "async"):
            self.say("if %s:" % self.condition(0))
            self.say("    return %s" % self.number(1))

    def try_(self, deep):
        self.say("try:")
        self.body(self.random.randint(1, 3), deep)
        for error in self.random.sample(["KeyError", "ZeroDivisionError", "(TypeError, ValueError)", "IndexError"], 2):
            self.say("except %s%s:" % (error, self.pick("", " as error")))
            self.body(1, deep)
            if self.random.random() < 0.15:
                self.say("    raise")
            elif self.random.random() < 0.1:
                self.say("    raise RuntimeError('again')%s" % self.pick("", " from None"))
        if self.random.random() < 0.5:
            self.say("except Exception as error:")
            self.say("    name = type(error).__name__")
        if self.random.random() < 0.3:
            self.say("else:")
            self.body(1, deep)
        if self.random.random() < 0.3:
            self.say("finally:")
            self.body(1, 0)

    def finally_(self, deep):
        self.say("try:")
        self.body(2, deep)
        self.say("finally:")
        self.body(1, 0)

    def with_(self, deep):
        self.say("with box%s:" % self.pick("", " as held", " as held, Box(2) as other"))
        self.body(self.random.randint(1, 2), deep)

    def match(self, deep):
        self.say("match %s:" % self.pick("items", "(a1, 2)", "table", "box").replace("a1", self.number(0)))
        self.depth += 1
        self.say("case [first, *rest] if first %s 1:" % self.pick("<", ">"))
        self.body(1, deep)
        self.say("case {'a': found}:")
        self.body(1, deep)
        self.say("case Box(value=v):")
        self.body(1, deep)
        self.say("case _:")
        self.body(1, deep)
        self.depth -= 1

    def nested(self, deep):
        if self.kind == "class":
            return self.assign()
        self.say("count = %s" % self.number(0))
        self.say("def inner(n):")
        self.say("    nonlocal count")
        self.say("    count = n if n else count")
        self.say("    held = [n]")
        self.say("    held.append(count)")
        self.say("    items.append(n)")
        self.say("    return count")
        value = self.number(0)
        self.say("%s = inner(%s)" % (self.bind(self.fresh()), value))

    # Functions.

    def function(self, index):
        kind = self.pick("function", "function", "function", "generator", "async", "method")
        name = "f%d" % index
        count = self.random.randint(1, 3)
        parameters = ["p", "q", "r"][:count]
        self.kind = "function" if kind == "method" else kind
        self.names = list(parameters)
        told = list(parameters)
        if self.random.random() < 0.3:
            told[-1] += "=4"
        if self.random.random() < 0.3:
            told.append("*rest")
        if self.random.random() < 0.2:
            told.append("key=1")
        if self.random.random() < 0.2:
            told.append("**named")
        if "*rest" not in told and "key=1" in told:
            told.remove("key=1")
        if self.random.random() < 0.15 and kind == "function":
            self.say("@decorate")
        self.say("%sdef %s(%s):" % ("async " if kind == "async" else "", name, ", ".join(told)))
        self.depth += 1
        self.say("items = [1, 2, 3, %s]" % self.names[0])
        self.say("table = {'a': 1, 'b': %s, 3: 4}" % self.names[0])
        self.say("rows = [[1], [2]]")
        self.say("seen, queue, buffer = {1, 5}, deque([1, 2]), bytearray(b'xy')")
        self.say("box = Box(%s)" % self.names[0])
        self.depth -= 1
        self.loops, self.in_loop = 0, False
        known = list(self.names)
        self.body(self.random.randint(2, 6), 3)
        self.names = known
        self.depth += 1
        if kind == "generator":
            self.say("got = yield %s" % self.number(1))
            self.say("for i in range(%d):" % self.random.randint(0, 3))
            self.say("    yield i + p")
            if self.random.random() < 0.4:
                self.say("yield from [1, 2]")
            if self.random.random() < 0.4:
                self.say("yield from (x for x in items[:2])")
        elif kind == "async":
            self.say("await asyncio.sleep(0)")
            self.say("a = await asyncio.gather(*[asyncio.sleep(0, n) for n in (1, 2)])")
            self.say("return len(a)")
        else:
            self.say("return %s" % self.number(1))
        self.depth -= 1
        self.say("")
        self.say("")
        self.functions.append((name, "function" if kind == "method" else kind, count))

    def whole(self):
        self.lines.extend(HEAD.splitlines())
        self.say("")
        self.say("")
        self.say("def bump(n):")
        self.say("    global total")
        self.say("    total = (total + n) % 1000")
        self.say("    return total")
        self.say("")
        self.say("")
        for index in range(self.random.randint(2, 5)):
            self.function(index)
        self.kind, self.names = "module", []
        self.say("items = [4, 3, 2, 1]")
        self.say("table = {'a': 1, 'b': 2}")
        self.say("rows = [[5], [6]]")
        self.say("seen, queue, buffer = {1, 5}, deque([1, 2]), bytearray(b'xy')")
        self.say("box = Box(1)")
        for name, kind, count in self.functions:
            for _ in range(self.random.randint(1, 3)):
                arguments = ", ".join(str(self.random.randint(-2, 9)) for _ in range(count))
                call = "%s(%s)" % (name, arguments)
                if kind == "generator":
                    call = self.pick("list(%s)", "next(%s)", "drive(%s)", "sum(%s)") % call
                elif kind == "async":
                    call = "asyncio.run(%s)" % call
                self.say("try:")
                self.say("    out = %s" % call)
                self.say("except Exception as error:")
                self.say("    out = type(error).__name__")
        text = "\n".join(self.lines) + "\n"
        drive = (
            "def drive(made):\n    found = [next(made)]\n    try:\n        found.append(made.send(3))\n"
            "        made.throw(ValueError('thrown'))\n    except (ValueError, StopIteration) as error:\n"
            "        found.append(1)\n    return found\n\n\n"
        )
        return text.replace("def bump(n):", drive + "def bump(n):", 1)


def program(seed):
    """The program of a seed; where that is none (`:=` where a comprehension takes none), the next one's."""
    for attempt in range(100):
        text = Program(seed + attempt * 1_000_000).whole()
        try:
            compile(text, "program", "exec")
        except SyntaxError:
            continue
        return text
    raise ValueError("no program of seed %d" % seed)


if __name__ == "__main__":
    import sys

    print(program(int(sys.argv[1])))
