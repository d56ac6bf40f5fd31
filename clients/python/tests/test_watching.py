"""`python -m holdpoint --watch …`: an app that knows nothing of us."""

import os
import shutil
import subprocess

import pytest

from conftest import CLIENT, PYTHON, App, environment

FILES = {
    "app.py": """
import sys, os, math, shop.cart, shop.tax as tax
from shop.cart import Cart, REGISTRY

def main():
    cart = Cart()
    cart.add("pen")
    print(cart.total, tax.vat(10), REGISTRY["checkout"](cart), math.sqrt(4))
    return 3

if __name__ == "__main__":
    code = main()
    print(os.path.basename(sys.path[0]), __spec__, sys.argv[1:], __doc__)
    sys.exit(code)
""",
    "shop/__init__.py": "",
    "shop/cart.py": '''"""Docs."""
from __future__ import annotations
REGISTRY = {}

def register(function):
    REGISTRY[function.__name__] = function
    return function

@register
def checkout(cart):
    return len(cart.items)

class Cart:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    @property
    def total(self):
        return 2 * len(self.items)

    def __repr__(self):
        return "Cart"
''',
    "shop/tax.py": "vat = lambda x: x / 10\nif True:\n    def other(): pass\n",
    "parent.py": """
import subprocess, sys, multiprocessing
def work(n):
    return n + 1
if __name__ == "__main__":
    print(subprocess.run([sys.executable, "app.py", "child"]).returncode)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [1, 2]))
        pool.close()
        pool.join()
""",
    "sitecustomize.py": "import builtins\nbuiltins.CUSTOMIZED = 'yes'\n",
    "custom.py": "print(CUSTOMIZED)\n",
    "broken.py": "def f(:\n",
}


@pytest.fixture
def watch(tmp_path, standin):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    running = []

    def start(*arguments, url=standin.url, **env):
        run = App([PYTHON, "-m", "holdpoint", *arguments], tmp_path, url, env)
        running.append(run)
        return run

    yield start
    for run in running:
        run.kill()


def names(standin):
    return [record["method_name"] for record in standin.records]


def test_named_functions_of_imported_modules(watch, standin):
    run = watch("--watch", "shop.cart:Cart.add", "--watch=shop.cart:checkout", "app.py", "x", "--watch")
    printed = run.end(3)
    assert printed[0] == "2 1.0 1 2.0" and printed[1].endswith("None ['x', '--watch'] None")
    # The registered function is the wrapped one, although a decorator of the app took it first.
    assert names(standin) == ["shop.cart:Cart.add", "shop.cart:checkout"]
    assert run.stderr == ""
    frame = standin.records[0]["call_site"]["stack_trace"][0]
    assert frame["function"].endswith("main") and frame["code_context"] == 'cart.add("pen")'


def test_a_whole_package_and_the_program_itself(watch, standin):
    watch("--watch", "shop.*,app", "app.py").end(3)
    assert names(standin) == [
        "shop.cart:register",
        "shop.cart:Cart.add",
        "shop.cart:Cart.total",
        "shop.cart:checkout",
        "app:main",
    ]


def test_the_program_itself_as_main_and_as_a_module(watch, standin):
    watch("--watch", "__main__:main", "app.py").end(3)
    assert names(standin) == ["app:main"]
    standin.records.clear()
    watch("--watch", "app:main", "-m", "app").end(3)
    assert names(standin) == ["app:main"]
    # Of the app alone, not of how the interpreter runs a module.
    files = [frame["filename"] for frame in standin.records[0]["call_site"]["stack_trace"]]
    assert files and not [name for name in files if name.startswith("<frozen")], files


def test_what_is_no_def_and_what_is_imported_already(watch, standin):
    watch("--watch", "shop.tax:vat,os.path:basename,math:sqrt", "app.py").end(3)
    assert names(standin) == ["shop.tax:vat", "math:sqrt", "os.path:basename"]


def test_a_special_method_that_is_named(watch, standin):
    watch("--watch", "shop.cart:Cart.__init__", "app.py").end(3)
    assert names(standin) == ["shop.cart:Cart.__init__"]


def test_a_name_that_is_not_there_is_said(watch):
    run = watch("--watch", "shop.cart:nothing", "app.py")
    run.end(3)
    assert "--watch shop.cart:nothing: cannot be wrapped" in run.stderr


def test_child_processes_are_watched(watch, standin):
    run = watch("--watch", "shop.cart:checkout,parent:work", "parent.py")
    output = run.end()
    assert output[-2:] == ["3", "[2, 3]"]
    assert sorted(names(standin)) == ["parent:work", "parent:work", "shop.cart:checkout"]
    assert run.pid not in {record["pid"] for record in standin.records}


def test_a_watched_function_pauses(watch, standin):
    standin.set("app:main", before="stop", after="go")
    run = watch("--watch", "app", "app.py")
    standin.resume(standin.paused()["id"], "skip", fake_result=5)
    run.end(5)


def test_the_apps_own_sitecustomize_still_runs(watch, tmp_path):
    path = os.pathsep.join([str(CLIENT), str(tmp_path)])
    assert watch("--watch", "shop.*", "custom.py", PYTHONPATH=path).end() == ["yes"]


def test_an_error_of_the_app_is_the_apps(watch):
    run = watch("--watch", "broken", "broken.py")
    run.end(1)
    assert "SyntaxError" in run.stderr and "def f(:" in run.stderr


def test_without_a_server_the_app_runs(watch):
    run = watch("--watch", "shop.*", "app.py", url="http://127.0.0.1:9")
    run.end(3)
    assert run.stderr.count("holdpoint:") == 1


def test_no_compiled_form_of_a_watched_module_stays_behind(watch, tmp_path):
    watch("--watch", "shop.cart", "app.py", PYTHONDONTWRITEBYTECODE="").end(3)
    assert not list(tmp_path.glob("shop/__pycache__/cart.*"))
    # That of others does: it is not that nothing is written at all.
    assert list(tmp_path.glob("shop/__pycache__/tax.*"))


@pytest.mark.parametrize(
    "arguments, text",
    [([], "error: no program"), (["--what", "app.py"], "error: unknown option --what"), (["--watch"], "--watch needs names")],
)
def test_wrong_use(watch, arguments, text):
    run = watch(*arguments)
    run.end(2)
    assert text in run.stderr


def test_a_process_that_watches_nothing_loads_almost_nothing(watch, tmp_path):
    (tmp_path / "list.py").write_text("import sys\nprint(sorted(m for m in sys.modules if m.startswith('holdpoint')))\n")
    run = watch("--watch", "shop.*", "list.py")
    [printed] = run.end()
    assert "holdpoint._runtime" not in printed


def pythons():
    """The one that runs the apps, and the oldest and newest that are promised, where they are installed."""
    found = {"the tests' own": PYTHON}
    for version in ("3.9", "3.13"):
        python = shutil.which("python" + version)
        # A version manager's script is there for versions that are not.
        if python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            found[version] = python
    return found


@pytest.mark.parametrize("version", pythons())
def test_every_python_that_is_here(tmp_path, standin, version):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    command = [pythons()[version], "-m", "holdpoint", "--watch", "app:main,shop.cart:Cart.add", "app.py"]
    env = environment(tmp_path, standin.url)
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=90)
    assert done.returncode == 3, done.stderr
    assert names(standin) == ["shop.cart:Cart.add", "app:main"]
