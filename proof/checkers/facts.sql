-- What the checkers need from the database, exported once when everything has settled. Read only.

-- name: messages
-- Every message with the tables it stands in, and its state as the product tells it. rows: all messages.
SELECT m.id, c.name, m.key, coalesce(s.key, ''), m.type,
       (r.id IS NOT NULL)::int + (d.id IS NOT NULL)::int + (x.id IS NOT NULL)::int
         + (g.id IS NOT NULL)::int + (u.id IS NOT NULL)::int AS places,
       CASE WHEN d.id IS NOT NULL THEN 'done' WHEN x.id IS NOT NULL THEN 'dead'
            WHEN g.id IS NOT NULL THEN 'discarded' WHEN u.id IS NOT NULL THEN 'in_doubt'
            WHEN r.id IS NOT NULL THEN 'ready' END AS state,
       coalesce(d.attempts, x.attempts, 0), coalesce(x.reason, ''),
       coalesce(k.duplicates, 0), coalesce(k.mismatches, 0)
  FROM comboio_message m
  JOIN comboio_consumer c ON c.id = m.consumer
  LEFT JOIN comboio_session s ON s.id = m.session
  LEFT JOIN comboio_ready r ON r.lane = m.lane AND r.session = m.session AND r.id = m.id
  LEFT JOIN comboio_done d ON d.id = m.id
  LEFT JOIN comboio_dead x ON x.id = m.id
  LEFT JOIN comboio_discarded g ON g.id = m.id
  LEFT JOIN comboio_in_doubt u ON u.id = m.id
  LEFT JOIN comboio_dedup k ON k.message_id = m.id
 ORDER BY m.id;

-- name: ledger
-- The rows of transfers. rows: two for each.
SELECT id, key, message_id, account, cents, pid FROM proof_ledger ORDER BY id;

-- name: appended
-- The lists of the sessions. rows: one for each append.
SELECT id, consumer, session, n, place, behind, key, message_id, pid FROM proof_appended ORDER BY id;

-- name: charges
-- What external handlers committed. rows: one for each.
SELECT id, key, message_id, consumer, session, fence, pid FROM proof_charge ORDER BY id;

-- name: effects
-- Calls to the outside as they were recorded. rows: one for each external message that called.
SELECT e.id, e.message_id, e.name, e.key, e.kind, e.state, e.calls, e.decided_by, e.conflict
  FROM comboio_effect e ORDER BY e.id;

-- name: audit
-- The acts of operators. rows: one for each.
SELECT id, actor, verb, object_kind, object_id FROM comboio_audit ORDER BY id;

-- name: totals
-- The counters, folded. rows: one for each consumer, name and label.
SELECT coalesce(c.name, ''), t.name, t.label, t.value
  FROM comboio_total t LEFT JOIN comboio_consumer c ON c.id = t.consumer ORDER BY 1, 2, 3;

-- name: mismatches
-- Other payloads under a known key. rows: one for each key and payload.
SELECT message_id, count, coalesce(verdict, '') FROM comboio_mismatch ORDER BY message_id;

-- name: left_over
-- What must be empty when nothing moves. rows: 1.
SELECT (SELECT count(*) FROM comboio_lease), (SELECT count(*) FROM comboio_rollup_delta),
       (SELECT count(*) FROM comboio_ready r WHERE NOT EXISTS (SELECT FROM comboio_message m WHERE m.id = r.id)),
       (SELECT count(*) FROM comboio_done d WHERE NOT EXISTS (SELECT FROM comboio_message m WHERE m.id = d.id));
