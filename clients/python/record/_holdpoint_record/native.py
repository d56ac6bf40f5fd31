"""The recorder of Python 3.12 and later: `sys.monitoring`, with a compiled library behind it."""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import os
import sys

from . import files

TOOLS = (3, 4)
NOTE, END, TEST = 0x07, 0x08, 0x09
LIBRARY = "holdpoint_record.so"


def open_recorder(settings):
    """A recorder that records, or None where the compiled library does not serve this Python."""
    if sys.version_info >= (3, 15) or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    if sys.implementation.name != "cpython" or sys.flags.optimize < 0:
        return None
    library = _load()
    if library is None or not _is_readable(library):
        return None
    tool = _claim()
    if tool is None:
        return None
    recorder = Native(settings, library, tool)
    if recorder.begin():
        return recorder
    sys.monitoring.free_tool_id(tool)
    return None


def _load():
    path = os.environ.get("HOLDPOINT_RECORD_LIBRARY")
    path = path or os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), LIBRARY)
    if not os.path.exists(path):
        return None
    try:
        from importlib.machinery import ExtensionFileLoader, ModuleSpec

        loader = ExtensionFileLoader("holdpoint_record", path)
        module = loader.create_module(ModuleSpec("holdpoint_record", loader, origin=path))
        loader.exec_module(module)
        return module
    except ImportError:
        return None


def _is_readable(library):
    """Whether the library finds the frames of this Python where it looks for them."""
    marker = object()
    return _first_local(marker, library.check)


def _first_local(marker, check):
    return bool(check(marker))


def _claim():
    for tool in TOOLS:
        try:
            sys.monitoring.use_tool_id(tool, "holdpoint")
            return tool
        except ValueError:
            pass
    return None


class Native:
    way = "native"

    def __init__(self, settings, library, tool):
        self.settings = settings
        self.library = library
        self.tool = tool
        self.level = "calls" if settings.level == "calls" else "lines"
        events = sys.monitoring.events
        self.local = events.PY_START | events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
        if self.level == "lines" or settings.focus:
            self.local |= events.LINE
        self._hashes = {}
        self._plan = None

    def begin(self):
        settings = self.settings
        made = self.library.open(
            (
                os.fsencode(settings.folder),
                settings.names,
                settings.plain,
                settings.prefixes,
                settings.key,
                int(settings.shown),
                int(self.level == "lines"),
                settings.events,
                settings.bytes,
                settings.whole_calls,
                settings.calls,
                settings.frame_lines,
                self._discover,
                _describe_thread,
                _current_task,
                sys.monitoring.DISABLE,
                int(settings.tail),
            )
        )
        if not made or not self.library.begin(files.process(self)):
            return False
        self._register()
        return True

    def _register(self):
        library, events = self.library, sys.monitoring.events
        callbacks = {
            events.PY_START: library.start,
            events.LINE: library.line,
            events.PY_RETURN: library.returned,
            events.PY_YIELD: library.yielded,
            events.PY_RESUME: library.resumed,
            events.PY_THROW: library.resumed,
            events.PY_UNWIND: library.unwound,
            events.RAISE: library.raised,
            events.RERAISE: library.raised_again,
            events.EXCEPTION_HANDLED: library.handled,
        }
        for event, callback in callbacks.items():
            sys.monitoring.register_callback(self.tool, event, callback)
        sys.monitoring.set_events(
            self.tool,
            events.PY_START
            | events.PY_THROW
            | events.PY_UNWIND
            | events.RAISE
            | events.RERAISE
            | events.EXCEPTION_HANDLED,
        )

    def _discover(self, code):
        """Called once for a code object that begins to run: its plan, or None if it is not recorded."""
        path = self.settings.path_of(code.co_filename)
        if path is None:
            return None
        try:
            if self._plan is None:
                from . import plan

                self._plan = plan.plan
            is_focused = self.settings.is_focused(code.co_name, code.co_qualname)
            has_lines = self.level != "calls" or is_focused
            found = self._plan(code, path, self._hash(path), self.library.weight, is_focused, has_lines)
            events = self.local
            if not has_lines:
                events &= ~sys.monitoring.events.LINE
            sys.monitoring.set_local_events(self.tool, code, events)
            return found
        except Exception as error:
            self.note({"lost": 1, "why": "no plan of %s: %s" % (code.co_qualname, type(error).__name__)})
            return None

    def _hash(self, path):
        if path not in self._hashes:
            self._hashes[path] = files.source_hash(path)
        return self._hashes[path]

    def note(self, about):
        self.library.told(NOTE, files.json_text(about))

    def test(self, about):
        self.library.told(TEST, files.json_text(about))
        self.library.flush()

    def flush(self):
        self.library.flush()

    def forked(self, pid):
        self.library.forked(pid)

    def in_child(self):
        self.library.child(files.process(self))

    def end(self, about):
        self.library.told(END, files.json_text(about))
        try:
            sys.monitoring.set_events(self.tool, 0)
        except ValueError:
            pass


def _describe_thread():
    """The name of the thread that runs, without asking anything of the program."""
    threading = sys.modules.get("threading")
    if threading is None:
        return "MainThread"
    import _thread

    known = threading.__dict__.get("_active")
    thread = known.get(_thread.get_ident()) if type(known) is dict else None
    name = getattr(thread, "__dict__", {}).get("_name") if thread is not None else None
    return name if type(name) is str else ""


def _current_task():
    """The task that runs and its name, or None."""
    asyncio = sys.modules.get("_asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        return None
    task = asyncio.current_task()
    if task is None:
        return None
    name = asyncio.Task.get_name(task) if type(task) is asyncio.Task else type(task).__name__
    return (task, name if type(name) is str else "")
