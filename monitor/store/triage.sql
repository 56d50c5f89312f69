-- name: group_of
-- The group of an alert, live or resolved. locks: nothing. rows: 1 or 0.
SELECT kind, consumer, coalesce(cause, subject), title FROM comboio_alert WHERE id = %(alert)s;

-- name: said
-- Who said something of a group last. locks: nothing. rows: 1 or 0.
SELECT changed_by, changed_at, version
  FROM comboio_triage WHERE kind = %(kind)s::text AND consumer = %(consumer)s::smallint AND cause = %(cause)s::text;

-- name: own
-- Somebody takes a group, or is given it. The first words on a group make its row; of two people who both saw
-- none, the second waits for the first and finds another version. locks: the group's row. rows: 1, or 0 when it
-- is not as seen.
INSERT INTO comboio_triage AS t (kind, consumer, cause, owner, owned_at, changed_by)
SELECT %(kind)s::text, %(consumer)s::smallint, %(cause)s::text, %(owner)s::text, now(), %(actor)s::text
 WHERE %(seen)s::bigint = 0 OR EXISTS (SELECT FROM comboio_triage k
                                WHERE k.kind = %(kind)s::text AND k.consumer = %(consumer)s::smallint AND k.cause = %(cause)s::text)
    ON CONFLICT (kind, consumer, cause)
    DO UPDATE SET owner = excluded.owner, owned_at = now(), changed_by = excluded.changed_by, changed_at = now(),
                  version = nextval('comboio_version')
    WHERE t.version = %(seen)s::bigint
RETURNING id;

-- name: write_note
-- The note of a group, as above. locks: the group's row. rows: 1, or 0 when it is not as seen.
INSERT INTO comboio_triage AS t (kind, consumer, cause, note, noted_by, noted_at, changed_by)
SELECT %(kind)s::text, %(consumer)s::smallint, %(cause)s::text, %(note)s::text, %(actor)s::text, now(), %(actor)s::text
 WHERE %(seen)s::bigint = 0 OR EXISTS (SELECT FROM comboio_triage k
                                WHERE k.kind = %(kind)s::text AND k.consumer = %(consumer)s::smallint AND k.cause = %(cause)s::text)
    ON CONFLICT (kind, consumer, cause)
    DO UPDATE SET note = excluded.note, noted_by = excluded.noted_by, noted_at = now(),
                  changed_by = excluded.changed_by, changed_at = now(), version = nextval('comboio_version')
    WHERE t.version = %(seen)s::bigint
RETURNING id;

-- name: snooze
-- A group sleeps, with the number of times that it had been raised by then: much more of it ends the snooze.
-- locks: the group's row. rows: 1, or 0 when it is not as seen or none of its alerts is live.
INSERT INTO comboio_triage AS t
       (kind, consumer, cause, snoozed_until, snoozed_by, snoozed_at, snoozed_raised, changed_by)
SELECT %(kind)s::text, %(consumer)s::smallint, %(cause)s::text, %(until)s::timestamptz, %(actor)s::text, now(), g.raised, %(actor)s::text
  FROM comboio_groups(true, 10000, %(growth)s::integer, ARRAY[%(kind)s::text], %(consumer)s::smallint, %(cause)s::text) g
 WHERE %(seen)s::bigint = 0 OR EXISTS (SELECT FROM comboio_triage k
                                WHERE k.kind = %(kind)s::text AND k.consumer = %(consumer)s::smallint AND k.cause = %(cause)s::text)
    ON CONFLICT (kind, consumer, cause)
    DO UPDATE SET snoozed_until = excluded.snoozed_until, snoozed_by = excluded.snoozed_by, snoozed_at = now(),
                  snoozed_raised = excluded.snoozed_raised, changed_by = excluded.changed_by, changed_at = now(),
                  version = nextval('comboio_version')
    WHERE t.version = %(seen)s::bigint
RETURNING id;

-- name: wake
-- A snooze ends before its time. locks: the group's row. rows: 1, or 0 when it is not as seen or does not sleep.
UPDATE comboio_triage
   SET snoozed_until = NULL, changed_by = %(actor)s::text, changed_at = now(), version = nextval('comboio_version')
 WHERE kind = %(kind)s::text AND consumer = %(consumer)s::smallint AND cause = %(cause)s::text AND version = %(seen)s::bigint
   AND snoozed_until > now()
RETURNING id;
