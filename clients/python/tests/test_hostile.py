"""Whatever the environment says and whatever is closed: the app runs as it would without us."""

import os

import pytest

from conftest import PYTHON, App

SELL = """
    import holdpoint, sys
    holdpoint.with_debug()
    @holdpoint.debug
    def charge(amount):
        return amount
    print([charge(n) for n in range(3)])
"""
SOLD = ["[0, 1, 2]"]
# Each is what a shell, a template or a hand may leave in a variable.
WRONG = ["http://[::1", "http://[::1]:x", "http://127.0.0.1:99999", "http://127.0.0.1:0", "https://localhost:1", "5174",
         "http://", "://", " ", "http://10.0.0.1:5174", "http://localhost:5174\nx", "\udcff"]


def said(run):
    return [line for line in run.stderr.splitlines() if line.startswith("holdpoint:")]


@pytest.mark.parametrize("url", WRONG)
@pytest.mark.parametrize("name", ["HOLDPOINT_URL", "CIDELDILL_SERVER_URL"])
def test_a_wrong_address_is_said_once_and_the_app_runs(app, name, url):
    run = app(SELL, **{name: url, "HOLDPOINT": "ON"})
    assert run.end() == SOLD
    assert len(said(run)) == 1, run.stderr
    assert "the server URL must be http://localhost" in run.stderr
    assert "from $%s" % name in run.stderr
    assert "hint: write it as http://127.0.0.1:5174" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("mode", ["ON http://[::1", "ON nonsense x y", "'ON", "MAYBE", "ON 'http://[::1"])
def test_a_wrong_mode_does_not_end_the_app(app, mode):
    run = app(SELL, HOLDPOINT=mode)
    assert run.end() == SOLD
    assert "Traceback" not in run.stderr


def test_a_wrong_address_leads_to_no_other_server(app, standin, tmp_path):
    """Whoever named a server did not mean the one that happens to run."""
    (tmp_path / "port").write_text(str(standin.port))
    assert app(SELL, HOLDPOINT="ON", HOLDPOINT_URL="http://[::1").end() == SOLD
    assert standin.records == []


@pytest.mark.parametrize("garbage", [b"", b"\xff\xfe", b"-5", b"99999999999999999999", b"0", b"12 34", b"\0" * 20])
def test_a_port_file_may_hold_anything(app, tmp_path, garbage):
    (tmp_path / "port").write_bytes(garbage)
    run = app(SELL, HOLDPOINT="ON")
    assert run.end() == SOLD
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_port_file_that_is_none_holds_nothing_up(app, tmp_path, make):
    """A pipe that nobody writes to was waited for, for ever."""
    make(tmp_path / "port")
    assert app(SELL, HOLDPOINT="ON").end() == SOLD


def test_a_token_of_several_lines_is_one_header(app, standin):
    seen = []

    def look(handler):
        from standin import CARRY_ON

        seen.append((handler.headers.get("Authorization"), handler.headers.get("X")))
        return CARRY_ON

    standin.fault("/api", look)
    assert app(SELL, url=standin.url, HOLDPOINT="ON", HOLDPOINT_TOKEN="a\r\nX: y\udcff").end() == SOLD
    assert set(seen) == {("Bearer a X: y?", None)}


def shell(tmp_path, source, script, url, **env):
    """The app as a shell starts it: `script` has it as "$@"."""
    import textwrap

    path = tmp_path / "app.py"
    path.write_text(textwrap.dedent(source))
    return App(["sh", "-c", script, "sh", PYTHON, str(path)], tmp_path, url, env)


def test_without_a_stderr_the_apps_first_file_is_its_own(tmp_path):
    """Its descriptor is 2, where the client wrote what it had to say."""
    source = """
    import os
    file = open("ledger", "w")
    print(file.fileno())
    import holdpoint
    holdpoint.with_debug("ON")
    print(holdpoint.with_debug(len)("abc"))
    """
    run = shell(tmp_path, source, 'exec "$@" 2>&-', "http://127.0.0.1:9")
    assert run.end() == ["2", "3"]
    assert (tmp_path / "ledger").read_text() == ""


def test_a_stderr_that_nobody_reads_ends_nothing(tmp_path):
    source = """
    import os, signal, time
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    read, write = os.pipe()
    os.dup2(write, 2)
    os.close(read), os.close(write)
    import holdpoint
    holdpoint.with_debug("ON")
    print(holdpoint.with_debug(len)("abc"))
    """
    assert shell(tmp_path, source, 'exec "$@"', "http://127.0.0.1:9").end() == ["3"]


def test_a_full_stderr_holds_nothing_up(tmp_path):
    source = """
    import os
    read, write = os.pipe()
    os.dup2(write, 2)
    os.set_blocking(2, False)
    try:
        while True: os.write(2, b"x" * 65536)
    except BlockingIOError:
        os.set_blocking(2, True)
    import holdpoint
    holdpoint.with_debug("ON")
    print(holdpoint.with_debug(len)("abc"))
    """
    assert shell(tmp_path, source, 'exec "$@"', "http://127.0.0.1:9").end() == ["3"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_closed_connection_does_not_end_an_app_with_the_default_of_sigpipe(app, standin, asynchronous):
    """As a filter has it that wants to end with its reader."""
    standin.set("charge", before="go", after="stop")
    source = """
    import signal, sys, asyncio
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    import holdpoint
    holdpoint.with_debug("ON")
    """ + (
        """
    @holdpoint.debug
    async def charge(amount):
        print(sys.stdin.readline().strip())
        return "x" * amount
    print(len(asyncio.run(charge(3000000))))
    """
        if asynchronous
        else """
    @holdpoint.debug
    def charge(amount):
        print(sys.stdin.readline().strip())
        return "x" * amount
    print(len(charge(3000000)))
    """
    )
    run = app(source, url=standin.url)
    standin.wait(lambda: standin.started)
    standin.stop()
    run.tell("go")
    assert run.end() == ["go", "3000000"]


def test_warnings_as_errors_change_nothing(app, standin):
    """Threads beside a fork are warned of since Python 3.12."""
    source = """
    import os, holdpoint
    holdpoint.with_debug("ON")
    charge = holdpoint.with_debug(len)
    pid = os.fork()
    if pid == 0:
        charge("abc")
        os._exit(0)
    print(os.waitpid(pid, 0)[1], charge("ab"))
    """
    run = app(source, url=standin.url, options=("-W", "error"))
    assert run.end() == ["0 2"]
    assert run.stderr == ""


def test_an_app_that_replaced_open_is_not_seen_by_us(app, tmp_path, standin):
    (tmp_path / "port").write_text(str(standin.port))
    source = """
    import builtins, holdpoint
    opened = []
    real = builtins.open
    builtins.open = lambda *a, **k: opened.append(a) or real(*a, **k)
    holdpoint.with_debug("ON")
    print(holdpoint.with_debug(len)("abc"), opened)
    """
    assert app(source).end() == ["3 []"]
    assert len(standin.records) == 1


@pytest.mark.parametrize("watch", [":", "*", ":f", "a:", ".*", "app:charge,,;\udcff", "app:charge.x", "x" * 5000])
def test_what_is_to_be_watched_may_be_anything(tmp_path, watch):
    (tmp_path / "app.py").write_text("def charge(n): return n\nprint(charge(1))\n")
    command = [PYTHON, "-m", "holdpoint", "--watch", watch, "app.py"]
    assert App(command, tmp_path, "http://127.0.0.1:9", {}).end() == ["1"]


def test_an_integer_of_any_size_comes_as_it_is(app, standin):
    """Given as a JSON number and by its text."""
    standin.set("charge", before="stop", after="go")
    source = """
    import holdpoint
    holdpoint.with_debug("ON")
    @holdpoint.debug
    def charge(amount):
        return amount
    for _ in range(3): print(charge(1))
    """
    run = app(source, url=standin.url)
    big = 2**70 + 1
    answers = [
        ("skip", {"fake_result": big}),
        ("skip", {"fake_result_data": str(-big), "fake_result_serialization_format": "json"}),
        ("modify", {"modified_args": [{"cid": "c", "data": str(big), "serialization_format": "json"}]}),
    ]
    for action, fields in answers:
        pause = standin.paused()["id"]
        standin.resume(pause, action, **fields)
        standin.wait(lambda: pause not in standin.pauses)
    assert run.end() == [str(big), str(-big), str(big)]


def test_an_answer_that_cannot_be_carried_out_runs_the_call_as_written(app, standin):
    standin.set("charge", before="stop", after="go")
    source = """
    import holdpoint
    holdpoint.with_debug("ON")
    @holdpoint.debug
    def charge(amount):
        return amount
    for n in range(%d): print(charge(n))
    """
    answers = [
        {"action": "replace", "function_name": ["unhashable"]},
        {"action": "replace"},
        {"action": "modify", "modified_args": 5},
        {"action": "modify", "modified_args": [None, {"cid": {}}]},
        {"action": "modify", "modified_kwargs": {"amount": {"cid": []}}},
        {"action": "skip", "fake_result_data": 7},
        {"action": "skip", "fake_result_cid": ["unhashable"]},
        {"action": {}},
        {},
    ]
    run = app(source % len(answers), url=standin.url)
    for answer in answers:
        pause = standin.paused()["id"]
        with standin.changed:
            standin.actions[pause] = answer
            standin.pauses.pop(pause)
            standin.changed.notify_all()
        standin.wait(lambda: pause not in standin.pauses)
    assert run.end() == [str(n) for n in range(len(answers))]
    assert [bool(call["action_error"]) for call in standin.completed] == [True] * len(answers), standin.completed
    assert "Traceback" not in run.stderr


def test_everything_is_annotated():
    """The wrappers themselves are not: what they are annotated with would seem to be the app's."""
    import ast

    from conftest import CLIENT

    package = CLIENT / "holdpoint"
    assert (package / "py.typed").exists()
    bare = []
    for path in sorted(package.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                named = all(it.annotation or it.arg in ("self", "cls") for it in arguments)
                wrapper = node.name.startswith("holdpoint_") or node.name == "special"
                if not wrapper and not (named and node.returns):
                    bare.append("%s:%d %s" % (path.name, node.lineno, node.name))
    assert bare == []
