"""What the tests of the recorder share: the compiled library, the Pythons of this machine, and one way to record."""

import glob
import itertools
import json
import os
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
NATIVE = os.path.join(ROOT, "../../../recorder/python")
sys.path.insert(0, HERE)
sys.path.insert(0, ROOT)

import decode


def pythons():
    """By version, the interpreters that are here: `3.9` to `3.14`."""
    found = {}
    home = os.environ.get("PYENV_ROOT") or os.path.join(os.path.expanduser("~"), ".pyenv")
    for minor in range(9, 15):
        version = "3.%d" % minor
        named = sorted(glob.glob(os.path.join(home, "versions", version + ".*", "bin", "python")))
        on_path = shutil.which("python" + version)
        if named or on_path:
            found[version] = named[-1] if named else on_path
    found.setdefault("%d.%d" % sys.version_info[:2], sys.executable)
    return found


PYTHONS = pythons()
COMPILED = [it for it in ("3.12", "3.13", "3.14") if it in PYTHONS]
# The oldest that is served, the newest without `sys.monitoring`, and one that has it.
PURE = [it for it in ("3.9", "3.11", "3.13") if it in PYTHONS]


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The compiled half, built by `rustc` alone, or as the environment names it."""
    named = os.environ.get("HOLDPOINT_RECORD_LIBRARY")
    if named:
        return named
    out = str(tmp_path_factory.mktemp("library") / "holdpoint_record.so")
    subprocess.run([os.path.join(NATIVE, "build.sh"), out], check=True)
    return out


class Recording:
    def __init__(self, folder, done):
        self.folder, self.done = folder, done
        self.streams = decode.read(folder)

    @property
    def stream(self):
        assert len(self.streams) == 1, [it.process for it in self.streams]
        return self.streams[0]

    @property
    def frames(self):
        return decode.frames(self.stream)

    def of(self, name):
        return [it for it in self.frames if it.function["qualified"] == name]

    def records(self, kind):
        return [it for stream in self.streams for it in stream.records if it[0] == kind]


@pytest.fixture
def record(tmp_path, library):
    """`record(text, version="3.13", way="native", …)` runs a program recorded."""

    numbers = itertools.count()

    def run(text, version=(COMPILED or PURE)[-1], way="native", arguments=None, limit=120, env=None, is_recorded=True, python=None, **config):
        place = tmp_path / "program"
        place.mkdir(exist_ok=True)
        script = place / "main.py"
        script.write_text(text, encoding="utf-8")
        folder = tmp_path / ("recording%d" % next(numbers))
        folder.mkdir()
        settings = {"version": 1, "roots": [str(place)], "key": "0011", **config}
        (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDPOINT", "PYTHON", "PYTEST"))}
        if is_recorded:
            environment["HOLDPOINT_RECORD"] = str(folder / "config.json")
            environment["HOLDPOINT_RECORD_LIBRARY"] = library if way == "native" else os.devnull + "/none"
            environment["PYTHONPATH"] = ROOT
        environment.update(env or {})
        command = [python or PYTHONS[version], *(arguments or [str(script)])]
        done = subprocess.run(
            command, env=environment, cwd=place, capture_output=True, text=True, timeout=limit, errors="replace"
        )
        recording = Recording(str(folder), done)
        for stream in recording.streams:
            # Whoever was killed at once has written nothing yet.
            assert stream.process is None or stream.process["way"] == way
        return recording

    return run


def events(frame, *kinds):
    return [it for it in frame.events if it[0] in kinds]


def writes(frame):
    return [(it[1], repr(it[2])) for it in frame.events if it[0] == "write"]
