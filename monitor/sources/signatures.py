"""Who sent this: a bearer token or a signature over the raw bytes, with any live secret."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from monitor.domain.source import Auth
from monitor.sources.refusal import Reason, Refusal

_SPLIT = re.compile(r"[,\s]+")
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)
_WHSEC = "whsec_"


class Signed(Protocol):
    """An entrance whose sender proves itself: an HTTP source, or the callback of an effect."""

    @property
    def auth(self) -> Auth | None:
        """How, with which secrets; None: everyone may enter."""

    @property
    def tolerance_seconds(self) -> int:
        """How old a signed time may be."""

    @property
    def future_seconds(self) -> int:
        """How far ahead it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """That the sender is known: by which secret's variable, and what exactly was signed."""

    secret: str = ""
    signed: bytes = b""


def check_token(source: Signed, headers: Mapping[str, str]) -> Proof:
    """The proof of a bearer token, which needs no body. Refusal: 401, or 503 without a secret."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    secrets = list(_live(source))
    if scheme.lower() != "bearer" or not token.strip():
        raise Refusal(Reason.UNAUTHENTICATED, "Authorization: Bearer and a token are needed.")
    given = _bytes(token.strip())
    for name, secret in secrets:
        if hmac.compare_digest(given, secret):
            return Proof(secret=name)
    raise Refusal(Reason.UNAUTHENTICATED, "The token is not one that this address takes.")


def check_signature(source: Signed, headers: Mapping[str, str], body: bytes) -> Proof:
    """The proof of a signature over the body as it came over the wire.

    headers have lower-case names. Refusal: 401 bad_signature before 401 stale, so that a stale
    answer tells only a known sender; 503 when no secret is set.
    """
    auth = _auth(source)
    secrets = list(_live(source))
    signed, timestamp, given = _claim(auth, headers, body)
    for name, secret in secrets:
        expected = _expected(auth, secret, signed)
        # Each claimed signature is compared, bytes with bytes: text would raise for "é".
        if any(hmac.compare_digest(each, expected) for each in given):
            _check_age(source, timestamp)
            return Proof(secret=name, signed=signed)
    raise Refusal(Reason.BAD_SIGNATURE, "The signature does not match this body and this address.")


def missing_secrets(source: Signed) -> list[str]:
    """The variables of a source's secrets that hold nothing usable, for the system check."""
    if source.auth is None:
        return []
    usable = {name for name, _ in _usable(source.auth)}
    return [secret.env for secret in source.auth.secrets if secret.env not in usable]


def _auth(source: Signed) -> Auth:
    if source.auth is None:
        raise Refusal(Reason.NOT_CONFIGURED, "This source has no way to prove a sender.")
    return source.auth


def _live(source: Signed) -> Iterator[tuple[str, bytes]]:
    auth = _auth(source)
    ends = {secret.env: secret.until for secret in auth.secrets}
    usable = list(_usable(auth))
    if not usable:
        names = ", ".join(ends)
        raise Refusal(
            Reason.NOT_CONFIGURED, f"This source is not ready: no secret is set (variable {names})."
        )
    now = datetime.now(UTC)
    for name, secret in usable:
        end = ends[name]
        if end is None or now < end:
            yield name, secret


def _usable(auth: Auth) -> Iterator[tuple[str, bytes]]:
    for each in auth.secrets:
        text = os.environ.get(each.env, "")
        secret = _webhook_secret(text) if auth.scheme == "standard-webhooks" else text.encode()
        if secret:
            yield each.env, secret


def _webhook_secret(text: str) -> bytes:
    try:
        return base64.b64decode(text.removeprefix(_WHSEC), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _claim(
    auth: Auth, headers: Mapping[str, str], body: bytes
) -> tuple[bytes, str | None, list[bytes]]:
    """What was signed, its timestamp if there is one, and the signatures that are claimed."""
    if auth.scheme == "github":
        return body, None, _given(headers, "x-hub-signature-256", "sha256=")
    if auth.scheme == "standard-webhooks":
        key = headers.get("webhook-id", "").strip()
        if not key:
            raise Refusal(Reason.NO_KEY, "The header webhook-id is missing or empty.")
        timestamp = _needed(headers, "webhook-timestamp")
        given = _given(headers, "webhook-signature", "v1,", separator=re.compile(r"\s+"))
        return _bytes(f"{key}.{timestamp}.") + body, timestamp, given
    given = _given(headers, auth.header.lower(), auth.prefix)
    if not auth.timestamp_header:
        return body, None, given
    timestamp = _timestamp(auth, headers)
    return _bytes(f"{timestamp}.") + body, timestamp, given


def _timestamp(auth: Auth, headers: Mapping[str, str]) -> str:
    value = _needed(headers, auth.timestamp_header.lower())
    if auth.timestamp_header.lower() != auth.header.lower():
        return value
    # One header holds both: "t=1700000000,v1=…".
    parts = [part.removeprefix("t=") for part in _SPLIT.split(value) if part.startswith("t=")]
    return parts[0] if parts else ""


def _given(
    headers: Mapping[str, str], name: str, prefix: str, *, separator: re.Pattern[str] = _SPLIT
) -> list[bytes]:
    value = _needed(headers, name)
    parts = (part for part in separator.split(value) if part.startswith(prefix))
    return [_bytes(part[len(prefix) :]) for part in parts]


def _expected(auth: Auth, secret: bytes, signed: bytes) -> bytes:
    digest = hmac.digest(secret, signed, "sha256")
    if auth.scheme == "standard-webhooks" or (auth.scheme, auth.encoding) == ("hmac", "base64"):
        return base64.b64encode(digest)
    return digest.hex().encode()


def _check_age(source: Signed, timestamp: str | None) -> None:
    if timestamp is None:
        return
    if not _SECONDS.fullmatch(timestamp):
        raise Refusal(Reason.STALE, "The timestamp is not a number of seconds since 1970.")
    age = time.time() - int(timestamp)
    if age > source.tolerance_seconds or -age > source.future_seconds:
        raise Refusal(
            Reason.STALE,
            f"The timestamp is {abs(age):.0f} s {'old' if age > 0 else 'ahead'}; at most "
            f"{source.tolerance_seconds} s old and {source.future_seconds} s ahead are taken.",
        )


def _needed(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "").strip()
    if not value:
        raise Refusal(Reason.UNAUTHENTICATED, f"The header {name} is missing or empty.")
    return value


def _bytes(text: str) -> bytes:
    # A WSGI server hands header bytes over as Latin-1 text.
    return text.encode("latin-1", "replace")
