"""Does something with a module when it is imported, and imports nothing for that."""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import sys


def when(name, action):
    """`action(module)`, now or when the module comes."""
    module = sys.modules.get(name)
    if module is not None:
        action(module)
    else:
        sys.meta_path.insert(0, _Finder(name, action))


class _Finder:
    """Stands before the others until its module comes."""

    def __init__(self, name, action):
        self.name = name
        self.action = action

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        try:
            sys.meta_path.remove(self)
            for finder in list(sys.meta_path):
                if isinstance(finder, _Finder):
                    continue
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    self._follow(spec)
                    return spec
        except Exception:
            pass
        return None

    def _follow(self, spec):
        loader, action = spec.loader, self.action
        if loader is None or not hasattr(loader, "exec_module"):
            return
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            try:
                action(module)
            except Exception:
                pass

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass
