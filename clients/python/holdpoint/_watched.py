"""Which functions `--watch` names.

`pkg.module:func`, `pkg.module:Class.method`, `pkg.module:Class.*`   these functions
`pkg.module`                                                         every function of the module
`pkg.*`                                                              every function of the package and what is in it

Several are separated by commas. The program itself goes by the name of its file (`app` for `app.py`) or by
`__main__`. This module is loaded into every Python process that is started under `holdpoint run`: it imports nothing.
"""


class Pattern:
    __slots__ = ("text", "module", "function")

    def __init__(self, text):
        self.text = text
        module, colon, function = text.partition(":")
        self.module = module
        self.function = function if colon else "*"

    def names_module(self, module):
        if self.module.endswith(".*"):
            package = self.module[:-2]
            return module == package or module.startswith(package + ".")
        return self.module == "*" or module == self.module

    def names_function(self, qualname):
        if self.function.endswith("*"):
            return qualname.startswith(self.function[:-1])
        return qualname == self.function

    def names_one(self):
        """Whether it names a single function of a single module."""
        return "*" not in self.text and ":" in self.text


def parse(text):
    return [Pattern(part.strip()) for part in (text or "").split(",") if part.strip()]
