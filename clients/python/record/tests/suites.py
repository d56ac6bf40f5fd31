"""Real suites, recorded and not: the same outcomes, the same exit codes; and what recording costs.

`suites.py --python PYTHON --library LIBRARY --work FOLDER [--only jinja2,click] [--rounds 3]`
The packages' sources come by `pip download`, what their tests need by `pip install` into an environment in FOLDER.
"""

import argparse
import glob
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = {
    "jinja2": ("src", ["tests"], ["--ignore=tests/test_async.py", "--ignore=tests/test_async_filters.py"]),
    "click": ("src", ["tests"], ["--ignore=tests/test_deprecations.py"]),
    # Without the tests that hold a clock to the parser: they fail here unrecorded, too.
    "sqlparse": ("", ["tests"], ["--ignore=tests/test_dos_prevention.py"]),
    "attrs": ("src", ["tests"], ["--ignore=tests/test_mypy.yml", "-p", "no:mypy-testing"]),
    "more-itertools": ("", ["tests"], []),
    "toolz": ("", ["toolz/tests"], []),
    "itsdangerous": ("src", ["tests"], []),
    "tomlkit": ("", ["tests"], []),
    "pyparsing": ("", ["tests/test_simple_unit.py"], []),
    "cachetools": ("src", ["tests"], []),
}
NEEDS = (
    "pytest<9 hypothesis freezegun ephemeral-port-reserve cryptography watchdog cloudpickle pympler pyyaml markupsafe "
    "trio pytest-timeout zstandard pytest-xprocess pytest-mypy-plugins railroad-diagrams matplotlib-inline setuptools"
).split()


def run(arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, errors="replace", **options)


def prepare(python, work, names):
    venv = os.path.join(work, "venv")
    if not os.path.exists(venv):
        run([python, "-m", "venv", venv]).check_returncode()
    inside = os.path.join(venv, "bin", "python")
    ready = os.path.join(venv, "ready")
    for need in NEEDS if not os.path.exists(ready) else ():
        # One that cannot be had leaves its tests out, recorded or not.
        run([inside, "-m", "pip", "install", "-q", need])
    open(ready, "w").close()
    sources = {}
    for name in names:
        place = os.path.join(work, "sources", name)
        if not os.path.exists(place):
            os.makedirs(place)
            run([inside, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", place, name])
            for archive in glob.glob(os.path.join(place, "*.tar.gz")):
                with tarfile.open(archive) as file:
                    file.extractall(place)
        found = [it for it in glob.glob(os.path.join(place, "*")) if os.path.isdir(it)]
        if found:
            sources[name] = found[0]
    return inside, sources


def outcomes(text):
    """Every test's outcome, and what the run said of itself without its times."""
    rows = sorted(line for line in text.splitlines() if re.match(r"(PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED)\b", line))
    last = [re.sub(r" in [\d.]+s.*", "", line) for line in text.splitlines() if re.search(r" in [\d.]+s", line)]
    return [re.sub(r"0x[0-9a-f]+", "0x", row)[:300] for row in rows], last[-1:]


def suite(python, source, about, recording):
    package, tests, more = about
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HOLDPOINT")}
    paths = [os.path.join(source, package)]
    environment.update(PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", PYTHONWARNINGS="ignore")
    if recording:
        folder, level, library = recording
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        config = {"version": 1, "roots": [source], "level": level, "key": "00"}
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        environment["HOLDPOINT_RECORD"] = os.path.join(folder, "config.json")
        environment["HOLDPOINT_RECORD_LIBRARY"] = library
        paths.insert(0, os.path.dirname(HERE))
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [python, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--no-header", *more, *tests]
    done = run(command, cwd=source, env=environment, timeout=1500)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, outcomes(done.stdout), cpu, done.stdout


def size(folder):
    return sum(os.path.getsize(it) for it in glob.glob(os.path.join(folder, "*.hps")))


def nothing(ran):
    """Why a run proves nothing, whatever it has in common with another: it ended before its tests, or none passed."""
    code, (rows, last), *_ = ran
    passed = sum(row.startswith("PASSED") for row in rows)
    if code in (0, 1) and passed:
        return None
    return "exit %s, %d tests passed, %s" % (code, passed, " ".join(last) or "no last line")


def check(asked, python, name, source):
    about = SUITES[name]
    folder = os.path.join(asked.work, "recording-" + name)
    base, calls, lines = [], [], []
    problems = []
    for _ in range(asked.rounds):
        plain = suite(python, source, about, None)
        base.append(plain[2])
        if nothing(plain):
            print("%-16s not compared: unrecorded it runs no test (%s)\n%s" % (name, nothing(plain), plain[3][-1500:]), flush=True)
            return False
        for level, costs in (("calls", calls), ("lines", lines)):
            recorded = suite(python, source, about, (folder, level, asked.library))
            costs.append(recorded[2])
            if recorded[:2] != plain[:2] or nothing(recorded):
                problems.append(level)
                differing = sorted(set(recorded[1][0]) ^ set(plain[1][0]))[:6]
                print("  %s %s: exit %s / %s, %s / %s" % (name, level, plain[0], recorded[0], plain[1][1], recorded[1][1]))
                print("   ", "\n    ".join(differing))
    megabytes = size(folder) / 1e6
    cost = lambda these: min(these) / min(base)
    row = "%-16s %-44s base %6.2f s, calls x%.2f, lines x%.2f, %.1f MB %s"
    print(row % (name, plain[1][1], min(base), cost(calls), cost(lines), megabytes, "DIFFERS" if problems else "same"), flush=True)
    return not problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--library", default=os.environ.get("HOLDPOINT_RECORD_LIBRARY", ""))
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", default=",".join(SUITES))
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    asked.work = os.path.abspath(asked.work)
    names = asked.only.split(",")
    python, sources = prepare(asked.python, asked.work, names)
    results = [check(asked, python, name, sources[name]) for name in names if name in sources]
    print("%d of %d suites the same" % (sum(results), len(names)))
    return 0 if all(results) and len(results) == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
