"""One Holdpoint server per test: in a home of its own, on a port of its own.

Over HTTP and SSE the test starts the server; over stdio the client does, as agents do. Either way the
server must end with code 0, leave nothing running, and have nothing to complain about.
"""

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import anyio

BINARY = os.environ["HOLDPOINT_BIN"]

# The SDKs hide the process they start, so a shell keeps its exit code for us.
KEEP_EXIT_CODE = '"$@"; echo $? > "$HOLDPOINT_HOME/exit-code"'

# stderr then tells how each call ended. What the SDK of the server says is judged where nothing is set.
TALKATIVE = "warn,rmcp=off,holdpoint=debug"


class Server:
    def __init__(self, home: Path, *options: str, log: str | None = None):
        self.home = home
        self.extra = options
        self.options = ["--port", "0", "--mcp-sse", *options]
        # HOME too: a server also writes its port where older clients look for it.
        self.env = {"HOLDPOINT_HOME": str(home), "HOME": str(home), "PATH": os.environ["PATH"]}
        if log:
            self.env["HOLDPOINT_LOG"] = log
        self.process: subprocess.Popen | None = None

    # Over HTTP and SSE.

    def start(self) -> "Server":
        with self.stderr_file() as stderr:
            self.process = subprocess.Popen(
                [BINARY, "serve", *self.options], env=self.env, stdin=subprocess.DEVNULL, stderr=stderr
            )
        return self

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def kill(self, pid: int | None) -> None:
        """Whatever happened, nothing is left running."""
        if self.process:
            self.process.kill()
            self.process.wait()
        elif pid and is_running(pid):
            os.kill(pid, signal.SIGKILL)

    # Over stdio.

    def stdio_command(self) -> tuple[str, list[str]]:
        return "/bin/sh", ["-c", KEEP_EXIT_CODE, "sh", BINARY, "mcp", *self.options]

    def exit_code(self, within: float = 5) -> int:
        path = self.home / "exit-code"
        return int(until(lambda: path.exists() and path.read_text().strip(), "the server to end", within))

    # Either.

    @property
    def url(self) -> str:
        path = self.home / "port"
        return f"http://127.0.0.1:{until(lambda: path.exists() and path.read_text(), 'the port file')}"

    def stderr_file(self):
        return (self.home / "stderr").open("a")

    @property
    def stderr(self) -> str:
        return (self.home / "stderr").read_text()

    async def said(self, text: str, times: int = 1, within: float = 5) -> None:
        """Waits until stderr has so many lines with the text."""
        with anyio.fail_after(within):
            while sum(text in line for line in self.stderr.splitlines()) < times:
                await anyio.sleep(0.005)

    def complaints(self) -> list[str]:
        return [line for line in self.stderr.splitlines() if re.search(r"\b(WARN|ERROR)\b|panicked", line)]


@contextmanager
def running(server: Server, transport: str):
    """A server that must end well: by itself when its stdio client goes, else when it is told to."""
    if transport == "stdio":
        yield server
        assert server.exit_code() == 0
    else:
        server.start()
        try:
            yield server
            assert server.stop() == 0
        finally:
            server.kill(None)
    assert not (server.home / "port").exists(), "the port file outlived the server"
    assert server.complaints() == []


def until(look, what: str, within: float = 5):
    """Looks until there is something to see."""
    deadline = time.monotonic() + within
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {within} s for {what}")
        time.sleep(0.005)
    return seen


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
