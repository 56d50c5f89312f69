-- name: find
-- One effect with what a probe needs. locks: nothing; the verdict locks and looks again. rows: 0 or 1
SELECT effect.id, effect.message_id, effect.consumer, consumer.name, effect.name, effect.key,
       effect.request::text, effect.state, effect.version, effect.decided_by, effect.settled_at,
       message.traceparent, effect.escalated_by
  FROM comboio_effect AS effect
  JOIN comboio_consumer AS consumer ON consumer.id = effect.consumer
  LEFT JOIN comboio_message AS message ON message.id = effect.message_id
 WHERE effect.id = %(id)s;

-- name: by_key
-- The effect that a callback tells of; the name is the one that its secret is for. rows: 0 or 1
SELECT id FROM comboio_effect WHERE key = %(key)s AND name = %(name)s;

-- name: claim_due
-- Effects in doubt that the clock asks about now. The next time is set before the probe goes out, so two
-- clocks never ask about the same one at once, and one that dies leaves it due again.
-- 2 s, 4 s, 8 s … at most 300 s apart. asked: what this process can ask about.
-- locks: those effects, skipping what others hold. rows: 0 to limit
WITH due AS (
    SELECT effect.id
      FROM comboio_effect AS effect
      JOIN comboio_consumer AS consumer ON consumer.id = effect.consumer
      JOIN unnest(%(consumers)s::text[], %(names)s::text[]) AS asked (consumer, name)
        ON asked.consumer = consumer.name AND asked.name = effect.name
     WHERE effect.state = 'in doubt' AND effect.probe_at <= statement_timestamp()
     ORDER BY effect.probe_at
     LIMIT %(limit)s
       FOR UPDATE OF effect SKIP LOCKED
), claimed AS (
    UPDATE comboio_effect AS effect
       SET probes = effect.probes + 1,
           probe_at = clock_timestamp()
                    + make_interval(secs => least(300, 2 * power(2, least(effect.probes, 8))))
      FROM due WHERE effect.id = due.id
    RETURNING effect.*
)
SELECT claimed.id, claimed.message_id, claimed.consumer, consumer.name, claimed.name, claimed.key,
       claimed.request::text, claimed.state, claimed.version, claimed.decided_by, claimed.settled_at,
       message.traceparent, claimed.escalated_by
  FROM claimed
  JOIN comboio_consumer AS consumer ON consumer.id = claimed.consumer
  LEFT JOIN comboio_message AS message ON message.id = claimed.message_id;

-- name: in_doubt
-- Effects in doubt that a person asks about, the oldest first; those with evidence against each other are left
-- to people. asked: what this process can ask about. locks: nothing. rows: 0 to limit
SELECT effect.id, effect.message_id, effect.consumer, consumer.name, effect.name, effect.key,
       effect.request::text, effect.state, effect.version, effect.decided_by, effect.settled_at,
       message.traceparent, effect.escalated_by
  FROM (SELECT * FROM comboio_in_doubt
         WHERE %(consumer)s::smallint IS NULL OR consumer = %(consumer)s
         ORDER BY at, id LIMIT 1000) AS waits
  JOIN comboio_effect AS effect ON effect.message_id = waits.id
  JOIN comboio_consumer AS consumer ON consumer.id = effect.consumer
  JOIN unnest(%(consumers)s::text[], %(names)s::text[]) AS asked (consumer, name)
    ON asked.consumer = consumer.name AND asked.name = effect.name
  JOIN comboio_message AS message ON message.id = effect.message_id
 WHERE effect.state = 'in doubt' AND effect.conflict = ''
 ORDER BY waits.at, effect.id LIMIT %(limit)s;

-- name: escalate
-- Somebody with more rights has to decide; the version decides between two of them.
-- locks: the effect. rows: 1, or 0 when it is no longer as seen
UPDATE comboio_effect
   SET escalated_by = %(actor)s, version = nextval('comboio_version')
 WHERE id = %(id)s AND state = 'in doubt' AND version = %(seen)s;

-- name: reopen_alert
-- What is escalated wants to be seen again, also when it was acknowledged. locks: that alert. rows: 0 or 1
UPDATE comboio_alert
   SET state = 'open', acknowledged_by = NULL, acknowledged_at = NULL,
       version = nextval('comboio_version')
 WHERE kind = 'effect in doubt' AND consumer = %(consumer)s AND subject = %(subject)s
   AND state = 'acknowledged';
