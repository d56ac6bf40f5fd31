"""The real server as a process, with a person at its REST API and an agent at its MCP."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parents[3]
BINARY = os.environ.get("HOLDPOINT_BIN", str(WORKSPACE / "target/debug/holdpoint"))
PATIENCE = 60


def until(what, look, seconds=PATIENCE):
    """Asks again and again until there is an answer. For things that announce nothing."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, "%s did not happen" % what
        time.sleep(0.01)


class Server:
    def __init__(self, home, *arguments):
        self.home = home
        self._log = open(home / "server.log", "ab")
        env = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDPOINT", "CIDELDILL"))}
        env.update(HOLDPOINT_HOME=str(home), HOME=str(home))
        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", *arguments], env=env, stdout=self._log, stderr=self._log
        )
        self.port = until("a port file", self._port)
        self.url = "http://127.0.0.1:%d" % self.port
        until("an answer", lambda: self._answers())

    def _port(self):
        assert self.process.poll() is None, (self.home / "server.log").read_text()
        try:
            return int((self.home / "port").read_text())
        except (OSError, ValueError):
            return None

    def _answers(self):
        try:
            return self.rest("GET", "/healthz")[0] == 200
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()
        self._log.close()
        (self.home / "port").unlink(missing_ok=True)

    # --- A person at the REST API.

    def rest(self, method, path, body=None):
        """`(status, object)`."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, _json(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, _json(error.read())

    def ok(self, method, path, body=None):
        status, answer = self.rest(method, path, body)
        assert status == 200, (status, answer)
        return answer

    def set(self, name, before=None, after=None, replacement=None):
        quoted = urllib.request.quote(name, safe="")
        self.ok("POST", "/api/breakpoints", {"function_name": name})
        for route, value in (("behavior", before), ("after_behavior", after)):
            if value:
                self.ok("POST", "/api/breakpoints/%s/%s" % (quoted, route), {"behavior": value})
        if replacement:
            self.ok("POST", "/api/breakpoints/%s/replacement" % quoted, {"replacement_function": replacement})

    def paused(self):
        return until("a pause", lambda: self.ok("GET", "/api/paused")["paused"])[0]

    def resume(self, pause_id, **body):
        return self.ok("POST", "/api/paused/%s/continue" % pause_id, body)

    def evaluate(self, pause_id, expression):
        session = self.ok("POST", "/api/repl/start", {"pause_id": pause_id})["session_id"]
        return self.ok("POST", "/api/repl/%s/eval" % session, {"expr": expression})

    def records(self, name, count=1):
        """The records of a function, once there are so many; newest first."""

        def look():
            found = self.ok("GET", "/api/breakpoints/%s/history?limit=1000" % urllib.request.quote(name, safe=""))
            records = [entry["call_data"] for entry in found["history"]]
            return len(records) >= count and records

        return until("%d records of %s" % (count, name), look)


class Agent:
    """An MCP client on streamable HTTP, as small as one can be."""

    def __init__(self, server):
        self._url = server.url + "/mcp"
        self._session = None
        self._next = 0
        me = {"name": "test", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tools(self):
        return {tool["name"] for tool in self._ask("tools/list", {})["tools"]}

    def call(self, tool, **arguments):
        """The JSON of the tool's one text."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        [content] = result["content"]
        return json.loads(content["text"])

    def _ask(self, method, params):
        self._next += 1
        answer = self._send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        assert "result" in answer, answer
        return answer["result"]

    def _send(self, message):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._session:
            headers["Mcp-Session-Id"] = self._session
            headers["MCP-Protocol-Version"] = "2025-06-18"
        request = urllib.request.Request(self._url, json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            self._session = answer.headers.get("Mcp-Session-Id") or self._session
            if "id" not in message:
                return None
            if answer.headers.get_content_type() == "application/json":
                return _json(answer.read())
            for line in answer:
                if line.startswith(b"data:"):
                    found = _json(line[5:])
                    if isinstance(found, dict) and found.get("id") == message["id"]:
                        return found
        raise AssertionError("no answer to %r" % message)


def _json(data):
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "replace")
