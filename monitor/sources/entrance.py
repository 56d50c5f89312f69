"""What every signed address shares: who sent this, its body, and its errors as refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import psycopg
import structlog
from django.db import Error, connection
from django.http import HttpRequest

from monitor.domain.errors import ConfigurationError, RejectedDeliveryError
from monitor.sources import http_body, signatures
from monitor.sources.refusal import Reason, Refusal

log = structlog.get_logger("comboio")


class Entrance(signatures.Signed, http_body.Limited, Protocol):
    """An address whose sender proves itself and whose bodies have a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A request of a known sender: header names in lower case, the body unpacked."""

    headers: Mapping[str, str]
    body: bytes
    proof: signatures.Proof


def open_request(request: HttpRequest, entrance: Entrance) -> Opened:
    """The request, once its sender is known. A token is checked before a byte of the body is read.

    Raises Refusal when the sender is unknown or the body breaks a rule.
    """
    headers = lower_case(request)
    scheme = entrance.auth.scheme if entrance.auth else ""
    proof = signatures.check_token(entrance, headers) if scheme == "bearer" else signatures.Proof()
    wire = http_body.read(request, entrance)
    if scheme not in ("", "bearer"):
        proof = signatures.check_signature(entrance, headers, wire)
    encoding = headers.get("content-encoding", "")
    body = http_body.decode(wire, encoding, entrance.body_limit_bytes)
    return Opened(headers=headers, body=body, proof=proof)


def lower_case(request: HttpRequest) -> dict[str, str]:
    """The headers of a request, their names in lower case."""
    return {name.lower(): value for name, value in request.headers.items()}


def refusal_of(name: str, error: Exception) -> Refusal:
    """An error as the refusal of a request; a fault of ours is never blamed on the sender."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RejectedDeliveryError):
        return Refusal(Reason.MALFORMED, str(error))
    if isinstance(error, ConfigurationError):
        log.error("configuration_wrong", detail=str(error))
        return Refusal(Reason.NOT_CONFIGURED, "The settings of this service are wrong.")
    if isinstance(error, psycopg.DataError | psycopg.IntegrityError):
        log.error("delivery_cannot_be_stored", source=name, detail=type(error).__name__)
        return Refusal(Reason.MALFORMED, "The database cannot hold this message.")
    if isinstance(error, psycopg.Error | Error):
        log.error("ingest_not_durable", source=name, detail=type(error).__name__)
        _drop_connection()
    else:
        log.error("ingest_failed", source=name, exc_info=error)
    return Refusal(Reason.NOT_DURABLE, "It is not stored for certain; send it again.")


def _drop_connection() -> None:
    # psycopg's own cursor hides a broken connection from Django, which would use it again.
    if not connection.in_atomic_block:
        connection.close()
