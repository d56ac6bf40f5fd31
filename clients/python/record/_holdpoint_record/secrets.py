"""What must not be written: the engine's rules, as far as the pure recorder needs them.

A name says secret, perhaps, or nothing (2, 1, 0); a value's own look says it too. A text that holds one inside is
written without it.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import re

from . import secret_rules as rules

_STEM = re.compile("|".join(rules.STEMS), re.I)
_WORD = re.compile(r"[A-Za-z0-9_\-.+/=~]{10,}")
_ADDRESS = re.compile(r"(://[^\s/:@?#\"']*:)([^\s/@\"']{1,200})(@)")
_PAIR = re.compile(r"([A-Za-z_][\w\-]{2,79})([\"']?\s{0,3}(?:=>|=|:)\s{0,3}[\"']?)([^\s\"',;&)}\]]{3,400})")
_BEARER = re.compile(r"((?:bearer|basic) )([A-Za-z0-9_\-.+/=~]{16,})", re.I)
_NOTHING = frozenset(
    "none null nil undefined true false nan redacted [redacted] <redacted> hidden <hidden> [filtered] <secret> 0".split()
)


def words(name):
    name = re.split(r"[.\[\"' (/:$@>{`]", name.strip().rstrip("]\"')(?!"))[-1]
    found = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+", name)
    found = [it.lower().rstrip("0123456789") or it.lower() for it in found]
    while len(found) > 1 and found[-1].isdigit():
        found.pop()
    return found


def weight_of(name):
    if len(name) > 80 or not _STEM.search(name):
        return 0
    found = words(name)
    if not found:
        return 0
    if len(found) > 1 and (found[-1] in rules.ABOUT or found[0] in rules.ASKED):
        ends = found[-2:] in (["session", "id"], ["sess", "id"]) or found[-3:] == ["access", "key", "id"]
        return int(ends)
    if "".join(found) in rules.SECRET_WHOLE:
        return 2
    if any(it in rules.SECRET or it in rules.SECRET_WHOLE for it in found):
        return 2
    for row in rules.SECRET_TOGETHER:
        if any(tuple(found[at : at + len(row)]) == row for at in range(len(found))):
            return 2
    is_other = any(it in rules.OF_ANOTHER_TRADE for it in found)
    return int(found[-1] in rules.PERHAPS and not is_other)


def is_nothing(value):
    value = value.strip()
    return (
        all(it in "*•…" for it in value)
        or len(value) >= 3
        and all(it in ".xX-_" for it in value)
        or value.startswith("‹")
        or value.lower() in _NOTHING
    )


def is_random(value):
    size = len(value)
    if not 16 <= size <= 4096 or not re.fullmatch(r"[A-Za-z0-9_\-.+/=~]+", value):
        return False
    digits = sum(it.isdigit() for it in value)
    upper = sum(it.isupper() for it in value)
    lower = sum(it.islower() for it in value)
    if value.startswith("/") or (size - digits - upper - lower) * 5 > size:
        return False
    if re.fullmatch("[0-9a-fA-F]+", value):
        return digits > 0 and upper + lower > 0 and size >= 20
    classes = [0 if it.isdigit() else 1 if it.isupper() else 2 if it.islower() else 3 for it in value]
    changes = sum(a != b for a, b in zip(classes, classes[1:]))
    is_mixed = digits * 12 >= size and upper + lower > 0
    return is_mixed and changes * 4 >= size or (upper > 2 and lower > 2 and changes * 3 >= size)


def starts_as_key(word):
    word = word.rstrip(".-=")
    for start, least in rules.BEGINNINGS:
        if word.startswith(start) and len(word) >= least and _is_key_behind(word, start):
            return True
    return False


def _is_key_behind(word, start):
    rest = word[len(start) :]
    if start in ("AKIA", "ASIA"):
        return re.fullmatch("[A-Z0-9]{16}", rest) is not None
    if start in ("SK", "dapi", "key-", "pat-"):
        return re.fullmatch("[0-9a-fA-F]{32,}", rest) is not None
    if start == "eyJ":
        return word.count(".") == 2 and any(it.isupper() for it in rest)
    return sum(it.isdigit() for it in rest) >= 2 and any(it.isalpha() for it in rest)


class Secrets:
    def __init__(self, settings):
        self.shown = settings.shown
        self.names = frozenset("".join(words(it)) for it in settings.names)
        self.plain = frozenset("".join(words(it)) for it in settings.plain)
        self.prefixes = settings.prefixes
        self.key = settings.key
        self._weights = {}

    def weight(self, name):
        known = self._weights.get(name)
        if known is None:
            known = self._weight(name)
            if len(self._weights) < 20_000:
                self._weights[name] = known
        return known

    def _weight(self, name):
        if self.shown:
            return 0
        if self.names or self.plain:
            joined = "".join(words(name))
            if joined in self.plain:
                return 0
            if joined in self.names:
                return 2
        return weight_of(name)

    def is_secret(self, weight, text):
        if self.shown:
            return False
        if weight == 2 and not is_nothing(text) or weight == 1 and is_random(text):
            return True
        if len(text) < 10 and not self.prefixes:
            return False
        whole = text.strip()
        if whole.startswith("-----BEGIN") and "PRIVATE KEY" in whole[:60]:
            return True
        if self.prefixes and whole.startswith(self.prefixes):
            return True
        return len(whole) >= 20 and _WORD.fullmatch(whole) is not None and starts_as_key(whole)

    def without(self, text):
        if self.shown or len(text) < 10:
            return text
        if "-----BEGIN" in text and "PRIVATE KEY" in text:
            return self.told(text, "private key")
        text = _WORD.sub(lambda it: self.told(it[0]) if len(it[0]) >= 20 and starts_as_key(it[0]) else it[0], text)
        if "://" in text:
            text = _ADDRESS.sub(lambda it: it[1] + self.told(it[2]) + it[3], text)
        # Before pairs: `Authorization: Bearer x` would lose its scheme and keep its key.
        if "earer " in text or "asic " in text:
            text = _BEARER.sub(lambda it: it[1] + self.told(it[2]), text)
        if "=" in text or ":" in text:
            text = _PAIR.sub(self._pair, text)
        return text

    def _pair(self, it):
        name, sign, value = it[1], it[2], it[3]
        weight = self.weight(name)
        if weight and "‹" not in value and self.is_secret(weight, value):
            return name + sign + self.told(value)
        return it[0]

    def told(self, value, form="str"):
        many = "character" if len(value) == 1 else "characters"
        mark = self.mark(value.encode("utf-8", "backslashreplace")).hex()
        return "‹secret %s, %d %s, #%s›" % (form, len(value), many, mark)

    def mark(self, data):
        from hashlib import sha256

        return sha256(self.key + data).digest()[:2]
