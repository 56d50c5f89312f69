-- name: one_begins
-- Of two clicks at the same moment the second sees what the first began. locks: until the transaction ends.
-- rows: 1.
SELECT pg_advisory_xact_lock(hashtextextended('comboio requeue of many', 0));

-- name: of_scope
-- One with the same scope that is not at its end. locks: nothing. rows: 0 or 1.
SELECT id FROM comboio_bulk
 WHERE ended_at IS NULL AND state IN ('canary', 'waiting', 'running')
   AND cause IS NOT DISTINCT FROM %(cause)s AND consumer IS NOT DISTINCT FROM %(consumer)s::smallint
   AND session IS NOT DISTINCT FROM %(session)s::bigint
 ORDER BY id LIMIT 1;

-- name: begin
-- A requeue of many. rows: 1.
INSERT INTO comboio_bulk (state, cause, consumer, session, up_to_version, actor, reason, per_second,
                          failure_limit, total)
VALUES (%(state)s, %(cause)s, %(consumer)s, %(session)s, %(up_to_version)s, %(actor)s, %(reason)s,
        %(per_second)s, %(failure_limit)s, 0)
RETURNING id;

-- name: freeze
-- Its set: what is dead now and was so at that version, oldest first. By the index of the scope.
-- locks: nothing. rows: at most the limit.
INSERT INTO comboio_bulk_item (bulk, id, seen)
SELECT %(bulk)s, x.id, x.version FROM comboio_dead x
 WHERE x.version <= %(up_to_version)s
   AND (%(cause)s::text IS NULL OR x.cause = %(cause)s)
   AND (%(consumer)s::smallint IS NULL OR x.consumer = %(consumer)s)
   AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
 ORDER BY x.id LIMIT %(limit)s;

-- name: count_total
-- rows: 1.
UPDATE comboio_bulk SET total = %(total)s WHERE id = %(bulk)s;

-- name: unfinished
-- Those with work left, or whose outcomes are not all known. rows: 0 or more, oldest first.
SELECT id FROM comboio_bulk WHERE ended_at IS NULL AND state IN ('canary', 'running')
    OR ended_at IS NULL AND moved > processed + failed_again ORDER BY id;

-- name: lock
-- One of them, unless another process is at it. locks: its row. rows: 1 or 0.
SELECT id, state, actor, per_second, failure_limit, total, moved, processed, failed_again, gone, refused,
       round, judged, judged_failed, looked_to, version,
       greatest(extract(epoch FROM clock_timestamp() - paced_at), 0)::float8 * per_second - (moved - paced)
  FROM comboio_bulk WHERE id = %(bulk)s FOR UPDATE SKIP LOCKED;

-- name: find
-- One of them, waiting for who is at it. locks: its row. rows: 1 or 0.
SELECT id, state, actor, per_second, failure_limit, total, moved, processed, failed_again, gone, refused,
       round, judged, judged_failed, looked_to, version, NULL::float8
  FROM comboio_bulk WHERE id = %(bulk)s FOR UPDATE;

-- name: left
-- Whose turn it is: those whose lanes were never busy first. What is not dead as seen has no consumer here.
-- locks: nothing. rows: at most the limit.
SELECT i.id, i.tries, d.consumer, d.lane, d.session, d.reason, left(d.error, 300), d.cause, i.seen
  FROM (SELECT id, tries, seen FROM comboio_bulk_item WHERE bulk = %(bulk)s AND state = 'left'
         ORDER BY tries, id LIMIT %(limit)s) i
  LEFT JOIN comboio_dead d ON d.id = i.id AND d.version = i.seen;

-- name: mark
-- What became of items. rows: one each.
UPDATE comboio_bulk_item i
   SET state = u.state, note = u.note, round = CASE WHEN u.state = 'moved' THEN %(round)s ELSE i.round END
  FROM unnest(%(ids)s::bigint[], %(states)s::text[], %(notes)s::text[]) AS u (id, state, note)
 WHERE i.bulk = %(bulk)s AND i.id = u.id;

-- name: was_busy
-- Their lanes were held by batches: others first. rows: one each.
UPDATE comboio_bulk_item SET tries = least(tries + 1, 30000)
 WHERE bulk = %(bulk)s AND id = ANY(%(ids)s::bigint[]);

-- name: outcomes
-- What came of items that were put back: the next ones after the last look. locks: nothing. rows: at most
-- the limit, in the order of their ids; state NULL: the message is not there any more.
SELECT i.id, i.round, (SELECT s.state FROM comboio_message_state s WHERE s.id = i.id)
  FROM comboio_bulk_item i
 WHERE i.bulk = %(bulk)s AND i.state = 'moved' AND i.id > %(after)s
 ORDER BY i.id LIMIT %(limit)s;

-- name: add
-- How far it is. rows: 1.
UPDATE comboio_bulk
   SET moved = moved + %(moved)s, processed = processed + %(processed)s,
       failed_again = failed_again + %(failed_again)s, judged = judged + %(judged)s,
       judged_failed = judged_failed + %(judged_failed)s, gone = gone + %(gone)s, refused = refused + %(refused)s,
       looked_to = coalesce(%(looked_to)s, looked_to), version = nextval('comboio_version')
 WHERE id = %(bulk)s;

-- name: turn
-- A new state, and why. Going on begins the pace and the judgement anew. rows: 1.
UPDATE comboio_bulk
   SET state = %(state)s, why = %(why)s, ended_at = NULL, version = nextval('comboio_version')
 WHERE id = %(bulk)s;

-- name: begin_round
-- It goes on: pace and judgement begin anew. rows: 1.
UPDATE comboio_bulk
   SET round = round + 1, paced_at = clock_timestamp(), paced = moved, judged = 0, judged_failed = 0
 WHERE id = %(bulk)s;

-- name: end
-- Nothing is left and every outcome is known, or a person stopped it and every outcome is known. rows: 1 or 0.
UPDATE comboio_bulk SET ended_at = clock_timestamp()
 WHERE id = %(bulk)s AND ended_at IS NULL AND state IN ('stopped', 'done')
   AND NOT EXISTS (SELECT FROM comboio_bulk_item i WHERE i.bulk = comboio_bulk.id AND i.state = 'moved');

-- name: first_refusal
-- Why the first one that no consumer takes stayed dead. rows: 1 or 0.
SELECT note FROM comboio_bulk_item WHERE bulk = %(bulk)s AND state = 'refused' ORDER BY id LIMIT 1;

-- name: forget_items
-- Of requeues that ended long ago. rows: at most the limit.
DELETE FROM comboio_bulk_item WHERE ctid = ANY (ARRAY(
    SELECT i.ctid FROM comboio_bulk b JOIN comboio_bulk_item i ON i.bulk = b.id
     WHERE b.ended_at < now() - make_interval(days => %(days)s) LIMIT %(limit)s));

-- name: forget
-- Their own rows, when no item is left. rows: 0 or more.
DELETE FROM comboio_bulk b
 WHERE b.ended_at < now() - make_interval(days => %(days)s)
   AND NOT EXISTS (SELECT FROM comboio_bulk_item i WHERE i.bulk = b.id);
