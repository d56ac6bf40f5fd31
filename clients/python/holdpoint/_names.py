"""What a function is called here: its own name, and `Class.method` for a method."""

from __future__ import annotations

import functools
import inspect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def name_of(target: Any) -> str:
    """The name of a callable: `load`, `Cart.total`, `Model.__call__`."""
    while isinstance(target, functools.partial):
        target = target.func
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None)
    if not isinstance(name, str):
        name = type(target).__qualname__ + ".__call__"
    return last_part(name)


def owner_name(target: Any) -> str:
    """What an object's methods are called after."""
    if inspect.ismodule(target):
        return target.__name__
    kind = target if isinstance(target, type) else type(target)
    return last_part(kind.__qualname__)


def last_part(qualname: str) -> str:
    """`outer.<locals>.Inner.method` is `Inner.method`: where it was defined is no part of its name."""
    return qualname.rsplit("<locals>.", 1)[-1]
