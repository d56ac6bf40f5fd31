"""The settings of a recording: `config.json`, which the server wrote before the program started."""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import json
import os

EXCLUDED = (
    "site-packages",
    "dist-packages",
    "node_modules",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "__pycache__",
)


class Settings:
    def __init__(self, folder, config):
        self.folder = folder
        # What a caller names as a root is recorded even if it is itself in a folder of libraries.
        self.roots = [_folder(root) for root in _texts(config.get("roots"))]
        excluded = config.get("exclude")
        self.excluded = frozenset(_texts(excluded)) if excluded is not None else frozenset(EXCLUDED)
        level = config.get("level")
        self.level = level if level in ("calls", "lines") else "auto"
        self.focus = frozenset(_texts(config.get("focus")))
        limits = config.get("limits") or {}
        number = lambda name, default: limits[name] if type(limits.get(name)) is int else default
        self.events = number("events", 20_000_000)
        self.bytes = number("bytes", 256 << 20)
        # Calls of a function whose lines are all kept; its calls that are kept; the lines of one frame.
        self.whole_calls = number("whole_calls", 20)
        self.calls = number("calls", 200_000)
        self.frame_lines = number("frame_lines", 20_000)
        # Whether what is not written yet may be shown to others in a mapped file; the server knows the disk.
        self.tail = config.get("tail") is not False
        secrets = config.get("secrets") or {}
        self.shown = bool(secrets.get("shown"))
        self.names = tuple(_texts(secrets.get("names")))
        self.plain = tuple(_texts(secrets.get("not")))
        self.prefixes = tuple(_texts(secrets.get("prefixes")))
        self.key = bytes.fromhex(config.get("key") or "")
        self.cwd = os.getcwd()
        self.stdlib = _folder(os.path.dirname(os.path.abspath(os.__file__)))
        self._known = {}

    def path_of(self, filename):
        """The absolute path of a file that is to be recorded, else None."""
        try:
            return self._known[filename]
        except KeyError:
            path = self._path_of(filename)
            if len(self._known) < 50_000:
                self._known[filename] = path
            return path

    def _path_of(self, filename):
        if not filename or filename[0] == "<":
            return None
        path = filename
        # Mostly it is whole already, and then nothing is asked of `os.path`, whose builtins are the program's.
        if path[0] != os.sep or "/." in path or "//" in path:
            path = os.path.normpath(os.path.join(self.cwd, filename))
        for root in self.roots:
            # Python's own library may lie below a root, as a root may lie in it.
            if path.startswith(root) and (not path.startswith(self.stdlib) or root.startswith(self.stdlib)):
                folders = path[len(root) :].split(os.sep)[:-1]
                if not any(folder in self.excluded for folder in folders):
                    return path
        return None

    def is_focused(self, name, qualified):
        return bool(self.focus) and (name in self.focus or qualified in self.focus)


def read(path):
    try:
        with open(path, "rb") as file:
            config = json.load(file)
        if config.get("version") != 1:
            return None
        return Settings(os.path.dirname(os.path.abspath(path)), config)
    except Exception:
        return None


def _texts(value):
    return [it for it in value if type(it) is str] if isinstance(value, list) else []


def _folder(path):
    path = os.path.normpath(path)
    return path if path.endswith(os.sep) else path + os.sep
