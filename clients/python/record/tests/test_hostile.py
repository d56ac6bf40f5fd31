"""Programs that nobody would like to record: they go on as without, and the recording says what it lacks."""

import sys

import pytest
from conftest import COMPILED, PURE, events

BOTH = [(it, "native") for it in COMPILED] + [(it, "pure") for it in PURE]
both = pytest.mark.parametrize("version,way", BOTH)
each = pytest.mark.parametrize("version", COMPILED)


@each
def test_a_million_turns_of_a_loop(record, version):
    found = record("def f():\n    t = 0\n    for i in range(1000000):\n        t += i\n    return t\nprint(f())\n", version)
    assert found.done.stdout == "499999500000\n"
    (frame,) = found.of("f")
    gaps = sum(it[1] for it in events(frame, "gap"))
    lines = len(events(frame, "line"))
    assert lines < 60_000 and gaps + lines == 2_000_003, (gaps, lines)
    # The last line is there, whatever was left out before it.
    assert events(frame, "line")[-1] == ("line", 5) and frame.end[1].data == 499999500000


@both
def test_ten_thousand_frames_deep(record, version, way):
    text = (
        "import sys, threading\nsys.setrecursionlimit(20000)\nthreading.stack_size(512 << 20)\n"
        "def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\n"
        "t = threading.Thread(target=lambda: print(f(10000)))\nt.start()\nt.join()\n"
    )
    found = record(text, version, way)
    assert found.done.stdout == "10000\n", found.done.stderr[-500:]
    assert len(found.of("f")) == 10001 and found.of("f")[0].end[1].data == 10000


@both
def test_endless_recursion_ends_as_without(record, version, way):
    text = "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as error:\n    print(type(error).__name__)\n"
    found = record(text, version, way)
    assert found.done.stdout == "RecursionError\n" and found.records("END")


@both
def test_huge_values(record, version, way):
    text = (
        "def f(x):\n    y = x\n    return len(y) if hasattr(y, '__len__') else 0\n"
        "print(f('x' * (1 << 30)))\nprint(f(b'x' * (1 << 28)))\nprint(f([0] * (1 << 26)))\nprint(f(1 << (1 << 24)))\n"
        "print(f({i: i for i in range(300000)}))\nd = {}\nfor i in range(400):\n    d[i] = object()\n"
    )
    found = record(text, version, way, limit=240)
    assert found.done.stdout.split() == ["1073741824", "268435456", "67108864", "0", "300000"], found.done.stderr
    assert [it.arguments[0].length for it in found.of("f")][:3] == [1 << 30, 1 << 28, 1 << 26]


@both
def test_threads_over_time(record, version, way):
    text = (
        "import threading\ndef work(n):\n    return n\nfor i in range(500):\n"
        "    all = [threading.Thread(target=work, args=(i,)) for _ in range(20)]\n"
        "    [it.start() for it in all]\n    [it.join() for it in all]\n"
    )
    found = record(text, version, way)
    assert found.done.returncode == 0
    assert len(found.of("work")) == 10_000 and all(it.end[1].data == it.arguments[0].data for it in found.of("work"))


@both
def test_code_from_texts(record, version, way):
    text = (
        "def f(n):\n    return n\nfor i in range(300):\n    exec('def g(x):\\n    y = x\\n    return y\\nh = g(%d)' % i)\n"
        "    eval('f(%d)' % i)\nprint(eval('1 + 1'))\n"
        "code = compile('k = f(5)', __file__, 'exec')\nexec(code)\n"
    )
    found = record(text, version, way)
    assert found.done.stdout == "2\n" and len(found.of("f")) == 301


@both
def test_a_full_disk(record, version, way):
    text = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))\n"
        "def f(n):\n    return 'v%d' % n\nfor i in range(60000):\n    f(i)\nprint('on')\n"
    )
    found = record(text, version, way)
    assert found.done.stdout == "on\n" and found.done.returncode == 0, found.done.stderr
    assert not found.records("END") and len(found.of("f")) > 1000


@both
def test_a_folder_that_goes_away(record, version, way):
    text = (
        "import os, shutil\nshutil.rmtree(os.path.dirname(os.environ['HOLDPOINT_RECORD']))\n"
        "os.makedirs(os.path.dirname(os.environ['HOLDPOINT_RECORD']))\n"
        "def f(n):\n    return n\nfor i in range(50000):\n    f(i)\nprint('on')\n"
    )
    assert record(text, version, way).done.stdout == "on\n"


@both
def test_a_program_that_closes_every_file(record, version, way):
    text = (
        "import os\ndef f(n):\n    return n\nos.closerange(3, 5000)\nfiles = [open('mine%d' % i, 'w') for i in range(5)]\n"
        "import resource\nfor i in range(700, 800):\n    os.dup2(files[0].fileno(), i)\n"
        "for i in range(50000):\n    f(i)\nprint(os.path.getsize('mine0'))\n"
    )
    found = record(text, version, way)
    assert found.done.stdout == "0\n", found.done.stderr


@both
def test_a_tracer_of_the_programs_own(record, version, way):
    text = (
        "import sys\nseen = []\ndef tracer(frame, event, arg):\n    seen.append(event)\n    return tracer\n"
        "def f(n):\n    x = n\n    return x\nf(1)\nsys.settrace(tracer)\nf(2)\nsys.settrace(None)\nf(3)\nprint(len(seen))\n"
    )
    found = record(text, version, way)
    assert found.done.stdout == "4\n", found.done.stderr
    if way == "native":
        assert len(found.of("f")) == 3
    else:
        assert {"beside": "another tracer", "lost": 1, "why": "it took the place"} in [it[1] for it in found.records("NOTE")]


@pytest.mark.parametrize("core", ["ctrace", "sysmon"])
def test_coverage_measures_the_same(record, core):
    if core == "sysmon" and sys.version_info < (3, 12):
        core = "ctrace"
    text = "def f(n):\n    if n:\n        return 1\n    return 2\nf(1)\n"
    arguments = ["-m", "coverage", "run", "--data-file=cov", "main.py"]
    report = ["-m", "coverage", "report", "-m", "--data-file=cov"]
    env = {"COVERAGE_CORE": core}
    way = "native" if sys.version_info >= (3, 12) else "pure"
    ours = record(text, way=way, python=sys.executable, arguments=arguments, env=env)
    assert ours.done.returncode == 0, ours.done.stderr
    said = record(text, way=way, python=sys.executable, arguments=report, is_recorded=False).done.stdout
    record(text, way=way, python=sys.executable, arguments=arguments, env=env, is_recorded=False)
    assert said == record(text, way=way, python=sys.executable, arguments=report, is_recorded=False).done.stdout
    assert "75%" in said or "80%" in said, said
    if way == "native":
        assert len(ours.of("f")) == 1


@both
def test_a_bad_config_records_nothing(record, version, way, tmp_path):
    for text in ("{", "[]", '{"version": 2}', '{"version": 1, "key": "no hex"}', None):
        path = tmp_path / "bad.json"
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        found = record("print('on')\n", version, way, env={"HOLDPOINT_RECORD": str(path)})
        assert found.done.stdout == "on\n" and not found.done.stderr and not found.streams
        assert not list(tmp_path.glob("*.hps"))


@both
def test_limits_of_a_recording(record, version, way):
    text = "def f(n):\n    return 'value %d' % n\nfor i in range(30000):\n    f(i)\nprint('on')\n"
    found = record(text, version, way, limits={"bytes": 200000})
    assert found.done.stdout == "on\n"
    assert any(it[1].get("limit") == "bytes" for it in found.records("NOTE"))
    counted = sum(it[2] for it in found.records("COUNT"))
    assert counted > 10000 and counted + len(found.of("f")) == 30000
