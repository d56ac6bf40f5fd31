"""A module that the pickles' classes are imported from, as most classes are."""

import collections
import dataclasses
import enum


@dataclasses.dataclass
class Item:
    name: str
    price: float = 1.5


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1
        self.b = [2]


Point = collections.namedtuple("Point", "x y")


class Failed(Exception):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return Failed, (self.args[0], self.code)


class Stack(list):
    pass


class Registry(dict):
    pass


class Cart:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)


class Counted:
    def __getstate__(self):
        return 7

    def __setstate__(self, state):
        pass


class Node:
    def __init__(self, parent=None):
        self.parent = parent
        self.children = []


def total(items, *, tax=0.2):
    return sum(items) * (1 + tax)
