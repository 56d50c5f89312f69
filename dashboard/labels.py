"""The glossary's words in the language of the reader, with the look that goes with each."""

from __future__ import annotations

from django.utils.translation import gettext as _

from monitor.domain.actor import Permission

# Icons of states whose name is not an icon's name, and looks that several states share.
STATE_ICONS = {
    "open": "alerts",
    "acknowledged": "person",
    "resolved": "done",
    "ok": "done",
    "idle": "ready",
    "blocked": "held",
    "degraded": "warn",
    "dead head": "dead",
    "retry": "waiting",
    "alone": "running",
    "stopped": "dead",
    "live": "running",
    "keep first": "done",
    "accept second": "done",
    "purged": "gap",
    "not balanced": "warn",
    "in_doubt": "reconcile",
    "in doubt": "reconcile",
    "in progress": "waiting",
    "completed": "done",
    "failed": "dead",
    "delayed": "waiting",
    "stale": "dead",
    "throttled": "warn",
    "canary": "running",
    "waits for you": "person",
    "new": "alerts",
    "regressed": "restore",
    "ongoing": "person",
    "snoozed": "pause",
}
LOOKS = {
    "blocked": "held",
    "dead head": "dead",
    "retry": "waiting",
    "alone": "running",
    "live": "ok",
    "not balanced": "stopped",
    "keep first": "resolved",
    "accept second": "resolved",
    "in doubt": "in_doubt",
    "in progress": "waiting",
    "completed": "done",
    "failed": "dead",
    "delayed": "waiting",
    "stale": "dead",
    "throttled": "degraded",
    "gap": "waiting",
    "canary": "running",
    "waits for you": "waiting",
    "new": "open",
    "regressed": "open",
    "ongoing": "acknowledged",
}
PROBLEM_ICONS = {
    "no workers": "system",
    "effect in doubt": "reconcile",
    "conflict": "reconcile",
    "stalled": "waiting",
    "held session": "sessions",
    "held consumer": "held",
    "dead letter": "dead",
    "mismatch": "mismatch",
    "gap": "gap",
    "throttled consumer": "waiting",
    "stale figures": "warn",
}
MILD_PROBLEMS = {"mismatch", "held consumer", "throttled consumer", "stale figures"}
TONES = {
    "dead": "stop",
    "failed": "stop",
    "crashed": "stop",
    "done": "go",
    "mismatch": "caution",
    "waiting": "caution",
    "retry": "caution",
    "in doubt": "stop",
    "settled": "go",
    "downstream away": "caution",
    "worker killed": "stop",
    "parked": "caution",
}


def state(name: str) -> str:
    """A state of a message, session, consumer, alert or worker."""
    known = {
        "all": _("all"),
        "ready": _("ready"),
        "running": _("running"),
        "waiting": _("waiting"),
        "done": _("done"),
        "dead": _("dead"),
        "discarded": _("discarded"),
        "parked": _("parked"),
        "purged": _("purged"),
        "held": _("held"),
        "blocked": _("blocked"),
        "degraded": _("degraded"),
        "idle": _("idle"),
        "ok": _("ok"),
        "open": _("open"),
        "acknowledged": _("acknowledged"),
        "resolved": _("resolved"),
        "dead head": _("dead head"),
        "retry": _("waits for its retry"),
        "alone": _("runs alone"),
        "live": _("live"),
        "stopped": _("stopped"),
        "not balanced": _("not balanced"),
        "in_doubt": _("in doubt"),
        "in doubt": _("in doubt"),
        "in progress": _("in progress"),
        "completed": _("completed"),
        "failed": _("failed"),
        "keep first": _("first kept"),
        "accept second": _("second accepted"),
        "delayed": _("delayed"),
        "stale": _("stale"),
        "gap": _("waits for a number"),
        "throttled": _("throttled"),
        "canary": _("one goes ahead"),
        "waits for you": _("waits for you"),
        "new": _("new"),
        "regressed": _("regressed"),
        "ongoing": _("ongoing"),
        "snoozed": _("snoozed"),
    }
    return known.get(name, name)


def reason(name: str) -> str:
    """Why a message is dead."""
    known = {
        "poison": _("poison"),
        "malformed": _("malformed"),
        "no handler": _("no handler"),
        "stale": _("stale"),
        "wrong session": _("wrong session"),
        "crashed worker": _("crashed worker"),
    }
    return known.get(name, name)


def cause(name: str) -> str:
    """Why a duplicate came."""
    known = {
        "redelivered": _("redelivered by the broker"),
        "concurrent": _("while the first was not done"),
        "repeated": _("after the first was done"),
        "operator": _("sent by an operator"),
    }
    return known.get(name, name)


def alert(kind: str) -> str:
    """What kind of alert."""
    known = {
        "mismatch": _("mismatch"),
        "dead letter": _("dead letter"),
        "held session": _("held session"),
        "effect in doubt": _("effect in doubt"),
        "conflict": _("conflict of evidence"),
        "gap": _("number missing"),
        "throttled consumer": _("throttled consumer"),
    }
    return known.get(kind, kind)


def way(name: str) -> str:
    """By what duplicates are told apart."""
    known = {
        "cause": _("by cause"),
        "consumer": _("by consumer"),
        "origin": _("by origin"),
        "type": _("by type"),
    }
    return known.get(name, name)


def effect_list(name: str) -> str:
    """A list of the Reconcile page."""
    known = {"doubt": _("In doubt"), "conflict": _("Conflicts"), "settled": _("Settled")}
    return known.get(name, name)


def moment(kind: str) -> str:
    """An entry of a time line."""
    known = {
        "received": _("Received"),
        "effect": _("Call to the outside recorded"),
        "evidence": _("Evidence"),
        "in doubt": _("Set aside: outcome unknown"),
        "settled": _("Outcome settled"),
        "escalate": _("Escalated"),
        "steal": _("Lease taken from its holder"),
        "duplicate": _("Duplicate absorbed"),
        "mismatch": _("Other payload under its key"),
        "failed": _("Attempt failed"),
        "crashed": _("Its worker died"),
        "dead": _("Set aside as dead"),
        "done": _("Done"),
        "discarded": _("Discarded"),
        "discard": _("Discarded"),
        "requeue": _("Requeued"),
        "restore": _("Restored"),
        "keep first": _("First payload kept"),
        "accept second": _("Second payload accepted"),
        "hold": _("Session held"),
        "resume": _("Session resumed"),
        "downstream away": _("Its downstream was away; no attempt is counted"),
        "skip gap": _("Missing numbers given up before it"),
        "skip head": _("Its session went on without it"),
        "replay": _("Corrected and replayed"),
        "worker killed": _("Its worker was killed: it ran longer than it may"),
        "lease": _("Runs now, under a lease"),
        "parked": _("Waits behind another message"),
        "reveal": _("Payload revealed"),
        "session hold": _("Its session was held"),
        "session resume": _("Its session was resumed"),
        "session steal": _("The lease of its session was taken from its holder"),
        "session skip gap": _("Missing numbers of its session were given up"),
        "session skip head": _("Its session went on without its head"),
        "consumer hold": _("Its consumer was held"),
        "consumer resume": _("Its consumer was resumed"),
    }
    return known.get(kind, kind)


def permission(name: str) -> str:
    """What a permission allows."""
    known = {
        Permission.VIEW: _("look"),
        Permission.REVEAL_PAYLOAD: _("see payloads"),
        Permission.OPERATE: _(
            "requeue, hold, resume, acknowledge, take, snooze, ask a provider, escalate"
        ),
        Permission.DECIDE: _(
            "discard, restore, replay, skip, decide mismatches and effects, steal a lease"
        ),
        Permission.ADMINISTER: _("administer"),
    }
    return known.get(Permission(name), name)
