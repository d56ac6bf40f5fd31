"""The stream of the pure recorder: the same bytes as the compiled one writes.

Every event is put together in one piece under one lock, since threads may change between any two steps.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import os
import time
import _thread
from zlib import crc32

from .tail import Tail

MAGIC = b"HPSTRM\0\1"
CHUNK = 64 << 10
AGE_NS = 100_000_000
TICK_NS = 100
HIGH = 700


def u(number):
    if number < 128:
        return ONE[number]
    if number < 16_384:
        return bytes((number & 127 | 128, number >> 7))
    if number < 2_097_152:
        return bytes((number & 127 | 128, number >> 7 & 127 | 128, number >> 14))
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


ONE = [bytes((it,)) for it in range(128)]


def zigzag(number):
    return number << 1 if number >= 0 else (-number << 1) - 1


class Stream:
    def __init__(self, folder, has_tail=True):
        self.folder = folder
        self.has_tail = has_tail
        self.tail = None
        self.lock = _thread.allocate_lock()
        self.buffer = bytearray()
        self.fd = None
        self.bytes = 0
        self.last = self.written_at = 0

    def open(self):
        for n in range(1, 10_000):
            path = os.path.join(self.folder, "%d-%d.hps" % (os.getpid(), n))
            try:
                fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue
            except OSError:
                return False
            os.write(fd, MAGIC)
            self.fd = _raised(fd)
            about = os.fstat(self.fd)
            self.inode = (about.st_dev, about.st_ino)
            self.buffer.clear()
            self.bytes = 0
            self.last = self.written_at = time.monotonic_ns()
            self.tail = Tail.beside(path, len(MAGIC), self.buffer) if self.has_tail else None
            return True
        return False

    def ticks(self):
        now = time.monotonic_ns()
        ticks = (now - self.last) // TICK_NS
        self.last += ticks * TICK_NS
        return u(ticks)

    def is_due(self):
        return len(self.buffer) >= CHUNK or self.last - self.written_at > AGE_NS

    def flush(self):
        self.written_at = now = time.monotonic_ns()
        if not self.buffer:
            return
        payload = bytes(self.buffer)
        self.buffer.clear()
        if self.fd is None:
            self.tail = None
            return
        chunk = b"".join(
            (
                len(payload).to_bytes(4, "little"),
                crc32(payload).to_bytes(4, "little"),
                now.to_bytes(8, "little"),
                payload,
            )
        )
        self.bytes += len(chunk)
        try:
            about = os.fstat(self.fd)
            is_ours = (about.st_dev, about.st_ino) == self.inode
            if not is_ours or os.write(self.fd, chunk) != len(chunk):
                self.fd = self.tail = None
            elif self.tail is not None:
                self.tail.restart(len(MAGIC) + self.bytes)
        except OSError:
            # A full disk, or a program that closed what it did not open: it goes on, the recording does not.
            self.fd = self.tail = None

    def end(self):
        """The last record was written."""
        self.fd = None
        if self.tail is not None:
            self.tail.remove()
            self.tail = None


def _raised(fd):
    try:
        import fcntl

        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH)
        os.close(fd)
        return high
    except (ImportError, OSError):
        return fd
