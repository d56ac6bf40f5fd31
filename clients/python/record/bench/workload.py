"""A program that is hard to record: small functions, short lines, values that change. It prints its CPU time."""

import sys
import time


def tokens(text):
    found, at = [], 0
    while at < len(text):
        letter = text[at]
        if letter.isspace():
            at += 1
            continue
        if letter.isdigit():
            start = at
            while at < len(text) and text[at].isdigit():
                at += 1
            kind, value = "number", int(text[start:at])
        else:
            kind, value = "sign", letter
            at += 1
        found.append((kind, value))
    return found


class Parser:
    def __init__(self, found):
        self.found = found
        self.at = 0

    def peek(self):
        if self.at < len(self.found):
            return self.found[self.at]
        return ("end", None)

    def take(self):
        token = self.peek()
        self.at += 1
        return token

    def sum(self):
        left = self.product()
        while self.peek()[1] in ("+", "-"):
            sign = self.take()[1]
            right = self.product()
            left = (sign, left, right)
        return left

    def product(self):
        left = self.atom()
        while self.peek()[1] in ("*", "/"):
            sign = self.take()[1]
            right = self.atom()
            left = (sign, left, right)
        return left

    def atom(self):
        kind, value = self.take()
        if kind == "number":
            return value
        inner = self.sum()
        self.take()
        return inner


def evaluate(tree):
    if type(tree) is int:
        return tree
    sign, left, right = tree
    a = evaluate(left)
    b = evaluate(right)
    if sign == "+":
        return a + b
    if sign == "-":
        return a - b
    if sign == "*":
        return a * b
    return safe(a, b)


def safe(a, b):
    try:
        result = a // b
    except ZeroDivisionError:
        result = None
    return result or 0


class Item:
    def __init__(self, name, price):
        self.name = name
        self.price = price
        self.qty = 0

    def add(self, n):
        self.qty += n
        if self.qty < 0:
            self.qty = 0
        return self.qty


class Stock:
    def __init__(self):
        self.items = {}

    def item(self, name):
        found = self.items.get(name)
        if found is None:
            found = Item(name, len(name) * 3)
            self.items[name] = found
        return found

    def move(self, name, n):
        item = self.item(name)
        return item.add(n)

    def worth(self):
        total = 0
        for item in self.items.values():
            total += item.qty * item.price
        return total


def histogram(values, width):
    bins = [0] * width
    top = 0
    for value in values:
        k = value % width
        bins[k] += 1
        if bins[k] > top:
            top = bins[k]
    return bins, top


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2:
            n = 3 * n + 1
        else:
            n //= 2
        steps += 1
    return steps


def squares(n):
    i = 0
    while i < n:
        yield i * i
        i += 1


def work(size):
    out = 0
    for i in range(size):
        text = "(%d + %d) * 3 - %d / (%d - %d)" % (i, i + 1, i * 7, i % 5, i % 3)
        out += evaluate(Parser(tokens(text)).sum())
    stock = Stock()
    for i in range(size * 12):
        stock.move("item%d" % (i % 40), i % 7 - 2)
    out += stock.worth()
    out += histogram([i * 37 % 1009 for i in range(size * 60)], 64)[1]
    for i in range(1, size * 3):
        out += collatz(i)
    for value in squares(size * 60):
        out += value & 1
    return out


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 700
    before = time.process_time()
    result = work(size)
    print("%.4f %d" % (time.process_time() - before, result))
