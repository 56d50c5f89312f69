"""How a verb is answered: by what was done, or by why it was refused."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from dashboard import render
from monitor.domain.errors import PermissionRefusedError, RefusedError, RepeatedClickError
from monitor.operations import Done


def answer(
    request: HttpRequest,
    act: Callable[[], Done],
    refused: Callable[[RefusedError], HttpResponse] | None = None,
) -> HttpResponse:
    """Use a verb and tell what came of it; refused: the answer to a refusal, if it is a page."""
    try:
        done = act()
    except RepeatedClickError as error:
        # What was wanted has happened.
        return render.done(request, Done(verb="", text=str(error), count=0))
    except PermissionRefusedError as error:
        return render.refused(request, str(error), status=403)
    except RefusedError as error:
        if refused is not None:
            return refused(error)
        return render.refused(request, str(error), status=409)
    return render.done(request, done)
