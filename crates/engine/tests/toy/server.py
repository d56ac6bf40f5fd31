"""A debug server for a language of one statement per line.

    n = 2          sets a name
    n = n + 3
    print n
    exit 3         ends the program with a code
    ; a comment    with "slow" in the first line everything takes a while

It announces next to nothing and names no breakpoint that is hit, as some real ones do. It has a life of its own:
it says things of its own on stderr, and lives on when its program has ended, until it is told to go.
"""

import json
import sys
import threading
import time


class Server:
    def __init__(self):
        self.sending = threading.Lock()
        self.seq = 0
        self.lines = []
        self.breakpoints = set()
        self.names = {}
        self.at = 0
        self.stops_next = False
        self.may_go = threading.Semaphore(0)

    def send(self, kind, **message):
        with self.sending:
            self.seq += 1
            body = json.dumps({"seq": self.seq, "type": kind, **message}).encode()
            sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            sys.stdout.buffer.flush()

    def event(self, event, **body):
        self.send("event", event=event, body=body)

    def serve(self):
        print("toy server: ready", file=sys.stderr, flush=True)
        while True:
            length = 0
            while line := sys.stdin.buffer.readline().strip():
                length = int(line.split(b":")[1])
            if not length:
                return
            request = json.loads(sys.stdin.buffer.read(length))
            command, arguments = request["command"], request.get("arguments") or {}
            answer = {"request_seq": request["seq"], "command": command}
            try:
                body = getattr(self, "on_" + command)(arguments)
                self.send("response", success=True, body=body or {}, **answer)
            except Exception as error:
                self.send("response", success=False, message=str(error), **answer)
            if command == "launch":
                self.event("initialized")
            if command == "disconnect":
                return

    def on_initialize(self, _):
        return {"supportsConfigurationDoneRequest": True}

    def on_launch(self, arguments):
        with open(arguments["program"]) as file:
            self.lines = file.read().splitlines()
        self.stops_next = arguments["stopOnEntry"]

    def is_code(self, line):
        text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
        return text and not text.startswith(";")

    def on_setBreakpoints(self, arguments):
        asked = [it["line"] for it in arguments["breakpoints"]]
        if "slow" in self.lines[0]:
            self.breakpoints = set()
            time.sleep(0.3)
        self.breakpoints = {it for it in asked if self.is_code(it)}
        return {"breakpoints": [{"verified": bool(self.is_code(it)), "line": it} for it in asked]}

    def on_configurationDone(self, _):
        threading.Thread(target=self.run, daemon=True).start()

    def on_threads(self, _):
        return {"threads": [{"id": 1, "name": "main"}]}

    def on_stackTrace(self, _):
        source = {"path": self.program}
        return {"stackFrames": [{"id": 1, "name": "toy", "line": self.at, "column": 1, "source": source}]}

    def on_scopes(self, _):
        return {"scopes": [{"name": "Names", "variablesReference": 1, "expensive": False}]}

    def on_variables(self, _):
        one = lambda name, value: {"name": name, "value": repr(value), "variablesReference": 0}
        return {"variables": [one(*it) for it in self.names.items()]}

    def on_evaluate(self, arguments):
        return {"result": repr(self.value(arguments["expression"])), "variablesReference": 0}

    def on_pause(self, _):
        self.stops_next = True

    def on_continue(self, _):
        self.may_go.release()
        return {"allThreadsContinued": True}

    def on_next(self, _):
        self.stops_next = True
        self.may_go.release()

    on_stepIn = on_stepOut = on_next

    def on_disconnect(self, _):
        pass

    def value(self, text):
        return eval(text, {}, self.names)

    def run(self):
        code, reason = 0, "entry"
        for self.at, text in enumerate(self.lines, 1):
            if not self.is_code(self.at):
                continue
            if "slow" in self.lines[0]:
                time.sleep(0.05)
            if self.at in self.breakpoints or self.stops_next:
                reason = "breakpoint" if self.at in self.breakpoints else reason
                self.stops_next = False
                self.event("stopped", reason=reason, threadId=1, allThreadsStopped=True)
                self.may_go.acquire()
            reason = "step"
            word, _, rest = text.strip().partition(" ")
            if word == "print":
                self.event("output", category="stdout", output=f"{self.value(rest)}\n")
            elif word == "exit":
                code = self.value(rest)
                break
            else:
                self.names[word] = self.value(rest.partition("=")[2])
        self.event("exited", exitCode=code)
        self.event("terminated")


server = Server()
server.program = sys.argv[1]
server.serve()
