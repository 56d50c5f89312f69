"""Health for the machinery around us: does the process live, and can it do its work."""

from __future__ import annotations

from typing import Any

from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from monitor.reports import system
from monitor.reports.errors import ReportTimeoutError
from monitor.reports.reading import reading

_READY_SECONDS = 1.0


@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 while the process answers; asks nothing of anybody else."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """200 when the database answers and is migrated, else 503; says whether a worker lives.

    Without a worker messages are still accepted, so that alone is not "not ready".
    """
    found: dict[str, Any] = {"database": False, "migrated": False, "worker": False}
    try:
        found["migrated"] = _is_migrated()
        found["database"] = True
        if found["migrated"]:
            with reading(_READY_SECONDS) as cursor:
                found["worker"] = system.live_workers(cursor) > 0
    except ReportTimeoutError:
        pass  # slow, but there: whether a worker lives stays unknown
    except Error:
        found["database"] = False
    is_ready = found["database"] and found["migrated"]
    status = "ready" if is_ready else "not ready"
    return JsonResponse({"status": status, **found}, status=200 if is_ready else 503)


def _is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    targets = executor.loader.graph.leaf_nodes()
    return not executor.migration_plan(targets)
