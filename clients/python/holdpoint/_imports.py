"""Wraps the watched functions while their modules are imported, with no edit of the app.

A watched module with source is compiled with one decorator more on each watched `def`, put innermost, so that whatever
the app's own decorators register is already the wrapped function. The compiled form is never cached on disk.
What is no `def` (an alias, a C function) is wrapped after the import, and only where it was named by itself.
The program file itself is reached by a path hook: the interpreter asks for an importer of it before it runs it.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import os
import sys

from . import _say as say
from ._watched import Pattern, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DECORATOR = "__holdpoint_watch__"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_patterns: list[Pattern] = []
_wrapped: set[str] = set()
# True while the client itself is imported: modules that it imports wait here for it.
_loading = False
_waiting: list[tuple[Any, str]] = []


def install(text: str) -> None:
    """Watches from now on. What is imported already is wrapped where it stands."""
    global _patterns
    first = not _patterns
    _patterns = parse(text)
    if not first or not _patterns:
        return
    setattr(builtins, _DECORATOR, _decorator)
    sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
    sys.path_hooks.insert(0, _script_hook)
    for name in list(sys.modules):
        if name != "__main__" and not name.startswith("holdpoint"):
            _wrap_named(sys.modules.get(name), name)


def watches_module(name: str) -> bool:
    return any(pattern.names_module(name) for pattern in _patterns)


def watches(modules: Any, qualname: str) -> bool:
    return any(
        pattern.names_function(qualname) and any(pattern.names_module(name) for name in modules)
        for pattern in _patterns
    )


# --- Compiling with one decorator more.


def transformed(source: Any, path: str, module: Any, aliases: tuple[Any, ...] = (), before: Any = "") -> Any:
    """The code of a module with its watched functions wrapped; `before` runs first in it."""
    tree = ast.parse(source, path)
    at = _opening(tree.body)
    tree.body[at:at] = ast.parse(before).body
    _Decorating(module, (module, *aliases)).visit_body(tree.body, "")
    return compile(tree, path, "exec", dont_inherit=True)


class _Decorating:
    def __init__(self, module: Any, names: Any) -> None:
        self._module = module
        self._names = names

    def visit_body(self, body: Any, prefix: Any) -> None:
        for node in body:
            if isinstance(node, _FUNCTIONS):
                self._function(node, prefix + node.name)
            elif isinstance(node, ast.ClassDef):
                self.visit_body(node.body, "%s%s." % (prefix, node.name))
            else:
                # `if`, `try`, `with` at the top: what is defined there belongs to the module too.
                for field in ("body", "orelse", "finalbody"):
                    self.visit_body(getattr(node, field, None) or (), prefix)
                for handler in getattr(node, "handlers", None) or ():
                    self.visit_body(handler.body, prefix)

    def _function(self, node: Any, qualname: str) -> None:
        name = node.name
        if name[:2] == "__" == name[-2:] and name != "__call__":
            # Special methods run in the middle of anything, `__init__` with an object that is not one yet:
            # they are watched only when named.
            if not any(p.names_one() and p.function == qualname for p in _patterns):
                return
        if not watches(self._names, qualname) or any(_is_overload(d) for d in node.decorator_list):
            return
        call = ast.Call(
            func=ast.Name(id=_DECORATOR, ctx=ast.Load()),
            args=[ast.Constant(self._module), ast.Constant(qualname)],
            keywords=[],
        )
        # On the line of the `def`, so that the function still begins where it began.
        part: Any
        for part in ast.walk(call):
            part.lineno = part.end_lineno = node.lineno
            part.col_offset = part.end_col_offset = node.col_offset
        node.decorator_list.append(call)


def _opening(body: Any) -> int:
    """How many statements must stay first: the docstring and what is imported from the future."""
    count = 0
    for node in body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and count == 0
        if not is_text and getattr(node, "module", None) != "__future__":
            break
        count += 1
    return count


def _is_overload(decorator: Any) -> bool:
    return getattr(decorator, "attr", getattr(decorator, "id", None)) == "overload"


def _decorator(module: Any, qualname: str) -> Any:
    def wrap_one(function: Any) -> Any:
        try:
            return _wrap(function, "%s:%s" % (module, qualname))
        except Exception as error:
            say.once("watch", "%s:%s is not wrapped: %s" % (module, qualname, error))
            return function

    return wrap_one


def _load() -> None:
    """The client itself is loaded by the first function that is watched, not by every Python process."""
    global _loading
    _loading = True
    try:
        from . import _api  # noqa: F401
    finally:
        _loading = False
    while _waiting:
        _wrap_named(*_waiting.pop())


def _wrap(function: Any, name: str) -> Any:
    if _loading:
        raise RuntimeError("the client itself needs its module")
    if "holdpoint._api" not in sys.modules:
        _load()
    from ._api import _marked
    from ._runtime import runtime
    from ._settings import environment_mode
    from ._wrap import wrap

    if runtime.mode is None:
        mode, _ = environment_mode()
        runtime.switch("VERBOSE" if mode == "VERBOSE" else "ON")
    _wrapped.add(name)
    point = runtime.point(name, function, "function")
    return _marked(wrap(point, function), point)


# --- Modules.


class _Finder:
    """Lets the others find, and changes how a watched module is loaded."""

    def find_spec(self, fullname: str, path: str | None = None, target: Any = None) -> Any:
        if fullname.startswith("holdpoint") or not watches_module(fullname):
            return None
        finder: Any
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                # A package without a file of its own has no functions.
                if spec.origin is not None and spec.origin != "namespace":
                    spec.loader = _watched_loader(spec.loader)
                return spec
        return None


def _watched_loader(loader: Any) -> Any:
    if type(loader) is importlib.machinery.SourceFileLoader:
        return _SourceLoader(loader.name, loader.path)
    if loader is not None and hasattr(loader, "exec_module"):
        return _Loader(loader)
    return loader


class _SourceLoader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        try:
            return transformed(self.get_data(path), path, self.name)
        except (SyntaxError, ValueError, RecursionError):
            # Its own error is what the app would see without us.
            return super().get_code(fullname)

    def exec_module(self, module: Any) -> None:
        super().exec_module(module)
        _wrap_named(module, self.name)


class _Loader:
    """Any other way to load a module: as it is, and the functions that were named are wrapped afterwards."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._loader.exec_module(module)
        module.__loader__ = self._loader
        _wrap_named(module, module.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _wrap_named(module: Any, name: str) -> None:
    """What was named by itself and is no `def` of a source that was compiled here."""
    if module is None:
        return
    if _loading:
        _waiting.append((module, name))
        return
    for pattern in _patterns:
        full = "%s:%s" % (name, pattern.function)
        if not pattern.names_one() or pattern.module != name or full in _wrapped:
            continue
        *outer, last = pattern.function.split(".")
        owner = module
        try:
            for part in outer:
                owner = getattr(owner, part)
            found = getattr(owner, last)
            if callable(found) and not isinstance(found, type):
                setattr(owner, last, _wrap(found, full))
                continue
            reason = "is no function"
        except Exception as error:
            reason = "cannot be wrapped (%s)" % error
        say.once("watch " + full, "--watch %s: %s" % (full, reason))


# --- The program file.


def _script_hook(path: str) -> Any:
    """Called by the interpreter with the file it is about to run; any other entry of the path is not ours."""
    if path.endswith((".zip", ".egg", ".whl")) or not os.path.isfile(path) or not watches_main(path):
        raise ImportError
    with open(path, "rb") as file:
        if b"PK\x05\x06" in file.read()[-65557:]:
            raise ImportError  # An application in a zip file.
    sys.path_hooks.remove(_script_hook)
    return _ScriptFinder(path)


def watches_main(path: str) -> bool:
    return watches_module("__main__") or watches_module(stem(path))


def stem(path: str) -> str:
    # By hand: the functions of `os.path` may be watched themselves.
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[0] or name


class _ScriptFinder:
    def __init__(self, path: str) -> None:
        self._path = path

    def find_spec(self, fullname: str, target: Any = None) -> Any:
        if fullname != "__main__":
            return None
        return importlib.machinery.ModuleSpec("__main__", self, origin=self._path)  # type: ignore[arg-type]

    def invalidate_caches(self) -> None:
        pass

    def create_module(self, spec: Any) -> Any:
        return None

    def exec_module(self, module: Any) -> None:
        raise ImportError("only run as the program")

    def get_code(self, fullname: str) -> Any:
        """Also puts right what differs from a plain start: the first entry of the path and a few names."""
        path = self._path
        with open(path, "rb") as file:
            source = file.read()
        sys.path_importer_cache.pop(path, None)
        if sys.path and sys.path[0] == path:
            sys.path[0] = os.path.dirname(os.path.realpath(path))
        return transformed(source, path, stem(path), ("__main__",), before=_PLAIN_NAMES)


# The names that a plain start gives the program; what starts other processes looks at them.
_PLAIN_NAMES = "__spec__ = __package__ = __cached__ = None"
