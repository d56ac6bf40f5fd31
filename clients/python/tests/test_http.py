"""The reader of HTTP answers, whatever the pieces in which they come."""

import sys

import pytest

from conftest import CLIENT

sys.path.insert(0, str(CLIENT))

from holdpoint._http import Gone, Reader, Trouble  # noqa: E402

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 404 No\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"
CONTINUED = b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN
EMPTY = b"HTTP/1.1 204 Nothing\r\n\r\n"


def read(pieces):
    reader = Reader()
    for piece in pieces:
        if reader.feed(piece):
            return reader
    reader.end()
    return reader


@pytest.mark.parametrize("answer, status, body", [(PLAIN, 200, b"hello"), (CHUNKED, 404, b"hello"), (CONTINUED, 200, b"hello"), (EMPTY, 204, b"")])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_an_answer_in_pieces(answer, status, body, size):
    reader = read(answer[at : at + size] for at in range(0, len(answer), size))
    assert (reader.status, reader.body) == (status, body)
    assert not reader.close


def test_an_answer_that_ends_with_the_connection():
    reader = read([b"HTTP/1.0 200 OK\r\n\r\nhel", b"lo"])
    assert (reader.body, reader.close) == (b"hello", True)


def test_the_connection_is_to_be_closed():
    assert read([PLAIN.replace(b"X: y", b"Connection: Close")]).close


def test_what_follows_is_kept():
    assert read([PLAIN + b"HTTP"]).rest == b"HTTP"


@pytest.mark.parametrize(
    "answer",
    [
        b"hello",
        b"\x00\xff\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 100,
        b"HTTP/1.1 200 OK\r\n" + b"x" * 70000,
    ],
)
def test_nonsense_is_trouble(answer):
    with pytest.raises(Trouble):
        read([answer])


def test_no_answer_at_all_may_be_tried_again():
    with pytest.raises(Gone):
        read([])
