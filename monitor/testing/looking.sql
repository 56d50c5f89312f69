-- name: messages
-- Every message, or those of one key or consumer, with state and result. rows: one per message.
SELECT m.id, m.key, c.name, s.state, d.result::text
  FROM comboio_message m JOIN comboio_consumer c ON c.id = m.consumer
  JOIN comboio_message_state s ON s.id = m.id LEFT JOIN comboio_done d ON d.id = m.id
 WHERE (%(key)s::text IS NULL OR m.key = %(key)s) AND (%(consumer)s::text IS NULL OR c.name = %(consumer)s)
 ORDER BY m.id;

-- name: dead
-- The dead letters, in the order of arrival. rows: one per dead message.
SELECT m.id, m.key, c.name, d.reason, concat_ws(': ', nullif(d.error_class, ''), nullif(d.error, '')), d.attempts
  FROM comboio_dead d JOIN comboio_message m ON m.id = d.id JOIN comboio_consumer c ON c.id = m.consumer
 WHERE (%(key)s::text IS NULL OR m.key = %(key)s) AND (%(consumer)s::text IS NULL OR c.name = %(consumer)s)
 ORDER BY m.id;

-- name: effects
-- The recorded effects, in the order of their recording. rows: one per effect.
SELECT e.id, m.key, c.name, e.name, e.state, e.last_step, e.calls, e.result::text, e.key, e.decided_by
  FROM comboio_effect e JOIN comboio_message m ON m.id = e.message_id
  JOIN comboio_consumer c ON c.id = e.consumer
 WHERE (%(key)s::text IS NULL OR m.key = %(key)s) AND (%(consumer)s::text IS NULL OR c.name = %(consumer)s)
 ORDER BY e.id;
