-- name: claim
-- Locks up to %(count)s lanes of one consumer that hold something, from a rotating start.
-- Statement 1 of 2: reading in the same statement would use a snapshot older than the lock and ran
-- messages twice. LATERAL with ORDER BY and LIMIT 1 keeps one index probe per lane; EXISTS or no ORDER BY
-- became a sequential scan (24 ms instead of 0.7).
-- locks: lane rows, skipping those that another worker holds. rows: 0 to count.
SELECT l.lane FROM comboio_lane l
 CROSS JOIN LATERAL (SELECT 1 FROM comboio_ready r WHERE r.lane = l.lane
                      ORDER BY r.session, r.id LIMIT 1) waiting
 WHERE l.lane >= %(first)s AND l.lane < %(end)s
 ORDER BY l.lane LIMIT %(count)s FOR UPDATE OF l SKIP LOCKED;

-- name: lock_lane
-- One lane, if nobody holds it. locks: that lane row. rows: 1 or 0.
SELECT lane FROM comboio_lane WHERE lane = %(lane)s FOR UPDATE SKIP LOCKED;

-- name: read
-- A stretch of keys of each locked lane from its cursor, wrapping round, with the state of each gate:
-- NULL no gate, true shut, false a retry that is due. One instant for all gates of the statement
-- (clock_timestamp per row let a follower pass its head). Bodies are fetched later, by id.
-- rows: at most cap per lane, in the order of the stretch.
SELECT w.lane, q.session, q.id, g.gated, coalesce(g.attempts, 0), g.head
  FROM unnest(%(lanes)b::integer[], %(after)b::bigint[]) WITH ORDINALITY w(lane, after, n)
 CROSS JOIN LATERAL (
    (SELECT r.session, r.id FROM comboio_ready r WHERE r.lane = w.lane AND r.session > w.after
      ORDER BY r.session, r.id LIMIT %(cap)s)
    UNION ALL
    (SELECT r.session, r.id FROM comboio_ready r WHERE r.lane = w.lane AND r.session <= w.after
      ORDER BY r.session, r.id LIMIT %(cap)s)
    LIMIT %(cap)s) q
  LEFT JOIN LATERAL (SELECT held OR dead_message IS NOT NULL OR solo_until IS NOT NULL
                            OR coalesce(retry_at > statement_timestamp(), false) AS gated, attempts, head
                       FROM comboio_gate g WHERE g.session = q.session OFFSET 0) g ON true;

-- name: read_open
-- After a visit that met only shut sessions: a loose index scan, one probe per session, that passes
-- up to %(probes)s sessions of a lane and returns heads of open ones.
-- rows: 0 to cap per lane.
WITH RECURSIVE walk AS (
    SELECT w.lane, w.after AS session, 0 AS probes, NULL::bigint AS id
      FROM unnest(%(lanes)b::integer[]) WITH ORDINALITY l(lane, n)
      JOIN unnest(%(after)b::bigint[]) WITH ORDINALITY a(after, n) USING (n)
     CROSS JOIN LATERAL (SELECT l.lane, a.after) w
    UNION ALL
    SELECT walk.lane, next.session, walk.probes + 1, next.id
      FROM walk CROSS JOIN LATERAL (SELECT r.session, r.id FROM comboio_ready r
                                     WHERE r.lane = walk.lane AND r.session > walk.session
                                     ORDER BY r.session, r.id LIMIT 1) next
     WHERE walk.probes < %(probes)s
)
SELECT walk.lane, walk.session, walk.id, g.gated, coalesce(g.attempts, 0), g.head
  FROM walk
  LEFT JOIN LATERAL (SELECT held OR dead_message IS NOT NULL OR solo_until IS NOT NULL
                            OR coalesce(retry_at > statement_timestamp(), false) AS gated, attempts, head
                       FROM comboio_gate g WHERE g.session = walk.session OFFSET 0) g ON true
 WHERE walk.id IS NOT NULL
 ORDER BY walk.lane, walk.session;

-- name: read_numbered
-- The same as read, for a consumer whose sessions run by sequence number: in the order of the numbers, with
-- how far each session has come. rows: at most cap per lane, in the order of the stretch.
SELECT w.lane, q.session, q.id, g.gated, coalesce(g.attempts, 0), g.head, q.sequence, s.next,
       coalesce(s.ended, false), s.gap_before
  FROM unnest(%(lanes)b::integer[], %(after)b::bigint[]) WITH ORDINALITY w(lane, after, n)
 CROSS JOIN LATERAL (
    (SELECT r.session, r.id, r.sequence FROM comboio_ready r
      WHERE r.lane = w.lane AND r.session > w.after AND r.sequence IS NOT NULL
      ORDER BY r.session, r.sequence, r.id LIMIT %(cap)s)
    UNION ALL
    (SELECT r.session, r.id, r.sequence FROM comboio_ready r
      WHERE r.lane = w.lane AND r.session <= w.after AND r.sequence IS NOT NULL
      ORDER BY r.session, r.sequence, r.id LIMIT %(cap)s)
    LIMIT %(cap)s) q
  LEFT JOIN LATERAL (SELECT held OR dead_message IS NOT NULL OR solo_until IS NOT NULL
                            OR coalesce(retry_at > statement_timestamp(), false) AS gated, attempts, head
                       FROM comboio_gate g WHERE g.session = q.session OFFSET 0) g ON true
  LEFT JOIN LATERAL (SELECT next, ended, gap_before FROM comboio_sequence s
                      WHERE s.session = q.session OFFSET 0) s ON true;

-- name: read_open_numbered
-- The same as read_open, by sequence number. rows: 0 to cap per lane.
WITH RECURSIVE walk AS (
    SELECT w.lane, w.after AS session, 0 AS probes, NULL::bigint AS id, NULL::bigint AS sequence
      FROM unnest(%(lanes)b::integer[]) WITH ORDINALITY l(lane, n)
      JOIN unnest(%(after)b::bigint[]) WITH ORDINALITY a(after, n) USING (n)
     CROSS JOIN LATERAL (SELECT l.lane, a.after) w
    UNION ALL
    SELECT walk.lane, next.session, walk.probes + 1, next.id, next.sequence
      FROM walk CROSS JOIN LATERAL (SELECT r.session, r.id, r.sequence FROM comboio_ready r
                                     WHERE r.lane = walk.lane AND r.session > walk.session
                                       AND r.sequence IS NOT NULL
                                     ORDER BY r.session, r.sequence, r.id LIMIT 1) next
     WHERE walk.probes < %(probes)s
)
SELECT walk.lane, walk.session, walk.id, g.gated, coalesce(g.attempts, 0), g.head, walk.sequence, s.next,
       coalesce(s.ended, false), s.gap_before
  FROM walk
  LEFT JOIN LATERAL (SELECT held OR dead_message IS NOT NULL OR solo_until IS NOT NULL
                            OR coalesce(retry_at > statement_timestamp(), false) AS gated, attempts, head
                       FROM comboio_gate g WHERE g.session = walk.session OFFSET 0) g ON true
  LEFT JOIN LATERAL (SELECT next, ended, gap_before FROM comboio_sequence s
                      WHERE s.session = walk.session OFFSET 0) s ON true
 WHERE walk.id IS NOT NULL
 ORDER BY walk.lane, walk.session;

-- name: bodies
-- The chosen messages in the order given, whether another process life announced them (suspects of a
-- crash), and the transaction's id, which must still be the same when the batch is finished. A corrected
-- payload stands in for the accepted one.
-- rows: one per id.
SELECT m.id, m.session, s.key, m.source, m.origin, m.key, m.type, m.sequence,
       coalesce(v.content_type, m.content_type), coalesce(v.payload, m.payload), m.headers::text,
       m.correlation_id, m.traceparent, m.received_at, m.is_last, coalesce(v.revision, 1),
       w.id IS NOT NULL, pg_current_xact_id()::text::bigint
  FROM unnest(%(ids)b::bigint[]) WITH ORDINALITY u(id, n)
 CROSS JOIN LATERAL (SELECT * FROM comboio_message m WHERE m.id = u.id OFFSET 0) m
  LEFT JOIN comboio_session s ON s.id = m.session
  LEFT JOIN LATERAL (SELECT v.revision, v.payload, v.content_type FROM comboio_revision v
                      WHERE v.message_id = m.id ORDER BY v.revision DESC LIMIT 1) v ON true
  LEFT JOIN (SELECT DISTINCT unnest(ids) AS id FROM comboio_worker
              WHERE slot <> %(slot)b::bigint AND ids <> '{}') w
    ON w.id = u.id
 ORDER BY u.n;

-- name: places
-- Where these messages wait; those that left the queue are left out. rows: one per waiting message.
SELECT r.lane, r.session, r.id FROM unnest(%(ids)s::bigint[]) u(id)
  JOIN comboio_message m ON m.id = u.id
  JOIN comboio_ready r ON r.lane = m.lane AND r.session = m.session AND r.id = m.id;

-- name: is_ready
-- Whether a message still waits, seen after its session was leased: the holder before may have finished it
-- between our reading and our lease. rows: 1 or 0.
SELECT 1 FROM comboio_ready WHERE lane = %(lane)s AND session = %(session)s AND id = %(id)s;

-- name: transaction_id
-- The id of the open transaction, to be found again at its end. rows: 1.
SELECT pg_current_xact_id()::text::bigint;

-- name: finish
-- The marker of processing: the removal of each ready row, with its done row, in the transaction of the
-- effects. The caller asserts the count and rolls back otherwise. A handler that ended the transaction
-- finds another transaction id here, so nothing is finished.
-- rows: 1, with the number of messages finished; it must be the whole batch.
WITH batch AS (
    SELECT * FROM unnest(%(lanes)b::integer[], %(sessions)b::bigint[], %(ids)b::bigint[],
                         %(milliseconds)b::real[], %(attempts)b::smallint[], %(results)b::text[])
                  AS t(lane, session, id, ms, attempts, result)
), gone AS (
    DELETE FROM comboio_ready r USING batch b
     WHERE r.lane = b.lane AND r.session = b.session AND r.id = b.id
       AND pg_current_xact_id()::text::bigint = %(xid)b::bigint
    RETURNING r.id
), done AS (
    INSERT INTO comboio_done (id, consumer, ms, attempts, result)
    SELECT b.id, %(consumer)b::smallint, b.ms, b.attempts, b.result::jsonb
      FROM batch b JOIN gone ON gone.id = b.id
    RETURNING id
), counters AS (
    INSERT INTO comboio_rollup_delta (consumer, name, label, value)
    SELECT %(consumer)b::smallint, name, label, value
      FROM unnest(%(names)b::text[], %(labels)b::text[], %(values)b::float8[]) AS c(name, label, value)
)
SELECT count(*) FROM done;

-- name: clear_gates
-- The head of a waiting session went through: its gate has no reason left (shut ones are never picked).
-- A gate of another head stays: an older message that was requeued went before it, and its attempts count on.
-- locks: held lanes cover these rows. rows: one per such session.
DELETE FROM comboio_gate WHERE session = ANY(%(sessions)b::bigint[]) AND head = ANY(%(ids)b::bigint[])
   AND NOT held AND dead_message IS NULL AND solo_until IS NULL;

-- name: next_due
-- Seconds until the next retry of these consumers is due; 0 or less when it is. rows: 1.
SELECT extract(epoch FROM min(retry_at) - clock_timestamp())::float8 FROM comboio_gate
 WHERE retry_at IS NOT NULL AND NOT held AND dead_message IS NULL;
