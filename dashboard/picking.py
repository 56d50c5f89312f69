"""A verb on several ticked rows: each on its own, told in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import words
from monitor.domain.actor import Actor
from monitor.domain.errors import PermissionRefusedError, RefusedError
from monitor.operations import Done, messages


def requeue(actor: Actor, picked: Sequence[tuple[int, int]]) -> Done:
    """Requeue each (message, seen version). Raises RefusedError when none of them could be."""
    if not picked:
        raise RefusedError(_("No row was selected; tick the messages to requeue."))
    refusals = []
    for message_id, seen in picked:
        try:
            # Each row is a click of its own; its version says whether it was done already.
            messages.requeue(replace(actor, click=None), message_id, seen=seen)
        except PermissionRefusedError:
            raise
        except RefusedError as error:
            refusals.append(str(error))
    done = len(picked) - len(refusals)
    if not done:
        raise RefusedError(refusals[0])
    text = ngettext("%(count)s message requeued.", "%(count)s messages requeued.", done)
    told = [text % {"count": words.count(done)}]
    if refusals:
        left = ngettext(
            "%(count)s was refused: ", "%(count)s were refused, the first because: ", len(refusals)
        )
        told.append(left % {"count": words.count(len(refusals))} + refusals[0])
    return Done(verb="requeue", text=" ".join(told), count=done)
