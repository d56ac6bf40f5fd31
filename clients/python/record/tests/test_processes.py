"""Children, ends of every kind, and test runners."""

import os
import signal
import sys

import pytest
from conftest import COMPILED, PURE

BOTH = [(it, "native") for it in COMPILED] + [(it, "pure") for it in PURE]
both = pytest.mark.parametrize("version,way", BOTH)
HERE_WAY = "native" if sys.version_info >= (3, 12) else "pure"


@both
def test_a_fork_writes_a_stream_of_its_own(record, version, way):
    text = (
        "import os\ndef inner():\n    pid = os.fork()\n    if pid == 0:\n        child(1)\n        os._exit(3)\n"
        "    return os.waitpid(pid, 0)[1]\ndef child(n):\n    return n\ndef outer():\n    return inner()\nprint(outer())\n"
    )
    found = record(text, version, way)
    assert found.done.stdout == "768\n", found.done.stderr
    parent, child = sorted(found.streams, key=lambda it: it.process["pid"] != found.records("FORKED")[0][1])[::-1]
    assert child.process["ppid"] == parent.process["pid"] and child.records[-1] == ("END", {"exit": 3})
    names = [it[1]["name"] for it in child.records if it[0] == "CALL"]
    # The compiled one begins with the frames that are open.
    assert names == (["<module>", "outer", "inner", "child"] if way == "native" else ["child"])


@both
def test_subprocesses_are_recorded(record, version, way):
    text = (
        "import subprocess, sys\nif sys.argv[1:]:\n    print('child')\nelse:\n"
        "    subprocess.run([sys.executable, __file__, 'x'], check=True)\n"
    )
    found = record(text, version, way)
    assert found.done.stdout == "child\n" and len(found.streams) == 2


@both
def test_multiprocessing_is_recorded(record, version, way):
    text = (
        "import multiprocessing\ndef work(n):\n    return n * 2\n"
        "if __name__ == '__main__':\n    for how in ('fork', 'spawn'):\n"
        "        with multiprocessing.get_context(how).Pool(2) as pool:\n            print(pool.map(work, [1, 2, 3]))\n"
        "            pool.close()\n            pool.join()\n"
    )
    found = record(text, version, way)
    assert found.done.stdout == "[2, 4, 6]\n" * 2, found.done.stderr
    assert sum(it[0] == "CALL" and it[1]["name"] == "work" for it in found.records("CALL")) == 6
    assert len(found.streams) >= 5


@both
def test_what_was_flushed_survives_a_kill(record, version, way):
    text = (
        "import os, signal, time\ndef f(n):\n    return n\nfor i in range(20000):\n    f(i)\n"
        "time.sleep(0.15)\nf(-1)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    found = record(text, version, way)
    assert found.done.returncode == -signal.SIGKILL
    stream = found.stream
    calls = [it for it in stream.records if it[0] == "CALL"]
    assert len(calls) > 15000 and stream.records[-1][0] != "END"


@both
def test_a_kill_loses_no_event(record, version, way):
    text = (
        "import os, signal\ndef f(n):\n    return n\n"
        "for i in range(50):\n    f(i)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    found = record(text, version, way)
    assert found.done.returncode == -signal.SIGKILL
    ends = [it for it in found.stream.records if it[0] in ("RETURN", "UNWIND")]
    assert len(ends) == 50


@both
def test_a_program_that_waits_is_known_to_its_last_event(record, library, version, way):
    text = (
        "import os, sys\nsys.path.insert(0, %r)\nimport decode\ndef f(n):\n    m = n + 1\n    return m\n"
        "def main():\n    for i in range(1000):\n        f(i)\n    here = os.path.dirname(os.environ['HOLDPOINT_RECORD'])\n"
        "    calls = [it for it in decode.read(here)[0].records if it[0] == 'CALL']\n"
        "    print(len(calls), [it for it in os.listdir(here) if it.endswith('.tail')] != [])\nmain()\n"
    )
    found = record(text % os.path.dirname(os.path.abspath(__file__)), version, way)
    # `main` and the module beside the thousand.
    assert found.done.stdout == "1002 True\n", found.done.stderr
    assert not [it for it in os.listdir(found.folder) if it.endswith(".tail")]


@both
def test_a_disk_that_is_no_place_for_it_has_no_tail(record, version, way):
    found = record("import os\nprint(os.listdir(os.path.dirname(os.environ['HOLDPOINT_RECORD'])))\n", version, way, tail=False)
    assert ".tail" not in found.done.stdout and ".hps" in found.done.stdout


@both
def test_the_programs_descriptors_are_its_own(record, version, way):
    text = "import os\nprint([os.open(os.devnull, os.O_RDONLY) for _ in range(3)])\n"
    ours, bare = record(text, version, way).done, record(text, version, way, is_recorded=False).done
    assert ours.stdout == bare.stdout, ours.stderr


@both
def test_an_exec_leaves_a_readable_stream(record, version, way):
    text = "import os, sys\ndef f():\n    return 1\nf()\nif not sys.argv[1:]:\n    os.execv(sys.executable, [sys.executable, __file__, 'x'])\n"
    found = record(text, version, way)
    assert found.done.returncode == 0 and len(found.streams) == 2
    assert all(any(it[0] == "RETURN" for it in stream.records) for stream in found.streams)
    names = sorted(it for it in os.listdir(found.folder) if it.endswith(".hps"))
    assert [it.split("-")[1] for it in names] == ["1.hps", "2.hps"]


@both
def test_exit_codes_and_output_are_the_programs(record, version, way):
    for text in ("import sys\nsys.exit(7)\n", "raise ValueError('x')\n", "import os\nos.abort()\n", "print('a', flush=True)\n1/0\n"):
        ours, bare = record(text, version, way).done, record(text, version, way, is_recorded=False).done
        assert (ours.returncode, ours.stdout, ours.stderr) == (bare.returncode, bare.stdout, bare.stderr)


@both
def test_the_programs_own_sitecustomize_runs(record, version, way, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("print('own')\n")
    from conftest import ROOT

    found = record("print('main')\n", version, way, env={"PYTHONPATH": ROOT + os.pathsep + str(own)})
    assert found.done.stdout == "own\nmain\n" and found.records("END")


def test_pytest_tells_its_tests(record):
    text = (
        "import pytest\ndef test_good():\n    assert True\ndef test_bad():\n    x = 41\n    assert x == 45, 'sum'\n"
        "@pytest.mark.skip(reason='later')\ndef test_skipped():\n    pass\n"
    )
    found = record(text, way=HERE_WAY, python=sys.executable, arguments=["-m", "pytest", "-q", "-p", "no:cacheprovider", "main.py"])
    assert found.done.returncode == 1, found.done.stdout + found.done.stderr
    ends = {it[1]["name"]: it[1] for it in found.records("TEST") if it[1]["phase"] == "end"}
    assert {name.split("::")[1]: it["outcome"] for name, it in ends.items()} == {
        "test_good": "passed", "test_bad": "failed", "test_skipped": "skipped"
    }
    assert "assert 41 == 45" in ends["main.py::test_bad"]["message"]
    slots = [slot for stream in found.streams for it in stream.functions for slot in it["slots"]]
    assert not any(it.startswith("@") for it in slots)


def test_xdist_workers_tell_their_own(record):
    text = "def test_a():\n    pass\ndef test_b():\n    pass\ndef test_c():\n    assert False\n"
    found = record(
        text, way=HERE_WAY, python=sys.executable,
        arguments=["-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "main.py"],
    )
    assert found.done.returncode == 1, found.done.stdout + found.done.stderr
    ends = sorted((it[1]["name"], it[1]["outcome"]) for it in found.records("TEST") if it[1]["phase"] == "end")
    assert ends == [("main.py::test_a", "passed"), ("main.py::test_b", "passed"), ("main.py::test_c", "failed")]
    assert len(found.streams) >= 3


@both
def test_unittest_tells_its_tests(record, version, way):
    text = (
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"
        "    def test_b(self):\n        self.assertEqual(1, 2)\n    @unittest.skip('x')\n    def test_c(self):\n        pass\n"
        "if __name__ == '__main__':\n    unittest.main()\n"
    )
    found = record(text, version, way)
    assert found.done.returncode == 1
    ends = [(it[1]["name"], it[1]["outcome"], it[1].get("message")) for it in found.records("TEST") if it[1]["phase"] == "end"]
    assert [it[:2] for it in sorted(ends)] == [
        ("__main__.T.test_a", "passed"), ("__main__.T.test_b", "failed"), ("__main__.T.test_c", "skipped")
    ]
    assert sorted(ends)[1][2] == "AssertionError: 1 != 2"
