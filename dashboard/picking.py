"""A verb on several ticked rows: each on its own, told in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import words
from monitor.domain.actor import Actor
from monitor.domain.errors import PermissionRefusedError, RefusedError
from monitor.operations import Done, messages, triage


def requeue(actor: Actor, picked: Sequence[tuple[int, int]]) -> Done:
    """Requeue each (message, seen version). Raises RefusedError when none of them could be."""
    if not picked:
        raise RefusedError(_("No row was selected; tick the messages to requeue."))
    refusals = _each(actor, picked, messages.requeue)
    done = len(picked) - len(refusals)
    text = ngettext("%(count)s message requeued.", "%(count)s messages requeued.", done)
    return _told("requeue", text % {"count": words.count(done)}, done, refusals)


def take(actor: Actor, picked: Sequence[tuple[int, int]]) -> Done:
    """Take each (group's alert, seen version). Raises RefusedError when none of them could be."""
    if not picked:
        raise RefusedError(_("No row was selected; tick the groups to take."))
    refusals = _each(actor, picked, triage.take)
    done = len(picked) - len(refusals)
    text = ngettext(
        "You look after %(count)s group now.", "You look after %(count)s groups now.", done
    )
    return _told("take", text % {"count": words.count(done)}, done, refusals)


def _each(actor: Actor, picked: Sequence[tuple[int, int]], use: Callable[..., Done]) -> list[str]:
    """Use a verb on each; why some were refused. Raises RefusedError when all of them were."""
    refusals = []
    for number, seen in picked:
        try:
            # Each row is a click of its own; its version says whether it was done already.
            use(replace(actor, click=None), number, seen=seen)
        except PermissionRefusedError:
            raise
        except RefusedError as error:
            refusals.append(str(error))
    if len(refusals) == len(picked):
        raise RefusedError(refusals[0])
    return refusals


def _told(verb: str, text: str, done: int, refusals: list[str]) -> Done:
    told = [text]
    if refusals:
        left = ngettext(
            "%(count)s was refused: ", "%(count)s were refused, the first because: ", len(refusals)
        )
        told.append(left % {"count": words.count(len(refusals))} + refusals[0])
    return Done(verb=verb, text=" ".join(told), count=done)
