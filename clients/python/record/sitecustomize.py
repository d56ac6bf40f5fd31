# Loaded by every Python that is started while something is being recorded, because its folder is on PYTHONPATH.
# It starts the recorder and then does what the app's own sitecustomize does.
# Any Python may meet this file, so it is written for all of them; before 3.9 it only stands aside.
import os
import sys


def _holdpoint_record():
    if sys.version_info < (3, 9) or not os.environ.get("HOLDPOINT_RECORD"):
        return
    try:
        import _holdpoint_record

        _holdpoint_record.start(os.environ["HOLDPOINT_RECORD"])
    except Exception:
        # A recorder that cannot start records nothing and says nothing: the program goes on.
        pass


def _holdpoint_next():
    here = os.path.dirname(os.path.abspath(__file__))
    # Two recorders' files may stand before the app's own; each is done once.
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


_holdpoint_record()
_holdpoint_next()
