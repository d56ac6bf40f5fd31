# Loaded by every Python that is started under `holdpoint run` or `python -m holdpoint`, because its folder is on
# PYTHONPATH. It installs the import hook and then does what the app's own sitecustomize does.
# Any Python may meet this file, so it is written for all of them; before 3.9 it only stands aside.
import os
import sys


def _holdpoint_watch():
    if sys.version_info < (3, 9) or not os.environ.get("HOLDPOINT_WATCH"):
        return
    try:
        from holdpoint import _imports

        _imports.install(os.environ["HOLDPOINT_WATCH"])
    except Exception as error:
        # A program may be started without a stderr.
        if sys.stderr is not None:
            sys.stderr.write("holdpoint: the app is not watched: %s: %s\n" % (type(error).__name__, error))


def _holdpoint_next():
    here = os.path.dirname(os.path.abspath(__file__))
    # A recorder's file may stand before the app's own, too; each is done once.
    done = sys.__dict__.setdefault("_holdpoint_sitecustomized", [])
    if here in done:
        return
    done.append(here)
    others = [path for path in sys.path if os.path.abspath(path or ".") not in done]
    try:
        import importlib.machinery
        import importlib.util

        spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            sys.modules["sitecustomize"] = module
            spec.loader.exec_module(module)
    except ImportError:
        pass


_holdpoint_watch()
_holdpoint_next()
