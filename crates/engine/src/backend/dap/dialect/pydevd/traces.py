# Follows `helper.py` in the same module.
# Tracepoints: the program evaluates by itself and goes on; hits go out in batches.

_VALUE = LIMITS["value"]
_BATCH = LIMITS["batch"]
_EVERY = LIMITS["every"]
_BUDGET = LIMITS["budget"]
# Batches that are on their way: a program that is faster than who listens waits, and loses nothing.
_ROOM = LIMITS["room"]
_LAST = LIMITS["last"]

_hits = collections.deque()
_local = threading.local()
_running = {}
_thrown = set()
_guard = threading.Lock()
_flushing = threading.RLock()
_leaving = threading.RLock()
_room = threading.BoundedSemaphore(_ROOM)
_wake = threading.Event()
_flushed = 0.0
_is_awake = False
_process = None
_titled = None


def _pass(one, names, values, frame):
    """A tracepoint was passed. Nothing that happens here may reach the program."""
    if one.reported and (one.is_mark or (one.max and one.reported >= one.max)):
        return
    try:
        _report(one, names, values, frame)
    except BaseException:
        pass


def _report(one, names, values, frame):
    ident = threading.get_ident()
    begun = time.time()
    _running[ident] = begun
    try:
        try:
            number = one.is_wanted(names, values)
            if not number or (one.multiple and number % one.multiple):
                return
            one.reported += 1
            found = _evaluate(one.expressions, names, values, ident) if one.expressions else ()
        except BaseException as error:
            # Its condition failed, which nobody would learn of otherwise.
            name = _name(error, ident) + (" in the condition" if one.is_literal else "")
            number, found = next(one.numbers), [[name]] * len(one.expressions)
            one.reported += 1
        where = one.where if frame is None else None
        if where is None:
            where = _where(one, frame)
        hit = (one.key, number, begun, _thread(), where, found)
        _hits.append(hit + (_thread_name(),) if one.is_literal else hit)
    finally:
        _finish(ident)
    _tell(begun)


def _evaluate(expressions, names, values, ident):
    found = []
    for each in expressions:
        try:
            text = each.text(names, values)
            if len(text) > _VALUE:
                text = text[: _VALUE // 2] + "…" + text[-_VALUE // 2 + 1 :]
            found.append(text)
        except BaseException as error:
            found.append([_name(error, ident)])
            if ident in _thrown:
                # The budget is for all of them together.
                found.extend([["Timeout"]] * (len(expressions) - len(found)))
                break
    return found


def _name(error, ident):
    return "Timeout" if ident in _thrown else type(error).__name__


def _where(one, frame):
    """Function, file and line, where Holdpoint does not know them."""
    if frame is not None:
        code = frame.f_code
        return [code.co_name, os.path.abspath(code.co_filename), _body(code)]
    users = _users(sys._getframe(4))
    one.where = [users.f_code.co_name if users else None, None, None]
    return one.where


def _finish(ident):
    # What interrupts an evaluation that takes too long may come late; it must not reach the program.
    while True:
        try:
            with _guard:
                _running.pop(ident, None)
                if ident not in _thrown:
                    return
            for _ in range(10000):
                pass
            _thrown.discard(ident)
            return
        except BaseException:
            continue


def _thread():
    """As pydevd numbers the threads for us."""
    try:
        return _local.number
    except AttributeError:
        pass
    try:
        from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
        from _pydevd_bundle.pydevd_constants import get_current_thread_id

        thread = get_current_thread_id(threading.current_thread())
        _local.number = BaseSchema._translate_id_to_dap(thread)
    except Exception:
        _local.number = 1
    return _local.number


def _thread_name():
    """None for the main one."""
    try:
        return _local.name
    except AttributeError:
        pass
    this = threading.current_thread()
    _local.name = None if this is threading.main_thread() else this.name
    return _local.name


def _tell(now):
    global _is_awake
    if len(_hits) >= _BATCH or not 0 <= now - _flushed < _EVERY:
        flush()
    elif not _is_awake:
        _is_awake = True
        _wake.set()


def flush():
    """Sends what there is."""
    global _flushed
    with _flushing:
        while _hits:
            batch = []
            while _hits and len(batch) < _BATCH:
                batch.append(_hits.popleft())
            _send(batch)
        _flushed = time.time()


def _send(batch):
    from _pydevd_bundle.pydevd_net_command import NetCommand

    db = debugger()
    if db is None or db.writer is None or db.writer._kill_received:
        return
    event = {"type": "event", "event": "holdpoint", "seq": 0, "body": {"hits": batch, **_named()}}
    command = NetCommand(99999, 0, event, is_json=True)
    command.as_dict = None
    command._after_send = [_sent]
    while not _room.acquire(timeout=1.0):
        if db.writer._kill_received or not db.writer.is_alive():
            return
    _add(db.writer, command)


def _named():
    """With its first hits a process says what it is called: it may be gone before anybody asks."""
    global _titled
    if _titled == os.getpid():
        return {}
    _titled = os.getpid()
    try:
        return {"title": json.loads(title())}
    except Exception:
        return {}


def _sent(_socket):
    _room.release()


def _add(writer, command):
    add = getattr(writer.add_command, "before_holdpoint", writer.add_command)
    add(command)


def _begin():
    """Once in each process: what was passed before a stop is told before the stop."""
    global _process
    db = debugger()
    before = db.writer.add_command
    if not hasattr(before, "before_holdpoint"):

        def add_command(command):
            if _hits:
                flush()
            before(command)

        add_command.before_holdpoint = before
        db.writer.add_command = add_command
        _before_disposing(db)
    if _process == os.getpid():
        return
    _process = os.getpid()
    from _pydevd_bundle.pydevd_daemon_thread import run_as_pydevd_daemon_thread

    run_as_pydevd_daemon_thread(db, _watch)
    import atexit

    atexit.register(_at_exit)
    for name in ("_exit", "execv", "execve"):
        _before(os, name)


def _before_disposing(db):
    """pydevd closes the connection as soon as the main thread is over, whatever is still on its way."""
    does = db.dispose_and_kill_all_pydevd_threads
    if hasattr(does, "before_holdpoint"):
        return

    def flushed(*args, **more):
        # These see that nobody listens any more.
        if not db.pydb_disposed and threading.current_thread() not in (db.reader, db.writer):
            _at_exit()
        return does(*args, **more)

    flushed.before_holdpoint = does
    db.dispose_and_kill_all_pydevd_threads = flushed


def _before(module, name):
    """Nothing runs after these, so what there is is sent before."""
    does = getattr(module, name)
    if hasattr(does, "before_holdpoint"):
        return

    def flushed(*args):
        _at_exit()
        return does(*args)

    flushed.before_holdpoint = does
    setattr(module, name, flushed)


def _at_exit():
    """Sends what there is, and waits until it is taken."""
    try:
        db = debugger()
        if _process != os.getpid() or db is None:
            return
        with _leaving:
            flush()
            # As long as something goes out: a server that is behind takes its time, one that is gone none.
            taken = 0
            while taken < _ROOM and db.writer.is_alive() and _room.acquire(timeout=_LAST):
                taken += 1
            for _ in range(taken):
                _room.release()
            _until_taken(db.writer.sock)
    except Exception:
        pass


def _until_taken(sock):
    """A process that ends with a request unread takes along what it has sent and the other side has not received."""
    import fcntl
    import struct
    import termios

    before, since = None, time.time()
    while time.time() - since < _LAST:
        left = struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))[0]
        if left == 0:
            return
        if left != before:
            before, since = left, time.time()
        time.sleep(0.001)


def _watch():
    """Sends the last hits of a burst, and ends evaluations that take too long."""
    global _is_awake
    while True:
        _wake.wait(0.2)
        if _is_awake:
            _is_awake = False
            _wake.clear()
            time.sleep(_EVERY)
        if _hits:
            flush()
        now = time.time()
        for ident, begun in list(_running.items()):
            if now - begun > _BUDGET:
                _throw(ident, begun)


def _throw(ident, begun):
    import ctypes
    import signal

    with _guard:
        if _running.get(ident) != begun:
            return
        _thrown.add(ident)
        # Ctrl-C ends a system call too, where the program has not its own.
        is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if is_default and ident == threading.main_thread().ident:
            signal.pthread_kill(ident, signal.SIGINT)
        else:
            throw = ctypes.pythonapi.PyThreadState_SetAsyncExc
            throw(ctypes.c_ulong(ident), ctypes.py_object(TimeoutError))


def _after_fork():
    """The parent sends its own; its threads and locks are not here."""
    global _guard, _flushing, _leaving, _room, _wake, _is_awake, _local
    _hits.clear()
    _local = threading.local()
    _running.clear()
    _thrown.clear()
    _guard, _flushing, _leaving = threading.Lock(), threading.RLock(), threading.RLock()
    _room, _wake, _is_awake = threading.BoundedSemaphore(_ROOM), threading.Event(), False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
