"""Runs each test under one deadline, and gives it a server that must be well when the test is over."""

import inspect

import anyio
import pytest

pytest.register_assert_rewrite("client", "peer", "server")

from client import Way
from server import TALKATIVE, Server, running

DEADLINE_S = 40


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function):
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters}

    async def bounded():
        with anyio.fail_after(DEADLINE_S):
            await test(**arguments)

    anyio.run(bounded)
    return True


@pytest.fixture
def server(tmp_path, way: Way):
    """For a client that comes that way: running already, or to be started by the client over stdio."""
    with running(Server(tmp_path), way.transport) as server:
        yield server


@pytest.fixture
def talkative_server(tmp_path, way: Way):
    """The same, and its stderr tells how each call ended."""
    with running(Server(tmp_path, log=TALKATIVE), way.transport) as server:
        yield server
