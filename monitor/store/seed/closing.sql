-- name: alerts
-- What a person should know of it: one alert for each cause of death and consumer, each session held by its
-- dead head, each gap and each mismatch without a verdict. Some have been seen. rows: one per alert.
INSERT INTO comboio_alert AS a (kind, consumer, subject, title, target, count, first_at, last_at, state,
                                acknowledged_by, acknowledged_at)
SELECT f.kind, f.consumer, f.subject, left(f.title, 300), f.target, f.count, f.first_at, f.last_at,
       CASE WHEN f.target %% 5 = 0 THEN 'acknowledged' ELSE 'open' END,
       CASE WHEN f.target %% 5 = 0 THEN 'anna' END, CASE WHEN f.target %% 5 = 0 THEN f.last_at END
  FROM (SELECT 'dead letter' AS kind, x.consumer, x.cause AS subject, x.error_class || ': ' || x.error AS title,
               x.id AS target, g.count, g.first_at, g.last_at
          FROM (SELECT consumer, cause, max(id) AS id, count(*)::integer AS count, min(at) AS first_at,
                       max(at) AS last_at
                  FROM comboio_dead WHERE id >= %(first)s::bigint GROUP BY consumer, cause) g
          JOIN comboio_dead x ON x.id = g.id
        UNION ALL
        SELECT 'held session', s.consumer, g.session::text,
               'Session “' || s.key || '” is held by its dead head ' || g.dead_message, g.session, 1, g.since, g.since
          FROM comboio_gate g JOIN comboio_session s ON s.id = g.session WHERE g.dead_message >= %(first)s::bigint
        UNION ALL
        SELECT 'gap', s.consumer, q.session::text, 'Session “' || s.key || '” waits for ' || q.next || '; '
               || q.gap_before || ' is there', q.session, 1, q.alerted_at, q.alerted_at
          FROM comboio_sequence q JOIN comboio_session s ON s.id = q.session
         WHERE q.gap_since IS NOT NULL AND q.alerted_at IS NOT NULL
        UNION ALL
        SELECT 'mismatch', m.consumer, m.message_id::text,
               'Key “' || f.key || '” came again with another payload', m.id, m.count, m.first_at, m.last_at
          FROM comboio_mismatch m JOIN comboio_message f ON f.id = m.message_id
         WHERE m.verdict IS NULL AND m.message_id >= %(first)s::bigint) f
 ORDER BY f.last_at, f.subject
    ON CONFLICT (kind, consumer, subject) WHERE state <> 'resolved'
    DO UPDATE SET count = a.count + EXCLUDED.count, last_at = EXCLUDED.last_at, target = EXCLUDED.target;

-- name: resolved
-- Alerts of the past: sessions that somebody helped. rows: at most count.
INSERT INTO comboio_alert (kind, consumer, subject, title, target, first_at, last_at, state, resolved_at)
SELECT 'held session', s.consumer, s.id::text, 'Session “' || s.key || '” was held by its dead head', s.id,
       s.created_at, s.created_at, 'resolved', s.created_at + interval '20 min'
  FROM comboio_session s ORDER BY s.created_at, s.id LIMIT %(count)s::integer;

-- name: audit
-- The acts of people that the other rows speak of, in order of time. rows: one per act.
INSERT INTO comboio_audit (at, actor, verb, object_kind, object_id, reason)
SELECT a.at, a.actor, a.verb, a.kind, a.id, a.reason
  FROM (SELECT at, discarded_by AS actor, 'discard' AS verb, 'message' AS kind, id, note AS reason
          FROM comboio_discarded WHERE id >= %(first)s::bigint
        UNION ALL
        SELECT verdict_at, verdict_by, verdict, 'mismatch', id, verdict_reason
          FROM comboio_mismatch WHERE verdict IS NOT NULL AND message_id >= %(first)s::bigint
        UNION ALL
        SELECT acknowledged_at, acknowledged_by, 'acknowledge', 'alert', id, '' FROM comboio_alert
         WHERE state <> 'resolved' AND acknowledged_by IS NOT NULL AND id > %(last_alert)s::bigint
        UNION ALL
        SELECT d.at - interval '1 s', (ARRAY['anna', 'bert', 'olga'])[1 + d.id %% 3], 'requeue', 'message', d.id,
               'the fix is live'
          FROM comboio_done d WHERE d.id >= %(first)s::bigint AND d.attempts = 4
        UNION ALL
        SELECT started_at, actor, 'requeue many', 'bulk', id, reason FROM comboio_bulk WHERE id > %(last_bulk)s::bigint
        UNION ALL
        SELECT since, held_by, 'hold', 'session', session, held_reason FROM comboio_gate WHERE held) a
 ORDER BY a.at, a.id;

-- name: requeue
-- A requeue of many of the past: some of it went through, some failed again and is dead. rows: one per message.
WITH failed AS (
    SELECT id, version FROM comboio_dead WHERE cause = %(cause)s::text ORDER BY cause, id DESC LIMIT %(failed)s::integer
), processed AS (
    SELECT id FROM comboio_done WHERE id >= %(from)s::bigint ORDER BY id LIMIT %(processed)s::integer
), counted AS (
    SELECT (SELECT count(*)::integer FROM failed) AS failed, (SELECT count(*)::integer FROM processed) AS processed
), bulk AS (
    INSERT INTO comboio_bulk (state, why, cause, up_to_version, actor, reason, per_second, failure_limit, started_at,
                              ended_at, paced_at, total, moved, processed, failed_again, looked_to)
    SELECT %(state)s::text, %(why)s::text, %(cause)s::text, nextval('comboio_version'), %(actor)s::text,
           'the fix is live', %(per_second)s::real, 0.2, %(at)s::timestamptz, %(at)s::timestamptz + interval '3 min',
           %(at)s::timestamptz, failed + processed, failed + processed, processed, failed, 0
      FROM counted RETURNING id
)
INSERT INTO comboio_bulk_item (bulk, id, seen, state, round)
SELECT b.id, f.id, f.version, 'failed again', 1 FROM bulk b, failed f
UNION ALL
SELECT b.id, p.id, 0, 'processed', 1 FROM bulk b, processed p;

-- name: last_ids
-- Where alerts, requeues of many and acts stand before the history is written. rows: 1.
SELECT coalesce((SELECT max(id) FROM comboio_alert), 0), coalesce((SELECT max(id) FROM comboio_bulk), 0),
       coalesce((SELECT max(id) FROM comboio_audit), 0);

-- name: workers
-- Processes that were there a moment ago; no id is announced, so nobody takes their messages for suspects. rows: 3.
INSERT INTO comboio_worker (process, host, pid, at, started_at)
SELECT process, 'host-' || n, 4000 + n, clock_timestamp(), now() - interval '2 d'
  FROM unnest(ARRAY['worker', 'worker', 'clock']) WITH ORDINALITY w (process, n);

-- name: counters
-- Minutes and totals, counted from the rows that stand there, so the books balance by themselves. What an
-- operator accepted as second (ids behind last) was not received as new. rows: one per total.
WITH counted AS (
    SELECT date_trunc('minute', received_at) AS minute, consumer, 'received' AS name, 'new' AS label,
           count(*)::float8 AS value
      FROM comboio_message WHERE id BETWEEN %(first)s::bigint AND %(last)s::bigint GROUP BY 1, 2
    UNION ALL
    SELECT d.minute, d.consumer, x.name, x.label, x.value
      FROM (SELECT date_trunc('minute', at) AS minute, consumer, count(*)::float8 AS runs, sum(ms) / 1000 AS seconds
              FROM comboio_done WHERE id >= %(first)s::bigint GROUP BY 1, 2) d
     CROSS JOIN LATERAL (VALUES ('processed', 'done', d.runs), ('handler_seconds_sum', '', d.seconds))
                        x (name, label, value)
    UNION ALL
    SELECT date_trunc('minute', at), consumer, 'handler_seconds_bucket',
           (%(buckets)s::text[])[1 + width_bucket(ms::float8 / 1000, %(bounds)s::float8[])], count(*)
      FROM comboio_done WHERE id >= %(first)s::bigint GROUP BY 1, 2, 4
    UNION ALL
    SELECT date_trunc('minute', e.at), m.consumer, 'processed', 'failed', count(*)
      FROM comboio_event e JOIN comboio_message m ON m.id = e.message_id
     WHERE e.kind = 'failed' AND e.message_id >= %(first)s::bigint GROUP BY 1, 2
    UNION ALL
    SELECT date_trunc('minute', died.at), died.consumer, x.name, x.label, count(*)
      FROM (SELECT at, consumer, reason FROM comboio_dead WHERE id >= %(first)s::bigint
            UNION ALL
            SELECT dead_at, consumer, reason FROM comboio_discarded WHERE id >= %(first)s::bigint) died
     CROSS JOIN LATERAL (VALUES ('processed', 'dead'), ('dead', died.reason)) x (name, label)
     GROUP BY 1, 2, 3, 4
    UNION ALL
    -- The last kept duplicate stands for those that are only counted.
    SELECT date_trunc('minute', p.at), p.consumer, x.name, x.label,
           sum(CASE WHEN p.n = 20 THEN %(beyond)s::float8 ELSE 1 END)
      FROM comboio_duplicate p
     CROSS JOIN LATERAL (VALUES ('received', 'duplicate'), ('duplicates', p.cause)) x (name, label)
     WHERE p.message_id >= %(first)s::bigint GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT date_trunc('minute', first_at), consumer, 'received', 'mismatch', sum(count)
      FROM comboio_mismatch WHERE message_id >= %(first)s::bigint GROUP BY 1, 2
    UNION ALL
    SELECT date_trunc('minute', called_at), consumer, 'effects', x.label, count(*)
      FROM comboio_effect CROSS JOIN LATERAL (VALUES ('called'), (nullif(state, 'in progress'))) x (label)
     WHERE message_id >= %(first)s::bigint AND x.label IS NOT NULL GROUP BY 1, 2, 4
    UNION ALL
    SELECT date_trunc('minute', at), 0::smallint, 'operator_actions', verb, count(*)
      FROM comboio_audit WHERE id > %(last_act)s::bigint GROUP BY 1, 4
), minutes AS (
    INSERT INTO comboio_rollup AS r (minute, consumer, name, label, value)
    SELECT minute, consumer, name, label, sum(value) FROM counted GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (minute, consumer, name, label) DO UPDATE SET value = r.value + EXCLUDED.value
)
INSERT INTO comboio_total AS t (consumer, name, label, value)
SELECT consumer, name, label, sum(value) FROM counted GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (consumer, name, label) DO UPDATE SET value = t.value + EXCLUDED.value;
