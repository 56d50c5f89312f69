"""Messages: find one, and everything about one."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from dashboard import access, command_lines, editing, forms, render, sentences
from monitor.domain.actor import Permission
from monitor.domain.states import State
from monitor.reports import consumers, corrections, messages, payloads

_STATES = (
    State.READY,
    State.WAITING,
    State.IN_DOUBT,
    State.DONE,
    State.DEAD,
    State.DISCARDED,
)


@access.page
def index(request: HttpRequest) -> HttpResponse:
    """What a text finds, or the newest messages of a state and consumer."""
    wanted = forms.MessageFilter.parse(request.GET)
    values = {"filter": wanted, "states": _STATES, "consumers": consumers.names()}
    if wanted.text:
        found = messages.find(wanted.text)
        if _is_it(wanted.text, found) and not render.wants_piece(request):
            return redirect("dashboard:messages_detail", found.messages[0].id)
        values["found"] = found
    else:
        values["page"] = messages.page(wanted.cursor, consumer=wanted.consumer, state=wanted.state)
    return render.page(request, "messages/index", values)


def _is_it(text: str, found: messages.Found) -> bool:
    """Whether a text names one message and nothing else: then its page is what is wanted."""
    return len(found.messages) == 1 and not found.sessions and found.messages[0].key == text


@access.page
def detail(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """One message: time line, payload, headers, duplicates, neighbours."""
    found = messages.detail(id)
    if found is None:
        raise Http404
    is_revealed = access.may(request, Permission.REVEAL_PAYLOAD)
    values = {
        "message": found,
        "safety": sentences.retry_safety(found),
        "is_revealed": is_revealed,
        "payload": payloads.of_message(id) if is_revealed else None,
        "corrections": corrections.of_message(id, is_revealed=is_revealed),
        "commands": command_lines.of_message(found, access.actor(request)),
        "preview": editing.preview(found.row) if found.row.state == State.DEAD else None,
    }
    return render.page(request, "messages/detail", values)
