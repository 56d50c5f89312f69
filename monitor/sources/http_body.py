"""Reads the body of a request: never more than its source allows, compressed or not."""

from __future__ import annotations

import zlib
from typing import Protocol

from django.http import HttpRequest, UnreadablePostError

from monitor.sources.refusal import Reason, Refusal

_CHUNK_BYTES = 64 * 1024
_GZIP = zlib.MAX_WBITS | 16


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Limited(Protocol):
    """An entrance that takes bodies up to a size."""

    @property
    def body_limit_bytes(self) -> int:
        """The size, on the wire and unpacked."""


def read(request: HttpRequest, source: Limited) -> bytes:
    """The bytes as they came over the wire. Refusal 413 above the limit, before all is read."""
    limit = source.body_limit_bytes
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > limit:
        raise _too_large(limit)
    stream = _stream(request)
    chunks, size = [], 0
    try:
        while chunk := stream.read(min(_CHUNK_BYTES, limit + 1 - size)):
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
    except UnreadablePostError as error:
        raise Refusal(Reason.MALFORMED, "The body broke off.") from error
    return b"".join(chunks)


def _stream(request: HttpRequest) -> _Stream:
    environ = getattr(request, "environ", {})
    if request.META.get("CONTENT_LENGTH") or "chunked" not in request.META.get(
        "HTTP_TRANSFER_ENCODING", ""
    ):
        return request
    # Django reads nothing without a length. Only a server that ends the stream itself says so.
    if not environ.get("wsgi.input_terminated"):
        raise Refusal(Reason.MALFORMED, "Content-Length is missing.")
    stream: _Stream = environ["wsgi.input"]
    return stream


def decode(wire: bytes, encoding: str, limit: int) -> bytes:
    """The body without its declared compression: none or gzip. The limit counts what comes out.

    Refusal 415 for another encoding, 400 for broken gzip, 413 as soon as it gets too large.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return wire
    if name not in ("gzip", "x-gzip"):
        raise Refusal(Reason.ENCODING, "Content-Encoding: only gzip, or none, is read.")
    # max_length bounds the memory whatever the ratio: 200 kB of gzip can hold 200 MB.
    inflater = zlib.decompressobj(_GZIP)
    try:
        body = inflater.decompress(wire, limit + 1)
    except zlib.error as error:
        raise Refusal(Reason.MALFORMED, "The body is not gzip, although it says so.") from error
    if len(body) > limit:
        raise _too_large(limit)
    if not inflater.eof or inflater.unused_data:
        raise Refusal(Reason.MALFORMED, "The gzip body is cut off, or something follows it.")
    return body


def _too_large(limit: int) -> Refusal:
    return Refusal(Reason.TOO_LARGE, f"The body is larger than {limit} bytes.")
