"""Asks a provider what became of an effect: outside any transaction, never longer than a limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from threading import Thread
from time import monotonic

import structlog
from django.db import connections

from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.domain.rendering import clean, render
from monitor.engine import registry
from monitor.store.reconciling import Asked

PROBE_SECONDS = 10.0
DETAIL_CHARACTERS = 16_384  # evidence is kept for ever and shown to people: no whole web pages

ERROR_CHARACTERS = 1000
_LATE = "No answer within {:g} s."

_log = structlog.get_logger("comboio")

Probe = Callable[[Call], Evidence]


def askable() -> list[tuple[str, str]]:
    """(consumer, effect) names of every declared effect whose provider can be asked."""
    return [
        (consumer.name, effect.name)
        for consumer in registry.all_consumers()
        for effect in consumer.effects
        if effect.reconcile is not None
    ]


def effect_of(asked: Asked) -> Effect | None:
    """The declaration behind a recorded effect; None when its code is gone."""
    consumer = registry.get(asked.consumer_name)
    return None if consumer is None else consumer.effect(asked.name)


def ask(asked: Asked) -> Evidence:
    """What the provider says about one effect; see ask_all."""
    return ask_all([asked])[0]


def ask_all(many: Sequence[Asked]) -> list[Evidence]:
    """What the providers say, in this order, all asked at once; wants no open transaction.

    Never raises and never takes longer: a probe that fails, answers nonsense or is not back in time
    is evidence too, "cannot tell" with the reason. One that hangs is left behind in its thread.
    """
    runs = [_Run(each) for each in many]
    for run in runs:
        run.start()
    deadline = monotonic() + PROBE_SECONDS
    for run in runs:
        run.join(max(deadline - monotonic(), 0.0))
    # Read once: a probe that comes back this moment changes no answer that was given.
    return [run.evidence or _unknown(_LATE.format(PROBE_SECONDS)) for run in runs]


class _Run(Thread):
    """A probe in a thread of its own, because nothing else can end the wait for foreign code."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(name=f"probe {asked.name} {asked.id}", daemon=True)
        self._asked = asked
        self.evidence: Evidence | None = None

    def run(self) -> None:
        try:
            self.evidence = _checked(_call(self._asked))
        except Exception as error:  # foreign code: whatever it raises, we know nothing more
            _log.warning(
                "probe_failed",
                effect=self._asked.name,
                effect_id=self._asked.id,
                message_id=self._asked.message_id,
                error_class=type(error).__qualname__,
            )
            rendered = render(error)
            self.evidence = _unknown(f"{rendered.class_name}: {rendered.text}")
        finally:
            connections.close_all()  # those of this thread, if the probe opened any


def _call(asked: Asked) -> Evidence:
    effect = effect_of(asked)
    if effect is None or effect.reconcile is None:
        return _unknown("Nothing declares how to ask this provider.")
    return effect.reconcile(
        Call(
            key=asked.key,
            request=asked.request,
            message_id=asked.message_id,
            traceparent=asked.traceparent,
        )
    )


def _checked(evidence: Evidence) -> Evidence:
    """The evidence, if it is some and can be kept as it is."""
    if not isinstance(evidence, Evidence) or evidence.told not in set(Told):
        return _unknown(f"The probe returned {type(evidence).__qualname__}, not Evidence.")
    if not (isinstance(evidence.detail, dict) and isinstance(evidence.reference, str)):
        return _unknown("Evidence has detail= as a dict and reference= as text.")
    values = [evidence.result, evidence.detail, evidence.reference]
    kept = json.dumps(values, allow_nan=False, ensure_ascii=False)
    kept.encode()  # lone surrogates raise here, not in the database
    if "\\u0000" in kept:
        return _unknown("The answer holds a NUL character, which cannot be kept.")
    if len(kept) > DETAIL_CHARACTERS:
        return _unknown(f"The answer has {len(kept)} characters; at most {DETAIL_CHARACTERS}.")
    return evidence


def _unknown(why: str) -> Evidence:
    return Evidence(told=Told.CANNOT_TELL, detail={"error": clean(why, ERROR_CHARACTERS)})
