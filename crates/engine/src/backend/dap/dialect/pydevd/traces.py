# Follows `helper.py` in the same module.
# Tracepoints: the program evaluates by itself and goes on; hits go out in batches.

_VALUE = LIMITS["value"]
_BATCH = LIMITS["batch"]
_EVERY = LIMITS["every"]
_BUDGET = LIMITS["budget"]
# Batches that are on their way: a program that is faster than who listens waits, and loses nothing.
_ROOM = LIMITS["room"]
_LAST = LIMITS["last"]

_quoted = json.encoder.encode_basestring_ascii
_ident = threading.get_ident
_now = time.time
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
    if one.last and one.reported >= one.last:
        return
    try:
        _report(one, names, values, frame)
    except BaseException:
        pass


def _report(one, names, values, frame):
    ident, begun = _ident(), _now()
    _running[ident] = begun
    try:
        hit = _hit(one, names, values, ident)
        if hit is None:
            return
        where = one.where if frame is None else None
        if where is None:
            where = _where(one, frame)
        _hits.append(_written(one, hit, begun, _thread(), where))
    finally:
        _finish(ident)
    _tell(begun)


def _hit(one, names, values, ident):
    """The number of a hit that is to be reported, and its values."""
    try:
        number = one.is_wanted(names, values)
        if not number or (one.multiple and number % one.multiple):
            return None
        one.reported += 1
        return number, _evaluate(one.expressions, names, values, ident) if one.expressions else ()
    except BaseException as error:
        # Its condition failed, which nobody would learn of otherwise.
        name = _name(error, ident) + (" in the condition" if one.is_literal else "")
        one.reported += 1
        return next(one.numbers), ["[%s]" % _quoted(name)] * len(one.expressions)


def _written(one, hit, begun, thread, where):
    """A hit as it is sent: `[[id, generation], number, time in µs, thread, where, values, thread's name]`."""
    # Floats take a third of a hit's time to write.
    number, found = hit
    text = f"{one.head}{number},{int(begun * 1e6)},{thread},{where},[{','.join(found)}]"
    return f"{text},{_thread_name()}]" if one.is_literal else text + "]"


def _evaluate(expressions, names, values, ident):
    """The values, each as JSON has it."""
    found = []
    for each in expressions:
        try:
            text = each.text(names, values)
            if len(text) > _VALUE:
                text = text[: _VALUE // 2] + "…" + text[-_VALUE // 2 + 1 :]
            found.append(_quoted(text))
        except BaseException as error:
            found.append("[%s]" % _quoted(_name(error, ident)))
            if ident in _thrown:
                # The budget is for all of them together.
                found.extend(['["Timeout"]'] * (len(expressions) - len(found)))
                break
    return found


def _name(error, ident):
    return "Timeout" if ident in _thrown else type(error).__name__


def _where(one, frame):
    """Function, file and line, where Holdpoint does not know them, as JSON."""
    if frame is not None:
        code = frame.f_code
        return json.dumps([code.co_name, os.path.abspath(code.co_filename), _body(code)])
    users = _users(sys._getframe(4))
    one.where = json.dumps([users.f_code.co_name if users else None, None, None])
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
    """As pydevd numbers the threads for us; None for its own."""
    try:
        return _local.number
    except AttributeError:
        pass
    if getattr(threading.current_thread(), "is_pydev_daemon_thread", False):
        _local.number = None
        return None
    try:
        from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
        from _pydevd_bundle.pydevd_constants import get_current_thread_id

        thread = get_current_thread_id(threading.current_thread())
        _local.number = BaseSchema._translate_id_to_dap(thread)
    except Exception:
        _local.number = 1
    return _local.number


def _thread_name():
    """As JSON; null for the main one."""
    try:
        return _local.name
    except AttributeError:
        pass
    this = threading.current_thread()
    _local.name = json.dumps(None if this is threading.main_thread() else this.name)
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
            _send([_hits.popleft() for _ in range(min(len(_hits), _BATCH))])
        _flushed = time.time()


def _send(batch):
    # They are JSON already.
    hits = b'"hits": [' + ",".join(batch).encode("ascii") + b"]"
    _event({"hits": [], **_named()}, b'"hits": []', hits)


def _event(body, instead_of=b"", put=b""):
    """One event; what is JSON already is put into its text."""
    from _pydevd_bundle.pydevd_net_command import NetCommand

    db = debugger()
    if db is None or db.writer is None or db.writer._kill_received:
        return
    event = {"type": "event", "event": "holdpoint", "seq": 0, "body": body}
    command = NetCommand(99999, 0, event, is_json=True)
    command.as_dict = None
    if instead_of:
        command._as_bytes = command._as_bytes.replace(instead_of, put, 1)
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
        _watch_nothing()
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
            _until_at_exit()
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
    _watch_nothing()
    _hits.clear()
    _local = threading.local()
    _running.clear()
    _thrown.clear()
    _guard, _flushing, _leaving = threading.Lock(), threading.RLock(), threading.RLock()
    _room, _wake, _is_awake = threading.BoundedSemaphore(_ROOM), threading.Event(), False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
