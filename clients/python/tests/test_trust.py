"""Whose the server is: asked before anything is sent, and again before a pickle is read.

Another user is a thread of ours whose sockets are another user's, as the kernel sees it; only root can make one.
"""

import base64
import ctypes
import os
import pickle
import socket
import threading

import pytest

from holdpoint import _trust
from standin import StandIn, status

NOBODY = 65534
SELL = """
    import holdpoint
    holdpoint.with_debug("ON")

    @holdpoint.debug
    def charge(amount):
        return amount

    print(charge(5))
    holdpoint.flush()
"""


def needs_root():
    if os.geteuid() != 0:
        # A machine that runs the tests as root tries it.
        pytest.skip("only root can be another user")


def as_nobody(work):
    """What `work` returns, done by a thread whose files and sockets are another user's."""
    found = []

    def run():
        ctypes.CDLL(None, use_errno=True).setfsuid(NOBODY)
        found.append(work())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


class Thief:
    """Another user who listens where a server of ours was, and keeps what is sent."""

    def __init__(self):
        self.heard = []
        as_nobody(self._start)

    def _start(self):
        # An accepted connection is of whoever accepts it: threads inherit who they are.
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with peer:
                self.heard.append(peer.recv(65536))

    def stop(self):
        # A blocked accept is woken by this alone.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()


def test_the_user_at_the_other_end_is_known():
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.create_server((host, 0), family=family) as server:
            with socket.create_connection(server.getsockname()[:2]) as near:
                assert _trust.server_user(near) == os.geteuid(), "before anybody accepted it"
                far, _ = server.accept()
                assert _trust.server_user(near) == os.geteuid()
                far.close()
                server.close()
                assert _trust.server_user(near) is None, "nobody holds it any more"


def test_another_users_server_at_the_port_of_a_killed_one_is_sent_nothing(app, tmp_path):
    needs_root()
    thief = Thief()
    (tmp_path / "port").write_text(str(thief.port))
    run = app(SELL, HOLDPOINT_TOKEN="secret")
    assert run.end() == ["5"]
    thief.stop()
    assert thief.heard and set(thief.heard) == {b""}
    assert "is another user's (65534); nothing was sent to it" in run.stderr
    assert "HOLDPOINT_URL says that you mean that one" in run.stderr


def test_a_server_that_holdpoint_run_found_is_not_one_that_was_named(app, tmp_path):
    needs_root()
    thief = Thief()
    run = app(SELL, HOLDPOINT_FOUND="http://127.0.0.1:%d" % thief.port)
    assert run.end() == ["5"]
    thief.stop()
    assert thief.heard and set(thief.heard) == {b""}


def test_another_users_server_that_was_named_works_and_evaluates_nothing(app):
    needs_root()
    standin = as_nobody(StandIn)
    try:
        standin.set("charge", before="stop", after="go")
        run = app(SELL, url=standin.url)
        pause = standin.paused()
        answer = standin.evaluate(pause["id"], "amount")
        assert "evaluates nothing for another user's server" in answer["error"]
        standin.resume(pause["id"], "modify", modified_args=[{"data": "7", "serialization_format": "json"}])
        assert run.end() == ["7"]
        assert "is another user's (65534); you named it" in run.stderr
    finally:
        standin.stop()


class Exploding:
    def __reduce__(self):
        return print, ("executed",)


EXPLODING = base64.b64encode(pickle.dumps(Exploding())).decode()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_pickle_is_read_only_of_a_server_that_proves_itself(standin, app, asynchronous):
    source = SELL
    if asynchronous:
        source = SELL.replace("def charge", "async def charge").replace(
            "print(charge(5))", "import asyncio; print(asyncio.run(charge(5)))"
        )
    standin.set("charge", before="stop", after="go")
    run = app(source, url=standin.url)
    standin.resume(standin.paused()["id"], "modify", modified_args=[{"data": base64.b64encode(pickle.dumps(6)).decode()}])
    assert run.end() == ["6"], "it has the key"
    proofs = [path for _, path, _, _ in standin.requests if path == "/api/proof"]
    assert len(proofs) == 1, "asked for where it matters, and only there"

    standin.fault("/api/proof", status(200, b'{"proof": "%s"}' % (b"0" * 64)))
    run = app(source, url=standin.url)
    standin.resume(standin.paused()["id"], "modify", modified_args=[{"data": EXPLODING}])
    assert run.end() == ["5"], "as written, and nothing was executed"
    assert "only JSON is taken from it" in run.stderr


def test_a_key_of_another_user_or_behind_a_link_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDPOINT_HOME", str(tmp_path))
    key = tmp_path / "key"
    assert _trust.home_key() is None
    key.write_text("ab" * 32)
    assert _trust.home_key() == "ab" * 32
    if os.geteuid() == 0:
        os.chown(key, NOBODY, NOBODY)
        assert _trust.home_key() is None
    key.rename(tmp_path / "real")
    key.symlink_to(tmp_path / "real")
    assert _trust.home_key() is None


def test_a_proof_is_what_the_server_computes():
    """The same numbers as in the server's own test."""

    class Sock:
        def getpeername(self):
            return ("127.0.0.1", 5174)

    proof = "b26f115551ef7ae525416e4983d4125fd0f1c58558d60538a1a855cb4ea0a003"
    assert _trust.is_proof("a" * 64, "0" * 32, Sock(), proof)
    assert not _trust.is_proof("b" * 64, "0" * 32, Sock(), proof)
    assert not _trust.is_proof("a" * 64, "0" * 32, Sock(), None)


def test_where_the_system_does_not_say_a_server_has_to_prove_itself(standin, app, tmp_path):
    blind = "import holdpoint._trust as trust; trust._NETLINK = None\n"
    (tmp_path / "port").write_text(str(standin.port))
    source = "\n    " + blind + SELL
    run = app(source)
    assert run.end() == ["5"] and standin.records
    assert run.stderr == ""
    standin.records.clear()
    standin.fault("/api/proof", status(404))
    run = app(source, HOLDPOINT_TOKEN="secret")
    assert run.end() == ["5"] and not standin.records
    assert "does not prove that it is yours; nothing was sent to it" in run.stderr
