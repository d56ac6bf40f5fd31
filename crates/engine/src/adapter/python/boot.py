# Holdpoint: starts a Python program under its debugger: boot.py DEBUGPY-FOLDER [ARGUMENT…].
# Its children import this file, for the tracebacks. The debugger does not trace a file of this name.
import os
import sys


def is_ours(name):
    name = name.replace("\\", "/")
    is_runpy = name.endswith("/runpy.py") or name == "<frozen runpy>"
    return name == __file__ or is_runpy or "/debugpy/" in name or "/pydevd" in name


def hook(kind, error, trace):
    """Tracebacks begin with the program, not with the debugger that started it."""
    while trace is not None and is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def find_debugger(folder):
    here, name = os.path.split(os.path.abspath(__file__))
    # In safe-path mode Python does not put this script's folder there.
    if sys.path and sys.path[0] == here:
        del sys.path[0]
    if folder:
        # Only for the import: what lies beside it is not the program's.
        sys.path.insert(0, os.path.dirname(folder))
    from debugpy.common import log
    from debugpy.server import cli

    if folder:
        del sys.path[0]
    # For a log that nobody keeps it would read what every installed package says of itself, twice:
    # slow, and library code that runs before the first line.
    log.describe_environment = lambda header: None
    from _pydevd_bundle.pydevd_defaults import PydevdCustomization

    PydevdCustomization.PREIMPORT = here + ";" + os.path.splitext(name)[0]
    return cli


# Runs in the process before the debugger does. One that is still leaving would be taken for the new one, which then
# connects to nobody; and the program would wait for ever for one that is gone before it said what it wants.
BEFORE = """
def before(folder):
    import sys

    sys.path.insert(0, folder)
    try:
        import debugpy.server
        import pydevd
    finally:
        sys.path.remove(folder)
    from _pydev_bundle._pydev_saved_modules import time
    from _pydevd_bundle.pydevd_constants import get_global_debugger, set_global_debugger

    def wait_for_ready_to_run(self):
        while not self.ready_to_run and not self.pydb_disposed:
            self.process_internal_commands()
            self._py_db_command_thread_event.clear()
            self._py_db_command_thread_event.wait(0.01)

    pydevd.PyDB.wait_for_ready_to_run = wait_for_ready_to_run
    former = get_global_debugger()
    if former is not None:
        former.dispose_and_kill_all_pydevd_threads(wait=False)
        until = time.time() + 5
        while get_global_debugger() is former and time.time() < until:
            time.sleep(0.01)
        if get_global_debugger() is former:
            set_global_debugger(None)
"""


def prepare_injection(injector):
    """Puts the debugger into a process by our own hands: gdb may be missing, or too old for the processor."""
    import subprocess

    import debugpy
    import pydevd

    server = os.getppid()
    folder = os.path.join(os.path.dirname(pydevd.__file__), "pydevd_attach_to_process")
    sys.path.append(folder)
    import add_code_to_python_process as attach

    usual = attach.run_python_code
    call = "before(%r)" % os.path.dirname(os.path.dirname(os.path.abspath(debugpy.__file__)))
    # Without a quote in it: it becomes part of other languages' texts.
    first = "exec(bytes(%s).decode(), {});" % list((BEFORE + call).encode())

    def run(pid, python_code, **more):
        if os.getppid() != server:
            sys.exit("nobody waits for the debugger any more")
        if not injector:
            return usual(pid, first + python_code, **more)
        library = attach.get_target_filename()
        subprocess.check_call([injector, "inject", str(pid), library, "DoAttach", first + python_code])

    attach.run_python_code = run


if sys.excepthook is sys.__excepthook__:
    sys.excepthook = hook
if __name__ == "__main__":
    cli = find_debugger(sys.argv[1])
    del sys.argv[1]
    injector = os.environ.pop("HOLDPOINT_INJECTOR", None)
    if sys.argv[3:4] == ["--pid"]:
        prepare_injection(injector)
    cli.main()
