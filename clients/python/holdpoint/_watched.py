"""Which functions `--watch` names.

`pkg.module:func`, `pkg.module:Class.method`, `pkg.module:Class.*`   these functions
`pkg.module`                                                         every function of the module
`pkg.*`                                                              every function of the package and what is in it

Several are separated by commas. The program itself goes by the name of its file (`app` for `app.py`) or by
`__main__`. This module is loaded into every Python process that is started under `holdpoint run`: it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Pattern:
    __slots__ = ("text", "module", "function")

    def __init__(self, text: str) -> None:
        self.text = text
        module, colon, function = text.partition(":")
        self.module = module
        self.function = function if colon else "*"

    def names_module(self, module: str) -> bool:
        if self.module.endswith(".*"):
            package = self.module[:-2]
            return module == package or module.startswith(package + ".")
        return self.module == "*" or module == self.module

    def names_function(self, qualname: str) -> bool:
        if self.function.endswith("*"):
            return qualname.startswith(self.function[:-1])
        return qualname == self.function

    def names_one(self) -> bool:
        """Whether it names a single function of a single module."""
        return "*" not in self.text and ":" in self.text


def parse(text: str) -> list[Pattern]:
    return [Pattern(part.strip()) for part in (text or "").split(",") if part.strip()]
