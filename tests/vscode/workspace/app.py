"""A program that adds, for the tests of VS Code."""


def add(left, right):
    result = left + right
    return result


total = 0
for turn in range(1, 6):
    total = add(total, turn)
    items = {"turn": turn, "total": total}
print(f"total {total}")
