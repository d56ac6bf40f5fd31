"""Values are read without the program's help, and secrets are not written."""

import pytest
from conftest import COMPILED, PURE, writes

BOTH = [(it, "native") for it in COMPILED] + [(it, "pure") for it in PURE]
both = pytest.mark.parametrize("version,way", BOTH)

HOSTILE = '''
import sys
class Trap(type):
    def __getattribute__(cls, name):
        if name.startswith("__") and name not in ("__name__",):
            return type.__getattribute__(cls, name)
        raise SystemError("metaclass")
    def __instancecheck__(cls, it):
        raise SystemError("isinstance")
    def __hash__(cls):
        raise SystemError("hash of a class")
    def __eq__(cls, other):
        raise SystemError("eq of a class")
def trap(self, *a, **k):
    print("RAN")
    raise SystemError("ran")
names = ("repr str eq ne hash len bool iter getattr getattribute setattr contains getitem call lt format reduce "
         "sizeof index int float next enter dir instancecheck missing length_hint").split()
class Evil(metaclass=Trap):
    __class__ = property(trap)
    __dict__ = property(trap)
    x = property(trap)
for name in names:
    type.__setattr__(Evil, "__%s__" % name, trap)
class EvilDict(dict):
    pass
class EvilList(list):
    pass
class EvilStr(str):
    pass
class EvilInt(int):
    pass
class EvilError(Exception):
    args = property(trap)
def see(*it):
    keep = it
    for one in it:
        last = one
    return keep
evil, d, l, s, i, e = object.__new__(Evil), EvilDict(a=1), EvilList([1]), EvilStr("text"), EvilInt(5), EvilError("m")
for kind in (EvilDict, EvilList, EvilStr, EvilInt, EvilError):
    for name in names:
        if name not in ("call",):
            try:
                setattr(kind, "__%s__" % name, trap)
            except TypeError:
                pass
out = see(evil, d, l, s, i, e, [evil], {"k": evil}, (evil,))
try:
    raise e
except EvilError as caught:
    held = caught
box = [evil, evil]
box[0] = evil
table = {}
table["k"] = evil
print("done")
'''


@both
def test_no_code_of_the_program_runs(record, version, way):
    config = {"focus": ["see", "<module>"]} if way == "pure" else {}
    found = record(HOSTILE, version, way, **config)
    assert found.done.stdout == "done\n", found.done.stdout + found.done.stderr
    assert found.records("END")
    (see,) = found.of("see")
    assert see.arguments[0].length == 9


@both
def test_builtins_may_be_anything(record, version, way):
    text = (
        "import builtins\ndef f(x):\n    return x\n"
        "for name in ('len', 'type', 'repr', 'isinstance', 'getattr', 'id', 'dict', 'list', 'str', 'open', 'print'):\n"
        "    setattr(builtins, name, None)\nf([1])\n"
    )
    found = record(text, version, way)
    assert found.done.returncode == 0, found.done.stderr
    assert repr(found.of("f")[0].end[1]).endswith("[1][1]")


@both
def test_kinds_of_values(record, version, way):
    text = (
        "import math\nclass Slim:\n    __slots__ = ('left', 'right')\n"
        "def f(x):\n    return None\n"
        "s = Slim(); s.left = 1\n"
        "for x in (None, True, 5, 1 << 70, 1.5, 'é' * 300, b'ab', [1] * 9, (1,), {2}, {'k': 1}, s, math, f, Slim, len, [[[[1]]]],"
        " '\\ud800'):\n    f(x)\n"
    )
    values = [it.arguments[0] for it in record(text, version, way).of("f")]
    kinds = [it.kind for it in values]
    assert kinds == [0, 2, 4, 5, 6, 7, 8, 9, 9, 9, 10, 11, 13, 13, 13, 13, 9, 7]
    assert values[3].data == 1 << 70 and values[5].length == 300 and len(values[5].data) == 200
    assert values[7].length == 9 and len(values[7].items) == 5
    assert values[11].items[0][0] == "left" and len(values[11].items) == 1
    inner = values[16].items[0]
    # The pure one goes one step less deep.
    assert (inner if way == "pure" else inner.items[0]).kind == 15


SECRETS = '''
class User:
    def __init__(self, name, password):
        self.name = name
        self.password = password
def login(user, password, token, options, url, cookie_age=3):
    api_key = "k" + password
    return {"session_token": token, "ok": True}
key = "sk-" + "Ab1" * 12
login(User("ann", "hunter22"), "hunter22", "ghp_" + "a1B2" * 9, {"passwd": "p4ssw0rd", "n": 1}, "pg://u:s3cretpw@h/db")
login(User("bob", None), "hunter22", "IDENT", {"deep": {"secret": ["s1", "s2"]}}, key)
def send(header):
    return len(header)
send("Authorization: Bearer " + "abc7Def8" * 3)
'''


@both
def test_secrets_are_not_written(record, version, way):
    found = record(SECRETS, version, way)
    import glob

    for path in glob.glob(found.folder + "/*.hps"):
        with open(path, "rb") as file:
            data = file.read()
        for secret in (b"hunter22", b"a1B2a1B2", b"p4ssw0rd", b"s3cretpw", b"Ab1Ab1", b"s1", b"s2", b"abc7Def8"):
            assert secret not in data, secret
    first, second = found.of("login")
    assert first.arguments[1].kind == 14 and first.arguments[1].data == second.arguments[1].data
    # A parser has tokens, too.
    assert second.arguments[2].kind == 7 and second.arguments[2].data == "IDENT"
    assert first.arguments[5].data == 3 and "‹secret" in first.arguments[4].data


@both
def test_own_names_are_secret_and_others_are_not(record, version, way):
    text = "def f(shoe_size, password):\n    return 1\nf('nine and a half', 'shown as it is')\n"
    found = record(text, version, way, secrets={"names": ["shoe_size"], "not": ["password"]})
    (frame,) = found.of("f")
    assert [it.kind for it in frame.arguments] == [14, 7]


def test_the_pure_recorder_has_the_engines_rules():
    import make_rules

    with open(make_rules.TARGET, encoding="utf-8") as file:
        assert file.read() == make_rules.text()
