"""Holdpoint's client for Python: the calls of a running app, recorded, paused, changed.

    from holdpoint import with_debug
    with_debug("ON")
    charge = with_debug(charge)

If the server is gone, slow or wrong, the app goes on and says so once.
"""

from ._version import VERSION as __version__

# For type checkers, which take the name for `typing.TYPE_CHECKING`; nothing is imported for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._api import async_debug_call, configure_debug, debug, debug_call, flush, with_debug

__all__ = [
    "__version__",
    "async_debug_call",
    "configure_debug",
    "debug",
    "debug_call",
    "flush",
    "with_debug",
]


def __getattr__(name: str) -> object:
    """The client is loaded when it is first used: under `holdpoint run` every Python process imports this package."""
    if name.startswith("__") or name not in __all__:
        raise AttributeError("module 'holdpoint' has no attribute %r" % name)
    from . import _api

    for known in __all__[1:]:
        globals()[known] = getattr(_api, known)
    return globals()[name]


def __dir__() -> "list[str]":
    return __all__
