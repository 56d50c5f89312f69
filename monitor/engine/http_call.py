"""The ready-made effect: one HTTP request, its outcome read from the status of the answer."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from monitor.domain.effect import Call, Effect, EffectRefused, Evidence, NotDone, Told
from monitor.domain.errors import ComboioError, ConfigurationError

Address = str | Callable[[], str]
Headers = Mapping[str, str] | Callable[[], Mapping[str, str]]

MOST_ANSWER_BYTES = 1_048_576
# The provider says of itself that it did not take the request.
_NOT_TAKEN = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
_REFERENCE_CHARACTERS = 200
_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


class OutcomeUnknownError(ComboioError):
    """The request went out; no answer came that tells whether the provider acted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: the body as JSON values, as text where it is none, None where it is empty."""

    status: int
    body: Any

    @property
    def words(self) -> str:
        """The status as people write it: HTTP 503 Service Unavailable."""
        known = {each.value: each.phrase for each in HTTPStatus}
        return f"HTTP {self.status} {known.get(self.status, '')}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpClient:
    """Where the provider stands and how it is spoken to. {key} in the address: the effect's key."""

    url: Address
    headers: Headers = field(default_factory=dict)
    timeout_seconds: float = 10.0

    def __post_init__(self) -> None:
        if not self.timeout_seconds > 0:
            raise ConfigurationError(f"timeout_seconds={self.timeout_seconds}; it must be above 0.")
        if isinstance(self.url, str):
            _check_url(self.url)

    def act(self, call: Call) -> Any:
        """Send the request as JSON with the effect's key; the body of a 2xx answer.

        Raises NotDone where nothing can have happened, EffectRefused where the provider said no,
        OutcomeUnknownError in every other case; a redirect is one of them, none is followed.
        """
        # Sorted, so that a request which was read back from the database has the same bytes.
        body = orjson.dumps(call.request, option=orjson.OPT_SORT_KEYS)
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Idempotency-Key": call.key,
        }
        answer = self._exchange("POST", call, headers, body)
        if answer.status in _NOT_TAKEN:
            raise NotDone(f"{answer.words}: the provider did not take the request.")
        if _is_2xx(answer.status):
            return answer.body
        if _is_4xx(answer.status) and answer.status != HTTPStatus.CONFLICT:
            raise EffectRefused(f"{answer.words}: the provider refused the request.")
        # 409: the first call with this key may still be at work there.
        raise OutcomeUnknownError(f"{answer.words} does not tell whether the provider acted.")

    def ask(self, call: Call) -> Evidence:
        """Look the effect up: 2xx says done, 404 and 410 say not done, everything else nothing."""
        try:
            answer = self._exchange("GET", call, {}, None)
        except (NotDone, OutcomeUnknownError) as error:
            return Evidence(told=Told.CANNOT_TELL, detail={"error": str(error)})
        detail = {"answer": answer.words}
        if _is_2xx(answer.status) and answer.status != HTTPStatus.ACCEPTED:
            return Evidence(
                told=Told.DONE, result=answer.body, reference=_reference(answer.body), detail=detail
            )
        told = Told.NOT_DONE if answer.status in _GONE else Told.CANNOT_TELL
        return Evidence(told=told, detail=detail)

    def _exchange(
        self, method: str, call: Call, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        try:
            connection = self._prepared(method, call, headers)
        except Exception as error:
            raise NotDone(f"The request could not be made up: {error!r}.") from error
        try:
            _connect(connection)
            with _Deadline(connection.sock, self.timeout_seconds) as deadline:
                connection.endheaders(body)
                with connection.getresponse() as response:
                    answer = _read(response)
            if deadline.is_over:
                raise OutcomeUnknownError(f"No whole answer within {self.timeout_seconds:g} s.")
            return answer
        except (OSError, HTTPException) as error:
            raise OutcomeUnknownError(f"No answer: {type(error).__name__}.") from error
        finally:
            connection.close()

    def _prepared(self, method: str, call: Call, headers: Mapping[str, str]) -> HTTPConnection:
        """A connection, not yet open, with the request's head in its buffer."""
        url = self.url if isinstance(self.url, str) else self.url()
        own = self.headers if isinstance(self.headers, Mapping) else self.headers()
        trace = {"traceparent": call.traceparent} if call.traceparent else {}
        parts = _check_url(url.replace("{key}", quote(call.key, safe="")))
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.netloc, timeout=self.timeout_seconds)
        query = f"?{parts.query}" if parts.query else ""
        connection.putrequest(method, (parts.path or "/") + query)
        for name, value in {**own, **trace, **headers}.items():
            connection.putheader(name, value)
        return connection


class _Deadline:
    """Cuts the connection when the time is over: a timeout of the socket starts anew per byte."""

    def __init__(self, connected: socket.socket, seconds: float) -> None:
        self._socket = connected
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self.is_over = False

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()

    def _cut(self) -> None:
        self.is_over = True
        with contextlib.suppress(OSError):  # the other side may have closed it meanwhile
            # Below TLS: its own shutdown would change the object that the reader stands in.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def http_effect(
    name: str,
    url: Address,
    *,
    ask: Address | None = None,
    headers: Headers | None = None,
    timeout_seconds: float = 10.0,
    **policy: Any,
) -> Effect:
    """An effect that POSTs its request as JSON, with Idempotency-Key and traceparent.

    ask is the address where the provider is asked for the effect, with {key} in it. Addresses and
    headers may be functions, called each time: for secrets that stand in the environment. policy
    is that of Effect: kind, settle_seconds, key_window_seconds. Raises ConfigurationError.
    """
    own = {} if headers is None else headers
    provider = HttpClient(url=url, headers=own, timeout_seconds=timeout_seconds)
    reconcile = None
    if ask is not None:
        if isinstance(ask, str) and "{key}" not in ask:
            raise ConfigurationError(f"Effect {name}: the address to ask needs {{key}} in it.")
        reconcile = HttpClient(url=ask, headers=own, timeout_seconds=timeout_seconds).ask
    return Effect(name=name, call=provider.act, reconcile=reconcile, **policy)


def _connect(connection: HTTPConnection) -> None:
    """Raises NotDone: before the connection stands, nothing was sent."""
    try:
        connection.connect()
    except OSError as error:
        raise NotDone(f"No connection to the provider: {type(error).__name__}.") from error


def _read(response: HTTPResponse) -> Answer:
    body = response.read(MOST_ANSWER_BYTES + 1)
    if len(body) > MOST_ANSWER_BYTES:
        return Answer(status=response.status, body=None)  # done all the same; nobody keeps that
    # Without a length and without a byte: the cut may have come in the middle of the head.
    is_bare = response.length is None and not response.chunked and not body
    if response.length or is_bare:
        raise OutcomeUnknownError("The answer broke off.")
    return Answer(status=response.status, body=_value(body))


def _value(body: bytes) -> Any:
    """What the database can keep of it: it holds no NUL character."""
    if not body:
        return None
    with contextlib.suppress(orjson.JSONDecodeError, orjson.JSONEncodeError):
        value = orjson.loads(body)
        if b"\\u0000" not in orjson.dumps(value):  # which also refuses an endless nesting
            return value
    return body.decode(errors="replace").replace("\0", "�")


def _reference(body: Any) -> str:
    """What the provider itself calls it, where its answer says so in the usual place."""
    found = body.get("id") if isinstance(body, dict) else None
    return str(found)[:_REFERENCE_CHARACTERS] if isinstance(found, str | int) else ""


def _check_url(url: str) -> Any:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ConfigurationError(
            "The address of an effect is http:// or https:// with a host, and no password in it."
        )
    return parts


def _is_2xx(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def _is_4xx(status: int) -> bool:
    return HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
