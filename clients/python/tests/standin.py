"""A small server of the call protocol that can be told to misbehave.

The real server is never slow, never resets a connection and never answers nonsense, so what the client does then
is tried against this one: it speaks the same routes, remembers every request, and `fault` makes it fail.
"""

import hashlib
import hmac
import json
import base64
import itertools
import socket
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

# What the homes of apps hold, so that this server can prove to be theirs.
KEY = "5a" * 32
BEFORE = ("stop", "stop_exception")
AFTER_EXCEPTION = ("exception", "stop_exception")


class StandIn:
    def __init__(self, port=0):
        self.changed = threading.Condition(threading.RLock())
        self.run_id = uuid.uuid4().hex
        self.version = 1
        self.default = "stop"
        self.callpoints = {}
        self.values = {}
        self.functions = {}
        self.events = []
        self.records = []
        self.dropped = 0
        self.started = {}
        self.completed = []
        self.pauses = {}
        self.actions = {}
        self.evals = {}
        self.results = {}
        self.requests = []
        self.errors = []
        self.faults = {}
        self._ids = itertools.count(1)
        self.http = _Server(("127.0.0.1", port), _Handler)
        self.http.standin = self
        self.port = self.http.server_address[1]
        self.url = "http://127.0.0.1:%d" % self.port
        self._thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def stop(self):
        """As a killed server: nothing listens, and every connection is cut."""
        self.http.shutdown()
        self.http.server_close()
        with self.changed:
            self.version = -1
            self.changed.notify_all()
        self.http.cut()

    def fault(self, path, what):
        """`what(handler)` is run instead of the route, for paths that begin so. None takes it away."""
        with self.changed:
            self.faults[path] = what
            if what is None:
                del self.faults[path]

    def set(self, name, before="yield", after="yield", replacement=None):
        with self.changed:
            self.callpoints[name] = {"before": before, "after": after, "replacement": replacement}
            self._bump()

    def set_default(self, behavior):
        with self.changed:
            self.default = behavior
            self._bump()

    def unset(self, name):
        with self.changed:
            self.callpoints.pop(name, None)
            self._bump()

    def _bump(self):
        self.version += 1
        self.changed.notify_all()

    def wait(self, what, seconds=30):
        """Waits for a condition of this server to become true."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                found = what()
                if found:
                    return found
                left = deadline - time.monotonic()
                assert left > 0, "did not happen: %s" % what
                self.changed.wait(min(left, 0.5))

    def wait_for_watch(self, seconds=30):
        """Until the app holds a subscription with our version: then it knows the callpoints."""
        self.wait(lambda: getattr(self, "watched", None) == self.version, seconds)

    def wait_for_poll(self):
        """Until the app waits at a pause, and so knows that it is paused."""
        self.wait(lambda: any(path.startswith("/api/poll/") for _, path, _, _ in self.requests))

    def paused(self):
        return self.wait(lambda: list(self.pauses.values()))[0]

    def resume(self, pause_id, action="continue", **fields):
        with self.changed:
            self.actions[pause_id] = dict(fields, action=action)
            self.pauses.pop(pause_id, None)
            self.changed.notify_all()

    def evaluate(self, pause_id, expression, session="s", seconds=40):
        eval_id = uuid.uuid4().hex
        with self.changed:
            asked = {"eval_id": eval_id, "session_id": session, "pause_id": pause_id, "expr": expression}
            self.evals.setdefault(pause_id, []).append(asked)
            self.changed.notify_all()
        return self.wait(lambda: self.results.get(eval_id), seconds)

    # --- Routes. Each returns (status, object).

    def take(self, items):
        """Stores items with data; the CIDs of those that are unknown."""
        missing = []
        for item in items:
            if item.get("data") is not None:
                raw = base64.b64decode(item["data"])
                assert hashlib.sha512(raw).hexdigest() == item["cid"], "wrong CID"
                self.values[item["cid"]] = raw
        for item in items:
            if item["cid"] not in self.values:
                missing.append(item["cid"])
        return missing

    def proof(self, nonce):
        message = "holdpoint server\n%s\n127.0.0.1:%d" % (nonce, self.port)
        return hmac.new(KEY.encode(), message.encode(), hashlib.sha256).hexdigest()

    def watch(self, query):
        wait_s = float(query.get("wait_s", ["0"])[0])
        version = query.get("version", [None])[0]
        deadline = time.monotonic() + wait_s
        with self.changed:
            mine = self.watcher = object()
            self.watched = None if version is None else int(version)
            self.changed.notify_all()
            while version == str(self.version) and time.monotonic() < deadline:
                self.changed.wait(deadline - time.monotonic())
            if self.watcher is mine:
                self.watched = None
            return 200, {
                "version": self.version,
                "server": self.run_id,
                "default_behavior": self.default,
                "callpoints": self.callpoints,
            }

    def effective(self, name, which):
        callpoint = self.callpoints.get(name)
        if callpoint is None:
            return "go"
        return self.default if callpoint[which] == "yield" else callpoint[which]

    def start(self, body):
        with self.changed:
            missing = self.take([body["target"], *body["args"], *body["kwargs"].values()])
            if missing:
                return 400, {"error": "cid_not_found", "missing_cids": missing, "message": "Resend with full data"}
            call_id = "%.6f-%03d" % (time.time(), next(self._ids))
            self.started[call_id] = body
            answer = {"call_id": call_id, "action": "continue"}
            replacement = self.callpoints.get(body["method_name"], {}).get("replacement")
            if self.effective(body["method_name"], "before") in BEFORE:
                answer.update(self.pause(call_id, body, "before"))
            elif replacement:
                answer.update(action="replace", function_name=replacement)
            self.changed.notify_all()
            return 200, answer

    def complete(self, body):
        with self.changed:
            start = self.started.pop(body.get("call_id"), None)
            self.changed.notify_all()
            if start is None:
                return 200, {"status": "ok"}
            for role in ("result", "exception"):
                if body.get(role + "_data"):
                    self.take([{"cid": body[role + "_cid"], "data": body[role + "_data"]}])
            for pause_id, pause in list(self.pauses.items()):
                if pause["call_id"] == body["call_id"]:
                    del self.pauses[pause_id]
            self.completed.append(dict(body, start=start))
            wanted = AFTER_EXCEPTION if body["status"] == "exception" else BEFORE
            if self.effective(start["method_name"], "after") in wanted:
                return 200, self.pause(body["call_id"], start, "after", body)
            return 200, {"status": "ok"}

    def pause(self, call_id, start, when, end=None):
        pause_id = str(uuid.uuid4())
        self.pauses[pause_id] = {"id": pause_id, "call_id": call_id, "start": start, "when": when, "end": end}
        self.changed.notify_all()
        return {
            "action": "poll",
            "poll_interval_ms": 100,
            "poll_url": "/api/poll/" + pause_id,
            "timeout_ms": 60000,
        }

    def poll(self, pause_id, query):
        deadline = time.monotonic() + float(query.get("hold_s", ["0"])[0])
        with self.changed:
            while True:
                if pause_id in self.actions:
                    return 200, {"status": "ready", "action": self.actions[pause_id]}
                if self.evals.get(pause_id) or time.monotonic() >= deadline:
                    return 200, {"status": "waiting"}
                self.changed.wait(deadline - time.monotonic())

    def poll_repl(self, pause_id):
        with self.changed:
            queue = self.evals.get(pause_id)
            return 200, queue.pop(0) if queue else {"eval_id": None}

    def batch(self, body):
        with self.changed:
            self.take(body["values"])
            cids = [cid for call in body["calls"] for cid in [*call["args"], *call["kwargs"].values()]]
            missing = sorted({cid for cid in cids if cid not in self.values})
            self.records.extend(dict(call, pid=body["process_pid"]) for call in body["calls"])
            self.dropped += body["dropped"]
            self.changed.notify_all()
            return 200, {"status": "ok", "accepted": len(body["calls"]), "missing_cids": missing}

    def answer(self, method, path, query, body):
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if path == "/api/callpoints/watch":
            return self.watch(query)
        if path == "/api/proof":
            return 200, {"proof": self.proof(query["nonce"][0])}
        if path == "/api/call/start":
            return self.start(body)
        if path == "/api/call/complete":
            return self.complete(body)
        if path == "/api/call/batch":
            return self.batch(body)
        if parts[:2] == ["api", "poll"]:
            return self.poll(parts[2], query)
        if parts[:2] == ["api", "poll-repl"]:
            return self.poll_repl(parts[2])
        with self.changed:
            self.changed.notify_all()
            if path == "/api/functions" and method == "POST":
                self.functions[body["function_name"]] = body
            elif path == "/api/call/event":
                self.events.append(body)
            elif path == "/api/call/repl-result":
                self.results[body["eval_id"]] = body
            elif path == "/api/report-com-error":
                self.errors.append(body)
            elif parts[:2] == ["api", "paused"]:
                self.resume(parts[2])
            else:
                return 404, {"error": "not_found"}
        return 200, {"status": "ok"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, *args):
        self.open = set()
        super().__init__(*args)

    def process_request(self, request, client_address):
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        self.open.discard(request)
        super().shutdown_request(request)

    def cut(self):
        self.standin.watched = None
        for request in list(self.open):
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def handle_error(self, request, client_address):
        pass  # A client that went away.


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.handle_any()

    do_POST = do_GET

    def handle_any(self):
        standin = self.server.standin
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        split = urlsplit(self.path)
        body = json.loads(raw) if raw else None
        with standin.changed:
            standin.requests.append((self.command, split.path, body, self.client_address))
            standin.changed.notify_all()
            fault = next((do for path, do in standin.faults.items() if split.path.startswith(path)), None)
        if fault is not None and fault(self) is not CARRY_ON:
            return
        status, answer = standin.answer(self.command, split.path, parse_qs(split.query), body)
        if standin.version == -1:
            self.close_connection = True
            return
        self.reply(status, json.dumps(answer).encode())

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


# --- Faults.

CARRY_ON = object()


def status(code, text=b"{}"):
    def do(handler):
        handler.reply(code, text)

    return do


def reset(handler):
    """Cut off in the middle, as by a crash."""
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    handler.connection.close()


def garbage(handler):
    handler.wfile.write(b"\x00\xff this is not HTTP\r\n\r\n")
    handler.wfile.flush()
    handler.close_connection = True


def cut_off(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    handler.wfile.flush()
    handler.close_connection = True


def silent(handler):
    """Takes the request and says nothing until the other side gives up."""
    handler.close_connection = True
    handler.connection.settimeout(120)
    try:
        handler.connection.recv(1)
    except OSError:
        pass


def drip(handler):
    """One byte at a time, for ever: each byte comes in time, the answer never does."""
    handler.close_connection = True
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(2000):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass


def slow(seconds):
    def do(handler):
        time.sleep(seconds)
        return CARRY_ON

    return do
