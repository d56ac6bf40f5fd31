"""`python -m holdpoint [--watch NAMES]… (FILE | -m MODULE) [ARGUMENT…]`: an app with its calls recorded, unedited.

It only sets the environment and becomes the app: the same way as `holdpoint run`, so that what the app
starts is watched too.
"""

from __future__ import annotations

import os
import sys

from ._watched import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Mapping

_USAGE = """\
usage: python -m holdpoint [--watch NAMES]... (FILE | -m MODULE | -c CODE) [ARGUMENT...]

Starts a Python app with the named functions wrapped, also in the processes it starts.

  --watch NAMES   'pkg.module:func', 'pkg.module:Class.method', 'pkg.module', 'pkg.*';
                  several, separated by commas, or the option repeated.
                  The program itself: 'app:func' for app.py, or '__main__:func'.

Without --watch the client is only put where the app can import it.
The server is found by its port file; start one with `holdpoint serve`.
"""


def main(arguments: list[str]) -> int:
    watched, rest = [], list(arguments)
    while rest and rest[0].startswith("--"):
        option, equals, value = rest.pop(0).partition("=")
        if option == "--":
            break
        if option == "--help":
            sys.stdout.write(_USAGE)
            return 0
        if option != "--watch" or not (equals or rest):
            return _refuse("unknown option %s" % option if option != "--watch" else "--watch needs names")
        watched.append(value if equals else rest.pop(0))
    if not rest:
        return _refuse("no program")
    if watched and not parse(",".join(watched)):
        return _refuse("--watch names nothing")
    if sys.flags.isolated or sys.flags.ignore_environment or sys.flags.no_site:
        return _refuse("-I, -E and -S hide the environment by which the app is watched")
    become(rest, environment(os.environ, watched))
    return 0


def environment(env: Mapping[str, str], watched: list[str]) -> dict[str, str]:
    """What makes a Python process a watched one."""
    here = os.path.dirname(os.path.abspath(__file__))
    env = dict(env)
    paths = [os.path.join(here, "_boot"), os.path.dirname(here)]
    known = [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path and path not in paths]
    env["PYTHONPATH"] = os.pathsep.join(paths + known)
    if watched:
        env["HOLDPOINT_WATCH"] = ",".join(watched)
    return env


def become(program: list[str], env: dict[str, str]) -> None:
    import subprocess

    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    command = [sys.executable, *flags, *program]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execve(sys.executable, command, env)
    # Elsewhere `exec` leaves the terminal before the app ends.
    sys.exit(subprocess.call(command, env=env))


def _refuse(text: str) -> int:
    sys.stderr.write("error: %s\n%s" % (text, _USAGE))
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
