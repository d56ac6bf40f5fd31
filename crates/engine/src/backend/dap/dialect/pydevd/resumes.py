# Follows `watched.py` in the same module.
# pydevd looks at a function when it begins, and at those on a stack when breakpoints come. A coroutine or a generator that
# waits at that moment is neither, and would pass a breakpoint that is said to be bound. From Python 3.12 on the
# interpreter says when one goes on.


def _see_resumed():
    from _pydevd_bundle.pydevd_constants import PYDEVD_USE_SYS_MONITORING

    if _monitoring is None or not PYDEVD_USE_SYS_MONITORING:
        return
    from _pydevd_sys_monitoring import pydevd_sys_monitoring as of_pydevd

    update = of_pydevd.update_monitor_events
    if getattr(update, "of_holdpoint", False):
        return
    trace, ident = of_pydevd.enable_code_tracing, threading.get_ident

    def resumed(code, _offset):
        try:
            trace(ident(), code, _frame(1))
        except Exception:
            pass
        # Once at each place, and again when breakpoints come.
        return _monitoring.DISABLE

    def update_monitor_events(*asked, **named):
        answer = update(*asked, **named)
        # It takes whatever is there away where it has no breakpoint.
        _monitoring.register_callback(_monitoring.DEBUGGER_ID, _monitoring.events.PY_RESUME, resumed)
        return answer

    update_monitor_events.of_holdpoint = True
    of_pydevd.update_monitor_events = update_monitor_events


_see_resumed()
