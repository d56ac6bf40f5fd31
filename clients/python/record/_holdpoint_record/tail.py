"""What the buffer holds that is not in the stream's file yet, where others can read it: a mapped file beside it.

So a program that waits or was killed is known to its last event. The compiled recorder writes the same.
"""

# The program may do to its builtins what it likes.
__builtins__ = dict(__builtins__)

import os

MAGIC = b"HPTAIL\0\1"
# Before the payload: the magic, how long the stream's file is without it, how long it is itself.
BEFORE = 24
ROOM = 64 << 10
HIGH = 700
# A mapping that goes closes its descriptor, whose number may be the program's by then: none goes.
_KEPT = []


class Tail:
    __slots__ = ("map", "path", "buffer", "told")

    @staticmethod
    def beside(stream, size, buffer):
        """Beside the stream of that path, which has so many bytes; None where it cannot be mapped."""
        path = stream[: -len("hps")] + "tail"
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        try:
            # Its pages are there before it is mapped: where the disk has no room for them, the write says so.
            pages = MAGIC + bytes(BEFORE - len(MAGIC) + ROOM)
            if os.write(fd, pages) != len(pages):
                raise OSError
            mapped = _mapped(fd, len(pages))
        except Exception:
            os.unlink(path)
            return None
        finally:
            os.close(fd)
        tail = Tail()
        tail.map, tail.path, tail.buffer = mapped, path, buffer
        tail.restart(size)
        return tail

    def restart(self, size):
        """The payload is in the stream, which has so many bytes now."""
        self.told = 0
        self.map[16:24] = bytes(8)
        self.map[8:16] = size.to_bytes(8, "little")

    def tell(self):
        """The payload as it is now: what was told before, and more."""
        told, end = self.told, len(self.buffer)
        if told < end <= ROOM:
            self.map[BEFORE + told : BEFORE + end] = self.buffer[told:]
            self.map[16:24] = end.to_bytes(8, "little")
            self.told = end

    def remove(self):
        try:
            os.unlink(self.path)
        except OSError:
            pass


def _mapped(fd, size):
    """A mapping keeps a descriptor of its own, the lowest there is: those are the program's, so they are taken first."""
    import mmap

    taken = []
    try:
        while not taken or taken[-1] < HIGH:
            taken.append(os.dup(fd))
        _KEPT.append(mmap.mmap(fd, size))
        return _KEPT[-1]
    finally:
        for it in taken:
            os.close(it)
