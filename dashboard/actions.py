"""One POST view for each operator verb; what is allowed and what happens: see operations."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from dashboard import access, editing, forms, picking
from dashboard.answering import answer as _answer
from monitor.operations import (
    alerts,
    asking,
    bulk,
    consumers,
    effects,
    messages,
    mismatches,
    replaying,
    sessions,
    skipping,
)


@access.verb
def dead_letters_requeue(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Let one dead message run again at its place."""
    return _answer(
        request, lambda: messages.requeue(access.actor(request), id, seen=forms.seen(request))
    )


@access.verb
def dead_letters_requeue_picked(request: HttpRequest) -> HttpResponse:
    """Requeue the messages that were ticked, each as it was seen; one refusal stops no other."""
    picked = forms.picked(request)
    return _answer(request, lambda: picking.requeue(access.actor(request), picked))


@access.verb
def dead_letters_discard(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Decide that a dead message shall not run."""
    note = forms.reason(request)
    return _answer(
        request,
        lambda: messages.discard(access.actor(request), id, seen=forms.seen(request), note=note),
    )


@access.verb
def dead_letters_restore(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Put a discarded message back among the dead letters."""
    return _answer(
        request, lambda: messages.restore(access.actor(request), id, seen=forms.seen(request))
    )


@access.verb
def causes_requeue(request: HttpRequest) -> HttpResponse:
    """Requeue the dead messages of one cause, as far as the page showed them."""
    cause = request.POST.get("cause", "").replace("\x00", "")
    return _answer(
        request,
        lambda: bulk.requeue_cause(access.actor(request), cause, up_to_version=forms.seen(request)),
    )


@access.verb
def requeues_start(request: HttpRequest) -> HttpResponse:
    """Requeue the dead letters of a filter as the plan showed them: one first, or all."""
    scope, pace = forms.scope(request), forms.pace(request)
    reason = forms.reason(request)
    return _answer(
        request,
        lambda: bulk.start(
            access.actor(request),
            scope,
            up_to_version=forms.seen(request),
            is_canary=request.POST.get("first") == "one",
            per_second=pace.per_second,
            failure_limit=pace.failure_limit,
            reason=reason,
        ),
    )


@access.verb
def requeues_go_on(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Go on with the rest of a requeue."""
    return _answer(request, lambda: bulk.go_on(access.actor(request), id, seen=forms.seen(request)))


@access.verb
def requeues_stop(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Put no more of a requeue back."""
    return _answer(request, lambda: bulk.stop(access.actor(request), id))


@access.verb
def sessions_hold(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Keep a session from running."""
    reason = forms.reason(request)
    return _answer(request, lambda: sessions.hold(access.actor(request), id, reason=reason))


@access.verb
def sessions_resume(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Let a held session run on."""
    return _answer(
        request, lambda: sessions.resume(access.actor(request), id, seen=forms.seen(request))
    )


@access.verb
def sessions_skip_gap(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Give up the numbers that a session waits for."""
    seen, reason = forms.whole(request.POST.get("seen")), forms.reason(request)
    return _answer(
        request,
        lambda: skipping.skip_gap(
            access.actor(request), id, seen=-1 if seen is None else seen, reason=reason
        ),
    )


@access.verb
def sessions_skip_head(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Let a session go on without the message that stops it."""
    reason = forms.reason(request)
    return _answer(
        request,
        lambda: skipping.skip_head(
            access.actor(request), id, seen=forms.seen(request), reason=reason
        ),
    )


@access.verb
def messages_replay(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Run a dead message again with a corrected text; a refusal gives the text back."""
    typed = editing.typed(request)
    return _answer(
        request,
        lambda: replaying.replay(
            access.actor(request),
            id,
            typed.payload,
            seen=forms.seen(request),
            reason=typed.reason,
            is_raw=typed.is_raw,
        ),
        lambda error: editing.refused(request, id, typed, error),
    )


@access.verb
def sessions_steal(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Take the lease of a session from its holder."""
    reason = forms.reason(request)
    return _answer(
        request,
        lambda: sessions.steal(access.actor(request), id, seen=forms.seen(request), reason=reason),
    )


@access.verb
def consumers_hold(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Keep a consumer from running, for some minutes or until somebody resumes it."""
    reason, until = forms.reason(request), forms.until(request)
    return _answer(
        request, lambda: consumers.hold(access.actor(request), id, reason=reason, until=until)
    )


@access.verb
def consumers_resume(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Let a held consumer run on."""
    return _answer(
        request, lambda: consumers.resume(access.actor(request), id, seen=forms.seen(request))
    )


@access.verb
def mismatches_keep_first(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Decide that the first payload stands."""
    reason = forms.reason(request)
    return _answer(
        request,
        lambda: mismatches.keep_first(
            access.actor(request), id, seen=forms.seen(request), reason=reason
        ),
    )


@access.verb
def mismatches_accept_second(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Take the second payload as a new message."""
    reason = forms.reason(request)
    return _answer(
        request,
        lambda: mismatches.accept_second(
            access.actor(request), id, seen=forms.seen(request), reason=reason
        ),
    )


@access.verb
def reconcile_ask(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Ask the provider what became of an effect, and act on its answer."""
    return _answer(
        request, lambda: effects.reconcile_now(access.actor(request), id, seen=forms.seen(request))
    )


@access.verb
def reconcile_ask_all(request: HttpRequest) -> HttpResponse:
    """Ask the providers about many effects in doubt at once."""
    consumer = forms.scope(request).consumer
    return _answer(request, lambda: asking.reconcile_many(access.actor(request), consumer))


@access.verb
def reconcile_mark_done(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Decide that an effect happened."""
    reason, reference = forms.reason(request), forms.reference(request)
    return _answer(
        request,
        lambda: effects.mark_done(
            access.actor(request),
            id,
            seen=forms.seen(request),
            reference=reference,
            reason=reason,
        ),
    )


@access.verb
def reconcile_mark_not_done(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Decide that an effect did not happen: its message runs again."""
    reason = forms.reason(request)
    return _answer(
        request,
        lambda: effects.mark_not_done(
            access.actor(request), id, seen=forms.seen(request), reason=reason
        ),
    )


@access.verb
def reconcile_escalate(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Say that somebody else must find out about an effect."""
    reason = forms.reason(request)
    return _answer(
        request,
        lambda: effects.escalate(
            access.actor(request), id, seen=forms.seen(request), reason=reason
        ),
    )


@access.verb
def alerts_acknowledge(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Say that somebody looks after an alert."""
    return _answer(
        request, lambda: alerts.acknowledge(access.actor(request), id, seen=forms.seen(request))
    )
