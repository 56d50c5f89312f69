"""A body is read no further than its limit, however it comes."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.test import RequestFactory

from monitor.domain.source import HttpSource
from monitor.sources import http_body
from monitor.sources.refusal import Reason, Refusal

SOURCE = HttpSource(name="s", format="json", key=("id",), unsigned=True, body_limit_bytes=1000)


class Counting(io.BytesIO):
    """A stream that says how much was taken from it."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


def _request(stream: io.BytesIO, **environ: Any) -> WSGIRequest:
    values = {"wsgi.input": stream, "REQUEST_METHOD": "POST", **environ}
    return RequestFactory().request(**values)


def _reason(request: WSGIRequest) -> Reason:
    with pytest.raises(Refusal) as caught:
        http_body.read(request, SOURCE)
    return caught.value.reason


def test_a_body_at_the_limit_is_read_whole() -> None:
    stream = Counting(b"x" * 1000)
    assert http_body.read(_request(stream, CONTENT_LENGTH="1000"), SOURCE) == b"x" * 1000


def test_a_longer_one_is_refused_by_its_announced_length_alone() -> None:
    stream = Counting(b"x" * 1001)
    assert _reason(_request(stream, CONTENT_LENGTH="1001")) is Reason.TOO_LARGE
    assert stream.taken == 0


def test_chunks_without_a_length_are_read_and_stopped_at_the_limit() -> None:
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    assert http_body.read(_request(Counting(b"abc"), **chunked), SOURCE) == b"abc"
    endless = Counting(b"x" * 10_000_000)
    assert _reason(_request(endless, **chunked)) is Reason.TOO_LARGE
    assert endless.taken == 1001


def test_chunks_at_a_server_that_does_not_end_them_are_refused() -> None:
    request = _request(Counting(b"abc"), HTTP_TRANSFER_ENCODING="chunked")
    assert _reason(request) is Reason.MALFORMED


def test_a_body_that_breaks_off_is_refused() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError("the connection is gone")

    assert _reason(_request(Broken(), CONTENT_LENGTH="10")) is Reason.MALFORMED


def test_a_bomb_costs_no_more_memory_than_the_limit() -> None:
    bomb = gzip.compress(b" " * 50_000_000, 9)
    tracemalloc.start()
    with pytest.raises(Refusal, match="larger than 1000000 bytes"):
        http_body.decode(bomb, "gzip", 1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_two_archives_in_one_body_are_refused() -> None:
    with pytest.raises(Refusal, match="something follows it"):
        http_body.decode(gzip.compress(b"a") * 2, "gzip", 1000)
