-- name: walk_done
-- The next done messages by id. is_old: done for longer than their payload is kept. is_beyond: it came so
-- lately that nothing behind it can be old, for ids rise with the time of arrival.
-- locks: nothing. rows: at most the limit.
SELECT d.id, d.at < now() - make_interval(secs => %(seconds)s) AS is_old,
       coalesce(m.received_at >= now() - make_interval(secs => %(seconds)s), false) AS is_beyond
  FROM (SELECT id, at FROM comboio_done WHERE id > %(after)s ORDER BY id LIMIT %(limit)s) d
  LEFT JOIN LATERAL (SELECT received_at FROM comboio_message WHERE id = d.id OFFSET 0) m ON true
 ORDER BY d.id;

-- name: walk_discarded
-- The next discarded messages by id, as above. locks: nothing. rows: at most the limit.
SELECT d.id, d.at < now() - make_interval(secs => %(seconds)s) AS is_old,
       coalesce(m.received_at >= now() - make_interval(secs => %(seconds)s), false) AS is_beyond
  FROM (SELECT id, at FROM comboio_discarded WHERE id > %(after)s ORDER BY id LIMIT %(limit)s) d
  LEFT JOIN LATERAL (SELECT received_at FROM comboio_message WHERE id = d.id OFFSET 0) m ON true
 ORDER BY d.id;

-- name: lock_discarded
-- Discarded messages that nobody restores at this moment. locks: their rows, skipping held ones.
-- rows: one for each of them that still is.
SELECT id FROM comboio_discarded WHERE id = ANY(%(ids)s::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED;

-- name: kept
-- Which of these ended messages somebody still needs: a payload without verdict stands beside it, an alert
-- points at it, or it is the last of a session whose version is remembered (its age tells that of the version).
-- Each look-up is a subquery of its own, so it goes by index whatever the planner thinks of the number of ids.
-- locks: nothing. rows: one for each that is needed.
SELECT m.id
  FROM unnest(%(ids)s::bigint[]) wanted (id)
 CROSS JOIN LATERAL (SELECT id, session FROM comboio_message WHERE id = wanted.id OFFSET 0) m
 WHERE (SELECT x.id FROM comboio_mismatch x WHERE x.message_id = m.id AND x.verdict IS NULL LIMIT 1) IS NOT NULL
    OR m.id IN (SELECT target FROM comboio_alert WHERE state <> 'resolved' AND kind = 'dead letter')
    OR (m.session > 0
        AND (SELECT n.session FROM comboio_natural n WHERE n.session = m.session) IS NOT NULL
        AND (SELECT d.at FROM comboio_done d WHERE d.id = m.id) >= now() - make_interval(secs => %(seconds)s)
        AND (SELECT later.id FROM comboio_message later
              WHERE later.session = m.session AND later.id > m.id LIMIT 1) IS NULL);

-- name: unsettled
-- Those with an effect whose outcome is open or disputed. A callback that speaks at this moment is waited for;
-- one that comes later finds no effect any more.
-- locks: the effects of these messages, in the order of their ids. rows: one for each such effect.
WITH locked AS MATERIALIZED (
    SELECT message_id, state, conflict FROM comboio_effect
     WHERE message_id = ANY(%(ids)s::bigint[]) ORDER BY id FOR UPDATE
)
SELECT message_id FROM locked WHERE state NOT IN ('completed', 'failed') OR conflict <> '';

-- name: forget_messages
-- Ended messages with all that was kept of them. Of a decided mismatch only the payload goes: its verdict is
-- needed as long as the key is remembered, or a payload that was judged would be judged again.
-- locks: these rows, which nobody else changes any more. rows: one for each message.
WITH duplicates AS (
    DELETE FROM comboio_duplicate WHERE message_id = ANY(%(ids)s::bigint[])
), events AS (
    DELETE FROM comboio_event WHERE message_id = ANY(%(ids)s::bigint[])
), revisions AS (
    DELETE FROM comboio_revision WHERE message_id = ANY(%(ids)s::bigint[])
), mismatches AS (
    UPDATE comboio_mismatch SET payload = '', headers = '{}' WHERE message_id = ANY(%(ids)s::bigint[])
), effects AS (
    DELETE FROM comboio_effect WHERE message_id = ANY(%(ids)s::bigint[]) RETURNING id
), evidence AS (
    DELETE FROM comboio_evidence WHERE effect_id = ANY(ARRAY(SELECT id FROM effects))
), done AS (
    DELETE FROM comboio_done WHERE id = ANY(%(ids)s::bigint[])
), discarded AS (
    DELETE FROM comboio_discarded WHERE id = ANY(%(ids)s::bigint[])
)
DELETE FROM comboio_message WHERE id = ANY(%(ids)s::bigint[]);

-- name: blocks
-- How many blocks a table has: it is swept block by block, in the order in which its rows lie. An index on the
-- time would be paid for by each message, and a BRIN one turns useless once a few old rows stay among new ones.
-- rows: 1.
SELECT pg_relation_size(%(table)s::regclass) / current_setting('block_size')::bigint;

-- name: forget_keys
-- Keys seen longer ago than they are remembered, in some blocks of the table, whose message is gone. Open, dead,
-- waiting messages and those in doubt have their row, so they are never forgotten; nor is a key whose mismatch is
-- open or came lately.
-- locks: these dedup rows, skipping those that an ingest counts a duplicate on: this waits for nobody while it
-- holds them, so the order in which ingest locks them does not matter. rows: one for each that went.
DELETE FROM comboio_dedup WHERE ctid = ANY (ARRAY(
    SELECT d.ctid FROM comboio_dedup d
     WHERE d.ctid >= %(first)s::tid AND d.ctid < %(end)s::tid
       AND d.seen_at < now() - make_interval(secs => %(seconds)s)
       AND (SELECT m.id FROM comboio_message m WHERE m.id = d.message_id) IS NULL
       AND (SELECT x.id FROM comboio_mismatch x
             WHERE x.message_id = d.message_id
               AND (x.verdict IS NULL
                    OR greatest(x.last_at, x.verdict_at) >= now() - make_interval(secs => %(seconds)s))
             LIMIT 1) IS NULL
       FOR UPDATE OF d SKIP LOCKED))
RETURNING message_id;

-- name: forget_traces
-- What came under a key after its message was gone. locks: these rows. rows: one for each mismatch.
WITH duplicates AS (
    DELETE FROM comboio_duplicate WHERE message_id = ANY(%(ids)s::bigint[])
), events AS (
    DELETE FROM comboio_event WHERE message_id = ANY(%(ids)s::bigint[])
)
DELETE FROM comboio_mismatch WHERE message_id = ANY(%(ids)s::bigint[]);

-- name: unused_sessions
-- Sessions, in some blocks of the table, that nothing refers to and whose numbers rest as long as keys are
-- remembered. locks: nothing. rows: one for each.
SELECT s.id, s.consumer FROM comboio_session s
 WHERE s.ctid >= %(first)s::tid AND s.ctid < %(end)s::tid
   AND s.created_at < now() - make_interval(secs => %(seconds)s)
   AND (SELECT m.id FROM comboio_message m WHERE m.session = s.id LIMIT 1) IS NULL
   AND (SELECT g.session FROM comboio_gate g WHERE g.session = s.id) IS NULL
   AND (SELECT l.session FROM comboio_lease l WHERE l.session = s.id) IS NULL
   AND (SELECT q.session FROM comboio_sequence q
         WHERE q.session = s.id
           AND (q.gap_since IS NOT NULL
                OR q.changed_at >= now() - make_interval(secs => %(seconds)s))) IS NULL;

-- name: forget_sessions
-- Those of the sessions that are still unused. locks: their rows; the caller holds their lanes, so neither a
-- verb nor a worker gives them a gate or a number meanwhile. An ingest that needs one waits until this ends.
-- rows: one for each that went.
DELETE FROM comboio_session s
 WHERE s.id = ANY(%(ids)s::bigint[])
   AND (SELECT m.id FROM comboio_message m WHERE m.session = s.id LIMIT 1) IS NULL
   AND (SELECT g.session FROM comboio_gate g WHERE g.session = s.id) IS NULL
   AND (SELECT l.session FROM comboio_lease l WHERE l.session = s.id) IS NULL
   AND (SELECT q.session FROM comboio_sequence q
         WHERE q.session = s.id
           AND (q.gap_since IS NOT NULL
                OR q.changed_at >= now() - make_interval(secs => %(seconds)s))) IS NULL
RETURNING s.id;

-- name: session_writers
-- Transactions that may have found a session before it went and are not seen yet: who inserts into the table
-- holds this lock until its end. locks: nothing. rows: one for each.
SELECT virtualtransaction FROM pg_locks
 WHERE locktype = 'relation' AND relation = 'comboio_session'::regclass AND mode = 'RowExclusiveLock'
   AND granted AND pid <> pg_backend_pid()
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database());

-- name: is_used
-- Whether one of these sessions got a message meanwhile. locks: nothing. rows: 1.
SELECT EXISTS (SELECT FROM unnest(%(ids)s::bigint[]) gone (id)
                WHERE (SELECT m.id FROM comboio_message m WHERE m.session = gone.id LIMIT 1) IS NOT NULL);

-- name: forget_progress
-- How far forgotten sessions had come. locks: these rows; the caller holds the lanes. rows: one for each version.
WITH numbers AS (
    DELETE FROM comboio_sequence WHERE session = ANY(%(ids)s::bigint[])
)
DELETE FROM comboio_natural WHERE session = ANY(%(ids)s::bigint[]);

-- name: forget_alerts
-- Resolved alerts, the oldest first; one that is resolved never changes again. rows: at most the limit.
DELETE FROM comboio_alert WHERE id = ANY (ARRAY(
    SELECT id FROM comboio_alert
     WHERE state = 'resolved' AND resolved_at < now() - make_interval(secs => %(seconds)s)
     ORDER BY resolved_at LIMIT %(limit)s));

-- name: forget_triage
-- Words on groups that have no alert left, live or resolved, and were not changed for so long. Somebody who says
-- something at this moment is not waited for. locks: these rows, skipping held ones. rows: at most the limit.
DELETE FROM comboio_triage WHERE id = ANY (ARRAY(
    SELECT t.id FROM comboio_triage t
     WHERE t.changed_at < now() - make_interval(secs => %(seconds)s)
       AND NOT EXISTS (SELECT FROM comboio_alert a
                        WHERE a.kind = t.kind AND a.consumer = t.consumer
                          AND coalesce(a.cause, a.subject) = t.cause)
     ORDER BY t.changed_at LIMIT %(limit)s
       FOR UPDATE OF t SKIP LOCKED));

-- name: forget_clicks
-- Clicks that no browser sends again. rows: at most the limit.
DELETE FROM comboio_operation WHERE client_key = ANY (ARRAY(
    SELECT client_key FROM comboio_operation
     WHERE at < now() - make_interval(secs => %(seconds)s) ORDER BY at LIMIT %(limit)s));

-- name: forget_audit
-- The oldest acts; ids rise with time. rows: at most the limit.
DELETE FROM comboio_audit
 WHERE id = ANY (ARRAY(SELECT id FROM comboio_audit ORDER BY id LIMIT %(limit)s))
   AND at < now() - make_interval(secs => %(seconds)s);
