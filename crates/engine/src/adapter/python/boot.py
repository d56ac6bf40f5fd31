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


def inject_with(injector):
    """Puts the debugger into a process by our own hands: gdb may be missing, or too old for the processor."""
    import subprocess

    import pydevd

    folder = os.path.join(os.path.dirname(pydevd.__file__), "pydevd_attach_to_process")
    sys.path.append(folder)
    import add_code_to_python_process as attach

    def run(pid, python_code, **_):
        library = attach.get_target_filename()
        subprocess.check_call([injector, "inject", str(pid), library, "DoAttach", python_code])

    attach.run_python_code = run


if sys.excepthook is sys.__excepthook__:
    sys.excepthook = hook
if __name__ == "__main__":
    cli = find_debugger(sys.argv[1])
    del sys.argv[1]
    injector = os.environ.pop("HOLDPOINT_INJECTOR", None)
    if injector:
        inject_with(injector)
    cli.main()
