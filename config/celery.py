"""The Celery application. Its tasks are wake-ups and operator jobs; the truth is in PostgreSQL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import setup_logging, task_prerun, worker_init, worker_ready
from django.db import close_old_connections, connection  # noqa: TID251 - the life of connections, no data

from monitor.store.safety import require_safe_database
from monitor.worker.steps import STEPS

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("COMBOIO_ROLE", "worker")

_TRANSPORT = {
    # Longer than any batch; a wake-up that comes again finds nothing to do.
    "redis": {"visibility_timeout": 120},
    "amqp": {"confirm_publish": True},
}

app = Celery("comboio")
app.conf.update(
    broker_url=os.environ.get("BROKER_URL", "memory://"),
    broker_transport_options=_TRANSPORT.get(
        os.environ.get("BROKER_URL", "memory").split(":")[0].split("+")[0], {}
    ),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # No time limits here: the engine has its own, per message.
    # A killed child leaves no result to wait for; meanwhile its wake-up would keep the others away.
    worker_lost_wait=0.5,
    task_default_queue="comboio",
    worker_prefetch_multiplier=1,
    worker_send_task_events=False,
    worker_max_memory_per_child=400_000,
    worker_soft_shutdown_timeout=3,
    worker_cancel_long_running_tasks_on_connection_loss=True,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    timezone="UTC",
)
# Without it Celery closes the connection of Django before and after every task.
app.conf["CELERY_DB_REUSE_MAX"] = 500
app.autodiscover_tasks(["monitor"])
app.steps["worker"].update(STEPS)


@setup_logging.connect
def _keep_our_logging(**_: Any) -> None:
    """With a receiver Celery leaves logging alone: Django's settings have it."""


@worker_init.connect
def _check_database(**_: Any) -> None:
    require_safe_database()
    connection.close()  # The children must not inherit it.


@worker_ready.connect
def _say_ready(**_: Any) -> None:
    if path := os.environ.get("COMBOIO_READY"):
        Path(path).write_text(str(os.getpid()), encoding="ascii")


@task_prerun.connect
def _drop_dead_connections(**_: Any) -> None:
    """Connections are kept between tasks, so nobody else would notice a dead one."""
    close_old_connections()
