"""What the tests share: apps as real processes, and the server that each test talks to.

An app is a process of its own, because the client is one per process. `HOLDPOINT_PYTHON` runs the apps
by another Python than the tests.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from standin import KEY, StandIn

CLIENT = Path(__file__).resolve().parents[1]
PYTHON = os.environ.get("HOLDPOINT_PYTHON", sys.executable)
# Generous: the machine may be busy. Nothing is waited for by sleeping.
PATIENCE = 90

# A shell that starts us in the background lets us ignore Ctrl-C, and every app would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def standin():
    server = StandIn()
    yield server
    server.stop()


@pytest.fixture
def app(tmp_path):
    """Starts an app from its source: `app(source, url=…)`; ended with the test."""
    running = []

    def start(source, *arguments, url=None, options=(), **env):
        path = tmp_path / "app.py"
        path.write_text(textwrap.dedent(source))
        started = App([PYTHON, *options, str(path), *arguments], tmp_path, url, env)
        running.append(started)
        return started

    yield start
    for started in running:
        started.kill()


def environment(home, url, extra=()):
    key = Path(home) / "key"
    if not key.exists():
        key.touch(0o600)
        key.write_text(KEY)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDPOINT", "CIDELDILL"))}
    env.update(HOLDPOINT_HOME=str(home), HOME=str(home), PYTHONPATH=str(CLIENT), PYTHONDONTWRITEBYTECODE="1")
    env["PYTHONUNBUFFERED"] = "1"
    if url:
        env["HOLDPOINT_URL"] = url
    env.update(extra)
    return env


class App:
    def __init__(self, command, cwd, url, env):
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment(cwd, url, env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid
        self.lines = []
        self._said = threading.Condition()
        self._stderr = []
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=lambda: self._stderr.append(self.process.stderr.read()), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._said:
                self.lines.append(line.rstrip("\n"))
                self._said.notify_all()
        with self._said:
            self.lines.append(None)
            self._said.notify_all()

    def line(self, expected):
        """Waits until the app prints this line."""
        with self._said:
            said = self._said.wait_for(lambda: expected in self.lines or None in self.lines, PATIENCE)
            assert said and expected in self.lines, (expected, self.lines, self.stderr if None in self.lines else "")

    def tell(self, text="go"):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def end(self, code=0):
        """Waits for the end; what it printed."""
        found = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        assert found == code, (found, self.output, self.stderr)
        return self.output

    @property
    def output(self):
        return [line for line in self.lines if line is not None]

    @property
    def stderr(self):
        self._readers[1].join(PATIENCE)
        return "".join(self._stderr)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
