-- name: session
-- A session and its gate. locks: nothing; the caller holds the lane when it matters. rows: 0 or 1
SELECT session.id, session.consumer, consumer.name, session.key, coalesce(gate.held, false),
       gate.held_by, gate.dead_message, gate.version
  FROM comboio_session AS session
  JOIN comboio_consumer AS consumer ON consumer.id = session.consumer
  LEFT JOIN comboio_gate AS gate ON gate.session = session.id
 WHERE session.id = %(session)s;

-- name: hold
-- Shut a session by hand, beside any other reason its gate has.
-- locks: the caller holds the lane, so when this commits nothing of the session runs any more.
-- rows: 1, or 0 when it was held already
INSERT INTO comboio_gate AS gate (session, lane, held, held_by, held_reason)
VALUES (%(session)s, %(lane)s, true, %(actor)s, %(reason)s)
ON CONFLICT (session) DO UPDATE
   SET held = true, held_by = excluded.held_by, held_reason = excluded.held_reason,
       since = now(), version = nextval('comboio_version')
 WHERE NOT gate.held;

-- name: resume
-- Take the operator's reason away; the gate goes when it was the last one.
-- locks: the caller holds the lane. rows: 1, or 0 when the gate is no longer as seen
WITH gone AS (
    DELETE FROM comboio_gate
     WHERE session = %(session)s AND held AND version = %(seen)s
       AND dead_message IS NULL AND retry_at IS NULL AND solo_until IS NULL
    RETURNING session
), kept AS (
    UPDATE comboio_gate
       SET held = false, held_by = NULL, held_reason = NULL, version = nextval('comboio_version')
     WHERE session = %(session)s AND held AND version = %(seen)s
       AND (dead_message IS NOT NULL OR retry_at IS NOT NULL OR solo_until IS NOT NULL)
    RETURNING session
)
SELECT session FROM gone UNION ALL SELECT session FROM kept;

-- name: release
-- Dead messages left their sessions: they hold them no more, and a requeued one starts its limit anew.
-- A gate goes when no reason is left. is_open: neither held nor behind a dead message now.
-- locks: the caller holds the lanes. rows: one for each gate that named one of the messages
WITH touched AS (
    SELECT session, held, solo_until,
           CASE WHEN dead_message = ANY(%(ids)s::bigint[]) THEN NULL ELSE dead_message END AS dead,
           CASE WHEN head = ANY(%(ids)s::bigint[]) THEN NULL ELSE retry_at END AS retry,
           coalesce(head = ANY(%(ids)s::bigint[]), false) AS is_head,
           coalesce(dead_message = ANY(%(ids)s::bigint[]), false) AS held_it
      FROM comboio_gate
     WHERE session = ANY(%(sessions)s::bigint[])
       AND (dead_message = ANY(%(ids)s::bigint[]) OR head = ANY(%(ids)s::bigint[]))
), gone AS (
    DELETE FROM comboio_gate AS gate USING touched
     WHERE gate.session = touched.session
       AND NOT touched.held AND dead IS NULL AND retry IS NULL AND touched.solo_until IS NULL
), kept AS (
    UPDATE comboio_gate AS gate
       SET dead_message = dead, retry_at = retry, version = nextval('comboio_version'),
           head = CASE WHEN is_head THEN NULL ELSE gate.head END,
           attempts = CASE WHEN is_head THEN 0 ELSE gate.attempts END,
           starts = CASE WHEN is_head THEN 0 ELSE gate.starts END,
           error = CASE WHEN is_head OR held_it THEN NULL ELSE gate.error END
      FROM touched
     WHERE gate.session = touched.session
       AND (touched.held OR dead IS NOT NULL OR retry IS NOT NULL OR touched.solo_until IS NOT NULL)
)
SELECT session, held_it, NOT held AND dead IS NULL FROM touched;

-- name: consumer
-- A consumer and its hold. rows: 0 or 1
SELECT id, name, held AND (held_until IS NULL OR held_until > now()), held_by, held_at, version
  FROM comboio_consumer WHERE id = %(consumer)s;

-- name: hold_consumer
-- No message of the consumer is claimed any more; a hold that has ended may be followed by a new one.
-- locks: the consumer's row. rows: 1, or 0 when it is held already
UPDATE comboio_consumer
   SET held = true, held_at = now(), held_by = %(actor)s, held_reason = %(reason)s,
       held_until = %(until)s::timestamptz, version = nextval('comboio_version')
 WHERE id = %(consumer)s AND NOT (held AND (held_until IS NULL OR held_until > now()));

-- name: resume_consumer
-- locks: the consumer's row. rows: 1, or 0 when it is no longer as seen
UPDATE comboio_consumer
   SET held = false, held_at = NULL, held_by = NULL, held_reason = NULL, held_until = NULL,
       version = nextval('comboio_version')
 WHERE id = %(consumer)s AND held AND version = %(seen)s;

-- name: lease
-- Who works on a session of an external consumer. locks: nothing. rows: 0 or 1
SELECT lease.session, lease.consumer, consumer.name, session.key, lease.message_id, lease.fence,
       lease.expires_at <= clock_timestamp(), lease.slot = 0
  FROM comboio_lease AS lease
  JOIN comboio_consumer AS consumer ON consumer.id = lease.consumer
  LEFT JOIN comboio_session AS session ON session.id = lease.session
 WHERE lease.session = %(session)s;

-- name: steal
-- The lease ends now, under a new fence: its holder can neither renew nor commit, anyone may take it over.
-- Slot 0 is no process: it tells a stolen lease from one that ran out.
-- locks: the lease, so it waits for a holder that is committing. rows: 1, or 0 when it is no longer as seen
UPDATE comboio_lease
   SET fence = nextval('comboio_fence'), expires_at = clock_timestamp(), slot = 0
 WHERE session = %(session)s AND fence = %(seen)s AND expires_at > clock_timestamp();
