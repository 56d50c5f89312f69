-- name: done
-- Of a stretch of messages all that stand nowhere else were processed, after a time by the pace of their
-- consumer; a few needed more attempts. locks: nothing that others wait for. rows: one per message.
INSERT INTO comboio_done (id, consumer, at, ms, attempts, result)
SELECT f.id, f.consumer,
       least(f.received_at + make_interval(secs => 0.02 + f.ms / 1000 + (f.attempts - 1) * 4), now()),
       f.ms, f.attempts, CASE WHEN f.id %% 3 = 0 THEN jsonb_build_object('booking', f.id) END
  FROM (SELECT m.id, m.consumer, m.received_at, (p.pace * (0.3 - ln(1 - random())))::real AS ms,
               (CASE WHEN random() < 0.02 THEN 2 + floor(random() * 3) ELSE 1 END)::smallint AS attempts
          FROM comboio_message m
          JOIN unnest(%(consumers)s::smallint[], %(paces)s::float8[]) p (consumer, pace) ON p.consumer = m.consumer
         WHERE m.id BETWEEN %(first)s::bigint AND %(last)s::bigint AND m.id <> ALL (%(others)s::bigint[])
         ORDER BY m.id) f;

-- name: failed_attempts
-- What failed before it was done, and each attempt of what died. rows: one per failed attempt.
INSERT INTO comboio_event (message_id, at, kind, attempt, detail)
SELECT f.id, f.at - make_interval(secs => (f.attempts - n) * 4), CASE WHEN f.is_dead AND n = f.attempts THEN 'dead'
       ELSE 'failed' END, n,
       jsonb_build_object('error_class', f.error_class, 'error', f.error,
                          'where', jsonb_build_array('handlers.py:41 apply', 'ledger.py:118 book'))
  FROM (SELECT d.id, d.at, d.attempts, false AS is_dead, p.error_class, p.error
          FROM comboio_done d
          JOIN unnest(%(consumers)s::smallint[], %(classes)s::text[], %(errors)s::text[])
               p (consumer, error_class, error) ON p.consumer = d.consumer
         WHERE d.id BETWEEN %(first)s::bigint AND %(last)s::bigint AND d.attempts > 1
        UNION ALL
        SELECT x.id, x.at, x.attempts, true, x.error_class, x.error
          FROM comboio_dead x WHERE x.id BETWEEN %(first)s::bigint AND %(last)s::bigint) f
 CROSS JOIN LATERAL generate_series(1, f.attempts - CASE WHEN f.is_dead THEN 0 ELSE 1 END) n
 ORDER BY f.id, n;

-- name: duplicates
-- The first 20 of the duplicates that the dedup records count, from half a second to hours after the first.
-- rows: one per duplicate.
INSERT INTO comboio_duplicate (message_id, n, at, consumer, source, cause, gap_seconds)
SELECT g.message_id, g.n, g.seen_at + make_interval(secs => g.gap), g.consumer, m.source,
       CASE WHEN random() < 0.3 THEN 'redelivered'
            WHEN d.at <= g.seen_at + make_interval(secs => g.gap) THEN 'repeated' ELSE 'concurrent' END, g.gap
  FROM (SELECT r.message_id, n, r.seen_at, r.consumer,
               least(exp(ln(0.4) + random() * ln(50000)) * n, extract(epoch FROM now() - r.seen_at)::float8) AS gap
          FROM comboio_dedup r
         CROSS JOIN LATERAL generate_series(1, least(r.duplicates, 20)) n
         WHERE r.duplicates > 0 AND r.message_id >= %(first)s::bigint) g
  JOIN comboio_message m ON m.id = g.message_id
  LEFT JOIN comboio_done d ON d.id = g.message_id;

-- name: effects
-- The calls of an external consumer whose outcome is known, each with the evidence of the call. rows: one per call.
WITH called AS (
    INSERT INTO comboio_effect (message_id, consumer, name, key, kind, request, request_hash, state, last_step,
                                calls, result, reference, error, settle_seconds, key_until, started_at, called_at,
                                settled_at, decided_by)
    SELECT m.id, m.consumer, 'charge', 'comboio-' || m.id || '-charge', 'queryable',
           convert_from(m.payload, 'UTF8')::jsonb, substring(sha256(m.payload) FROM 1 FOR 16),
           CASE WHEN d.id IS NULL THEN 'failed' ELSE 'completed' END,
           CASE WHEN d.id IS NULL THEN 'refused' ELSE 'answered' END,
           coalesce(d.attempts, 1), CASE WHEN d.id IS NOT NULL THEN jsonb_build_object('charge', 'ch_' || m.id) END,
           CASE WHEN d.id IS NULL THEN '' ELSE 'ch_' || m.id END, coalesce(x.error, ''), 5,
           m.received_at + interval '1 day', m.received_at, m.received_at,
           coalesce(d.at, x.at), 'call'
      FROM comboio_message m LEFT JOIN comboio_done d ON d.id = m.id LEFT JOIN comboio_dead x ON x.id = m.id
     WHERE m.consumer = %(consumer)s::smallint AND m.id >= %(first)s::bigint
       AND (d.id IS NOT NULL OR x.id IS NOT NULL)
     ORDER BY m.id
    RETURNING id, state, settled_at, reference
)
INSERT INTO comboio_evidence (effect_id, at, source, verdict, detail)
SELECT id, settled_at, 'call', CASE state WHEN 'completed' THEN 'done' ELSE 'refused' END,
       jsonb_build_object('reference', reference)
  FROM called ORDER BY id;

-- name: doubts
-- Calls without an answer: effect, evidence, timeline, alert and the message in doubt. No probe is due, so no clock
-- asks a provider that is not there. rows: one per message.
WITH called AS (
    INSERT INTO comboio_effect (message_id, consumer, name, key, kind, request, request_hash, state, last_step, calls,
                                error, settle_seconds, key_until, started_at, called_at)
    SELECT m.id, m.consumer, 'charge', 'comboio-' || m.id || '-charge', 'queryable',
           convert_from(m.payload, 'UTF8')::jsonb, substring(sha256(m.payload) FROM 1 FOR 16), 'in doubt',
           'no answer', 1, 'TimeoutError: no answer within 5 s', 5, m.received_at + interval '1 day',
           m.received_at, m.received_at
      FROM comboio_message m WHERE m.id = ANY (%(ids)s::bigint[]) ORDER BY m.id
    RETURNING id, message_id, consumer, key, called_at + interval '5 s' AS at
), told AS (
    INSERT INTO comboio_evidence (effect_id, at, source, verdict, detail)
    SELECT id, at, 'call', 'cannot tell', jsonb_build_object('error', 'TimeoutError: no answer within 5 s')
      FROM called ORDER BY id
), noted AS (
    INSERT INTO comboio_event (message_id, at, kind, detail)
    SELECT message_id, at, 'in doubt', jsonb_build_object('effect', 'charge', 'key', key) FROM called ORDER BY id
), raised AS (
    INSERT INTO comboio_alert (kind, consumer, subject, title, target, first_at, last_at)
    SELECT 'effect in doubt', consumer, id::text, 'The outcome of “charge” with key ' || key || ' is unknown', id,
           at, at FROM called ORDER BY called.id
)
INSERT INTO comboio_in_doubt (id, consumer, lane, session, effect_id, attempts, at)
SELECT m.id, m.consumer, m.lane, m.session, c.id, 1, c.at
  FROM called c JOIN comboio_message m ON m.id = c.message_id ORDER BY m.id;

-- name: conflicts
-- Evidence against some of the newest decisions, with its alert. rows: one per effect.
WITH chosen AS (
    SELECT id FROM comboio_effect WHERE consumer = %(consumer)s::smallint AND state = 'completed' AND conflict = ''
     ORDER BY id DESC LIMIT %(count)s::integer
), changed AS (
    UPDATE comboio_effect e SET conflict = 'the provider says that it was not done',
                                version = nextval('comboio_version')
      FROM chosen c WHERE e.id = c.id RETURNING e.id, e.consumer, e.key, e.settled_at + interval '10 s' AS at
), told AS (
    INSERT INTO comboio_evidence (effect_id, at, source, verdict, detail)
    SELECT id, at, 'callback', 'not done', jsonb_build_object('status', 'not found') FROM changed
)
INSERT INTO comboio_alert (kind, consumer, subject, title, target, first_at, last_at)
SELECT 'conflict', consumer, id::text, 'Effect “charge” with key ' || key ||
       ': the provider says that it was not done', id, at, at
  FROM changed ORDER BY changed.id;

-- name: hold_consumer
-- rows: 1.
UPDATE comboio_consumer SET held = true, held_at = now() - interval '2 h', held_by = 'bert',
       held_reason = 'the index is rebuilt', version = nextval('comboio_version')
 WHERE id = %(consumer)s::smallint;

-- name: throttle
-- A consumer whose downstream is away. Its alert is raised beside it. rows: 1.
WITH opened AS (
    INSERT INTO comboio_breaker (consumer, failures, opened_at, probe_at, probes, error)
    VALUES (%(consumer)s::smallint, 12, now() - interval '14 min', now() + interval '1 min', 9,
            'GatewayAway: 503 from the gateway')
    ON CONFLICT (consumer) DO NOTHING RETURNING consumer, opened_at
)
INSERT INTO comboio_alert (kind, consumer, subject, title, target, first_at, last_at)
SELECT 'throttled consumer', c.id, c.name, c.name || ' is throttled: its downstream is away', c.id, o.opened_at,
       o.opened_at
  FROM opened o JOIN comboio_consumer c ON c.id = o.consumer;
