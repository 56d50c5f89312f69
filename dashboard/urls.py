"""Every address of the console: its table of contents."""

from __future__ import annotations

from django.urls import path, register_converter

from dashboard import actions, exports, revealing, triage_actions
from dashboard.converters import ConsumerId, RowId
from dashboard.pages import (
    alerts,
    audit,
    consumers,
    correcting,
    dead_letters,
    duplicates,
    messages,
    mismatches,
    overview,
    reconcile,
    requeues,
    sessions,
    system,
    triage,
)

register_converter(RowId, "row")
register_converter(ConsumerId, "consumer")

app_name = "dashboard"
urlpatterns = [
    path("", overview.index, name="overview"),
    path("alerts/", alerts.index, name="alerts"),
    path("alerts/<row:id>/", alerts.detail, name="alerts_detail"),
    path("alerts/<row:id>/acknowledge/", actions.alerts_acknowledge, name="alerts_acknowledge"),
    path("triage/", triage.index, name="triage"),
    path("triage/take/", triage_actions.triage_take_picked, name="triage_take_picked"),
    path("triage/<row:id>/", triage.detail, name="triage_detail"),
    path("triage/<row:id>/take/", triage_actions.triage_take, name="triage_take"),
    path("triage/<row:id>/give/", triage_actions.triage_give, name="triage_give"),
    path("triage/<row:id>/note/", triage_actions.triage_note, name="triage_note"),
    path("triage/<row:id>/snooze/", triage_actions.triage_snooze, name="triage_snooze"),
    path("triage/<row:id>/wake/", triage_actions.triage_wake, name="triage_wake"),
    path("dead-letters/", dead_letters.index, name="dead_letters"),
    path("dead-letters/<row:id>/", dead_letters.detail, name="dead_letters_detail"),
    path(
        "dead-letters/<row:id>/requeue/", actions.dead_letters_requeue, name="dead_letters_requeue"
    ),
    path(
        "dead-letters/<row:id>/discard/", actions.dead_letters_discard, name="dead_letters_discard"
    ),
    path(
        "dead-letters/<row:id>/restore/", actions.dead_letters_restore, name="dead_letters_restore"
    ),
    path(
        "dead-letters/requeue/",
        actions.dead_letters_requeue_picked,
        name="dead_letters_requeue_picked",
    ),
    path("dead-letters/cause/requeue/", actions.causes_requeue, name="causes_requeue"),
    path("requeues/", requeues.index, name="requeues"),
    path("requeues/plan/", requeues.plan, name="requeues_plan"),
    path("requeues/start/", actions.requeues_start, name="requeues_start"),
    path("requeues/<row:id>/", requeues.detail, name="requeues_detail"),
    path("requeues/<row:id>/go-on/", actions.requeues_go_on, name="requeues_go_on"),
    path("requeues/<row:id>/stop/", actions.requeues_stop, name="requeues_stop"),
    path("mismatches/", mismatches.index, name="mismatches"),
    path("mismatches/<row:id>/", mismatches.detail, name="mismatches_detail"),
    path(
        "mismatches/<row:id>/keep-first/",
        actions.mismatches_keep_first,
        name="mismatches_keep_first",
    ),
    path(
        "mismatches/<row:id>/accept-second/",
        actions.mismatches_accept_second,
        name="mismatches_accept_second",
    ),
    path("mismatches/<row:id>/reveal/", revealing.mismatch, name="mismatches_reveal"),
    path("reconcile/", reconcile.index, name="reconcile"),
    path("reconcile/ask/", actions.reconcile_ask_all, name="reconcile_ask_all"),
    path("reconcile/<row:id>/", reconcile.detail, name="reconcile_detail"),
    path("reconcile/<row:id>/ask/", actions.reconcile_ask, name="reconcile_ask"),
    path("reconcile/<row:id>/done/", actions.reconcile_mark_done, name="reconcile_mark_done"),
    path(
        "reconcile/<row:id>/not-done/",
        actions.reconcile_mark_not_done,
        name="reconcile_mark_not_done",
    ),
    path("reconcile/<row:id>/escalate/", actions.reconcile_escalate, name="reconcile_escalate"),
    path("reconcile/<row:id>/reveal/", revealing.effect, name="reconcile_reveal"),
    path("sessions/", sessions.index, name="sessions"),
    path("sessions/<row:id>/", sessions.detail, name="sessions_detail"),
    path("sessions/<row:id>/hold/", actions.sessions_hold, name="sessions_hold"),
    path("sessions/<row:id>/resume/", actions.sessions_resume, name="sessions_resume"),
    path("sessions/<row:id>/steal/", actions.sessions_steal, name="sessions_steal"),
    path("sessions/<row:id>/skip-gap/", actions.sessions_skip_gap, name="sessions_skip_gap"),
    path("sessions/<row:id>/skip-head/", actions.sessions_skip_head, name="sessions_skip_head"),
    path("messages/", messages.index, name="messages"),
    path("messages/<row:id>/", messages.detail, name="messages_detail"),
    path("messages/<row:id>/payload/", revealing.download, name="messages_payload"),
    path("messages/<row:id>/reveal/", revealing.message, name="messages_reveal"),
    path("messages/<row:id>/correct/", correcting.editor, name="messages_correct"),
    path("messages/<row:id>/replay/", actions.messages_replay, name="messages_replay"),
    path("duplicates/", duplicates.index, name="duplicates"),
    path("consumers/", consumers.index, name="consumers"),
    path("consumers/<consumer:id>/", consumers.detail, name="consumers_detail"),
    path("consumers/<consumer:id>/hold/", actions.consumers_hold, name="consumers_hold"),
    path("consumers/<consumer:id>/resume/", actions.consumers_resume, name="consumers_resume"),
    path("audit/", audit.index, name="audit"),
    path("audit/export/", exports.audit_export, name="audit_export"),
    path("system/", system.index, name="system"),
]
